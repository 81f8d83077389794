"""Rows of ``proposals``: questions that wait in Review, and decided ones, so that none is asked twice.

The id follows from what a proposal is about, so that the same question is one row however often it comes up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import apsw
import msgspec

from memtui.engine.errors import NotFoundError
from memtui.engine.records import MemoryRecord, Record

from . import memories
from .sql import as_json, scalar

CONFLICT, QUARANTINED, CHANGE_REQUEST, DEPENDENTS = "conflict", "held", "wish", "drawn"
"""Kinds: two facts of which one may be wrong; a text that is not remembered until the person says so; what an agent asks
for; what was drawn from something that no longer holds."""
State = Literal["open", "snoozed", "accepted", "rejected"]

MAX_PROPOSALS = 10_000
"""How many cards of a kind are looked at; more are not decided one by one."""
_COLUMNS = "id, kind, payload, state, snoozed_until, created_at, decided_at"
_LATEST_FIRST = "ORDER BY CASE kind WHEN 'devices' THEN created_at ELSE proposal_id END DESC, id"
"""Cards of a dispute stand in the same order on every device, whichever came first there."""
_payload = msgspec.json.Decoder(dict[str, Any]).decode
_encode = msgspec.json.Encoder(order="deterministic").encode


class Proposal(Record):
    """One row. ``payload`` depends on ``kind``: see consolidation/compare/conflicts.py and review/."""

    id: str
    kind: str
    payload: dict[str, Any]
    state: State
    created_at: int
    snoozed_until: int | None = None
    decided_at: int | None = None

    def waits(self, now: float) -> bool:
        """Whether it is to be asked now."""
        return self.state == "open" or (self.state == "snoozed" and (self.snoozed_until or 0) <= now)


def identity(kind: str, *about: str) -> str:
    """The id of the proposal of this kind about these ids or texts; their order does not matter."""
    from hashlib import blake2b  # 10 ms; reading the status goes without

    text = "\0".join((kind, *sorted(about)))
    return "prop_" + blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def ask(connection: apsw.Connection, id: str, kind: str, payload: Mapping[str, Any], now: int) -> bool:
    """Open a proposal, unless it is there already (also when it was decided); whether it is new."""
    row = connection.execute(
        "INSERT INTO proposals(id, kind, payload, created_at) VALUES (?, ?, ?, ?) ON CONFLICT(id) DO NOTHING RETURNING 1",
        (id, kind, _encode(dict(payload)).decode(), now),
    ).fetchone()
    return row is not None


def decide(connection: apsw.Connection, id: str, state: State, now: int, *, until: int | None = None) -> None:
    """Close it, or put it off ``until`` (snoozed)."""
    connection.execute(
        "UPDATE proposals SET state = ?, snoozed_until = ?, decided_at = ? WHERE id = ?",
        (state, until, now, id),
    )


def update_payload(connection: apsw.Connection, id: str, payload: Mapping[str, Any]) -> None:
    """What it is about now: the card of a conversation's new facts has others from time to time."""
    connection.execute("UPDATE proposals SET payload = ? WHERE id = ?", (_encode(dict(payload)).decode(), id))


def hand_over(connection: apsw.Connection, gone: str, heir: str, now: int) -> None:
    """Let the undecided questions whether a memory or another holds go on about ``heir`` (both are ids), which stands in its
    place. One that was between the two is settled; one that the person answered about ``heir`` before is not asked again."""
    for card in (*undecided_about(connection, CONFLICT, gone), *_choices_of(connection, gone)):
        payload = dict(card.payload)
        others = [heir if one == gone else one for one in payload.pop("others", ())]
        new, old = (heir if payload[side] == gone else str(payload[side]) for side in ("new", "old"))
        decide(connection, card.id, "accepted", now)
        if new == old and not (others := [one for one in others if one != new]):
            continue
        if new == old:
            old, *others = others
        others = [one for one in dict.fromkeys(others) if one not in (new, old)]
        if not others:
            new, old = later_first(connection, new, old, now)
        payload |= {"new": new, "old": old} | ({"others": others} if others else {})
        id = identity(CONFLICT, new, old)
        if ask(connection, id, CONFLICT, payload, now):
            continue
        known = get(connection, id)
        if "settled" in known.payload or known.id == card.id:
            update_payload(connection, id, payload)
            decide(connection, id, "open", now)


