"""Recording and curating: what a person or an agent does to memories, each verb one undoable operation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Literal

import apsw

from memtui.engine.clock import unix_seconds
from memtui.engine.curate import intake, notes, turns
from memtui.engine.curate.derive import derive
from memtui.engine.errors import InputError
from memtui.engine.records import Changes, MemoryRecord, Operation
from memtui.engine.store import consolidations, history, memories, sessions
from memtui.engine.verbs.base import Base
from memtui.engine.wording import plural, quoted

Verb = Literal["confirm", "forget", "restore", "tag"]
_DONE = {"confirm": "Confirmed", "forget": "Forgot", "restore": "Restored", "tag": "Tagged"}
_ROWS_AT_ONCE = 2_000
_ROWS_PER_TRANSACTION = 500


def outside(what: str) -> InputError:
    return InputError(
        f"This {what} would lie outside of what may be seen and written here.",
        "Nothing was written. Say it so that it belongs here, or ask the person to widen the filter.",
    )


def _bulk_label(verb: Verb, changed: int) -> str:
    return f"{_DONE[verb]} {plural(changed, 'memory')}"


class Writing(Base):
    """Turns, facts, and what is done to them."""

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
        now = int(self._clock())
        at = now if event_time is None else unix_seconds(event_time)
        turn = turns.checked(
            session_id, role, content, at,
            actor=self.actor, policy=self._options.secrets, source=source, project=project,
            claimed=claimed,
        )  # fmt: skip
        # Links are made in the background, if there is one: they would be half the time of this call.
        mentions = (
            None if self._options.background else self._indexer.mentions(turn.intake.content, role=turn.role)
        )
        identity = memories.new_id("episode")
        with self._operation("record", "Recorded a turn") as op:
            stored = sessions.of_writer(op.connection, turn.session_id, self.actor, turn.source)
            turn = turn._replace(session_id=stored)
            rid = turns.store_turn(op.connection, turn, now, identity)
            assert rid is not None  # a live turn has no source key
            if mentions is not None:
                derive(op.connection, rid, turn.intake.content, mentions, now)
            if within and not self._passes(op.connection, within)(rid):
                raise outside("turn")
            op.wrote = True
        self._announce(op)
        if self._subscribers["session_completed"]:
            self._tell_completed(turn.session_id, rid, now)
        return turns.as_record(turn, rid, identity, now)

    def _tell_completed(self, session_id: str, rid: int, now: int) -> None:
        """Who begins a conversation has left the ones before: say which of them are over and not consolidated."""
        with self._connections.read() as connection:
            if not sessions.begins_with(connection, session_id, rid):
                return
            over = consolidations.pending(connection, now, exclude=session_id, due=True)
        if over:
            told = Changes(
                tables=frozenset({"sessions_consolidations"}), sessions=tuple(one.session_id for one in over)
            )
            self._call("session_completed", told)

    def remember(
        self, content: str, *, confidence: float = 1.0, tags: Iterable[str] = (), source: str | None = None,
        project: str | None = None, within: str = "",
    ) -> MemoryRecord:  # fmt: skip
        """Store a fact and return it. What the person states is protected from decay.

        An equal active fact is reinforced instead of stored twice. ``source`` defaults to ``explicit``.
        ``within``: a filter that the fact must pass, else nothing is written; what does not pass it is not
        looked at either. Raises InputError for a text that cannot be remembered (so).
        """
        now = int(self._clock())
        with self._operation("remember", "Remembered") as op:
            rid = notes.remember(
                op.connection, content, actor=self.actor, confidence=confidence, tags=tags, source=source,
                options=self._options, now=now, project=project, within=self._passes(op.connection, within),
            )  # fmt: skip
            record = self._finish_note(op, rid, "Remembered", now, within)
        self._announce(op)
        return record

    def correct(self, id: str, new_content: str, *, within: str = "") -> MemoryRecord:
        """Replace a fact (reflection, observation) by a new text and return the new one.

        One transaction; tags, sources and protection are kept; the old one goes to the Trash as
        superseded, linked both ways. ``within``: see ``remember``. Raises InputError for an episode, a memory
        in the Trash, or an unchanged text; ProtectedError when an agent corrects what the person confirmed.
        """
        now = int(self._clock())
        with self._operation("correct", "Corrected") as op:
            old = memories.get(op.connection, id, now)
            rid = notes.correct(
                op.connection, old, new_content, actor=self.actor, options=self._options, now=now
            )
            record = self._finish_note(op, rid, "Corrected", now, within)
            op.label = f"Corrected {quoted(old.content)} to {quoted(record.content)}"
        self._announce(op)
        return record

    def _finish_note(self, op: history.Op, rid: int, verb: str, now: int, within: str) -> MemoryRecord:
        (record,) = memories.by_rid(op.connection, [rid], now)
        derive(op.connection, rid, record.content, self._indexer.mentions(record.content), now)
        if within and not self._passes(op.connection, within)(rid):
            raise outside(record.kind)
        op.label = f"{verb} {quoted(record.content)}"
        return record

    def _passes(self, connection: apsw.Connection, within: str) -> Callable[[int], bool]:
        """Whether a memory passes a filter, as far as this transaction has come."""
        if not within:
            return lambda rid: True
        from memtui.engine.search.filters import compile
        from memtui.engine.search.scope import passing, scope

        inside = scope(compile(within, self._clock(), fade_threshold=self._options.fade_threshold))
        return lambda rid: bool(passing(connection, inside, [rid]))

    def confirm(self, id: str) -> MemoryRecord:
        """Vouch for it: confidence 1.0, no decay; by the person, protected from jobs and models.

        Raises ProtectedError when an agent confirms what the person has confirmed.
        """
        return self._change_one("confirm", id)

    def forget(self, id: str) -> MemoryRecord:
        """Move a memory to the Trash; ``restore`` brings all of it back."""
        return self._change_one("forget", id)

    def restore(self, id: str) -> MemoryRecord:
        """Take a memory out of the Trash, whatever put it there.

        Raises ProtectedError when an agent brings back what the person had confirmed.
        """
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
            op.label = f"{_DONE[verb]} {quoted(memory.content)}"
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
                notes.restore(connection, memory, actor=self.actor, now=now)
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
        self._must_write("change it")
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
