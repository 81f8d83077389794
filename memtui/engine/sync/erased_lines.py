"""Lines of this device's batches that have what was erased since: these batches are replaced by others without them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import apsw
import msgspec

from memtui.engine.records import Record
from memtui.engine.store.export_rows import EntityLine

from . import lines
from .batch import Batch, Removed
from .lines import ErasedLine, GoneLine, RowLine


class ErasedLines(Record):
    """What no batch of this device may have any more.

    ``names``: what was erased. ``present``: what each entity is called now. An erase covers names that tell of what goes,
    here or on a device that was quicker, so a line may have no other ones.
    """

    names: frozenset[str]
    present: Mapping[str, frozenset[str]]

    @classmethod
    def load(cls, connection: apsw.Connection) -> ErasedLines:
        """What other devices know as erased, and own batches may still have."""
        found = connection.execute("SELECT name FROM sync_erased WHERE todo = 0 AND sent = 1").fetchall()
        entities: Any = (
            connection.execute(
                "SELECT id, canonical_name, (SELECT json_group_array(alias) FROM entity_aliases WHERE entity_id = eid) "
                "FROM entities"
            )
            if found
            else ()
        )
        return cls(
            names=frozenset(str(name) for (name,) in found),
            present={id: frozenset((name, *msgspec.json.decode(aliases))) for id, name, aliases in entities},
        )

    def batch_without(self, batch: Batch, again: set[str]) -> Batch | None:
        """The batch without these lines; None where it has none. Other things in them are added to ``again``: as they are
        now they are sent once more."""
        left: list[bytes | Removed] = []
        for line in batch.lines:
            if isinstance(line, Removed) or not self._has_any(line):
                left.append(line)
                continue
            found = lines.decode(line)
            if isinstance(found, ErasedLine):
                left.append(line)
                continue
            again.add(found.thing if isinstance(found, GoneLine) else lines.thing_of(found.line))
            left.append(Removed(hashlib.sha256(line).digest()))
        return Batch(batch.header, tuple(left)) if tuple(left) != batch.lines else None

    def _has_any(self, line: bytes) -> bool:
        if any(name.encode() in line for name in self.names):
            return True
        if b'"entity"' not in line:
            return False
        found = lines.decode(line)
        if not isinstance(found, RowLine) or not isinstance(entity := found.line, EntityLine):
            return False
        now = self.present.get(entity.id)
        return now is not None and not now >= {entity.canonical_name, *(one.alias for one in entity.aliases)}

    def forget(self, connection: apsw.Connection) -> None:
        """Nothing of it is in a batch of this device any more."""
        connection.executemany("DELETE FROM sync_erased WHERE name = ?", [(name,) for name in self.names])
