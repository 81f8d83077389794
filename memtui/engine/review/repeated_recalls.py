"""Texts that came back out of memory: said, or noted, after an agent had been told them word for word.

What an agent is told and repeats would be drawn from the conversation again, as if somebody had said it anew.
"""

from __future__ import annotations

from collections.abc import Callable

import apsw

from memtui.engine.store import tokens

_TOLD = 1_000
_FEWEST_WORDS = 4
_TELLING = 4
_MOST_FOUND = 50


def echoes(connection: apsw.Connection, stopped: Callable[[], bool] = lambda: False) -> tuple[list[str], str]:
    """Ids of turns and notes that hold a recalled memory's text and are younger than the recall, notes first; and
    what was not looked at ("" for nothing). Recalls are kept for 90 days."""
    told = connection.execute(
        """
        SELECT m.rid, m.id, m.content, min(r.at) FROM recalls r, json_each(r.memory_ids) j JOIN memories m ON m.id = j.value
        WHERE m.kind <> 'episode' GROUP BY m.rid ORDER BY max(r.at) DESC
        """
    ).fetchall()
    found: dict[str, str] = {}
    for rid, identity, content, at in told[:_TOLD]:
        if stopped():
            break
        phrase = tokens.words(str(content))
        if len(phrase) < _FEWEST_WORDS:
            continue  # "I like tea" is said again by anybody
        # The longest words are the rarest; a phrase of FTS5 would read where every "the" stands.
        telling = sorted(dict.fromkeys(phrase), key=len, reverse=True)[:_TELLING]
        alike = " AND ".join(f'"{word}"' for word in telling)
        rows = connection.execute(
            """
            SELECT n.id, n.kind, n.content FROM memories_fts f JOIN memories n ON n.rid = f.rowid
            WHERE memories_fts MATCH ?1 AND f.rowid > ?2 AND n.created_at > ?3 AND n.valid_until IS NULL
              AND NOT EXISTS (SELECT 1 FROM memory_links l WHERE l.from_id = n.id AND l.to_id = ?4
                              AND l.rel IN ('supersedes', 'merged'))
            ORDER BY f.rowid DESC LIMIT ?5
            """,
            (f"content : ({alike})", rid, at, identity, _MOST_FOUND),
        )
        said = f" {' '.join(phrase)} "
        found |= {
            str(echo): str(kind)
            for echo, kind, text in rows
            if said in f" {' '.join(tokens.words(str(text)))} "
        }
    notes_first = sorted(found, key=lambda echo: found[echo] == "episode")
    left = len(told) - _TOLD
    return (
        notes_first,
        f"the latest {_TOLD:,} of {len(told):,} recalled notes were looked for" if left > 0 else "",
    )