def ask_about_rest(
    connection: apsw.Connection, card: Proposal, new: str, olds: Iterable[str], now: int
) -> None:
    """After one answer to ``card``: go on asking which of ``olds`` the fact ``new`` has changed (all are ids), but for those
    that the person was asked about before. What is open about one of them already takes the others."""
    asked = {one: find(connection, identity(CONFLICT, new, one)) for one in dict.fromkeys(olds) if one != new}
    left = [
        one
        for one, known in asked.items()
        if known is None
        or known.id == card.id
        or known.state in ("open", "snoozed")
        or "settled" in known.payload
    ]
    if not left:
        return
    old, *others = left
    payload = {key: value for key, value in card.payload.items() if key not in ("others", "settled")}
    # The likeliest one is answered: of the rest nothing is told as changed.
    payload |= {"new": new, "old": old, "weak": True} | ({"others": others} if others else {})
    id = identity(CONFLICT, new, old)
    if not ask(connection, id, CONFLICT, payload, now):
        update_payload(connection, id, payload)
        decide(connection, id, "open", now)


def later_first(connection: apsw.Connection, new: str, old: str, now: float) -> tuple[str, str]:
    """Two ids as the new and the old side of a card: what was said later is the new one; said at once, as they are."""
    times = {one.id: one.event_time for one in memories.by_ids(connection, [new, old], now)}
    return (old, new) if len(times) == 2 and times[old] > times[new] else (new, old)


def get(connection: apsw.Connection, id: str) -> Proposal:
    """Raises NotFoundError."""
    row = connection.execute(f"SELECT {_COLUMNS} FROM proposals WHERE id = ?", (id,)).fetchone()
    if row is None:
        raise NotFoundError(f"There is no proposal {id!r}.", "memtui review lists what waits.")
    return _proposal_record(row)


def find(connection: apsw.Connection, id: str) -> Proposal | None:
    row = connection.execute(f"SELECT {_COLUMNS} FROM proposals WHERE id = ?", (id,)).fetchone()
    return _proposal_record(row) if row else None


def pending_proposals(
    connection: apsw.Connection, kind: str, now: float, limit: int = MAX_PROPOSALS
) -> list[Proposal]:
    """What of a kind is to be asked now, the latest first."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM proposals WHERE kind = ? AND (state = 'open' OR (state = 'snoozed' AND snoozed_until <= ?)) "
        f"{_LATEST_FIRST} LIMIT ?",
        (kind, int(now), limit),
    )
    return [_proposal_record(row) for row in rows]


def undecided_proposals(connection: apsw.Connection, kind: str, limit: int = MAX_PROPOSALS) -> list[Proposal]:
    """What of a kind is open or put off, the latest first."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM proposals WHERE kind = ? AND state IN ('open', 'snoozed') {_LATEST_FIRST} LIMIT ?",
        (kind, limit),
    )
    return [_proposal_record(row) for row in rows]


def undecided_about(connection: apsw.Connection, kind: str, id: str) -> list[Proposal]:
    """What of a kind is open or put off and has a memory (by id) as its new or old side."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM proposals WHERE kind = ?1 AND state IN ('open', 'snoozed') "
        "AND ?2 IN (json_extract(payload, '$.new'), json_extract(payload, '$.old')) ORDER BY proposal_id",
        (kind, id),
    )
    return [_proposal_record(row) for row in rows]


def undecided_about_any(connection: apsw.Connection, kind: str, ids: Iterable[str]) -> list[Proposal]:
    """What of a kind is open or put off and has one of some memories (ids) as its new or old side, or among its others."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM proposals WHERE kind = ?1 AND state IN ('open', 'snoozed') AND ("
        "json_extract(payload, '$.new') IN (SELECT value FROM json_each(?2)) "
        "OR json_extract(payload, '$.old') IN (SELECT value FROM json_each(?2)) "
        "OR EXISTS (SELECT 1 FROM json_each(payload, '$.others') o WHERE o.value IN (SELECT value FROM json_each(?2)))) "
        "ORDER BY proposal_id",
        (kind, as_json(list(ids))),
    )
    return [_proposal_record(row) for row in rows]


