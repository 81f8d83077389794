"""Reconcile an entity that another device has decided about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import apsw

from memtui.engine.records import Stamp
from memtui.engine.store import stamps
from memtui.engine.store.entities import NAME_DECIDED, SUMMARY_DECIDED, TYPE_DECIDED, TYPE_DECIDED_BY_AGENT
from memtui.engine.store.export_rows import EntityLine
from memtui.engine.store.import_rows import OtherIds
from memtui.engine.store.sql import scalar

from . import meeting
from .meeting import Plan, precedence

_NAMES = {
    "name": ("canonical_name", NAME_DECIDED), "type": ("type", TYPE_DECIDED | TYPE_DECIDED_BY_AGENT),
    "summary": ("summary", SUMMARY_DECIDED),
    "hidden": ("hidden", 0), "pinned": ("pinned", 0), "merged": ("merged_into", 0),
}  # fmt: skip
"""The aspects of an entity: its column, and the bits that say that somebody decided it."""


def plan(
    connection: apsw.Connection, line: EntityLine, ids: OtherIds, *, agreed: bool = False
) -> Plan | None:
    """What was decided about a name on another device. The person is not asked: one of two words holds, two names that one
    side keeps apart stay apart, and undo gives back the other."""
    here = ids.local_id(line.id) or line.id
    row: Any = connection.execute(
        "SELECT canonical_name, type, summary, hidden, pinned, (SELECT id FROM entities t WHERE t.eid = e.merged_into), "
        "protected FROM entities e WHERE id = ?",
        (here,),
    ).fetchone()
    if row is None:
        return None
    mine = dict(zip(_NAMES, row, strict=False))
    theirs = {aspect: getattr(line, column) for aspect, (column, _) in _NAMES.items()}
    theirs["merged"] = ids.local_id(line.merged_into)
    ours, written, columns, counts = stamps.read_stamps(connection, here), [], {}, Counter[str]()
    for stamp in line.decided:
        aspect = stamp.aspect
        if aspect not in _NAMES:
            continue
        own = ours.get(aspect)
        present = own is None or precedence(stamp) > precedence(own)
        same = mine[aspect] == theirs[aspect]
        if aspect in ("hidden", "pinned"):
            present = bool(theirs[aspect])
        elif aspect == "merged" and None in (mine[aspect], theirs[aspect]):
            present = theirs[aspect] is None  # two names that one side keeps apart stay apart
        met = meeting.compare_decisions(
            own, stamp, same=mine[aspect] == theirs[aspect], asked=False, present=present, agreed=agreed
        )
        if met is None or met.stamp is None:
            continue
        written.append(met.stamp)
        if met.take:
            column, bits = _NAMES[aspect]
            columns[column] = theirs[aspect]
            columns["protected"] = (columns.get("protected", row[-1]) & ~bits) | (line.protected & bits)
            counts["decision about names"] += not same
    return Plan(here, tuple(written), counts, columns=columns) if written else None


def write_columns(
    connection: apsw.Connection, id: str, columns: Mapping[str, Any], decided: Sequence[Stamp]
) -> None:
    """``decided``: the stamps that go with the columns; those of the row are still as they were."""
    values = dict(columns)
    survivor = values.get("merged_into")
    if survivor and _is_merged_into(connection, survivor, id):
        # The other way round on two devices. One merge holds, the same one everywhere; the other is as if it was not made.
        mine = next(stamp for stamp in decided if stamp.aspect == "merged")
        other = stamps.read_stamps(connection, survivor).get("merged")
        if other is not None and _order_of_merge(other) > _order_of_merge(mine):
            survivor = values["merged_into"] = None
        else:
            connection.execute("UPDATE entities SET merged_into = NULL WHERE id = ?", (survivor,))
    if survivor:
        eid = "coalesce(merged_into, eid)"
        values["merged_into"] = scalar(
            connection, f"SELECT {eid} FROM entities WHERE id = ? AND id <> ?", (survivor, id)
        )
        connection.execute(
            "UPDATE entities SET merged_into = ?1 WHERE merged_into = (SELECT eid FROM entities WHERE id = ?2) AND eid <> ?1",
            (values["merged_into"], id),
        )
    assignments = ", ".join(f"{name} = ?" for name in values)
    connection.execute(f"UPDATE entities SET {assignments} WHERE id = ?", (*values.values(), id))


def _is_merged_into(connection: apsw.Connection, id: str, survivor: str) -> bool:
    return bool(
        scalar(
            connection,
            "SELECT 1 FROM entities e JOIN entities t ON t.eid = e.merged_into WHERE e.id = ? AND t.id = ?",
            (id, survivor),
        )
    )


def _order_of_merge(stamp: Stamp) -> tuple[Any, ...]:
    return (meeting.actor_rank(stamp.actor), *meeting.order_of(stamp))
