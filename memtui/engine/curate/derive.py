"""What follows from a text without judgement: entity links and CJK bigrams, made after the write."""

from __future__ import annotations

from collections.abc import Iterable

import apsw

from memtui.engine.store import cjk, entities
from memtui.engine.store.entities import Mention


def derive(
    connection: apsw.Connection, rid: int, content: str, mentions: Iterable[Mention], now: int
) -> None:
    """Link the mentions, index the bigrams, take the row off the text queue; inside the caller's transaction."""
    entities.link(connection, rid, mentions, now)
    cjk.index(connection, rid, content)
    connection.execute("UPDATE index_queue SET text = 0 WHERE rid = ?", (rid,))
    connection.execute("DELETE FROM index_queue WHERE rid = ? AND text = 0 AND vector = 0", (rid,))


def pending_texts(connection: apsw.Connection, below: int, limit: int) -> list[tuple[int, str]]:
    """(rid, content) of texts whose links are still to be made, the most recent first, from under ``below``."""
    rows = connection.execute(
        "SELECT q.rid, m.content FROM index_queue q JOIN memories m ON m.rid = q.rid "
        "WHERE q.text = 1 AND q.rid < ? ORDER BY q.rid DESC LIMIT ?",
        (below, limit),
    )
    return [(int(rid), str(content)) for rid, content in rows]
