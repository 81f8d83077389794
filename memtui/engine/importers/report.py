"""The counts of an import, and the report made from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

import apsw

from memtui.engine.clock import Clock
from memtui.engine.records import Operation, Options, Skip
from memtui.engine.store import history, operations
from memtui.engine.store.connections import Connections

from . import lock
from .counters import DistinctCounter
from .reader import ReadTally

# Other writers wait no longer than this and the commit.
SECONDS_PER_TRANSACTION = 0.03
# What goes into one statement: a few dozen rows, fewer if they are long.
ROWS_AT_ONCE = 64
CHARACTERS_AT_ONCE = 50_000
# About three times what a transaction adds to the full-text index, so that merging keeps up.
MERGED_PAGES = 128
ERASED = "erased for good"
REFUSED = "cannot be stored"


class ImportOperation:
    """One named operation of many transactions, begun when there is something to store."""

    def __init__(
        self, connections: Connections, clock: Clock, actor: str, label: str, before_write: Callable[[], None]
    ) -> None:
        self._connections = connections
        self._clock = clock
        self._actor = actor
        self._label = label
        self._before_write = before_write
        self.op_id: int | None = None

    def begin_once(self) -> int:
        """Its number; begun if it was not."""
        if self.op_id is None:
            self._before_write()
            self.op_id = history.begin_long(
                self._connections, self._clock, self._actor, lock.KIND, self._label
            )
        return self.op_id

    @contextmanager
    def transaction(self) -> Iterator[apsw.Connection]:
        """One of its transactions."""
        with history.continue_long(self._connections, self.begin_once()) as connection:
            yield connection

    def finish_operation(self, label: str) -> Operation | None:
        """End it under its last label. None if nothing was begun or nothing changed."""
        if self.op_id is None:
            return None
        history.finish_long(self._connections, self.op_id, label)
        with self._connections.read() as connection:
            return operations.find(connection, self.op_id)


class CountedRecord(NamedTuple):
    """What a record that came in counts as: nothing (None), or one of a ``kind`` as people call it."""

    kind: str | None
    session_id: str | None = None
    redacted: bool = False


class RecordKind(Protocol):
    """What differs between turns, notes and rows on their way in; ``Any`` is the record as this kind stores it."""

    def select_new(self, connection: apsw.Connection, records: Sequence[Any]) -> list[Any]:
        """The new ones of the records, ready to be stored. The others are counted."""

    def identities(self, record: Any) -> tuple[str, ...]:
        """The identities by which a dry run, which stores nothing, recognises a repeated record."""

    def store_some(self, connection: apsw.Connection, new: Sequence[Any]) -> tuple[int, list[Any]]:
        """Store records for ``SECONDS_PER_TRANSACTION``: how many of the first ones were taken, and which were added."""

    def counted_record(self, record: Any) -> CountedRecord:
        """What a record that was added counts as."""


class ImportCounts:
    """One import under way. ``met`` is what a dry run remembers in place of the memory."""

    def __init__(
        self, connections: Connections, tally: ReadTally, met: DistinctCounter, operation: ImportOperation, *,
        dry_run: bool, actor: str, clock: Clock, options: Options,
    ) -> None:  # fmt: skip
        self.connections = connections
        self.tally = tally
        self.met = met
        self.operation = operation
        self.dry_run = dry_run
        self.actor = actor
        self.clock = clock
        self.options = options
        self.kinds: Counter[str] = Counter()
        self.decisions: Counter[str] = Counter()
        self.already_there = self.repeated = self.sessions = self.secrets = 0
        self._latest_session: str | None = None

    @property
    def imported(self) -> int:
        return self.kinds.total()

    def skip(self, reason: str, place: str = "") -> None:
        self.tally.count_skip(Skip(reason=reason, place=place))

    def count(self, counted: CountedRecord) -> None:
        """Count what came in. A session that got something counts once."""
        if counted.kind is not None:
            self.kinds[counted.kind] += 1
        self.secrets += counted.redacted
        session_id = counted.session_id
        if session_id is not None and session_id != self._latest_session:
            self._latest_session = session_id
            self.sessions += self.met.add_new(f"session {session_id}")
