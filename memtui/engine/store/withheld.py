"""Memories that the person withholds from agents.

From all agents: the turns of a forgotten and withheld fact, and those of the facts that it replaced (``search/cautions.py``
says the same of single memories). From one agent: the memory that the person named, every text that it has or had, the turns
that it was drawn from, and what was noted from it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import apsw

from memtui.engine.records import WITHHELD, WITHHELD_FROM
from memtui.engine.store.tokens import fold_text

from .sql import as_json, scalar

_FACTS = f"""f.attributes <> '{{}}' AND f.ended_by = 'forgotten'
    AND json_type(f.attributes, '$.{WITHHELD}') IS NOT NULL AND json_type(f.attributes, '$.retired') IS NULL"""


def _sql_withheld_rids(gone: str) -> str:
    """The query for the rids. ``gone``: a query for ids that are passed over."""
    return f"""
        WITH RECURSIVE withheld(id) AS (
            SELECT f.id FROM memories f INDEXED BY memories_with_attributes WHERE {_FACTS} AND f.id NOT IN ({gone})
            UNION SELECT l.to_id FROM withheld w JOIN memory_links l ON l.from_id = w.id
                WHERE l.rel IN ('supersedes', 'merged') AND l.to_id NOT IN ({gone}))
        SELECT t.rid FROM withheld w JOIN memory_links l ON l.from_id = w.id AND l.rel = 'source'
            JOIN memories t ON t.id = l.to_id WHERE t.kind = 'episode'"""


CONDITION = f"m.kind = 'episode' AND m.rid IN ({_sql_withheld_rids('SELECT NULL WHERE 0')})"
"""Whether a memory ``m`` is such a turn."""


def any_withheld(connection: apsw.Connection) -> bool:
    """Whether there may be such turns."""
    withheld = scalar(
        connection, f"SELECT 1 FROM memories f INDEXED BY memories_with_attributes WHERE {_FACTS} LIMIT 1"
    )
    return withheld is not None


def withheld_turns(connection: apsw.Connection, without: Collection[str] = ()) -> set[int]:
    """The rids of those turns. ``without``: as if the memories of these ids were not there."""
    rows = connection.execute(
        _sql_withheld_rids("SELECT value FROM json_each(:gone)"), {"gone": as_json(list(without))}
    )
    return {int(rid) for (rid,) in rows}


_WITHHELD_SQL = f"""f.attributes <> '{{}}' AND json_type(f.attributes, '$.{WITHHELD_FROM}') = 'array'"""
_AGENT_SQL = f"EXISTS (SELECT 1 FROM json_each(f.attributes, '$.{WITHHELD_FROM}') a WHERE {{named}})"


def withheld_sql(named: str) -> str:
    """SQL: whether a memory ``m`` is kept from an agent. ``named``: SQL, whether ``a.value`` is its name."""
    return f"""m.rid IN (
        WITH RECURSIVE same(id) AS (
            SELECT f.id FROM memories f INDEXED BY memories_with_attributes
            WHERE {_WITHHELD_SQL} AND {_AGENT_SQL.format(named=named)}
            UNION SELECT l.to_id FROM same s JOIN memory_links l ON l.from_id = s.id AND l.rel IN ('supersedes', 'merged')
            UNION SELECT l.from_id FROM same s JOIN memory_links l ON l.to_id = s.id AND l.rel IN ('supersedes', 'merged'))
        SELECT o.rid FROM same s JOIN memories o ON o.id = s.id
        UNION SELECT t.rid FROM same s JOIN memories o ON o.id = s.id AND o.kind <> 'reflection'
            JOIN memory_links l ON l.from_id = s.id AND l.rel = 'source'
            JOIN memories t ON t.id = l.to_id AND t.kind = 'episode'
        UNION SELECT n.rid FROM same s JOIN memories o ON o.id = s.id AND o.kind <> 'episode'
            JOIN memory_links l ON l.to_id = s.id AND l.rel = 'source'
            JOIN memories n ON n.id = l.from_id AND n.kind IN ('reflection', 'observation'))"""


def withholds_any(connection: apsw.Connection, agent: str) -> bool:
    """Whether something is kept from an agent (a name, in any case)."""
    named = _AGENT_SQL.format(named="fold(a.value) = ?")
    withheld = scalar(
        connection,
        f"SELECT 1 FROM memories f INDEXED BY memories_with_attributes WHERE {_WITHHELD_SQL} AND {named} LIMIT 1",
        (fold_text(agent),),
    )
    return withheld is not None


def withheld_among(connection: apsw.Connection, rids: Sequence[int], agent: str) -> set[int]:
    """Those of some memories that are kept from an agent."""
    if not withholds_any(connection, agent):
        return set()
    where = withheld_sql("fold(a.value) = :agent")
    rows = connection.execute(
        f"SELECT m.rid FROM memories m WHERE m.rid IN (SELECT value FROM json_each(:rids)) AND {where}",
        {"rids": as_json(rids), "agent": fold_text(agent)},
    )
    return {int(rid) for (rid,) in rows}


def withheld_agents(connection: apsw.Connection) -> list[str]:
    """The agents from which something is kept, by name."""
    rows = connection.execute(
        f"""SELECT a.value, min(f.rid) FROM memories f INDEXED BY memories_with_attributes,
            json_each(f.attributes, '$.{WITHHELD_FROM}') a WHERE {_WITHHELD_SQL} GROUP BY fold(a.value) ORDER BY fold(a.value)"""
    )
    return [str(name) for name, _ in rows]


def agents_kept_from(connection: apsw.Connection, rid: int) -> tuple[str, ...]:
    """The agents from which a memory is kept, by itself or with what it belongs to."""
    return tuple(name for name in withheld_agents(connection) if withheld_among(connection, [rid], name))


def all_versions(connection: apsw.Connection, id: str) -> list[str]:
    """The memory, what it took the place of, and what took its place: their ids."""
    rows = connection.execute(
        """
        WITH RECURSIVE same(id) AS (
            SELECT ?
            UNION SELECT l.to_id FROM same s JOIN memory_links l ON l.from_id = s.id AND l.rel IN ('supersedes', 'merged')
            UNION SELECT l.from_id FROM same s JOIN memory_links l ON l.to_id = s.id AND l.rel IN ('supersedes', 'merged'))
        SELECT id FROM same
        """,
        (id,),
    )
    return [str(one) for (one,) in rows]
