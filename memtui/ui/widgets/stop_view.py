"""A view of lines with stops: items that can be opened. The cursor moves between them, and Enter opens one."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from rich.segment import Segment
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from memtui.present.glyphs import Glyphs
from memtui.present.text import VisibleText, max_cells, one_line, one_line_part
from memtui.ui.action_dispatch import perform_action, perform_chord
from memtui.ui.actions import Action
from memtui.ui.messages import message_type
from memtui.ui.safe import segment

from .columns import StyledText
from .line_view import PagedView, State

GUTTER = 2
"""The cells before each part of a line: the bar of the cursor and a blank."""
HEAD = -1
"""The column of stops that stand beside one another above all columns."""


class OpenableStop(Protocol):
    """Something that can be opened. ``key`` stays the same when it is read again."""

    @property
    def key(self) -> Hashable: ...


S = TypeVar("S", bound=OpenableStop)


class LinePart(NamedTuple):
    """A piece of one line, ``width`` cells wide after its gutter. ``stop``: its number, None if it opens nothing."""

    pieces: Sequence[StyledText]
    width: int
    stop: int | None = None


Line = tuple[LinePart, ...]


class StopLayout(NamedTuple, Generic[S]):
    """Lines, and for each stop by number: what it is, its line, and its column (0, 1 ... or ``HEAD``).

    Stops are numbered as they are read: the head, then one column after the other.
    """

    lines: Sequence[Line] = ()
    stops: Sequence[S] = ()
    rows: Sequence[int] = ()
    columns: Sequence[int] = ()


class StopView(PagedView, Generic[S], can_focus=True, inherit_bindings=False):
    """``show`` displays lines. If those of the same subject are shown again, the cursor stays on its stop."""

    ALLOW_SELECT = False
    action_perform, action_chord = perform_action, perform_chord

    @message_type
    class Opened(Message):
        """Enter, or a double click, on the stop under the cursor."""

    @message_type
    class Moved(Message):
        """The cursor may be on another stop."""

    @message_type
    class Rewidened(Message):
        """The lines have another width now, or the view another height."""

    def __init__(self, glyphs: Glyphs, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.glyphs = glyphs
        self.cursor = 0
        self._laid: StopLayout[S] = StopLayout()
        self._shown: object = None
        # The stop (its key) to put the cursor on as soon as it is there.
        self._sought: Hashable | None = None
        self._room = (0, 0)

    def show_layout(self, laid: StopLayout[S], *, subject: object) -> None:
        """Show lines; ``subject`` identifies their subject, so that newer ones stay in place."""
        again = subject == self._shown
        if again and self._sought is None and self.stop_at_cursor is not None:
            self._sought = self.stop_at_cursor.key
        self._laid, self._shown = laid, subject
        self.cursor = min(self.cursor, max(len(laid.stops) - 1, 0)) if again else 0
        self.virtual_size = Size(self.scrollable_content_region.width, len(laid.lines))
        if not again:
            self.scroll_to(y=0, animate=False)
        self._move_to_wanted_key()
        self.refresh()

    def move_to_key(self, key: Hashable) -> None:
        """Put the cursor on the stop with this key as soon as it is there."""
        self._sought = key
        self._move_to_wanted_key()

    def _move_to_wanted_key(self) -> None:
        keys = [stop.key for stop in self._laid.stops]
        if self._sought in keys:
            self.cursor, self._sought = keys.index(self._sought), None
            # The scroll range is known only after the new size was laid out.
            self.call_after_refresh(self._scroll_to_stop)

    @property
    def stop_at_cursor(self) -> S | None:
        """The stop under the cursor."""
        return self._laid.stops[self.cursor] if self.cursor < len(self._laid.stops) else None

    @property
    def text_width(self) -> int:
        """The width of a line in cells. While the view is hidden: its last width."""
        shown = self.scrollable_content_region.width
        return max(shown - GUTTER - 1, 10) if shown else max(self._room[0], 10)

    # -- moving

    def unavailable_reason(self, action: Action) -> str:
        return "There is nothing to open here." if action.id == "go" and self.stop_at_cursor is None else ""

    def put_cursor(self, number: int) -> None:
        """Go to a stop (the nearest there is), and bring it into view. One that is still sought is given up."""
        self._sought = None
        self.cursor = max(0, min(number, len(self._laid.stops) - 1))
        self._scroll_to_stop()

    def _scroll_to_stop(self) -> None:
        if self.stop_at_cursor is not None:
            row, top, height = self._laid.rows[self.cursor], self.scroll_offset.y, max(self.size.height, 1)
            if row < top:
                self.scroll_to(y=row, animate=False)
            elif row >= top + height:
                self.scroll_to(y=row - height + 1, animate=False)
        self._announce_move()

    def _announce_move(self) -> None:
        self.refresh()
        self.post_message(self.Moved())

    def _step_to_stop(self, by: int) -> None:
        """Go to the next stop. Before the first and after the last one the text scrolls."""
        row = self._laid.rows[self.cursor] if self.stop_at_cursor is not None else 0
        top, height = self.scroll_offset.y, max(self.size.height, 1)
        if self.stop_at_cursor is not None and not top <= row < top + height:
            self._scroll_to_stop()
        elif (number := self._next_stop(by)) is not None:
            self.put_cursor(number)
        else:
            self.scroll_to(y=top + by * max(height // 2, 1), animate=False)

    def _next_stop(self, by: int) -> int | None:
        """The next stop below or above: the one after or before it; in the head, from it and to it, the nearest one."""
        columns, rows, number = self._laid.columns, self._laid.rows, self.cursor + by
        if self.stop_at_cursor is None:
            return None
        here = columns[self.cursor]
        head = [index for index, column in enumerate(columns) if column == HEAD]
        if here == HEAD:
            beyond = [index for index in head if (rows[index] - rows[self.cursor]) * by > 0]
            if beyond:
                line = min((rows[index] for index in beyond), key=lambda row: row * by)
                return self._nearest_stop(index for index in beyond if rows[index] == line)
            first = {column: index for index, column in reversed(list(enumerate(columns))) if column != HEAD}
            return self._nearest_stop(first.values()) if by > 0 else None
        if by < 0 and head and (number < 0 or columns[number] != here):
            return self._nearest_stop(index for index in head if rows[index] == rows[head[-1]])
        return number if 0 <= number < len(columns) else None

    def _nearest_stop(self, numbers: Iterable[int]) -> int | None:
        """The stop among these that is nearest to the one under the cursor, counted across: at best below or above it."""
        here, _ = self._cells_of_stop(self.cursor)

        def away(number: int) -> int:
            begin, end = self._cells_of_stop(number)
            return max(begin - here, here - end + 1, 0)

        return min(numbers, key=away, default=None)

    def _cells_of_stop(self, number: int) -> tuple[int, int]:
        """Where a stop begins in its line, and where it ends."""
        left = 0
        for part in self._laid.lines[self._laid.rows[number]]:
            if part.stop == number:
                return left, left + GUTTER + part.width
            left += GUTTER + part.width
        return left, left

    def _scroll_with_cursor(self, by: int) -> None:
        """Scroll by lines, and take the cursor along."""
        self.scroll_to(y=self.scroll_offset.y + by, animate=False)
        top, height = self.scroll_offset.y, max(self.size.height, 1)
        column = self._laid.columns[self.cursor] if self.stop_at_cursor is not None else 0
        in_view = [number for number, row in enumerate(self._laid.rows) if top <= row < top + height]
        seen = [number for number in in_view if self._laid.columns[number] == column] or in_view
        if seen and self.cursor not in seen:
            self.cursor = seen[0] if by > 0 else seen[-1]
        elif seen and self.scroll_offset.y in (0, self.max_scroll_y):
            self.cursor = seen[-1] if by > 0 else seen[0]
        self._announce_move()

    def do_up(self) -> None:
        self._step_to_stop(-1)

    def do_down(self) -> None:
        self._step_to_stop(1)

    def do_top(self) -> None:
        self.put_cursor(0)
        self.scroll_to(y=0, animate=False)

    def do_bottom(self) -> None:
        self.put_cursor(len(self._laid.stops) - 1)
        self.scroll_end(animate=False)

    def do_go(self) -> None:
        if self.stop_at_cursor is not None:
            self.post_message(self.Opened())

    def move_across(self, by: int) -> bool:
        """Go to the nearest stop of the next column that has one, or in the head to the next stop. False without one."""
        if self.stop_at_cursor is None:
            return False
        columns, here = self._laid.columns, self._laid.columns[self.cursor]
        if here == HEAD:
            number = self.cursor + by
            if not 0 <= number < len(columns) or columns[number] != HEAD:
                return False
            self.put_cursor(number)
            return True
        row = self._laid.rows[self.cursor]
        beyond = {column for column in columns if column != HEAD and (column - here) * by > 0}
        if not beyond:
            return False
        next_one = min(beyond, key=lambda column: abs(column - here))
        targets = [number for number, column in enumerate(columns) if column == next_one]
        self.put_cursor(min(targets, key=lambda number: abs(self._laid.rows[number] - row)))
        return True

    def on_click(self, event: events.Click) -> None:
        line = self.scroll_offset.y + event.y
        if not 0 <= line < len(self._laid.lines):
            return
        left = 0
        for part in self._laid.lines[line]:
            width = GUTTER + part.width
            if left <= event.x < left + width and part.stop is not None:
                self.cursor = part.stop
                self._announce_move()
                if event.chain == 2:
                    self.do_go()
            left += width

    # -- drawing

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        number = self.scroll_offset.y + y
        blank = self._role_style("plain", "text")
        if number >= len(self._laid.lines):
            return Strip.blank(width, blank)
        segments = [drawing for part in self._laid.lines[number] for drawing in self._render_part(part)]
        return Strip(segments).adjust_cell_length(width, blank)

    def _render_part(self, part: LinePart) -> list[Segment]:
        here = part.stop is not None and part.stop == self.cursor and self.has_focus
        state: State = "cursor" if here else "plain"
        bar = one_line(self.glyphs.cursor, 1) if here else VisibleText(" ")
        segments = [
            segment(bar, self._role_style(state, "accent")),
            Segment(" ", self._role_style(state, "text")),
        ]
        width_left = part.width
        for piece in part.pieces:
            text = one_line_part(piece.text, width_left) if max_cells(piece.text) > width_left else piece.text
            if text:
                segments.append(segment(text, self._role_style(state, piece.role)))
                width_left -= max_cells(text)
        return [*segments, Segment(" " * max(width_left, 0), self._role_style(state, "text"))]

    def on_resize(self) -> None:
        size = self.text_width, self.size.height
        if size != self._room:
            self._room = size
            self.post_message(self.Rewidened())
