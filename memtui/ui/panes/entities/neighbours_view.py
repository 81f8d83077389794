"""Shows the neighbourhood of an entity as a drawing with a cursor; below it what the cursor is on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip

from memtui.present.entity import companion_line, companions_left_out, latest_line, type_sign
from memtui.present.glyphs import Glyphs
from memtui.present.text import Line, Role, max_cells, one_line, visible_text
from memtui.ui.action_dispatch import perform_action, perform_chord
from memtui.ui.actions import ActionContext
from memtui.ui.keymap import bindings_at
from memtui.ui.messages import message_type
from memtui.ui.safe import segment
from memtui.ui.widgets.columns import StyledText
from memtui.ui.widgets.line_view import LineView, State

from .neighbours_drawing import Drawing, PieceRun, draw_neighbours
from .radial_layout import neighbour_in_direction

if TYPE_CHECKING:
    from memtui.engine.records import Companion, Neighbourhood

MIDDLE = -1
# With so many lines there is room for the signs and for a memory below the drawing.
_FOOT_FROM, _LEGEND_FROM = 12, 18


class NeighboursView(LineView, can_focus=True, inherit_bindings=False):
    """``cursor``: the number of the companion that it is on, or ``MIDDLE``."""

    BINDINGS = [*bindings_at("neighbours")]
    ALLOW_SELECT = False
    part: ClassVar[ActionContext] = "neighbours"
    action_perform, action_chord = perform_action, perform_chord

    @message_type
    class Chosen(Message):
        """A double click on a label."""

    @message_type
    class Moved(Message):
        """The cursor is on another one, or another number of them is drawn."""

    def __init__(
        self, glyphs: Glyphs, now: float, *, shows_cursor: bool = True, id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self._shows_cursor = shows_cursor
        self.glyphs = glyphs
        self.now = now
        self.found: Neighbourhood | None = None
        self.cursor = MIDDLE
        self._drawing: Drawing | None = None
        self._foot: list[Line] = []

    def show(self, neighbourhood: Neighbourhood | None, now: float, cursor: int | None = None) -> None:
        """Show a neighbourhood. ``cursor``: the entity (eid) to put the cursor on; without it, the one of most memories."""
        self.found, self.now = neighbourhood, now
        places = (
            {}
            if neighbourhood is None
            else {one.entity.eid: index for index, one in enumerate(neighbourhood.companions)}
        )
        self.cursor = (
            MIDDLE
            if (cursor is not None and cursor not in places) or not places
            else places.get(cursor or 0, 0)
        )
        self._redraw_neighbours()

    @property
    def companion_at_cursor(self) -> Companion | None:
        """The companion under the cursor."""
        if self.found is None or not 0 <= self.cursor < len(self.found.companions):
            return None
        return self.found.companions[self.cursor]

    @property
    def left_out(self) -> int:
        """How many are not drawn."""
        if self.found is None or self._drawing is None:
            return 0
        return self.found.others + len(self.found.companions) - len(self._drawing.layout.spots)

    # -- moving

    def do_up(self) -> None:
        self._move_cursor(0, -1)

    def do_down(self) -> None:
        self._move_cursor(0, 1)

    def do_column_left(self) -> None:
        self._move_cursor(-1, 0)

    def do_column_right(self) -> None:
        self._move_cursor(1, 0)

    def _move_cursor(self, across: int, down: int) -> None:
        if self._drawing is not None:
            self._set_cursor(neighbour_in_direction(self._drawing.layout, self.cursor, across, down))

    def _set_cursor(self, cursor: int) -> None:
        if cursor != self.cursor:
            self.cursor = cursor
            self._redraw_neighbours()

    def on_click(self, event: events.Click) -> None:
        if self._drawing is None or not 0 <= event.y < len(self._drawing.rows):
            return
        for run in self._drawing.rows[event.y]:
            if run.companion is not None and run.left <= event.x < run.left + sum(
                max_cells(piece.text) for piece in run.pieces
            ):
                self._set_cursor(run.companion)
                if event.chain == 2:
                    self.post_message(self.Chosen())

    # -- drawing

    def on_resize(self) -> None:
        self._redraw_neighbours()

    def _redraw_neighbours(self) -> None:
        width, height = self.scrollable_content_region.size
        if self.found is None or width < 1 or height < 1:
            self._drawing, self._foot = None, []
        else:
            drawing_height = height - (4 if height >= _LEGEND_FROM else 3 if height >= _FOOT_FROM else 1)
            self._drawing = draw_neighbours(
                self.found, width, max(drawing_height, 1), self.glyphs, self.cursor
            )
            if self.cursor >= len(self._drawing.layout.spots):
                self.cursor = len(self._drawing.layout.spots) - 1
                self._drawing = draw_neighbours(
                    self.found, width, max(drawing_height, 1), self.glyphs, self.cursor
                )
            self._foot = self._lines_below(width, height)
        self.refresh()
        self.post_message(self.Moved())

    def _lines_below(self, width: int, height: int) -> list[Line]:
        assert self.found is not None
        about = companion_line(self.found, self.companion_at_cursor, self.now)
        if height < _FOOT_FROM:
            return [about]
        lines = [(), about, latest_line(self.companion_at_cursor, self.glyphs)]
        if height >= _LEGEND_FROM:
            lines[0:1] = [(), self._legend_line(width - 2)]
        return lines

    def _legend_line(self, width: int) -> Line:
        """The signs of the types that are drawn, and how many entities are not."""
        assert self.found is not None and self._drawing is not None
        more = companions_left_out(self.found, self.left_out)
        width_left = width - max_cells(more)
        shown = self.found.companions[: len(self._drawing.layout.spots)]
        parts: list[tuple[str, Role]] = []
        for type in dict.fromkeys(one.entity.type for one in shown):
            word = f" {type}   "
            if width_left < len(word) + 1:
                break
            parts += [type_sign(type, self.glyphs), (word, "dim")]
            width_left -= len(word) + 1
        return (*parts, (" " * width_left, "text"), (more, "accent"))

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        blank = self._role_style("plain", "text")
        if self._drawing is None:
            return Strip.blank(width, blank)
        rows = len(self._drawing.rows)
        runs: Sequence[PieceRun] = self._drawing.rows[y] if y < rows else ()
        if 0 <= y - rows < len(self._foot):
            width_left = width - 2
            pieces = []
            for text, role in self._foot[y - rows]:
                pieces.append(
                    StyledText(
                        one_line(text, width_left) if max_cells(text) > width_left else visible_text(text),
                        role,
                    )
                )
                width_left -= max_cells(pieces[-1].text)
                if width_left <= 0:
                    break
            runs = [PieceRun(1, tuple(pieces))]
        segments: list[Segment] = []
        at = 0
        for run in runs:
            state: State = "plain"
            gap = run.left - at
            if self._shows_cursor and run.companion is not None and run.companion == self.cursor and gap:
                state = "cursor" if self.has_focus else "cursor-blurred"
                gap -= 1
            segments.append(Segment(" " * gap, blank))
            if gap < run.left - at:
                bar = one_line(self.glyphs.cursor, 1)
                segments.append(segment(bar, self._role_style(state, "accent")))
            segments += [segment(piece.text, self._role_style(state, piece.role)) for piece in run.pieces]
            at = run.left + sum(max_cells(piece.text) for piece in run.pieces)
        return Strip(segments).adjust_cell_length(width, blank)

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()
