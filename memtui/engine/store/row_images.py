"""Rows as history keeps them: the covered columns by name."""

from __future__ import annotations

from typing import Any

import apsw
import msgspec

from .tables import COVERED


def parse_image(json: Any) -> dict[str, Any] | None:
    """What is in ``before`` or ``after`` of a change."""
    return msgspec.json.decode(json, type=dict[str, Any]) if json else None


def current_row(connection: apsw.Connection, table: str, key: int) -> dict[str, Any] | None:
    """The covered columns of a row as it is now."""
    covered = COVERED[table]
    row = connection.execute(
        f"SELECT {', '.join(covered.all_columns)} FROM {table} WHERE {covered.key} = ?", (key,)
    ).fetchone()
    return dict(zip(covered.all_columns, row, strict=True)) if row else None


def insert_row(connection: apsw.Connection, table: str, image: dict[str, Any]) -> None:
    """Bring a row back from its image; inside the caller's operation."""
    connection.execute(
        f"INSERT INTO {table}({', '.join(image)}) VALUES ({', '.join('?' * len(image))})",
        tuple(image.values()),
    )
