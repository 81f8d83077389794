"""The portrait: what is known about the person, by topic. Everything is read from indexes, in the caller's snapshot.

The strongest facts of a topic are chosen among those that ``facts_by_topic`` gives first: confirmed, then by stored
confidence, then the newest. So a topic of a hundred thousand facts costs as much as one of fifty.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, get_args

import apsw
from msgspec.structs import replace

from memtui.engine.records import (
    FadingFact,
    MemoryRecord,
    Options,
    Plans,
    Portrait,
    Replacement,
    Status,
    Topic,
    TopicFacts,
)
from memtui.engine.records.portrait import FROM_AGENTS
from memtui.engine.review import scan
from memtui.engine.search import cautions
from memtui.engine.search.filters import dates
from memtui.engine.search.filters.compiler import CompiledFilter, compile_filter
from memtui.engine.search.filters.sql import AHEAD, FADING_DAYS, STATES
from memtui.engine.search.scope import make_scope, rids_in_scope
from memtui.engine.store import entity_lists, fading, memories, recalls, replacements, sessions
from memtui.engine.store.sql import as_json, scalar

from .months import count_days_ahead, load_months

NEW = "7d"
"""How long a fact is new, as the filter language has it: ``added:7d``."""
PEOPLE = NEWEST = FADING = CHANGES = 8
"""So many persons, new facts, fading facts and changes are in a portrait."""
_DAY = 86_400
# Among so many times the facts that are wanted the strongest are chosen.
_LOOKED_AT = 4
_LEAST_LOOKED_AT = 32
_TOPICS: tuple[Topic | None, ...] = (*get_args(Topic), None)

_FACT = "m.kind = 'fact' AND m.valid_until IS NULL"
# What was written down before is not new again when it is corrected.
_NEW = f"(m.created_at >= :since AND ({replacements.LEARNED_AT}) >= :since)"
_CONFIRMED = "(m.confirmed_at IS NOT NULL)"
_STRONGEST = f"{_CONFIRMED} DESC, m.confidence DESC, m.event_time DESC"


def make_portrait(
    connection: apsw.Connection,
    filter: str,
    options: Options,
    now: float,
    status: Status,
    each: int,
    since: str = NEW,
    *,
    months: bool = True,
) -> Portrait:
    """The portrait of what passes a filter, with at most ``each`` facts of a topic. Raises FilterError.

    Suspicious memories are left out until the person has decided.

    With a filter it names no people: those are of the whole memory. ``since``: from when on a fact is new, a date of the
    filter language. ``months``: with what happened in the latest months.
    """
    suspicious = scan.suspicious_rids(connection, now)
    compiled_filter = _exclude_rids(
        suspicious, compile_filter(filter, now, fade_threshold=options.fade_threshold)
    )
    # That it is a date, and what passes as changed since.
    since = "-".join(since.split())
    lately = compile_filter(
        f"{filter} kind:fact changed:{since}..", now, fade_threshold=options.fade_threshold
    )
    new_from = new_since(now, since)
    reworded = _reworded(connection, compiled_filter, new_from)
    by_topic = _topics_with_facts(connection, compiled_filter, now, each, new_from, reworded)
    plans = _load_plans(connection, compiled_filter, now, each, new_from)
    newest = _newest_facts(connection, compiled_filter, new_from, now)
    changed, changes = _recent_replacements(connection, _exclude_rids(suspicious, lately), new_from, now)
    agents = compile_filter(
        f"{filter} {FROM_AGENTS} on:{since}..", now, fade_threshold=options.fade_threshold
    )
    by_agents, from_agents = _from_agents(connection, _exclude_rids(suspicious, agents), now)
    fades, soonest = _fading_facts(
        connection, compiled_filter, frozenset(suspicious), options.fade_threshold, now
    )
    shown = [
        *(one.new for one in changes),
        *newest,
        *from_agents,
        *(one.memory for one in soonest),
        *(fact for one in by_topic for fact in one.facts),
        *plans.next,
        *plans.undated,
    ]
    ids = {one.id for one in shown}
    replaced = replacements.find_replacements(connection, ids, now)
    return Portrait(
        since=new_from,
        topics=by_topic,
        people=() if filter else tuple(entity_lists.most_mentioned(connection, "person", PEOPLE)),
        newest=tuple(newest),
        reworded=frozenset(reworded),
        fading=tuple(soonest),
        fades=fades,
        pending_sessions=sessions.count_pending(connection),
        status=status,
        cautions=cautions.find_cautions(connection, ids, now),
        by_agents=by_agents,
        from_agents=from_agents,
        changed=changed,
        changes=changes,
        replaced={
            id: those
            for id, replaced_facts in replaced.items()
            if id in ids
            and (those := tuple(one for one in replaced_facts if one.new.id == id or one.how == "asked"))
        },
        months=load_months(connection, compiled_filter, now, people=not filter) if months else (),
        plans=plans,
        due=count_days_ahead(connection, compiled_filter, now),
        other_notes=_count_other_notes(connection, compiled_filter),
        told=recalls.recall_counts_since(connection, new_since(now))[1],
    )


def _count_other_notes(connection: apsw.Connection, compiled_filter: CompiledFilter) -> int:
    where = f"m.kind <> 'episode' AND m.kind <> 'fact' AND m.valid_until IS NULL AND {compiled_filter.where}"
    return int(scalar(connection, f"SELECT count(*) FROM memories m WHERE {where}", compiled_filter.bindings))


def trusted_facts_filter(
    connection: apsw.Connection, compiled_filter: CompiledFilter, now: float
) -> CompiledFilter:
    """A filter without the suspicious memories that wait for the person's decision."""
    return _exclude_rids(scan.suspicious_rids(connection, now), compiled_filter)


