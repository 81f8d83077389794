"""Entries of the scratchpad as rows of a list."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from memtui.present.format import relative_time
from memtui.present.text import one_line
from memtui.ui.widgets.columns import Column, Order, Piece

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records.saved import ScratchpadNote

ORDERS = (
    Order("time", True, "last written first", "first written first"),
    Order("key", False, "by key, from Z", "by key, from A"),
)
# How much of each text is read for the list.
BEGINNING = 400


class NoteSource:
    """The entries that contain some words, in an order (see ``row_source``)."""

    def __init__(self, memory: Memory, words: str, order: tuple[str, bool]) -> None:
        self._memory = memory
        self._words = words
        self._sort, self._falling = order

    def count(self) -> int:
        return len(self._found())

    def page(self, offset: int, limit: int) -> Sequence[ScratchpadNote]:
        return self._found()[offset : offset + limit]

    def keys(self) -> Iterator[Sequence[int]]:
        yield [note.pad_id for note in self._found()]

    def rows(self, keys: Sequence[int]) -> Sequence[ScratchpadNote]:
        ids = set(keys)
        return [note for note in self._found() if note.pad_id in ids]

    def key(self, row: ScratchpadNote) -> int:
        return row.pad_id

    def _found(self) -> list[ScratchpadNote]:
        notes = self._memory.scratchpad.search(self._words, beginning=BEGINNING)
        if self._sort == "key":
            return sorted(notes, key=lambda note: note.key.casefold(), reverse=self._falling)
        return notes if self._falling else notes[::-1]


def note_columns(now: Callable[[], float]) -> list[Column[ScratchpadNote]]:
    """Key, the beginning of the text, age."""

    def key(row: ScratchpadNote, width: int) -> Iterable[Piece]:
        yield Piece(one_line(row.key, width), "accent")

    def value(row: ScratchpadNote, width: int) -> Iterable[Piece]:
        yield Piece(one_line(row.value, width))

    def age(row: ScratchpadNote, width: int) -> Iterable[Piece]:
        yield Piece(relative_time(row.updated_at, now()), "dim")

    return [
        Column("key", "key", key, width=22, sort="key"),
        Column("value", "text", value, least=16),
        Column("age", "age", age, width=4, right=True, sort="time"),
    ]
