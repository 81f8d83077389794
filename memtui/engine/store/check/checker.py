"""``memtui check``: run every invariant; on request rebuild what is derived."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from memtui.engine.clock import Clock
from memtui.engine.errors import CorruptFileError, ReadOnlyError
from memtui.engine.records import CheckReport, Finding, Repair
from memtui.engine.store.backup import back_up
from memtui.engine.store.connections import Connections
from memtui.engine.store.repair import repair as repair_all

from . import CHECKS, CheckContext

# A table that was missing is filled in the next round.
_ROUNDS = 3


def check(connections: Connections, clock: Clock, *, deep: bool = False, repair: bool = False) -> CheckReport:
    """Verify the file. ``deep`` also reads every page and text; ``repair`` backs up, then rebuilds indexes.

    Base rows are never changed. A check that cannot read the file at all is a finding, not an exception.
    """
    started = time.perf_counter()
    if repair and connections.readonly:
        raise ReadOnlyError(
            "This memory is open for reading only.", "Open it without --readonly to repair it."
        )
    findings = _run_checks(connections, clock, deep)
    repaired: list[tuple[Repair, ...]] = []
    saved: Path | None = None
    broken = _repairable_checks(findings) if repair else set()
    while broken and len(repaired) < _ROUNDS:
        saved = saved or _back_up(connections)
        repaired.append(repair_all(connections, broken))
        findings = _run_checks(connections, clock, deep)
        broken = _repairable_checks(findings) - broken
    return CheckReport(
        ok=not any(finding.severity == "error" for finding in findings),
        checks=tuple(CHECKS),
        findings=tuple(findings),
        repaired=tuple(mended for round in repaired for mended in round),
        seconds=time.perf_counter() - started,
        backup="" if saved is None else str(saved),
    )


def _repairable_checks(findings: list[Finding]) -> set[str]:
    return {finding.check for finding in findings if finding.repairable}


@contextmanager
def _open_snapshot(connections: Connections) -> Iterator[apsw.Connection]:
    """A connection that sees one state. The full-text check is an INSERT, so it is the writer's if there is one."""
    if connections.readonly:
        with connections.read() as connection:
            yield connection
        return
    with connections.exclusive() as connection:
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
        finally:
            # Nothing was written, and a damaged file might refuse the commit.
            if connection.in_transaction:
                connection.execute("ROLLBACK")


def _run_checks(connections: Connections, clock: Clock, deep: bool) -> list[Finding]:
    findings: list[Finding] = []
    with _open_snapshot(connections) as connection:
        context = CheckContext(connection, connections, clock(), deep)
        for name, run in CHECKS.items():
            try:
                findings += run(context)
            except (apsw.CorruptError, apsw.NotADBError) as error:
                findings.append(_unreadable_finding(name, f"the file is damaged: {error}"))
                break
            except UnicodeDecodeError:
                findings.append(_unreadable_finding(name, "a text of the file is damaged: it is no UTF-8"))
            except apsw.SQLError as error:
                # Where a table or column is gone, the check of the schema has said so.
                if not any(finding.check == "schema" for finding in findings):
                    findings.append(_unreadable_finding(name, f"cannot be checked: {error}"))
    return findings


def _unreadable_finding(check: str, message: str) -> Finding:
    return Finding(
        check=check, severity="error", message=message, repairable=False,
        remedy="Restore a backup from before: memtui backup list shows them.",
    )  # fmt: skip


def _back_up(connections: Connections) -> Path | None:
    if connections.path is None:
        return None
    with connections.exclusive() as connection:
        try:
            return back_up(connection, connections.path, reason="repair", before_repair=True)
        except CorruptFileError as error:
            raise CorruptFileError(
                f"Nothing was repaired: {error.message}",
                "Restore an earlier backup; the file was left as it is.",
            ) from error