def _exclude_rids(rids: Sequence[int], filter: CompiledFilter) -> CompiledFilter:
    if not rids:
        return filter
    where = f"({filter.where}) AND m.rid NOT IN (SELECT value FROM json_each(:left_out))"
    return replace(filter, where=where, bindings={**filter.bindings, "left_out": as_json(rids)})


def new_since(now: float, since: str = NEW) -> int:
    """The time from which on a fact is new."""
    period = dates.parse_period(since, now)
    assert period is not None
    return period[0]


def list_topic_facts(
    connection: apsw.Connection, compiled_filter: CompiledFilter, now: float, each: int
) -> tuple[TopicFacts, ...]:
    """The topics of the facts that pass a filter, each with its counts and its strongest facts."""
    since = new_since(now)
    reworded = _reworded(connection, compiled_filter, since)
    return _topics_with_facts(connection, compiled_filter, now, each, since, reworded)


def _topics_with_facts(
    connection: apsw.Connection,
    compiled_filter: CompiledFilter,
    now: float,
    each: int,
    since: int,
    reworded: Mapping[str, Topic | None],
) -> tuple[TopicFacts, ...]:
    """``reworded``: the facts written down since that are not new, because they correct what was known."""
    rows: list[Any] = connection.execute(
        f"""
        SELECT m.topic, count(*), sum{_CONFIRMED}, sum(m.created_at >= :since) FROM memories m
        WHERE {_FACT} AND {compiled_filter.where} GROUP BY m.topic
        """,
        {**compiled_filter.bindings, "since": since},
    ).fetchall()
    corrections = Counter(reworded.values())
    counted = {topic: counts for topic, *counts in rows}
    pinned = _pinned_rids(connection, compiled_filter)
    return tuple(
        TopicFacts(
            topic=topic, total=total, confirmed=confirmed, new=new - corrections[topic],
            facts=tuple(facts), dangers=_count_dangers(topic, facts),
        )
        for topic in _TOPICS
        if topic in counted
        for total, confirmed, new in [counted[topic]]
        for facts in [_strongest_facts(connection, compiled_filter, topic, pinned, now, each)]
    )  # fmt: skip


