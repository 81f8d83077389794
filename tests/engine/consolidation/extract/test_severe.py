"""What may harm if it is forgotten is drawn however it is typed; what only speaks of illness is not."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from memtui.engine.consolidation.extract.severity import is_severe, severe_clause
from memtui.engine.records import MemoryRecord

SEVERE = Path(__file__).parents[3] / "data" / "severe"
Facts = Callable[..., list[str]]


def _lines(name: str) -> list[str]:
    return (SEVERE / name).read_text(encoding="utf-8").splitlines()


def test_severe_statements_are_drawn_as_people_type_them(facts: Facts) -> None:
    lost = []
    for line in _lines("statements.txt"):
        pattern, message = line.split("\t")
        if not any(re.search(pattern, fact, re.IGNORECASE) for fact in facts(message)):
            lost.append(message)
    assert len(lost) <= 8, lost


def test_what_others_typed_is_drawn(facts: Facts) -> None:
    """Of two writers who knew no rule."""
    told = [
        line.split("\t")[1:]
        for file in (SEVERE.parent / "vital").glob("others_*_dev.txt")
        for line in file.read_text(encoding="utf-8").splitlines()
        if line.startswith("vital")
    ]
    lost = [
        message
        for pattern, message in told
        if not any(re.search(pattern, fact, re.IGNORECASE) for fact in facts(message))
    ]
    assert len(told) == 180
    assert len(lost) <= 14, lost


def test_talk_of_illness_is_no_fact(facts: Facts) -> None:
    drawn = [message for message in _lines("lookalikes.txt") if facts(message)]
    assert len(drawn) <= 4, drawn


@pytest.mark.parametrize(
    ("message", "fact"),
    [
        ("what can I cook for my brother who is coeliac?", "My brother is coeliac"),
        ("can you write to the club that Otis can't have milk", "Otis can't have milk"),
        ("as I'm on warfarin, is cranberry juice ok?", "I'm on warfarin"),
        ("can I go through a scanner with my pacemaker", "My pacemaker"),
        ("I'm coeliac, can i eat couscous?", "I'm coeliac"),
        ("estoy embarazada de 4 meses, ¿puedo tomar café?", "Estoy embarazada de 4 meses"),
        ("ich bin schwanger, darf ich Salami essen?", "Ich bin schwanger"),
        ("I take sumatriptan when the aura starts, is that ok with sertraline", "I take sumatriptan when the aura starts"),
    ],
)  # fmt: skip
def test_what_is_told_inside_a_question_or_a_request_is_drawn(facts: Facts, message: str, fact: str) -> None:
    assert fact in facts(message)


def test_a_severe_statement_keeps_what_belongs_to_it(facts: Facts) -> None:
    assert facts("one wasp sting and i'm in hospital. which plants don't attract them") == [
        "One wasp sting and i'm in hospital"
    ]


def test_what_was_found_by_its_words_alone_is_unsure(drafts: Callable[..., list[MemoryRecord]]) -> None:
    (fact,) = drafts("can you write to the nursery that Otis can't have cow's milk")
    assert fact.confidence == 0.5


@pytest.mark.parametrize(
    "text",
    ["candesartan 8 mg", "the cake must be walnut free", "no aspirin for me", "she comes out in hives", "keine Treppen",
     "my ex is not allowed to know where we live", "Laktoseintoleranz", "L-Thyroxin", "her throat closes", "14 months sober",
     "there's a steel clip in my head", "ended up in the ER", "she freezes up", "nothing by mouth", "22 weeks along", "O neg",
     "you never ever tell me to buy one", "elle s'étouffe", "le cierra la garganta"],
)  # fmt: skip
def test_the_forms_of_harm_are_known(text: str) -> None:
    assert is_severe(text)


@pytest.mark.parametrize(
    "text",
    [
        "feel free to cut it",
        "the april issue",
        "the allergy clinic",
        "hands-free kit",
        "a good day",
        "I'm expecting a string here",
        "a positive review",
        "one mustn't complain",
    ],
)
def test_likenesses_are_not(text: str) -> None:
    assert not is_severe(text)


def test_what_is_supposed_quoted_or_anybodys_tells_nothing() -> None:
    for text in ("imagine you were deaf", "some people are allergic to nuts", "the patient needs insulin"):
        assert severe_clause(text, question=False) is None
    assert severe_clause("what's the usual dose of ibuprofen", question=True) is None


def test_a_long_message_without_points_is_cut_where_it_begins_anew(facts: Facts) -> None:
    message = (
        "good morning i am looking after my mother she is 74 had a stroke in 2024 and her left side is weak and also my "
        "niece Abena who is 15 she has cerebral palsy and uses a wheelchair we live together in Rotterdam please talk to "
        "me plain i have no time for long stories make me a morning list from 6 till 9"
    )
    found = facts(message)
    assert "I am looking after my mother she is 74 had a stroke in 2024" in found
    assert "My niece Abena who is 15 she has cerebral palsy and uses a wheelchair" in found


def test_animals_may_harm_somebody(facts: Facts) -> None:
    assert facts("Cats make my eyes swell shut") == ["Cats make my eyes swell shut"]
    assert facts("cats can have diabetes") == []


@pytest.mark.parametrize(
    "message",
    [
        "peut-on manger des moules enceinte",
        "cuántas semanas dura un embarazo",
        "a 54 year old man takes warfarin and comes in with a bleed",
    ],
)
def test_a_question_without_its_mark_and_a_case_tell_of_nobody(facts: Facts, message: str) -> None:
    assert facts(message) == []
