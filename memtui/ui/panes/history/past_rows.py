"""The memory at a time, or the changes between two times, as rows of the list in History."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from memtui.present.past import verb_label, verb_role
from memtui.present.text import Visible, one_line, visible
from memtui.ui.presenters.memory_rows import memory_columns
from memtui.ui.presenters.operation import when
from memtui.ui.widgets.columns import Column, Piece
from memtui.ui.widgets.list_source import ListSource

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import Caution, MemoryRecord
    from memtui.engine.records.history import PastChange, PastDiff
    from memtui.engine.store.past import Past
    from memtui.present.glyphs import Glyphs
    from memtui.ui.dialogs.line_input import Moments

# A diff lists this many; all are counted.
MOST = 5_000


class PastRow(NamedTuple):
    """A memory as it was, without what happened to it since."""

    memory: MemoryRecord
    cautions: tuple[Caution, ...] = ()


class ChangeRow(NamedTuple):
    """What happened to a memory."""

    change: PastChange


class Looking(NamedTuple):
    """What was read: the memory at a time, or a difference."""

    moments: Moments
    past: Past
    diff: PastDiff | None = None


def look(memory: Memory, moments: Moments) -> Looking:
    """Blocks. Raises InputError for a text that names no time."""
    past = memory.history.as_of(moments.start)
    diff = memory.history.diff(moments.start, moments.end, limit=MOST) if moments.end else None
    return Looking(moments, past, diff)


def look_again(memory: Memory, looking: Looking) -> Looking:
    """The same times read again, because memories may have been erased since. Blocks."""
    diff = looking.diff
    return Looking(
        looking.moments,
        memory.history.as_of(looking.past.at),
        None if diff is None else memory.history.diff(diff.start, diff.end, limit=MOST),
    )


class PastSource:
    """The memories at a time, filtered by words (see ``Past``)."""

    def __init__(self, past: Past, words: str) -> None:
        self._past = past
        self._words = words

    def count(self) -> int:
        return self._past.count(self._words)

    def page(self, offset: int, limit: int) -> Sequence[PastRow]:
        return [PastRow(one) for one in self._past.page(self._words, offset=offset, limit=limit)]

    def keys(self) -> Iterator[Sequence[int]]:
        yield self._past.keys(self._words)

    def rows(self, keys: Sequence[int]) -> Sequence[PastRow]:
        return [PastRow(one) for one in self._past.rows(keys)]

    def key(self, row: PastRow) -> int:
        return row.memory.rid


def change_source(diff: PastDiff, words: str) -> ListSource[ChangeRow]:
    """The changes with these words in their verb or texts, and without the words with a minus."""
    terms = [word.casefold() for word in words.split() if word != "-"]

    def passes(change: PastChange) -> bool:
        texts = [one.content for one in (change.before, change.after) if one is not None]
        text = " ".join((verb_label(change.verb), change.memory.kind, *texts)).casefold()
        return all((word[1:] not in text) if word[0] == "-" else word in text for word in terms)

    rows = [ChangeRow(one) for one in diff.changes if passes(one)]
    return ListSource(rows, lambda row: row.change.memory.rid)


def fitting(columns: Sequence[Column[Any]], fits: Callable[[object], bool]) -> list[Column[Any]]:
    """Columns that are empty for rows of another kind: old rows are still shown while new ones are read."""

    def guarded(cell: Callable[[Any, int], Iterable[Piece]]) -> Callable[[Any, int], Iterable[Piece]]:
        return lambda row, width: cell(row, width) if fits(row) else (Piece(Visible("")),)

    return [column._replace(cell=guarded(column.cell)) for column in columns]


def is_past(row: object) -> bool:
    return isinstance(row, PastRow | ChangeRow)


def past_columns(glyphs: Glyphs, at: Callable[[], float]) -> list[Column[Any]]:
    """The columns of Memories, with the values and the age of that time."""
    columns = [
        column._replace(sort="")
        for column in memory_columns(glyphs, at)
        if column.id not in ("entities", "tags")
    ]
    return fitting(columns, lambda row: isinstance(row, PastRow))


def change_columns(glyphs: Glyphs, now: Callable[[], float]) -> list[Column[Any]]:
    """What happened, sign, text, when."""

    def verb(row: ChangeRow, width: int) -> Iterable[Piece]:
        yield Piece(one_line(verb_label(row.change.verb), width), verb_role(row.change.verb))

    def sign(row: ChangeRow, width: int) -> Iterable[Piece]:
        yield Piece(visible(glyphs.kinds[row.change.memory.kind]), "accent")

    def text(row: ChangeRow, width: int) -> Iterable[Piece]:
        yield Piece(one_line(row.change.memory.content, width))

    def at(row: ChangeRow, width: int) -> Iterable[Piece]:
        yield Piece(when(row.change.at, now()) if row.change.at is not None else Visible(""), "dim")

    columns = [
        Column("verb", "became", verb, width=13),
        Column("sign", "", sign, width=1),
        Column("text", "memory", text, least=24, gap=1),
        Column("when", "when", at, width=12, drop=1),
    ]
    return fitting(columns, lambda row: isinstance(row, ChangeRow))
