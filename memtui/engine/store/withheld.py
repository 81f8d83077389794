"""Turns that the person keeps from agents: a fact that was drawn from them is forgotten and withheld.

Also the turns of what such a fact took the place of. ``search/cautions.py`` says the same of single memories.
"""

from __future__ import annotations

from collections.abc import Collection

import apsw

from memtui.engine.records import WITHHELD

from .sql import as_json, scalar

_FACTS = f"""f.attributes <> '{{}}' AND f.ended_by = 'forgotten'
    AND json_type(f.attributes, '$.{WITHHELD}') IS NOT NULL AND json_type(f.attributes, '$.retired') IS NULL"""


def _rids(gone: str) -> str:
    """The query for the rids. ``gone``: a query for ids that are passed over."""
    return f"""
        WITH RECURSIVE withheld(id) AS (
            SELECT f.id FROM memories f INDEXED BY memories_with_attributes WHERE {_FACTS} AND f.id NOT IN ({gone})
            UNION SELECT l.to_id FROM withheld w JOIN memory_links l ON l.from_id = w.id
                WHERE l.rel IN ('supersedes', 'merged') AND l.to_id NOT IN ({gone}))
        SELECT t.rid FROM withheld w JOIN memory_links l ON l.from_id = w.id AND l.rel = 'source'
            JOIN memories t ON t.id = l.to_id WHERE t.kind = 'episode'"""


CONDITION = f"m.kind = 'episode' AND m.rid IN ({_rids('SELECT NULL WHERE 0')})"
"""Whether a memory ``m`` is such a turn."""


def any_withheld(connection: apsw.Connection) -> bool:
    """Whether there may be such turns."""
    found = scalar(
        connection, f"SELECT 1 FROM memories f INDEXED BY memories_with_attributes WHERE {_FACTS} LIMIT 1"
    )
    return found is not None


def turns(connection: apsw.Connection, without: Collection[str] = ()) -> set[int]:
    """The rids of those turns. ``without``: as if the memories of these ids were not there."""
    found = connection.execute(_rids("SELECT value FROM json_each(:gone)"), {"gone": as_json(list(without))})
    return {int(rid) for (rid,) in found}
