"""Memories: everything that is remembered, and the details of each."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.content import Content
from textual.widget import Widget

from memtui.engine.installation import runnable_text
from memtui.ui.action_dispatch import start_worker
from memtui.ui.actions import Action, ActionContext
from memtui.ui.keymap import bindings_at
from memtui.ui.panes.entity_links import NOBODY
from memtui.ui.panes.list_pane import ListPane
from memtui.ui.panes.memory_actions import MemoryActions, memory_legend
from memtui.ui.panes.pane import Command, use_styles
from memtui.ui.presenters.memory_rows import (
    ORDERS,
    Dates,
    MemoryRow,
    MemorySource,
    dates_shown,
    memory_columns,
)
from memtui.ui.safe import assemble
from memtui.ui.saved_filters import SaveFilterAction
from memtui.ui.widgets.columns import Column

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import MemoryRecord
    from memtui.engine.search.filters.compiler import EmptyingTerm
    from memtui.ui.navigation import TimelineTarget
    from memtui.ui.presenters.memory_text import MemoryText

    from .timeline import TimelineView

TRASH = "is:trash"
# An undo of more memories than these leaves the cursor where it is.
_FEW = 4


class MemoriesPane(ListPane[MemoryRow]):
    """Lists facts, reflections and observations. One key adds turns, others show the Trash and the timeline."""

    pane_id: ClassVar = "memories"
    BINDINGS = [*bindings_at("memories")]
    footer_needed = frozenset({"timeline", "mark", "as_list", "layer", "rows_by"})
    placeholder = 'filter by words, kind:fact, tag:work, conf<0.5, after:7d, -word, "exact words"'
    language = True
    noun, noun_one = "memories", "memory"
    orders = ORDERS
    tables = frozenset({"memories", "memory_entities", "entities", "entity_aliases", "embeddings", "*"})
    with_turns = False
    # Made when it is first shown.
    _timeline: TimelineView | None = None
    # What the list says of time.
    _dates: Dates = "age"

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._verbs = MemoryActions(
            self,
            lambda: self.current,
            table=lambda: self.table,
            go_to=lambda rid: self.table.select_key(rid),
            memory_of=lambda row: row.memory,
        )
        self.delegates = (self._verbs, SaveFilterAction(self, lambda: self.filter_bar))

    @property
    def current(self) -> MemoryRecord | None:
        """The memory under the cursor."""
        row = self.table.selected
        return None if row is None else row.memory

    def legend(self) -> Sequence[tuple[str, str]]:
        glyphs = self.shell.glyphs
        heights = [
            (glyphs.bars, "How much there is in a period: the more, the further right in this row of signs.")
        ]
        return [*memory_legend(glyphs), *(heights if self.timeline is not None else ())]

    def columns(self) -> Sequence[Column[MemoryRow]]:
        return memory_columns(self.shell.glyphs, self.shell.clock, self._dates)

    def source(self, filter: str, order: tuple[str, bool]) -> MemorySource:
        memory = self.shell.operations.require_memory()
        return MemorySource(memory, filter, order, episodes=self.with_turns)

    @property
    def memory_filter(self) -> str:
        return self.filter_text

    def total(self) -> int | None:
        stats = self.shell.stats
        if stats is None or TRASH in self.rows_filter:
            return None
        turns = self.with_turns or any(
            term.startswith("kind:") and "episode" in term for term in self.rows_filter.split()
        )
        return stats.active - (0 if turns else stats.by_kind.get("episode", 0))

    def count_text(self, shown: str, number: int) -> Sequence[str]:
        terms = self.rows_filter.split()
        if TRASH not in terms:
            turns = (
                f"with turns ({self.shell.keymap_shown('episodes')} hides them)" if self.with_turns else ""
            )
            noun, filter = super().count_text(shown, number)
            return noun, turns, filter
        return f"{shown} in the Trash", " ".join(term for term in terms if term != TRASH)

    def label(self, action: Action) -> str:
        if self.timeline is not None and action.id in ("layer", "rows_by"):
            return self.timeline.next_label(action)
        return "leave the Trash" if action.id == "trash" and TRASH in self.filter_text else action.label

    def preferred_actions(self) -> Sequence[str]:
        stats = self.shell.stats
        if stats is not None and not stats.active and not stats.ended:
            return ("add", "import")
        return (*super().preferred_actions(), *(("restore", "trash") if TRASH in self.filter_text else ()))

    # -- preview

    def _preview_text(self) -> MemoryText:
        # Imported late: not needed for the first paint.
        from memtui.ui.presenters.memory_text import MemoryText

        return MemoryText(
            self.preview.text_width, self.shell.clock(), self.shell.glyphs, self.shell.keymap_shown
        )

    def preview_border_title(self, row: MemoryRow) -> Content:
        return self._preview_text().title(row.memory)

    def quick_preview(self, row: MemoryRow) -> Content:
        return self._preview_text().quick_preview(row.memory)

    async def details(self, row: MemoryRow) -> Content:

        memory_id = row.memory.id
        detail = await self.ask(lambda memory: memory.view.detail(memory_id))
        return self._preview_text().full_text(detail)

    # -- when there is nothing to show

    async def empty_text(self, filter: str) -> Content:
        key = self.shell.keymap_shown
        stats = await self.ask(lambda memory: memory.stats())
        if filter:
            source = self.source(filter, self.table.order)
            culprit = await self.ask(lambda memory: memory.view.emptied_by(source.whole_filter()))
            return self._empty_filter_text(filter, culprit, stats.unlinked)
        if stats.active == 0 and await self.ask(lambda memory: memory.view.count(TRASH) > 0):
            return assemble(
                ("Nothing is remembered any more.\n\n", "bold"),
                (key("trash"), "bold $accent"), "  see what is in the Trash, and bring it back\n",
                (key("add"), "bold $accent"), "  write down a memory",
            )  # fmt: skip
        if stats.active == 0:
            return assemble(
                ("Nothing is remembered yet.\n\n", "bold"),
                (key("import"), "bold $accent"), "  bring in conversations you had\n",
                (key("add"), "bold $accent"), "  write down a first memory\n\n",
                (runnable_text("memtui connect lets agents use it; memtui --demo shows one that is full."), "$text-muted"),
            )  # fmt: skip
        return assemble(
            ("No facts yet, only conversations.\n\n", "bold"),
            (key("pane_sessions"), "bold $accent"), "  read them, and there ",
            (key("run_all"), "bold $accent"), " turns all of them into facts\n",
            (key("episodes"), "bold $accent"), "  show their turns here\n",
            (key("add"), "bold $accent"), "  write down a fact yourself",
        )  # fmt: skip

    def _empty_filter_text(self, filter: str, culprit: EmptyingTerm | None, unlinked: int) -> Content:
        from memtui.engine.search.listing import DEFAULT_LIST

        key = self.shell.keymap_shown
        term = str(culprit.term) if culprit is not None else filter
        if culprit is not None and culprit.term.key == "entity" and unlinked:
            return assemble(
                ("The index is not ready.\n\n", "bold"),
                f"Names in {unlinked:,} memories are still being looked up, so ",
                (term, "bold $warning"), " may find more soon. The list follows by itself.",
            )  # fmt: skip
        if term == TRASH:
            return assemble(("The Trash is empty.\n\n", "bold"), (key("trash"), "bold $accent"), "  leave it")
        if term == DEFAULT_LIST:  # not typed by the person
            return assemble(
                ("Only turns of conversations pass this filter.\n\n", "bold"),
                "This list has the facts that were drawn from them.\n\n",
                (key("episodes"), "bold $accent"), "  show them here too\n",
                (key("back"), "bold $accent"), "  clear the filter",
            )  # fmt: skip
        alone = culprit is None or culprit.alone
        ways = [(key("back"), "clear the filter"), (key("filter"), "change it")]
        if culprit is not None and culprit.in_trash:
            ways.append((key("trash"), f"look in the Trash: {culprit.in_trash:,} there"))
        return assemble(
            ("Nothing passes this filter.\n\n", "bold"),
            (term, "bold $warning"),
            " alone lets nothing through.\n" if alone else ", after the terms before it, leaves nothing.\n",
            *(part for way, what in ways for part in ("\n", (way, "bold $accent"), f"  {what}")),
        )

    # -- the timeline in place of the list

    @property
    def timeline(self) -> TimelineView | None:
        """The timeline while it is shown."""
        return self._timeline if self.has_class("-timeline") else None

    @property
    def action_context(self) -> ActionContext:
        return "memories" if self.timeline is None else "timeline"

    def do_timeline(self) -> None:
        view = self._make_timeline()
        self._show_timeline(True)
        view.show()

    def show_timeline(self, target: TimelineTarget) -> None:
        """Show the timeline at a place, for a visit from another pane."""
        self.filter_bar.set_filter(target.filter, quiet=True)
        view = self._make_timeline()
        self._show_timeline(True)
        view.seek(target)
        self.show_rows(top=False)

    def _make_timeline(self) -> TimelineView:
        if self._timeline is None:
            # Imported late: not needed for the first paint.
            from .timeline import TimelineView

            use_styles(self.app, "timeline.tcss")
            self._timeline = TimelineView(
                lambda: self.filter_text, self._combined_filter, id="memories-timeline"
            )
            self.query_one(".list-side").mount(self._timeline)
        return self._timeline

    @property
    def view_shown(self) -> Hashable:
        return super().view_shown, self.timeline is not None

    @property
    def is_at_rest(self) -> bool:
        return super().is_at_rest if self.timeline is None else self.timeline.has_focus

    def begin(self) -> None:
        if self.timeline is not None:
            self.do_as_list()

    def do_as_list(self) -> None:
        self._show_timeline(False)

    def _show_timeline(self, shown: bool) -> None:
        self.zoom_part(None)
        self.set_class(shown, "-timeline")
        if self.is_in_sight:
            self.do_focus_list()
        self.show_count(self.table.row_count, self.table.count_is_exact)
        self.shell.refresh_keys()

    def _combined_filter(self, filter: str) -> str:
        return self.source(filter, self.table.order).whole_filter()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The keys of the list do nothing while it is not shown."""
        return not (action in ("perform", "chord") and self.timeline is not None)

    def focus_parts(self) -> list[Widget]:
        return super().focus_parts() if self.timeline is None else [self.timeline]

    def do_focus_list(self) -> None:
        if self.timeline is None:
            super().do_focus_list()
        else:
            self.timeline.focus()

    def show_rows(self, *, top: bool) -> None:
        dates = dates_shown(self.filter_text, self.table.order)
        if dates != self._dates:
            self._dates = dates
            self.table.show_columns(self.columns())
        super().show_rows(top=top)
        if self.timeline is not None:
            if self.filter_text != self._valid:  # the number there is of another filter
                self.filter_bar.show_count("")
            self.timeline.show()

    def show_count(self, rows: int, exact: bool) -> None:
        super().show_count(rows, exact)
        self._show_timeline_status()

    def on_timeline_view_moved(self) -> None:
        self._show_timeline_status()
        self.shell.refresh_keys()

    def on_timeline_view_chosen(self, event: TimelineView.Chosen) -> None:
        start_worker(self, partial(self.shell.navigation.list_memories, event.filter), "list_cell")

    def _show_timeline_status(self) -> None:
        if self.timeline is not None:
            self.show_status(self.timeline.status_text)

    def back(self) -> bool:
        if self.timeline is None:
            return super().back()
        if self.filter_text:
            self.filter_bar.set_filter("")
        else:
            self.do_as_list()
        return True

    def select_restored(self, ids: Sequence[str]) -> None:
        if len(ids) <= _FEW:
            start_worker(self, partial(self._select_restored_memory, ids), "undone")

    async def _select_restored_memory(self, ids: Sequence[str]) -> None:
        """Select the memory that an undo restored, if it is one and listed here."""
        records = await self.ask(lambda memory: _active_memories(memory, ids))
        if len(records) == 1:
            self.table.select_key(records[0].rid)

    def bookmark(self) -> Callable[[], None]:
        listed = super().bookmark()
        if self.timeline is None:

            def restore_list() -> None:
                self._show_timeline(False)
                listed()

            return restore_list
        spot, filter = self.timeline.spot, self.filter_bar.value

        def restore() -> None:
            self.filter_bar.set_filter(filter, quiet=True)
            self._show_timeline(True)
            assert self.timeline is not None
            self.timeline.spot = spot
            self.show_rows(top=False)

        return restore

    def list_only(self, filter: str, order: tuple[str, bool] | None = None) -> None:
        if self.timeline is not None:
            self.do_as_list()
        super().list_only(filter, order)

    # -- shown from elsewhere

    def open_at(self, rid: int) -> None:
        """Show a memory in the whole window."""
        if self.timeline is not None:
            self.do_as_list()
        self.filter_bar.set_filter("", quiet=True)
        self.table.select_key(rid)
        self.show_rows(top=False)
        self.zoom_part("preview")
        self.preview_part.focus()

    # -- actions

    def unavailable_reason(self, action: Action) -> str:
        if action.id in ("zoom", "unzoom") and self.timeline is not None:
            return "The timeline has the whole window."
        if action.id == "about" and (row := self.table.selected) is not None and not row.entities:
            return NOBODY
        return super().unavailable_reason(action)

    async def do_add(self) -> None:
        from memtui.ui.dialogs.edit import AddDialog

        written = await self.shell.show_dialog(AddDialog())
        if written is None:
            self.show_message("Nothing was written down.")
            return
        text, tags = written
        record = await self.change(lambda memory: memory.remember(text, tags=tags), "writing it down")
        self.table.select_key(record.rid)

    def do_trash(self) -> None:
        terms = self.filter_bar.value.split()
        inside = TRASH in terms
        restored, self._verbs.restored = self._verbs.restored, None
        if inside:
            filter = " ".join(term for term in terms if term != TRASH)
            self.filter_bar.set_filter(filter, quiet=restored is not None)
            if restored is not None:  # the list shows it, and not its top
                self.table.set_marks(set())
                self.table.select_key(restored)
                self.show_rows(top=False)
        else:
            self.filter_bar.set_filter(" ".join([TRASH, *terms]))
        self.show_message(
            "Back from the Trash."
            if inside
            else f"The Trash: {self.shell.keymap_shown('restore')} brings one back."
        )

    def do_episodes(self) -> None:
        self.with_turns = not self.with_turns
        self.show_message(
            "With the turns of conversations." if self.with_turns else "Without turns of conversations."
        )
        self.show_rows(top=True)

    def commands(self) -> Iterator[Command]:
        for one in self.orders:
            for falling, label in ((True, one.falling_label), (False, one.rising_label)):
                run = partial(self.table.sort_by, one.sort, falling)
                yield Command(f"Sort: {label}", "Put the list in this order.", run)


def _active_memories(memory: Memory, ids: Sequence[str]) -> list[MemoryRecord]:
    """Those of some memories that are there and not in the Trash. Blocks."""
    from memtui.engine.errors import NotFoundError

    found = []
    for memory_id in dict.fromkeys(ids):
        try:
            one = memory.view.get(memory_id)
        except NotFoundError:
            continue  # undoing took it away
        if one.active:
            found.append(one)
    return found
