"""``memtui check``: run every invariant; on request rebuild what is derived."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import apsw

from memtui.engine.clock import Clock
from memtui.engine.errors import CorruptFileError, ReadOnlyError
from memtui.engine.records import CheckReport, Finding

from . import cjk, full_text, triggers, vectors
from .backup import back_up
from .connection import Connections
from .invariants import CHECKS, Scene


def check(connections: Connections, clock: Clock, *, deep: bool = False, repair: bool = False) -> CheckReport:
    """Verify the file. ``deep`` also reads every page and text; ``repair`` backs up, then rebuilds indexes.

    Base rows are never changed. A check that cannot read the file at all is a finding, not an exception.
    """
    started = time.perf_counter()
    if repair and connections.readonly:
        raise ReadOnlyError(
            "This memory is open for reading only.", "Open it without --readonly to repair it."
        )
    findings = _run(connections, clock, deep)
    repaired: tuple[str, ...] = ()
    if repair and any(finding.repairable for finding in findings):
        repaired = _repair(connections, {f.check for f in findings if f.repairable})
        findings = _run(connections, clock, deep)
    return CheckReport(
        ok=not any(finding.severity == "error" for finding in findings),
        checks=tuple(CHECKS),
        findings=tuple(findings),
        repaired=repaired,
        seconds=time.perf_counter() - started,
    )


@contextmanager
def _opened(connections: Connections) -> Iterator[apsw.Connection]:
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


def _run(connections: Connections, clock: Clock, deep: bool) -> list[Finding]:
    findings: list[Finding] = []
    with _opened(connections) as connection:
        scene = Scene(connection, connections, clock(), deep)
        for name, run in CHECKS.items():
            try:
                findings += run(scene)
            except (apsw.CorruptError, apsw.NotADBError) as error:
                findings.append(
                    Finding(
                        check=name,
                        severity="error",
                        message=f"the file is damaged: {error}",
                        repairable=False,
                    )
                )
                break
    return findings


def _rebuild_text(connection: apsw.Connection) -> None:
    for table in full_text.TABLES:
        connection.execute(f"INSERT INTO {table}({table}) VALUES ('rebuild')")
    connection.execute("INSERT INTO memories_cjk(memories_cjk) VALUES ('delete-all')")
    for rid, content in connection.execute("SELECT rid, content FROM memories"):
        cjk.index(connection, rid, content)


def _rebuild_links(connection: apsw.Connection) -> None:
    connection.execute("DELETE FROM memory_links")
    connection.execute(triggers.fill_links_sql())


def _rebuild_vectors(connection: apsw.Connection) -> None:
    model = vectors.space(connection)
    if model is None:
        return
    connection.execute(
        "DELETE FROM embeddings WHERE model_id = ?1 AND "
        "(dims <> ?2 OR dtype <> 'int8' OR length(vector) <> ?2 OR vector = zeroblob(?2))",
        (model.model_id, model.dims),
    )
    connection.execute(
        "INSERT INTO index_queue(rid, text, vector) SELECT rid, 0, 1 FROM memories m WHERE rid NOT IN "
        "(SELECT rid FROM embeddings WHERE model_id = ?) AND attributes = '{}' "
        "ON CONFLICT(rid) DO UPDATE SET vector = 1",
        (model.model_id,),
    )
    vectors.rebuild(connection)
    while vectors.sync(connection):
        pass


def _recount(connection: apsw.Connection) -> None:
    at = triggers.MEMORY_AT.format(row="memory_entities")
    connection.execute(f"UPDATE memory_entities SET at = {at} WHERE at IS NOT {at}")
    connection.execute(triggers.RECOUNT_MENTIONS)
    connection.execute("DELETE FROM entity_votes")
    connection.execute(
        "INSERT INTO entity_votes(eid, type, votes) SELECT eid, vote, count(*) FROM memory_entities "
        "WHERE vote IS NOT NULL GROUP BY eid, vote"
    )


def _close_operation(connection: apsw.Connection) -> None:
    connection.execute("DELETE FROM current_op")


_REPAIRS: dict[str, Callable[[apsw.Connection], None]] = {
    "schema": triggers.install,
    "full text": _rebuild_text,
    "embeddings": _rebuild_vectors,
    "vector index": _rebuild_vectors,
    "entities": _recount,
    "links": _rebuild_links,
    "history": _close_operation,
}


def _repair(connections: Connections, broken: set[str]) -> tuple[str, ...]:
    if connections.path is not None:
        with connections.exclusive() as connection:
            try:
                back_up(connection, connections.path, reason="repair")
            except CorruptFileError as error:
                raise CorruptFileError(
                    f"Nothing was repaired: {error.message}",
                    "Restore an earlier backup; the file was left as it is.",
                ) from error
        if "permissions" in broken:
            _close_permissions(connections)
    done = [name for name in _REPAIRS if name in broken]
    with connections.write() as connection:
        for repair in dict.fromkeys(_REPAIRS[name] for name in done):
            repair(connection)
    return (*done, *(("permissions",) if "permissions" in broken else ()))


def _close_permissions(connections: Connections) -> None:
    path = connections.path
    assert path is not None
    for part in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")):
        if part.exists():
            part.chmod(0o600)
