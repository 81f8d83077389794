"""The core of an open memory: the file, the clock, the options, the actor, and announcing changes."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Self

import apsw

from memtui.engine.clock import Clock, local_midnight
from memtui.engine.errors import DegradedError, InputError, ReadOnlyError
from memtui.engine.jobs.indexer import Indexer
from memtui.engine.memories import validation
from memtui.engine.models.embedder_choice import EmbedderFactory
from memtui.engine.models.embedders import LocalEmbedder
from memtui.engine.records import Changes, MemoryRecord, Operation, Options, Topic
from memtui.engine.search.retrievers.vector_cache import VectorCache
from memtui.engine.store import history, memories, operations, proposals, recalls, recording_rules, vectors
from memtui.engine.store.connections import Connections
from memtui.engine.store.sql import scalar

if TYPE_CHECKING:
    from memtui.engine.models.ner import NameRecogniser

Event = Literal["changed", "progress", "job_finished", "session_completed"]
_MOST_CHANGES = 1_000


class Core:
    """An open memory file. ``actor`` signs what is changed."""

    def __init__(self, connections: Connections, *, actor: str, clock: Clock, options: Options) -> None:
        self.connections = connections
        self.clock = clock
        self.options = options
        self.actor = actor
        self.on_settled_after_much: Callable[[], None] = lambda: None
        """Called once the background has caught up with a large change (see ``after_large_change``)."""
        self.embedders = EmbedderFactory(options)
        self.vector_cache = VectorCache(self.wake_indexer)
        self.indexer = Indexer(
            connections, clock, self.embedders.embedder_of_space, recogniser=lambda: self.recogniser,
            on_progress=self._report_index_progress,
            on_done=self._after_indexing,
        )  # fmt: skip
        self._subscribers: dict[Event, list[Callable[[Changes], None]]] = {
            "changed": [], "progress": [], "job_finished": [], "session_completed": [],
        }  # fmt: skip
        self._much_changed = False
        self._seen_version = 0
        self._opened_by = self

    def acting_as(self, actor: str) -> Self:
        """The same open file, signed by another actor. What is expensive is shared; ``close`` leaves it open."""
        _ = self.recogniser  # shared too
        other = copy.copy(self)
        other.actor = actor
        return other

    def close(self) -> None:
        if self._opened_by is not self:
            return
        self.indexer.ask_to_stop()
        self.embedders.close()
        self.indexer.stop()
        self.connections.close()

    @cached_property
    def recogniser(self) -> NameRecogniser:
        from memtui.engine.models.ner import NameRecogniser

        return NameRecogniser(self.options.strategies, self.options.llm, self.options.name_finder)

    # Changing

    def must_write(self, purpose: str) -> None:
        if self.connections.readonly:
            raise ReadOnlyError(
                "This memory is open for reading only.", f"Open it without --readonly to {purpose}."
            )

    @contextmanager
    def change(self, kind: str, label: str, *, project: str | None = None) -> Iterator[history.OpenOperation]:
        """One undoable operation in one transaction; afterwards the indexer and the subscribers hear of it."""
        with self.operation(kind, label, project=project) as op:
            yield op
            if self.actor == "person":
                proposals.close_answered(op.connection, op.op_id, int(self.clock()))
        self.announce(op)

    def operation(
        self, kind: str, label: str, *, project: str | None = None
    ) -> AbstractContextManager[history.OpenOperation]:
        """An operation that no subscriber is told of; ``change`` does that."""
        return history.operation(self.connections, self.clock, self.actor, kind, label, project=project)

    def announce(self, op: history.OpenOperation) -> None:
        """After one operation: wake the indexer, tell the subscribers if anything changed."""
        self.wake_indexer()
        if self._subscribers["changed"]:
            with self.connections.read() as connection:
                changed = scalar(connection, "SELECT 1 FROM ops WHERE op_id = ?", (op.op_id,))
            if changed:
                self.announce_by_id(op.op_id)

    def finished_operation(self, op: history.OpenOperation) -> Operation | None:
        """The operation as history has it; None when nothing changed."""
        with self.connections.read() as connection:
            if not scalar(connection, "SELECT 1 FROM ops WHERE op_id = ?", (op.op_id,)):
                return None
            return operations.get(connection, op.op_id)

    def announce_by_id(self, op_id: int) -> Operation:
        """Tell the subscribers of an operation, and return it."""
        self.wake_indexer()
        with self.connections.read() as connection:
            operation = operations.get(connection, op_id)
            if not self._subscribers["changed"]:
                return operation
            changed = history.with_removed_ids(
                connection, operations.row_changes(connection, op_id, limit=_MOST_CHANGES)
            )
        changes = Changes(
            tables=frozenset(change.table for change in changed),
            ids=tuple(change.memory_id for change in changed if change.memory_id),
            operation=operation,
        )
        self.call_subscribers("changed", changes)
        return operation

    def announce_operation(self, operation: Operation) -> None:
        self.announce_by_id(operation.op_id)

    def after_large_change(self) -> None:
        """See whether the pinned questions still find what they should, once links and vectors are there."""
        if self._opened_by is not self:
            self._opened_by.after_large_change()
            return
        self._much_changed = True
        if self.options.background and not self.connections.readonly:
            self.wake_indexer()
        else:
            self._after_indexing()

    def project_of_memory(self, id: str) -> str | None:
        """The project that what an agent writes about a memory belongs to; None for others, who are not turned away."""
        if not self.actor.startswith("agent:"):
            return None
        with self.connections.read() as connection:
            return memories.get(connection, id, self.clock()).project

    def note_recall(
        self, query: str, served: Sequence[MemoryRecord], session_id: str | None = None, *,
        project: str | None = None,
    ) -> None:  # fmt: skip
        """An agent was served these. It slows their fading and is logged. What a person looks at is not.

        Where nothing is recorded the question is not kept.
        """
        if not self.actor.startswith("agent:") or self.connections.readonly or not served:
            return
        now = int(self.clock())
        with self.connections.write() as connection:
            kept = recording_rules.keeps_question(
                connection, self.actor.removeprefix("agent:"), now, project, query
            )
            memories.record_access(connection, [memory.rid for memory in served], now, local_midnight(now))
            recalls.add(
                connection, at=now, agent=self.actor.removeprefix("agent:"),
                session_id=session_id and validation.without_secrets(session_id),
                query=validation.without_secrets(query) if kept else "", memory_ids=[memory.id for memory in served],
            )  # fmt: skip

    def agent_filter(self, connection: apsw.Connection, filter: str) -> str:
        """The filter, for an agent without what the person keeps from it."""
        if not self.actor.startswith("agent:"):
            return filter
        from memtui.engine.search.access_scope import less_withheld

        return less_withheld(connection, self.actor.removeprefix("agent:"), filter)

    def ask_about_dependents(self, connection: apsw.Connection, ids: Sequence[str], verb: str) -> None:
        """In the operation that changed ``ids``: what was drawn from those that no longer hold waits in Review."""
        from memtui.engine.review import dependents

        dependents.open_card(connection, ids, verb, self.actor, int(self.clock()))

    def passes_filter(self, connection: apsw.Connection, filter: str) -> Callable[[int], bool]:
        """Whether a memory passes a filter, as far as this transaction has come."""
        if not filter:
            return lambda rid: True
        from memtui.engine.search.filters.compiler import compile_filter
        from memtui.engine.search.scope import make_scope, rids_in_scope

        inside = make_scope(compile_filter(filter, self.clock(), fade_threshold=self.options.fade_threshold))
        return lambda rid: bool(rids_in_scope(connection, inside, [rid]))

    # Telling

    def subscribe(self, event: Event, callback: Callable[[Changes], None]) -> Callable[[], None]:
        if event not in self._subscribers:
            raise InputError(f"There is no event {event!r}.", f"Events: {', '.join(self._subscribers)}.")
        self._subscribers[event].append(callback)
        return lambda: self._subscribers[event].remove(callback)

    def has_subscribers(self, event: Event) -> bool:
        return bool(self._subscribers[event])

    def call_subscribers(self, event: Event, changes: Changes) -> None:
        for callback in list(self._subscribers[event]):
            callback(changes)

    def data_version(self) -> int:
        version = self.connections.data_version()
        if version != self._seen_version:
            self._seen_version = version
            self.wake_indexer()
        return version

    # The background

    def topic_of(self, content: str) -> Topic | None:
        """The topic of a fact that the person writes, if its form shows it."""
        if self.actor != "person" or not isinstance(content, str):
            return None
        from memtui.engine.consolidation.extract.topics import topic_of_note

        return topic_of_note(content)

    def guessed_topic(self, content: str) -> Topic | None:
        """What a fact that the person writes is likely about, where its form does not tell."""
        if self.actor != "person" or not isinstance(content, str):
            return None
        from memtui.engine.consolidation.extract.topics import guess_topic

        return guess_topic(content)

    def wake_indexer(self) -> None:
        if self.options.background:
            self.indexer.start_or_wake()

    def _after_indexing(self) -> None:
        """The background has nothing left to prepare; called in its thread."""
        if self.vector_cache.wanted:
            with self.connections.read() as connection:
                self.vector_cache.load_or_update(connection, self.indexer.is_stopping)
                space = vectors.vector_space(connection)
            # A first search does without much of the model; the next ones should not wait for it.
            with suppress(DegradedError):  # a search shows what is missing
                embedder = self.embedders.embedder_of_space(space)
                if isinstance(embedder, LocalEmbedder):
                    embedder.load()
        if self._much_changed:
            self._much_changed = False
            self.on_settled_after_much()

    def _report_index_progress(self) -> None:
        self.call_subscribers("progress", Changes(tables=frozenset({"memory_entities", "embeddings"})))


def outside_scope_error(what: str) -> InputError:
    """What a write that its ``within`` does not let pass raises."""
    return InputError(
        f"This {what} does not match the filter and project that this agent is limited to.",
        "Nothing was written. Change it so that it matches, or ask the person to widen the filter.",
    )
