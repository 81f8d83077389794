"""History: every change with its maker, its rows and its undo; and what agents were told, and when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.content import Content

from memtui.ui.actions import Action
from memtui.ui.history_rows import (
    OperationSource,
    RecallSource,
    history_columns,
    operation_of,
    recall_of,
)
from memtui.ui.keymap import bindings_at
from memtui.ui.safe import assemble
from memtui.ui.widgets.columns import Column

from .about import AboutRow
from .list_pane import ListPane
from .undoing import undo_operation

if TYPE_CHECKING:
    from memtui.engine.records import Changes, Entity, Operation
    from memtui.ui.history_rows import Entry
    from memtui.ui.widgets.operation_view import HistoryText


class HistoryPane(AboutRow, ListPane["Entry"]):
    """The list shows changes, or with one key the recall log; the preview what each did."""

    place: ClassVar = "history"
    BINDINGS = [*bindings_at("history")]
    placeholder = "filter by who and what: you, coach, forgot, -undone"
    noun, noun_one = "changes", "change"
    markable = False
    recalls = False

    def columns(self) -> Sequence[Column[Entry]]:
        return history_columns(self.shell.clock)

    def source(self, filter: str, order: tuple[str, bool]) -> OperationSource | RecallSource:
        memory = self.shell.operations.require()
        return RecallSource(memory, filter) if self.recalls else OperationSource(memory, filter)

    def concerned(self, changes: Changes) -> bool:
        return changes.operation is not None or "*" in changes.tables

    def total(self) -> int | None:
        stats = self.shell.stats
        return None if stats is None or self.recalls else stats.operations

    # -- preview

    def _text(self) -> HistoryText:
        from memtui.ui.widgets.operation_view import HistoryText

        return HistoryText(self.preview.text_width, self.shell.clock(), self.shell.glyphs)

    def preview_title(self, row: Entry) -> Content:
        operation = operation_of(row)
        if operation is None:
            return assemble(" what an agent was told ")
        return assemble(f" {operation.kind} ", (f"{self.shell.glyphs.dot} {operation.op_id} ", "$text-muted"))

    def glance(self, row: Entry) -> Content:
        operation = operation_of(row)
        return (
            assemble((recall_of(row).query, "bold")) if operation is None else self._text().glance(operation)
        )

    async def details(self, row: Entry) -> Content:
        from memtui.ui.operation_detail import gather_operation, gather_recall

        operation = operation_of(row)
        if operation is None:
            recall = recall_of(row)
            return self._text().recall(await self.ask(lambda memory: gather_recall(memory, recall)))
        op_id = operation.op_id
        return self._text().operation(await self.ask(lambda memory: gather_operation(memory, op_id)))

    # -- when there is nothing to show

    async def empty_text(self, filter: str) -> Content:
        key = self.shell.keymap_shown
        other = "the changes" if self.recalls else "what agents were told"
        if filter:
            return assemble(
                ("Nothing here has these words.\n\n", "bold"),
                (key("back"), "bold $accent"), "  clear the filter\n",
                (key("recalls"), "bold $accent"), f"  look in {other}",
            )  # fmt: skip
        if self.recalls:
            return assemble(
                ("No agent was told anything yet.\n\n", "bold"),
                "When an agent asks this memory, its question and what it was told stand here.\n\n",
                (key("recalls"), "bold $accent"), "  back to the changes",
            )  # fmt: skip
        return assemble(
            ("Nothing was changed yet.\n\n", "bold"),
            "Every change of the memory will stand here, with its undo. They are kept for 90 days.",
        )

    # -- actions

    @property
    def operation(self) -> Operation | None:
        row = self.table.selected
        return None if row is None else operation_of(row)

    async def about_entities(self) -> Sequence[Entity]:
        from memtui.ui.operation_detail import entities_of

        row = self.table.selected
        return () if row is None else await self.ask(lambda memory: entities_of(memory, row))

    def why_not(self, action: Action) -> str:
        if action.id == "about":
            return "There is no row here." if self.table.selected is None else ""
        if action.id != "undo_this":
            return super().why_not(action)
        if self.recalls:
            return "This is what an agent was told; nothing was changed by it."
        operation = self.operation
        if operation is None:
            return "There is no row here."
        if operation.state == "undone":
            return "It is undone already. Its undo has a line of its own, which can be undone in turn."
        return "It is still running." if operation.state == "running" else ""

    async def do_undo_this(self) -> None:
        operation = self.operation
        if operation is not None:
            await undo_operation(self, operation)

    def do_recalls(self) -> None:
        self.recalls = not self.recalls
        self.say("What agents were told." if self.recalls else "Back to the changes.")
        self._name_list()
        self.show_rows(top=True)

    def load(self) -> None:
        self._name_list()
        super().load()

    def _name_list(self) -> None:
        key = self.shell.keymap_shown("recalls")
        here, there = ("recall log", "changes") if self.recalls else ("changes", "recall log")
        side = self.query_one(".list-side")
        side.border_title = assemble(
            (f" {here} ", "$text"), (f"{self.shell.glyphs.dot} ", ""), (key, "$accent"), f" {there} "
        )

    def show_count(self, rows: int, exact: bool) -> None:
        self.noun, self.noun_one = ("recalls", "recall") if self.recalls else ("changes", "change")
        super().show_count(rows, exact)

    def do_copy(self) -> None:
        row = self.table.selected
        if row is not None:
            operation = operation_of(row)
            self.app.copy_to_clipboard(recall_of(row).query if operation is None else operation.label)
            self.say("Copied the text.")
