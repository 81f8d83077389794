"""The timetable of the jobs, in the order in which they catch up: enrichment, consolidation, decay."""

from __future__ import annotations

import apsw

from memtui.engine.backups.backups import Backups
from memtui.engine.review import scan
from memtui.engine.store import consolidations, history, jobs, metadata, recalls, sessions
from memtui.engine.store.metadata import SYNC_GROUP, SYNCED_AT
from memtui.engine.store.sql import scalar
from memtui.engine.wording import plural

from . import decay, retention
from .job import SUNDAY, Daily, Job, JobReport, Task, Weekly

EVERY_SECONDS = 1_800


def backup_slot(task: Task) -> str | None:
    """The period of a scheduled backup, None while none is due."""
    backups = Backups(task.connections, task.clock, task.zone)
    if task.connections.path is None or not backups.changed_since_latest():
        return None
    latest = next(iter(backups.all()), None)
    if latest is not None and 0 <= task.now - latest.at < EVERY_SECONDS:
        return None
    return f"slot:{int(task.now) // EVERY_SECONDS}"


def run_backup(task: Task) -> JobReport:
    """Make a backup and delete those that are too many."""
    backups = Backups(task.connections, task.clock, task.zone)
    if task.connections.path is None:
        return JobReport(summary="nothing to back up", skipped="this memory lives in this process only")
    if task.dry_run:
        due = backups.changed_since_latest()
        return JobReport(summary="would make a backup" if due else "nothing changed since the latest backup")
    made = backups.make("scheduled")
    rotated = backups.rotate()
    kept = "; older ones are kept, as the file does not pass its check" if rotated.findings else ""
    return JobReport(
        summary=f"backed up {made.size / 1e6:,.1f} MB{kept}",
        counts={"bytes": made.size, "deleted": len(rotated.deleted), "findings": len(rotated.findings)},
        notes=tuple(finding.message for finding in rotated.findings),
    )


_INDEX_CHUNK = 512
_JUDGE_CHUNK, _JUDGED_AT_ONCE = 50, 1_000
_RUNS_KEPT_DAYS = 400
_SLOT_SECONDS = 60
_IDLE_SECONDS = 3_600
_LIVE_SECONDS = 86_400
SLOT = "slot:"


def _run_enrichment(task: Task) -> JobReport:
    return task.services.enrich(task)


def _run_reflection(task: Task) -> JobReport:
    return task.services.reflect(task)


def _run_consolidation(task: Task) -> JobReport:
    """All sessions that are due, or the one that just ended. Each is done with its own commit."""
    session_id = None
    if task.period.startswith(SLOT):
        session_id = _latest_ended_session(task)
        if session_id is None:
            return JobReport(summary="no session waits")
    consolidation = task.services.consolidate(
        session_id,
        preview=task.dry_run,
        progress=lambda done, total, name: task.progress(done, total),
        cancelled=task.cancelled,
        spending=task.spending,
    )
    if not consolidation.outcomes:
        return JobReport(summary="no session waits")
    facts, observations = consolidation.total("added"), consolidation.total("observations")
    done = sum(outcome.state in ("done", "preview", "nothing") for outcome in consolidation.outcomes)
    would = "would consolidate" if task.dry_run else "consolidated"
    counts = {
        "sessions": done, "facts": facts, "observations": observations, "reinforced": consolidation.total("reinforced"),
        "superseded": consolidation.total("superseded"), "failed": len(consolidation.failed),
        "to_review": consolidation.total("conflicts") + consolidation.total("quarantined"),
    }  # fmt: skip
    return JobReport(
        summary=f"{would} {plural(done, 'session')}: {plural(facts, 'fact')}, {plural(observations, 'observation')}",
        counts=counts,
        notes=consolidation.notes,
        op_id=consolidation.operation.op_id if consolidation.operation else None,
    )


def _ended_session_period(task: Task) -> str | None:
    """A conversation of today does not wait for the night once it has ended; what was imported does."""
    if _latest_ended_session(task) is None:
        return None
    with task.connections.read() as connection:
        latest = jobs.latest(connection, "consolidation")
    idle = latest is not None and latest.report is not None and not latest.report.counts.get("sessions")
    if latest is not None and idle and 0 <= task.now - latest.started_at < _IDLE_SECONDS:
        return None  # the last run got nowhere: the budget is spent, say
    return f"{SLOT}{int(task.now) // _SLOT_SECONDS}"


def _latest_ended_session(task: Task) -> str | None:
    """The latest session that is over, pending and of the last day."""
    with task.connections.read() as connection:
        recent = scalar(
            connection,
            f"SELECT 1 FROM sessions_consolidations s WHERE s.last_seen_at > ? AND {sessions.PENDING} LIMIT 1",
            (task.now - _LIVE_SECONDS,),
        )
        # Asked at every look: counting the turns of ten thousand imported sessions would not be.
        due = consolidations.pending_sessions(connection, task.now, due=True) if recent else []
    return next((s.session_id for s in reversed(due) if task.now - s.last_seen_at < _LIVE_SECONDS), None)


