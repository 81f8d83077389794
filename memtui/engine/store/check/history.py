"""Checks of history: operations, job runs, and that only the person changed protected memories."""

from __future__ import annotations

from collections.abc import Iterator

from memtui.engine.records import Finding
from memtui.engine.store.history import INTERRUPTED
from memtui.engine.store.tables import COVERED
from memtui.engine.store.tombstones import UNFINISHED
from memtui.engine.wording import plural

from .findings import CheckContext, count, finding, rows

# What makes a memory what it is. Tags, evidence and marks of being read may come from others too.
_SUBSTANCE = ("content", "kind", "confidence", "decay_rate", "confirmed_at", "valid_until", "ended_by")
_TOUCHED = " OR ".join(f"json_type(c.before, '$.{column}') IS NOT NULL" for column in _SUBSTANCE)


def jobs(scene: CheckContext) -> Iterator[Finding]:
    """A scheduled job is done at most once for a period."""
    twice = rows(
        scene,
        "SELECT job || ' for ' || period || ' (' || count(*) || ' times)' FROM job_runs WHERE state = 'done' "
        "AND period NOT LIKE 'manual:%' GROUP BY job, period HAVING count(*) > 1",
    )
    if twice:
        problem = f"{plural(twice.total, 'job')} ran more than once: {', '.join(twice.ids[:3])}"
        yield finding("jobs", problem, remedy="Look at both runs in Maintenance and undo one of them (U).")
    backward = count(scene, "SELECT count(*) FROM job_runs WHERE state = 'done' AND finished_at IS NULL")
    if backward:
        yield finding("jobs", f"runs are done but never ended ({backward:,})", warning=True)


def protection(scene: CheckContext) -> Iterator[Finding]:
    """No job, model or agent changed a memory while it was confirmed, as history tells it."""
    touched = rows(
        scene,
        f"""
        SELECT DISTINCT coalesce(m.id, json_extract(c.before, '$.id'))
        FROM ops o JOIN changes c ON c.op_id = o.op_id LEFT JOIN memories m ON m.rid = c.lo
        WHERE (o.actor = 'scheduler' OR o.actor LIKE 'agent:%' OR o.kind = 'consolidate')
          AND o.undoes IS NULL AND c.tbl = 'memories'
          AND (c.act = 'delete' OR (c.act = 'update' AND ({_TOUCHED})))
          -- Confirmed then: as the next change of that column found it, else as it is now.
          AND coalesce(
              (SELECT coalesce(json_extract(n.before, '$.confirmed_at'), 0) FROM changes n
               WHERE n.tbl = 'memories' AND n.lo = c.lo AND n.seq >= c.seq AND n.act <> 'insert'
                 AND json_type(n.before, '$.confirmed_at') IS NOT NULL ORDER BY n.seq LIMIT 1),
              m.confirmed_at, 0) <> 0
        """,
    )
    if touched:
        yield finding(
            "protection", f"a job, model or agent changed confirmed memories ({touched.total:,})", touched,
            remedy="Open them: their history says what was changed, and undoes it.",
        )  # fmt: skip


def history(scene: CheckContext) -> Iterator[Finding]:
    if count(scene, "SELECT count(*) FROM current_op"):
        yield finding("history", "an operation was left open", repairable=True)
    lost = count(scene, "SELECT count(*) FROM changes WHERE op_id NOT IN (SELECT op_id FROM ops)")
    if lost:
        yield finding(
            "history", f"changes belong to no operation ({lost:,})",
            remedy="They cannot be undone one by one; nothing else is lost.",
        )  # fmt: skip
    known = ", ".join(f"'{table}'" for table in COVERED)
    odd = rows(
        scene,
        f"SELECT DISTINCT op_id FROM changes WHERE lo > hi OR tbl NOT IN ({known}) "
        "OR (act = 'insert') <> (before IS NULL) OR (before IS NOT NULL AND NOT json_valid(before)) "
        "OR (after IS NOT NULL AND NOT json_valid(after))",
    )
    if odd:
        yield finding(
            "history", f"operations have changes that cannot be read ({odd.total:,})", odd, about="operations",
            remedy="They cannot be undone; what is remembered is not concerned.",
        )  # fmt: skip
    half = rows(
        scene,
        "SELECT op_id FROM ops WHERE state = 'running' AND undoes IS NOT NULL AND label LIKE '%' || ?",
        INTERRUPTED,
    )
    if half:
        yield finding(
            "history", f"an undo or redo was interrupted half-way ({half.total:,})", half, about="operations",
            remedy="memtui undo and memtui redo finish it or take it back, as History says.",
        )  # fmt: skip
    stuck = rows(
        scene,
        "SELECT op_id FROM ops WHERE undone_by IS NOT NULL AND undone_by NOT IN (SELECT op_id FROM ops)",
    )
    if stuck:
        yield finding(
            "history", f"operations were undone by one that is not there ({stuck.total:,})", stuck, about="operations",
            remedy="They can be neither undone nor redone; what is remembered is not concerned.",
        )  # fmt: skip
    ahead = rows(scene, "SELECT op_id FROM ops WHERE at > ?", int(scene.now) + 2 * 86_400)
    if ahead:
        yield finding(
            "times", f"operations were made in the future ({ahead.total:,}): was the clock wrong?", ahead,
            about="operations", warning=True, remedy="Nothing is lost, and they can be undone.",
        )  # fmt: skip


def erase(scene: CheckContext) -> Iterator[Finding]:
    """What was to be erased for good is erased: in the pages and backups too."""
    if count(scene, "SELECT count(*) FROM memory_metadata WHERE key = ?", UNFINISHED):
        yield finding(
            "erase", "an erase was interrupted before it was proven",
            remedy="memtui erase --resume finishes it; so does E in the app.",
        )  # fmt: skip
