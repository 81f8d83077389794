"""What agents put in the place of facts, until the person has seen it: their text is in force, so it comes first in Review."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

import apsw

from memtui.engine.memories import predecessors
from memtui.engine.records import MemoryRecord, Record
from memtui.engine.store import memories, proposals, replacements

KIND = "agent_change"
_MOST = 300
_LATEST = f"""
    SELECT {memories.COLUMNS} FROM memories m INDEXED BY notes_by_time
    WHERE m.kind <> 'episode' AND m.valid_until IS NULL AND m.confirmed_at IS NULL AND m.attributes <> '{{}}'
        AND json_type(m.attributes, '$.supersedes') IN ('text', 'array')
    ORDER BY m.event_time DESC, m.rid DESC LIMIT {_MOST}"""


class AgentChange(Record):
    """``new`` stands in the place of ``olds``, by an agent's word alone, since ``at``. ``id``: of its card."""

    id: str
    agent: str
    at: int
    new: MemoryRecord
    olds: tuple[MemoryRecord, ...]

    @property
    def sentence(self) -> str:
        """``cursor changed this on 28 Nov 2026, and you were not asked``."""
        day = date.fromtimestamp(self.at)
        return f"{self.agent} changed this on {day.day} {day:%b %Y}, and you were not asked"


def waiting_changes(connection: apsw.Connection, now: float) -> Iterable[AgentChange]:
    """Those that the person has neither kept, confirmed nor put off, the latest first."""
    records = [memories.memory_record(row, now) for row in connection.execute(_LATEST).fetchall()]
    authors = {one.new: one for one in replacements.find_unasked(connection, [one.id for one in records])}
    waiting = {
        one.id: proposals.identity(KIND, one.id)
        for one in records
        if one.id in authors and authors[one.id].actor.startswith("agent:")
    }
    settled = proposals.settled_ids(connection, list(waiting.values()), now)
    for new in records:
        if new.id not in waiting or waiting[new.id] in settled:
            continue
        olds = tuple(one for one in predecessors.standing_again(connection, new, now) if not one.active)
        if olds:
            by = authors[new.id]
            name = by.actor.removeprefix("agent:") or "an agent"
            yield AgentChange(id=waiting[new.id], agent=name, at=by.at, new=new, olds=olds)
