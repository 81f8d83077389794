"""The status in a line, for a shell's prompt: read alone, in the time of a hook.

What Review finds by comparing memories takes too long for that. Counted is what was asked: a row waits for each.
"""

from __future__ import annotations

import apsw

from memtui.engine.clock import local_midnight
from memtui.engine.records import Status, ToldToday
from memtui.engine.store import proposals, recalls, recording_rules
from memtui.engine.store.sql import scalar

# Of memories that are gone nothing is asked any more.
_ASKED = f"""
    SELECT count(*) FROM proposals p
    WHERE (p.state = 'open' OR (p.state = 'snoozed' AND p.snoozed_until <= :now)) AND (p.kind = '{proposals.HELD}'
        OR (p.kind = '{proposals.CONFLICT}' AND 2 = (SELECT count(*) FROM memories m WHERE m.valid_until IS NULL
            AND m.id IN (json_extract(p.payload, '$.new'), json_extract(p.payload, '$.old'))))
        OR (p.kind = '{proposals.WISH}' AND EXISTS (SELECT 1 FROM memories m WHERE m.valid_until IS NULL
            AND m.id = json_extract(p.payload, '$.memory'))))
"""


def status(connection: apsw.Connection, now: float) -> Status:
    """What was asked and waits, and what was told since local midnight."""
    told, memories = recalls.told_since(connection, local_midnight(now))
    return Status(
        review=int(scalar(connection, _ASKED, {"now": int(now)})) + _drawn(connection, now),
        told=tuple(ToldToday(agent=agent, times=times, memories=number) for agent, times, number in told),
        memories=memories, pause=recording_rules.running(connection, now),
    )  # fmt: skip


def _drawn(connection: apsw.Connection, now: float) -> int:
    if not proposals.waiting(connection, proposals.DRAWN, now, limit=1):
        return 0
    from . import dependents  # what it compares with takes a while to load

    return len(dependents.waiting(connection, now))