def is_conflict_open(connection: apsw.Connection, id: str, now: float) -> bool:
    """Whether a card that waits now asks which holds, this memory (by id) or another active one."""
    return any(
        card.waits(now)
        and (
            sum(one.active for one in side_memories(connection, memory_ids(connection, card), now)) > 1
            or ("others" in card.payload and asked_memories(connection, card, now))
        )
        for card in (*undecided_about(connection, CONFLICT, id), *_choices_of(connection, id))
    )


def _choices_of(connection: apsw.Connection, id: str) -> list[Proposal]:
    """The undecided cards that ask whether a memory has changed, or another one."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM proposals WHERE kind = ?1 AND state IN ('open', 'snoozed') "
        "AND EXISTS (SELECT 1 FROM json_each(payload, '$.others') WHERE value = ?2)",
        (CONFLICT, id),
    )
    return [_proposal_record(row) for row in rows]


def asked_memories(connection: apsw.Connection, card: Proposal, now: float) -> tuple[MemoryRecord, ...]:
    """What an undecided conflict asks about now: the statement, and the facts of which it may have changed one, the likeliest
    first; none where nothing is left. A single fact that was said after the statement comes before it."""
    payload = card.payload
    olds = dict.fromkeys((str(payload["old"]), *map(str, payload.get("others", ()))))
    new, *known = memories.by_ids(connection, [str(payload["new"])], now) or (None,)
    if new is None or not new.active:
        return ()
    # Another device may have had the answer about one of several before it had the card that goes on about the rest.
    named = new.attributes.get("supersedes") if "others" in payload else None
    answered = named if isinstance(named, list) else [named]
    found = {one.id: one for one in memories.by_ids(connection, list(olds), now)}
    known = [
        found[id] for id in olds if id in found and found[id].active and id != new.id and id not in answered
    ]
    if len(known) == 1 and known[0].event_time > new.event_time:
        return (known[0], new)
    return (new, *known) if known else ()


def count_decided(connection: apsw.Connection, *, since: float, other_than: str = "") -> int:
    """How many proposals (of other kinds) were decided or put off since a time."""
    return int(
        scalar(
            connection,
            "SELECT count(*) FROM proposals WHERE state <> 'open' AND decided_at >= ? AND kind <> ?",
            (int(since), other_than),
        )
    )


def settled_ids(connection: apsw.Connection, ids: Sequence[str], now: float) -> set[str]:
    """Those of ``ids`` that are decided, or put off beyond ``now``: not to be asked."""
    settled: set[str] = set()
    for start in range(0, len(ids), 500):
        some = ids[start : start + 500]
        rows = connection.execute(
            f"SELECT {_COLUMNS} FROM proposals WHERE id IN ({','.join('?' * len(some))})", tuple(some)
        )
        settled |= {proposal.id for proposal in map(_proposal_record, rows) if not proposal.waits(now)}
    return settled


def snoozed_memories(connection: apsw.Connection, now: float) -> set[str]:
    """The ids of the memories that are put off beyond ``now``, whatever they are asked about."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM proposals WHERE state = 'snoozed' AND snoozed_until > ?", (int(now),)
    )
    memories: set[str] = set()
    for card in map(_proposal_record, rows):
        payload = card.payload
        memories.update(
            disputed_ids(connection, payload) if card.kind == DEVICES else payload.get("memories", ())
        )
        memories.update(payload.get("others", ()))
        memories.update(payload[part] for part in ("new", "old", "memory") if part in payload)
    return memories


def _proposal_record(row: Sequence[Any]) -> Proposal:
    return Proposal(
        id=row[0], kind=row[1], payload=_payload(row[2]), state=row[3], snoozed_until=row[4], created_at=row[5],
        decided_at=row[6],
    )  # fmt: skip


DEVICES = "devices"
"""The kind of such a card."""


