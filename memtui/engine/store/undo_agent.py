"""Taking back all that an agent did since a time, as one operation that one undo takes back."""

from __future__ import annotations

from typing import Any

import apsw

from memtui.engine.clock import Clock
from memtui.engine.errors import InputError
from memtui.engine.records import AgentChanges, AgentUndone, Conflict, Operation
from memtui.engine.records.history import RESTORE_BACKUP

from . import history, operations
from .connections import Connections
from .sql import as_json
from .undo_rows import UNDO_OF_AGENT, blocked, put_back, rows_of, rows_of_all

RECORDED = "record"
# Half of one of these would leave both texts in force.
_INDIVISIBLE = frozenset({"correct", "merge", "review"})


def changes(connection: apsw.Connection, agent: str, since: float, *, turns: bool = False) -> AgentChanges:
    """What would be taken back, the latest first; nothing is changed. ``turns``: what it recorded of talks as well."""
    done = _operations(connection, agent, since)
    recorded = [] if turns else [one for one in done if one.kind == RECORDED]
    chosen = [one for one in done if turns or one.kind != RECORDED]
    taken, conflicts = _possible(connection, chosen)
    return AgentChanges(
        agent=agent,
        since=int(since),
        operations=tuple(taken),
        turns_left=len(recorded),
        conflicts=tuple(conflicts),
    )


def _operations(connection: apsw.Connection, agent: str, since: float) -> list[Operation]:
    rows: Any = connection.execute(
        f"SELECT {operations.COLUMNS} FROM ops o WHERE o.actor = ? AND o.at >= ? AND o.state = 'done' "
        "AND o.undoes IS NULL AND o.kind NOT IN (?, ?) ORDER BY o.op_id DESC",
        (f"agent:{agent}", int(since), "erase", RESTORE_BACKUP),
    )
    return [operations.operation_of(tuple(row)) for row in rows]


def _possible(connection: apsw.Connection, chosen: list[Operation]) -> tuple[list[Operation], list[Conflict]]:
    """Those that can be taken back, and the rows that are left alone.

    Of the operations on a row that is left alone the first one stays, where that is all that it did, or where half of it
    would be wrong; then the later ones may go.
    """
    left: dict[tuple[str, int], Conflict] = {}
    while chosen:
        ids = [one.op_id for one in chosen]
        conflicts = blocked(connection, rows_of_all(connection, ids), ids)
        left |= {(one.table, one.key): one for one in conflicts}
        stay = _must_stay(connection, chosen, {(one.table, one.key) for one in conflicts})
        if not stay:
            break
        chosen = [one for one in chosen if one.op_id not in stay]
    return chosen, list(left.values())


def _must_stay(
    connection: apsw.Connection, chosen: list[Operation], conflicts: set[tuple[str, int]]
) -> set[int]:
    if not conflicts:
        return set()
    first: dict[tuple[str, int], int] = {}
    free: set[int] = set()
    for one in reversed(chosen):  # the earliest first
        touched = {(row.table, row.key) for row in rows_of(connection, one.op_id)}
        for place in touched & conflicts:
            first.setdefault(place, one.op_id)
        if touched - conflicts and one.kind not in _INDIVISIBLE:
            free.add(one.op_id)
    return set(first.values()) - free


def undo(
    connections: Connections, clock: Clock, actor: str, agent: str, since: float, *, turns: bool = False
) -> AgentUndone:
    """Take them back in one operation. Raises InputError where there is nothing that can be."""
    with history.operation(connections, clock, actor, UNDO_OF_AGENT, f"Undid what {agent} did") as op:
        found = changes(op.connection, agent, since, turns=turns)
        ids = [one.op_id for one in found.operations]
        if not ids:
            raise InputError(
                f"{agent} did nothing since then that can be taken back.",
                "memtui history lists who did what.",
            )
        number = f"{len(ids):,} change" + ("" if len(ids) == 1 else "s")
        op.label = f"Undid {number} of {agent}"
        restored, left = put_back(op.connection, rows_of_all(op.connection, ids), op.op_id, ids)
        op.connection.execute(
            "UPDATE ops SET state = 'undone', undone_by = ? WHERE op_id IN (SELECT value FROM json_each(?))",
            (op.op_id, as_json(ids)),
        )
        op_id = op.op_id
    known = {(one.table, one.key) for one in found.conflicts}
    with connections.read() as connection:
        return AgentUndone(
            by=operations.get(connection, op_id), operations=found.operations, restored=restored,
            conflicts=(*found.conflicts, *(one for one in left if (one.table, one.key) not in known)),
        )  # fmt: skip
