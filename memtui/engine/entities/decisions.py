"""What somebody decided about entities: who may change it, what is kept apart, what a memory is (not) about.

Of names, types and summaries the row of the entity tells it (``protected``, bits); of two entities, or an entity and a
memory, a row of ``entity_decisions``. Functions inside the caller's operation.
"""

from __future__ import annotations

from itertools import starmap
from typing import Any, NamedTuple

import apsw

from memtui.engine.errors import ProtectedError
from memtui.engine.records import Entity, MemoryRecord
from memtui.engine.store.entity_lists import GROUP
from memtui.engine.store.sql import scalar

PERSON = "person"


class Apart(NamedTuple):
    """That two are two. ``split_off``: the key of the name that was taken from one of them; None if it was said outright."""

    decision_id: int
    actor: str
    split_off: str | None


def decided(connection: apsw.Connection, eid: int) -> int:
    """The bits of what somebody decided about the row of an entity (NAMED, TYPED, ... of ``store.entities``)."""
    return int(scalar(connection, "SELECT protected FROM entities WHERE eid = ?", (eid,)))


def must_be_free(connection: apsw.Connection, entity: Entity, bits: int, actor: str, verb: str) -> None:
    """Raise ProtectedError where the person decided any of ``bits``, and it is not the person who would change it."""
    if actor != PERSON and decided(connection, entity.eid) & bits:
        raise ProtectedError(
            f"The person decided about {entity.canonical_name}: {actor} may not {verb} it.", "Ask the person."
        )


def protect(connection: apsw.Connection, eid: int, bit: int, *, clear: bool = False) -> None:
    """Note that somebody decided this about an entity, or with ``clear`` that nobody does any more."""
    operator = "& ~" if clear else "|"
    connection.execute(f"UPDATE entities SET protected = protected {operator} ? WHERE eid = ?", (bit, eid))


def note(
    connection: apsw.Connection, decision: str, eid: int, actor: str, now: int, *, other: int | None = None,
    rid: int | None = None, key: str | None = None,
) -> None:  # fmt: skip
    """Note what was decided (``link``, ``unlink``, ``distinct``) about an entity and a memory, or another entity."""
    connection.execute(
        "INSERT INTO entity_decisions(decision, entity_id, other_id, rid, key, at, actor) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (decision, eid, other, rid, key, now, actor),
    )


def withdraw(
    connection: apsw.Connection, decision: str, memory: MemoryRecord, entity: Entity, actor: str
) -> bool:
    """Take back what was decided before about this memory; whether anything was.

    Raises ProtectedError when that was the person's decision.
    """
    rows: Any = connection.execute(
        f"""
        SELECT decision_id, actor FROM entity_decisions
        WHERE decision = ?3 AND rid = ?1 AND entity_id IN {GROUP.format(eid="?2")}
        """,
        (memory.rid, entity.eid, decision),
    ).fetchall()
    for decision_id, by in rows:
        if by == PERSON and actor != PERSON:
            raise ProtectedError(
                f"The person decided about {memory.id} and {entity.canonical_name}: {actor} may not change it.",
                "Ask the person.",
            )
        forget(connection, decision_id)
    return bool(rows)


def apart(connection: apsw.Connection, one: int, other: int) -> list[Apart]:
    """All that was decided between two entities or names of them."""
    rows: Any = connection.execute(
        f"""
        SELECT decision_id, actor, key FROM entity_decisions WHERE decision = 'distinct' AND (
            (entity_id IN {GROUP.format(eid="?1")} AND other_id IN {GROUP.format(eid="?2")})
            OR (entity_id IN {GROUP.format(eid="?2")} AND other_id IN {GROUP.format(eid="?1")}))
        """,
        (one, other),
    )
    return list(starmap(Apart, rows))


def forget(connection: apsw.Connection, decision_id: int) -> None:
    connection.execute("DELETE FROM entity_decisions WHERE decision_id = ?", (decision_id,))
