"""Operations: every change has a name, an actor and the rows it touched.

The rows are written by triggers in the writer's own transaction (triggers.py); this module opens and
closes operations, which operations.py reads back. An operation that changed nothing leaves no trace. A long one
(an import) spans many transactions and stays ``running`` in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import apsw
import msgspec

from memtui.engine.clock import Clock
from memtui.engine.errors import DiskFullError, NotRecordedError, StoreError
from memtui.engine.records import Operation, RowChange

from . import agent_usage, metadata, operations, recording_rules
from .connections import Connections
from .row_images import current_row
from .sql import scalar

KEEP_DAYS = 90
KEEP_BYTES = 50_000_000
THINNED = "history_thinned"
"""Metadata: the time (Unix seconds) up to which operations were forgotten; after it history is whole."""

INTERRUPTED = " (interrupted)"
"""The end of a label whose operation did not come to its end."""


class RestoredError(StoreError):
    """The file was restored in the middle of an operation: what it had stored is not there."""


class OpenOperation:
    """An open operation: the connection of its transaction, and its label, which may still change.

    ``wrote``: whoever knows that rows have changed may say so; else it is looked up at the end.
    """

    def __init__(self, connection: apsw.Connection, op_id: int, label: str) -> None:
        self.connection = connection
        self.op_id = op_id
        self.label = label
        self.wrote = False
        self._label = label

    @property
    def current_label(self) -> bool:
        return self.label != self._label


@contextmanager
def operation(
    connections: Connections, clock: Clock, actor: str, kind: str, label: str, *, undoes: int | None = None,
    project: str | None = None, folder: str | None = None,
) -> Iterator[OpenOperation]:  # fmt: skip
    """One operation in one transaction. Raises NotRecordedError for words that are not recorded (``recording_rules``)."""
    end_unfinished(connections)
    try:
        with connections.write() as connection:
            refused = recording_rules.refusal_of_operation(
                connection, actor, kind, clock(), project=project, folder=folder
            )
            if refused:
                raise refused
            agent_usage.count_write(connection)
            op_id = _insert_operation(connection, clock, actor, kind, label, "done", undoes)
            op = OpenOperation(connection, op_id, label)
            connection.execute("INSERT INTO current_op(one, op_id) VALUES (1, ?)", (op_id,))
            yield op
            if unwanted := recording_rules.refusal_of_words(connection, actor, kind, op_id):
                raise unwanted
            connection.execute("DELETE FROM current_op")
            if not op.wrote and not _has_changes(connection, op_id):
                connection.execute("DELETE FROM ops WHERE op_id = ?", (op_id,))
            elif op.current_label:
                connection.execute("UPDATE ops SET label = ? WHERE op_id = ?", (op.label, op_id))
    except NotRecordedError:
        with connections.write() as connection:
            recording_rules.count_refusal(connection)
        raise


def _has_changes(connection: apsw.Connection, op_id: int) -> bool:
    return scalar(connection, "SELECT 1 FROM changes WHERE op_id = ? LIMIT 1", (op_id,)) is not None


def begin_long(
    connections: Connections, clock: Clock, actor: str, kind: str, label: str, *, undoes: int | None = None
) -> int:
    """Start an operation of many transactions; ``part`` runs each of them, ``finish`` ends it."""
    end_unfinished(connections)
    token = connections.runs.acquire()
    with connections.write() as connection:
        return _insert_operation(connection, clock, actor, kind, label, "running", undoes, token)


@contextmanager
def continue_long(connections: Connections, op_id: int) -> Iterator[apsw.Connection]:
    """One transaction of a running operation. Raises RestoredError when a restore took the operation away."""
    with connections.write_in_turn() as connection:
        if not _belongs_to_process(connections, connection, op_id):
            raise RestoredError(
                "A backup was restored in the meantime, so this was stopped.",
                "Look at what is there now, and try again.",
            )
        connection.execute("INSERT INTO current_op(one, op_id) VALUES (1, ?)", (op_id,))
        yield connection
        connection.execute("DELETE FROM current_op")


@contextmanager
def reopen_latest(connections: Connections, op_id: int) -> Iterator[apsw.Connection | None]:
    """One more transaction of an operation that is done; None if another one came since, its undo for one, or it went."""
    with connections.write_in_turn() as connection:
        latest = scalar(connection, "SELECT max(op_id) FROM ops") == op_id
        if not latest or not _belongs_to_process(connections, connection, op_id):
            yield None
            return
        connection.execute("INSERT INTO current_op(one, op_id) VALUES (1, ?)", (op_id,))
        yield connection
        connection.execute("DELETE FROM current_op")


def _belongs_to_process(connections: Connections, connection: apsw.Connection, op_id: int) -> bool:
    """Whether it is there, and is the one that this process began: a restored file may have another of its number."""
    row: Any = connection.execute("SELECT run_id FROM ops WHERE op_id = ?", (op_id,)).fetchone()
    return row is not None and connections.runs.is_own_token(row[0])


def finish_long(connections: Connections, op_id: int, label: str) -> None:
    """End a running operation of this process, unless a restore took it away: then its number may be another's.

    Without room for that it is ended by the next change (``end_unfinished``).
    """
    token = None
    try:
        with connections.write() as connection:
            if _belongs_to_process(connections, connection, op_id):
                token = scalar(connection, "SELECT run_id FROM ops WHERE op_id = ?", (op_id,))
                close(connection, op_id, label)
    except DiskFullError:
        connections.unfinished[op_id] = label
        raise
    connections.unfinished.pop(op_id, None)
    connections.runs.release(token)


def end_unfinished(connections: Connections) -> None:
    """End the operations of this process that a full disk kept open."""
    for op_id, label in list(connections.unfinished.items()):
        finish_long(connections, op_id, label)


def close_dead(connections: Connections) -> int:
    """End the operations whose process died before it could, so that they can be undone; returns how many.

    An undo stays open, and is only named interrupted: the next one finishes it.
    """
    with connections.read() as connection:
        running: Any = connection.execute(
            "SELECT op_id, label, run_id, undoes FROM ops WHERE state = 'running' "
            "AND NOT (undoes IS NOT NULL AND label LIKE '%' || ?)",
            (INTERRUPTED,),
        ).fetchall()
    dead = [one for one in running if not connections.runs.is_alive(one[2])]
    for op_id, label, token, undoes in dead:
        with connections.write() as connection:
            now: Any = connection.execute(
                "SELECT state, run_id FROM ops WHERE op_id = ?", (op_id,)
            ).fetchone()
            if now == ("running", token) and undoes is None:
                close(connection, op_id, f"{label}{INTERRUPTED}")
            elif now == ("running", token):
                interrupt_undo(connection, op_id, label)
    return len(dead)


def interrupt_undo(connection: apsw.Connection, op_id: int, label: str) -> None:
    """Leave an undo open that did not come to its end; one that changed nothing leaves no trace."""
    if scalar(connection, "SELECT 1 FROM changes WHERE op_id = ? LIMIT 1", (op_id,)):
        named = f"{label.removesuffix(INTERRUPTED)}{INTERRUPTED}"
        connection.execute("UPDATE ops SET label = ? WHERE op_id = ?", (named, op_id))
    else:
        connection.execute("DELETE FROM ops WHERE op_id = ?", (op_id,))


def close(connection: apsw.Connection, op_id: int, label: str) -> None:
    """End a running operation inside the caller's transaction; one that changed nothing leaves no trace."""
    if scalar(connection, "SELECT 1 FROM changes WHERE op_id = ? LIMIT 1", (op_id,)):
        connection.execute("UPDATE ops SET state = 'done', label = ? WHERE op_id = ?", (label, op_id))
    else:
        connection.execute("DELETE FROM ops WHERE op_id = ?", (op_id,))


