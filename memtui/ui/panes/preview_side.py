"""The preview half of a pane: it follows the cursor of the list, and can have the whole pane."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Generic, TypeVar

from textual import on
from textual.content import Content
from textual.widget import Widget

from memtui.ui.perform import start
from memtui.ui.safe import line
from memtui.ui.widgets.row_events import RowHighlighted, RowOpened
from memtui.ui.widgets.row_table import RowTable
from memtui.ui.widgets.text_view import TextView

from .pane import Pane

Row = TypeVar("Row")

# The cursor rests for that long before details are read.
PREVIEW_DELAY = 0.06


class PreviewSide(Pane, Generic[Row]):
    """Shows ``glance`` of the selected row at once, and ``details`` when the cursor rests."""

    def glance(self, row: Row) -> Content:
        """What the preview shows at once, from the row alone."""
        raise NotImplementedError

    async def details(self, row: Row) -> Content:
        """What the preview shows once the memory was asked."""
        return self.glance(row)

    def preview_title(self, row: Row) -> Content:
        """The title in the preview's frame."""
        return line("", 0)

    @property
    def table(self) -> RowTable[Row]:
        return self.query_one(RowTable)

    @property
    def preview(self) -> TextView:
        return self.query_one(TextView)

    @property
    def preview_part(self) -> Widget:
        """What has the preview's place, its frame and its title."""
        return self.preview

    @on(RowHighlighted)
    def _highlighted(self) -> None:
        row = self.table.selected
        self.shell.look_again()
        if row is None:
            self.workers.cancel_group(self, "preview")
            if self.table.selected_key is None:
                self.preview_part.border_title = line("", 0)
                self.show_preview(line("", 0), None)
            return
        self.preview_part.border_title = self.preview_title(row)
        self.show_preview(self.glance(row), self.table.selected_key)
        start(self, partial(self._fill_preview, row), "preview")

    @on(TextView.Rewidened)
    def _rewidened(self) -> None:
        if self.table.selected is not None:
            self._highlighted()

    async def _fill_preview(self, row: Row) -> None:
        await asyncio.sleep(PREVIEW_DELAY)
        key = self.table.selected_key
        text = await self.details(row)
        if key == self.table.selected_key:
            self.show_preview(text, key)

    def show_preview(self, text: Content, key: int | None) -> None:
        self.preview.show(text, of=key)

    @on(RowOpened)
    def _opened(self) -> None:
        self.zoom("preview")
        self.preview_part.focus()

    def do_zoom(self) -> None:
        self.zoom("preview" if self.preview_part.has_focus else "list")

    def do_unzoom(self) -> None:
        self.zoom(None)

    def zoom(self, part: str | None) -> None:
        """Give one part the whole pane; None: show both."""
        self.set_class(part == "list", "-zoom-list")
        self.set_class(part == "preview", "-zoom-preview")

    def as_arrived(self) -> bool:
        return self.has_class("-zoom-preview") and self.preview_part.has_focus

    def do_focus_preview(self) -> None:
        if self.screen.has_class("-tiny"):
            self.zoom("preview")
        self.preview_part.focus()

    def do_focus_list(self) -> None:
        if self.has_class("-zoom-preview"):
            self.zoom(None)
        self.table.focus()
