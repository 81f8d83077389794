"""Find an entity by name, alias or id; suggest similar names if there is none."""

from __future__ import annotations

import difflib
from typing import Any

import apsw

from memtui.engine.errors import InputError, NotFoundError
from memtui.engine.records import Entity

from . import entities
from .entities import entity_key
from .sql import scalar, storable_text

_NEAR = 500
_LEAST_ID = 6


def find_entity(connection: apsw.Connection, name_or_id: str) -> Entity:
    """The entity of a name, alias, id or unique beginning of an id; merged ones lead to the survivor.

    Raises NotFoundError with near names, InputError that lists the candidates when several have this name.
    """
    wanted = storable_text(name_or_id).strip()
    eids = _find_by_id(connection, wanted) or _find_by_name(connection, wanted)
    candidates = [one for one in entities.by_eid(connection, eids) if not _count_hidden(connection, one.eid)]
    if len(candidates) > 1:
        listing = ", ".join(f"{one.canonical_name} ({one.type}, {one.id})" for one in candidates)
        raise InputError(
            f"{name_or_id!r} could be {'two' if len(candidates) == 2 else len(candidates)}: {listing}.",
            "Give the id.",
        )
    if candidates:
        return candidates[0]
    if eids:
        raise NotFoundError(
            f"{name_or_id!r} was marked as not an entity.", "memtui history has the decision; undo it there."
        )
    near = similar_names(connection, wanted)
    raise NotFoundError(
        f"There is no entity {name_or_id!r}.",
        f"Did you mean {' or '.join(near)}?" if near else "memtui entities lists them.",
    )


def entities_named(connection: apsw.Connection, name: str) -> list[tuple[int, int, bool]]:
    """(row, survivor, whether that is hidden) of everything that has this name."""
    rows: Any = connection.execute(
        """
        SELECT e.eid, s.eid, s.hidden FROM entity_aliases a JOIN entities e ON e.eid = a.entity_id
        JOIN entities s ON s.eid = coalesce(e.merged_into, e.eid) WHERE a.key = ? ORDER BY e.eid
        """,
        (entity_key(name),),
    ).fetchall()
    return [(int(row), int(survivor), bool(hidden)) for row, survivor, hidden in rows]


def _find_by_id(connection: apsw.Connection, wanted: str) -> list[int]:
    rows: Any = connection.execute(
        "SELECT coalesce(merged_into, eid) FROM entities WHERE id = ?", (wanted,)
    ).fetchall()
    if not rows and wanted.startswith("ent_") and len(wanted) >= _LEAST_ID and wanted.isascii():
        rows = connection.execute(
            "SELECT DISTINCT coalesce(merged_into, eid) FROM entities WHERE id >= ?1 AND id < ?1 || x'7f' LIMIT 6",
            (wanted,),
        ).fetchall()
    return [eid for (eid,) in rows]


def _find_by_name(connection: apsw.Connection, wanted: str) -> list[int]:
    return list(dict.fromkeys(survivor for _, survivor, _ in entities_named(connection, wanted)))


def _count_hidden(connection: apsw.Connection, eid: int) -> bool:
    return bool(scalar(connection, "SELECT hidden FROM entities WHERE eid = ?", (eid,)))


def similar_names(connection: apsw.Connection, wanted: str, most: int = 3) -> list[str]:
    """Names that somebody who typed this may have meant."""
    key = entity_key(wanted)
    parts = [word for word in key.split() if len(word) > 1]
    rows: Any = connection.execute(
        f"""
        SELECT DISTINCT a.key, s.canonical_name FROM entity_aliases a JOIN entities e ON e.eid = a.entity_id
        JOIN entities s ON s.eid = coalesce(e.merged_into, e.eid)
        WHERE NOT s.hidden AND s.mention_count > 0 AND ({
            " OR ".join(("substr(a.key, 1, 2) = ?", *("instr(a.key, ?) > 0" for _ in parts)))
        }) ORDER BY s.mention_count DESC LIMIT {_NEAR}
        """,
        (key[:2], *parts),
    ).fetchall()
    names = dict(rows)
    close = difflib.get_close_matches(key, names, most, 0.5)
    return list(dict.fromkeys(names[one] for one in close))
