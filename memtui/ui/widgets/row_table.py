"""The list as the person uses it: keys and mouse on a ``RowView``."""

from __future__ import annotations

import asyncio
from typing import ClassVar, Generic, TypeVar

from textual import events

from memtui.ui.actions import Action, Place
from memtui.ui.keymap import bindings_at
from memtui.ui.perform import Performs

from .row_events import RowOpened, RowsOrdered
from .row_paint import GUTTER
from .row_view import RowView

Row = TypeVar("Row")


class RowTable(Performs, RowView[Row], Generic[Row], can_focus=True, inherit_bindings=False):
    """Moves the cursor and marks rows by itself; opening and ordering are the pane's business."""

    BINDINGS = [*bindings_at("list")]
    part: ClassVar[Place] = "list"

    def offers(self, action: Action) -> bool:
        if action.id in ("mark", "mark_all"):
            return self.markable
        return bool(self.orders) if action.id in ("sort", "reverse") else True

    def why_not(self, action: Action) -> str:
        if action.id in ("mark", "mark_all") and not self.markable:
            return "No verb here works on several rows, so there is nothing to mark them for."
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
            self.mark(self.marks ^ {self._cursor_key})
        self.move_to(self.cursor + 1)

    async def do_mark_all(self) -> None:
        if self._pages is not None:
            keys = await asyncio.to_thread(set, await self._pages.every_key())
            self.mark(set() if self.marks == keys else keys)

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
        for column, width in self.painter.fitted(self.scrollable_content_region.width):
            if left <= x < left + width + column.gap and column.sort:
                one = next(one for one in self.orders if one.sort == column.sort)
                falling = not self.order[1] if column.sort == self.order[0] else one.falling
                self.sort_by(column.sort, falling)
                return
            left += width + column.gap
