"""Who was talked about in each of the latest months, and with whom; what changed; and which days lie ahead that facts name.

Read in the caller's snapshot.

Persons are counted as ranges of an index, changes among the memories that were written in the place of others. Of very
many only the most mentioned and the latest are looked at.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import tzinfo
from itertools import pairwise
from typing import Any, NamedTuple

import apsw

from memtui.engine.records import DueInMonth, Entity, Month, PersonInMonth, Replacement
from memtui.engine.search.filters.compiler import CompiledFilter
from memtui.engine.search.filters.dates import seconds_of, wall_clock
from memtui.engine.search.filters.sql import AHEAD
from memtui.engine.store import entities, entity_lists, replacements
from memtui.engine.store.sql import as_json

from . import periods

MONTHS = 12
"""So many months before the last in which there is anything; and so many ahead."""
_PERSONS, _BESIDE, _CHANGES = 3, 3, 8
_DAY = 86_400
# So many persons are counted, of each in a month so many memories looked through, and so many changes.
_COUNTED, _LOOKED_THROUGH, _LATEST = 60, 500, 2_000
_OF_PERSON = entity_lists.GROUP.format(eid=":eid")


class _ReplacedFact(NamedTuple):
    """A fact that took the place of another one, and when."""

    id: str
    at: int


def load_months(
    connection: apsw.Connection,
    compiled_filter: CompiledFilter,
    now: float,
    *,
    people: bool,
    tz: tzinfo | None = None,
) -> tuple[Month, ...]:
    """The latest months in which persons were mentioned or facts that pass a filter changed, the last first.

    ``people``: with persons; those are of the whole memory.
    """
    persons = {one.eid: one for one in entity_lists.most_mentioned(connection, "person", _COUNTED)}
    names = _find_name_rows(connection, list(persons)) if people else []
    changed = _find_changed(connection, compiled_filter, int(now))
    seen = [_find_last_mention(connection, names, now), changed[0].at if changed else None]
    last = max((at for at in seen if at is not None), default=None)
    if last is None:
        return ()
    month = periods.beginning_of_period("month", wall_clock(last, tz))
    bounds = periods.period_bounds("month", periods.shift_period("month", month, 1 - MONTHS), MONTHS, tz)
    mentioned = _count_mentions(connection, names, bounds, merged=len(names) > len(persons))
    told = [
        _make_month(connection, begin, end, persons, mentioned[at], changed, now, tz)
        for at, (begin, end) in enumerate(pairwise(bounds))
    ]
    return tuple(one for one in reversed(told) if one.persons or one.changed)


def _make_month(
    connection: apsw.Connection,
    begin: int,
    end: int,
    persons: dict[int, Entity],
    mentioned: Sequence[tuple[int, int]],
    changed: Sequence[_ReplacedFact],
    now: float,
    tz: tzinfo | None,
) -> Month:
    those = [one.id for one in changed if begin <= one.at < end]
    return Month(
        start=begin,
        end=end,
        term=periods.filter_term_of_period("month", begin, tz),
        persons=tuple(
            PersonInMonth(
                person=persons[eid], memories=number, beside=_find_beside(connection, eid, begin, end)
            )
            for eid, number in mentioned[:_PERSONS]
        ),
        others=max(len(mentioned) - _PERSONS, 0),
        changed=len(those),
        changes=_read_replacements(connection, those[:_CHANGES], now),
    )


# -- days ahead


def count_days_ahead(
    connection: apsw.Connection, compiled_filter: CompiledFilter, now: float
) -> tuple[DueInMonth, ...]:
    """The next months with facts that name a day in them and pass a filter, of any topic, without days that are over."""
    rows: Any = connection.execute(
        f"""
        SELECT m.happens_at, count(*) FROM memories m
        WHERE m.kind = 'fact' AND m.valid_until IS NULL AND {AHEAD}
            AND {compiled_filter.where} GROUP BY m.happens_at ORDER BY m.happens_at
        """,
        {**compiled_filter.bindings, "now": now},
    )
    found: dict[int, int] = {}
    for day, facts in rows:
        start = seconds_of(periods.beginning_of_period("month", wall_clock(day)))
        if start not in found and len(found) == MONTHS:
            break
        found[start] = found.get(start, 0) + facts
    return tuple(
        DueInMonth(start=start, term=periods.filter_term_of_period("month", start), facts=facts)
        for start, facts in found.items()
    )


# -- persons


def _find_name_rows(connection: apsw.Connection, persons: Sequence[int]) -> list[int]:
    """The rows of persons: their own, and those merged into them."""
    rows = connection.execute(
        "SELECT eid FROM entities WHERE coalesce(merged_into, eid) IN (SELECT value FROM json_each(?))",
        (as_json(persons),),
    )
    return [int(eid) for (eid,) in rows]


def _find_last_mention(connection: apsw.Connection, names: Sequence[int], now: float) -> int | None:
    [(last,)] = connection.execute(
        """
        SELECT max((SELECT max(at) FROM memory_entities WHERE eid = name.value AND at <= :now))
        FROM json_each(:names) name
        """,
        {"names": as_json(names), "now": int(now)},
    )
    return None if last is None else int(last)


def _count_mentions(
    connection: apsw.Connection, names: Sequence[int], bounds: Sequence[int], *, merged: bool
) -> dict[int, list[tuple[int, int]]]:
    """By the number of a month: the persons, each with the number of its memories, the most first.

    ``merged``: a memory may mention a person by several rows of names.
    """
    number = "count(DISTINCT l.rid)" if merged else "count(*)"
    rows: Any = connection.execute(
        f"""
        SELECT {periods.period_sql("l.at", bounds)} AS month, coalesce(e.merged_into, e.eid) AS person,
            {number} AS number
        FROM json_each(:names) name CROSS JOIN memory_entities l ON l.eid = name.value AND l.at >= :since AND l.at < :until
            CROSS JOIN entities e ON e.eid = l.eid
        GROUP BY 1, 2 ORDER BY month, number DESC, person
        """,
        {"names": as_json(names), "since": bounds[0], "until": bounds[-1]},
    )
    mentions: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for month, person, number in rows:
        mentions[month].append((person, number))
    return mentions


def _find_beside(connection: apsw.Connection, eid: int, begin: int, end: int) -> tuple[Entity, ...]:
    """The other persons whom most memories of a time mention together with this one."""
    rows = connection.execute(
        f"""
        WITH mine AS MATERIALIZED (
            SELECT DISTINCT rid, at FROM memory_entities WHERE eid IN {_OF_PERSON} AND at >= :since AND at < :until
            ORDER BY at DESC, rid DESC LIMIT {_LOOKED_THROUGH})
        SELECT e.eid FROM mine CROSS JOIN memory_entities other ON other.rid = mine.rid
            CROSS JOIN entities name ON name.eid = other.eid
            CROSS JOIN entities e ON e.eid = coalesce(name.merged_into, name.eid)
        WHERE e.eid <> :eid AND NOT e.hidden AND e.type = 'person'
        GROUP BY e.eid ORDER BY count(DISTINCT mine.rid) DESC, e.eid LIMIT {_BESIDE}
        """,
        {"eid": eid, "since": begin, "until": end},
    )
    return tuple(entities.by_eid(connection, [int(other) for (other,) in rows]))


# -- changes


def _find_changed(
    connection: apsw.Connection, compiled_filter: CompiledFilter, now: int
) -> list[_ReplacedFact]:
    """The facts that took the place of another one, the latest first."""
    rows: list[Any] = connection.execute(
        f"""
        SELECT id, at FROM (
            SELECT m.id, m.rid, ({replacements.REPLACED_AT}) AS at
            FROM (SELECT rid FROM ({replacements.CANDIDATES}) ORDER BY rid DESC LIMIT {_LATEST}) candidate
                CROSS JOIN memories m ON m.rid = candidate.rid
            WHERE m.kind = 'fact' AND m.valid_until IS NULL AND {compiled_filter.where} LIMIT -1)
        WHERE at <= :upto ORDER BY at DESC, rid DESC
        """,
        {**compiled_filter.bindings, "upto": now},
    ).fetchall()
    return [_ReplacedFact(id=str(id), at=int(at)) for id, at in rows]


def _read_replacements(
    connection: apsw.Connection, ids: Sequence[str], now: float
) -> tuple[Replacement, ...]:
    replaced = replacements.find_replacements(connection, ids, now)
    those = {one.ids: one for id in ids for one in replaced.get(id, ()) if one.new.id == id}
    return tuple(sorted(those.values(), key=lambda one: (-one.at, -one.new.rid)))
