"""Values and rows that stay no longer name memories that go."""

from __future__ import annotations

from typing import Any

import apsw
import msgspec

from memtui.engine.store.sql import as_json, json_text

_decode = msgspec.json.Decoder().decode

NOTHING = object()
"""What ``without_ids`` returns where nothing is left."""


def without_ids(value: Any, ids: frozenset[str]) -> Any:
    """A JSON value without these ids: out of lists they are taken; ``NOTHING`` where nothing would be left."""
    if isinstance(value, str):
        return NOTHING if value in ids else value
    if isinstance(value, list):
        left = [new for one in value if (new := without_ids(one, ids)) is not NOTHING]
        return NOTHING if value and not left else left
    if isinstance(value, dict):
        parts = {key: without_ids(one, ids) for key, one in value.items()}
        return NOTHING if NOTHING in parts.values() else parts
    return value


def list_without(ids: list[str], erased: frozenset[str]) -> list[str]:
    """The list without these ids."""
    left = without_ids(ids, erased)
    return [] if left is NOTHING else left


def attributes_without(attributes: dict[str, Any], ids: frozenset[str]) -> dict[str, Any]:
    """The attributes of a memory without these ids, and without the reason for replacing one of them."""
    left = {
        key: rest for key, value in attributes.items() if (rest := without_ids(value, ids)) is not NOTHING
    }
    if "supersedes" not in left and "supersedes" in attributes:
        left.pop("conflict_reason", None)
    return left


def clear_references(connection: apsw.Connection, erased: frozenset[str]) -> None:
    """Take these ids out of the sources and the attributes of all other memories."""
    for rid, sources, attributes in connection.execute(
        """
        SELECT DISTINCT m.rid, m.source_ids, m.attributes FROM memory_links l JOIN memories m ON m.id = l.from_id
        WHERE l.to_id IN (SELECT value FROM json_each(?1)) AND m.id NOT IN (SELECT value FROM json_each(?1))
        """,
        (as_json(erased),),
    ).fetchall():
        connection.execute(
            "UPDATE memories SET source_ids = ?, attributes = ? WHERE rid = ?",
            (
                json_text(list_without(_decode(str(sources)), erased)),
                json_text(attributes_without(_decode(str(attributes)), erased)),
                rid,
            ),
        )
