"""A list of any length, and its messages to its pane. It draws only visible lines and never waits for the memory.

Textual's own table holds its rows, which takes 18 s and 1 GB for a million.
The cursor is stored as the key of its row, so that it stays on the row when others come and go.
In the messages, ``table`` is the id of the list, for panes with several.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import ClassVar, Generic, TypeVar

from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip

from memtui.present.glyphs import UNICODE, Glyphs
from memtui.ui.action_dispatch import perform_action, perform_chord, start_worker
from memtui.ui.actions import Action, ActionContext
from memtui.ui.keymap import bindings_at
from memtui.ui.messages import message_type
from memtui.ui.row_source import Readers, RowSource
from memtui.ui.widgets.line_view import State

from ..row_source import ListSource
from .columns import Column, Order
from .line_view import LineView
from .row_pages import RowPages
from .row_paint import GUTTER, RowPainter


@message_type
class RowHighlighted(Message):
    """The cursor is on another row, or its row was read again. ``key`` None: there is no row."""

    table: str
    key: int | None


@message_type
class RowOpened(Message):
    """Enter or a double click on a row."""

    table: str
    key: int


@message_type
class RowsMarked(Message):
    """The number of marked rows has changed."""

    table: str
    count: int


@message_type
class RowsCounted(Message):
    """The number of rows is known. Not ``exact``: there are at least that many."""

    table: str
    count: int
    exact: bool


@message_type
class RowsOrdered(Message):
    """The person asked for another order. ``sort``: its name in the column."""

    table: str
    sort: str
    falling: bool


@message_type
class RowsFailed(Message):
    """The rows could not be read."""

    table: str
    error: Exception


Row = TypeVar("Row")


class RowTable(LineView, Generic[Row], can_focus=True, inherit_bindings=False):
    """Rows on screen, with a cursor and marks. ``show`` gives it a source.

    It moves the cursor and marks rows. The pane opens rows and changes the order.
    """

    BINDINGS = [*bindings_at("list")]
    ALLOW_SELECT = False
    part: ClassVar[ActionContext] = "list"
    action_perform, action_chord = perform_action, perform_chord

    def __init__(
        self,
        columns: Sequence[Column[Row]],
        *,
        id: str,
        orders: Sequence[Order] = (),
        glyphs: Glyphs = UNICODE,
        markable: bool = True,
    ) -> None:
        super().__init__(id=id)
        self.table = id
        self.markable = markable
        self.orders = orders
        # The present order: Order.sort, and whether it is descending.
        self.order = (orders[0].sort, orders[0].falling) if orders else ("", False)
        self.marks: set[int] = set()
        self.cursor = 0
        self.painter = RowPainter(columns, glyphs, self._role_style)
        # The columns of the lines below the first line of a row.
        self._below: Sequence[RowPainter[Row]] = ()
        self._header = True
        self._source: RowSource[Row] | None = None
        self._readers: Readers | None = None
        self._pages: RowPages[Row] | None = None
        self._next: RowPages[Row] | None = None
        self._cursor_key: int | None = None
        # The key under the cursor before a reload, until it is found again.
        self._sought: int | None = None
        # Whether the last reading failed, so that older rows are shown.
        self.failed = False

    # -- rows

    @property
    def row_count(self) -> int:
        return self._pages.count if self._pages is not None else 0

    @property
    def count_is_exact(self) -> bool:
        return self._pages is not None and self._pages.exact

    @property
    def source_shown(self) -> RowSource[Row] | None:
        """The source of the rows on screen. The new source of ``show`` only counts after it was read."""
        return self._pages.source if self._pages is not None else None

    @property
    def selected(self) -> Row | None:
        """The row under the cursor. None if there is none, or while it is being read."""
        return self._pages.row_at(self.cursor) if self._pages is not None and self.row_count else None

    @property
    def selected_key(self) -> int | None:
        return self._cursor_key

    def show_source(self, source: RowSource[Row], readers: Readers, *, top: bool = True) -> None:
        """Show the rows of ``source``, from the top or with the cursor on the same row."""
        self._source, self._readers = source, readers
        self.reload_rows(top=top)

    def reload_rows(self, *, top: bool = False) -> None:
        """Read the rows again. The old rows stay on screen until then."""
        if self._source is None or self._readers is None:
            return
        if self._next is not None:
            self._next.close()
        self.failed = False
        self._next = pages = RowPages(
            self._source,
            self._readers,
            arrived=self._rows_arrived,
            counted=self._rows_counted,
            failed=self._reading_failed,
        )
        if isinstance(self._source, ListSource):
            pages.use_rows(self._source.page_rows(0, self._source.count()))
            self._adopt_pages(pages, top)
        else:
            start_worker(self, partial(self._start_reading, pages, top), "rows")

    async def _start_reading(self, pages: RowPages[Row], top: bool) -> None:
        try:
            await pages.read_first(0 if top else self.scroll_offset.y // self.lines, max(self.size.height, 1))
        except Exception as error:
            if not pages.closed:
                self._reading_failed(error)
            return
        if not pages.closed:
            self._adopt_pages(pages, top)

    def _adopt_pages(self, pages: RowPages[Row], top: bool) -> None:
        if self._pages is not None:
            self._pages.close()
        self._pages, self._next = pages, None
        self._fit_scrollbar()
        # Where the person scrolled away from the cursor, the list does not jump to it.
        shown = self._sought is not None or self._is_visible_row(self.cursor)
        if top:
            self.cursor, self._sought = 0, None
            self.scroll_to(y=0, animate=False)
        else:
            self._restore_cursor(self._cursor_key)
        self.place_cursor(self.cursor)
        if shown:
            self._scroll_to_row(self.cursor)
        self.refresh()
        if pages.keys is None:
            self._post_count()
            pages.read_remaining()
        else:
            self._rows_counted()

    def _restore_cursor(self, key: int | None) -> None:
        """Move the cursor to the row with this key, and keep the row at its line on screen."""
        if key is None or self._pages is None:
            return
        at = self._pages.find_index(key, self.cursor)
        self._sought = key if at is None and self._pages.keys is None else None
        if at is not None and at != self.cursor:
            if self.scroll_offset.y:
                self.scroll_to(y=self.scroll_offset.y + (at - self.cursor) * self.lines, animate=False)
            self.cursor = at

    def _rows_counted(self) -> None:
        if self._pages is None:
            return
        self._fit_scrollbar()
        if self._pages.keys is not None:
            if self._sought is not None:
                self._restore_cursor(self._sought)
                self.place_cursor(self.cursor)
                self._scroll_to_row(self.cursor)
            if self.marks:
                self.set_marks(self.marks.intersection(self._pages.keys))
        self._post_count()

    def _rows_arrived(self, first: int, rows: int) -> None:
        top = self.scroll_offset.y // self.lines
        if first < top + self.size.height and first + rows > top:
            self.refresh()
        if first <= self.cursor < first + rows:
            self.place_cursor(self.cursor)

    def _reading_failed(self, error: Exception) -> None:
        self.failed = True
        self.post_message(RowsFailed(self.table, error))

    def _post_count(self) -> None:
        if self._pages is not None:
            self.post_message(RowsCounted(self.table, self._pages.count, self._pages.exact))

    def _fit_scrollbar(self) -> None:
        height = self.row_count * self.lines + self.header_height
        self.virtual_size = Size(self.scrollable_content_region.width, height)

    # -- cursor and marks

    def move_to(self, index: int) -> None:
        """Move the cursor to this row, or the nearest one, and scroll to it."""
        self._sought = None
        before = self.cursor
        self.place_cursor(index)
        if before != self.cursor:
            self._refresh_row(before)
        self._scroll_to_row(self.cursor)

    def place_cursor(self, index: int) -> None:
        self.cursor = max(0, min(index, self.row_count - 1))
        self._refresh_row(self.cursor)
        known = self._pages is not None and self.row_count
        self._cursor_key = self._pages.key_at(self.cursor) if self._pages is not None and known else None
        self.post_message(RowHighlighted(self.table, self._cursor_key))

    def select_key(self, key: int) -> None:
        """Move the cursor to the row with this key, as soon as it is listed."""
        before = self.cursor
        self._restore_cursor(key)
        if self._pages is not None and self._pages.find_index(key, self.cursor) is not None:
            self._refresh_row(before)
            self.move_to(self.cursor)
        else:
            self._cursor_key = self._sought = key

    def set_marks(self, marks: set[int]) -> None:
        """Mark the rows with these keys, and no others."""
        if marks != self.marks:
            self.marks = marks
            self.refresh()
            self.post_message(RowsMarked(self.table, len(marks)))

    @property
    def marked_rows(self) -> list[Row]:
        """The marked rows, as far as they are read: one that was marked far from the cursor may be missing."""
        return self._pages.read_rows(self.marks) if self._pages is not None and self.marks else []

    def _is_visible_row(self, index: int) -> bool:
        first = self.scroll_offset.y
        return first <= index * self.lines and (index + 1) * self.lines <= first + self._body_lines

    def _scroll_to_row(self, index: int) -> None:
        height, top = self._body_lines, self.scroll_offset.y
        first, end = index * self.lines, (index + 1) * self.lines
        if first < top:
            self.scroll_to(y=first, animate=False)
        elif end > top + height:
            self.scroll_to(y=end - height, animate=False)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if self._pages is not None:
            height = max(self.size.height, 1)
            self._pages.request_rows(round(new_value) // self.lines - height, 3 * height)

    # -- drawing

    @property
    def header_height(self) -> int:
        return 1 if self._header else 0

    @property
    def lines(self) -> int:
        """The lines of one row."""
        return 1 + len(self._below)

    @property
    def _last_line(self) -> RowPainter[Row]:
        return self._below[-1] if self._below else self.painter

    @property
    def _body_lines(self) -> int:
        return max(self.scrollable_content_region.height - self.header_height, 1)

    @property
    def body_height(self) -> int:
        """How many whole rows are visible, at least one."""
        return max(self._body_lines // self.lines, 1)

    def row_at(self, y: int) -> int:
        """The index of the row that is drawn ``y`` lines below the top of the widget."""
        return (self.scroll_offset.y + y - self.header_height) // self.lines

    def show_header(self, shown: bool) -> None:
        if shown != self._header:
            self._header = shown
            self._fit_scrollbar()
            self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        if y < self.header_height:
            return self.painter.paint_header(width, self.order)
        index = self.row_at(y)
        if self._pages is None or index >= self.row_count:
            return Strip.blank(width, self._role_style("plain", "text"))
        row = self._pages.row_at(index)
        marked = bool(self.marks) and self._pages.key_at(index) in self.marks
        state: State = "marked" if marked else "plain"
        if index == self.cursor:
            state = "cursor" if self.has_focus else "cursor-blurred"
        below = (self.scroll_offset.y + y - self.header_height) % self.lines
        painter = self._below[below - 1] if below else self.painter
        if row is None:
            return painter.paint_skeleton(index, width, state, marked and not below)
        return painter.paint_row(row, width, state, marked and not below)

    def _refresh_row(self, index: int) -> None:
        y = index * self.lines - self.scroll_offset.y + self.header_height
        self.refresh(Region(0, y, self.size.width, self.lines))

    def show_columns(
        self, columns: Sequence[Column[Row]], below: Sequence[Sequence[Column[Row]]] = ()
    ) -> None:
        """Draw the rows with other columns. ``below``: the columns of their further lines."""
        glyphs, ruled = self.painter.glyphs, self._last_line.ruled
        self.painter = RowPainter(columns, glyphs, self._role_style)
        self._below = [RowPainter(line, glyphs, self._role_style) for line in below]
        self._last_line.ruled = ruled
        self._fit_scrollbar()
        self._scroll_to_row(self.cursor)
        self.refresh()

    def on_focus(self) -> None:
        self._refresh_row(self.cursor)

    def on_blur(self) -> None:
        self._refresh_row(self.cursor)

    def on_resize(self) -> None:
        self._fit_scrollbar()
        self._scroll_to_row(self.cursor)

    def on_unmount(self) -> None:
        for pages in (self._pages, self._next):
            if pages is not None:
                pages.close()

    # -- what the person does

    def offers(self, action: Action) -> bool:
        if action.id in ("mark", "mark_all"):
            return self.markable
        return bool(self.orders) if action.id in ("sort", "reverse") else True

    def unavailable_reason(self, action: Action) -> str:
        if action.id in ("mark", "mark_all") and not self.markable:
            return "Nothing here works on several rows, so they cannot be marked."
        if action.id in ("sort", "reverse"):
            return "" if self.orders else "This list has one order only."
        return "" if self.row_count else "There is no row here."

    def do_up(self) -> None:
        self.move_to(self.cursor - 1)

    def do_down(self) -> None:
        self.move_to(self.cursor + 1)

    def do_page_up(self) -> None:
        self.move_to(self.cursor - self.body_height)

    def do_page_down(self) -> None:
        self.move_to(self.cursor + self.body_height)

    def do_half_up(self) -> None:
        self.move_to(self.cursor - max(self.body_height // 2, 1))

    def do_half_down(self) -> None:
        self.move_to(self.cursor + max(self.body_height // 2, 1))

    def do_top(self) -> None:
        self.move_to(0)

    def do_bottom(self) -> None:
        self.move_to(self.row_count - 1)

    def do_open(self) -> None:
        if self._cursor_key is not None and self.row_count:
            self.post_message(RowOpened(self.table, self._cursor_key))

    def do_mark(self) -> None:
        if self._cursor_key is not None:
            self.set_marks(self.marks ^ {self._cursor_key})
        self.move_to(self.cursor + 1)

    async def do_mark_all(self) -> None:
        if self._pages is not None:
            keys = await asyncio.to_thread(set, await self._pages.every_key())
            self.set_marks(set() if self.marks == keys else keys)

    def do_sort(self) -> None:
        current = next((index for index, one in enumerate(self.orders) if one.sort == self.order[0]), -1)
        one = self.orders[(current + 1) % len(self.orders)]
        self.sort_by(one.sort, one.falling)

    def do_reverse(self) -> None:
        self.sort_by(self.order[0], not self.order[1])

    def sort_by(self, sort: str, falling: bool) -> None:
        """Ask the pane for another order."""
        self.order = (sort, falling)
        self.refresh()
        self.post_message(RowsOrdered(self.table, sort, falling))

    def on_click(self, event: events.Click) -> None:
        if event.y < self.header_height:
            self._click_header(event.x)
            return
        index = self.row_at(event.y)
        if index < self.row_count:
            self.move_to(index)
            if event.x < GUTTER:
                self.do_mark()
            elif event.chain == 2:
                self.do_open()

    def _click_header(self, x: int) -> None:
        left = GUTTER
        for column, width in self.painter.fit_columns(self.scrollable_content_region.width):
            if left <= x < left + width + column.gap and column.sort:
                one = next(one for one in self.orders if one.sort == column.sort)
                falling = not self.order[1] if column.sort == self.order[0] else one.falling
                self.sort_by(column.sort, falling)
                return
            left += width + column.gap
