"""The facade: everything a program does with a memory, as plain functions on one object.

``Memory`` has the everyday verbs; the rest are namespaces (``namespaces/``), a class in a file each. Methods may be
called from any thread: writes wait for each other, reads do not wait for writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, NamedTuple, Self, TypeVar

import apsw
from msgspec.structs import replace

from memtui.engine.clock import Clock, system_clock, unix_seconds
from memtui.engine.core import Core, Event, outside_scope_error
from memtui.engine.errors import DegradedError, InputError, ReplacedFileError
from memtui.engine.memories import operations, predecessors, turns, validation
from memtui.engine.memories.index_text import index_memory
from memtui.engine.records import (
    TRUST_ORDER,
    Changes,
    Explanation,
    MemoryRecord,
    Operation,
    Options,
    Profile,
    SearchResult,
    Session,
    Stats,
    Undone,
)
from memtui.engine.store import (
    consolidations,
    file,
    history,
    memories,
    proposals,
    sessions,
    stamps,
    stats,
    undo,
    vectors,
)
from memtui.engine.store.tables import COVERED
from memtui.engine.wording import plural, quote_beginning, quoted_change

if TYPE_CHECKING:
    from memtui.engine.backups.backups import Backups
    from memtui.engine.backups.rescue import Rescue
    from memtui.engine.consolidation.plan import Consolidation
    from memtui.engine.jobs.scheduler import Scheduler
    from memtui.engine.namespaces.entities import Entities
    from memtui.engine.namespaces.files import Files
    from memtui.engine.namespaces.history import History
    from memtui.engine.namespaces.models import Models
    from memtui.engine.namespaces.observations import Observations
    from memtui.engine.namespaces.questions import Questions
    from memtui.engine.namespaces.quotas import Quotas
    from memtui.engine.namespaces.recording import RecordingControl
    from memtui.engine.namespaces.review import Review
    from memtui.engine.namespaces.saved_filters import Filters
    from memtui.engine.namespaces.scratchpad import Scratchpad
    from memtui.engine.namespaces.sessions import Sessions
    from memtui.engine.namespaces.sync import Sync
    from memtui.engine.namespaces.view import ReadQueries
    from memtui.engine.records.jobs import JobRun
    from memtui.engine.search.briefing import ContextBlock
    from memtui.engine.search.ranking import QueryEmbedder

T = TypeVar("T")
Verb = Literal["confirm", "forget", "restore", "tag", "pin", "unpin", "classify", "withhold", "allow"]
_DONE = {
    "confirm": "Confirmed", "forget": "Forgot", "restore": "Restored", "tag": "Tagged", "pin": "Pinned", "unpin": "Unpinned",
    "classify": "Set the topic or date of", "withhold": "Withheld from", "allow": "Allowed again for",
}  # fmt: skip
_ROWS_AT_ONCE = 2_000
_ROWS_PER_TRANSACTION = 500


def _bulk_label(verb: Verb, changed: int, agent: str = "") -> str:
    return f"{_verb_label(verb, agent)} {plural(changed, 'memory')}"


def _verb_label(verb: Verb, agent: str) -> str:
    """``Confirmed``; ``Withheld from codex:``, the agent first, because a narrow line cuts the text behind it."""
    return f"{_DONE[verb]} {validation.without_secrets(agent.strip())}:" if agent else _DONE[verb]


class _VerbArguments(NamedTuple):
    """What a verb is to do beside its name."""

    add: tuple[str, ...]
    remove: tuple[str, ...]
    withhold: bool
    about: operations.TopicAndDay
    agent: str = ""


class Memory:
    """A memory file, open for use; a context manager.

    ``actor`` signs every change: ``person``, ``agent:<name>``, ``scheduler`` or ``import``.
    """

    def __init__(self, core: Core) -> None:
        self._core = core
        core.on_settled_after_much = self._ask_questions

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
        """Open a memory file, created if it is not there; ``":memory:"`` for one in this process only.

        ``clock`` returns Unix seconds. Raises StoreError or one of its kin for a file that cannot be used
        (it is left as it was), InputError for a bad actor or clock.
        """
        validation.require_actor(actor)
        if clock is not None and not callable(clock):
            raise InputError(
                f"A clock is a function without arguments that returns Unix seconds, not {clock!r}.",
                "For example time.time; leave it out for the system's.",
            )
        options = options or Options()
        connections = file.open_file(path, readonly=readonly, allow_unsafe=options.allow_unsafe_fs)
        core = Core(connections, actor=actor, clock=clock or system_clock, options=options)
        if not readonly:
            stamps.know_device(connections)
            history.close_dead(connections)
            core.wake_indexer()
        return cls(core)

    @staticmethod
    def rescue(path: str | Path, *, clock: Clock | None = None) -> Rescue:
        """The backups of the memory at ``path``, and the way back to one of them, whatever the file itself is like.

        Nothing is opened: it is for a file that is damaged, foreign, empty or gone.
        """
        from memtui.engine.backups.rescue import Rescue

        return Rescue(Path(path), clock or system_clock)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Finish what runs in the background and close the file. Closing twice is fine."""
        if "jobs" in self.__dict__:
            self.jobs.stop()
        self._core.close()

    @property
    def actor(self) -> str:
        """Who signs what is changed."""
        return self._core.actor

    @actor.setter
    def actor(self, actor: str) -> None:
        validation.require_actor(actor)
        self._core.actor = actor

    def acting_as(self, actor: str) -> Memory:
        """This memory for another actor: what is written through it is signed with that name.

        Connections, vectors and the background are shared, so that one process serves many agents. It is
        closed with this one. Raises InputError for a name that cannot sign.
        """
        validation.require_actor(actor)
        return Memory(self._core.acting_as(actor))

    @property
    def path(self) -> Path | None:
        """Where the file is; None for an in-memory one."""
        return self._core.connections.path

    @property
    def readonly(self) -> bool:
        """Whether it was opened for reading only."""
        return self._core.connections.readonly

    @property
    def options(self) -> Options:
        """The options that it was opened with."""
        return self._core.options

    def data_version(self) -> int:
        """A number that changes when another process has written the file; asked now and then by whoever shows it."""
        return self._core.data_version()

    def subscribe(self, event: Event, callback: Callable[[Changes], None]) -> Callable[[], None]:
        """Subscribe to ``changed`` (after each commit of this object), ``progress`` (links and vectors made),
        ``job_finished`` (a maintenance job of this process ended: see ``jobs.runs``) or ``session_completed``
        (a new conversation was begun here, and others that are over wait for ``consolidate``: ``Changes.sessions``).

        The callback runs in the thread that wrote; it must be quick. Returns the function that ends it.
        """
        return self._core.subscribe(event, callback)

    def reopen(self) -> None:
        """Go on with the file that is at the path now, after a ReplacedFileError; subscribers hear that all changed.

        Raises StoreError and its kin for a file that cannot be used: then it may be tried again. What waits here to
        be written is the caller's to keep.
        """
        file.reopen(self._core.connections)
        if not self._core.connections.readonly:
            history.close_dead(self._core.connections)
        self._after_reopening()

    def on_current_file(self, work: Callable[[], T]) -> T:
        """Run ``work`` on the file that is at the path: one that was replaced meanwhile is opened first.

        Work that met a ReplacedFileError is done again, once. Raises what ``reopen`` raises.
        """
        if self._core.connections.replacement_problem:
            self.reopen()
        try:
            return work()
        except ReplacedFileError:
            self.reopen()
            return work()

    def _after_reopening(self, operation: Operation | None = None) -> None:
        """The file holds something else now: nothing that was known about it counts."""
        self._core.indexer.relearn_names()
        if "review" in self.__dict__:
            self.review.forget_health()
        self._core.call_subscribers(
            "changed", Changes(tables=frozenset({*COVERED, "*"}), operation=operation)
        )
        self._core.wake_indexer()

    # Recording and correcting: each is one undoable operation

    def record_turn(
        self,
        session_id: str,
        role: str,
        content: str,
        event_time: float | datetime | None = None,
        *,
        source: str | None = None,
        project: str | None = None,
        within: str = "",
        claimed: bool = False,
    ) -> MemoryRecord:
        """Record one turn of a conversation as an episode: one transaction, no model, no network.

        ``event_time``: Unix seconds or an aware datetime, now if None. Trust follows the role (user,
        assistant, tool), for other speakers the actor. A session belongs to who began it: under the same id
        another actor or ``source`` has another one, whose id the returned turn tells. ``claimed``: a model says
        that this was said; it is trusted no further than the actor, in a session apart. ``within``: see
        ``remember``. Raises InputError for empty or over-long content.
        """
        now = int(self._core.clock())
        at = now if event_time is None else unix_seconds(event_time)
        turn = turns.check_turn(
            session_id, role, content, at,
            actor=self._core.actor, policy=self._core.options.secrets, source=source, project=project,
            claimed=claimed,
        )  # fmt: skip
        # Links are made in the background, if there is one: they would be half the time of this call.
        mentions = (
            None
            if self._core.options.background
            else self._core.indexer.find_mentions(turn.intake.content, role=turn.role)
        )
        id = memories.new_id("episode")
        with self._core.change("record", "Recorded a turn", project=project) as op:
            stored = sessions.id_for_writer(op.connection, turn.session_id, self._core.actor, turn.source)
            turn = turn._replace(session_id=stored)
            rid = turns.store_turn(op.connection, turn, now, id)
            assert rid is not None  # a live turn has no source key
            if mentions is not None:
                index_memory(op.connection, rid, turn.intake.content, mentions, now)
            if within and not self._core.passes_filter(op.connection, within)(rid):
                raise outside_scope_error("turn")
            op.wrote = True
        if self._core.has_subscribers("session_completed"):
            self._announce_completed(turn.session_id, rid, now)
        return turns.as_record(turn, rid, id, now)

    def _announce_completed(self, session_id: str, rid: int, now: int) -> None:
        """Who begins a conversation has left the ones before: say which of them are over and not consolidated."""
        with self._core.connections.read() as connection:
            if not sessions.is_first_turn(connection, session_id, rid):
                return
            over = consolidations.pending_sessions(connection, now, exclude=session_id, due=True)
        if over:
            changes = Changes(
                tables=frozenset({"sessions_consolidations"}), sessions=tuple(one.session_id for one in over)
            )
            self._core.call_subscribers("session_completed", changes)

    def remember(
        self, content: str, *, confidence: float = 1.0, tags: Iterable[str] = (), source: str | None = None,
        project: str | None = None, topic: str | None = None, within: str = "",
    ) -> MemoryRecord:  # fmt: skip
        """Store a fact and return it. What the person states is protected from decay.

        An equal active fact is reinforced instead of stored twice; case, spaces and the stop at the end do not count.
        ``source`` defaults to ``explicit``; ``topic``: one of ``TOPICS``; what the person states without one gets
        the likely one. A topic that is said later is set, unless the person said one of their own fact before.
        ``within``: a filter that the fact must pass, else nothing is written; what does not pass it is not
        looked at either. Raises InputError for a text that cannot be remembered (so).
        """
        from memtui.engine.days import day_of_fact

        now = int(self._core.clock())
        about = validation.check_topic(topic)
        formal = about or self._core.topic_of(content)
        # Before others have to wait: the library that reads days takes a third of a second to load. A guess hides no day.
        day = day_of_fact(content, now, formal) if isinstance(content, str) else None
        guess = formal or self._core.guessed_topic(content)
        with self._core.change("remember", "Remembered", project=project) as op:
            rid = operations.remember(
                op.connection, content, actor=self._core.actor, confidence=confidence, tags=tags, source=source,
                options=self._core.options, now=now, project=project, topic=about, guess=guess, happens_at=day,
                within=self._core.passes_filter(op.connection, within),
            )  # fmt: skip
            return self._finish_note(op, rid, "Remembered", now, within)

    def correct(self, id: str, new_content: str, *, within: str = "") -> MemoryRecord:
        """Replace a fact (reflection, observation) by a new text and return the new one.

        One transaction; tags, sources and protection are kept; the old one goes to the Trash as
        superseded, linked both ways. ``within``: see ``remember``. Raises NotFoundError, InputError for an episode, a memory
        in the Trash, or an unchanged text; ProtectedError when an agent corrects what is up to the person: what they
        confirmed, decided about in Review, or said of somebody's health or as a rule (``review.request_change`` asks them).
        """
        now = int(self._core.clock())
        with self._core.change("correct", "Corrected", project=self._core.project_of_memory(id)) as op:
            old = memories.get(op.connection, id, now)
            rid = operations.correct(
                op.connection, old, new_content, actor=self._core.actor, options=self._core.options, now=now
            )
            record = self._finish_note(op, rid, "Corrected", now, within)
            if self._core.actor == "person":
                record = self._settle_cards(op.connection, record, now)
            self._core.ask_about_dependents(op.connection, [old.id], "corrected")
            before, after = quoted_change(validation.open_text(old), validation.open_text(record))
            op.label = f"Corrected {before} to {after}"
            op.label += self._settle_contradictions(op.connection, old, record, now)
        return record

    def _settle_contradictions(
        self, connection: apsw.Connection, old: MemoryRecord, new: MemoryRecord, now: int
    ) -> str:
        """What became of the contradictions that the old text was one side of, in words; empty where there was none."""
        open_ones = proposals.undecided_about(connection, proposals.CONFLICT, old.id)
        if not open_ones:
            return ""
        from memtui.engine.review import decisions

        return decisions.settle_corrected(connection, open_ones, old, new, self._core.actor, now)

    def _settle_cards(self, connection: apsw.Connection, new: MemoryRecord, now: int) -> MemoryRecord:
        """What the person wrote now stands, whatever became of what the old text was drawn from."""
        from memtui.engine.review import dependents

        if new.kind == "fact":
            return new
        dependents.settle_memory(connection, new, now)
        return memories.by_rid(connection, [new.rid], now)[0]

    def _finish_note(
        self, op: history.OpenOperation, rid: int, verb: str, now: int, within: str
    ) -> MemoryRecord:
        (record,) = memories.by_rid(op.connection, [rid], now)
        index_memory(
            op.connection, rid, record.content, self._core.indexer.find_mentions(record.content), now
        )
        if within and not self._core.passes_filter(op.connection, within)(rid):
            raise outside_scope_error(record.kind)
        op.label = f"{verb} {quote_beginning(validation.open_text(record))}"
        return record

    def confirm(self, id: str) -> MemoryRecord:
        """Confirm it: confidence 1.0, no decay; by the person, protected from jobs and models.

        Raises NotFoundError, ProtectedError when an agent confirms what the person has confirmed.
        """
        return self._change_memory("confirm", id)

    def forget(self, id: str, *, withhold: bool = False) -> MemoryRecord:
        """Move a memory to the Trash; ``restore`` brings all of it back.

        What an agent or a job put it in the place of stands again; what the person corrected is forgotten with it.
        ``withhold``: agents are not told the turns that it was drawn from either, until it is restored; the person's
        alone (else ProtectedError), also for one that was forgotten before. Raises NotFoundError, ProtectedError as
        ``correct``.
        """
        return self._change_memory("forget", id, withhold=withhold)

    def restore(self, id: str) -> MemoryRecord:
        """Take a memory out of the Trash, whatever put it there.

        Raises NotFoundError, ProtectedError when an agent brings back what the person had confirmed.
        """
        return self._change_memory("restore", id)

    def tag(self, id: str, *, add: Iterable[str] = (), remove: Iterable[str] = ()) -> MemoryRecord:
        """Add and remove tags; a tag is the same in any case. Raises NotFoundError."""
        return self._change_memory("tag", id, add=tuple(add), remove=tuple(remove))

    def pin(self, id: str) -> MemoryRecord:
        """Tell this fact in every context block whose filter it passes; at most the 5 pinned last.

        Raises NotFoundError, InputError for what is no active fact, ProtectedError for an agent.
        """
        return self._change_memory("pin", id)

    def unpin(self, id: str) -> MemoryRecord:
        """No longer put a fact into every context block, only where it fits the prompt.

        Raises NotFoundError, ProtectedError for an agent.
        """
        return self._change_memory("unpin", id)

    def withhold(self, id: str, agent: str) -> MemoryRecord:
        """Keep it from this agent (by the name that it signs with): nor what takes its place, nor the turns that it was
        drawn from, nor what was noted from it. Other agents still get it. Raises NotFoundError, ProtectedError for an agent.
        """
        return self._change_memory("withhold", id, agent=agent)

    def allow(self, id: str, agent: str) -> MemoryRecord:
        """Give a memory to that agent again. What is withheld with another memory stays so.

        Raises NotFoundError, ProtectedError for an agent.
        """
        return self._change_memory("allow", id, agent=agent)

    def classify(self, id: str, *, topic: str | None = None, happens: str | None = None) -> MemoryRecord:
        """Set what a fact is about (one of ``TOPICS``) and the day that it names; "none": it has none. None: as it is.

        ``happens``: ``2026-06-12``, "12 june", "next friday". How it fades follows the topic.
        Raises NotFoundError, InputError for what is no
        fact, no topic or no day.
        """
        return self._change_memory("classify", id, about=self._check_topic_and_day(topic, happens))

    def _check_topic_and_day(self, topic: str | None, happens: str | None) -> operations.TopicAndDay:
        from memtui.engine.days import parse_typed_day

        day = (
            None
            if happens is None
            else 0
            if happens == "none"
            else parse_typed_day(happens, self._core.clock())
        )
        return operations.TopicAndDay(
            topic="none" if topic == "none" else validation.check_topic(topic), happens_at=day
        )

    def _change_memory(
        self, verb: Verb, id: str, *, add: Sequence[str] = (), remove: Sequence[str] = (), withhold: bool = False,
        about: operations.TopicAndDay = operations.NOTHING, agent: str = "",
    ) -> MemoryRecord:  # fmt: skip
        now = int(self._core.clock())
        with self._core.change(verb, _DONE[verb]) as op:
            memory = memories.get(op.connection, id, now)
            op.label = f"{_verb_label(verb, agent)} {quote_beginning(validation.open_text(memory))}"
            arguments = _VerbArguments(tuple(add), tuple(remove), withhold, about, agent)
            again = self._standing_again(op.connection, verb, [memory], arguments, now)
            if again:
                op.label = f"{_DONE[verb]} {predecessors.quote_for(memory, again)}"
            self._apply_verb(op.connection, verb, memory, arguments, now)
            op.label += predecessors.again_note(again)
            if verb == "forget" and memory.active:
                self._core.ask_about_dependents(op.connection, [memory.id], "forgot")
            (record,) = memories.by_rid(op.connection, [memory.rid], now)
        return record

    def _apply_verb(
        self,
        connection: apsw.Connection,
        verb: Verb,
        memory: MemoryRecord,
        arguments: _VerbArguments,
        now: int,
    ) -> None:
        match verb:
            case "confirm":
                operations.confirm(connection, memory, actor=self._core.actor, now=now)
            case "forget":
                operations.forget(
                    connection, memory, actor=self._core.actor, now=now, withhold=arguments.withhold
                )
            case "withhold":
                operations.withhold(connection, memory, arguments.agent, actor=self._core.actor)
            case "allow":
                operations.allow(connection, memory, arguments.agent, actor=self._core.actor, now=now)
            case "restore":
                operations.restore(connection, memory, actor=self._core.actor, now=now)
            case "pin":
                operations.pin(connection, memory, actor=self._core.actor, now=now)
            case "unpin":
                operations.unpin(connection, memory, actor=self._core.actor)
            case "tag":
                operations.tag(connection, memory, add=arguments.add, remove=arguments.remove)
            case "classify":
                operations.classify(
                    connection, memory, arguments.about, actor=self._core.actor, options=self._core.options
                )

    def change_all(
        self, verb: Verb, rids: Sequence[int], *, add: Sequence[str] = (), remove: Sequence[str] = (),
        withhold: bool = False, topic: str | None = None, happens: str | None = None, agent: str = "",
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Operation | None:  # fmt: skip
        """Do one verb to many memories (by key) as one named operation; None when nothing changed.

        What the verb does not apply to (confirming an episode) is passed over. Many rows take several
        transactions; cancelled in between, what was done stays and is undoable as one. ``withhold``: see ``forget``;
        ``agent``: from which it is withheld, or which is told it again.
        """
        self._core.must_write("change it")
        now = int(self._core.clock())
        validation.normalise_tags((*add, *remove))
        arguments = _VerbArguments(
            tuple(add), tuple(remove), withhold, self._check_topic_and_day(topic, happens), agent
        )
        if len(rids) <= _ROWS_AT_ONCE:
            with self._core.change(verb, _DONE[verb]) as op:
                named = memories.by_rid(op.connection, rids, now) if verb == "forget" else []
                again = self._standing_again(op.connection, verb, named, arguments, now)
                changed = self._apply_verb_to_all(op.connection, verb, rids, arguments, now)
                self._ask_about_forgotten(op.connection, verb, rids, now)
                op.label = _bulk_label(verb, changed, agent)
                if len(rids) == 1 == changed:
                    (one,) = memories.by_rid(op.connection, rids, now)
                    op.label = f"{_verb_label(verb, agent)} {predecessors.quote_for(one, again)}"
                op.label += predecessors.again_note(again)
            return self._core.finished_operation(op)
        op_id = history.begin_long(
            self._core.connections, self._core.clock, self._core.actor, verb, _DONE[verb]
        )
        changed = 0
        try:
            for start in range(0, len(rids), _ROWS_PER_TRANSACTION):
                if cancelled():
                    break
                with (
                    history.continue_long(self._core.connections, op_id) as connection,
                    stamps.stamp_together(connection),
                ):
                    part = rids[start : start + _ROWS_PER_TRANSACTION]
                    changed += self._apply_verb_to_all(connection, verb, part, arguments, now)
            if verb == "forget":
                with history.continue_long(self._core.connections, op_id) as connection:
                    self._ask_about_forgotten(connection, verb, rids, now)
        finally:
            history.finish_long(self._core.connections, op_id, _bulk_label(verb, changed, agent))
        return self._core.announce_by_id(op_id) if changed else None

    def _standing_again(
        self, connection: apsw.Connection, verb: Verb, named: Sequence[MemoryRecord], arguments: _VerbArguments, now: int
    ) -> list[MemoryRecord]:  # fmt: skip
        if verb != "forget" or arguments.withhold:
            return []
        return [old for one in named for old in predecessors.standing_again(connection, one, now)]

    def _ask_about_forgotten(
        self, connection: apsw.Connection, verb: Verb, rids: Sequence[int], now: int
    ) -> None:
        """What was drawn from what was forgotten just now; what was in the Trash before was asked about then."""
        if verb != "forget":
            return
        gone = [one.id for one in memories.by_rid(connection, rids, now) if one.valid_until == now]
        self._core.ask_about_dependents(connection, gone, "forgot")

    def _apply_verb_to_all(
        self,
        connection: apsw.Connection,
        verb: Verb,
        rids: Sequence[int],
        arguments: _VerbArguments,
        now: int,
    ) -> int:
        """Returns how many memories were changed."""
        changed = 0
        for memory in memories.by_rid(connection, rids, now):
            before = connection.total_changes()
            with suppress(InputError):  # the verb does not apply to this one
                self._apply_verb(connection, verb, memory, arguments, now)
            changed += connection.total_changes() != before
        return changed

    def undo(self, op_id: int | None = None) -> Undone | None:
        """Take back this actor's latest operation (or the one given); None when there is nothing to undo.

        Rows that somebody changed since stay as they are and are reported in ``conflicts``. Raises
        InputError when nothing of the operation can be taken back, or it is taken back already.
        """
        return self._undo_operation(op_id, undo.latest_undoable)

    def redo(self) -> Undone | None:
        """Do again what this actor's latest undo took back; None when there is nothing to redo."""
        return self._undo_operation(None, undo.latest_redoable)

    def _undo_operation(
        self, op_id: int | None, latest: Callable[[apsw.Connection, str], int | None]
    ) -> Undone | None:
        self._core.must_write("change it")
        history.end_unfinished(self._core.connections)
        if op_id is None:
            with self._core.connections.read() as connection:
                op_id = latest(connection, self._core.actor)
            if op_id is None:
                return None
        done = undo.undo(self._core.connections, self._core.clock, self._core.actor, op_id)
        self._core.announce_by_id(done.by.op_id)
        return done

    # Searching: every answer says why

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
        preview: bool = False,
        wait: bool = True,
        alone: bool = False,
        within: str = "",
    ) -> SearchResult:
        """Find memories for a question in any words; each hit says what every retriever gave to its score.

        ``filter`` is an expression of the filter language; ``profile`` a name (``default``, ``rrf``, a saved
        one) or a Profile. An agent's search is a recall of what it finds, unless it is a ``preview``.
        Without ``wait`` no network is waited for: where the question's vector is not at hand, the vector retriever is
        ``coming``. ``alone``: rank and score as if the memory held nothing but what passes the filter, which is
        counted however long that takes. ``within``: the filter outside of which there is nothing for whoever asks:
        no caution of a hit tells of it.
        No text raises; FilterError for a bad filter, InputError for a bad limit and for what is no text.
        """
        validation.check_is_text(query, "query")
        from memtui.engine.search import search as finder

        with self._core.connections.read() as connection:
            exclude_session = self._resolve_session(connection, exclude_session)
            ranked_by, note = self._chosen_profile(connection, profile)
            filter, within = (
                self._core.agent_filter(connection, filter),
                self._core.agent_filter(connection, within),
            )
            result = finder.search_memories(
                connection, query, filter=filter, limit=limit, profile=ranked_by, profile_note=note,
                embedder=self._query_embedder(connection, None if wait else query), now=self._core.clock(),
                fade_threshold=self._core.options.fade_threshold, exclude_session=exclude_session, alone=alone,
                within=within,
            )  # fmt: skip
        if not preview:
            self._core.note_recall(query, [hit.memory for hit in result.hits], exclude_session)
        return result

    def context(
        self, prompt: str, *, session_id: str | None = None, limit: int = 12, filter: str = "",
        profile: str | Profile | None = None, alone: bool = False, project: str | None = None,
    ) -> ContextBlock:  # fmt: skip
        """The context block for an agent before it answers ``prompt``: at most ``limit`` facts, what the person said
        before where it bears on the prompt (``options.context``), the week's insight.

        ``session_id``: the conversation that is going on; what was drawn from it is not told again. ``tokens``
        are estimated. Asked by an agent it is a recall. ``alone``: see ``search``. ``project``: the agent's, whose rules are
        told first; of one that is never recorded the prompt is not kept.
        Raises FilterError for a bad filter, InputError for a bad limit and for what is no text.
        """
        validation.check_is_text(prompt, "prompt")
        from memtui.engine.search import briefing

        with self._core.connections.read() as connection:
            session_id = self._resolve_session(connection, session_id)
            block = briefing.build_block(
                connection, prompt, filter=self._core.agent_filter(connection, filter), limit=limit,
                profile=self._chosen_profile(connection, profile)[0],
                embedder=self._query_embedder(connection), now=self._core.clock(), session_id=session_id,
                fade_threshold=self._core.options.fade_threshold, alone=alone,
                turns=self._core.options.context.turns, tokens=self._core.options.context.tokens, project=project,
            )  # fmt: skip
        self._core.note_recall(prompt, block.memories, session_id, project=project)
        return block

    def _resolve_session(self, connection: apsw.Connection, session_id: str | None) -> str | None:
        """The session that is meant: an agent's own one of that id, else the one that is stored so."""
        if session_id is None or not self.actor.startswith("agent:"):
            return session_id
        return sessions.id_for_reader(connection, validation.without_secrets(session_id), self.actor)

    def note_recall(
        self, query: str, served: Sequence[MemoryRecord], session_id: str | None = None, *,
        project: str | None = None,
    ) -> None:  # fmt: skip
        """An agent (of a ``project``) was served these. It slows their fading and is logged. What a person looks at is not."""
        self._core.note_recall(query, served, session_id, project=project)

    def explain(
        self, query: str, id: str, *, filter: str = "", limit: int = 10, profile: str | Profile | None = None,
        alone: bool = False, within: str = "",
    ) -> Explanation:  # fmt: skip
        """Why a memory is, or is not, among the hits: its exact rank in every retriever, what excluded it, what would help.

        ``alone`` and ``within``: see ``search``. Raises NotFoundError, InputError for what is no text.
        """
        validation.check_is_text(query, "query")
        from memtui.engine.search.explanation import explain_place

        with self._core.connections.read() as connection:
            filter, within = (
                self._core.agent_filter(connection, filter),
                self._core.agent_filter(connection, within),
            )
            return explain_place(
                connection, query, memories.get(connection, id, self._core.clock()), filter=filter, limit=limit,
                profile=self._chosen_profile(connection, profile)[0],
                embedder=self._query_embedder(connection), now=self._core.clock(),
                fade_threshold=self._core.options.fade_threshold, alone=alone, within=within,
            )  # fmt: skip

    def _chosen_profile(
        self, connection: apsw.Connection, profile: str | Profile | None
    ) -> tuple[Profile, str]:
        """The profile asked for, else that of the settings; and what is to be noted about it."""
        from memtui.engine.search import profiles

        if profile is not None:
            return profiles.find_profile(connection, profile), ""
        return profiles.configured_profile(connection, self._core.options.profile)

    def _query_embedder(self, connection: apsw.Connection, at_hand: str | None = None) -> QueryEmbedder | str:
        """The embedder for queries, or the reason why there are no vectors to compare with.

        ``at_hand``: use what needs no waiting: no network, no loading.
        """
        if self._core.options.embedder == "off":
            return 'vectors are switched off (embedder = "off")'
        space = vectors.vector_space(connection)
        try:
            embedder = self._core.embedders.embedder_of_space(space)
        except DegradedError as error:
            return error.message.removesuffix(".")
        if space is None or embedder is None:
            missing = embedder.available() if embedder is not None else None
            return (missing or "no memory has a vector yet").removesuffix(".")
        if at_hand is not None and not embedder.at_hand(at_hand):
            from memtui.engine.search.request import COMING

            return COMING
        from memtui.engine.search.ranking import CachedVectors

        return CachedVectors(embedder, self._core.vector_cache)

    # From conversations to facts

    def pending_sessions(self, exclude: str | None = None) -> list[Session]:
        """Sessions with turns that no consolidation has read yet, oldest first; ``exclude`` is usually the current one."""
        return self.sessions.pending(exclude)

    async def consolidate(
        self,
        session_id: str | None = None,
        *,
        preview: bool = False,
        rules: bool = False,
        again: bool = False,
    ) -> Consolidation:
        """Turn a session into facts and observations; without an id all that are over and pending.

        One undoable operation. With ``preview`` nothing is written: each outcome carries its plan, which
        ``sessions.apply`` writes. A session that fails stays pending and is reported; ``rules`` reads it without the
        model that is configured. ``again``: read once more what was read before (see ``sessions.consolidate``).
        Raises NotFoundError for an unknown session. ``sessions`` has progress and cancelling, ``review`` what came of it.
        """
        return await self.sessions.consolidate(session_id, preview=preview, rules=rules, again=again)

    # Reflection

    def reflect(self, *, dry_run: bool = False) -> JobRun:
        """Have the language model sum up the last seven days, as the weekly job does; returns the run.

        ``run.report.ids`` names the reflection, ``run.op_id`` the operation to undo. Where there is none,
        ``run.report.skipped`` says why: no model, fewer than three facts, or one that is less than six days old. A model
        that fails gives a run that is ``failed``, with its ``error``. ``dry_run`` tells what would be read and asks no
        model. Raises ReadOnlyError, StoreError while another job is running.
        """
        return self.jobs.run_now("reflection", dry_run=dry_run)

    def add_reflection(
        self, content: str, *, sources: Iterable[str] = (), tags: Iterable[str] = ("weekly",)
    ) -> MemoryRecord:
        """Store a reflection that somebody else wrote, and return it. It never fades.

        ``sources``: ids of the memories that it rests on; it is trusted no further than the least trusted of them.
        One tagged ``weekly`` counts for ``reflect`` as the last one. Raises NotFoundError for a source that is not
        there, InputError for a text that cannot be remembered.
        """
        now = int(self._core.clock())
        accepted = validation.check_text(content, "reflection", self._core.options.secrets)
        wanted = validation.normalise_tags(tags)
        with self._core.change("reflect", "Added a reflection") as op:
            known = [memories.get(op.connection, id, now) for id in dict.fromkeys(sources)]
            trust = max(
                (validation.actor_trust(self._core.actor), *(one.trust for one in known)),
                key=TRUST_ORDER.index,
            )
            rid = operations.add_reflection(
                op.connection, accepted, sources=[one.id for one in known], tags=wanted, trust=trust, now=now
            )
            return self._finish_note(op, rid, "Added the reflection", now, "")

    def stats(self) -> Stats:
        """Counts of what is remembered and of what is still being prepared; sizes in bytes, times in Unix seconds."""
        unavailable = self._core.connections.vectors_missing or self._core.indexer.degraded
        switched_off = self._core.options.embedder == "off"
        with self._core.connections.read() as connection:
            found = stats.collect_stats(
                connection, self.path, no_vectors_reason="switched off" if switched_off else unavailable
            )
        # Nothing waits for what will not be made.
        return replace(found, unembedded=0) if switched_off else self.models.vector_state(found)

    # Namespaces

    @cached_property
    def view(self) -> ReadQueries:
        """Lists, details, provenance and history for people."""
        from memtui.engine.namespaces.view import ReadQueries

        return ReadQueries(self._core.connections, self._core.clock, self._core.options)

    @cached_property
    def sessions(self) -> Sessions:
        """Conversations: which wait, and what is drawn from them."""
        from memtui.engine.namespaces.sessions import Sessions

        return Sessions(self._core)

    @cached_property
    def entities(self) -> Entities:
        """Whom and what the texts name, and what is corrected about that."""
        from memtui.engine.namespaces.entities import Entities

        return Entities(self._core)

    @cached_property
    def observations(self) -> Observations:
        """Findings, insights and lessons."""
        from memtui.engine.namespaces.observations import Observations

        return Observations(self._core)

    @cached_property
    def review(self) -> Review:
        """What needs the person, and what they decide about it."""
        # A tenth of a second of patterns, which looking at memories does not need.
        from memtui.engine.namespaces.review import Review

        return Review(self._core)

    @cached_property
    def jobs(self) -> Scheduler:
        """The maintenance jobs. They run by themselves once it is started (``jobs.start()``)."""
        from memtui.engine.namespaces.jobs import make_scheduler

        return make_scheduler(
            self._core, enricher=self.models.enricher, extractor=lambda: self.sessions.extractor()
        )

    @cached_property
    def backups(self) -> Backups:
        """Backups of the file, and the way back to one of them."""
        from memtui.engine.backups.backups import Backups

        core = self._core
        return Backups(
            core.connections,
            core.clock,
            actor=core.actor,
            on_restore=self._after_reopening,
            on_take=core.announce_operation,
        )

    @cached_property
    def history(self) -> History:
        """What the memory held at a moment, and what undo would take back."""
        from memtui.engine.namespaces.history import History

        return History(self._core)

    @cached_property
    def questions(self) -> Questions:
        """Pinned questions, what they should find, and saved ways to rank."""
        from memtui.engine.namespaces.questions import Questions

        return Questions(self._core, self.explain)

    @cached_property
    def filters(self) -> Filters:
        """Saved filters, and what a filter can name here."""
        from memtui.engine.namespaces.saved_filters import Filters

        return Filters(self._core)

    @cached_property
    def quotas(self) -> Quotas:
        """How much agents may write and ask in an hour."""
        from memtui.engine.namespaces.quotas import Quotas

        return Quotas(self._core)

    @cached_property
    def recording(self) -> RecordingControl:
        """Whether what is said is recorded, and pauses in which it is not."""
        from memtui.engine.namespaces.recording import RecordingControl

        return RecordingControl(self._core)

    @cached_property
    def scratchpad(self) -> Scratchpad:
        """Keys with a text each, for what is needed at hand for a while."""
        from memtui.engine.namespaces.scratchpad import Scratchpad

        return Scratchpad(self._core)

    @cached_property
    def sync(self) -> Sync:
        """One memory on several machines."""
        from memtui.engine.namespaces.sync import Sync

        return Sync(self._core)

    @cached_property
    def models(self) -> Models:
        """Vectors and names, and the models that make them."""
        from memtui.engine.namespaces.models import Models

        return Models(self._core, lambda reason: self.backups.ensure(reason))

    @cached_property
    def files(self) -> Files:
        """Import, export, the check of the file, and erasing for good."""
        from memtui.engine.namespaces.files import Files

        return Files(self._core, lambda reason: self.backups.ensure(reason))

    def _ask_questions(self) -> None:
        if self.questions.run():
            self._core.call_subscribers("changed", Changes(tables=frozenset({"question_results"})))
