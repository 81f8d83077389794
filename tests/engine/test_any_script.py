"""Questions in any script find what they should, through the public door."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from memtui import Memory
from memtui.engine.records import Options

KEPT = {
    "tokyo": "東京タワーで会議があります",
    "kyoto": "京都に住んでいます",
    "tea": "我喜欢喝绿茶",
    "seoul": "서울에서 김치를 먹었다",
    "moscow": "Анна живёт в Москве",
    "spb": "Борис работает в Петербурге",
    "cairo": "تعيش ليلى في القاهرة",
    "haifa": "יעל גרה בחיפה",
    "bangkok": "สมชายอยู่ที่กรุงเทพ",
    "delhi": "राम दिल्ली में रहता है",
    "athens": "Η Ελένη μένει στην Αθήνα",
    "zurich": "Zoë wohnt in Zürich",
    "pizza": "friday is 🍕 night",
    "plain": "Ada likes walnuts",
}


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    with Memory.open(":memory:", options=Options(embedder="off", background=False)) as opened:
        for text in KEPT.values():
            opened.remember(text)
        opened.index_pending()
        yield opened


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("東京", "tokyo"), ("会議はいつ", "tokyo"), ("塔", None), ("茶", "tea"), ("绿茶", "tea"), ("都", "kyoto"),
        ("住", "kyoto"), ("김치를", "seoul"), ("김치", "seoul"), ("Москве", "moscow"), ("АННА", "moscow"),
        ("Петербурге", "spb"), ("القاهرة", "cairo"), ("ليلى", "cairo"), ("חיפה", "haifa"), ("יעל", "haifa"),
        ("กรุงเทพ", "bangkok"), ("สมชาย", "bangkok"), ("दिल्ली", "delhi"), ("Αθήνα", "athens"), ("zurich", "zurich"),
        ("ZOE", "zurich"), ("🍕", "pizza"), ("🎉", None), ("what does Ada like", "plain"),
    ],
)  # fmt: skip
def test_a_question_in_any_script_finds_its_memory_first(
    memory: Memory, query: str, expected: str | None
) -> None:
    hits = memory.search(query).hits
    if expected is None:
        assert not hits
    else:
        assert [hit.memory.content for hit in hits][:1] == [KEPT[expected]]
