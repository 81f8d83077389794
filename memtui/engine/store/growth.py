"""Growth of a memory: the numbers of notes and turns at even steps from its first row until now."""

from __future__ import annotations

from typing import Any

import apsw

from memtui.engine.records.status import Growth


def growth(connection: apsw.Connection, now: float, steps: int) -> Growth:
    """Counted by when rows came in and when they ended, in one pass over the table."""
    row: Any = connection.execute("SELECT min(created_at) FROM memories").fetchone()
    if row[0] is None:
        return Growth(start=int(now), end=int(now), facts=(), turns=())
    start, end = int(row[0]), max(int(now), int(row[0]) + steps)
    changes = {False: [0] * steps, True: [0] * steps}
    step = f"max(0, min({steps - 1}, ({{}} - {start}) * {steps} / {end - start + 1}))"
    rows: Any = connection.execute(
        f"""
        SELECT kind = 'episode', {step.format("created_at")} AS step, count(*) FROM memories GROUP BY 1, 2
        UNION ALL
        SELECT kind = 'episode', {step.format("valid_until")} AS step, -count(*) FROM memories
        WHERE valid_until IS NOT NULL GROUP BY 1, 2
        """
    )
    for turns, at, count in rows:
        changes[bool(turns)][at] += count
    return Growth(start=start, end=end, facts=_sums(changes[False]), turns=_sums(changes[True]))


def _sums(changes: list[int]) -> tuple[int, ...]:
    sums, total = [], 0
    for change in changes:
        total += change
        sums.append(total)
    return tuple(sums)
