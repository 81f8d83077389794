"""A small help for statements that answer with one value or one row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw


def storable(text: str) -> str:
    """The text as SQLite can take it: half a character (a lone surrogate) becomes U+FFFD."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def scalar(connection: apsw.Connection, statement: str, values: Sequence[Any] | dict[str, Any] = ()) -> Any:
    """The first column of the first row; None when there is no row."""
    row = connection.execute(statement, values).fetchone()
    return row[0] if row else None