def _run_indexing(task: Task) -> JobReport:
    """Links and vectors that no program has made yet; then what Review will show of the notes that came since."""
    with task.connections.read() as connection:
        waiting = _count_queued(task, connection)
    if task.dry_run:
        return JobReport(summary=f"would index {plural(waiting, 'memory')}")
    made, pending = 0, waiting
    while pending and not task.cancelled():
        made += task.services.index(_INDEX_CHUNK)
        with task.connections.read() as connection:
            before, pending = pending, _count_queued(task, connection)
        task.progress(max(0, waiting - pending), waiting)
        if pending >= before:
            break  # what is left cannot be done now: no embedder
    _scan_new_notes(task)
    return JobReport(
        summary=f"indexed {plural(waiting - pending, 'memory')}",
        counts={"vectors": made, "left": pending},
    )


def _scan_new_notes(task: Task) -> None:
    for _ in range(_JUDGED_AT_ONCE // _JUDGE_CHUNK):
        with task.connections.read() as connection:
            if task.cancelled() or not scan.has_unscanned(connection):
                return
            scanned = scan.scan_next(connection, scan.stored_result(connection), task.now, _JUDGE_CHUNK)
        with task.connections.write() as connection:
            scan.save_progress(connection, scanned)


def _index_period(task: Task) -> str | None:
    with task.connections.read() as connection:
        queued = scalar(connection, f"SELECT 1 FROM index_queue WHERE {_queue_condition(task)} LIMIT 1")
        return SLOT if queued or scan.has_unscanned(connection) else None


def _count_queued(task: Task, connection: apsw.Connection) -> int:
    return int(scalar(connection, f"SELECT count(*) FROM index_queue WHERE {_queue_condition(task)}"))


def _queue_condition(task: Task) -> str:
    """What of the queue is to be done. Without an embedder vectors stay in it for the day when there is one."""
    return "text = 1" if task.options.embedder == "off" else "text = 1 OR vector = 1"


def _sync_slot(task: Task) -> str | None:
    """The period of a sync, for a memory that is in a group of devices; None while the last one is not a minute old."""
    with task.connections.read() as connection:
        at = metadata.get(connection, SYNCED_AT) if metadata.get(connection, SYNC_GROUP) else None
    if at is None or 0 <= task.now - int(at) < _SLOT_SECONDS:
        return None
    return f"{SLOT}{int(task.now) // _SLOT_SECONDS}"


def _run_sync(task: Task) -> JobReport:
    if task.dry_run:
        return JobReport(summary="would send what changed here, and merge what other devices sent")
    return task.services.sync(task)


def _prune_history(task: Task) -> JobReport:
    """Operations, recalls and runs that are older than they are kept."""
    if task.dry_run:
        return JobReport(summary="would forget operations, recalls and runs beyond their age")
    operations = history.forget_old_operations(task.connections, task.now)
    with task.connections.write() as connection:
        pruned_recalls = recalls.forget_old_recalls(connection, int(task.now))
        runs = jobs.prune(connection, int(task.now) - _RUNS_KEPT_DAYS * 86_400)
    return JobReport(
        summary=f"{plural(operations, 'old operation')} deleted",
        counts={"operations": operations, "recalls": pruned_recalls, "runs": runs},
    )


JOBS: tuple[Job, ...] = (
    Job(
        name="enrichment", label="Enrichment", schedule=Daily(2), run=_run_enrichment, backed_up=True,
        about="Finds people, places and projects that the quick rules missed, with a model.",
    ),
    Job(
        name="consolidation", label="Consolidation", schedule=Daily(3), run=_run_consolidation, needed=_ended_session_period,
        backed_up=True, about="Turns sessions that are over into facts and observations.",
    ),
    Job(
        name="decay", label="Decay", schedule=Daily(4), run=decay.run_decay, backed_up=True, by_the_clock=True,
        about="Moves facts that have faded to the Trash, a few a day.",
    ),
    Job(
        name="retention", label="Retention", schedule=Daily(4), run=retention.run_retention, backed_up=True, by_the_clock=True,
        off=retention.disabling_setting,
        about="Moves turns that are older than you set (retention.days) to the Trash, once their facts are drawn.",
    ),
    Job(
        name="reflection", label="Reflection", schedule=Weekly(SUNDAY, 3), run=_run_reflection, backed_up=True,
        about="Writes down once a week what the week's facts say together, with a language model.",
    ),
    Job(
        name="history", label="History", schedule=Daily(4), run=_prune_history, by_the_clock=True,
        about="Deletes operations older than 90 days or beyond 50 MB: they can no longer be undone.",
    ),
    Job(
        name="embedding", label="Indexing", run=_run_indexing, logged=False,
        about="Makes the links and vectors that are still missing, and looks for what Review should show.",
        needed=_index_period,
    ),
    Job(
        name="sync", label="Sync", run=_run_sync, needed=_sync_slot, logged=False,
        off=lambda options: "" if options.sync_auto else "sync.auto",
        about="Sends what changed here to your other devices, and merges what they sent, once memtui sync was set up.",
    ),
    Job(
        name="backup", label="Backup", run=run_backup, needed=backup_slot,
        about="Copies the file every 30 minutes if it changed, and thins out old copies.",
    ),
)  # fmt: skip
