"""What an erase took along beside memories, as devices tell each other of it: by hashes, for names may tell of what went.

A row of ``sync_erased`` is a memory, entity or session that was erased, or ``covered:ID`` of a row that stays without words
of its own, or ``cleared:SALT:HASH`` of a note of the scratchpad, a saved question or a tag that went.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import apsw

from .tombstones import keys_hash

Row = TypeVar("Row")
COVERED, CLEARED = "covered:", "cleared:"


def cleared_name(key: str, salt: bytes) -> str:
    return f"{CLEARED}{salt.hex()}:{keys_hash(key, salt).hex()}"


def notes(connection: apsw.Connection, pad_id: int | None = None) -> dict[int, str]:
    """Notes of the scratchpad (all, or one) by their row: the key of each as it stands here."""
    rows: Any = connection.execute(
        "SELECT pad_id, key, value FROM scratchpad WHERE ?1 IS NULL OR pad_id = ?1", (pad_id,)
    )
    return {key: "\0".join(("pad", *texts)) for key, *texts in rows}


def questions(connection: apsw.Connection, query_id: int | None = None) -> dict[int, str]:
    """The same of saved questions."""
    rows: Any = connection.execute(
        "SELECT query_id, name, query, filter FROM saved_queries WHERE ?1 IS NULL OR query_id = ?1",
        (query_id,),
    )
    return {key: "\0".join(("question", *texts)) for key, *texts in rows}


def tags(connection: apsw.Connection, rid: int | None = None) -> dict[tuple[int, str], str]:
    """The same of tags, by memory and tag."""
    rows: Any = connection.execute(
        "SELECT m.rid, m.id, t.value FROM memories m, json_each(m.tags) t WHERE m.tags <> '[]' AND (?1 IS NULL OR m.rid = ?1)",
        (rid,),
    )
    return {(key, tag): "\0".join(("tag", id, tag)) for key, id, tag in rows}


def rows_among(rows: Mapping[Row, str], cleared: Iterable[str]) -> list[Row]:
    """The rows whose keys are among these names (``cleared_name``)."""
    hashes_by_salt: dict[bytes, set[bytes]] = {}
    for name in cleared:
        salt, _, hash = name.removeprefix(CLEARED).partition(":")
        hashes_by_salt.setdefault(bytes.fromhex(salt), set()).add(bytes.fromhex(hash))
    return [
        row
        for row, key in rows.items()
        if any(keys_hash(key, salt) in hashes for salt, hashes in hashes_by_salt.items())
    ]
