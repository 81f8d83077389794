"""The retention job moves old turns to the Trash once their facts are drawn. Off unless a number of days is set.

A turn is old when it was said, recorded and last brought back that long ago. It stays while its session waits to be
consolidated, and while a pinned or confirmed memory stands on it. In one local date no more go than the cap.
"""

from __future__ import annotations

import apsw

from memtui.engine.clock import local_midnight, local_time
from memtui.engine.records import Options, Record
from memtui.engine.store import fading, history
from memtui.engine.wording import plural

from . import job
from .job import JobReport, Task

KIND = "retention"
OFF = "retention.days is 0"
_COUNTS_KEY = "aged_by_date"
_DAY = 86_400
_IDS_REPORTED = 1_000


class AgingPlan(Record):
    """What a run on the local ``date`` would do: ``aging`` (rids) go, the oldest first; ``waiting`` are beyond the cap.

    ``kept``: how many are as old and stay, because something pinned or confirmed stands on them.
    """

    date: str
    before: int
    aging: tuple[int, ...]
    waiting: int
    kept: int
    cap: int


def plan_aging(connection: apsw.Connection, options: Options, now: float, task: Task) -> AgingPlan:
    """What a run at ``now`` would do."""
    date = local_time(now, task.zone).date().isoformat()
    before = local_midnight(now, task.zone) - options.retention_days * _DAY
    used = job.used_today(connection, _COUNTS_KEY, date)
    cap = max(options.retention_cap, int(options.fade_share * (fading.count_turns(connection) + used)))
    aged = fading.aged_turns(connection, before)
    allowed = max(0, cap - used)
    return AgingPlan(
        date=date, before=before, aging=tuple(aged.rids[:allowed]), waiting=len(aged.rids[allowed:]), kept=aged.kept, cap=cap
    )  # fmt: skip


def disabling_setting(options: Options) -> str:
    """The setting that switches it off; "" while it is on."""
    return OFF if options.retention_days < 1 else ""


def run_retention(task: Task) -> JobReport:
    """Move old turns to the Trash: the rows, the operation and the end of the run are one commit."""
    if task.options.retention_days < 1:
        return JobReport(summary=f"turns are kept: {OFF}")
    with task.connections.read() as connection:
        planned = plan_aging(connection, task.options, task.now, task)
        if task.dry_run:
            ids = fading.ids_of(connection, planned.aging[:_IDS_REPORTED])
            return _make_report(planned, len(planned.aging), ids, "would move")
    with history.operation(task.connections, task.clock, task.actor, KIND, "Retention") as op:
        allowed = max(0, planned.cap - job.used_today(op.connection, _COUNTS_KEY, planned.date))
        ended = fading.trash_old_turns(op.connection, planned.aging[:allowed], planned.before, int(task.now))
        if ended:
            job.count_today(op.connection, _COUNTS_KEY, planned.date, len(ended))
        report = _make_report(
            planned, len(ended), ended[:_IDS_REPORTED], "moved", op.op_id if ended else None
        )
        op.label = f"Moved {plural(len(ended), 'turn')} older than {plural(task.options.retention_days, 'day')} to the Trash"
        task.finish(op.connection, report)
    return report


def _make_report(
    planned: AgingPlan, done: int, ids: tuple[str, ...], verb: str, op_id: int | None = None
) -> JobReport:
    summary = f"{verb} {plural(done, 'old turn')} to the Trash" if done else "no turn is old enough"
    notes = []
    if planned.waiting:
        notes.append(f"{planned.waiting:,} more are as old: at most {planned.cap:,} go in a day")
    if planned.kept:
        notes.append(f"{planned.kept:,} as old stay: a pinned or confirmed memory was drawn from them")
    counts = {"turns": done, "waiting": planned.waiting, "kept": planned.kept, "cap": planned.cap}
    return JobReport(summary=summary, counts=counts, ids=ids, notes=tuple(notes), op_id=op_id)
