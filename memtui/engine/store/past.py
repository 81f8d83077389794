"""The memory at an earlier moment: the current rows, with every later operation undone.

The state is the one after the last operation until that moment, so it is always a state that existed. Where
history was thinned (90 days, 50 MB) only the times of the rows themselves are left: when each was recorded, and when
it went to the Trash. Recalls by agents are not in history, so faded confidence is computed from the current ones.
"""

from __future__ import annotations

import heapq
import threading
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, get_args

import apsw
import msgspec

from memtui.engine.errors import InputError, NotFoundError
from memtui.engine.records import KINDS, Kind, MemoryRecord
from memtui.engine.records.history import HistoryCoverage, RestoreGap

from . import history, memories, metadata
from .connections import Connections
from .sql import scalar
from .tokens import fold_text


class LaterChanges:
    """Changes of memories by operations after ``cut``.

    ``before``: key -> columns as they were; ``born``: disjoint runs (first, last) of rows that came later.
    ``read``: how often something new was read; while it stands, so does what was made of it.
    """

    def __init__(self, connection: apsw.Connection, cut: int) -> None:
        self.cut = cut
        self.read = 0
        self._reset()
        self.catch_up(connection)

    def _reset(self) -> None:
        self.read += 1
        self.before: dict[int, dict[str, Any]] = {}
        self.born: list[tuple[int, int]] = []
        self._seen = 0
        self._known_op = self.cut
        self._open_from = self.cut + 1

    @property
    def touched_rids(self) -> Iterable[int]:
        """The keys of rows that were there and were changed or deleted later."""
        return sorted(self.before)

    def was_added_later(self, rid: int) -> bool:
        """Whether the row came later, or came back later: one that is in ``before`` was there all the same."""
        return self.in_same_run(rid, rid)

    def in_same_run(self, low: int, high: int) -> bool:
        """Whether these keys lie in one run of ``born``."""
        index = bisect_right(self.born, (low, 2**63)) - 1
        return index >= 0 and self.born[index][1] >= high

    def rid_of(self, id: str) -> int | None:
        """The key of a memory that was deleted later."""
        return next((rid for rid, row in self.before.items() if row.get("id") == id), None)

    def catch_up(self, connection: apsw.Connection) -> None:
        """Take in what was done since; at once when nothing was."""
        latest = int(scalar(connection, "SELECT coalesce(max(seq), 0) FROM changes") or 0)
        erased = "SELECT 1 FROM ops WHERE op_id > ? AND kind = 'erase' LIMIT 1"
        if scalar(connection, erased, (self._known_op,)):
            self._reset()  # history has lost what was erased for good
        self._read_changes(connection)
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
                self._add_runs([(low, high)])
            elif low in self.before:
                self.before[low] = decode(before) | self.before[low]
            elif not self.was_added_later(low):
                self.before[low] = decode(before)
        self._seen, self._known_op = latest, last_op
        self.read += 1
        running = scalar(connection, "SELECT min(op_id) FROM ops WHERE state = 'running'")
        self._open_from = int(running or last_op)

    def _read_changes(self, connection: apsw.Connection) -> None:
        runs: Any = connection.execute(
            "SELECT lo, hi FROM changes WHERE op_id > ?1 AND op_id >= ?2 AND tbl = 'memories' AND act = 'insert' "
            "AND seq <= ?3",
            (self.cut, self._open_from, self._seen),
        )
        self._add_runs(runs.fetchall())

    def _add_runs(self, runs: Iterable[tuple[int, int]]) -> None:
        for low, high in runs:
            if self.born and low == self.born[-1][1] + 1:
                self.born[-1] = (self.born[-1][0], high)
            elif not self.born or low > self.born[-1][1]:
                self.born.append((low, high))
            elif not self.in_same_run(low, high):
                self.born = joined_runs([*self.born, (low, high)])


