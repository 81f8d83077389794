"""Operations and recalls as rows of a list: when, who, what, how many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memtui.present.format import count, local_date, local_time
from memtui.present.operation import is_restore, quoted_query, who
from memtui.present.text import Visible, one_line, visible
from memtui.ui.widgets.columns import Column, Piece

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import Operation, Recall
    from memtui.engine.records.lists import RecallRow
    from memtui.engine.store.lists import KeyedList

    Entry = Operation | RecallRow


def operation_source(memory: Memory, words: str) -> EntrySource:
    """The operations that contain some words."""
    stored = " ".join("person" if word == "you" else word for word in words.split())
    return EntrySource(memory.view.operation_list, stored)


def recall_source(memory: Memory, words: str) -> EntrySource:
    """The recalls (what agents asked and got) that contain some words."""
    return EntrySource(memory.view.recall_list, words)


class EntrySource:
    """Rows that contain some words, the newest first (see ``row_source``)."""

    def __init__(self, listing: KeyedList[Any], words: str) -> None:
        self._list = listing
        self._words = words

    def count(self) -> int:
        return self._list.count(self._words)

    def page(self, offset: int, limit: int) -> Sequence[Entry]:
        return self._list.page(self._words, offset=offset, limit=limit)

    def keys(self) -> Iterator[Sequence[int]]:
        return self._list.keys(self._words)

    def rows(self, keys: Sequence[int]) -> Sequence[Entry]:
        return self._list.rows(keys)

    def key(self, row: Entry) -> int:
        return key_of(row)


def operation_of(row: Entry) -> Operation | None:
    """The operation that a row shows; None for one of the recall log."""
    from memtui.engine.records import Operation

    return row if isinstance(row, Operation) else None


def key_of(row: Entry) -> int:
    operation = operation_of(row)
    return operation.op_id if operation is not None else _recall(row).recall_id


def recall_of(row: Entry) -> Recall:
    """The recall that a row shows. The row must show one."""
    return _recall(row).recall


def _recall(row: Entry) -> RecallRow:
    from memtui.engine.records.lists import RecallRow

    assert isinstance(row, RecallRow)
    return row


def when(at: int, now: float) -> Visible:
    """Twelve cells at most: the time today, day and time this year, else the date."""
    then, today = datetime.fromtimestamp(at), datetime.fromtimestamp(now)
    if then.date() == today.date():
        return visible(f"{then:%H:%M}")
    return local_time(at, now) if then.year == today.year else local_date(at, now)


def history_columns(now: Callable[[], float]) -> list[Column[Entry]]:
    """When, who, what, and how many rows were changed or memories served."""

    def at(row: Entry, width: int) -> Iterable[Piece]:
        operation = operation_of(row)
        yield Piece(when(operation.at if operation is not None else recall_of(row).at, now()), "dim")

    def actor(row: Entry, width: int) -> Iterable[Piece]:
        operation = operation_of(row)
        name = who(operation.actor if operation is not None else recall_of(row).agent)
        yield Piece(one_line(name, width), "accent" if name == "you" else "dim")

    def what(row: Entry, width: int) -> Iterable[Piece]:
        operation = operation_of(row)
        if operation is None:
            yield Piece(one_line(quoted_query(recall_of(row)), width))
            return
        if operation.state != "done" and not operation.interrupted:
            yield Piece(visible(f"{operation.state} "), "warning")
        yield Piece(one_line(operation.label, width), "text" if operation.state == "done" else "dim")

    def number(row: Entry, width: int) -> Iterable[Piece]:
        operation = operation_of(row)
        if operation is None or not is_restore(operation):  # a restore changes the whole file
            number = operation.rows if operation is not None else len(recall_of(row).memory_ids)
            yield Piece(count(number), "dim")

    return [
        Column("when", "when", at, width=12),
        Column("who", "who", actor, width=10, drop=1),
        Column("what", "what", what, least=24),
        Column("rows", "rows", number, width=5, right=True, drop=2),
    ]
