"""Words of labels and reports."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some
from memtui.engine.wording import cut_text, plural, quote_beginning, quoted_change, text_beginning


@pytest.mark.parametrize(
    ("number", "noun", "said"),
    [
        (0, "turn", "0 turns"),
        (1, "memory", "1 memory"),
        (2, "memory", "2 memories"),
        (1_204, "day", "1,204 days"),
        (3, "new fact", "3 new facts"),
    ],
)
def test_things_are_counted_in_english(number: int, noun: str, said: str) -> None:
    assert plural(number, noun) == said


def test_what_no_rule_tells_is_given() -> None:
    assert [plural(number, "text waits", "texts wait") for number in (1, 2)] == [
        "1 text waits",
        "2 texts wait",
    ]


@given(some.text(), some.integers(1, 50))
def test_a_text_is_cut_at_the_length_and_says_so(text: str, most: int) -> None:
    short = cut_text(text, most)
    assert len(short) <= most
    assert short == text if len(text) <= most else short.endswith("…")


def test_a_quote_is_one_line() -> None:
    assert quote_beginning("a\n\tb") == "“a b”"
    assert text_beginning("one two three", 8) == "one two…"


def test_a_change_is_quoted_from_where_it_begins() -> None:
    old = "Ada had a rash from tahini last week, and eats no sesame until the test with the doctor in May"
    new = old.replace("May", "June")
    before, after = quoted_change(old, new)
    assert before == "“…the doctor in May”" and after == "“…the doctor in June”"
    assert quoted_change("Lives in Porto", "Lives in Lisbon") == ("“Lives in Porto”", "“Lives in Lisbon”")
    assert quoted_change(f"Tea {old}", f"Coffee {old}")[1].startswith("“Coffee Ada had")
    run = "x" * 80
    assert quoted_change(f"{run}1", f"{run}2") == (f"“…{run[:16]}1”", f"“…{run[:16]}2”")
