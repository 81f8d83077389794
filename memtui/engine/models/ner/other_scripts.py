"""Find names in scripts without capital letters, by honorifics, titles, suffixes and known places.

Chinese, Japanese, Korean, Arabic and Devanagari. Each pattern is of bounded length, so that no text is slow;
they are made when a text first needs them.
Other scripts without capitals have only the names that the memory knows already.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from memtui.engine import word_lists

from .span import NameSpan

_LIST = Path(__file__).with_name("other_scripts.txt")

# What fits a pattern and is no name.
NO_NAMES = word_lists.read_words(_LIST, "no names")
HAN_PARTICLES = (
    "的了在和与跟同及或是有我你您他她它们这那哪谁不没也都就又还再去来到从向往给对把被让叫请问说想要会能可"
    "很太最更只才刚已曾将正着过吗呢吧啊呀嘛昨今每早晚上下午点半号年月日周天一二三四五六七八九十百千个位些"
    "因为所以但而如果虽然用做吃喝住买卖看听见找帮等之其以"
)
BEFORE_CHINESE_NAMES = "和跟与给找见问叫请让帮陪同友妹弟哥姐妈爸师是对向约的到说及或告诉谢、"
CHINESE_SURNAMES = """
    王 李 张 刘 陈 杨 黄 赵 吴 周 徐 孙 马 朱 胡 郭 何 高 林 罗 郑 梁 谢 宋 唐 许 韩 冯 邓 曹 彭
    曾 肖 田 董 袁 潘 于 蒋 蔡 余 杜 叶 程 苏 魏 吕 丁 任 沈 姚 卢 姜 崔 钟 谭 陆 汪 范 金 石 廖
    贾 夏 韦 付 方 白 邹 孟 熊 秦 邱 江 尹 薛 闫 段 雷 侯 龙 史 陶 黎 贺 顾 毛 郝 龚 邵 万 钱 严
    覃 武 戴 莫 孔 向 汤 陳 張 劉 黃 趙 吳 孫 馬 鄭 謝 許 韓 馮 鄧 葉 蘇 盧 鍾 陸 歐陽 欧阳 司马
    诸葛 上官 司徒
"""
CHINESE_TITLES = """
    教授 老师 先生 女士 小姐 医生 大夫 经理 总监 主任 阿姨 叔叔 师傅 同学 律师 博士 院长 校长
    董事长 老板 總監 老師 經理 醫生
"""
CHINESE_ORGANISATIONS = """
    大学 大學 学院 中学 小学 公司 集团 银行 医院 研究所 研究院 出版社 博物馆 图书馆 基金会 协会
    报社 电视台 事务所
"""
CHINESE_COMPANIES = """
    腾讯 阿里巴巴 百度 华为 小米 京东 字节跳动 美团 网易 滴滴 拼多多 微软 谷歌 苹果公司 亚马逊
    联想 比亚迪 抖音 淘宝 支付宝 微信
"""
HAN_PLACES = """
    北京 上海 广州 深圳 杭州 南京 成都 重庆 武汉 西安 天津 苏州 青岛 大连 厦门 长沙 郑州 沈阳
    昆明 济南 哈尔滨 长春 福州 宁波 无锡 合肥 南昌 贵阳 南宁 太原 兰州 海口 三亚 拉萨 乌鲁木齐
    桂林 丽江 大理 珠海 东莞 佛山 温州 绍兴 香港 澳门 台北 高雄 台湾 中国 日本 美国 英国 法国
    德国 韩国 俄罗斯 加拿大 澳大利亚 新加坡 泰国 越南 印度 意大利 西班牙 东京 巴黎 伦敦 纽约
    首尔 柏林 曼谷 欧洲 亚洲 非洲 四川 云南 广东 浙江 江苏 東京 大阪 京都 札幌 名古屋 横浜 神戸
    福岡 仙台 広島 奈良 沖縄 北海道 鎌倉 金沢 長崎 熊本 鹿児島 新宿 渋谷 池袋 銀座 秋葉原 韓国
    台湾 中国 九州 四国 箱根 日光 千葉 埼玉 静岡 岡山 松山 高松 パリ ロンドン ニューヨーク
    ベルリン アメリカ イギリス フランス ドイツ イタリア スペイン カナダ ハワイ ソウル
    シンガポール
"""
JAPANESE_HONORIFICS = """
    さん くん ちゃん 様 氏 先生 君 部長 課長 社長 先輩 教授 さま