@contextmanager
def paused_history(connection: apsw.Connection) -> Iterator[None]:
    """Inside it, rows that a program derives (an entity found in a text) are kept out of history."""
    row = connection.execute("SELECT op_id FROM current_op").fetchone()
    connection.execute(
        "INSERT INTO current_op(one, op_id) VALUES (1, 0) ON CONFLICT(one) DO UPDATE SET op_id = 0"
    )
    yield
    if row is None:
        connection.execute("DELETE FROM current_op")
    else:
        connection.execute("UPDATE current_op SET op_id = ?", row)


def _insert_operation(
    connection: apsw.Connection,
    clock: Clock,
    actor: str,
    kind: str,
    label: str,
    state: str,
    undoes: int | None,
    run_id: str | None = None,
) -> int:
    connection.execute(
        "INSERT INTO ops(at, actor, kind, label, state, undoes, run_id) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (int(clock()), actor, kind, label, state, undoes, run_id),
    )
    return connection.last_insert_rowid()


def forget_old_operations(connections: Connections, now: float, *, keep_bytes: int = KEEP_BYTES) -> int:
    """Forget operations older than 90 days, and the oldest beyond ``keep_bytes`` of images.

    Returns how many operations went. Runs of inserted rows carry no image, so they are never
    the reason to forget a younger operation. One that is running stays, and what came after it.
    """
    with connections.write() as connection:
        newest_old = scalar(
            connection,
            "SELECT coalesce(max(op_id), 0) FROM ops WHERE at < ?",
            (now - KEEP_DAYS * 86_400,),
        )
        over = scalar(
            connection,
            """
            SELECT coalesce(max(op_id), 0) FROM (
                SELECT op_id, sum(coalesce(length(before), 0) + coalesce(length(after), 0))
                              OVER (ORDER BY seq DESC) AS total
                FROM changes WHERE before IS NOT NULL)
            WHERE total > ?
            """,
            (keep_bytes,),
        )
        running = scalar(connection, "SELECT min(coalesce(undoes, op_id)) FROM ops WHERE state = 'running'")
        last = max(newest_old, over)
        if running is not None:
            last = min(last, running - 1)
        until = scalar(connection, "SELECT max(at) FROM ops WHERE op_id <= ?", (last,))
        if until is not None:
            metadata.set_value(
                connection, THINNED, str(max(until, int(metadata.get(connection, THINNED) or until)))
            )
        connection.execute("DELETE FROM changes WHERE op_id <= ?", (last,))
        connection.execute("DELETE FROM ops WHERE op_id <= ?", (last,))
        return connection.changes()


