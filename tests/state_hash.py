"""One hash for all that history covers: two states with the same hash are the same to a person.

Left out, as history leaves them out: access counts, spans of sessions, counts of mentions, and entities that
a program found by itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import apsw
from memtui import Memory
from memtui.engine.store.tables import COVERED


def covered_rows(connection: apsw.Connection) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """(table, covered columns) of every row that somebody decided on."""
    for table, covered in COVERED.items():
        if covered.only:
            continue  # who decided, not what
        where = (
            f"WHERE EXISTS (SELECT 1 FROM changes WHERE tbl = '{table}' AND {covered.key} BETWEEN lo AND hi)"
            if covered.derivable
            else ""
        )
        columns = ", ".join((covered.key, *covered.columns))
        for row in connection.execute(f"SELECT {columns} FROM {table} {where} ORDER BY {covered.key}"):
            yield table, row


def state_hash(connection: apsw.Connection) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for table, row in covered_rows(connection):
        digest.update(repr((table, row)).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def all_rids(memory: Memory, filter: str = "") -> list[int]:
    return [rid for chunk in memory.view.rids(filter) for rid in chunk]
