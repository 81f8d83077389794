"""Review cards for conflicting decisions of two devices: the memories that such a card shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import apsw

from memtui.engine.errors import NotFoundError
from memtui.engine.records import MemoryRecord

from . import memories

DEVICES = "devices"
"""The kind of such a card."""


def sides(connection: apsw.Connection, payload: Mapping[str, Any], now: float) -> tuple[MemoryRecord, ...]:
    """What stands on each side. One that was corrected since is shown as it is now; what is gone is left out."""
    ids = [str(id) for id in payload["memories"]]
    found: dict[str, MemoryRecord] = {}
    for id in ids:
        try:
            one = _current(connection, id, ids, now)
        except NotFoundError:
            continue
        found.setdefault(one.id, one)
    return tuple(found.values())


def _current(connection: apsw.Connection, id: str, ids: list[str], now: float) -> MemoryRecord:
    one = memories.get(connection, id, now)
    seen = {one.id}
    while not one.active and one.ended_by in ("superseded", "merged"):
        relation = "supersedes" if one.ended_by == "superseded" else "merged"
        later = memories.linked(connection, one.id, relation, now, back=True)
        # What took its place as the other side of the card is not what this side became.
        later = [new for new in later if new.id not in seen and new.id not in ids]
        if not later:
            break
        one = later[-1]
        seen.add(one.id)
    return one
