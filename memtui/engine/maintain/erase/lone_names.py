"""Names that stand in nothing but what goes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw

from memtui.engine.store.sql import as_json

from .going import Closure
from .look_alikes import with_phrase
from .records import Carrier


def take_names(connection: apsw.Connection, found: Closure, kept: frozenset[str]) -> None:
    """Names that stand in nothing else."""
    rids = as_json(found.rids)
    only_here = connection.execute(
        """
        SELECT e.eid, e.id, e.canonical_name FROM entities e
        WHERE e.eid IN (SELECT eid FROM memory_entities WHERE rid IN (SELECT value FROM json_each(?1)))
          AND NOT EXISTS (SELECT 1 FROM memory_entities o WHERE o.eid = e.eid
                          AND o.rid NOT IN (SELECT value FROM json_each(?1)))
        """,
        (rids,),
    ).fetchall()
    for eid, id, name in [*only_here, *_unlinked_names(connection, found)]:
        if f"entity:{id}" in kept:
            found.offered[f"entity:{id}"] = Carrier(
                key=f"entity:{id}", place="entity", title=str(name), why="named only there (kept as you wished)",
                fate="kept", choice=True,
            )  # fmt: skip
        else:
            found.entities[int(str(eid))] = (str(id), str(name))


def _unlinked_names(connection: apsw.Connection, found: Closure) -> list[Sequence[Any]]:
    """Names without any link that stand in these texts and in no other: other names of somebody, or no names at all."""
    texts = "\n".join(found.contents).casefold()
    names = connection.execute(
        "SELECT eid, id, canonical_name FROM entities e "
        "WHERE NOT EXISTS (SELECT 1 FROM memory_entities l WHERE l.eid = e.eid)"
    ).fetchall()
    return [
        row
        for row in names
        if ((name := str(row[2]).casefold()) in texts or found.texts.tells(str(row[2])))
        and not any(
            str(other[1]) not in found.rows and name in str(other[3]).casefold()
            for other in with_phrase(connection, str(row[2]))
        )
    ]
