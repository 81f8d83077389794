"""Rows of ``job_runs``: each run of a maintenance job, and the key that lets one happen once.

``period`` is the local date, ISO week or time slot that a run stands for; of these at most one run is
``done`` (a unique index holds it). Runs that somebody asked for have a period ``manual:...`` of their own.
Functions over a connection; the caller owns the transaction.
"""

from __future__ import annotations

import secrets
from typing import Any

import apsw
import msgspec

from memtui.engine.errors import NotFoundError, StoreError
from memtui.engine.records import Record
from memtui.engine.records.jobs import MANUAL_PERIOD, JobReport, JobRun, RunState

from .sql import json_text, scalar

PREVIEW = MANUAL_PERIOD + "preview:"
INTERRUPTED = "interrupted: the program ended"


class RunGoneError(StoreError):
    """A run that is to be ended is not in the file, or has ended."""


class Attempts(Record):
    """How a period has gone so far: failures, when the last one ended, and whether it may be tried again."""

    failed: int
    last_failed_at: int
    interrupted: bool
    cancelled: bool


_COLUMNS = "run_id, job, period, state, started_at, finished_at, op_id, report, error"


def _run_record(row: tuple[Any, ...]) -> JobRun:
    return JobRun(
        run_id=row[0], job=row[1], period=row[2], state=row[3], started_at=row[4], finished_at=row[5],
        op_id=row[6], report=None if row[7] == "{}" else msgspec.json.decode(row[7], type=JobReport), error=row[8],
    )  # fmt: skip


def manual_period() -> str:
    """The period of a run that somebody asked for: none is ever the same."""
    return MANUAL_PERIOD + secrets.token_hex(6)


def preview_period() -> str:
    """Of what changed nothing and is kept only for what it cost; no run, as far as the timetable is concerned."""
    return PREVIEW + secrets.token_hex(6)


def is_manual(period: str) -> bool:
    return period.startswith(MANUAL_PERIOD)


def start(connection: apsw.Connection, job: str, period: str, now: int) -> JobRun:
    """Note that a run began at ``now`` (Unix seconds)."""
    connection.execute(
        "INSERT INTO job_runs(job, period, state, started_at) VALUES (?, ?, 'running', ?)", (job, period, now)
    )
    return get(connection, connection.last_insert_rowid())


def finish(
    connection: apsw.Connection,
    run: JobRun,
    state: RunState,
    now: int,
    *,
    report: JobReport | None = None,
    error: str | None = None,
) -> None:
    """End a run that ``start`` began.

    Raises apsw.ConstraintError when the period is done already, and RunGoneError when the run is not there or has
    ended: then nothing of it may stay.
    """
    op_id = report.op_id if report else None
    connection.execute(
        "UPDATE job_runs SET state = ?, finished_at = ?, op_id = ?, report = ?, error = ? "
        f"WHERE {_THIS_RUN} AND state = 'running'",
        (state, now, op_id, json_text(report) if report else "{}", error, *_run_key(run)),
    )
    if not connection.changes():
        raise _run_gone_error(run)
    if op_id is not None:
        connection.execute("UPDATE ops SET run_id = ? WHERE op_id = ?", (str(run.run_id), op_id))


def fail(
    connection: apsw.Connection, run: JobRun, now: int, error: str, report: JobReport | None = None
) -> bool:
    """Mark a run as failed, also one that has committed its end: the report and operation of that stay.

    False when the run is not there.
    """
    connection.execute(
        "UPDATE job_runs SET state = 'failed', finished_at = ?, error = ?, "
        f"report = CASE WHEN report = '{{}}' THEN ? ELSE report END WHERE {_THIS_RUN}",
        (now, error, json_text(report) if report else "{}", *_run_key(run)),
    )
    return bool(connection.changes())


def reload_run(connection: apsw.Connection, run: JobRun) -> JobRun:
    """A run that ``start`` began, as it is now. Raises RunGoneError."""
    row = connection.execute(f"SELECT {_COLUMNS} FROM job_runs WHERE {_THIS_RUN}", _run_key(run)).fetchone()
    if row is None:
        raise _run_gone_error(run)
    return _run_record(row)


# A file that was put in the place of this one may have another run of the same number.
_THIS_RUN = "run_id = ? AND job = ? AND period = ? AND started_at = ?"


