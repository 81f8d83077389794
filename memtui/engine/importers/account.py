"""What the parts of an import share: the memory it goes into, its operation, and the count of what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import apsw

from memtui.engine.clock import Clock
from memtui.engine.records import Operation, Options, Skip
from memtui.engine.store import history, operations
from memtui.engine.store.connection import Connections

from . import alone
from .distinct import Distinct
from .reading import Tally

New = TypeVar("New")
# Other writers wait no longer than this and the commit.
SECONDS_PER_TRANSACTION = 0.03
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

    def begin(self) -> int:
        """Its number; begun if it was not."""
        if self.op_id is None:
            self._before_write()
            self.op_id = history.begin(self._connections, self._clock, self._actor, alone.KIND, self._label)
        return self.op_id

    @contextmanager
    def part(self) -> Iterator[apsw.Connection]:
        """One of its transactions."""
        with history.part(self._connections, self.begin()) as connection:
            yield connection

    def finish(self, label: str) -> Operation | None:
        """End it under its last label. None if nothing was begun or nothing changed."""
        if self.op_id is None:
            return None
        history.finish(self._connections, self.op_id, label)
        with self._connections.read() as connection:
            return operations.find(connection, self.op_id)


class Account:
    """One import under way. ``met`` is what a dry run remembers in place of the memory."""

    def __init__(
        self, connections: Connections, tally: Tally, met: Distinct, operation: ImportOperation, *,
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
        self.already_there = self.sessions = self.secrets = 0

    @property
    def imported(self) -> int:
        return self.kinds.total()

    def skip(self, reason: str, place: str = "") -> None:
        self.tally.skip(Skip(reason=reason, place=place))

    def store(
        self, records: list[New], store_some: Callable[[apsw.Connection, list[New]], tuple[int, list[New]]]
    ) -> list[New]:
        """Store records in short transactions of the operation; those that were not there.

        ``store_some`` tells how many of the first ones it took in one transaction, and which of them it added.
        """
        stored: list[New] = []
        while records:
            with self.operation.part() as connection:
                taken, some = store_some(connection, records)
            self.already_there += taken - len(some)
            stored += some
            records = records[taken:]
        return stored

    def met_session(self, session_id: str) -> None:
        """Count a session that got something, once."""
        self.sessions += self.met.add(f"session {session_id}")
