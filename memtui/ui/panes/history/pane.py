"""History: every change with its author, its rows and its undo; and the recalls of agents."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from textual.content import Content

from memtui.ui.actions import Action
from memtui.ui.dialogs.undo import undo_agent, undo_operation
from memtui.ui.keymap import bindings_at
from memtui.ui.panes.entity_links import mentioned_in, show_about
from memtui.ui.panes.list_pane import ListPane
from memtui.ui.panes.unknown_terms import unknown_term_note
from memtui.ui.presenters.operation import operation_of, operation_source, recall_of, recall_source
from memtui.ui.safe import assemble
from memtui.ui.widgets.columns import Column

from .past import ChangeRow, PastRow, PastView, past_memory, present_columns

if TYPE_CHECKING:
    from memtui.engine.records import Changes, Entity, Operation
    from memtui.ui.presenters.operation import Entry, HistoryText
    from memtui.ui.row_source import RowSource


AGENT = "agent:"
_RECALLS_PLACEHOLDER = "filter by agent and question: assistant, dinner, after:7d, -word"


class HistoryPane(ListPane[Any]):
    """Lists changes. One key shows the recall log, another one the past. The preview shows the details."""

    pane_id: ClassVar = "history"
    BINDINGS = [*bindings_at("history")]
    placeholder = "filter by who and what: you, coach, forgot, after:7d, -undone"
    noun, noun_one = "changes", "change"
    markable = False
    recalls = False
    # Changes and recall log each keep their own filter: that of the list which is not shown.
    _other_filter = ""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.past = PastView(self, self.name_list)
        self.delegates = (self.past,)

    def columns(self) -> Sequence[Column[Any]]:
        return present_columns(self.shell.clock, recalls=self.recalls)

    def source(self, filter: str, order: tuple[str, bool]) -> RowSource[Any]:
        if self.past.looking is not None:
            return self.past.source(self.past.looking, filter)
        memory = self.shell.operations.require_memory()
        return recall_source(memory, filter) if self.recalls else operation_source(memory, filter)

    def is_affected_by(self, changes: Changes) -> bool:
        return changes.operation is not None or "*" in changes.tables

    def total(self) -> int | None:
        stats = self.shell.stats
        return None if stats is None or self.recalls or self.past.looking is not None else stats.operations

    # -- preview

    def _history_text(self) -> HistoryText:
        from memtui.ui.presenters.operation import HistoryText

        return HistoryText(
            self.preview.text_width,
            self.shell.clock(),
            self.shell.glyphs,
            self.shell.keymap_shown("undo_this"),
        )

    def preview_border_title(self, row: Entry | PastRow | ChangeRow) -> Content:
        if isinstance(row, PastRow | ChangeRow):
            return assemble(" the past ")
        operation = operation_of(row)
        if operation is None:
            return assemble(" what an agent was told ")
        return assemble(f" {operation.kind} ", (f"{self.shell.glyphs.dot} {operation.op_id} ", "$text-muted"))

    def quick_preview(self, row: Entry | PastRow | ChangeRow) -> Content:
        if isinstance(row, PastRow | ChangeRow):
            return self.past.quick_preview(row)
        operation = operation_of(row)
        return (
            assemble((recall_of(row).query, "bold"))
            if operation is None
            else self._history_text().quick_preview(operation)
        )

    async def details(self, row: Entry | PastRow | ChangeRow) -> Content:
        if isinstance(row, PastRow | ChangeRow):
            return await self.past.details(row)
        from memtui.ui.presenters.operation import gather_operation, gather_recall

        operation = operation_of(row)
        if operation is None:
            recall = recall_of(row)
            return self._history_text().recall_text(
                await self.ask(lambda memory: gather_recall(memory, recall))
            )
        op_id = operation.op_id
        return self._history_text().operation_text(
            await self.ask(lambda memory: gather_operation(memory, op_id))
        )

    # -- when there is nothing to show

    async def empty_text(self, filter: str) -> Content:
        if self.past.looking is not None:
            return self.past.empty_text(filter)
        key = self.shell.keymap_shown
        other = "the changes" if self.recalls else "what agents were told"
        if filter:
            return assemble(
                ("Nothing here passes this filter.\n\n", "bold"),
                unknown_term_note(filter, now=self.shell.clock()),
                (key("back"), "bold $accent"), "  clear the filter\n",
                (key("recalls"), "bold $accent"), f"  see {other}\n",
                (key("as_of"), "bold $accent"), "  look back to a time: 7d, yesterday, 3 March",
            )  # fmt: skip
        if self.recalls:
            return assemble(
                ("No agent was told anything yet.\n\n", "bold"),
                "When an agent asks this memory, its question and the answer are listed here.",
                " memtui connect lets agents use it.\n\n",
                (key("recalls"), "bold $accent"), "  back to the changes",
            )  # fmt: skip
        return assemble(
            ("Nothing was changed yet.\n\n", "bold"),
            "Every change of the memory will be listed here, with its undo. Changes are kept for 90 days.\n\n",
            (key("import"), "bold $accent"), "  bring in conversations you had\n",
            (key("pane_memories"), "bold $accent"), "  write down a first memory there",
        )  # fmt: skip

    # -- actions

    @property
    def operation(self) -> Operation | None:
        row = self.table.selected
        return None if row is None or past_memory(row) is not None else operation_of(row)

    async def do_about(self) -> None:
        from memtui.ui.presenters.operation import entities_of

        row = self.table.selected
        past = past_memory(row)
        if past is not None:
            entities: Sequence[Entity] = await mentioned_in(self, [past])
        else:
            entities = () if row is None else await self.ask(lambda memory: entities_of(memory, row))
        await show_about(self, entities)

    def label(self, action: Action) -> str:
        return "changes" if action.id == "recalls" and self.recalls else super().label(action)

    def unavailable_reason(self, action: Action) -> str:
        if action.id == "about":
            return "There is no row here." if self.table.selected is None else ""
        if reason := self.past.unavailable_reason(action):
            return reason
        if action.id == "undo_agent" and self.past.looking is None:
            theirs = self.operation is not None and self.operation.actor.startswith(AGENT)
            return "" if theirs else "Select a change of an agent: this undoes all its changes since."
        if action.id != "undo_this" or self.past.looking is not None:
            return super().unavailable_reason(action)
        if self.recalls:
            return "This is what an agent was told; nothing was changed by it."
        operation = self.operation
        if operation is None:
            return "There is no row here."
        if operation.state == "undone":
            return "It is undone already. Its undo is listed as well, and can be undone."
        running = operation.state == "running" and not operation.interrupted
        return "It is still running." if running else ""

    async def do_undo_this(self) -> None:
        operation = self.operation
        if operation is not None:
            await undo_operation(self.shell, operation)

    async def do_undo_agent(self) -> None:
        operation = self.operation
        if operation is not None:
            await undo_agent(self.shell, operation.actor.removeprefix(AGENT), operation.at)

    def do_recalls(self) -> None:
        self.recalls = not self.recalls
        own, self._other_filter = self._other_filter, self.filter_bar.value
        self.filter_bar.set_filter(own, quiet=True)
        self.show_message("What agents were told." if self.recalls else "Back to the changes.")
        self.name_list()
        self.show_rows(top=True)

    def list_recalls(self, words: str) -> None:
        """Show what agents were told, as far as it has these words."""
        self.past.leave_past()
        self.recalls = True
        self.name_list()
        self.filter_bar.set_filter(words, quiet=True)
        self.show_rows(top=True)

    @property
    def view_shown(self) -> Hashable:
        return super().view_shown, self.recalls, self.past.looking is not None

    def bookmark(self) -> Callable[[], None]:
        restore, recalls = super().bookmark(), self.recalls

        def restore_all() -> None:
            if self.recalls != recalls:
                self.recalls = recalls
                self.name_list()
                self.show_rows(top=False)
            restore()

        return restore_all

    def load(self) -> None:
        self.name_list()
        super().load()

    def name_list(self) -> None:
        key = self.shell.keymap_shown("recalls")
        here, there = ("recall log", "changes") if self.recalls else ("changes", "recall log")
        side = self.query_one(".list-side")
        if self.past.looking is not None:
            side.border_title = self.past.frame_title(self.past.looking)
            return
        self.table.show_columns(self.columns())
        self.filter_bar.show_placeholder(_RECALLS_PLACEHOLDER if self.recalls else self.placeholder)
        side.border_title = assemble(
            (f" {here} ", "$text"), (f"{self.shell.glyphs.dot} ", ""), (key, "$accent"), f" {there} "
        )

    def show_count(self, rows: int, exact: bool) -> None:
        memories = self.past.looking is not None and self.past.looking.diff is None
        self.noun, self.noun_one = ("recalls", "recall") if self.recalls else ("changes", "change")
        if memories:
            self.noun, self.noun_one = "memories", "memory"
        super().show_count(rows, exact)
        if self.past.looking is not None:
            self.past.count_again()

    def back(self) -> bool:
        if super().back():
            return True
        if self.past.looking is None:
            return False
        self.past.leave_past()
        return True

    def reload(self) -> None:
        if self.past.looking is not None:
            self.past.read_again(self.past.looking)
        else:
            super().reload()

    def do_copy(self) -> None:
        row = self.table.selected
        if row is not None:
            past, operation = past_memory(row), self.operation
            text = past.content if past is not None else operation.label if operation is not None else None
            self.app.copy_to_clipboard(text if text is not None else recall_of(row).query)
            self.show_message("Copied the text.")