def joined_runs(runs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Runs (first, last) in order, those that touch or overlap as one."""
    joined: list[tuple[int, int]] = []
    for low, high in sorted(runs):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], high))
        else:
            joined.append((low, high))
    return joined


GAPS = "restored_gaps"
NOTES: tuple[Kind, ...] = ("fact", "reflection", "observation")
_AT_ONCE = 500


class Past:
    """The memories at ``at``. Safe to call from any thread; what others write meanwhile changes nothing in it.

    ``words`` narrows a list: words that a text contains, ``-word`` for one it must not, ``kind:fact,episode``,
    ``is:trash``. Without a kind, turns of conversations are left out. The order is that of the list of memories.
    """

    def __init__(self, connections: Connections, at: int) -> None:
        self.at = at
        self._connections = connections
        self._lock = threading.RLock()
        self._lists: dict[str, tuple[int, array[int]]] = {}
        with connections.read() as connection:
            self._load_later_changes(connection)

    def _load_later_changes(self, connection: apsw.Connection) -> None:
        self._restores = metadata.get(connection, GAPS)
        self.coverage = history_coverage(connection, self.at)
        cut = int(scalar(connection, "SELECT coalesce(max(op_id), 0) FROM ops WHERE at <= ?", (self.at,)))
        self._later = LaterChanges(connection, cut)
        self._lists.clear()

    def _catch_up(self, connection: apsw.Connection) -> None:
        """Take in what was done since; after a restore the file has another history."""
        if metadata.get(connection, GAPS) != self._restores:
            self._load_later_changes(connection)
        else:
            self._later.catch_up(connection)

    @property
    def operation(self) -> int:
        """The last operation that counts; 0 before the first."""
        return self._later.cut

    def counts(self) -> dict[str, int]:
        """Active memories by kind, and how many were in the Trash (``trash``)."""
        with self._lock, self._connections.read() as connection:
            self._catch_up(connection)
            counts = Counter(self._add_counts(connection, "1", ()))
            for low, high in self._later.born:
                counts.subtract(self._add_counts(connection, "m.rid BETWEEN ? AND ?", (low, high)))
            for rids in _split_into_chunks(self._later.touched_rids):
                existing_then = [rid for rid in rids if not self._later.was_added_later(rid)]
                marks = ",".join("?" * len(existing_then))
                counts.subtract(self._add_counts(connection, f"m.rid IN ({marks})", existing_then))
                counts.update(_sort_position(one) for one in self._read_rows(connection, rids))
            return {name: counts[name] for name in (*KINDS, "trash")}

    def count(self, words: str = "") -> int:
        return len(self.keys(words))

    def page(self, words: str = "", *, offset: int = 0, limit: int = 128) -> list[MemoryRecord]:
        """``limit`` memories from ``offset`` on, as they were."""
        return self.rows(self.keys(words)[offset : offset + limit])

    def keys(self, words: str = "") -> array[int]:
        """The keys of all memories of a list, in its order."""
        with self._lock, self._connections.read() as connection:
            self._catch_up(connection)
            known = self._lists.get(words)
            if known is None or known[0] != self._later.read:
                known = self._later.read, array("q", self._list_keys(connection, _ListFilter.parse(words)))
                self._lists = {words: known}  # one list at a time is looked at
            return known[1]

    def rows(self, rids: Sequence[int]) -> list[MemoryRecord]:
        """Memories by key as they were, in the order asked; those that were not there are left out."""
        with self._lock, self._connections.read() as connection:
            self._catch_up(connection)
            records = {
                one.rid: one for some in _split_into_chunks(rids) for one in self._read_rows(connection, some)
            }
        return [records[rid] for rid in rids if rid in records]

    def get(self, id: str) -> MemoryRecord:
        """A memory by its whole id, as it was. Raises NotFoundError when it was not there."""
        with self._lock, self._connections.read() as connection:
            self._catch_up(connection)
            rid = scalar(connection, "SELECT rid FROM memories WHERE id = ?", (id,))
            rid = self._later.rid_of(id) if rid is None else rid
            for one in self._read_rows(connection, [rid]) if rid is not None else ():
                return one
        raise NotFoundError(f"There was no memory {id!r} then.", "Choose a later moment.")

    def changed_later(self, low: int, high: int) -> list[int]:
        """The keys from ``low`` to ``high`` of memories that were there, and were changed or deleted later."""
        with self._lock:
            return [rid for rid in self._later.touched_rids if low <= rid <= high]

    # -- rows

    def _read_rows(self, connection: apsw.Connection, rids: Sequence[int]) -> Iterator[MemoryRecord]:
        now: Any = connection.execute(
            f"SELECT {memories.COLUMNS} FROM memories m WHERE m.rid IN ({','.join('?' * len(rids))})",
            tuple(rids),
        )
        rows = {row[0]: dict(zip(memories.FIELDS, row, strict=True)) for row in now}
        for rid in rids:
            was = self._later.before.get(rid)
            if was is None and (rid not in rows or self._later.was_added_later(rid)):
                continue
            row = {"rid": rid} | rows.get(rid, {}) | (was or {})
            if "id" in row and self._existed_then(row):
                yield self._make_record(row)

    def _existed_then(self, row: Mapping[str, Any]) -> bool:
        return self.coverage.complete or row["created_at"] <= self.at

    def _make_record(self, row: dict[str, Any]) -> MemoryRecord:
        if not self.coverage.complete and row["valid_until"] is not None and row["valid_until"] > self.at:
            row["valid_until"] = row["ended_by"] = None
        if row["last_accessed"] is not None and row["last_accessed"] > self.at:
            row["last_accessed"] = None
        return memories.memory_record([row[name] for name in memories.FIELDS], self.at)

    # -- lists

    def _list_keys(self, connection: apsw.Connection, wanted: _ListFilter) -> Iterator[int]:
        """Rows that no later operation touched come from the file in order; the others are put between them."""
        kinds = ",".join(f"'{kind}'" for kind in wanted.kinds)
        known = "" if "episode" in wanted.kinds else "AND m.kind <> 'episode'"
        cursor: Any = connection.execute(
            f"SELECT m.rid, m.event_time FROM memories m WHERE {self._state_condition(wanted.ended)} {known} "
            f"AND m.kind IN ({kinds}) {wanted.condition} ORDER BY m.event_time DESC, m.rid DESC",
            wanted.values,
        )
        plain = (
            (-time, -rid)
            for rid, time in cursor
            if rid not in self._later.before and not self._later.was_added_later(rid)
        )
        changed = sorted(
            (-one.event_time, -one.rid)
            for rids in _split_into_chunks(self._later.touched_rids)
            for one in self._read_rows(connection, rids)
            if wanted.matches(one)
        )
        for _, rid in heapq.merge(plain, changed):
            yield -rid

    def _state_condition(self, ended: bool) -> str:
        """SQL for rows that were active, or in the Trash."""
        if self.coverage.complete:
            return f"m.valid_until IS {'NOT ' if ended else ''}NULL"
        there, gone = f"m.created_at <= {self.at}", f"m.valid_until <= {self.at}"
        return f"{there} AND {gone}" if ended else f"{there} AND ({gone}) IS NOT 1"

    def _add_counts(self, connection: apsw.Connection, where: str, values: Sequence[int]) -> dict[str, int]:
        rows: Any = connection.execute(
            f"""
            SELECT CASE WHEN {self._state_condition(True)} THEN 'trash' ELSE m.kind END AS place, count(*)
            FROM memories m WHERE {where} AND ({self._state_condition(True)} OR {self._state_condition(False)}) GROUP BY place
            """,
            tuple(values),
        )
        return dict(rows)


class _ListFilter(NamedTuple):
    """What a list is narrowed to."""

    kinds: tuple[Kind, ...]
    ended: bool
    with_words: tuple[str, ...]
    without: tuple[str, ...]

    @classmethod
    def parse(cls, words: str) -> _ListFilter:
        kinds: tuple[Kind, ...] = NOTES
        ended, having, lacking = False, [], []
        for word in words.split():
            key, _, value = word.partition(":")
            if key == "kind" and value:
                kinds = tuple(kind for kind in KINDS if kind in value.split(","))
                if len(kinds) != len(set(value.split(","))):
                    raise InputError(f"{value!r} is not a kind.", f"Kinds: {', '.join(get_args(Kind))}.")
            elif word == "is:trash":
                ended = True
            elif word.startswith("-") and len(word) > 1:
                lacking.append(_searchable_word(word[1:]))
            else:
                having.append(_searchable_word(word))
        return cls(kinds, ended, tuple(having), tuple(lacking))

    @property
    def condition(self) -> str:
        terms = ["> 0"] * len(self.with_words) + ["= 0"] * len(self.without)
        return "".join(f" AND instr(fold(m.content), ?) {term}" for term in terms)

    @property
    def values(self) -> tuple[str, ...]:
        return (*self.with_words, *self.without)

    def matches(self, one: MemoryRecord) -> bool:
        text = fold_text(one.content) if self.values else ""
        return (
            one.kind in self.kinds and one.active is not self.ended
            and all(word in text for word in self.with_words) and not any(word in text for word in self.without)
        )  # fmt: skip


def history_coverage(connection: apsw.Connection, at: int) -> HistoryCoverage:
    """Whether history has all that was done after ``at``."""
    gap = next((one for one in restore_gaps(connection) if one.start < at < one.end), None)
    kept = metadata.get(connection, history.THINNED)
    first = scalar(connection, "SELECT min(seq) FROM changes")
    if first == 1 or (first is None and kept is None):
        return HistoryCoverage(complete=True, gap=gap)
    since = int(kept) if kept else int(scalar(connection, "SELECT min(at) FROM ops") or 0)
    return HistoryCoverage(complete=at >= since, since=since, gap=gap)


def restore_gaps(connection: apsw.Connection) -> list[RestoreGap]:
    """The spans of time that restores took back, the oldest first."""
    stored = metadata.get(connection, GAPS)
    return msgspec.json.decode(stored, type=list[RestoreGap]) if stored else []


def _searchable_word(word: str) -> str:
    """SQLite cannot store a surrogate or a NUL, so nothing contains one."""
    return fold_text(word).encode("utf-8", "replace").decode().replace("\0", "\ufffd")


def _sort_position(one: MemoryRecord) -> str:
    return one.kind if one.active else "trash"


def _split_into_chunks(rids: Iterable[int]) -> Iterator[list[int]]:
    remaining = iter(rids)
    while some := list(islice(remaining, _AT_ONCE)):
        yield some
