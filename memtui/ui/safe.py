"""The only way from text to widgets: everything goes through ``visible_text()``, nothing is parsed as markup.

Textual parses a plain ``str`` as markup and prints its control characters. So other modules of the app make
``Content`` and notifications only from literals. A test checks that.
"""

from __future__ import annotations

from collections.abc import Iterable

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual.app import App
from textual.content import Content, Span
from textual.notifications import SeverityLevel
from textual.style import Style
from textual.widget import Widget

from memtui.present.text import Line, Role, one_line, visible_text

Styled = tuple[str, str | Style]
"""A text and the style that it gets."""

_STYLES: dict[Role, str] = {
    "text": "", "strong": "bold", "dim": "$text-muted", "faint": "$text-disabled"
}  # fmt: skip


def content(text: str, style: str | Style = "", *, limit: int | None = None) -> Content:
    """``text`` with its line breaks in one style; at most ``limit`` cells."""
    return Content.styled(visible_text(text, limit, newlines=True), style)


def line(text: str, limit: int, style: str | Style = "") -> Content:
    """``text`` as one row of at most ``limit`` cells."""
    return Content.styled(one_line(text, limit), style)


def assemble(*parts: str | Content | Styled) -> Content:
    """One content made of texts, texts with a style, and other contents."""
    return Content.assemble(
        *(
            part
            if isinstance(part, Content)
            else visible_text(part, newlines=True)
            if isinstance(part, str)
            else (visible_text(part[0], newlines=True), part[1])
            for part in parts
        )
    )


def content_of_line(line: Line) -> Content:
    """A line of a record, each part in the colour of its role."""
    return assemble(*((text, _STYLES.get(role, f"${role}")) for text, role in line))


def content_with_marks(
    text: str, ranges: Iterable[tuple[int, int]], style: str | Style, base: str | Style = ""
) -> Content:
    """``text`` with the code points ``start:end`` of each range in ``style``, the rest in ``base``.

    The ranges count in the original text, which may be shorter than the shown one. They may overlap and
    end after the text.
    """
    shown: list[str] = []
    spans: list[Span] = []
    at = width = 0

    def add_piece(end: int, style: str | Style) -> None:
        nonlocal at, width
        if end <= at:
            return
        piece = visible_text(text[at:end], newlines=True)
        if style and piece:
            spans.append(Span(width, width + len(piece), style))
        shown.append(piece)
        at, width = end, width + len(piece)

    for start, end in sorted(ranges):
        add_piece(min(start, len(text)), base)
        add_piece(min(end, len(text)), style)
    add_piece(len(text), base)
    return Content("".join(shown), spans)


def segment(text: str, style: RichStyle | None = None) -> Segment:
    """``text`` as a piece of one rendered line, for widgets with the line API."""
    return Segment(visible_text(text), style)


def show_notice(
    node: App[object] | Widget,
    text: str,
    *,
    title: str = "",
    severity: SeverityLevel = "information",
) -> None:
    """A notification. ``text`` may be stored text."""
    node.notify(
        visible_text(text, 2000, newlines=True),
        title=one_line(title, 80),
        severity=severity,
        markup=False,
    )
