"""The decay job moves faded facts to the Trash each night. Also the forecast of fading.

How much is left of a fact is a function of time (``confidence.py``); nothing here changes that. Pruning only
ends what is below the threshold at the beginning of the local day, the weakest first, and in one local date
never more than the cap. So it makes no difference how often, or when in the day, it runs.
"""

from __future__ import annotations

from bisect import bisect_right
from datetime import timedelta, tzinfo

import apsw

from memtui.engine.clock import local_midnight, local_time
from memtui.engine.records import Options, Record
from memtui.engine.records.jobs import FadingDay, FadingForecast
from memtui.engine.store import fading, history
from memtui.engine.wording import plural

from . import job
from .job import JobReport, Task

KIND = "decay"
_COUNTS_KEY = "faded_by_date"
_IDS_REPORTED = 1_000


class FadingPlan(Record):
    """The plan of a run on the local ``date``.

    ``fading`` go to the Trash, the weakest first. ``waiting`` are below the threshold too, but beyond the cap,
    or were brought back from an earlier run: they are for the person to decide. ``used`` of ``cap`` went today.
    """

    date: str
    moment: int
    fading: tuple[int, ...]
    waiting: tuple[int, ...]
    cap: int
    used: int


def plan_fading(
    connection: apsw.Connection, options: Options, now: float, zone: tzinfo | None = None
) -> FadingPlan:
    """What a run at ``now`` would do."""
    date = local_time(now, zone).date().isoformat()
    moment = local_midnight(now, zone)
    used = job.used_today(connection, _COUNTS_KEY, date)
    cap = max(options.fade_cap, int(options.fade_share * (fading.count_facts(connection) + used)))
    faded = fading.faded_facts(connection, options.fade_threshold, moment)
    allowed = max(0, cap - used)
    return FadingPlan(
        date=date,
        moment=moment,
        fading=tuple(faded.rids[:allowed]),
        waiting=(*faded.rids[allowed:], *faded.brought_back),
        cap=cap,
        used=used,
    )


def forecast_fading(
    connection: apsw.Connection, options: Options, now: float, days: int = 30, zone: tzinfo | None = None
) -> FadingForecast:
    """What fades on each of the next local dates, today included."""
    today = local_time(now, zone).replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    starts = [local_midnight((today + timedelta(days=n)).timestamp(), zone) for n in range(days + 1)]
    by_day: list[list[int]] = [[] for _ in range(days + 1)]
    for rid, at in fading.upcoming_fades(connection, options.fade_threshold, starts[-1]):
        by_day[bisect_right(starts, at)].append(rid)
    return FadingForecast(
        overdue=tuple(by_day[0]),
        days=tuple(
            FadingDay(date=(today + timedelta(days=n)).date().isoformat(), start=starts[n], rids=tuple(rids))
            for n, rids in enumerate(by_day[1:])
        ),
        histogram=fading.confidence_histogram(connection, now, protected=False),
        protected=fading.confidence_histogram(connection, now, protected=True),
    )


def run_decay(task: Task) -> JobReport:
    """Move what faded to the Trash: the rows, the operation and the end of the run are one commit."""
    with task.connections.read() as connection:
        planned = plan_fading(connection, task.options, task.now, task.zone)
        ids = fading.ids_of(connection, planned.fading[:_IDS_REPORTED])
    if task.dry_run:
        return _make_report(planned, len(planned.fading), ids, "would fade")
    with history.operation(task.connections, task.clock, task.actor, KIND, "Fading") as op:
        ended = _end_facts(op.connection, planned, task)
        report = _make_report(
            planned, len(ended), tuple(ended[:_IDS_REPORTED]), "faded", op.op_id if ended else None
        )
        op.label = f"Faded {plural(len(ended), 'fact')}"
        task.finish(op.connection, report)
    return report


def _end_facts(connection: apsw.Connection, planned: FadingPlan, task: Task) -> list[str]:
    """End rows within what the date still allows: another run of the date may have come between."""
    allowed = max(0, planned.cap - job.used_today(connection, _COUNTS_KEY, planned.date))
    if not planned.fading[:allowed]:
        return []
    ended = fading.trash_faded_facts(
        connection, planned.fading[:allowed], task.options.fade_threshold, planned.moment, int(task.now)
    )
    job.count_today(connection, _COUNTS_KEY, planned.date, len(ended))
    return ended


def _make_report(
    planned: FadingPlan, done: int, ids: tuple[str, ...], verb: str, op_id: int | None = None
) -> JobReport:
    summary = f"{verb} {plural(done, 'fact')}" if done else "nothing has faded"
    waiting = len(planned.waiting)
    notes = (
        (f"{waiting:,} more are fading and wait for you: at most {planned.cap:,} go in a day",)
        if waiting
        else ()
    )
    counts = {"faded": done, "waiting": waiting, "cap": planned.cap}
    return JobReport(summary=summary, counts=counts, ids=ids, notes=notes, op_id=op_id)
