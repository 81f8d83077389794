"""mcp-memory-service's ``sqlite_vec.db``: memories with tags, and what was deleted or replaced.

A memory is known by the hash of its content there. Its vectors are in a table of an extension: they are made anew. Links
between memories that are no replacement have no place here, and are counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from memtui.engine.records import Skip

from .. import base, foreign_values
from ..base import Format, Note, SchemaVersion, StreamHead
from ..databases import Row, number_column, text_column
from ..stream import Stream

SOURCE = "import:mcp-memory-service"
NO_HASH = "no hash"
LINK = "link between two memories that is no replacement"
CANDIDATE = "belief that is not held yet"
_BELIEF_COLUMNS = frozenset(
    ("belief_hash", "content", "confidence", "status", "created_at", "updated_at", "derived_from")
)
_REQUIRED_COLUMNS = frozenset(
    ("id", "content_hash", "content", "tags", "memory_type", "metadata", "created_at")
)
_TEXT_COLUMNS = ("content_hash", "content", "tags", "memory_type", "metadata", "parent_id", "superseded_by")
_NUMBER_COLUMNS = ("created_at", "updated_at", "deleted_at", "confidence")
# A memory without tags is given this one there.
_UNTAGGED = "untagged"
# Written beside the columns of the same name, which say it here.
_LINK_KEYS = frozenset(("superseded_by", "parent_id"))
_MOST_ATTRIBUTES = 20
_LONGEST_ATTRIBUTE = 500
_MAX_DEPTH = 100
_LIST = msgspec.json.Decoder(list[str])
_OBJECT = msgspec.json.Decoder(dict[str, Any])


def _sniff(head: StreamHead) -> bool:
    return _REQUIRED_COLUMNS.issubset(head.tables.get("memories", ()))


def read(stream: Stream) -> Iterator[Note | Skip]:
    """What is replaced before what replaces it, so that the link finds it."""
    tables = stream.tables()
    columns = tables.get("memories", ())
    wanted = ", ".join([
        *(text_column(name, columns, "m.") for name in _TEXT_COLUMNS),
        *(number_column(name, columns, "m.") for name in _NUMBER_COLUMNS),
        # Times are numbers; the first versions wrote text only.
        text_column("created_at_iso", columns, "m."),
        "m.deleted_at IS NOT NULL" if "deleted_at" in columns else "0",
    ])  # fmt: skip
    if "superseded_by" in columns:
        sql = f"""
            WITH RECURSIVE chain(hash, depth) AS (
                SELECT content_hash, 0 FROM memories WHERE superseded_by IS NULL OR superseded_by = ''
                UNION
                SELECT e.content_hash, chain.depth + 1 FROM chain JOIN memories e ON e.superseded_by = chain.hash
                WHERE chain.depth < {_MAX_DEPTH}
            )
            SELECT {wanted}, CAST(e.content_hash AS BLOB)
            FROM memories m
            LEFT JOIN (SELECT hash, max(depth) AS depth FROM chain GROUP BY hash) c ON c.hash = m.content_hash
            LEFT JOIN (SELECT superseded_by, content_hash, min(id) FROM memories WHERE superseded_by <> ''
                       GROUP BY superseded_by) e ON e.superseded_by = m.content_hash
            ORDER BY coalesce(c.depth, {_MAX_DEPTH}) DESC, m.id
            """
    else:
        sql = f"SELECT {wanted}, NULL FROM memories m ORDER BY m.id"
    for row in stream.rows(sql):
        yield row if isinstance(row, Skip) else _parse_note(row, stream)
    if "memory_graph" in tables:
        for row in stream.rows("SELECT 1 FROM memory_graph"):
            yield row if isinstance(row, Skip) else Skip(reason=LINK)
    if _BELIEF_COLUMNS.issubset(tables.get("beliefs", ())):
        yield from _read_beliefs(stream)


FORMAT = Format(
    "mcp-memory-service",
    "mcp-memory-service",
    _sniff,
    read,
    SchemaVersion(19, "migration_registry", "version"),
)


def _parse_note(row: Row, stream: Stream) -> Note | Skip:
    foreign_hash, content, tags, kind, metadata, parent, later = (
        foreign_values.read_text(value) for value in row[:7]
    )
    created, updated, deleted_at, confidence = row[7:11]
    written, deleted, earlier = (
        foreign_values.read_text(row[11]),
        bool(row[12]),
        foreign_values.read_text(row[13]),
    )
    hashed = foreign_values.read_identifier(foreign_hash)
    if hashed is None:
        return stream.skip(NO_HASH)
    if content is None or not content.strip():
        return stream.skip(base.NO_TEXT)
    replaced = bool(later and later.strip())
    ended_at = None
    if deleted or replaced:
        ended_at = (
            foreign_values.event_time(deleted_at if deleted else updated, stream) or stream.source.modified
        )
    type = foreign_values.title_line(kind)
    words = dict.fromkeys(word.strip() for word in (tags or "").split(","))
    before = earlier or parent
    return Note(
        kind="fact",
        content=content,
        source_key=_source_key(hashed),
        source=SOURCE,
        trust="agent",
        event_time=foreign_values.event_time(created if created is not None else written, stream),
        confidence=float(confidence) if isinstance(confidence, int | float) else 1.0,
        ended_at=ended_at,
        ended_by="forgotten" if deleted else "superseded",
        supersedes=_source_key(before) if before and before.strip() else None,
        tags=(*((type,) if type else ()), *(word for word in words if word and word != _UNTAGGED)),
        attributes=_parse_attributes(metadata),
    )


def _read_beliefs(stream: Stream) -> Iterator[Note | Skip]:
    """What it drew from its memories by itself: a model's word. One that is no candidate and not active has ended."""
    for row in stream.rows(
        "SELECT CAST(belief_hash AS BLOB), CAST(content AS BLOB), CAST(status AS BLOB), CAST(created_at AS BLOB), "
        "CAST(updated_at AS BLOB), CAST(derived_from AS BLOB), "
        "CASE WHEN typeof(confidence) IN ('integer', 'real') THEN confidence END FROM beliefs ORDER BY id"
    ):
        if isinstance(row, Skip):
            yield row
            continue
        foreign_hash, content, status, created, updated, derived = (
            foreign_values.read_text(value) for value in row[:6]
        )
        if status == "candidate":
            yield Skip(reason=CANDIDATE)
            continue
        if foreign_values.read_identifier(foreign_hash) is None or content is None or not content.strip():
            yield stream.skip(base.NO_TEXT)
            continue
        ended_at = None
        if status != "active":
            ended_at = foreign_values.event_time(updated, stream) or stream.source.modified
        confidence = row[6]
        yield Note(
            kind="fact",
            content=content,
            source_key=f"mcp-memory-service:belief:{foreign_values.read_identifier(foreign_hash)}",
            source=SOURCE,
            trust="model",
            event_time=foreign_values.event_time(created, stream),
            confidence=float(confidence)
            if isinstance(confidence, int | float) and 0 <= confidence <= 1
            else 1.0,
            ended_at=ended_at,
            ended_by="superseded",
            drawn_from=tuple(_source_key(one) for one in _parse_strings(derived)),
            tags=("belief",),
        )


def _parse_strings(value: str | None) -> list[str]:
    try:
        return _LIST.decode(value or "[]")
    except (msgspec.MsgspecError, RecursionError):
        return []


def _parse_attributes(metadata: str | None) -> dict[str, str | int | float]:
    """The single values of its metadata; lists and objects are of its own workings."""
    try:
        attributes = _OBJECT.decode(metadata or "{}")
    except (msgspec.MsgspecError, RecursionError):
        return {}
    values: dict[str, str | int | float] = {}
    for name, value in attributes.items():
        if len(values) == _MOST_ATTRIBUTES:
            break
        if name in _LINK_KEYS or isinstance(value, bool) or not (short := foreign_values.title_line(name)):
            continue
        if isinstance(value, int | float):
            values[short] = value
        elif isinstance(value, str) and (words := foreign_values.title_line(value, _LONGEST_ATTRIBUTE)):
            values[short] = words
    return values


def _source_key(id: str) -> str:
    return f"mcp-memory-service:{foreign_values.read_identifier(id)}"
