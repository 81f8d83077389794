"""The preview of History as one text: who changed which rows, and which agent got which memories.

Pure functions from records to ``Content``. They use no widget and read nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from textual.content import Content

from memtui.present.changes import column_changes, row_effect, row_name, table_label
from memtui.present.format import plural
from memtui.present.operation import facts, is_restore, quoted_query, recall_facts, undo_notes
from memtui.ui.safe import assemble, content, drawn, line

from .diff import ADDED, REMOVED, old_and_new
from .text_layout import labelled, stack

if TYPE_CHECKING:
    from memtui.engine.records import MemoryRecord, Operation, RowChange
    from memtui.engine.records.backups import Backup
    from memtui.present.glyphs import Glyphs

    from .operation_detail import OperationDetail, RecallDetail

LABEL = 8
_LONGEST = 4_000


class HistoryText:
    """Lays out operations and recalls for a preview ``width`` cells wide, as of ``now``.

    ``undo_key``: the key that undoes the shown operation.
    """

    def __init__(self, width: int, now: float, glyphs: Glyphs, undo_key: str = "U") -> None:
        self.width = max(width, 20)
        self.now = now
        self.glyphs = glyphs
        self.undo_key = undo_key

    # -- operations

    def glance(self, operation: Operation) -> Content:
        """What can be shown from the row alone."""
        return stack(self._head(operation))

    def operation(self, detail: OperationDetail) -> Content:
        """All changes of an operation, row by row."""
        operation = detail.operation
        lines = [*self._head(operation), *self._undo_notes(detail), assemble("")]
        paired = {
            detail.memories[change.memory_id].supersedes
            for change in detail.changes
            if change.before is None and change.memory_id in detail.memories
        }
        for change in detail.changes:
            if change.before is None or change.after is None or change.memory_id not in paired:
                lines += [*self._change(detail, change), assemble("")]
        if operation.rows > len(detail.changes):
            lines.append(
                assemble((f"and {plural(operation.rows - len(detail.changes), 'more row')}", "$text-muted"))
            )
        return stack(lines)

    def _head(self, operation: Operation) -> Iterable[Content]:
        yield content(operation.label, "bold", limit=_LONGEST)
        yield assemble("")
        for one in facts(operation, self.now, between=f" {self.glyphs.dot} "):
            yield from self._labelled(one.label, drawn(one.line))

    def _undo_notes(self, detail: OperationDetail) -> Iterable[Content]:
        operation = detail.operation
        for one in undo_notes(operation, detail.undone_by, detail.undoes, self.now):
            yield from self._labelled(one.label, drawn(one.line))
        if is_restore(operation):
            yield from self._undo_hint(detail.before)

    def _undo_hint(self, before: Backup | None) -> Iterable[Content]:
        if before is None:
            yield from self._labelled("before", assemble("the backup from before it no longer exists"))
            return
        yield from self._labelled("before", content(before.path.name, limit=200))
        yield assemble("")
        effect = "goes back to the state before this restore, after a preview"
        yield from assemble((self.undo_key, "bold $accent"), (f"  {effect}", "$text-muted")).wrap(self.width)

    def _change(self, detail: OperationDetail, change: RowChange) -> Iterable[Content]:
        if change.table != "memories":
            yield from self._other_row(detail, change)
            return
        memory = detail.memories.get(change.memory_id or "")
        if change.before is None:
            yield from self._added(detail, change, memory)
        elif change.after is None:
            yield self._title(memory, change, "removed")
            yield assemble(("- ", "bold $removed"), content(_text(change.before), REMOVED))
        else:
            yield self._title(memory, change, "changed")
            if memory is not None and "content" not in change.before:
                yield assemble("  ", line(memory.content, self.width - 2, "$text-muted"))
            yield from self._columns(change.before, change.after)

    def _added(
        self, detail: OperationDetail, change: RowChange, memory: MemoryRecord | None
    ) -> Iterable[Content]:
        old = detail.memories.get(memory.supersedes or "") if memory is not None else None
        if memory is not None and old is not None:
            yield self._title(memory, change, "corrected")
            yield old_and_new(old.content[:_LONGEST], memory.content[:_LONGEST])
            return
        yield self._title(memory, change, "added")
        image = change.after or detail.taken_back.get((change.table, change.key))
        if image is None:
            yield assemble(("  it is no longer there", "$text-muted"))
        else:
            gone = "" if change.after is not None else "  taken back since"
            yield assemble(("+ ", "bold $added"), content(_text(image), ADDED), (gone, "$text-muted"))

    def _other_row(self, detail: OperationDetail, change: RowChange) -> Iterable[Content]:
        verb = row_effect(change.before, change.after)
        image = change.after or change.before or detail.taken_back.get((change.table, change.key)) or {}
        name, what = row_name(change.key, image), table_label(change.table)
        yield assemble(
            (f"{what} ", "$text-muted"), line(name, max(self.width - len(what) - 10, 8)), f"  {verb}"
        )
        if change.before is not None and change.after is not None:
            yield from self._columns(change.before, change.after)

    def _title(self, memory: MemoryRecord | None, change: RowChange, verb: str) -> Content:
        sign = self.glyphs.kinds[memory.kind] if memory is not None else self.glyphs.dot
        return assemble(
            (f"{sign} ", "$accent"), f"{verb}  ", (change.memory_id or str(change.key), "$text-disabled")
        )

    def _columns(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterable[Content]:
        for one in column_changes(before, after, self.now):
            if one.text:
                yield old_and_new(one.was[:_LONGEST], one.now[:_LONGEST])
                continue
            change = assemble((one.was, "$removed"), (" → ", "$text-muted"), (one.now, "$added"))
            yield assemble((f"  {one.label}: ", "$text-muted"), change)

    # -- recalls

    def recall(self, detail: RecallDetail) -> Content:
        """The question, and the memories in the answer."""
        lines = [*self._recall_head(detail), assemble("")]
        for identity, memory in detail.memories:
            if memory is None:
                lines.append(assemble((f"{self.glyphs.ended} {identity}  no longer there", "$text-muted")))
                continue
            sign = self.glyphs.kinds[memory.kind] if memory.active else self.glyphs.ended
            style = "$text" if memory.active else "$text-muted"
            for index, part in enumerate(content(memory.content, style, limit=_LONGEST).wrap(self.width - 2)):
                lines.append(assemble((f"{sign} ", "$accent") if index == 0 else "  ", part))
        if not detail.memories:
            lines.append(assemble(("It got nothing.", "$text-muted")))
        more = len(detail.recall.memory_ids) - len(detail.memories)
        if more > 0:
            lines.append(assemble((f"and {more:,} more", "$text-muted")))
        return stack(lines)

    def _recall_head(self, detail: RecallDetail) -> Iterable[Content]:
        recall = detail.recall
        yield content(recall.query or quoted_query(recall), "bold", limit=_LONGEST)
        yield assemble("")
        for one in recall_facts(recall, detail.session, self.now, between=f" {self.glyphs.dot} "):
            yield from self._labelled(one.label, drawn(one.line))

    def _labelled(self, label: str, text: Content) -> Iterable[Content]:
        return labelled(label, text, self.width, LABEL)


def _text(image: Mapping[str, Any]) -> str:
    return str(image.get("content", ""))[:_LONGEST]
