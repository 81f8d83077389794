"""What ``visible_text()`` shows, hides nothing of, and leaves alone."""

from __future__ import annotations

import subprocess
import sys
import time
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from memtui.present.text import max_cells, one_line, visible_text

HOSTILE = (
    "\x1b]52;c;cm0gLXJm\x07",
    "\x9b31mred",
    "a\u202egnp.exe",
    "zero\u200bwidth\u2060\ufeff",
    "tag\U000e0041\U000e0042",
    "\ud800\udfff",
    "\ufdd0\uffff\U0010fffe",
    "z" + "\u0301" * 50,
    "soft\xadhyphen",
    "\u3164\u115f",
    "a\rb\r\nc\u2028d\x85e",
)
# Everything a terminal obeys or does not show, and what may follow a letter.
pieces = st.lists(
    st.one_of(
        st.text(max_size=8),
        st.characters(categories=["Cc", "Cf", "Cs", "Mn", "Me", "Zl", "Zp"]),
        st.sampled_from([*HOSTILE, *"\u200d\u200c👩\ufe0fم中é\n\t↵", "क्", "  "]),
    ),
    max_size=30,
).map("".join)


def is_shown(text: str) -> bool:
    """No control, nothing without shape but the two joiners, no noncharacter."""
    for character in text:
        if character in "\u200c\u200d":
            continue
        if unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") or ord(character) & 0xFFFE == 0xFFFE:
            return False
        if unicodedata.category(character) == "Cf" and not 0x600 <= ord(character) < 0x900:
            return 0x11000 <= ord(character) < 0x14000
    return True


@given(pieces, st.booleans())
def test_nothing_that_a_terminal_obeys_comes_out(text: str, newlines: bool) -> None:
    shown = visible_text(text, newlines=newlines)
    assert is_shown(shown.replace("\n", "") if newlines else shown)


@given(pieces, st.one_of(st.none(), st.integers(0, 40)), st.booleans())
@example("a" + "\u0300" * 4 + "\u064b\u200c", None, False)
@example("\u061c\u200d\u061c", None, False)
@example("👩\u200d👩\u200d👩\u200d👩", 4, False)
def test_applying_it_twice_changes_nothing(text: str, limit: int | None, newlines: bool) -> None:
    once = visible_text(text, limit, newlines=newlines)
    assert visible_text(once, limit, newlines=newlines) == once


@given(pieces, st.integers(0, 40))
def test_it_is_never_longer_than_the_limit(text: str, limit: int) -> None:
    from rich.cells import cell_len

    for shown in (visible_text(text, limit), one_line(text, limit)):
        assert cell_len(shown) <= max_cells(shown) <= limit
        assert len(shown) <= 8 * limit


@given(pieces, st.integers(0, 40))
def test_one_line_is_one_line_without_double_blanks_and_stable(text: str, limit: int) -> None:
    row = one_line(text, limit)
    assert is_shown(row)
    assert one_line(row, limit) == row
    assert "\n" not in row
    assert "  " not in row


@given(st.text(st.characters(categories=["L", "N", "P", "S"]), max_size=60))
@example("👨‍👩‍👧 and ❤️ and 🏳️‍🌈")
@example("می‌خواهم")
@example("क्‍ष नमस्ते")
@example("မြန်မာလျှော့ ภาษาไทยที่ שָׁלוֹם العَرَبِيَّة 日本語 한국어 Tiếng Việt")
@example("“quotes” – and [/] markup [@click=app.quit]x")
def test_text_in_any_script_stays_as_it_is(text: str) -> None:
    if not any(character in "\u115f\u1160\u3164\uffa0" for character in text):
        assert visible_text(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", "␛[31mred"),
        ("\x00\x07\x7f", "␀␇␡"),
        ("\x9b1m", "‹U+009B›1m"),
        ("a\u202eb", "a‹U+202E›b"),
        ("a\u200bb", "a‹U+200B›b"),
        ("\U000e0041", "‹U+E0041›"),
        ("\ud83d", "‹U+D83D›"),
        ("\ufffe", "‹U+FFFE›"),
        ("a\r\nb\rc\nd\u2028e", "a↵b↵c↵d↵e"),
        ("a\tb", "a b"),
        ("e" + "\u0301" * 9, "e" + "\u0301" * 4),
        ("a\u200db\u200c", "a‹U+200D›b‹U+200C›"),
        ("👩\u200d\u200d👩", "👩‹U+200D›‹U+200D›👩"),
    ],
)
def test_each_hostile_character_has_a_stand_in(text: str, shown: str) -> None:
    assert visible_text(text) == shown


def test_line_ends_are_normalised_and_kept_on_request() -> None:
    assert visible_text("a\r\nb\rc\td", newlines=True) == "a\nb\nc    d"


def test_a_cut_text_ends_with_an_ellipsis_and_not_within_a_joined_emoji() -> None:
    assert visible_text("abcdef", 5) == "abcd…"
    assert visible_text("abcdef", 6) == "abcdef"
    assert visible_text("中文字", 4) == "中…"
    assert visible_text("👩‍👩‍👧", 3) == "👩…"
    assert visible_text("abc", 1) == "…"
    assert visible_text("abc", 0) == ""


def test_one_line_collapses_blanks_and_marks_line_breaks() -> None:
    assert one_line("  Buy   milk\n\n  and\tbread \n", 40) == "Buy milk ↵ and bread"
    assert one_line("Buy milk and bread", 9) == "Buy milk…"


def test_a_row_of_a_megabyte_costs_no_more_than_a_short_one() -> None:
    text = "word \x1b" * 200_000
    start = time.thread_time()
    assert max_cells(one_line(text, 80)) == 80
    assert time.thread_time() - start < 0.05


def test_text_works_without_textual() -> None:
    code = "import sys, memtui.present.text, memtui.present.format; sys.exit('textual' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("text", ["plain", "“quotes” – [/] [@click=app.quit]x", "日本語 Ærøskøbing", ""])
def test_plain_text_is_the_same_object(text: str) -> None:
    assert visible_text(text) is text
