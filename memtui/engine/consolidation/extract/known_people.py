"""The people that earlier facts introduced ("my partner Ada"), so that later talk may call them by name."""

from __future__ import annotations

import apsw

from .statements import introduced

_MOST = 500
_RELATIONS = """
    partner wife husband girlfriend boyfriend brother sister mother father mum dad son daughter friend colleague boss lead
    manager dog cat neighbour neighbor uncle aunt cousin grandmother grandfather niece nephew
""".split()  # noqa: SIM905


def known_people(connection: apsw.Connection) -> frozenset[str]:
    """First names, from at most 500 facts that name a relation."""
    rows = connection.execute(
        "SELECT m.content FROM facts_fts f JOIN memories m ON m.rid = f.rowid WHERE facts_fts MATCH ? "
        "AND m.valid_until IS NULL ORDER BY m.rid DESC LIMIT ?",
        ("content : (" + " OR ".join(f'"{word}"' for word in _RELATIONS) + ")", _MOST),
    )
    return frozenset().union(*(introduced(content) for (content,) in rows))
