"""Pictures for others: a drawing of the app by itself, as SVG. What it shows is given as a record; no memory is opened here.

Facts with secrets are left out of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.app import App, ComposeResult
from textual.content import Content
from textual.filter import LineFilter
from textual.strip import Strip
from textual.theme import Theme
from textual.widget import Widget
from textual.widgets import Static

from memtui.present import timeline
from memtui.present.entity import companions_headline
from memtui.present.for_others import redacted_neighbourhood, redacted_portrait, redacted_timeline
from memtui.present.portrait import portrait_headline
from memtui.present.text import Line
from memtui.ui.line_filter import own_filters, without_greys
from memtui.ui.safe import assemble, segment
from memtui.ui.svg import self_contained_svg
from memtui.ui.theme import DARK, Appearance, own_themes, variable_defaults
from memtui.ui.widgets.line_view import LineView

if TYPE_CHECKING:
    from memtui.engine.records import Neighbourhood, Portrait, Timeline

MOST_ROWS = 200
_MARGIN = 2
# Lines of a timeline beside its rows; those that the app has below it, for the text under the cursor, are not drawn.
_ROWS_AROUND, _BELOW = 9, 2
# More rows than this are one line high each.
_LOW_FROM = 20


@dataclass(frozen=True)
class PictureFrame:
    """How a picture looks: its size in cells (``rows`` None: as many as it needs), the time, the filter that it names."""

    look: Appearance
    columns: int
    rows: int | None
    now: float
    filter: str = ""


def portrait_svg(portrait: Portrait, frame: PictureFrame) -> str:
    """What is known about the person."""
    from memtui.ui.panes.you.lines import PortraitLines
    from memtui.ui.panes.you.pane import PortraitView

    shown = redacted_portrait(portrait)
    glyphs = frame.look.glyphs

    def show_portrait(view: Widget) -> int:
        assert isinstance(view, PortraitView)
        lines = PortraitLines(view.text_width, view.size.height, frame.now, glyphs, review=0)
        laid = lines.lay_out(shown)
        view.show_layout(laid, subject="picture")
        return len(laid.lines)

    return _draw_svg(
        frame, "What is known", portrait_headline(portrait), lambda: PortraitView(glyphs), show_portrait, 40
    )


def neighbourhood_svg(neighbourhood: Neighbourhood, frame: PictureFrame) -> str:
    """Whom and what an entity is seen with."""
    from memtui.ui.panes.entities.neighbours_view import MIDDLE, NeighboursView

    shown = redacted_neighbourhood(neighbourhood)

    def show_neighbours(view: Widget) -> int:
        assert isinstance(view, NeighboursView)
        view.show(shown, frame.now, cursor=MIDDLE)
        return view.size.height

    def make_view() -> Widget:
        return NeighboursView(frame.look.glyphs, frame.now, shows_cursor=False)

    return _draw_svg(frame, "Who with whom", companions_headline(shown, 0), make_view, show_neighbours, 36)


def timeline_svg(counted: Timeline, frame: PictureFrame) -> str:
    """The memories over time. ``frame.columns`` are those for which ``periods`` gave their number."""
    shown = redacted_timeline(counted)
    rows = len(shown.rows) + 1

    def show_timeline(view: Widget) -> int:
        assert isinstance(view, _LinesView)
        width, height = view.size
        where = timeline.plan_drawing(shown, width, height + _BELOW)
        view.show(timeline.draw_timeline(shown, "learned", where, frame.look.glyphs))
        return height

    needed = rows * (2 if rows <= _LOW_FROM else 1) + _ROWS_AROUND
    return _draw_svg(
        frame, "Over time", timeline.headline(counted).rstrip("."), _LinesView, show_timeline, needed
    )


def periods_that_fit(columns: int) -> int:
    """How many periods a picture of the timeline has room for."""
    return timeline.grid_width(columns - 2 * _MARGIN)


class _LinesView(LineView):
    """Lines of texts in roles, as they are given."""

    _lines: Sequence[Line] = ()

    def show(self, lines: Sequence[Line]) -> None:
        self._lines = lines
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width, blank = self.size.width, self._role_style("plain", "text")
        line = self._lines[y] if y < len(self._lines) else ()
        segments = [segment(text, self._role_style("plain", role)) for text, role in line]
        return Strip(segments).adjust_cell_length(width, blank)


def _draw_svg(
    frame: PictureFrame,
    title: str,
    about: str,
    make: Callable[[], Widget],
    fill: Callable[[Widget], int],
    rows: int,
) -> str:
    """The SVG. Without a height it gets ``rows``, or as many as are needed."""
    dot = f" {frame.look.glyphs.dot} "
    head = assemble((title, "bold $accent"), (dot, "$text-muted"), about)
    if frame.filter:
        head = assemble(head, (dot, "$text-muted"), (frame.filter, "$text-muted"))
    svg, missing = asyncio.run(_render_svg(frame.look, (frame.columns, frame.rows or rows), head, make, fill))
    if missing > 0 and frame.rows is None:
        higher = min(rows + missing, MOST_ROWS)
        svg, _ = asyncio.run(_render_svg(frame.look, (frame.columns, higher), head, make, fill))
    return self_contained_svg(svg)


async def _render_svg(
    look: Appearance,
    size: tuple[int, int],
    head: Content,
    make: Callable[[], Widget],
    fill: Callable[[Widget], int],
) -> tuple[str, int]:
    """The SVG, and how many rows are missing in it."""
    app = _PictureApp(look, head, make)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        missing = fill(app.view) - app.view.size.height
        await pilot.pause()
        return app.export_screenshot(title="memtui"), missing


class _PictureApp(App[None]):
    """A title, and one view below it."""

    CSS = """
    Screen { background: $surface; color: $text; overflow: hidden; }
    #head { padding: 1 2; }
    .picture { height: 1fr; background: $surface; overflow: hidden; margin: 0 2 1 2; }
    """
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, look: Appearance, caption: Content, make: Callable[[], Widget]) -> None:
        super().__init__()
        if self.no_color:
            self._filters = without_greys(self._filters)
        self._own_filters = own_filters(ascii=look.ascii, no_color=self.no_color)
        for theme in own_themes():
            self.register_theme(theme)
        self.theme = look.theme if look.theme in self.available_themes else DARK
        self._caption: Content = caption
        self._make = make

    def get_theme_variable_defaults(self) -> dict[str, str]:
        theme: Theme = self.current_theme
        return variable_defaults(theme)

    def get_line_filters(self) -> Sequence[LineFilter]:
        return (*super().get_line_filters(), *self._own_filters)

    def compose(self) -> ComposeResult:
        yield Static(self._caption, id="head")
        view = self._make()
        view.add_class("picture")
        view.can_focus = False
        yield view

    @property
    def view(self) -> Widget:
        return self.query_one(".picture")