def _run_key(run: JobRun) -> tuple[int, str, str, int]:
    return run.run_id, run.job, run.period, run.started_at


def _run_gone_error(run: JobRun) -> RunGoneError:
    return RunGoneError(
        f"This run of {run.job} has ended, or is not in this file.", "Look at memtui maintain."
    )


def is_done(connection: apsw.Connection, job: str, period: str, now: int) -> bool:
    """Whether the period, or a later one, is done.

    Runs from beyond ``now`` (a clock that was wrong) do not count for later periods. Dates and weeks sort as text;
    a period with a colon stands for a moment and is compared with itself only.
    """
    done = scalar(
        connection,
        f"""
        SELECT 1 FROM job_runs WHERE job = ?1 AND state = 'done' AND period NOT LIKE '{MANUAL_PERIOD}%'
          AND (period = ?2 OR (period > ?2 AND started_at <= ?3 AND instr(period, ':') = 0)) LIMIT 1
        """,
        (job, period, now),
    )
    return done is not None


def attempts_of_period(connection: apsw.Connection, job: str, period: str) -> Attempts:
    # The time and error of the last failure are in the row of the highest number, whatever the clock said.
    row: Any = connection.execute(
        """
        SELECT count(*), max(run_id), finished_at, error,
               EXISTS (SELECT 1 FROM job_runs WHERE job = ?1 AND period = ?2 AND state = 'cancelled')
        FROM job_runs WHERE job = ?1 AND period = ?2 AND state = 'failed'
        """,
        (job, period),
    ).fetchone()
    return Attempts(
        failed=row[0], last_failed_at=row[2] or 0, interrupted=row[3] == INTERRUPTED, cancelled=bool(row[4])
    )


def failures_in_a_row(connection: apsw.Connection, job: str) -> Attempts:
    """The same for a job without fixed times: what failed since it last went well."""
    row: Any = connection.execute(
        f"""
        SELECT count(*), max(run_id), finished_at, error FROM job_runs
        WHERE job = ?1 AND state = 'failed' AND period NOT LIKE '{MANUAL_PERIOD}%'
          AND run_id > coalesce((SELECT max(run_id) FROM job_runs WHERE job = ?1 AND state IN ('done', 'cancelled')
            AND period NOT LIKE '{PREVIEW}%'), 0)
        """,
        (job,),
    ).fetchone()
    return Attempts(
        failed=row[0], last_failed_at=row[2] or 0, interrupted=row[3] == INTERRUPTED, cancelled=False
    )


def end_dead_runs(connection: apsw.Connection, now: int) -> None:
    """Mark runs whose process has ended as failed; the caller holds the lock of running."""
    connection.execute(
        "UPDATE job_runs SET state = 'failed', finished_at = ?, error = ? WHERE state = 'running'",
        (now, INTERRUPTED),
    )


def get(connection: apsw.Connection, run_id: int) -> JobRun:
    """Raises NotFoundError."""
    row = connection.execute(f"SELECT {_COLUMNS} FROM job_runs WHERE run_id = ?", (run_id,)).fetchone()
    if row is None:
        raise NotFoundError(f"There is no run {run_id}.", "memtui maintain lists the runs.")
    return _run_record(row)


def page(connection: apsw.Connection, *, job: str | None, limit: int) -> list[JobRun]:
    """Runs (of one job), the latest first."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM job_runs WHERE ?1 IS NULL OR job = ?1 ORDER BY run_id DESC LIMIT ?2",
        (job, limit),
    )
    return [_run_record(row) for row in rows]


def latest(connection: apsw.Connection, job: str) -> JobRun | None:
    """The latest run of a job that has ended; a preview is none."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM job_runs WHERE job = ? AND state <> 'running' AND period NOT LIKE '{PREVIEW}%' "
        "ORDER BY run_id DESC LIMIT 1",
        (job,),
    ).fetchone()
    return _run_record(row) if row else None


def running(connection: apsw.Connection) -> JobRun | None:
    """The run that is marked as running: alive, or left by a process that was killed."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM job_runs WHERE state = 'running' ORDER BY run_id DESC LIMIT 1"
    ).fetchone()
    return _run_record(row) if row else None


def prune(connection: apsw.Connection, before: int) -> int:
    """Forget runs that ended before a time; returns how many."""
    connection.execute("DELETE FROM job_runs WHERE state <> 'running' AND finished_at < ?", (before,))
    return connection.changes()