def disputed_proposals(connection: apsw.Connection, limit: int = MAX_PROPOSALS) -> list[Proposal]:
    """The undecided questions which of two active memories holds: two devices have both, or the person said again what was
    corrected. The latest first."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM proposals WHERE state IN ('open', 'snoozed') AND (kind = ? AND "
        "coalesce(json_extract(payload, '$.aspect'), 'state') = 'state' OR kind = ? AND json_extract(payload, '$.again')) "
        f"{_LATEST_FIRST} LIMIT ?",
        (DEVICES, CONFLICT, limit),
    )
    return [_proposal_record(row) for row in rows]


def close_answered(connection: apsw.Connection, op_id: int, now: int) -> None:
    """Close the cards of two devices that an operation answers: in it the person decided again about what they ask.

    It begins with the cards, of which there are few or none, however many rows the operation has changed.
    """
    cards: list[Any] = connection.execute(
        """
        SELECT p.id FROM proposals p
        CROSS JOIN memories m ON m.id = p.payload ->> '$.memory'
        CROSS JOIN decided d ON d.thing = m.id AND d.aspect = p.payload ->> '$.aspect'
        CROSS JOIN changes c ON c.op_id = ?1 AND c.tbl = 'memories' AND c.act = 'update' AND m.rid BETWEEN c.lo AND c.hi
        CROSS JOIN ops o ON o.op_id = c.op_id AND o.actor = 'person' AND d.actor = o.actor AND d.at = o.at
        WHERE p.kind = 'devices' AND p.state IN ('open', 'snoozed')
        AND d.device = (SELECT value FROM memory_metadata WHERE key = 'device')
        AND d.seen ->> ('$."' || d.device || '"') > coalesce(p.payload -> '$.seen' ->> ('$."' || d.device || '"'), 0)
        AND NOT EXISTS (SELECT 1 FROM json_each(p.payload, '$.seen') s
            WHERE coalesce(d.seen ->> ('$."' || s.key || '"'), 0) < s.value)
        """,
        (op_id,),
    ).fetchall()
    for (id,) in cards:
        decide(connection, str(id), "accepted", now)


def memory_ids(connection: apsw.Connection, card: Proposal) -> list[str]:
    """The ids of the memories on a card of two devices, or of a conflict."""
    payload = card.payload
    return disputed_ids(connection, payload) if card.kind == DEVICES else [payload["new"], payload["old"]]


def conflict_ids(card: Proposal) -> list[str]:
    """The ids on a conflict card: the statement, and the facts of which it may have changed one."""
    payload = card.payload
    return [str(one) for one in (payload["new"], payload["old"], *payload.get("others", ()))]


def disputed_ids(connection: apsw.Connection, payload: Mapping[str, Any]) -> list[str]:
    """The ids of the memories on a card of two devices.

    What a memory was ``corrected`` to is looked up: a device may hear of the dispute before it has the new text.
    """
    ids = [str(id) for id in payload["memories"]]
    if payload.get("corrected"):
        rows = connection.execute(
            "SELECT DISTINCT from_id FROM memory_links WHERE to_id = ? AND rel IN ('supersedes', 'merged') ORDER BY from_id",
            (payload["memory"],),
        )
        ids += [str(id) for (id,) in rows]
    return ids


def disputed_sides(
    connection: apsw.Connection, payload: Mapping[str, Any], now: float
) -> tuple[MemoryRecord, ...]:
    """What stands on each side of a card of two devices, what holds meanwhile first; none where there is nothing to ask:
    of several corrections only one is left."""
    sides = side_memories(connection, disputed_ids(connection, payload), now)
    if payload.get("rivals") or "memory" not in payload:
        active = tuple(one for one in sides if one.active)
        return active if len(active) > 1 else ()
    return tuple(sorted(sides, key=lambda one: not one.active)) if payload.get("corrected") else sides


def side_memories(
    connection: apsw.Connection, shown: Iterable[object], now: float
) -> tuple[MemoryRecord, ...]:
    """What stands on each side of a card that shows these ids. One that was corrected since is shown as it is now; what is
    gone is left out."""
    ids = [str(id) for id in shown]
    records: dict[str, MemoryRecord] = {}
    for id in ids:
        try:
            one = _current_side(connection, id, ids, now)
        except NotFoundError:
            continue
        records.setdefault(one.id, one)
    return tuple(records.values())


def _current_side(connection: apsw.Connection, id: str, ids: list[str], now: float) -> MemoryRecord:
    one = memories.get(connection, id, now)
    seen = {one.id}
    while not one.active and one.ended_by in ("superseded", "merged"):
        relation = "supersedes" if one.ended_by == "superseded" else "merged"
        later = memories.linked(connection, one.id, relation, now, incoming=True)
        # What took its place as the other side of the card is not what this side became.
        later = [new for new in later if new.id not in seen and new.id not in ids]
        if not later:
            break
        one = later[-1]
        seen.add(one.id)
    return one
