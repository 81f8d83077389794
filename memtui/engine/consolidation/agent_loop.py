"""Consolidation driven by an agent: it reads the turns of a session, saves facts, looks for conflicts, says when it is done.

The agent judges; the guards are those of any consolidation. Ids must be ones that it may see, and a fact names the turns that
say it. Numbers are capped, and what reads like an order is held back. What the person confirmed is not replaced. A session is
done only up to the turn that was read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import apsw
from msgspec.structs import replace

from memtui.engine.clock import Clock
from memtui.engine.errors import InputError
from memtui.engine.memories import validation
from memtui.engine.records import MemoryRecord, Operation, Options, Record
from memtui.engine.store import consolidations, history, memories, operations, sessions
from memtui.engine.store.connections import Connections
from memtui.engine.wording import plural

from . import apply, planner
from .agent_access import RESOLVE, AgentView, check_batch, count_supersedes_left, replaced_before
from .compare import conflicts, duplicates
from .extract.protocol import CHUNK, Draft, SavedDraft
from .plan import Plan, PlanLine

_SIMILAR = 8


class EpisodePage(Record):
    """Turns of a session that no consolidation has read yet. ``total`` of them; ``next``: the offset of the next page."""

    turns: tuple[MemoryRecord, ...]
    total: int
    next: int | None


class ConflictingFact(Record):
    """A known fact that is near the new one. ``reason``: why both cannot be true; empty where rules see no contradiction."""

    memory: MemoryRecord
    reason: str


class AgentLoop:
    """One agent's run. ``within`` gives the filter that confines it; ``tags``: what a new fact needs to pass it."""

    def __init__(
        self, connections: Connections, clock: Clock, options: Options, actor: str, on_operation: Callable[[Operation], None],
        *, within: Callable[[], str], tags: Sequence[str],
    ) -> None:  # fmt: skip
        self._connections = connections
        self._clock = clock
        self._options = options
        self._actor = actor
        self._said = on_operation
        self._sight = AgentView(confined=within, clock=clock, options=options)
        self._tags = tuple(tags)
        self._read: dict[str, set[int]] = {}
        self._done: dict[str, int] = {}

    def turns(self, session_id: str, offset: int = 0, limit: int = CHUNK) -> EpisodePage:
        """A page of what is to be read. Raises NotFoundError for a session that is not there (for this agent)."""
        with self._connections.read() as connection:
            pending = self._pending_turns(connection, session_id)
        page = pending[offset : offset + limit]
        self._read.setdefault(session_id, set()).update(turn.rid for turn in page)
        after = offset + len(page)
        return EpisodePage(
            turns=tuple(page), total=len(pending), next=after if after < len(pending) else None
        )

    def pending(self, session_id: str) -> int:
        """How many turns no consolidation has read yet; 0: the session is consolidated. Raises NotFoundError."""
        with self._connections.read() as connection:
            return len(self._pending_turns(connection, session_id))

    def save(self, session_id: str, drafts: Sequence[Draft]) -> list[SavedDraft]:
        """Store facts of a session, all or none. Raises InputError for a source that is no turn of it, or too many facts."""
        now = int(self._clock())
        with history.operation(
            self._connections, self._clock, self._actor, "consolidate", "Saved facts"
        ) as op:
            connection = op.connection
            turns = {turn.id: turn for turn in self._sight.turns(connection, session_id)}
            check_batch(connection, self._sight, session_id, drafts, turns, self._actor)
            session = sessions.get(connection, session_id)
            plan = Plan(
                session=session, through=0, fingerprint="",
                turns=len(turns), lines=(), extractor=self._actor,
            )  # fmt: skip
            known = self._sight.visible_with_trash(connection)
            supersedes_left = count_supersedes_left(connection, self._sight, self._actor, now)
            drafts = planner.as_stored(drafts, self._options.secrets)
            lines = planner.plan_lines(
                connection, drafts, turns, now, supersedes_left=supersedes_left, within=known,
                own_trust=validation.actor_trust(self._actor),
            )  # fmt: skip
            saved = [self._write_line(connection, plan, line, now, known) for line in lines]
            contents = {one.content for one in saved}
            for draft in drafts:
                gone = duplicates.same_text(
                    connection, draft.content, "fact", now, known
                ) or duplicates.find_decided(connection, draft.content, now, known)
                if draft.content in contents:
                    continue
                if gone is not None and not gone.active:
                    saved.append(
                        SavedDraft(
                            content=draft.content, outcome="dropped", reason="it was taken away before"
                        )
                    )
                elif kept := next((one for one in saved if _repeats_saved(draft, one)), None):
                    saved.append(
                        SavedDraft(
                            content=draft.content,
                            outcome="merged",
                            id=kept.id,
                            reason="the batch says it twice",
                        )
                    )
            op.label = f"Saved {plural(len(saved), 'fact')} of “{session.name}”"
        self._announce_operation(op.op_id)
        return saved

    def _write_line(
        self, connection: apsw.Connection, plan: Plan, line: PlanLine, now: int, known: duplicates.Within
    ) -> SavedDraft:
        """Raises InputError for what the agent itself could not see afterwards."""
        line = replace(line, tags=validation.normalise_tags((*line.tags, *self._tags)))
        outcome = apply.write_line(connection, plan, line, self._options, now, seen=False, within=known)
        text = validation.check_text(line.content, "fact", self._options.secrets).content
        stored = duplicates.same_text(connection, text, "fact", now, known)
        if outcome in ("added", "superseded", "conflict") and stored is None:
            raise InputError(
                "A fact of this session does not match the filter and project that this agent is limited to.",
                "Nothing was written. Ask the person to widen the filter.",
            )
        return SavedDraft(
            content=line.content, outcome=outcome, id=stored.id if stored else None, about=line.target, reason=line.reason
        )  # fmt: skip

    def finish(self, session_id: str) -> int:
        """The session is consolidated as far as its turns were read here; returns how many came in since.

        Raises InputError when turns before those were not read, or none was.
        """
        with history.operation(
            self._connections, self._clock, self._actor, "consolidate", "Marked a session as consolidated"
        ) as op:
            pending = self._pending_turns(op.connection, session_id)
            read = self._read.get(session_id, set())
            through = max((turn.rid for turn in pending if turn.rid in read), default=0)
            unread = sum(turn.rid < through and turn.rid not in read for turn in pending)
            if pending and (unread or not through):
                raise InputError(
                    f"{unread or len(pending)} turns of this session were not read yet.",
                    "Read all pages with get_episodes_for_consolidation first.",
                )
            if through:
                self._move_watermark(op.connection, session_id, through)
                op.label = f"Marked “{session_id}” as consolidated"
        self._announce_operation(op.op_id)
        return sum(turn.rid > through for turn in pending)

    def rivals(self, session_id: str, new: str) -> list[ConflictingFact]:
        """Known facts near a new one, contradictions first. Raises NotFoundError."""
        now = self._clock()
        with self._connections.read() as connection:
            self._sight.turns(connection, session_id)
            fact = self._sight.fact(connection, new)
            found = []
            for known in duplicates.find_candidates(
                connection, fact.content, now, within=self._sight.visible(connection)
            ):
                if known.id in (fact.id, fact.supersedes) or known.supersedes == fact.id:
                    continue
                standing = conflicts.relation_between(fact.content, known.content)
                found.append(
                    (
                        standing,
                        ConflictingFact(
                            memory=known, reason=standing.reason if standing.kind == "conflict" else ""
                        ),
                    )
                )
        found.sort(key=lambda one: (not one[1].reason, -one[0].score))
        return [rival for _, rival in found[:_SIMILAR]]

    def resolve(self, new: str, old: str, reason: str) -> str:
        """The new fact stands, the old one stays unsure and fades. Returns why the person is asked instead; else "".

        Raises NotFoundError, InputError for facts that cannot stand against one another.
        """
        now = int(self._clock())
        with history.operation(
            self._connections, self._clock, self._actor, RESOLVE, "Resolved a conflict"
        ) as op:
            connection = op.connection
            winner, loser = self._sight.fact(connection, new), self._sight.fact(connection, old)
            if winner.id == loser.id:
                raise InputError("A fact cannot replace itself.", "Give two different facts.")
            if winner.supersedes == loser.id:
                return ""
            if replaced_before(connection, loser, winner):
                raise InputError(
                    f"{loser.id} replaced {winner.id} before.", "A fact cannot replace its own successor."
                )
            waits = conflicts.may_supersede(
                loser, trust_of_new=winner.trust, said_at=winner.event_time, strong=True,
                supersedes_left=count_supersedes_left(connection, self._sight, self._actor, now),
            )  # fmt: skip
            if not waits and winner.supersedes is not None:
                waits = "the new one replaced another one already"
            why = validation.check_text(
                reason.strip() or "no reason given", "fact", self._options.secrets
            ).content[:500]
            if waits:
                apply.open_conflict(connection, winner.id, loser.id, f"{why} ({waits})", now)
                op.label = f"Asked the person about a conflict: “{winner.content[:60]}”"
            else:
                attributes = {**winner.attributes, "supersedes": loser.id, "conflict_reason": why}
                memories.update(connection, winner.rid, attributes=attributes)
                apply.weaken_replaced(connection, loser, winner.content)
                op.label = f"Resolved a conflict: “{winner.content[:60]}” stands"
        self._announce_operation(op.op_id)
        return waits

    def _pending_turns(self, connection: apsw.Connection, session_id: str) -> list[MemoryRecord]:
        turns = self._sight.turns(connection, session_id)
        through = max(
            sessions.get(connection, session_id).consolidated_through or 0, self._done.get(session_id, 0)
        )
        return [turn for turn in turns if turn.rid > through]

    def _move_watermark(self, connection: apsw.Connection, session_id: str, through: int) -> None:
        """Move the watermark; where it would pass turns that this agent does not see, only for this agent."""
        watermark = sessions.get(connection, session_id).consolidated_through
        passed = [
            turn.rid
            for turn in consolidations.turns_beyond(connection, session_id, watermark, self._clock())
            if turn.rid <= through
        ]
        if set(passed) <= self._sight.visible(connection)(passed):
            consolidations.mark_done(
                connection, session_id, through=through, at=int(self._clock()), read_by=self._actor
            )
        self._done[session_id] = through

    def _announce_operation(self, op_id: int) -> None:
        with self._connections.read() as connection:
            if not connection.execute("SELECT 1 FROM ops WHERE op_id = ?", (op_id,)).fetchone():
                return
            operation = operations.get(connection, op_id)
        self._said(operation)


def _repeats_saved(draft: Draft, saved: SavedDraft) -> bool:
    """Whether a fact of the batch is the same as one that was saved from it."""
    return len(list(duplicates.merge_drafts([draft, replace(draft, content=saved.content)]))) == 1
