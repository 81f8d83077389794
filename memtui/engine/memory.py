"""The facade: everything a program does with a memory, as plain functions on one object.

``Memory`` composes the rooms below and names the operations; the work is theirs. Methods may be
called from any thread: writes wait for each other, reads do not wait for writes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from datetime import datetime
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

import apsw

from memtui.engine.clock import Clock, local_midnight, system_clock, unix_seconds
from memtui.engine.curate import intake, notes, turns
from memtui.engine.curate.derive import derive
from memtui.engine.errors import DegradedError, InputError, ReadOnlyError
from memtui.engine.maintain.backups import Backups
from memtui.engine.maintain.indexer import Indexer
from memtui.engine.models.embedders import Embedder, OfflineEmbedder
from memtui.engine.questions import Questions
from memtui.engine.records import (
    Changes,
    CheckReport,
    Explanation,
    ImportProgress,
    ImportReport,
    Kind,
    MemoryRecord,
    Operation,
    Options,
    Profile,
    SearchResult,
    Session,
    Stats,
    Undone,
)
from memtui.engine.store import check, file, history, memories, recalls, stats, undo, vectors
from memtui.engine.store.columns import COVERED
from memtui.engine.store.connection import Connections
from memtui.engine.store.sql import scalar
from memtui.engine.view import View

if TYPE_CHECKING:
    from memtui.engine.maintain.enrich import Enricher
    from memtui.engine.maintain.plan import Consolidation
    from memtui.engine.maintain.scheduler import Scheduler
    from memtui.engine.search.briefing import Briefing
    from memtui.engine.upkeep import Upkeep

Event = Literal["changed", "progress", "job_finished"]
Verb = Literal["confirm", "forget", "restore", "tag"]
_DONE = {"confirm": "Confirmed", "forget": "Forgot", "restore": "Restored", "tag": "Tagged"}
_LABEL = 60
_ROWS_AT_ONCE = 2_000
_ROWS_PER_TRANSACTION = 500


def _quote(content: str) -> str:
    words = " ".join(content.split())
    return f"“{words if len(words) <= _LABEL else words[: _LABEL - 1].rstrip() + '…'}”"


def _bulk_label(verb: Verb, changed: int) -> str:
    return f"{_DONE[verb]} {changed:,} {'memory' if changed == 1 else 'memories'}"


class Memory:
    """A memory file, open for use; a context manager.

    ``actor`` signs every change: ``person``, ``agent:<name>``, ``scheduler`` or ``import``.
    """

    def __init__(self, connections: Connections, *, actor: str, clock: Clock, options: Options) -> None:
        self._connections = connections
        self._clock = clock
        self._options = options
        self.actor = actor
        self.view = View(connections, clock, options)
        self._subscribers: dict[Event, list[Callable[[Changes], None]]] = {
            "changed": [], "progress": [], "job_finished": [],
        }  # fmt: skip
        self._seen_version = 0
        self._embedder_lock = threading.Lock()
        self._embedder_made: Embedder | None = None
        self.questions = Questions(connections, clock, lambda: self.actor, self._tell_of)
        self._indexer = Indexer(connections, clock, self._embedder, on_progress=self._progressed)

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        actor: str = "person",
        readonly: bool = False,
        clock: Clock | None = None,
        options: Options | None = None,
    ) -> Self:
        """Open a memory file, created if it is not there; ``":memory:"`` for one that lives in this process.

        ``clock`` returns Unix seconds. Raises StoreError or one of its kin for a file that cannot be used
        (it is left as it was), InputError for a bad actor or clock.
        """
        if actor not in ("person", "scheduler", "import") and not (
            actor.startswith("agent:") and len(actor) > len("agent:")
        ):
            raise InputError(f"{actor!r} is not an actor.", "Use person, agent:<name>, scheduler or import.")
        if clock is not None and not callable(clock):
            raise InputError(
                f"A clock is a function without arguments that returns Unix seconds, not {clock!r}.",
                "For example time.time; leave it out for the system's.",
            )
        options = options or Options()
        connections = file.open_file(path, readonly=readonly, allow_unsafe=options.allow_unsafe_fs)
        memory = cls(connections, actor=actor, clock=clock or system_clock, options=options)
        if not readonly:
            history.close_dead(connections)
            memory._wake_indexer()
        return memory

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Finish what runs in the background and close the file. Closing twice is fine."""
        if "scheduler" in self.__dict__:
            self.scheduler.stop()
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

    # Recording and curating

    def record_turn(
        self,
        session_id: str,
        role: str,
        content: str,
        event_time: float | datetime | None = None,
        *,
        source: str | None = None,
        project: str | None = None,
    ) -> MemoryRecord:
        """Record one turn of a conversation as an episode: one transaction, no model, no network.

        ``event_time``: Unix seconds or an aware datetime, now if None. Trust follows the role (user,
        assistant, tool), for other speakers the actor. Raises InputError for empty or over-long content.
        """
        now = int(self._clock())
        turn = turns.NewTurn(
            session_id=intake.name(session_id, "session id"),
            role=intake.name(role, "role"),
            intake=intake.accept(content, "episode", self._options.secrets),
            event_time=now if event_time is None else unix_seconds(event_time),
            trust=intake.trust(role, self.actor),
            source=None if source is None else intake.name(source, "source"),
            project=None if project is None else intake.name(project, "project"),
        )
        # Links are made in the background, if there is one: they would be half the time of this call.
        mentions = None if self._options.background else self._indexer.mentions(turn.intake.content)
        identity = memories.new_id("episode")
        with self._operation("record", "Recorded a turn") as op:
            rid = turns.store_turn(op.connection, turn, now, identity)
            assert rid is not None  # a live turn has no source key
            if mentions is not None:
                derive(op.connection, rid, turn.intake.content, mentions, now)
            op.wrote = True
        self._announce(op)
        return turns.as_record(turn, rid, identity, now)

    def remember(
        self, content: str, *, confidence: float = 1.0, tags: Iterable[str] = (), source: str | None = None
    ) -> MemoryRecord:
        """Store a fact and return it. What the person states is protected from decay.

        An equal active fact is reinforced instead of stored twice. ``source`` defaults to ``explicit``.
        """
        now = int(self._clock())
        with self._operation("remember", "Remembered") as op:
            rid = notes.remember(
                op.connection, content, actor=self.actor, confidence=confidence, tags=tags, source=source,
                options=self._options, now=now,
            )  # fmt: skip
            record = self._finish_note(op, rid, "Remembered", now)
        self._announce(op)
        return record

    def correct(self, id: str, new_content: str) -> MemoryRecord:
        """Replace a fact (reflection, observation) by a new text and return the new one.

        One transaction; tags, sources and protection are kept; the old one goes to the Trash as
        superseded, linked both ways. Raises InputError for an episode, a memory in the Trash, or an
        unchanged text; ProtectedError when an agent corrects what the person confirmed.
        """
        now = int(self._clock())
        with self._operation("correct", "Corrected") as op:
            old = memories.get(op.connection, id, now)
            rid = notes.correct(
                op.connection, old, new_content, actor=self.actor, options=self._options, now=now
            )
            record = self._finish_note(op, rid, "Corrected", now)
            op.label = f"Corrected {_quote(old.content)} to {_quote(record.content)}"
        self._announce(op)
        return record

    def _finish_note(self, op: history.Op, rid: int, verb: str, now: int) -> MemoryRecord:
        (record,) = memories.by_rid(op.connection, [rid], now)
        derive(op.connection, rid, record.content, self._indexer.mentions(record.content), now)
        op.label = f"{verb} {_quote(record.content)}"
        return record

    def confirm(self, id: str) -> MemoryRecord:
        """The person vouches for it: confidence 1.0, no decay, protected from jobs and models."""
        return self._change_one("confirm", id)

    def forget(self, id: str) -> MemoryRecord:
        """Move a memory to the Trash; ``restore`` brings all of it back."""
        return self._change_one("forget", id)

    def restore(self, id: str) -> MemoryRecord:
        """Take a memory out of the Trash, whatever put it there."""
        return self._change_one("restore", id)

    def tag(self, id: str, *, add: Iterable[str] = (), remove: Iterable[str] = ()) -> MemoryRecord:
        """Add and remove tags; a tag is the same in any case."""
        return self._change_one("tag", id, add=tuple(add), remove=tuple(remove))

    def _change_one(
        self, verb: Verb, id: str, *, add: Sequence[str] = (), remove: Sequence[str] = ()
    ) -> MemoryRecord:
        now = int(self._clock())
        with self._operation(verb, _DONE[verb]) as op:
            memory = memories.get(op.connection, id, now)
            op.label = f"{_DONE[verb]} {_quote(memory.content)}"
            self._apply(op.connection, verb, memory, add, remove, now)
            (record,) = memories.by_rid(op.connection, [memory.rid], now)
        self._announce(op)
        return record

    def _apply(
        self, connection: apsw.Connection, verb: Verb, memory: MemoryRecord, add: Sequence[str],
        remove: Sequence[str], now: int,
    ) -> None:  # fmt: skip
        match verb:
            case "confirm":
                notes.confirm(connection, memory, actor=self.actor, now=now)
            case "forget":
                notes.forget(connection, memory, actor=self.actor, now=now)
            case "restore":
                notes.restore(connection, memory, now=now)
            case "tag":
                notes.tag(connection, memory, add=add, remove=remove)

    def change_all(
        self, verb: Verb, rids: Sequence[int], *, add: Sequence[str] = (), remove: Sequence[str] = (),
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Operation | None:  # fmt: skip
        """Do one verb to many memories (by key) as one named operation; None when nothing changed.

        What the verb does not apply to (confirming an episode) is passed over. Many rows take several
        transactions; cancelled in between, what was done stays and is undoable as one.
        """
        if self.readonly:
            raise ReadOnlyError(
                "This memory is open for reading only.", "Open it without --readonly to change it."
            )
        now = int(self._clock())
        intake.tags((*add, *remove))
        if len(rids) <= _ROWS_AT_ONCE:
            with self._operation(verb, _DONE[verb]) as op:
                changed = self._apply_all(op.connection, verb, rids, add, remove, now)
                op.label = _bulk_label(verb, changed)
            return self._tell(op.op_id) if changed else None
        op_id = history.begin(self._connections, self._clock, self.actor, verb, _DONE[verb])
        changed = 0
        try:
            for start in range(0, len(rids), _ROWS_PER_TRANSACTION):
                if cancelled():
                    break
                with history.part(self._connections, op_id) as connection:
                    part = rids[start : start + _ROWS_PER_TRANSACTION]
                    changed += self._apply_all(connection, verb, part, add, remove, now)
        finally:
            history.finish(self._connections, op_id, _bulk_label(verb, changed))
        return self._tell(op_id) if changed else None

    def _apply_all(
        self,
        connection: apsw.Connection,
        verb: Verb,
        rids: Sequence[int],
        add: Sequence[str],
        remove: Sequence[str],
        now: int,
    ) -> int:
        """Returns how many memories were changed."""
        changed = 0
        for memory in memories.by_rid(connection, rids, now):
            before = connection.total_changes()
            with suppress(InputError):  # the verb does not apply to this one
                self._apply(connection, verb, memory, add, remove, now)
            changed += connection.total_changes() != before
        return changed

    # Undo

    def undo(self, op_id: int | None = None) -> Undone | None:
        """Take back this actor's latest operation (or the one given); None when there is nothing to undo.

        Rows that somebody changed since stay as they are and are reported in ``conflicts``. Raises
        InputError when nothing of the operation can be taken back, or it is taken back already.
        """
        return self._take_back(op_id, undo.latest_undoable)

    def redo(self) -> Undone | None:
        """Do again what this actor's latest undo took back; None when there is nothing to redo."""
        return self._take_back(None, undo.latest_redoable)

    def next_undo(self) -> Operation | None:
        """What a plain undo would take back."""
        with self._connections.read() as connection:
            op_id = undo.latest_undoable(connection, self.actor)
            return None if op_id is None else history.get_operation(connection, op_id)

    def next_redo(self) -> Operation | None:
        """The undo that a redo would take back."""
        with self._connections.read() as connection:
            op_id = undo.latest_redoable(connection, self.actor)
            return None if op_id is None else history.get_operation(connection, op_id)

    def _take_back(
        self, op_id: int | None, latest: Callable[[apsw.Connection, str], int | None]
    ) -> Undone | None:
        if self.readonly:
            raise ReadOnlyError(
                "This memory is open for reading only.", "Open it without --readonly to change it."
            )
        if op_id is None:
            with self._connections.read() as connection:
                op_id = latest(connection, self.actor)
            if op_id is None:
                return None
        done = undo.undo(self._connections, self._clock, self.actor, op_id)
        self._tell(done.by.op_id)
        return done

    # Finding

    def get(self, id: str) -> MemoryRecord:
        """A memory by id (or a unique beginning of one). Raises NotFoundError."""
        return self.view.get(id)

    def search(
        self,
        query: str,
        *,
        filter: str = "",
        limit: int = 10,
        profile: str | Profile | None = None,
        exclude_session: str | None = None,
    ) -> SearchResult:
        """Find memories for a question in any words; each hit says what every arm gave to its score.

        ``filter`` is an expression of the filter language; ``profile`` a name (``default``, ``rrf``, a saved
        one) or a Profile. No query raises; FilterError for a bad filter, InputError for a bad limit.
        """
        from memtui.engine.search import search as finder

        with self._connections.read() as connection:
            result = finder.search(
                connection, query, filter=filter, limit=limit,
                profile=finder.find_profile(connection, profile or self._options.profile),
                embedder=self._query_embedder(connection), now=self._clock(), exclude_session=exclude_session,
            )  # fmt: skip
        self._log_recall(query, [hit.memory for hit in result.hits], exclude_session)
        return result

    def context(
        self, query: str, *, filter: str = "", limit: int = 5, profile: str | Profile | None = None,
        exclude_session: str | None = None,
    ) -> Briefing:  # fmt: skip
        """The block an agent is told before it answers ``query``: at most ``limit`` facts, the week's insight.

        Its ``tokens`` are estimated. Raises FilterError for a bad filter, InputError for a bad limit.
        """
        from memtui.engine.search import briefing
        from memtui.engine.search import search as finder

        with self._connections.read() as connection:
            told = briefing.brief(
                connection, query, filter=filter, limit=limit,
                profile=finder.find_profile(connection, profile or self._options.profile),
                embedder=self._query_embedder(connection), now=self._clock(), exclude_session=exclude_session,
                fade_threshold=self._options.fade_threshold,
            )  # fmt: skip
        self._log_recall(query, told.memories, exclude_session)
        return told

    def _log_recall(self, query: str, told: Sequence[MemoryRecord], session_id: str | None) -> None:
        """An agent was told these: it slows their fading, and the log says so. A person's look does not."""
        if not self.actor.startswith("agent:") or self.readonly or not told:
            return
        now = int(self._clock())
        with self._connections.write() as connection:
            memories.record_access(connection, [memory.rid for memory in told], now, local_midnight(now))
            recalls.add(
                connection, at=now, agent=self.actor.removeprefix("agent:"), session_id=session_id,
                query=query, memory_ids=[memory.id for memory in told],
            )  # fmt: skip

    def explain(
        self, query: str, id: str, *, filter: str = "", limit: int = 10, profile: str | Profile | None = None
    ) -> Explanation:
        """Why a memory is, or is not, among the hits: its exact rank in every arm, what excluded it, what would help."""
        from memtui.engine.search import search as finder

        with self._connections.read() as connection:
            return finder.explain(
                connection, query, memories.get(connection, id, self._clock()), filter=filter, limit=limit,
                profile=finder.find_profile(connection, profile or self._options.profile),
                embedder=self._query_embedder(connection), now=self._clock(),
            )  # fmt: skip

    def _query_embedder(self, connection: apsw.Connection) -> Embedder | str:
        """The embedder for queries, or the reason why there are no vectors to compare with."""
        if self._options.embedder == "off":
            return 'vectors are switched off (embedder = "off")'
        space = vectors.space(connection)
        if space is None:
            return "no memory has a vector yet"
        try:
            embedder = self._embedder()
        except DegradedError as error:
            return error.message
        if embedder is None or space != (embedder.model_id, embedder.dims):
            return f"the vectors in this file are from another model ({space.model_id})"
        return embedder

    def _embedder(self) -> Embedder | None:
        if self._options.embedder == "off":
            return None
        with self._embedder_lock:
            if self._embedder_made is None:
                self._embedder_made = OfflineEmbedder()
            return self._embedder_made

    # From conversations to facts

    def pending_sessions(self, exclude: str | None = None) -> list[Session]:
        """Sessions with turns that no consolidation has read yet, oldest first; ``exclude`` is usually the current one."""
        return self.upkeep.pending_sessions(exclude)

    async def consolidate(self, session_id: str | None = None, *, preview: bool = False) -> Consolidation:
        """Turn a session into facts and observations; without an id all that are over and pending.

        One undoable operation. With ``preview`` nothing is written: each outcome carries its plan, which
        ``upkeep.apply`` writes. A session that fails stays pending and is reported. Raises NotFoundError
        for an unknown session. ``upkeep`` has progress, cancelling and the review of what came of it.
        """
        return await self.upkeep.consolidate(session_id, preview=preview)

    # The night shift

    @cached_property
    def upkeep(self) -> Upkeep:
        """Consolidation, the review, and what a person decides there."""
        # A tenth of a second of patterns, which looking at memories does not need.
        from memtui.engine.upkeep import Upkeep

        return Upkeep(self._connections, self._clock, self._options, lambda: self.actor, self._tell_of)

    @cached_property
    def scheduler(self) -> Scheduler:
        """The maintenance jobs. They run by themselves once it is started (``scheduler.start()``)."""
        from memtui.engine.night import make_scheduler

        return make_scheduler(
            self._connections, self._clock, self._options, index=self._indexer.run, enricher=self._enricher,
            extractor=self.upkeep.extractor, on_change=self._tell_of,
            on_run=lambda run: self._call("job_finished", Changes(tables=frozenset({"job_runs"}))),
        )  # fmt: skip

    @cached_property
    def backups(self) -> Backups:
        """Backups of the file, and the way back to one of them."""
        return Backups(self._connections, self._clock, on_restore=self._restored)

    @cached_property
    def _enricher(self) -> Enricher:
        from memtui.engine.maintain.enrich import Enricher

        return Enricher(self._connections, self._clock, self._options, self._indexer.mentions)

    @property
    def accurate_ner_available(self) -> bool:
        """Whether spaCy or a language model can find the names that the quick rules miss."""
        return not self._enricher.unavailable()

    def memories_for_enrichment(
        self, kinds: Sequence[Kind] = ("fact", "episode"), *, max_entities: int = 2, limit: int = 50
    ) -> list[MemoryRecord]:
        """Active memories with at most so many entities that no model has read for names yet, the newest first."""
        return self._enricher.waiting(kinds, max_entities, limit)

    async def enrich(self, id: str) -> int:
        """Read a memory again for the names in it, as accurately as can be; returns the links gained.

        Raises DegradedError when there is neither spaCy nor a language model.
        """
        if self.readonly:
            raise ReadOnlyError(
                "This memory is open for reading only.", "Open it without --readonly to enrich it."
            )
        return await self._enricher.enrich([self.get(id)])

    def _restored(self) -> None:
        """The file holds something else now: nothing that was known about it counts."""
        self._indexer.forget_names()
        self._call("changed", Changes(tables=frozenset(COVERED)))
        self._wake_indexer()

    # State

    def stats(self) -> Stats:
        """Counts of what is remembered and of what is still being prepared; sizes in bytes, times in Unix seconds."""
        with self._connections.read() as connection:
            return stats.stats(
                connection, self.path, unavailable=self._connections.vectors_missing or self._indexer.degraded
            )

    def index_pending(self, limit: int | None = None) -> int:
        """Make the links and vectors that are still missing, now; returns how many vectors were made."""
        if self.readonly:
            raise ReadOnlyError(
                "This memory is open for reading only.", "Open it without --readonly to index it."
            )
        return self._indexer.run(limit)

    def check(self, *, deep: bool = False, repair: bool = False) -> CheckReport:
        """Verify the invariants of the file; ``repair`` rebuilds indexes (after a backup), never base rows."""
        return check.check(self._connections, self._clock, deep=deep, repair=repair)

    def import_paths(
        self,
        paths: Sequence[str | Path],
        *,
        format: str | None = None,
        dry_run: bool = False,
        progress: Callable[[ImportProgress], None] | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> ImportReport:
        """Import conversations from files, folders and zips as one undoable operation; see ``feeds``."""
        if self.readonly and not dry_run:
            raise ReadOnlyError(
                "This memory is open for reading only.", "Open it without --readonly to import into it."
            )
        from memtui.engine.feeds import importer

        def back_up() -> None:
            if self.next_undo() is not None:  # an empty memory needs none
                self.backups.ensure("import")

        report = importer.import_paths(
            self._connections, [Path(path) for path in paths], format=format, dry_run=dry_run, actor=self.actor,
            clock=self._clock, options=self._options, progress=progress, cancelled=cancelled, before_write=back_up,
        )  # fmt: skip
        if report.operation is not None:
            self._tell(report.operation.op_id)
        return report

    def data_version(self) -> int:
        """A number that changes when another process has written the file; asked now and then by whoever shows it."""
        version = self._connections.data_version()
        if version != self._seen_version:
            self._seen_version = version
            self._wake_indexer()
        return version

    def subscribe(self, event: Event, callback: Callable[[Changes], None]) -> Callable[[], None]:
        """Be told of ``changed`` (after each commit of this object), ``progress`` (links and vectors made) or
        ``job_finished`` (a maintenance job of this process ended: see ``scheduler.runs``).

        The callback runs in the thread that wrote; it must be quick. Returns the function that ends it.
        """
        if event not in self._subscribers:
            raise InputError(f"There is no event {event!r}.", f"Events: {', '.join(self._subscribers)}.")
        self._subscribers[event].append(callback)
        return lambda: self._subscribers[event].remove(callback)

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

    def _call(self, event: Event, changes: Changes) -> None:
        for callback in list(self._subscribers[event]):
            callback(changes)

    def _wake_indexer(self) -> None:
        if self._options.background and not self.readonly:
            self._indexer.wake()

    def _tell_of(self, operation: Operation) -> None:
        self._tell(operation.op_id)

    def _progressed(self) -> None:
        self._call("progress", Changes(tables=frozenset({"memory_entities", "embeddings"})))