"""
JAPANESE_ORGANISATIONS = """
    大学 株式会社 有限会社 銀行 病院 高校 高等学校 中学校 小学校 研究所 新聞 商事 製作所 電機
    自動車 出版 財団 協会 図書館 美術館 博物館
"""
KOREAN_HONORIFICS = """
    씨 님 선생님 교수님 부장님 과장님 팀장님 대리님 사장님 의사
"""
KOREAN_PLACES = """
    서울 부산 대구 인천 광주 대전 울산 세종 수원 제주 제주도 강릉 전주 경주 춘천 여수 포항 청주
    천안 창원 성남 강남 홍대 명동 이태원 판교 한국 미국 일본 중국 영국 프랑스 독일 캐나다 호주
    도쿄 오사카 파리 런던 뉴욕 베를린 싱가포르 베이징 상하이 홍콩 대만 베트남
"""
KOREAN_PARTICLES = """
    에서 에서는 에 에는 로 으로 을 를 이 가 은 는 의 과 와 까지 부터 에서의 도 행
"""
KOREAN_ORGANISATIONS = """
    대학교 대학원 고등학교 주식회사 은행 병원 전자 자동차 그룹 연구소 출판사 재단 협회 도서관
    박물관
"""
ARABIC_TITLES = """
    السيد السيدة الآنسة الدكتور الدكتورة د الأستاذ الأستاذة المهندس المهندسة الشيخ صديقي صديقتي
    أخي أختي عمي عمتي خالي خالتي زميلي زميلتي اسمه اسمها
"""
ARABIC_NO_NAMES = """
    اليوم الآن البارحة الأسبوع الشهر الماضي الماضية القادم القادمة الذي التي الذين الليلة الصباح المساء الأحد الاثنين
    الثلاثاء الأربعاء الخميس الجمعة السبت
"""
ARABIC_NAMES = """
    محمد أحمد احمد محمود مصطفى علي عمر عثمان حسن حسين خالد إبراهيم ابراهيم يوسف إسماعيل عبدالله
    عبد الرحمن عبدالرحمن سعيد سعد سامي سمير سلمان طارق ياسر ياسين كريم رامي زياد نادر وليد هاني
    هشام بلال أنس فهد فيصل ماجد ناصر نبيل جمال رشيد منصور أيمن عادل باسم غسان مازن فاطمة عائشة
    خديجة مريم زينب سارة ليلى نور نورا هدى منى سلمى رنا ريم لينا دينا هبة أمل سمر ندى رانيا
    ياسمين سعاد نادية سميرة حنان إيمان أسماء رحمة آية
"""
ARABIC_PLACES = """
    القاهرة الإسكندرية الجيزة أسوان الأقصر دمشق حلب حمص بيروت طرابلس عمّان عمان إربد القدس رام
    غزة نابلس بغداد البصرة الموصل أربيل الرياض جدة مكة المدينة الدمام دبي الشارقة أبوظبي الدوحة
    الكويت المنامة مسقط صنعاء عدن الخرطوم تونس الجزائر وهران الرباط مراكش فاس طنجة الدار مصر
    سوريا لبنان الأردن فلسطين العراق السعودية الإمارات قطر البحرين اليمن السودان ليبيا المغرب
    موريتانيا تركيا إيران فرنسا ألمانيا بريطانيا لندن باريس برلين إسطنبول نيويورك أمريكا
"""
ARABIC_ORGANISATIONS = """
    شركة جامعة بنك مصرف مستشفى مؤسسة وزارة معهد مدرسة جمعية مجموعة كلية
"""
HINDI_TITLES = """
    श्री श्रीमती सुश्री कुमारी डॉ डॉक्टर प्रो प्रोफेसर पंडित
"""
HINDI_HONORIFICS = """
    जी साहब भैया दीदी भाई चाचा चाची अंकल आंटी
"""
HINDI_NAMES = """
    राहुल अमित सुनील अनिल राजेश मुकेश सुरेश रमेश महेश दिनेश विजय अजय संजय मनोज विकास अर्जुन रोहित
    मोहित मोहन सोहन रवि राज आकाश नितिन सचिन विक्रम अशोक दीपक गौरव करण वरुण हरीश गणेश कृष्ण रामू
    श्याम पंकज नरेश प्रिया पूजा नेहा अंजलि सुनीता अनीता गीता सीता रीता मीना मीरा रेखा कविता सविता
    सरिता ममता सोनिया दीपिका शालिनी रश्मि लक्ष्मी राधा काजल स्वाति श्वेता निशा आशा उषा किरण प्रीति
    पल्लवी
