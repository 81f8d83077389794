"""The last filter before the terminal: no widget can write a control byte.

Text on screen goes through ``visible_text()``. This filter is for text that does not: an input with the
original text, a widget of Textual with a file name, or a bug. The app adds it::

    def get_line_filters(self) -> Sequence[LineFilter]:
        return (*super().get_line_filters(), *self._own_filters)

with the same ``own_filters`` all the time, because Textual caches filtered lines per filter.
"""

from __future__ import annotations

from collections.abc import Iterable

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter, Monochrome

from memtui.present.text import without_control_characters

# The last of them are the ends of scroll bars.
_PLAIN = str.maketrans("“”‘’‹›…·•−–—×→←↑↓↵▁▂▃▄▅▆▇", "\"\"''<>~|*---x><^v|       ")


class ControlFilter(LineFilter):
    """Removes control, bidi and hidden characters from rendered lines, and links with such characters."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            segment if _is_clean(segment) else _without_control_characters(segment) for segment in segments
        ]


class PlainFilter(LineFilter):
    """For terminals without Unicode: signs and punctuation of one cell become ASCII of one cell."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [segment if segment.text.isascii() else _in_plain_letters(segment) for segment in segments]


def own_filters(*, ascii: bool, no_color: bool) -> tuple[LineFilter, ...]:
    """The filters of an app of ours, in their order."""
    coloured = (ControlFilter(), *((PlainFilter(),) if ascii else ()))
    return (NoColourFilter(), *coloured) if no_color else coloured


def without_greys(filters: Iterable[LineFilter]) -> list[LineFilter]:
    """Textual's filters without its own for ``NO_COLOR``, which turns colours into greys."""
    return [one for one in filters if not isinstance(one, Monochrome)]


# A background that differs by this much in brightness is a cursor, a selection or a button.
_CONTRAST = 0.35


class NoColourFilter(LineFilter):
    """For ``NO_COLOR``: no colours. Text with a special background is reversed instead."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [_without_colour(segment, background) for segment in segments]


def _without_colour(segment: Segment, background: Color) -> Segment:
    style = segment.style
    if style is None:
        return segment
    plain = style.without_color
    if style.meta:
        plain += Style.from_meta(style.meta)
    own_background = Color.from_rich_color(style.bgcolor) if style.bgcolor is not None else background
    if abs(own_background.brightness - background.brightness) > _CONTRAST:
        plain += Style(reverse=True)
    return Segment(segment.text, plain, segment.control)


def _in_plain_letters(segment: Segment) -> Segment:
    return Segment(segment.text.translate(_PLAIN), segment.style, segment.control)


def _is_clean(segment: Segment) -> bool:
    link = segment.style.link if segment.style is not None else None
    return segment.text.isprintable() and (link is None or link.isprintable())


def _without_control_characters(segment: Segment) -> Segment:
    style = segment.style
    if style is not None and style.link is not None and not style.link.isprintable():
        style = style.update_link(None)
    return Segment(without_control_characters(segment.text), style, segment.control)
