"""What a list of memories needs: how many, a page, and the keys of all rows in the same order.

Every order is total (ties are broken by time, then by rid), so that pages neither repeat nor lose a row.
The default orders are read from an index: the first page costs the same at a thousand rows and at a million.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Literal

import apsw

from memtui.engine.confidence import EFFECTIVE_SQL
from memtui.engine.records import TRUST_ORDER, MemoryRecord
from memtui.engine.store import memories
from memtui.engine.store.fading import FADES_AT
from memtui.engine.store.sql import keys_in_chunks

from .filters.compiler import CompiledFilter
from .filters.terms import parse_filter

SortKey = Literal["time", "created", "confidence", "kind", "content", "trust", "accessed", "day", "fades"]
DEFAULT_LIST = "kind:fact,reflection,observation"

_TRUST_RANK = " ".join(f"WHEN '{trust}' THEN {rank}" for rank, trust in enumerate(TRUST_ORDER))
_ORDERS: dict[SortKey, str] = {
    "created": "m.created_at",
    "confidence": EFFECTIVE_SQL,
    "kind": "m.kind",
    "content": "m.content COLLATE NOCASE",
    "trust": f"CASE m.trust {_TRUST_RANK} END",
    "accessed": "coalesce(m.last_accessed, 0)",
}
# What is about no day, or does not fade, comes last either way.
_LAST_WITHOUT: dict[SortKey, str] = {"day": "m.happens_at", "fades": f"({FADES_AT})"}

# A filter with one of these terms decides itself about turns.
_NAMES_KINDS = frozenset({"kind", "id", "role", "session"})


def without_turns(filter: str) -> str:
    """The filter with the kinds of ``DEFAULT_LIST``, unless it decides itself about turns. Raises FilterError."""
    if any(term.key in _NAMES_KINDS for term in parse_filter(filter)):
        return filter
    return f"{filter} {DEFAULT_LIST}".strip()


def count(connection: apsw.Connection, filter: CompiledFilter) -> int:
    """How many memories pass."""
    [(rows,)] = connection.execute(f"SELECT count(*) FROM memories m WHERE {filter.where}", filter.bindings)
    return int(rows)


def page(
    connection: apsw.Connection,
    filter: CompiledFilter,
    *,
    sort: SortKey = "time",
    descending: bool = True,
    offset: int = 0,
    limit: int = 128,
    now: float,
) -> list[MemoryRecord]:
    """At most ``limit`` memories from ``offset`` on."""
    found = connection.execute(
        f"{_select_statement(filter, sort, descending)} LIMIT :limit OFFSET :offset",
        {**filter.bindings, "now": now, "limit": limit, "offset": offset},
    )
    return memories.by_rid(connection, [rid for (rid,) in found], now)


def rids(
    connection: apsw.Connection,
    filter: CompiledFilter,
    *,
    sort: SortKey = "time",
    descending: bool = True,
    now: float,
) -> Iterator[array[int]]:
    """The rids of all memories that pass, in the order of ``page``, in arrays of at most 8,192."""
    cursor = connection.execute(_select_statement(filter, sort, descending), {**filter.bindings, "now": now})
    return keys_in_chunks(cursor)


def _select_statement(filter: CompiledFilter, sort: SortKey, descending: bool) -> str:
    down = " DESC" if descending else ""
    ties = "m.event_time DESC, m.rid DESC"
    if sort == "time":
        order = f"m.event_time{down}, m.rid{down}"
    elif sort in _LAST_WITHOUT:
        moment = _LAST_WITHOUT[sort]
        order = f"{moment} IS NULL, {moment}{down}, {ties}"
    else:
        order = f"{_ORDERS[sort]}{down}, {ties}"
    return f"SELECT m.rid FROM memories m WHERE {filter.where} ORDER BY {order}"
