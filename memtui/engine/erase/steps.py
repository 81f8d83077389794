"""One change that an erase makes to a row outside of what it erases."""

from __future__ import annotations

from typing import Any, NamedTuple

from memtui.engine.records.erase import Carrier


class Step(NamedTuple):
    """What to do to the rows with a key: delete them (``values`` None) or set columns.

    ``carrier``: what the person is shown of it.
    """

    table: str
    key_column: str
    key: int | str
    values: dict[str, Any] | None
    carrier: Carrier | None
