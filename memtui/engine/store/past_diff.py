"""Changes of the memories between two moments: one line for each memory, however many operations changed it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import apsw

from memtui.engine.records import MemoryRecord
from memtui.engine.records.history import PastChange, PastDiff, PastVerb

from .connections import Connections
from .past import Past, joined_runs
from .sql import scalar

MAX_CHANGES = 1_000
_AT_ONCE = 500
_ENDED: dict[str, PastVerb] = {
    "forgotten": "forgotten", "faded": "faded", "superseded": "superseded", "merged": "merged",
}  # fmt: skip


class _TouchedMemory(NamedTuple):
    op_id: int
    at: int


def compare_moments(
    connections: Connections, before: Past, after: Past, *, limit: int = MAX_CHANGES
) -> PastDiff:
    """From the earlier to the later of two moments; ``limit`` changes at most, all are counted."""
    if after.at < before.at:
        before, after = after, before
    with connections.read() as connection:
        touched, added, came = _find_touched(connection, before, after)
    changes = {change.memory.rid: change for change in _make_changes(before, after, sorted(touched))}
    by_id = {change.memory.id: change for change in changes.values()}
    for chain in [_first_version(change, by_id) for change in changes.values()]:
        if chain is not None:
            change, old, passed = chain
            changes[change.memory.rid] = PastChange(verb="corrected", before=old, after=change.after)
            for rid in passed:
                changes.pop(rid, None)
    counts: Counter[str] = Counter()
    turns: Counter[str] = Counter(added=came)
    listed = []
    for rid, change in changes.items():
        of_turns = change.memory.kind == "episode"
        (turns if of_turns else counts)[change.verb] += 1
        if not of_turns:
            touch = added.get(rid) if change.verb == "added" else None
            listed.append((touch or touched[rid], change))
    listed.sort(key=lambda one: (one[0].op_id, one[1].memory.rid), reverse=True)
    turns = +turns
    shown = tuple(
        PastChange(
            verb=one.verb, before=one.before, after=one.after, at=touch.at or None, op_id=touch.op_id or None
        )
        for touch, one in listed[:limit]
    )
    return PastDiff(
        start=before.at, end=after.at, counts=dict(counts), turns=dict(turns), changes=shown,
        more=len(listed) - len(shown), coverage=before.coverage,
    )  # fmt: skip


def _find_touched(
    connection: apsw.Connection, before: Past, after: Past
) -> tuple[dict[int, _TouchedMemory], dict[int, _TouchedMemory], int]:
    """The keys of memories that an operation in between touched, with the last such operation; those that one added, with
    that one; and how many turns came in and have stayed as they came, which are too many to be looked at one by one.
    """
    touched: dict[int, _TouchedMemory] = {}
    added: dict[int, _TouchedMemory] = {}
    if not before.coverage.complete:
        rows: Any = connection.execute(
            "SELECT rid FROM memories WHERE created_at > ?1 AND created_at <= ?2 OR valid_until > ?1 AND valid_until <= ?2",
            (before.at, after.at),
        )
        touched = {rid: _TouchedMemory(0, 0) for (rid,) in rows}
    runs = []
    rows = connection.execute(
        """
        SELECT c.act, c.lo, c.hi, o.op_id, o.at FROM changes c JOIN ops o ON o.op_id = c.op_id
        WHERE c.op_id > ? AND c.op_id <= ? AND c.tbl = 'memories' ORDER BY c.seq
        """,
        (before.operation, after.operation),
    )
    for act, low, high, op_id, at in rows.fetchall():
        rids: Iterable[int] = (low,)
        if act == "insert":
            runs.append((low, high))
            notes: Any = connection.execute(
                "SELECT rid FROM memories WHERE rid BETWEEN ? AND ? AND kind <> 'episode'", (low, high)
            )
            rids = {
                *(rid for (rid,) in notes),
                *before.changed_later(low, high),
                *after.changed_later(low, high),
            }
            added.update((rid, _TouchedMemory(op_id, at)) for rid in rids)
        touched.update((rid, _TouchedMemory(op_id, at)) for rid in rids)
    each = sorted(touched)
    turns = 0
    for low, high in joined_runs(runs):
        known = each[bisect_left(each, low) : bisect_right(each, high)]
        turns += _active_turns(connection, "rid BETWEEN ? AND ?", (low, high))
        for start in range(0, len(known), _AT_ONCE):
            some = known[start : start + _AT_ONCE]
            turns -= _active_turns(connection, f"rid IN ({','.join('?' * len(some))})", some)
    return touched, added, turns


def _active_turns(connection: apsw.Connection, where: str, values: Sequence[int]) -> int:
    return int(
        scalar(
            connection,
            f"SELECT count(*) FROM memories WHERE {where} AND kind = 'episode' AND valid_until IS NULL",
            tuple(values),
        )
    )


def _make_changes(before: Past, after: Past, rids: list[int]) -> Iterator[PastChange]:
    for start in range(0, len(rids), _AT_ONCE):
        some = rids[start : start + _AT_ONCE]
        old = {one.rid: one for one in before.rows(some)}
        new = {one.rid: one for one in after.rows(some)}
        for rid in some:
            verb = _change_verb(old.get(rid), new.get(rid))
            if verb is not None:
                yield PastChange(verb=verb, before=old.get(rid), after=new.get(rid))


def _change_verb(old: MemoryRecord | None, new: MemoryRecord | None) -> PastVerb | None:
    """None where a person would see no difference."""
    if new is None:
        return "removed" if old is not None and old.active else None
    if old is None:
        return "added" if new.active else "passing"
    if not old.active or not new.active:
        if old.active:
            return _ENDED[new.ended_by or "forgotten"]
        return "restored" if new.active else None
    if old.content != new.content:
        return "corrected"
    if old.protected != new.protected:
        return "confirmed" if new.protected else "unconfirmed"
    if (old.confidence, old.decay_rate) != (new.confidence, new.decay_rate):
        return "confidence"
    if old.tags != new.tags:
        return "tagged"
    seen = (old.kind, old.category, old.project, old.source_ids, old.attributes, old.trust, old.event_time)
    return None if seen == (
        new.kind, new.category, new.project, new.source_ids, new.attributes, new.trust, new.event_time
    ) else "changed"  # fmt: skip


def _first_version(
    change: PastChange, by_id: dict[str, PastChange]
) -> tuple[PastChange, MemoryRecord, list[int]] | None:
    """Of a correction: the text that was in force at the first moment, and the versions that it went through."""
    if change.verb not in ("added", "restored") or change.after is None:
        return None
    passed: list[int] = []
    id = change.after.supersedes
    while id is not None and (earlier := by_id.get(id)) is not None:
        if earlier.memory.rid in passed:
            return None
        passed.append(earlier.memory.rid)
        if earlier.verb == "superseded" and earlier.before is not None:
            return change, earlier.before, passed
        if earlier.verb != "passing":
            return None
        id = earlier.memory.supersedes
    return None
