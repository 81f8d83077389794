"""Derive entity links and CJK bigrams from a text, after it was written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import apsw

from memtui.engine.store import entities, full_text
from memtui.engine.store.entities import Mention


def index_memory(
    connection: apsw.Connection, rid: int, content: str, mentions: Iterable[Mention], now: int
) -> None:
    """Link the mentions, index the bigrams, take the row off the text queue; inside the caller's transaction."""
    entities.link(connection, rid, mentions, now)
    full_text.index_cjk(connection, rid, content)
    connection.execute("UPDATE index_queue SET text = 0 WHERE rid = ?", (rid,))
    connection.execute("DELETE FROM index_queue WHERE rid = ? AND text = 0 AND vector = 0", (rid,))


class PendingText(NamedTuple):
    """A text that waits; ``role``: who said it."""

    rid: int
    content: str
    role: str | None


def pending_texts(connection: apsw.Connection, below: int, limit: int) -> list[PendingText]:
    """Texts whose links are still to be made, the most recent first, from under ``below``."""
    rows = connection.execute(
        "SELECT q.rid, m.content, m.source_role FROM index_queue q JOIN memories m ON m.rid = q.rid "
        "WHERE q.text = 1 AND q.rid < ? ORDER BY q.rid DESC LIMIT ?",
        (below, limit),
    )
    return [
        PendingText(int(rid), str(content), None if role is None else str(role))
        for rid, content, role in rows
    ]
