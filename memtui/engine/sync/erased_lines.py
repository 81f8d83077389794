"""Lines of this device's batches that have what was erased since: these batches are replaced by others without them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import apsw

from memtui.engine.records import Record
from memtui.engine.store import stamps, sync_erased, sync_versions
from memtui.engine.store.export_rows import (
    AnyLine,
    EntityLine,
    MemoryLine,
    ProfileLine,
    QuestionLine,
    ScratchpadLine,
    SessionLine,
)

from . import lines, outgoing
from .batch import Batch, Removed
from .lines import ErasedLine, GoneLine, RowLine, SyncLine


class ErasedLines(Record):
    """What no batch of this device may have any more.

    ``noted``: the rows of ``sync_erased`` that other devices know of. ``names``: the memories, entities and sessions of them.
    """

    noted: frozenset[str]
    names: frozenset[str]

    @classmethod
    def load(cls, connection: apsw.Connection) -> ErasedLines:
        rows = connection.execute("SELECT name FROM sync_erased WHERE todo = 0 AND sent = 1").fetchall()
        noted = frozenset(str(name) for (name,) in rows)
        others = (sync_erased.COVERED, sync_erased.CLEARED)
        return cls(noted=noted, names=frozenset(name for name in noted if not name.startswith(others)))

    def batch_without(self, connection: apsw.Connection, batch: Batch, again: set[str]) -> Batch | None:
        """The batch without these lines; None where it has none. Other things in them are added to ``again``: as they are
        now they are sent once more.

        A row that is called otherwise now, or is gone, is in no line as it was: an erase, here or on a device that was
        quicker, covers words that tell of what goes.
        """
        read = [None if isinstance(line, Removed) else lines.decode(line) for line in batch.lines]
        outdated = _outdated_rows(connection, read)
        names = [name.encode() for name in self.names]
        left: list[bytes | Removed] = []
        for place, (line, found) in enumerate(zip(batch.lines, read, strict=True)):
            if isinstance(line, Removed) or found is None or isinstance(found, ErasedLine):
                left.append(line)
                continue
            if place not in outdated and not any(name in line for name in names):
                left.append(line)
                continue
            thing = found.thing if isinstance(found, GoneLine) else lines.thing_of(found.line)
            if _is_known(connection, thing):
                again.add(thing)
            left.append(Removed(hashlib.sha256(line).digest()))
        return Batch(batch.header, tuple(left)) if tuple(left) != batch.lines else None

    def forget(self, connection: apsw.Connection) -> None:
        """Nothing of it is in a batch of this device any more."""
        connection.executemany("DELETE FROM sync_erased WHERE name = ?", [(name,) for name in self.noted])


def _outdated_rows(connection: apsw.Connection, read: Sequence[SyncLine | None]) -> frozenset[int]:
    """The places of the rows whose words are others now."""
    words: dict[int, tuple[str, Any]] = {}
    present = outgoing.Changed(connection)
    for place, found in enumerate(read):
        if isinstance(found, RowLine) and (had := _words_of(found.line)) is not None:
            thing = lines.thing_of(found.line)
            words[place] = thing, had
            present.named(thing)
    now = {lines.thing_of(line): _words_of(line) for line in present.lines()}
    return frozenset(place for place, (thing, had) in words.items() if had != now.get(thing))


def _words_of(line: AnyLine) -> Any:
    """The words of a row that an erase may take while the row stays, or with the row; None for a row that has none."""
    match line:
        case EntityLine():
            return line.canonical_name, line.summary, frozenset(one.alias for one in line.aliases)
        case SessionLine():
            return line.title, line.summary, line.last_error, line.source, line.project
        case ScratchpadLine():
            return (line.value,)
        case QuestionLine():
            return line.query, line.filter
        case ProfileLine():
            return (bytes(line.settings),)
        case MemoryLine():
            return bytes(line.tags), bytes(line.attributes), line.source, line.project
        case _:
            return None


def _is_known(connection: apsw.Connection, thing: str) -> bool:
    """Whether there is anything to send of a thing: its row, or what was decided about it."""
    found = outgoing.Changed(connection)
    found.named(thing)
    return not found.gone or bool(
        sync_versions.read_versions(connection, thing) or stamps.read_stamps(connection, thing)
    )
