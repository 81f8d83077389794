"""Changes of the memories after a given operation, in the form that takes them off again.

Of several changes of a row the first one knows the state before all of them, column by column. A row whose first
change is its insertion was not there. Changes only ever come after the ones that are known, so that following them
reads what is new; a run of inserted rows may still grow, and is read again while its operation may go on.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import Any

import apsw
import msgspec

from .sql import scalar


class LaterChanges:
    """Changes of memories by operations after ``cut``.

    ``before``: key -> columns as they were; ``born``: disjoint runs (first, last) of rows that came later.
    ``read``: how often something new was read; while it stands, so does what was made of it.
    """

    def __init__(self, connection: apsw.Connection, cut: int) -> None:
        self.cut = cut
        self.read = 0
        self._clear()
        self.follow(connection)

    def _clear(self) -> None:
        self.read += 1
        self.before: dict[int, dict[str, Any]] = {}
        self.born: list[tuple[int, int]] = []
        self._seen = 0
        self._known_op = self.cut
        self._open_from = self.cut + 1

    @property
    def touched(self) -> Iterable[int]:
        """The keys of rows that were there and were changed or deleted later."""
        return sorted(self.before)

    def is_born(self, rid: int) -> bool:
        """Whether the row came later, or came back later: one that is in ``before`` was there all the same."""
        return self.in_run(rid, rid)

    def in_run(self, low: int, high: int) -> bool:
        """Whether these keys lie in one run of ``born``."""
        place = bisect_right(self.born, (low, 2**63)) - 1
        return place >= 0 and self.born[place][1] >= high

    def rid_of(self, identity: str) -> int | None:
        """The key of a memory that was deleted later."""
        return next((rid for rid, row in self.before.items() if row.get("id") == identity), None)

    def follow(self, connection: apsw.Connection) -> None:
        """Take in what was done since; at once when nothing was."""
        latest = int(scalar(connection, "SELECT coalesce(max(seq), 0) FROM changes") or 0)
        erased = "SELECT 1 FROM ops WHERE op_id > ? AND kind = 'erase' LIMIT 1"
        if scalar(connection, erased, (self._known_op,)):
            self._clear()  # history has lost what was erased for good
        self._grow(connection)
        last_op = int(scalar(connection, "SELECT max(op_id) FROM ops") or 0)
        if latest == self._seen:
            self._known_op = last_op
            return
        rows: Any = connection.execute(
            """
            SELECT act, lo, hi, before FROM changes
            WHERE op_id > ?1 AND tbl = 'memories' AND seq > ?2 ORDER BY seq
            """,
            (self.cut, self._seen),
        )
        decode = msgspec.json.Decoder(dict[str, Any]).decode
        for act, low, high, before in rows:
            if act == "insert":
                self._add([(low, high)])
            elif low in self.before:
                self.before[low] = decode(before) | self.before[low]
            elif not self.is_born(low):
                self.before[low] = decode(before)
        self._seen, self._known_op = latest, last_op
        self.read += 1
        running = scalar(connection, "SELECT min(op_id) FROM ops WHERE state = 'running'")
        self._open_from = int(running or last_op)

    def _grow(self, connection: apsw.Connection) -> None:
        runs: Any = connection.execute(
            "SELECT lo, hi FROM changes WHERE op_id > ?1 AND op_id >= ?2 AND tbl = 'memories' AND act = 'insert' "
            "AND seq <= ?3",
            (self.cut, self._open_from, self._seen),
        )
        self._add(runs.fetchall())

    def _add(self, runs: Iterable[tuple[int, int]]) -> None:
        for low, high in runs:
            if self.born and low == self.born[-1][1] + 1:
                self.born[-1] = (self.born[-1][0], high)
            elif not self.born or low > self.born[-1][1]:
                self.born.append((low, high))
            elif not self.in_run(low, high):
                self.born = joined([*self.born, (low, high)])


def joined(runs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Runs (first, last) in order, those that touch or overlap as one."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(runs):
        if found and low <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], high))
        else:
            found.append((low, high))
    return found
