"""Wrapped lines, and turns measured as they are drawn."""

from __future__ import annotations

import string

from hypothesis import example, given
from hypothesis import strategies as st
from memtui.engine.records import Caution, MemoryRecord
from memtui.present.glyphs import UNICODE
from memtui.present.text import max_cells, visible_text
from memtui.ui.panes.sessions.transcript import PAGE, LoadedTranscript, MeasuredPage
from memtui.ui.panes.sessions.turn_lines import FOLD, TurnLayout
from memtui.ui.presenters.text_layout import wrap_text

TEXT = st.text(
    alphabet=st.sampled_from([*string.ascii_letters[:6], *" \n\t漢字\u0301\u202e👩\u200d"]), max_size=200
)
VIEW = TurnLayout(30, 1_763_812_800, UNICODE)


def turn(text: str, rid: int = 1, role: str = "user") -> MemoryRecord:
    return MemoryRecord(
        rid=rid, id=f"ep_{rid}", kind="episode", content=text, event_time=1_763_800_000, created_at=0,
        confidence=1.0, effective=1.0, decay_rate=0.0, trust="user", source_role=role,
    )  # fmt: skip


@given(TEXT, st.integers(2, 40))
@example("  \n 漢", 2)
def test_wrapping_loses_no_sign_and_no_line_is_too_wide(text: str, width: int) -> None:
    shown = visible_text(text, newlines=True)
    lines = wrap_text(shown, width)
    assert all(max_cells(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(shown.split())


def test_it_is_broken_at_blanks_and_code_keeps_its_indentation() -> None:
    assert wrap_text(visible_text("one two three"), 8) == ["one two", "three"]
    assert wrap_text(visible_text("if x:\n    return 1", newlines=True), 20) == ["if x:", "    return 1"]
    assert wrap_text(visible_text("abcdefghij"), 4) == ["abcd", "efgh", "ij"]


@given(TEXT, st.booleans(), st.integers(0, 12))
def test_a_turn_is_as_high_as_it_is_drawn(text: str, whole: bool, facts: int) -> None:
    view = VIEW._replace(drawn={1: (turn(text),) * facts})
    assert view.height(turn(text), whole=whole) == len(view.lines(turn(text), whole=whole))


def test_a_long_turn_is_folded_and_says_how_much_is_hidden() -> None:
    long = turn("\n".join(str(number) for number in range(FOLD + 5)))
    folded = ["".join(piece.text for piece in line) for line in VIEW.lines(long, whole=False)]
    assert "… 5 more lines" in folded[-2]
    assert len(VIEW.lines(long, whole=True)) == FOLD + 5 + 2


def test_words_that_are_looked_for_are_marked_as_they_stand() -> None:
    lines = VIEW._replace(words=("train",)).lines(turn("A Train and trains"), whole=False)
    assert [piece.text for piece in lines[1] if piece.role == "keyword"] == ["Train", "train"]


def _transcript(turns: int) -> LoadedTranscript:
    transcript = LoadedTranscript(VIEW)
    for start in range(0, turns, PAGE):
        page = [
            turn(f"turn {number}\n" * (number % 3 + 1), number)
            for number in range(start, min(start + PAGE, turns))
        ]
        transcript.append_page(MeasuredPage(page, VIEW, frozenset()))
    return transcript


def test_every_line_knows_its_turn_also_where_the_text_was_let_go() -> None:
    transcript = _transcript(2_000)
    for number in (0, 1, 99, 100, 1_500, 1_999):
        first, end = transcript.lines_of_turn(number)
        assert {transcript.turn_at(line) for line in range(first, end)} == {number}
    far = transcript.lines_of_turn(1_999)[0]
    assert transcript.locate_line(far) == (1_999, None)
    transcript.add_texts(19, [turn(f"turn {rid}", rid) for rid in transcript.page_rids(19)])
    number, line = transcript.locate_line(far + 1)
    assert number == 1_999 and line is not None
    assert "turn 1999" in "".join(piece.text for piece in line)


def test_folding_moves_all_that_follows() -> None:
    transcript = LoadedTranscript(VIEW)
    long = turn("\n".join("x" * 40), 1)
    transcript.append_page(MeasuredPage([long, turn("next", 2)], VIEW, frozenset()))
    before = transcript.lines_of_turn(1)
    transcript.toggle_fold(0)
    by = 40 - FOLD - 1
    assert transcript.lines_of_turn(1) == (before[0] + by, before[1] + by)
    transcript.toggle_fold(0)
    assert transcript.lines_of_turn(1) == before


@given(TEXT, st.integers(12, 80))
def test_what_no_longer_holds_has_a_line_of_its_own(text: str, width: int) -> None:
    said = turn(text)
    old, new = turn("old"), turn(text or "new", rid=2)
    cautions = tuple(Caution(how="corrected", at=0, old=old, successor=new) for _ in range(5))
    view = VIEW._replace(width=width, cautions={1: cautions})
    lines = view.lines(said, whole=False)
    assert view.height(said, whole=False) == len(lines)
    assert all(sum(max_cells(piece.text) for piece in line) <= width for line in lines[1:4])
    assert "corrected" in "".join(piece.text for piece in lines[1]) or width < 16
