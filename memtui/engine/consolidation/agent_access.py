"""What of the memory there is for an agent that consolidates, and what it may do to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import apsw

from memtui.engine.clock import Clock, local_midnight
from memtui.engine.errors import InputError, NotFoundError
from memtui.engine.records import MemoryRecord, Options, Record
from memtui.engine.search.access_scope import unknown_session
from memtui.engine.search.filters.compiler import compile_filter
from memtui.engine.search.scope import make_scope, rids_in_scope
from memtui.engine.store import consolidations, fading, memories, sessions, withheld
from memtui.engine.store.sql import scalar

from .compare import conflicts, duplicates
from .extract.protocol import MOST_FACTS, Draft

RESOLVE = "resolve"
"""The kind of operation in which an agent settles a conflict."""
_SHOWN = 60


class AgentView(Record):
    """``confined``: the filter that confines the agent now; empty: it sees all."""

    confined: Callable[[], str]
    clock: Clock
    options: Options

    @property
    def rid_condition(self) -> str:
        return self.confined()

    def visible(self, connection: apsw.Connection, also: str = "") -> duplicates.Within:
        """Picks those of some memories that it may know of."""
        within = self.rid_condition
        if not within:
            return set
        inside = make_scope(
            compile_filter(f"{within} {also}", self.clock(), fade_threshold=self.options.fade_threshold)
        )
        return lambda rids: rids_in_scope(connection, inside, rids)

    def visible_with_trash(self, connection: apsw.Connection) -> duplicates.Within:
        """With what is in the Trash: what the person took away does not come back."""
        return self.visible(connection, "is:active,trash")

    def turns(self, connection: apsw.Connection, session_id: str) -> list[MemoryRecord]:
        """The turns of a session in order. Raises NotFoundError for a session without one."""
        turns = consolidations.turns_beyond(connection, session_id, 0, self.clock())
        inside = self.visible(connection)([turn.rid for turn in turns]) - withheld.withheld_turns(connection)
        turns = [turn for turn in turns if turn.rid in inside]
        if not turns:
            raise unknown_session(
                sessions.given_name(connection, session_id) if self.rid_condition else session_id
            )
        return turns

    def count_facts(self, connection: apsw.Connection) -> int:
        """The active facts that it may know of."""
        if not self.rid_condition:
            return fading.count_facts(connection)
        rids = [
            rid
            for (rid,) in connection.execute(
                "SELECT rid FROM memories WHERE kind = 'fact' AND valid_until IS NULL"
            )
        ]
        return len(self.visible(connection)(rids))

    def fact(self, connection: apsw.Connection, id: str) -> MemoryRecord:
        """An active fact. Raises NotFoundError."""
        row = connection.execute(
            f"SELECT {memories.COLUMNS} FROM memories m WHERE m.id = ? AND m.kind = 'fact' AND m.valid_until IS NULL",
            (id,),
        ).fetchone()
        if row is None or row[0] not in self.visible(connection)([row[0]]):
            raise NotFoundError(
                f"There is no fact {id[:_SHOWN]!r}.",
                "Use the ids that save_facts_batch and detect_conflicts gave.",
            )
        return memories.memory_record(row, self.clock())


def check_batch(
    connection: apsw.Connection,
    sight: AgentView,
    session_id: str,
    drafts: Sequence[Draft],
    turns: Mapping[str, MemoryRecord],
    actor: str,
) -> None:
    """Raise InputError for a source that is no turn of the session, for a fact from two projects, or when the session
    gave too many facts: those that it may know of count."""
    unknown = sorted({source for draft in drafts for source in draft.sources if source not in turns})
    if unknown:
        raise InputError(
            f"These are not turns of this session: {', '.join(one[:40] for one in unknown[:5])}.",
            "Use the ids that get_episodes_for_consolidation gave. Nothing was saved.",
        )
    if any(len({turns[source].project for source in draft.sources}) > 1 for draft in drafts):
        raise InputError(
            "A fact cites turns of different projects.",
            "Save one fact for each project, each with its own turns. Nothing was saved.",
        )
    saved = connection.execute(
        """
        SELECT m.rid FROM memories m JOIN sessions_consolidations s ON s.session_id = m.session_id
        WHERE m.session_id = ?1 AND m.kind = 'fact' AND m.created_at >= coalesce(s.consolidated_at, 0)
          AND json_extract(m.attributes, '$.extractor') = ?2
        """,
        (session_id, actor),
    )
    mine = len(sight.visible_with_trash(connection)([rid for (rid,) in saved]))
    if mine + len(drafts) > MOST_FACTS:
        raise InputError(
            f"A session gives {MOST_FACTS} facts at most; {mine} are saved.",
            "Save only what will still matter in a year.",
        )


def count_supersedes_left(connection: apsw.Connection, sight: AgentView, actor: str, now: int) -> int:
    """How many facts an agent may still supersede today without asking, other than in the running operation.

    Facts that it is not told of raise no limit of its own.
    """
    replaced: int = scalar(
        connection,
        """
        SELECT (SELECT count(*) FROM ops WHERE actor = ?1 AND at >= ?2 AND kind = ?3
                AND op_id NOT IN (SELECT op_id FROM current_op))
             + (SELECT count(*) FROM memories m WHERE m.kind = 'fact' AND m.created_at >= ?2
                AND json_extract(m.attributes, '$.extractor') = ?1
                AND json_extract(m.attributes, '$.supersedes') IS NOT NULL)
        """,
        (actor, local_midnight(now), RESOLVE),
    )
    return max(conflicts.supersede_cap(sight.count_facts(connection)) - replaced, 0)


def replaced_before(connection: apsw.Connection, later: MemoryRecord, earlier: MemoryRecord) -> bool:
    """Whether ``later`` replaced ``earlier``, step by step."""
    seen: set[str] = set()
    at: str | None = later.id
    while at is not None and at not in seen:
        seen.add(at)
        if at == earlier.id:
            return True
        at = scalar(
            connection, "SELECT json_extract(attributes, '$.supersedes') FROM memories WHERE id = ?", (at,)
        )
    return False
