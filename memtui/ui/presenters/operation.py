"""Operations and recalls as rows of a list, and one of them as the text of the preview in History.

``gather_operation`` and its like read what the preview shows, outside the event loop. The other functions read nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from textual.content import Content

from memtui.present.changes import column_changes, row_effect, row_name, table_label
from memtui.present.format import format_count, local_date, local_time, plural
from memtui.present.operation import (
    actor_name,
    is_restore,
    operation_facts,
    quoted_query,
    recall_facts,
    undo_notes,
)
from memtui.present.text import VisibleText, one_line, visible_text
from memtui.ui.safe import assemble, content, content_of_line, line
from memtui.ui.widgets.columns import Column, StyledText

from .diff import ADDED, REMOVED, mark_differences
from .text_layout import labelled_block, stack_lines

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import Operation, Recall
    from memtui.engine.records.lists import RecallRow
    from memtui.engine.store.lists import KeyedList

    Entry = Operation | RecallRow

    from memtui.engine.records import Entity, MemoryRecord, Operation, RowChange
    from memtui.engine.records.backups import Backup
    from memtui.present.glyphs import Glyphs


def operation_source(memory: Memory, words: str) -> HistorySource:
    """The operations that contain some words."""
    stored = " ".join("person" if word == "you" else word for word in words.split())
    return HistorySource(memory.view.operation_list, stored)


def recall_source(memory: Memory, words: str) -> HistorySource:
    """The recalls (what agents asked and got) that contain some words."""
    return HistorySource(memory.view.recall_list, words)


class HistorySource:
    """Rows that contain some words, the newest first (see ``row_source``)."""

    def __init__(self, listing: KeyedList[Any], words: str) -> None:
        self._list = listing
        self._words = words

    def count(self) -> int:
        return self._list.count(self._words)

    def page_rows(self, offset: int, limit: int) -> Sequence[Entry]:
        return self._list.page(self._words, offset=offset, limit=limit)

    def row_keys(self) -> Iterator[Sequence[int]]:
        return self._list.keys(self._words)

    def rows_by_key(self, keys: Sequence[int]) -> Sequence[Entry]:
        return self._list.rows(keys)

    def row_key(self, row: Entry) -> int:
        return entry_key(row)


def operation_of(row: Entry) -> Operation | None:
    """The operation that a row shows; None for one of the recall log."""
    from memtui.engine.records import Operation

    return row if isinstance(row, Operation) else None


def entry_key(row: Entry) -> int:
    operation = operation_of(row)
    return operation.op_id if operation is not None else _as_recall(row).recall_id


def recall_of(row: Entry) -> Recall:
    """The recall that a row shows. The row must show one."""
    return _as_recall(row).recall


def _as_recall(row: Entry) -> RecallRow:
    from memtui.engine.records.lists import RecallRow

    assert isinstance(row, RecallRow)
    return row


def short_time(at: int, now: float) -> VisibleText:
    """Twelve cells at most: the time today, day and time this year, else the date."""
    then, today = datetime.fromtimestamp(at), datetime.fromtimestamp(now)
    if then.date() == today.date():
        return visible_text(f"{then:%H:%M}")
    return local_time(at, now) if then.year == today.year else local_date(at, now)


def history_columns(now: Callable[[], float], *, recalls: bool = False) -> list[Column[Entry]]:
    """When, who, what, and how many rows were changed; of ``recalls``, how many memories were told."""

    def time_cell(row: Entry, width: int) -> Iterable[StyledText]:
        operation = operation_of(row)
        yield StyledText(
            short_time(operation.at if operation is not None else recall_of(row).at, now()), "dim"
        )

    def actor_cell(row: Entry, width: int) -> Iterable[StyledText]:
        operation = operation_of(row)
        name = actor_name(operation.actor if operation is not None else recall_of(row).agent)
        yield StyledText(one_line(name, width), "accent" if name == "you" else "dim")

    def label_cell(row: Entry, width: int) -> Iterable[StyledText]:
        operation = operation_of(row)
        if operation is None:
            yield StyledText(one_line(quoted_query(recall_of(row)), width))
            return
        if operation.state != "done" and not operation.interrupted:
            yield StyledText(visible_text(f"{operation.state} "), "warning")
        yield StyledText(one_line(operation.label, width), "text" if operation.state == "done" else "dim")

    def row_count_cell(row: Entry, width: int) -> Iterable[StyledText]:
        operation = operation_of(row)
        if operation is None or not is_restore(operation):  # a restore changes the whole file
            number = operation.rows if operation is not None else len(recall_of(row).memory_ids)
            yield StyledText(format_count(number), "dim")

    return [
        Column("when", "when", time_cell, width=12),
        Column("who", "who", actor_cell, width=10, drop=1),
        Column("what", "what", label_cell, least=24),
        Column("rows", "told" if recalls else "rows", row_count_cell, width=5, right=True, drop=2),
    ]


# More changes than this are only counted.
SHOWN = 200


class OperationDetail(NamedTuple):
    """``memories`` by id: the changed ones, and those that they correct.

    ``before``: for a restore, the backup that was made before it, while it exists.
    ``taken_back``: the rows that this operation added and its undo removed, by table and key.
    """

    operation: Operation
    changes: tuple[RowChange, ...]
    memories: dict[str, MemoryRecord]
    taken_back: dict[tuple[str, int], dict[str, Any]]
    undone_by: Operation | None
    undoes: Operation | None
    before: Backup | None = None


class RecallDetail(NamedTuple):
    """``memories``: each served memory with its id; None if it no longer exists."""

    recall: Recall
    memories: tuple[tuple[str, MemoryRecord | None], ...]
    session: str | None


def gather_operation(memory: Memory, op_id: int) -> OperationDetail:
    """Read everything about an operation. Blocks. Raises NotFoundError if it was removed from history."""
    view = memory.view
    operation = view.operation(op_id)
    changes = view.changes_of(op_id, limit=SHOWN)
    taken_back = {}
    if operation.undone_by is not None:
        for change in view.changes_of(operation.undone_by, limit=SHOWN):
            if change.before is not None and change.after is None:
                taken_back[change.table, change.key] = change.before
    # Read by key, all at once: asking for a memory that is gone would search all of history.
    changed = view.rows([change.key for change in changes if change.table == "memories"])
    memories = {one.id: one for one in changed}
    for one in changed:
        _add_memory(memory, memories, one.supersedes)
    return OperationDetail(
        operation=operation,
        changes=tuple(changes),
        memories=memories,
        taken_back=taken_back,
        undone_by=None if operation.undone_by is None else view.operation(operation.undone_by),
        undoes=None if operation.undoes is None else view.operation(operation.undoes),
        before=memory.backups.before(op_id) if is_restore(operation) else None,
    )


def gather_recall(memory: Memory, recall: Recall) -> RecallDetail:
    """Read the memories that an agent got. Blocks."""
    memories_by_id: dict[str, MemoryRecord] = {}
    for memory_id in recall.memory_ids[:SHOWN]:
        _add_memory(memory, memories_by_id, memory_id)
    session = None
    if recall.session_id is not None:
        from memtui.engine.errors import NotFoundError

        try:
            session = memory.view.session(recall.session_id).name
        except NotFoundError:
            session = recall.session_id
    memories = tuple((memory_id, memories_by_id.get(memory_id)) for memory_id in recall.memory_ids[:SHOWN])
    return RecallDetail(recall=recall, memories=memories, session=session)


def entities_of(memory: Memory, row: Entry) -> list[Entity]:
    """The entities of an operation or recall: those that it changed, then those of its memories. Blocks."""
    from .entity import entities_in

    operation = operation_of(row)
    if operation is None:
        return entities_in(memory, recall_of(row).memory_ids)
    changes = memory.view.changes_of(operation.op_id, limit=SHOWN)
    changed = dict.fromkeys(eid for change in changes for eid in _changed_entities(change))
    rows = memory.view.entity_list.rows(list(changed))
    known = {entity.eid for entity in rows}
    mentioned = entities_in(memory, [change.memory_id for change in changes if change.memory_id is not None])
    return [*rows, *(entity for entity in mentioned if entity.eid not in known)]


def _changed_entities(change: RowChange) -> Iterator[int]:
    if change.table == "entities":
        yield change.key
    if change.table in ("entity_aliases", "entity_decisions"):
        row = change.after or change.before or {}
        yield from (row[column] for column in ("entity_id", "other_id") if row.get(column) is not None)


def _add_memory(memory: Memory, memories: dict[str, MemoryRecord], memory_id: str | None) -> None:
    from memtui.engine.errors import NotFoundError

    if memory_id is None or memory_id in memories:
        return
    try:
        memories[memory_id] = memory.view.get(memory_id)
    except NotFoundError:
        return  # erased: what is shown of it comes from the change itself


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

    def quick_preview(self, operation: Operation) -> Content:
        """What can be shown from the row alone."""
        return stack_lines(self._operation_heading(operation))

    def operation_text(self, detail: OperationDetail) -> Content:
        """All changes of an operation, row by row."""
        operation = detail.operation
        lines = [*self._operation_heading(operation), *self._undo_notes(detail), assemble("")]
        paired = {
            detail.memories[change.memory_id].supersedes
            for change in detail.changes
            if change.before is None and change.memory_id in detail.memories
        }
        for change in detail.changes:
            if change.before is None or change.after is None or change.memory_id not in paired:
                lines += [*self._describe_change(detail, change), assemble("")]
        if operation.rows > len(detail.changes):
            lines.append(
                assemble((f"and {plural(operation.rows - len(detail.changes), 'more row')}", "$text-muted"))
            )
        return stack_lines(lines)

    def _operation_heading(self, operation: Operation) -> Iterable[Content]:
        yield content(operation.label, "bold", limit=_LONGEST)
        yield assemble("")
        for one in operation_facts(operation, self.now, between=f" {self.glyphs.dot} "):
            yield from self._labelled_text(one.label, content_of_line(one.line))

    def _undo_notes(self, detail: OperationDetail) -> Iterable[Content]:
        operation = detail.operation
        for one in undo_notes(operation, detail.undone_by, detail.undoes, self.now):
            yield from self._labelled_text(one.label, content_of_line(one.line))
        if is_restore(operation):
            yield from self._undo_hint(detail.before)

    def _undo_hint(self, before: Backup | None) -> Iterable[Content]:
        if before is None:
            yield from self._labelled_text("before", assemble("the backup from before it no longer exists"))
            return
        yield from self._labelled_text("before", content(before.path.name, limit=200))
        yield assemble("")
        effect = "goes back to the state before this restore, after a preview"
        yield from assemble((self.undo_key, "bold $accent"), (f"  {effect}", "$text-muted")).wrap(self.width)

    def _describe_change(self, detail: OperationDetail, change: RowChange) -> Iterable[Content]:
        if change.table != "memories":
            yield from self._describe_other_row(detail, change)
            return
        memory = detail.memories.get(change.memory_id or "")
        if change.before is None:
            yield from self._describe_added(detail, change, memory)
        elif change.after is None:
            yield self._row_title(memory, change, "removed")
            yield assemble(("- ", "bold $removed"), content(_image_text(change.before), REMOVED))
        else:
            yield self._row_title(memory, change, "changed")
            if memory is not None and "content" not in change.before:
                yield assemble("  ", line(memory.content, self.width - 2, "$text-muted"))
            yield from self._changed_columns(change.before, change.after)

    def _describe_added(
        self, detail: OperationDetail, change: RowChange, memory: MemoryRecord | None
    ) -> Iterable[Content]:
        old = detail.memories.get(memory.supersedes or "") if memory is not None else None
        if memory is not None and old is not None:
            yield self._row_title(memory, change, "corrected")
            yield mark_differences(old.content[:_LONGEST], memory.content[:_LONGEST])
            return
        yield self._row_title(memory, change, "added")
        image = change.after or detail.taken_back.get((change.table, change.key))
        if image is None:
            yield assemble(("  it is no longer there", "$text-muted"))
        else:
            gone = "" if change.after is not None else "  taken back since"
            yield assemble(("+ ", "bold $added"), content(_image_text(image), ADDED), (gone, "$text-muted"))

    def _describe_other_row(self, detail: OperationDetail, change: RowChange) -> Iterable[Content]:
        verb = row_effect(change.before, change.after)
        image = change.after or change.before or detail.taken_back.get((change.table, change.key)) or {}
        name, what = row_name(image), table_label(change.table)
        yield assemble(
            (f"{what} ", "$text-muted"),
            line(name, max(self.width - len(what) - 10, 8)),
            f"{'  ' if name else ''}{verb}",
        )
        if change.before is not None and change.after is not None:
            yield from self._changed_columns(change.before, change.after)

    def _row_title(self, memory: MemoryRecord | None, change: RowChange, verb: str) -> Content:
        glyph = self.glyphs.kinds[memory.kind] if memory is not None else self.glyphs.dot
        return assemble(
            (f"{glyph} ", "$accent"), f"{verb}  ", (change.memory_id or str(change.key), "$text-disabled")
        )

    def _changed_columns(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterable[Content]:
        for one in column_changes(before, after, self.now):
            if one.text:
                yield mark_differences(one.was[:_LONGEST], one.now[:_LONGEST])
                continue
            change = assemble((one.was, "$removed"), (" → ", "$text-muted"), (one.now, "$added"))
            yield assemble((f"  {one.label}: ", "$text-muted"), change)

    # -- recalls

    def recall_text(self, detail: RecallDetail) -> Content:
        """The question, and the memories in the answer."""
        lines = [*self._recall_head(detail), assemble("")]
        for memory_id, memory in detail.memories:
            if memory is None:
                lines.append(assemble((f"{self.glyphs.ended} {memory_id}  no longer there", "$text-muted")))
                continue
            glyph = self.glyphs.kinds[memory.kind] if memory.active else self.glyphs.ended
            style = "$text" if memory.active else "$text-muted"
            for index, part in enumerate(content(memory.content, style, limit=_LONGEST).wrap(self.width - 2)):
                lines.append(assemble((f"{glyph} ", "$accent") if index == 0 else "  ", part))
        if not detail.memories:
            lines.append(assemble(("It got nothing.", "$text-muted")))
        more = len(detail.recall.memory_ids) - len(detail.memories)
        if more > 0:
            lines.append(assemble((f"and {more:,} more", "$text-muted")))
        return stack_lines(lines)

    def _recall_head(self, detail: RecallDetail) -> Iterable[Content]:
        recall = detail.recall
        yield content(recall.query or quoted_query(recall), "bold", limit=_LONGEST)
        yield assemble("")
        for one in recall_facts(recall, detail.session, self.now, between=f" {self.glyphs.dot} "):
            yield from self._labelled_text(one.label, content_of_line(one.line))

    def _labelled_text(self, label: str, text: Content) -> Iterable[Content]:
        return labelled_block(label, text, self.width, LABEL)


def _image_text(image: Mapping[str, Any]) -> str:
    return str(image.get("content", ""))[:_LONGEST]
