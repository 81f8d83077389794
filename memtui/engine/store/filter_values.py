"""Values of each filter key with the number of memories that have them, the most used first.

Only the newest memories are looked at, and only so many values are given: this is read while a person types.
"""

from __future__ import annotations

import apsw

from . import withheld

NEWEST = 200_000
"""So many of the newest memories are looked at."""
MOST = 300
"""So many values of a key are given."""

# Turns have most of the sessions and sources, but a list shows what was drawn from them: that is what is counted.
_ROWS = f"(SELECT * FROM memories WHERE valid_until IS NULL ORDER BY rid DESC LIMIT {NEWEST})"
_COUNTED = "count(DISTINCT CASE WHEN m.kind <> 'episode' THEN m.rid END)"
_COLUMNS = {
    "kind": "m.kind", "topic": "m.topic", "category": "m.category", "trust": "m.trust",
    "role": "m.source_role", "project": "m.project", "source": "m.source",
}  # fmt: skip


def read(connection: apsw.Connection) -> dict[str, list[tuple[str, int | None]]]:
    """Key of the filter language -> values with their counts; None where only turns have a value."""
    found = {
        key: _pairs(
            connection,
            f"""SELECT {column}, sum(m.kind <> 'episode') AS counted FROM {_ROWS} m WHERE {column} <> ''
            GROUP BY 1 ORDER BY counted DESC, count(*) DESC, 1 LIMIT {MOST}""",
        )
        for key, column in _COLUMNS.items()
    }
    # A topic is found as a tag too.
    found["tag"] = _pairs(
        connection,
        f"""SELECT value, {_COUNTED} AS counted FROM (
            SELECT m.rid, m.kind, t.value FROM {_ROWS} m, json_each(m.tags) t WHERE m.tags <> '[]'
            UNION ALL SELECT m.rid, m.kind, m.topic FROM {_ROWS} m WHERE m.topic <> '' AND m.kind <> 'episode') m
        GROUP BY 1 ORDER BY counted DESC, count(*) DESC, 1 LIMIT {MOST}""",
    )
    found["entity"] = _pairs(
        connection,
        f"""SELECT canonical_name, NULL FROM entities WHERE NOT hidden AND merged_into IS NULL
        ORDER BY mention_count DESC, eid LIMIT {MOST}""",
    )
    found["withheld"] = [(name, None) for name in withheld.agents(connection)]
    found["session"] = _pairs(
        connection,
        f"""SELECT coalesce(nullif(title, ''), session_id), NULL FROM sessions_consolidations
        ORDER BY last_seen_at DESC, sid DESC LIMIT {MOST}""",
    )
    return found


def _pairs(connection: apsw.Connection, statement: str) -> list[tuple[str, int | None]]:
    return [(str(value), counted or None) for value, counted in connection.execute(statement)]