"""
HINDI_SURNAMES = """
    शर्मा वर्मा गुप्ता सिंह कुमार यादव मिश्रा पांडे त्रिपाठी चौधरी पटेल मेहता जोशी अग्रवाल रेड्डी नायर
    राव खान दास घोष बनर्जी मुखर्जी चटर्जी ठाकुर सक्सेना श्रीवास्तव तिवारी दुबे जैन शाह कपूर खन्ना
    मल्होत्रा
"""
HINDI_PLACES = """
    दिल्ली मुंबई कोलकाता चेन्नई बेंगलुरु बंगलौर हैदराबाद पुणे जयपुर लखनऊ कानपुर नागपुर इंदौर भोपाल
    पटना वाराणसी बनारस आगरा अहमदाबाद सूरत उदयपुर जोधपुर अमृतसर चंडीगढ़ शिमला मनाली देहरादून
    ऋषिकेश हरिद्वार गोवा कोच्चि मैसूर गुड़गांव नोएडा भारत नेपाल पाकिस्तान अमेरिका इंग्लैंड लंदन पेरिस
    जर्मनी फ्रांस जापान चीन रूस केरल पंजाब गुजरात राजस्थान महाराष्ट्र बिहार काठमांडू दुबई सिंगापुर
"""
HINDI_ORGANISATIONS = """
    मोटर्स बैंक विश्वविद्यालय कंपनी लिमिटेड अस्पताल विद्यालय कॉलेज संस्थान इंडस्ट्रीज टेक्नोलॉजीज प्रकाशन
"""


TITLED, SHAPED = 0.78, 0.65
"""Confidence: a title, suffix or list says so; it has the shape of a name in a name's place."""

_han = re.compile("[\u3400-\u9fff]")
_kana = re.compile("[\u3041-\u30fa]")
_hangul = re.compile("[\uac00-\ud7a3]")
_arabic = re.compile("[\u0621-\u064a]")
_devanagari = re.compile("[\u0905-\u0939]")

_Pattern = tuple[re.Pattern[str], str, float]


def find_in_other_scripts(text: str) -> list[NameSpan]:
    """The names in ``text``; they may overlap."""
    patterns: list[_Pattern] = []
    if _kana.search(text) is not None:
        patterns += _japanese_patterns()
    elif _han.search(text) is not None:
        patterns += _chinese_patterns()
    if _hangul.search(text) is not None:
        patterns += _korean_patterns()
    if _arabic.search(text) is not None:
        patterns += _arabic_patterns()
    if _devanagari.search(text) is not None:
        patterns += _hindi_patterns()
    spans = []
    for pattern, type, confidence in patterns:
        for match in pattern.finditer(text):
            start, end = match.span(1)
            if match[1] not in NO_NAMES:
                spans.append(
                    NameSpan(
                        text=match[1], start=start, end=end, type=type, confidence=confidence,
                        provider="names", name=" ".join(match[1].split()),
                    )
                )  # fmt: skip
    return spans


def _alternation(listed: str) -> str:
    return "|".join(sorted(map(re.escape, listed.split()), key=len, reverse=True))


def _name_pattern(source: str, type: str, confidence: float = TITLED) -> _Pattern:
    return re.compile(source), type, confidence


# A Han letter that may be in a name: not one of those that hold a sentence together.
_H = f"(?!明[天年早晚日])[^\\W\\d_{HAN_PARTICLES}a-zA-Z\u3041-\u30ff]"


@cache
def _chinese_patterns() -> list[_Pattern]:
    surname = f"(?:{_alternation(CHINESE_SURNAMES)})"
    return [
        _name_pattern(f"({_alternation(HAN_PLACES)})", "location"),
        _name_pattern(f"({_H}{{1,3}}(?:省|市|县|机场))", "location", SHAPED),
        _name_pattern(f"({_H}{{2,8}}(?:{_alternation(CHINESE_ORGANISATIONS)}))", "organization"),
        _name_pattern(f"({_alternation(CHINESE_COMPANIES)})", "organization"),
        _name_pattern(f"({_H}{{2,6}})(?:项目|計劃|计划)", "project", SHAPED),
        _name_pattern(f"({surname}{_H}{{0,2}}?)(?:{_alternation(CHINESE_TITLES)})", "person"),
        _name_pattern(f"(?:(?<=[{BEFORE_CHINESE_NAMES}])|(?<!\\w))({surname}{_H}{{1,2}})(?!{_H})", "person", SHAPED),
    ]  # fmt: skip