# The column by which people know a row.
_TITLES = {
    "memories": "content", "sessions_consolidations": "session_id", "entities": "canonical_name",
    "entity_aliases": "alias", "proposals": "kind", "saved_queries": "name", "profiles": "name",
    "scratchpad": "key",
}  # fmt: skip


def last_known_row(connection: apsw.Connection, table: str, key: int) -> dict[str, Any]:
    """The row, or its image from before it was deleted; empty when history has forgotten it."""
    if row := current_row(connection, table, key):
        return row
    image: Any = connection.execute(
        "SELECT before FROM changes WHERE tbl = ? AND lo = ? AND act = 'delete' ORDER BY seq DESC LIMIT 1",
        (table, key),
    ).fetchone()
    return msgspec.json.decode(image[0], type=dict[str, Any]) if image and image[0] else {}


def with_removed_ids(connection: apsw.Connection, changes: Iterable[RowChange]) -> list[RowChange]:
    """``changes`` with the ids of memories that are gone by now."""
    ids_found = []
    for change in changes:
        if change.table == "memories" and change.memory_id is None:
            id = last_known_row(connection, change.table, change.key).get("id")
            change = msgspec.structs.replace(change, memory_id=id)
        ids_found.append(change)
    return ids_found


def title_of_change(connection: apsw.Connection, change: RowChange) -> str:
    """What people know the row by: a memory's text, a session's id, a name; "" when nothing is known."""
    column = _TITLES.get(change.table, "")
    for row in (change.after, change.before):
        if row and row.get(column):
            return str(row[column])
    return str(last_known_row(connection, change.table, change.key).get(column) or "")


def operation_that_removed(connection: apsw.Connection, id: str) -> tuple[str, Operation] | None:
    """The whole id of a memory that is gone (given by it or a beginning of it), and the operation that took it."""
    row: Any = connection.execute(
        """
        SELECT json_extract(before, '$.id'), op_id FROM changes
        WHERE tbl = 'memories' AND act = 'delete' AND substr(json_extract(before, '$.id'), 1, length(?1)) = ?1
        ORDER BY seq DESC LIMIT 1
        """,
        (id,),
    ).fetchone()
    return (str(row[0]), operations.get(connection, row[1])) if row else None
