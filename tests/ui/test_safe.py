"""Text becomes content without being obeyed or parsed; what slips is dropped before the terminal."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memtui.present.text import max_cells, visible_text
from memtui.ui.line_filter import ControlFilter, PlainFilter
from memtui.ui.safe import assemble, content, content_with_marks, line, segment, show_notice
from rich.segment import Segment
from rich.style import Style
from textual.app import App, ComposeResult
from textual.color import Color
from textual.filter import LineFilter
from textual.widgets import Input, Static

HOSTILE = "[/] [@click=app.quit]x[/] \x1b]52;c;cm0=\x07 \u202e [b"
BLACK = Color(0, 0, 0)


def test_markup_and_controls_in_text_stay_text() -> None:
    shown = visible_text(HOSTILE)
    assert content(HOSTILE, "bold").plain == shown
    assert line(HOSTILE, 200).plain == shown
    assert segment(HOSTILE).text == shown
    assert assemble(HOSTILE, (HOSTILE, "bold"), content("!")).plain == f"{shown}{shown}!"
    assert all(
        isinstance(span.style, str) and "@click" not in span.style for span in content(HOSTILE, "bold").spans
    )


def test_content_keeps_line_breaks_and_can_be_cut() -> None:
    assert content("a\r\nb").plain == "a\nb"
    assert content("abcdef", limit=4).plain == "abc…"


def test_marks_follow_the_text_when_it_grows() -> None:
    shown = content_with_marks("a\u202eb cat", [(4, 7)], "bold", "dim")
    assert shown.plain == "a‹U+202E›b cat"
    assert [(shown.plain[start:end], style) for start, end, style in shown.spans] == [
        ("a‹U+202E›b ", "dim"),
        ("cat", "bold"),
    ]


@given(
    st.text("ab\x1b", max_size=12), st.lists(st.tuples(st.integers(0, 15), st.integers(0, 15)), max_size=4)
)
def test_marks_never_lose_or_repeat_text(text: str, ranges: list[tuple[int, int]]) -> None:
    shown = content_with_marks(text, ranges, "bold")
    assert shown.plain == visible_text(text)
    marked_text = {at for start, end in ranges for at in range(start, min(end, len(text)))}
    assert sum(end - start for start, end, _ in shown.spans) == len(marked_text)


@pytest.mark.parametrize(
    "text", ["\x1b[31m", "a\u202eb", "\x9b", "\u200b", "\U000e0041", "a\nb", "\ud800", "\ufffe"]
)
def test_the_filter_drops_what_a_terminal_would_obey(text: str) -> None:
    from rich.cells import cell_len

    (filtered,) = ControlFilter().apply([Segment(text, Style(bold=True))], BLACK)
    assert not any(character in filtered.text for character in "\x1b\x9b\u202e\u200b\U000e0041\n\ud800\ufffe")
    assert cell_len(filtered.text) == cell_len(text)
    assert filtered.style == Style(bold=True)


def test_the_filter_leaves_clean_segments_alone_and_drops_hostile_links() -> None:
    clean = [Segment("plain 👨‍👩‍👧", Style(link="https://example.org/a"))]
    assert ControlFilter().apply(clean, BLACK) == clean
    (filtered,) = ControlFilter().apply([Segment("x", Style(bold=True, link="a\x1b\\b"))], BLACK)
    assert filtered.style is not None
    assert (filtered.style.link, filtered.style.bold) == (None, True)


def test_plain_signs_take_the_room_of_those_they_stand_for() -> None:
    text = "“Ada’s” · walnuts… 漢字 → no ▃"
    (output,) = PlainFilter().apply([Segment(text, Style(bold=True))], BLACK)
    assert output.text == '"Ada\'s" | walnuts~ 漢字 > no  '
    assert max_cells(output.text) == max_cells(text) and output.style == Style(bold=True)


class Guarded(App[None]):
    """What the app does with the filter, and widgets that get raw text."""

    def __init__(self) -> None:
        super().__init__()
        self._control_filter = ControlFilter()

    def get_line_filters(self) -> Sequence[LineFilter]:
        return (*super().get_line_filters(), self._control_filter)

    def compose(self) -> ComposeResult:
        yield Static(HOSTILE, markup=False)
        yield Static(content(HOSTILE))
        yield Input(HOSTILE)


async def test_no_control_byte_reaches_the_screen_of_an_app() -> None:
    app = Guarded()
    async with app.run_test(size=(80, 24)) as pilot:
        show_notice(app, HOSTILE, title=HOSTILE)
        await pilot.pause()
        rows = ["".join(part.text for part in strip) for strip in app.screen._compositor.render_strips()]
    shown = "\n".join(rows)
    assert shown.count("]52;c;cm0=") >= 3
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert app.return_code is None or app.return_code == 0