def _load_plans(
    connection: apsw.Connection, compiled_filter: CompiledFilter, now: float, each: int, since: int
) -> Plans:
    """What lies ahead, and the other plans, of the facts that pass a filter; ``each`` facts of both."""
    bindings = {
        **compiled_filter.bindings, "since": since,
        "pinned": as_json(_pinned_rids(connection, compiled_filter)),
    }  # fmt: skip
    ahead = f"{_FACT} AND {AHEAD} AND {compiled_filter.where}"
    others = f"{_FACT} AND m.topic = 'plan' AND ({AHEAD}) IS NOT TRUE AND {compiled_filter.where}"
    numbers = f"count(*), count(*) FILTER (WHERE {_NEW}), count(m.happens_at)"
    [counted] = connection.execute(f"SELECT {numbers} FROM memories m WHERE {ahead}", bindings)
    [counted_others] = connection.execute(f"SELECT {numbers} FROM memories m WHERE {others}", bindings)
    dated = _find_rids(connection, ahead, "m.happens_at, m.rid", {**bindings, "limit": each})
    undated = _strongest_rids(connection, f"{others} AND m.happens_at IS NULL", bindings, each)
    return Plans(
        ahead=counted[0], ahead_new=counted[1], next=tuple(memories.by_rid(connection, dated, now)),
        others=counted_others[0], others_new=counted_others[1], over=counted_others[2],
        undated=tuple(sorted(memories.by_rid(connection, undated, now), key=_by_strength)[:each]),
    )  # fmt: skip


def _strongest_facts(
    connection: apsw.Connection,
    compiled_filter: CompiledFilter,
    topic: Topic | None,
    pinned: Sequence[int],
    now: float,
    each: int,
) -> list[MemoryRecord]:
    where = f"{_FACT} AND m.topic IS :topic AND {compiled_filter.where}"
    bindings = {**compiled_filter.bindings, "topic": topic, "pinned": as_json(pinned)}
    if topic == "plan":
        ahead = _find_rids(
            connection, f"{where} AND {AHEAD}", "m.happens_at, m.rid", {**bindings, "limit": each}
        )
        undated = _strongest_rids(connection, f"{where} AND m.happens_at IS NULL", bindings, each)
        return sorted(memories.by_rid(connection, [*ahead, *undated], now), key=_by_day)[:each]
    known = memories.by_rid(connection, _strongest_rids(connection, where, bindings, each), now)
    if topic == "health":
        return _dangers_first(known, each)
    return sorted(known, key=_by_strength)[:each]


def _strongest_rids(
    connection: apsw.Connection, where: str, bindings: dict[str, Any], each: int
) -> list[int]:
    """The facts among which the ``each`` strongest are: those of ``:pinned``, and the first of the index."""
    pinned = f"{where} AND m.rid IN (SELECT value FROM json_each(:pinned))"
    most = max(each * _LOOKED_AT, _LEAST_LOOKED_AT)
    return list(
        dict.fromkeys(
            [
                *_find_rids(connection, pinned, "m.rid", bindings),
                *_find_rids(connection, where, _STRONGEST, {**bindings, "limit": most}),
            ]
        )
    )


def _dangers_first(facts: Sequence[MemoryRecord], each: int) -> list[MemoryRecord]:
    """Health: what may do harm comes first, and no other fact takes its place: all of it is shown, even beyond ``each``."""
    from memtui.engine.consolidation.extract.severity import is_severe

    by_strength = sorted(facts, key=_by_strength)
    dangers = [one for one in by_strength if is_severe(one.content)]
    others = [one for one in by_strength if one not in dangers]
    return [*dangers, *others[: max(0, each - len(dangers))]]


def _count_dangers(topic: Topic | None, facts: Sequence[MemoryRecord]) -> int:
    """How many facts may do harm if they are forgotten; of health alone, where they come first."""
    from memtui.engine.consolidation.extract.severity import is_severe

    return sum(is_severe(one.content) for one in facts) if topic == "health" else 0


def _find_rids(connection: apsw.Connection, where: str, order: str, bindings: dict[str, Any]) -> list[int]:
    limited = " LIMIT :limit" if "limit" in bindings else ""
    rows = connection.execute(
        f"SELECT m.rid FROM memories m WHERE {where} ORDER BY {order}{limited}", bindings
    )
    return [int(rid) for (rid,) in rows]


def _by_strength(fact: MemoryRecord) -> tuple[Any, ...]:
    return not fact.pinned, not fact.protected, -round(fact.effective, 2), -fact.event_time, -fact.rid


def _by_day(plan: MemoryRecord) -> tuple[Any, ...]:
    """Plans with a day in its order, then the others."""
    if plan.happens_at is None:
        return 1, 0, *_by_strength(plan)
    return 0, plan.happens_at, plan.rid