_J = "(?:[\u4e00-\u9fff々]{1,4}|[\u30a1-\u30faー]{2,10})"
_JL = "(?:[\u4e00-\u9fff々]{1,8}|[\u30a1-\u30faー]{2,10})"


@cache
def _japanese_patterns() -> list[_Pattern]:
    return [
        _name_pattern(f"({_alternation(HAN_PLACES)})", "location"),
        _name_pattern("([\u4e00-\u9fff々ヶ]{1,4}(?:県|市|駅|空港|島|町|村))", "location", SHAPED),
        _name_pattern(f"({_JL}(?:{_alternation(JAPANESE_ORGANISATIONS)}))", "organization"),
        _name_pattern(f"((?:株式会社|有限会社){_JL})", "organization"),
        _name_pattern(f"({_J})プロジェクト", "project"),
        _name_pattern(f"({_J})(?={_alternation(JAPANESE_HONORIFICS)})", "person"),
    ]  # fmt: skip


_K = "[\uac00-\ud7a3]"


@cache
def _korean_patterns() -> list[_Pattern]:
    return [
        _name_pattern(f"(?<!\\w)({_K}{{2,4}}) ?(?:{_alternation(KOREAN_HONORIFICS)})", "person"),
        _name_pattern(
            f"(?<!\\w)({_alternation(KOREAN_PLACES)})(?:{_alternation(KOREAN_PARTICLES)})?(?!\\w)",
            "location",
        ),
        _name_pattern(f"(?<!\\w)({_K}{{2,6}}(?:{_alternation(KOREAN_ORGANISATIONS)}))", "organization"),
        _name_pattern(f"(?<!\\w)({_K}{{2,8}}) (?:프로젝트)", "project"),
    ]


_A = "[\u0621-\u0652]"


@cache
def _arabic_patterns() -> list[_Pattern]:
    # A family name; not "today", "now", "last" and the like, which have the article too.
    family = f"(?: (?!(?:{_alternation(ARABIC_NO_NAMES)})(?!\\w))(?:ال|بن |ابن |بنت ){_A}{{2,12}})?"
    return [
        _name_pattern(f"(?<!\\w)(?:{_alternation(ARABIC_TITLES)})[. ] ?({_A}{{2,12}}{family})(?!\\w)", "person"),
        _name_pattern(f"(?<!\\w)[وبل]?((?:{_alternation(ARABIC_NAMES)}){family})(?!\\w)", "person"),
        _name_pattern(f"(?<!\\w)[وبل]?({_alternation(ARABIC_PLACES)})(?!\\w)", "location"),
        _name_pattern(f"(?<!\\w)[وبل]?((?:{_alternation(ARABIC_ORGANISATIONS)}) {_A}{{2,14}})(?!\\w)", "organization", 0.85),
        _name_pattern(f"(?<!\\w)(?:مشروع) ({_A}{{3,14}})(?!\\w)", "project"),
    ]  # fmt: skip


_D = "[\u0900-\u0963]"


@cache
def _hindi_patterns() -> list[_Pattern]:
    surname_after = f"(?: (?:{_alternation(HINDI_SURNAMES)}))?"
    return [
        _name_pattern(f"(?<!{_D})(?:{_alternation(HINDI_TITLES)})\\.? ({_D}{{2,14}}{surname_after})(?!{_D})", "person"),
        _name_pattern(f"(?<!{_D})({_D}{{2,14}}{surname_after})(?= (?:{_alternation(HINDI_HONORIFICS)})(?!{_D}))", "person"),
        _name_pattern(f"(?<!{_D})((?:{_alternation(HINDI_NAMES)}){surname_after})(?!{_D})", "person"),
        _name_pattern(f"(?<!{_D})({_alternation(HINDI_PLACES)})(?!{_D})", "location"),
        _name_pattern(f"(?<!{_D})({_D}{{2,14}} (?:{_alternation(HINDI_ORGANISATIONS)}))(?!{_D})", "organization"),
        _name_pattern(f"(?<!{_D})({_D}{{2,14}}) (?:परियोजना|प्रोजेक्ट)(?!{_D})", "project"),
    ]  # fmt: skip
