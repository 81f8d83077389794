"""Questions in any script find what they should, through the public door."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from memtui import Memory
from memtui.engine.records import Options
from memtui.engine.search import query as search_query
from memtui.engine.search.filters.compiler import compile_filter
from memtui.engine.search.retrievers import keyword
from memtui.engine.search.scope import make_scope
from memtui.engine.search.term_statistics import MEMORIES
from memtui.ui.presenters.hit import match_ranges

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
    "odessa": "Її звати Оксана, їде в Одесу",
    "lodz": "Łukasz jedzie do Łodzi",
    "hanoi": "Nguyễn sống ở Hà Nội",
    "gasse": "Das Büro liegt in der Goethestraße",
    "oslo": "Bjørn bor på Grünerløkka",
    "peace": "הוא אמר שָׁלוֹם לחברים",
    "book": "اشترى مُحَمَّد كتـــاباً أحمر",
    "farsi": "دوست من کتاب فارسی دارد",
    "exam": "परीक्षा सोमवार को है",
    "lock": "Старый за\u0301мок на горе",
    "mine": "Это мой дом",
    "ours": "Это мои друзья",
    "sea": "Ο ΘΆΛΑΣΣΑΣ δρόμος",
    "love": "she sent ❤️ to everyone",
    "two": "два й три",
}


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    with Memory.open(":memory:", options=Options(embedder="off", background=False)) as opened:
        for text in KEPT.values():
            opened.remember(text)
        opened.models.index_pending()
        yield opened


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("東京", "tokyo"), ("会議はいつ", "tokyo"), ("塔", None), ("茶", "tea"), ("绿茶", "tea"), ("都", "kyoto"),
        ("住", "kyoto"), ("김치를", "seoul"), ("김치", "seoul"), ("Москве", "moscow"), ("АННА", "moscow"),
        ("Петербурге", "spb"), ("القاهرة", "cairo"), ("ليلى", "cairo"), ("חיפה", "haifa"), ("יעל", "haifa"),
        ("กรุงเทพ", "bangkok"), ("สมชาย", "bangkok"), ("दिल्ली", "delhi"), ("Αθήνα", "athens"), ("zurich", "zurich"),
        ("ZOE", "zurich"), ("🍕", "pizza"), ("🎉", None), ("what does Ada like", "plain"),
        ("живет", "moscow"), ("ЖИВЕТ", "moscow"), ("жив\u0435\u0308т", "moscow"), ("Αθηνα", "athens"), ("ελενη", "athens"),
        ("ΑΘΗΝΑ", "athens"), ("θαλασσας", "sea"), ("δρομοσ", "sea"), ("Їде", "odessa"), ("\u0456\u0308де", "odessa"),
        ("lodzi", "lodz"), ("LUKASZ", "lodz"), ("nguyen", "hanoi"), ("song", "hanoi"), ("goethestrasse", "gasse"),
        ("GOETHESTRASSE", "gasse"), ("bjorn", "oslo"), ("grunerlokka", "oslo"), ("שלום", "peace"), ("שָׁלוֹם", "peace"),
        ("محمد", "book"), ("مُحَمَّدٌ", "book"), ("كتابا", "book"), ("احمر", "book"), ("كتاب", "farsi"), ("فارسي", "farsi"),
        ("परीक्षा", "exam"), ("परी", "exam"), ("замок", "lock"), ("мой", "mine"), ("мо\u0438\u0306", "mine"), ("мои", "ours"),
        ("❤️", "love"), ("❤", "love"),
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


@pytest.mark.parametrize(
    ("query", "marked"),
    [
        ("живет", "живёт"), ("αθηνα", "Αθήνα"), ("שלום", "שָׁלוֹם"), ("محمد", "مُحَمَّد"), ("परीक्षा", "परीक्षा"),
        ("nguyen", "Nguyễn"), ("zurich", "Zürich"), ("мой", "мой"), ("замок", "за\u0301мок"), ("lukasz", "Łukasz"),
    ],
)  # fmt: skip
def test_what_matched_is_marked_in_the_text_as_it_is_written(memory: Memory, query: str, marked: str) -> None:
    [hit, *_] = memory.search(query).hits
    assert [
        hit.memory.content[start:end] for start, end, _ in match_ranges(hit.memory.content, hit.retrievers)
    ] == [marked]
    assert memory.view.count(f'"{query}"') == memory.view.count(query) == 1


def test_what_no_index_knows_is_looked_for_in_texts_beyond_ascii_alone(memory: Memory) -> None:
    asked: list[tuple[str, Any]] = []
    with memory._core.connections.read() as connection:
        connection.exec_trace = lambda cursor, statement, bindings: not asked.append((statement, bindings))
        wanted = search_query.parse_query(connection, "🍕", MEMORIES)
        found = keyword.bm25_first_pass(connection, wanted, make_scope(compile_filter("", 0.0)), 10)
        connection.exec_trace = None
        statement, bindings = asked[-1]
        plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}", bindings)]
    assert len(found) == 1
    assert plan == ["SCAN m USING INDEX memories_not_ascii"]
