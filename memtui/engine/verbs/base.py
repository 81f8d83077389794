"""What all verbs of a memory share: the open file, the clock, the signature, and who is told of a change."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

from memtui.engine.clock import Clock
from memtui.engine.errors import InputError, ReadOnlyError
from memtui.engine.maintain.indexer import Indexer
from memtui.engine.models.choosing import Embedders
from memtui.engine.records import Changes, Operation, Options
from memtui.engine.search.vector_copy import VectorCopy
from memtui.engine.store import history
from memtui.engine.store.connection import Connections
from memtui.engine.store.sql import scalar
from memtui.engine.view import View

if TYPE_CHECKING:
    from memtui.engine.models.ner import Recogniser

Event = Literal["changed", "progress", "job_finished", "session_completed"]


class Base:
    """An open memory file; a context manager."""

    def __init__(self, connections: Connections, *, actor: str, clock: Clock, options: Options) -> None:
        self._connections = connections
        self._clock = clock
        self._options = options
        self.actor = actor
        self.view = View(connections, clock, options)
        self._subscribers: dict[Event, list[Callable[[Changes], None]]] = {
            "changed": [], "progress": [], "job_finished": [], "session_completed": [],
        }  # fmt: skip
        self._seen_version = 0
        self._embedders = Embedders(options)
        self._vector_copy = VectorCopy(self._wake_indexer)
        self._indexer = Indexer(
            connections, clock, self._embedders.serving, recogniser=lambda: self._recogniser,
            on_progress=self._progressed,
            on_done=self._settled,
        )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Finish what runs in the background and close the file. Closing twice is fine."""
        self._indexer.ask_to_stop()
        self._embedders.close()
        self._indexer.stop()
        self._connections.close()

    @property
    def path(self) -> Path | None:
        """Where the file is; None for an in-memory one."""
        return self._connections.path

    @property
    def readonly(self) -> bool:
        return self._connections.readonly

    @property
    def options(self) -> Options:
        return self._options

    def data_version(self) -> int:
        """A number that changes when another process has written the file; asked now and then by whoever shows it."""
        version = self._connections.data_version()
        if version != self._seen_version:
            self._seen_version = version
            self._wake_indexer()
        return version

    def subscribe(self, event: Event, callback: Callable[[Changes], None]) -> Callable[[], None]:
        """Be told of ``changed`` (after each commit of this object), ``progress`` (links and vectors made),
        ``job_finished`` (a maintenance job of this process ended: see ``scheduler.runs``) or ``session_completed``
        (a new conversation was begun here, and others that are over wait for ``consolidate``: ``Changes.sessions``).

        The callback runs in the thread that wrote; it must be quick. Returns the function that ends it.
        """
        if event not in self._subscribers:
            raise InputError(f"There is no event {event!r}.", f"Events: {', '.join(self._subscribers)}.")
        self._subscribers[event].append(callback)
        return lambda: self._subscribers[event].remove(callback)

    def _must_write(self, purpose: str) -> None:
        if self.readonly:
            raise ReadOnlyError(
                "This memory is open for reading only.", f"Open it without --readonly to {purpose}."
            )

    def _operation(self, kind: str, label: str) -> AbstractContextManager[history.Op]:
        return history.operation(self._connections, self._clock, self.actor, kind, label)

    def _announce(self, op: history.Op) -> None:
        """After one memory was written: wake the indexer, tell the subscribers if anything changed."""
        self._wake_indexer()
        if self._subscribers["changed"]:
            with self._connections.read() as connection:
                changed = scalar(connection, "SELECT 1 FROM ops WHERE op_id = ?", (op.op_id,))
            if changed:
                self._tell(op.op_id)

    def _tell(self, op_id: int) -> Operation:
        operation = self.view.operation(op_id)
        self._wake_indexer()
        if self._subscribers["changed"]:
            changed = self.view.changes_of(op_id)
            told = Changes(
                tables=frozenset(change.table for change in changed),
                ids=tuple(change.memory_id for change in changed if change.memory_id),
                operation=operation,
            )
            self._call("changed", told)
        return operation

    def _tell_of(self, operation: Operation) -> None:
        self._tell(operation.op_id)

    def _call(self, event: Event, changes: Changes) -> None:
        for callback in list(self._subscribers[event]):
            callback(changes)

    def _wake_indexer(self) -> None:
        if self._options.background:
            self._indexer.wake()

    def _settled(self) -> None:
        """The background has nothing left to prepare; called in its thread."""
        with self._connections.read() as connection:
            self._vector_copy.follow(connection, self._indexer.stopping)

    def _progressed(self) -> None:
        self._call("progress", Changes(tables=frozenset({"memory_entities", "embeddings"})))

    @cached_property
    def _recogniser(self) -> Recogniser:
        from memtui.engine.models.ner import Recogniser

        return Recogniser(self._options.strategies, self._options.llm)
