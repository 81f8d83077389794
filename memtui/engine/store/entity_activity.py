"""Number of an entity's memories in each month."""

from __future__ import annotations

from typing import Any

import apsw

from .entity_lists import GROUP


def months(connection: apsw.Connection, eid: int) -> list[tuple[int, int, int]]:
    """(year, month, active memories), in local time, the oldest first; months without any are left out."""
    rows: Any = connection.execute(
        f"""
        SELECT strftime('%Y-%m', at, 'unixepoch', 'localtime') AS month, count(DISTINCT rid)
        FROM memory_entities WHERE eid IN {GROUP.format(eid="?1")} AND at IS NOT NULL
        GROUP BY month ORDER BY month
        """,
        (eid,),
    )
    return [(int(month[:-3]), int(month[-2:]), number) for month, number in rows if month]
