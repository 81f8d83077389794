"""What stands again when a memory is forgotten that an agent, a job or a reading put in its place.

To reject what took the place of a fact is no word against the fact. Only what the person corrected, or kept in Review,
is forgotten with all that it replaced.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw

from memtui.engine.records import MemoryRecord
from memtui.engine.store import memories, proposals, replacements
from memtui.engine.wording import plural, quote_beginning

from . import validation

# How much is quoted of what is forgotten and of what stands again, so that both are seen in a line.
_SIDE = 26
# The values that it had before it was weakened, which is its latest change of confidence.
_BEFORE_WEAKENED = """
    SELECT before ->> '$.confidence', before ->> '$.decay_rate' FROM changes
    WHERE tbl = 'memories' AND act = 'update' AND lo = ?1 AND hi = ?1
        AND (json_type(before, '$.confidence') IS NOT NULL OR json_type(before, '$.decay_rate') IS NOT NULL)
    ORDER BY seq DESC LIMIT 1"""


def standing_again(connection: apsw.Connection, memory: MemoryRecord, now: float) -> tuple[MemoryRecord, ...]:
    """What would stand again if an active memory were forgotten: of several texts of agents the one before them all."""
    if not memory.active:
        return ()
    predecessors: dict[str, MemoryRecord] = {}
    seen = {memory.id}
    ahead = [one.old for one in replacements.find_unasked(connection, [memory.id])]
    while ahead:
        old = memories.get(connection, ahead.pop(), now)
        if old.id in seen:
            continue
        seen.add(old.id)
        before = replacements.find_unasked(connection, [old.id]) if not old.active else []
        of_agents = [one.old for one in before if one.actor.startswith("agent:")]
        ahead += of_agents
        said_anew = any(one.id != old.id for one in memories.alike_notes(connection, old.content, now))
        if not of_agents and not said_anew:
            predecessors[old.id] = old
    return tuple(predecessors.values())


def quote_for(memory: MemoryRecord, standing: Sequence[MemoryRecord]) -> str:
    """What is forgotten, for a label that ends with ``again_note``: shorter where another text follows."""
    return quote_beginning(validation.open_text(memory), *([_SIDE] if standing else []))


def again_note(standing: Sequence[MemoryRecord]) -> str:
    """``; “Ada is allergic to walnuts” stands again``, to end the label of an operation with; empty where nothing does."""
    if not standing:
        return ""
    if len(standing) > 1:
        return f"; {plural(len(standing), 'memory')} stand again"
    return f"; {quote_beginning(validation.open_text(standing[0]), _SIDE)} stands again"


def bring_back(connection: apsw.Connection, memory: MemoryRecord, now: int) -> None:
    """Let what ``memory`` took the place of stand again, in the caller's operation; call it before ``memory`` is forgotten."""
    for old in standing_again(connection, memory, now):
        if old.active:
            _release(connection, memory, old)
        else:
            memories.update(
                connection, old.rid, valid_until=None, ended_by=None, reviewed_at=now, last_accessed=now
            )
        proposals.hand_over(connection, memory.id, old.id, now)


def _release(connection: apsw.Connection, memory: MemoryRecord, old: MemoryRecord) -> None:
    """What a later statement weakened is as sure as before, and nothing says that it was replaced."""
    named = memory.attributes.get("supersedes")
    others = [one for one in named if one != old.id] if isinstance(named, list) else []
    attributes = {
        key: value for key, value in memory.attributes.items() if key not in ("supersedes", "conflict_reason")
    }
    if others:
        attributes["supersedes"] = others[0] if len(others) == 1 else others
        attributes["conflict_reason"] = memory.attributes["conflict_reason"]
    memories.update(connection, memory.rid, attributes=attributes)
    row: Any = connection.execute(_BEFORE_WEAKENED, (old.rid,)).fetchone()
    if row is not None and not old.protected:
        confidence, rate = row
        memories.update(
            connection, old.rid,
            confidence=max(old.confidence, confidence or 0.0),
            decay_rate=old.decay_rate if rate is None else min(old.decay_rate, rate),
        )  # fmt: skip
