"""What was drawn from the memories that go, what they were drawn from, and other wordings of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import apsw

from memtui.engine.store.sql import as_json, scalar

from .going import COLUMNS, Closure
from .taken_back import Gone, with_ids


def follow(
    connection: apsw.Connection, found: Closure, ids: Sequence[str], stays: Callable[[str], bool]
) -> list[str]:
    """Take what was drawn from ``ids`` only, and earlier wordings of them; offer what is near to them."""
    taken: list[str] = []
    for row in connection.execute(
        f"""
        SELECT DISTINCT {COLUMNS}, l.rel FROM memory_links l JOIN memories m ON m.id = l.from_id
        WHERE l.to_id IN (SELECT value FROM json_each(?))
        """,
        (as_json(ids),),
    ).fetchall():
        *columns, relation = row
        if columns[1] in found.rows:
            continue
        if relation != "source":
            found.offer(
                columns,
                "a later wording of it" if relation == "supersedes" else "it was merged into this",
            )
        elif stays(str(columns[1])):
            found.offer(columns, "drawn from it", fate_else="erased")
        elif _other_sources(connection, found, str(columns[1])):
            found.offer(columns, "drawn from it and from others")
        else:
            taken.append(found.take(columns, "drawn from it"))
    for source in connection.execute(
        f"""
        SELECT DISTINCT {COLUMNS} FROM memory_links l JOIN memories m ON m.id = l.to_id
        WHERE l.from_id IN (SELECT value FROM json_each(?)) AND l.rel = 'source' ORDER BY m.rid
        """,
        (as_json(ids),),
    ).fetchall():
        if source[1] not in found.rows:
            found.offer(source, "it was drawn from this")
    for row in connection.execute(
        f"""
        SELECT DISTINCT {COLUMNS}, m.ended_by FROM memory_links l JOIN memories m ON m.id = l.to_id
        WHERE l.from_id IN (SELECT value FROM json_each(?)) AND l.rel IN ('supersedes', 'merged')
        """,
        (as_json(ids),),
    ).fetchall():
        *columns, ended_by = row
        if columns[1] in found.rows:
            continue
        if ended_by in ("superseded", "merged") and not stays(str(columns[1])):
            taken.append(found.take(columns, "an earlier wording of it"))
        else:
            found.offer(columns, "an earlier wording of it")
    return taken


def follow_gone(
    connection: apsw.Connection, found: Closure, made: Sequence[Gone], stays: Callable[[str], bool]
) -> list[str]:
    """The same for what only history still has: redo would bring it back."""
    ids = found.ids
    taken: list[str] = []
    for row in made:
        if row.id in ids:
            continue
        if row.drawn_from & ids:
            if stays(row.id):
                found.offer(row, "drawn from it, taken back since", fate_else="erased")
            elif _left_of(connection, row.drawn_from - ids):
                found.offer(row, "drawn from it and from others, taken back since")
            else:
                taken.append(found.take_gone(row, "drawn from it, taken back since"))
        elif row.replaced & ids:
            why = "a later wording of it, taken back since"
            if found.texts.carried_by(row.content) and not stays(row.id):  # no image may keep these words
                taken.append(found.take_gone(row, why))
            else:
                found.offer(row, why)
    return taken


def _left_of(connection: apsw.Connection, ids: Iterable[str]) -> bool:
    """Whether the file or its history still has one of these memories."""
    known = scalar(
        connection,
        "SELECT 1 FROM memories WHERE id IN (SELECT value FROM json_each(?)) LIMIT 1",
        (as_json(ids),),
    )
    return known is not None or bool(with_ids(connection, ids))


def _other_sources(connection: apsw.Connection, found: Closure, id: str) -> bool:
    return any(
        source not in found.rows
        for (source,) in connection.execute(
            """
            SELECT l.to_id FROM memory_links l JOIN memories m ON m.id = l.to_id
            WHERE l.from_id = ? AND l.rel = 'source'
            """,
            (id,),
        )
    )