def _pinned_rids(connection: apsw.Connection, compiled_filter: CompiledFilter) -> list[int]:
    rows = connection.execute(
        f"""
        SELECT m.rid FROM memories m INDEXED BY memories_with_attributes
        WHERE {STATES["pinned"]} AND {_FACT} AND {compiled_filter.where} ORDER BY m.rid DESC
        """,
        compiled_filter.bindings,
    )
    return [int(rid) for (rid,) in rows]


def _newest_facts(
    connection: apsw.Connection, compiled_filter: CompiledFilter, since: int, now: float
) -> list[MemoryRecord]:
    """The facts that were written down since, the last first."""
    rows = connection.execute(
        f"""
        SELECT m.rid FROM memories m
        WHERE {_FACT} AND {_NEW} AND ({STATES["past"]}) IS NOT TRUE AND {compiled_filter.where}
        ORDER BY m.created_at DESC, m.rid DESC LIMIT {NEWEST}
        """,
        {**compiled_filter.bindings, "since": since},
    )
    return memories.by_rid(connection, [int(rid) for (rid,) in rows], now)


def _reworded(connection: apsw.Connection, filter: CompiledFilter, since: int) -> dict[str, Topic | None]:
    """The facts (by id, with their topics) that were written down since, and correct what was learned before."""
    rows: list[Any] = connection.execute(
        f"""
        SELECT m.id, m.topic FROM memories m WHERE m.id IN (
            SELECT l.from_id FROM memories o INDEXED BY memories_ended
            CROSS JOIN memory_links l ON l.to_id = o.id AND l.rel = 'supersedes' WHERE o.valid_until >= :since)
        AND {_FACT} AND m.created_at >= :since AND NOT {_NEW} AND {filter.where}
        """,
        {**filter.bindings, "since": since},
    ).fetchall()
    return {str(id): topic for id, topic in rows}


def _from_agents(
    connection: apsw.Connection, lately: CompiledFilter, now: float
) -> tuple[int, tuple[MemoryRecord, ...]]:
    """How many notes agents wrote since, and the latest of them."""
    rows: list[Any] = connection.execute(
        f"SELECT m.rid FROM memories m WHERE {lately.where} ORDER BY m.event_time DESC, m.rid DESC",
        lately.bindings,
    ).fetchall()
    latest = [int(rid) for (rid,) in rows[:CHANGES]]
    return len(rows), tuple(memories.by_rid(connection, latest, now))


def _recent_replacements(
    connection: apsw.Connection, lately: CompiledFilter, since: int, now: float
) -> tuple[int, tuple[Replacement, ...]]:
    """How many facts took the place of another one since, and the latest of these replacements."""
    rows: list[Any] = connection.execute(
        f"SELECT m.id FROM memories m WHERE m.id IN ({replacements.LATELY}) AND {lately.where}",
        {**lately.bindings, "since": since},
    ).fetchall()
    ids = [str(id) for (id,) in rows]
    found = replacements.find_replacements(connection, ids, now)
    those = {one.ids: one for id in ids for one in found.get(id, ()) if one.new.id == id}
    latest = sorted(
        (one for one in those.values() if one.at >= since), key=lambda one: (-one.at, -one.new.rid)
    )
    return len(ids), tuple(latest[:CHANGES])


def _fading_facts(
    connection: apsw.Connection,
    compiled_filter: CompiledFilter,
    left_out: frozenset[int],
    threshold: float,
    now: float,
) -> tuple[int, list[FadingFact]]:
    """How many facts fade within a week, and the first of them."""
    until = now + FADING_DAYS * _DAY
    upcoming = [one for one in fading.upcoming_fades(connection, threshold, until) if one.rid not in left_out]
    if compiled_filter.terms:
        inside = rids_in_scope(connection, make_scope(compiled_filter), (one.rid for one in upcoming))
        upcoming = [one for one in upcoming if one.rid in inside]
    at = {one.rid: one.fades_at for one in upcoming[:FADING]}
    known = memories.by_rid(connection, list(at), now)
    return len(upcoming), [FadingFact(memory=one, fades_at=at[one.rid]) for one in known]
