"""Memories and sessions that only history still has: an operation that made them was taken back, and redo would
bring them again. They are known by the images of their rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import apsw
import msgspec

from memtui.engine.store.sql import as_json

_any = msgspec.json.Decoder().decode
# All images of a table at once, by its index: there is none by what stands in them.


class Gone(NamedTuple):
    """A memory as it last stood. ``live``: it is back in the file. ``drawn_from``, ``replaced``: ids of others."""

    rid: int
    id: str
    kind: str
    content: str
    session_id: str | None
    source_key: str | None
    source_role: str | None
    event_time: int
    drawn_from: frozenset[str]
    replaced: frozenset[str]
    live: bool
    why: str = ""
    chosen: bool = False


class GoneSession(NamedTuple):
    sid: int
    session_id: str
    title: str
    words: tuple[str, ...]
    """Its summary and its last error, as far as it had them."""


_MEMORIES = """
SELECT c.lo, c.before, EXISTS (SELECT 1 FROM memories m WHERE m.rid = c.lo) FROM changes c
WHERE c.tbl = 'memories' AND c.act <> 'insert' AND c.act = 'delete' AND WHERE_ ORDER BY c.seq
"""


def with_ids(connection: apsw.Connection, ids: Iterable[str]) -> list[Gone]:
    """The memories of these ids that history has, whether or not they are back in the file."""
    return _read(connection, "c.before ->> 'id' IN (SELECT value FROM json_each(?))", ids)


def of_sessions(connection: apsw.Connection, session_ids: Iterable[str]) -> list[Gone]:
    """Those of these sessions."""
    return _read(connection, "c.before ->> 'session_id' IN (SELECT value FROM json_each(?))", session_ids)


def drawn_from_others(connection: apsw.Connection) -> list[Gone]:
    """Those that were made from other memories, and of which the file has no row."""
    made = (
        "c.before ->> 'source_ids' <> '[]' OR instr(c.before ->> 'attributes', '\"supersedes\"') "
        "OR instr(c.before ->> 'attributes', '\"merged\"')"
    )
    return [row for row in _read(connection, f"({made})", None) if not row.live]


def _read(connection: apsw.Connection, where: str, values: Iterable[str] | None) -> list[Gone]:
    return [
        _gone(int(str(rid)), _any(str(image)), bool(live))
        for rid, image, live in connection.execute(
            _MEMORIES.replace("WHERE_", where), () if values is None else (as_json(values),)
        )
    ]


def _gone(rid: int, image: dict[str, Any], live: bool) -> Gone:
    about = _any(image.get("attributes") or "{}")
    return Gone(
        rid, str(image.get("id", "")), str(image.get("kind", "")), str(image.get("content", "")),
        image.get("session_id"), image.get("source_key"), image.get("source_role"),
        int(image.get("event_time") or 0),
        frozenset(_any(image.get("source_ids") or "[]")),
        frozenset(id for key in ("supersedes", "merged") for id in _ids(about.get(key))),
        live,
    )  # fmt: skip


def _ids(value: object) -> list[str]:
    return [str(id) for id in (value if isinstance(value, list) else [value] if value else [])]


def sessions_gone(connection: apsw.Connection, session_id: str) -> Iterator[GoneSession]:
    """The rows of a session that only history still has."""
    for sid, image in connection.execute(
        """
        SELECT c.lo, c.before FROM changes c WHERE c.tbl = 'sessions_consolidations' AND c.act <> 'insert' AND c.act = 'delete'
        AND c.before ->> 'session_id' = ?
        AND NOT EXISTS (SELECT 1 FROM sessions_consolidations s WHERE s.sid = c.lo)
        """,
        (session_id,),
    ):
        value = _any(str(image))
        words = tuple(str(text) for key in ("summary", "last_error") if (text := value.get(key)))
        yield GoneSession(int(str(sid)), session_id, str(value.get("title") or ""), words)


def told_of(connection: apsw.Connection, sid: int) -> list[str]:
    """The summaries and errors of a session that stand in its images."""
    return [
        str(text)
        for row in connection.execute(
            """
            SELECT before ->> 'summary', after ->> 'summary', before ->> 'last_error', after ->> 'last_error'
            FROM changes WHERE tbl = 'sessions_consolidations' AND act <> 'insert' AND lo = ?
            """,
            (sid,),
        )
        for text in row
        if text
    ]
