"""A pane with a list at the left and a preview at the right: filter, order, selection, empty states.

A subclass supplies the columns, the source of the rows, and the text of the preview.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import ClassVar, Generic, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from memtui.engine.errors import InputError, MemtuiError
from memtui.present.format import format_count
from memtui.ui.action_dispatch import start_worker
from memtui.ui.actions import Action
from memtui.ui.row_source import RowSource
from memtui.ui.safe import assemble, line
from memtui.ui.widgets.columns import Column, Order
from memtui.ui.widgets.filter_bar import FilterBar
from memtui.ui.widgets.row_table import (
    RowHighlighted,
    RowOpened,
    RowsCounted,
    RowsFailed,
    RowsMarked,
    RowsOrdered,
    RowTable,
)
from memtui.ui.widgets.text_view import TextView

from .pane import Pane

Row = TypeVar("Row")

HEADER_FROM = 14
# The cursor must rest this long before details are read.
PREVIEW_DELAY = 0.06


class ListPane(Pane, Generic[Row]):
    """List and preview. Override ``columns``, ``source``, ``quick_preview``, ``details`` and ``empty_text``.

    The preview follows the cursor: it shows ``quick_preview`` of the row at once, and ``details`` when the cursor rests.
    """

    placeholder: ClassVar[str] = ""
    # Whether the filter uses the filter language of memories.
    language: ClassVar[bool] = False
    # The noun for a row, for the status line.
    noun: str = "rows"
    noun_one: str = "row"
    orders: ClassVar[Sequence[Order]] = ()
    # Whether some actions work on several rows.
    markable: ClassVar[bool] = True
    # A lower list has no header. A list above its preview has this share of the pane.
    header_from: ClassVar[int] = HEADER_FROM
    list_share: ClassVar[float] = 0.57
    # What the preview says until the first rows are read.
    waiting: ClassVar[str] = ""
    _note: Static | None = None
    # The last query, and the filter of the last rows that were read.
    _asked: tuple[RowSource[Row], str] | None = None
    _valid = ""

    def compose(self) -> ComposeResult:
        with Vertical(classes="list-side"):
            yield FilterBar(self.placeholder, language=self.language, id=f"{self.pane_id}-filter")
            yield RowTable(
                self.columns(),
                id=f"{self.pane_id}-rows",
                orders=self.orders,
                glyphs=self.shell.glyphs,
                markable=self.markable,
            )
        yield TextView(id=f"{self.pane_id}-preview")

    # -- shown from elsewhere

    def list_only(self, filter: str, order: tuple[str, bool] | None = None) -> None:
        """Show what passes a filter, in an order (sort key, whether it falls) or in the usual one of the list."""
        usual = next(((one.sort, one.falling) for one in self.orders), self.table.order)
        self.table.order = order or usual
        self.table.set_marks(set())
        self.filter_bar.set_filter(filter, quiet=True)
        self.show_rows(top=True)

    @property
    def view_shown(self) -> Hashable:
        return self.filter_text, self._zoomed

    @property
    def is_at_rest(self) -> bool:
        part = self.preview_part if self._zoomed == "preview" else self.table
        return part.has_focus and not self.table.marks

    # -- what a subclass supplies

    def columns(self) -> Sequence[Column[Row]]:
        raise NotImplementedError

    def source(self, filter: str, order: tuple[str, bool]) -> RowSource[Row]:
        """The rows. An error in ``filter`` may appear only when they are read."""
        raise NotImplementedError

    def quick_preview(self, row: Row) -> Content:
        """What the preview shows at once, from the row alone."""
        raise NotImplementedError

    async def details(self, row: Row) -> Content:
        """What the preview shows after reading from the memory."""
        return self.quick_preview(row)

    def preview_border_title(self, row: Row) -> Content:
        """The title in the preview's frame."""
        return line("", 0)

    async def empty_text(self, filter: str) -> Content:
        """Why the list is empty, and the way out."""
        return assemble("Nothing here yet.")

    def total(self) -> int | None:
        """How many rows there are without a filter, if that is known."""
        return None

    # -- parts

    @property
    def table(self) -> RowTable[Row]:
        return self.query_one(RowTable)

    @property
    def preview(self) -> TextView:
        return self.query_one(TextView)

    @property
    def preview_part(self) -> Widget:
        """The widget that is shown as the preview, with its frame and title."""
        return self.preview

    @property
    def filter_bar(self) -> FilterBar:
        return self.query_one(FilterBar)

    @property
    def filter_text(self) -> str:
        return self.filter_bar.value.strip()

    @property
    def rows_filter(self) -> str:
        """The filter of the rows on screen: the last valid one, while that in the bar has a mistake."""
        return self.filter_text if self._asked is None else self._valid

    def focus_parts(self) -> list[Widget]:
        return [part for part in (self.table, self.preview_part) if part.display]

    # -- rows

    def on_mount(self) -> None:
        if self.waiting:
            self.preview.show_text(assemble((self.waiting, "$text-muted")))
        # A pane that is mounted beside another one does not always get its first resize event.
        self.call_after_refresh(self.on_resize)

    def load(self) -> None:
        self.show_rows(top=True)

    def reload(self) -> None:
        self.show_rows(top=False)

    def show_rows(self, *, top: bool) -> None:
        """Read the rows with the present filter and order. Does nothing before the memory is open (see ``load``)."""
        if self.shell.operations.memory is not None:
            self._show_filtered(self.filter_text, top=top)

    def _show_filtered(self, filter: str, *, top: bool) -> None:
        source = self.source(filter, self.table.order)
        self._asked = source, filter
        self.table.show_source(source, self.shell.operations.readers, top=top)

    def show_note(self, text: Content | None) -> None:
        """Show a text in place of the rows, or the rows again."""
        if self._note is not None:
            self._note.remove()
            self._note = None
        if text is not None:
            self._note = Static(text, classes="list-note")
            self.query_one(".list-side").mount(self._note)

    @on(FilterBar.Typed)
    def _filter_typed(self) -> None:
        self.table.set_marks(set())
        self.show_rows(top=True)

    @on(FilterBar.TypingEnded)
    def _leave_filter(self) -> None:
        self.do_focus_list()

    @on(RowsOrdered)
    def _change_order(self, event: RowsOrdered) -> None:
        one = next(one for one in self.orders if one.sort == event.sort)
        self.show_message(f"Order: {one.label(event.falling)}.")
        self.show_rows(top=True)

    @on(RowsCounted)
    def _show_count(self, event: RowsCounted) -> None:
        if self._asked is not None and self.table.source_shown is self._asked[0]:
            self._valid = self._asked[1]
        if self.rows_filter == self.filter_text:
            self.filter_bar.show_error(None)
        self.show_count(event.count, event.exact)
        if event.count == 0 and event.exact:
            self._leave_full_view()
            start_worker(self, self._explain_empty, "note")
        else:
            self.workers.cancel_group(self, "note")
            self.show_note(None)

    def _leave_full_view(self) -> None:
        """Leave the full view if no row is left. The list says why."""
        if self.has_class("-zoom-preview"):
            focused = self.preview_part.has_focus
            self.zoom_part(None)
            if focused:
                self.table.focus()

    async def _explain_empty(self) -> None:
        self.show_note(await self.empty_text(self.rows_filter))

    def show_count(self, rows: int, exact: bool) -> None:
        """How many rows there are: beside the filter, and in the status line."""
        total = self.total()
        number = format_count(rows) if exact else f"{format_count(rows)}+"
        if total is not None and self.rows_filter and exact:
            number = f"{number} of {format_count(total)}"
        self.filter_bar.show_count(number)
        out_of = total if " of " in number and total is not None else rows
        parts = [*self.count_text(number, out_of)]
        if self.table.marks:
            parts.insert(0, f"{format_count(len(self.table.marks))} marked")
        parts.append(self._order_label())
        self.show_status(f" {self.shell.glyphs.dot} ".join(part for part in parts if part))

    def _order_label(self) -> str:
        """The order if it was changed. Its column may be hidden."""
        first, (sort, falling) = self.orders[:1], self.table.order
        if not first or (first[0].sort, first[0].falling) == (sort, falling):
            return ""
        one = next(one for one in self.orders if one.sort == sort)
        return one.label(falling)

    def count_text(self, shown: str, number: int) -> Sequence[str]:
        """The count as text, and the filter. ``number`` decides between singular and plural."""
        return f"{shown} {self.noun_one if number == 1 else self.noun}", self.rows_filter

    def stats_read(self) -> None:
        if self.rows_filter and self.total() is not None and self.table.count_is_exact:
            self.show_count(self.table.row_count, True)

    @on(RowsMarked)
    def _show_marked(self) -> None:
        self.show_count(self.table.row_count, True)
        self.shell.refresh_keys()

    @on(RowsFailed)
    def _show_failure(self, event: RowsFailed) -> None:
        error = event.error
        if isinstance(error, InputError):
            if self.table.failed:
                self.filter_bar.show_error(error)
                self._follow_last_valid()
            return
        cause = error.message if isinstance(error, MemtuiError) else f"{type(error).__name__} while reading."
        hint = error.hint if isinstance(error, MemtuiError) else "Leave and start memtui again."
        self.show_note(assemble(("! ", "bold $error"), (cause, "$error"), "\n\n", hint))

    def _follow_last_valid(self) -> None:
        """Deleted or erased rows must disappear from the screen, also while the filter has an error."""
        if self._asked is not None and self._asked[1] != self._valid:
            self._show_filtered(self._valid, top=False)

    # -- preview

    @on(RowHighlighted)
    def _update_preview(self) -> None:
        self.show_selected()

    def show_selected(self) -> None:
        """Show the row under the cursor in the preview."""
        row = self.table.selected
        self.shell.refresh_keys()
        if row is None:
            self.workers.cancel_group(self, "preview")
            if self.table.selected_key is None:
                self.preview_part.border_title = line("", 0)
                self.show_preview(line("", 0), None)
            return
        self.preview_part.border_title = self.preview_border_title(row)
        self.show_preview(self.quick_preview(row), self.table.selected_key)
        start_worker(self, partial(self._fill_preview, row), "preview")

    @on(TextView.Rewidened)
    def _redraw_preview(self) -> None:
        if self.table.selected is not None:
            self.show_selected()

    async def _fill_preview(self, row: Row) -> None:
        await asyncio.sleep(PREVIEW_DELAY)
        key = self.table.selected_key
        text = await self.details(row)
        if key == self.table.selected_key:
            self.show_preview(text, key)

    def show_preview(self, text: Content, key: int | None) -> None:
        self.preview.show_text(text, subject=key)

    @on(RowOpened)
    def _open_selected(self) -> None:
        self.open_preview()

    def open_preview(self) -> None:
        """Give the preview the whole pane, and go there."""
        self.zoom_part("preview")
        self.preview_part.focus()

    def do_zoom(self) -> None:
        self.zoom_part("preview" if self.preview_part.has_focus else "list")

    def do_unzoom(self) -> None:
        self.zoom_part(None)

    # -- actions

    @property
    def _zoomed(self) -> str | None:
        """The part that has the whole pane: "list" or "preview"."""
        return next((part for part in ("list", "preview") if self.has_class(f"-zoom-{part}")), None)

    @property
    def in_mode(self) -> bool:
        return self._zoomed is not None

    def preferred_actions(self) -> Sequence[str]:
        return ("back",) if self.in_mode else ()

    def help(self, action: Action) -> str:
        """Each list has a filter of its own, which its placeholder explains."""
        if action.id == "filter" and self.placeholder and not self.language:
            return f"{self.placeholder[0].upper()}{self.placeholder[1:]}."
        return super().help(action)

    def unavailable_reason(self, action: Action) -> str:
        if action.id == "unzoom" and self._zoomed is None:
            return "All parts are shown already."
        if action.id == "copy" and hasattr(self, "do_copy") and self.table.selected is None:
            return "There is no row here."
        return super().unavailable_reason(action)

    def back(self) -> bool:
        if self._zoomed is not None:
            self.zoom_part(None)
            self.table.focus()
        elif not self.table.has_focus:
            self.table.focus()
        elif self.table.marks:
            self.table.set_marks(set())
        elif self.filter_text:
            self.filter_bar.set_filter("")
        else:
            return False
        return True

    def bookmark(self) -> Callable[[], None]:
        filter, key, order = self.filter_bar.value, self.table.selected_key, self.table.order
        zoomed = self._zoomed
        focused = self.preview_part if self.preview_part.has_focus else self.table

        def restore_list() -> None:
            again = self.filter_bar.value != filter or self.table.order != order
            self.table.order = order
            if again:
                self.filter_bar.set_filter(filter, quiet=True)
            if key is not None and key != self.table.selected_key:
                self.table.select_key(key)
            if again:
                self.show_rows(top=key is None)
            self.zoom_part(zoomed)
            if self.is_in_sight:
                focused.focus()

        return restore_list

    def do_filter(self) -> None:
        self.type_into(self.filter_bar)

    def type_into(self, bar: FilterBar, *, anew: bool = False) -> None:
        """Let the person type into a line above the list. ``anew``: what is typed replaces what is there.

        A row that has the whole pane gives it back, so that the line is in sight.
        """
        if self._zoomed == "preview":
            self.zoom_part(None)
        bar.start_typing(anew=anew)

    def zoom_part(self, part: str | None) -> None:
        """Give one part the whole pane; None: show both."""
        self.set_class(part == "list", "-zoom-list")
        self.set_class(part == "preview", "-zoom-preview")
        self.on_resize()
        self.shell.refresh_keys()

    def do_focus_preview(self) -> None:
        if self.screen.has_class("-tiny"):
            self.zoom_part("preview")
        self.preview_part.focus()

    def do_focus_list(self) -> None:
        if self.has_class("-zoom-preview"):
            self.zoom_part(None)
        # Now, not in a later message: the question of Search may take the focus next.
        self.screen.set_focus(self.table)

    def on_resize(self) -> None:
        """Show the header if there is room. It uses the size of the pane: the list gets its own size later."""
        shared = self.screen.has_class("-stacked") and not self.has_class("-zoom-list")
        height = self.size.height * (self.list_share if shared else 1)
        self.table.show_header(height - 1 >= self.header_from)  # the filter is above it
