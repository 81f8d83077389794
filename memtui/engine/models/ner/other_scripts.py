"""Names in scripts without capital letters, by what stands beside them: honorifics, titles, suffixes, well-known places.

Chinese, Japanese, Korean, Arabic and Devanagari. Each pattern is of bounded length, so that no text is slow;
they are made when a text first needs them.
Other scripts without capitals have only the names that the memory knows already.
"""

from __future__ import annotations

import re
from functools import cache

from . import other_scripts_words as words
from .span import Span

TITLED, SHAPED = 0.78, 0.65
"""Confidence: a title, suffix or list says so; it has the shape of a name in a name's place."""

_han = re.compile("[\u3400-\u9fff]")
_kana = re.compile("[\u3041-\u30fa]")
_hangul = re.compile("[\uac00-\ud7a3]")
_arabic = re.compile("[\u0621-\u064a]")
_devanagari = re.compile("[\u0905-\u0939]")

_Pattern = tuple[re.Pattern[str], str, float]


def find_in_other_scripts(text: str) -> list[Span]:
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
    found = []
    for pattern, type, confidence in patterns:
        for match in pattern.finditer(text):
            start, end = match.span(1)
            if match[1] not in words.NO_NAMES:
                found.append(
                    Span(
                        text=match[1], start=start, end=end, type=type, confidence=confidence,
                        provider="names", name=" ".join(match[1].split()),
                    )
                )  # fmt: skip
    return found


def _one_of(listed: str) -> str:
    return "|".join(sorted(map(re.escape, listed.split()), key=len, reverse=True))


def _pattern(source: str, type: str, confidence: float = TITLED) -> _Pattern:
    return re.compile(source), type, confidence


# A Han letter that may be in a name: not one of those that hold a sentence together.
_H = f"(?!明[天年早晚日])[^\\W\\d_{words.HAN_PARTICLES}a-zA-Z\u3041-\u30ff]"


@cache
def _chinese_patterns() -> list[_Pattern]:
    surname = f"(?:{_one_of(words.CHINESE_SURNAMES)})"
    return [
        _pattern(f"({_one_of(words.HAN_PLACES)})", "location"),
        _pattern(f"({_H}{{1,3}}(?:省|市|县|机场))", "location", SHAPED),
        _pattern(f"({_H}{{2,8}}(?:{_one_of(words.CHINESE_ORGANISATIONS)}))", "organization"),
        _pattern(f"({_one_of(words.CHINESE_COMPANIES)})", "organization"),
        _pattern(f"({_H}{{2,6}})(?:项目|計劃|计划)", "project", SHAPED),
        _pattern(f"({surname}{_H}{{0,2}}?)(?:{_one_of(words.CHINESE_TITLES)})", "person"),
        _pattern(f"(?:(?<=[{words.BEFORE_CHINESE_NAMES}])|(?<!\\w))({surname}{_H}{{1,2}})(?!{_H})", "person", SHAPED),
    ]  # fmt: skip


_J = "(?:[\u4e00-\u9fff々]{1,4}|[\u30a1-\u30faー]{2,10})"
_JL = "(?:[\u4e00-\u9fff々]{1,8}|[\u30a1-\u30faー]{2,10})"


@cache
def _japanese_patterns() -> list[_Pattern]:
    return [
        _pattern(f"({_one_of(words.HAN_PLACES)})", "location"),
        _pattern("([\u4e00-\u9fff々ヶ]{1,4}(?:県|市|駅|空港|島|町|村))", "location", SHAPED),
        _pattern(f"({_JL}(?:{_one_of(words.JAPANESE_ORGANISATIONS)}))", "organization"),
        _pattern(f"((?:株式会社|有限会社){_JL})", "organization"),
        _pattern(f"({_J})プロジェクト", "project"),
        _pattern(f"({_J})(?={_one_of(words.JAPANESE_HONORIFICS)})", "person"),
    ]  # fmt: skip


_K = "[\uac00-\ud7a3]"


@cache
def _korean_patterns() -> list[_Pattern]:
    return [
        _pattern(f"(?<!\\w)({_K}{{2,4}}) ?(?:{_one_of(words.KOREAN_HONORIFICS)})", "person"),
        _pattern(
            f"(?<!\\w)({_one_of(words.KOREAN_PLACES)})(?:{_one_of(words.KOREAN_PARTICLES)})?(?!\\w)",
            "location",
        ),
        _pattern(f"(?<!\\w)({_K}{{2,6}}(?:{_one_of(words.KOREAN_ORGANISATIONS)}))", "organization"),
        _pattern(f"(?<!\\w)({_K}{{2,8}}) (?:프로젝트)", "project"),
    ]


_A = "[\u0621-\u0652]"


@cache
def _arabic_patterns() -> list[_Pattern]:
    # A family name; not "today", "now", "last" and the like, which have the article too.
    family = f"(?: (?!(?:{_one_of(words.ARABIC_NO_NAMES)})(?!\\w))(?:ال|بن |ابن |بنت ){_A}{{2,12}})?"
    return [
        _pattern(f"(?<!\\w)(?:{_one_of(words.ARABIC_TITLES)})[. ] ?({_A}{{2,12}}{family})(?!\\w)", "person"),
        _pattern(f"(?<!\\w)[وبل]?((?:{_one_of(words.ARABIC_NAMES)}){family})(?!\\w)", "person"),
        _pattern(f"(?<!\\w)[وبل]?({_one_of(words.ARABIC_PLACES)})(?!\\w)", "location"),
        _pattern(f"(?<!\\w)[وبل]?((?:{_one_of(words.ARABIC_ORGANISATIONS)}) {_A}{{2,14}})(?!\\w)", "organization", 0.85),
        _pattern(f"(?<!\\w)(?:مشروع) ({_A}{{3,14}})(?!\\w)", "project"),
    ]  # fmt: skip


_D = "[\u0900-\u0963]"


@cache
def _hindi_patterns() -> list[_Pattern]:
    surname_after = f"(?: (?:{_one_of(words.HINDI_SURNAMES)}))?"
    return [
        _pattern(f"(?<!{_D})(?:{_one_of(words.HINDI_TITLES)})\\.? ({_D}{{2,14}}{surname_after})(?!{_D})", "person"),
        _pattern(f"(?<!{_D})({_D}{{2,14}}{surname_after})(?= (?:{_one_of(words.HINDI_HONORIFICS)})(?!{_D}))", "person"),
        _pattern(f"(?<!{_D})((?:{_one_of(words.HINDI_NAMES)}){surname_after})(?!{_D})", "person"),
        _pattern(f"(?<!{_D})({_one_of(words.HINDI_PLACES)})(?!{_D})", "location"),
        _pattern(f"(?<!{_D})({_D}{{2,14}} (?:{_one_of(words.HINDI_ORGANISATIONS)}))(?!{_D})", "organization"),
        _pattern(f"(?<!{_D})({_D}{{2,14}}) (?:परियोजना|प्रोजेक्ट)(?!{_D})", "project"),
    ]  # fmt: skip
