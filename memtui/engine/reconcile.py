"""Decisions of another device meet those that were made here: what is taken over, what stays, what the person is asked.

About each aspect of a thing the later decision holds; which is later, the stamps tell (``store.stamps``). Where neither
side knew of the other, equal decisions are one, the person's goes before an agent's or a job's, and what can stand beside
each other does. Of what is left the person is asked: a card in Review shows both. Plans read only; ``carry_out`` writes in
the caller's operation. A line of an export is one way for decisions to come; nothing here depends on files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import count
from typing import Any, Literal, NamedTuple

import apsw
import msgspec
from msgspec.structs import asdict, replace

from memtui.engine.errors import InputError, NotFoundError
from memtui.engine.records import TOPIC_SAID, WITHHELD, MemoryRecord, Stamp, device_name
from memtui.engine.store import device_cards, memories, proposals, scratchpad, stamps
from memtui.engine.store.device_cards import DEVICES
from memtui.engine.store.entities import DESCRIBED, NAMED, TYPED, TYPED_BY_AGENT
from memtui.engine.store.export_rows import EntityLine, GoneLine, MemoryLine, ProposalLine, ScratchpadLine
from memtui.engine.store.import_rows import OtherIds
from memtui.engine.store.sql import scalar

_strings = msgspec.json.Decoder(tuple[str, ...]).decode
_object = msgspec.json.Decoder(dict[str, Any]).decode
_PINNED = "pinned_at"
_ASKED = frozenset(("state", "text", "topic", "date"))
# The columns of the state: all of them follow whoever decided last.
_STATE = ("valid_until", "ended_by", "confirmed_at", "reviewed_at", "confidence", "decay_rate")
_CARRIED = ("pin", "topic", "date")
# What people call the change of an aspect.
_COUNTED = {"text": "wording", "topic": "topic", "date": "date", "pin": "pin", "withheld": "withheld fact"}
_ENDED = {"superseded": "correction", "forgotten": "forgotten", "merged": "merge", "faded": "faded"}


class Card(NamedTuple):
    """A question to the person. ``about``: ids of the memories that it shows; ``key``: what tells it from other ones."""

    key: tuple[str, ...]
    payload: dict[str, Any]

    @property
    def id(self) -> str:
        return proposals.identity(DEVICES, *self.key)


class Plan(NamedTuple):
    """What is to be done about one thing. ``counts``: what changes, as people call it; without any only stamps are joined.

    ``columns``: of the memory (``rid``), or of the entity; ``settled``: cards that ask no more, as it was decided since.
    """

    thing: str
    stamps: tuple[Stamp, ...] = ()
    counts: Mapping[str, int] = {}
    rid: int | None = None
    columns: Mapping[str, Any] = {}
    cards: tuple[Card, ...] = ()
    settled: tuple[str, ...] = ()
    entries: tuple[ScratchpadLine, ...] = ()
    removed: str | None = None
    state: Literal["accepted", "rejected"] = "accepted"

    @property
    def changes(self) -> bool:
        return bool(self.counts or self.columns or self.cards or self.entries or self.removed or self.settled)


class Meeting(NamedTuple):
    """One aspect on which two sides stand: what becomes of it. ``stamp`` None: both stay as they are until the person decides."""

    take: bool
    stamp: Stamp | None


def meet(
    ours: Stamp | None, theirs: Stamp, *, same: bool, asked: bool, present: bool, anyone: bool = False
) -> Meeting | None:
    """None: there is nothing to do. ``same``: both sides say the same.

    ``asked``: the person is, where nothing else tells, if both decisions are theirs. ``anyone``: whoever decided is heard.

    ``present``: theirs is what stays where it is no question for the person (a tag that is there rather than not).
    """
    relation = stamps.relation(ours.seen if ours else {}, theirs.seen)
    if relation in ("same", "newer"):
        return None
    if ours is None or relation == "older":
        return Meeting(not same, theirs)
    seen = stamps.joined(ours.seen, theirs.seen)
    if same:  # whose it is must not depend on who asks
        return Meeting(False, replace(max(ours, theirs, key=_place), seen=seen))
    mine, other = (1, 1) if anyone else (_rank(ours.actor), _rank(theirs.actor))
    if mine == other and asked and (anyone or mine == _PERSON):
        return Meeting(False, None)
    if mine != other:
        take = other > mine
    elif asked:
        take = _place(theirs) > _place(ours)
    else:
        take = present
    return Meeting(take, replace(theirs if take else ours, seen=seen))


_PERSON = 2


def _rank(actor: str) -> int:
    return _PERSON if actor == "person" else 0 if actor == "scheduler" else 1


def _place(stamp: Stamp) -> tuple[int, str]:
    return (_rank(stamp.actor), stamp.device)


# Memories


class _Side(NamedTuple):
    """A memory as one side has it."""

    ended_by: str | None
    confirmed: bool
    confidence: float
    content: str
    topic: str | None
    happens_at: int | None
    tags: tuple[str, ...]
    attributes: dict[str, Any]
    source_ids: tuple[str, ...]
    successor: str | None

    def value(self, aspect: str) -> object:
        """What it says about an aspect, comparable to what the other side says."""
        if aspect.startswith(stamps.TAG):
            return aspect.removeprefix(stamps.TAG) in self.tags
        match aspect:
            case "state" if self.ended_by is None:
                return "confirmed" if self.confirmed else "weak" if self.confidence <= _WEAK else "active"
            case "state":
                return (self.ended_by, self.successor) if self.ended_by == "superseded" else self.ended_by
            case "text":
                return self.content
            case "topic":
                return self.topic
            case "date":
                return self.happens_at
            case "pin":
                return _PINNED in self.attributes
            case "withheld":
                return WITHHELD in self.attributes
            case "links":
                return self.attributes.get("supersedes"), self.attributes.get("merged")
            case "sources":
                return frozenset(self.source_ids)
        return None


_WEAK = 0.3


def memory(
    connection: apsw.Connection, line: MemoryLine, ids: OtherIds, successor: str | None, now: float
) -> Plan | None:
    """What a memory of another device, which is here as well, brings. ``successor``: the id of what corrects it there.

    None where nothing is to be done, or it is not here.
    """
    try:
        here = memories.get(connection, ids.of(line.id) or line.id, now)
    except NotFoundError:
        return None
    ours = stamps.of(connection, here.id)
    theirs = _there(line, ids, successor)
    mine = _here(connection, here, theirs.successor, now)
    columns: dict[str, Any] = {}
    counts: Counter[str] = Counter()
    written: list[Stamp] = []
    cards: list[Card] = []
    settled: list[str] = []
    for stamp in line.decided:
        aspect = stamp.aspect
        if aspect.startswith(stamps.ABOUT):
            continue  # comes with the decision itself
        same = mine.value(aspect) == theirs.value(aspect)
        both = aspect == "state" and mine.ended_by == theirs.ended_by == "superseded" and not same
        met = meet(
            ours.get(aspect),
            stamp,
            same=same or both,
            asked=aspect in _ASKED,
            present=bool(theirs.value(aspect)),
        )
        if met is None:
            continue
        if both and stamps.relation(_seen(ours, aspect), stamp.seen) == "apart":
            cards += _rivals(connection, here, mine, theirs, stamp)
        if met.stamp is None:
            cards += _question(connection, here, ours[aspect], stamp, mine, theirs, line)
            continue
        written.append(met.stamp)
        if closing := _open_cards(connection, here.id, aspect):
            settled += closing
            counts["review decision"] += len(closing)
        if met.take:
            columns |= _columns(aspect, here, line, theirs, columns)
            if word := _word(aspect, mine, theirs):
                counts[word] += 1
    columns = {name: value for name, value in columns.items() if getattr(here, name) != value}
    cards = [card for card in cards if proposals.find(connection, card.id) is None]
    if not (written or cards):
        return None
    return Plan(here.id, tuple(written), counts, here.rid, columns, tuple(cards), tuple(settled))


def _seen(ours: Mapping[str, Stamp], aspect: str) -> dict[str, int]:
    return ours[aspect].seen if aspect in ours else {}


def _here(connection: apsw.Connection, here: MemoryRecord, theirs: str | None, now: float) -> _Side:
    """``theirs``: what corrects it there, which has come in before; it is ours where nothing else does."""
    later = memories.linked(connection, here.id, "supersedes", now, back=True)
    later = [one for one in later if one.id != theirs] or later
    return _Side(
        here.ended_by, here.protected, here.confidence, here.content, here.topic, here.happens_at, here.tags,
        here.attributes, here.source_ids, later[-1].id if later else None,
    )  # fmt: skip


def _there(line: MemoryLine, ids: OtherIds, successor: str | None) -> _Side:
    attributes = _object(line.attributes)
    for relation in ("supersedes", "merged"):
        if isinstance(named := attributes.get(relation), list):
            attributes[relation] = [ids.of(id) if isinstance(id, str) else id for id in named]
        elif isinstance(named, str):
            attributes[relation] = ids.of(named)
    sources = tuple(ids.of(id) or id for id in _strings(line.source_ids))
    there = asdict(line)
    return _Side(
        there["ended_by"], there["confirmed_at"] is not None, line.confidence, line.content, there["topic"],
        there["happens_at"], _strings(line.tags), attributes, sources, ids.of(successor),
    )  # fmt: skip


def _columns(
    aspect: str, here: MemoryRecord, line: MemoryLine, theirs: _Side, so_far: Mapping[str, Any]
) -> dict[str, Any]:
    """The columns of the memory once it is as the other side says."""
    attributes: dict[str, Any] = dict(so_far.get("attributes", here.attributes))
    if aspect.startswith(stamps.TAG):
        tag, tags = aspect.removeprefix(stamps.TAG), set(so_far.get("tags", here.tags))
        (tags.add if tag in theirs.tags else tags.discard)(tag)
        return {"tags": tuple(sorted(tags, key=lambda one: (one.casefold(), one)))}
    match aspect:
        case "state":
            there = asdict(line)
            return {name: there[name] for name in _STATE}
        case "text":
            return {"content": line.content}
        case "topic":
            rate = here.decay_rate if here.kind != "fact" or here.protected else line.decay_rate
            return {
                "topic": theirs.topic,
                "decay_rate": so_far.get("decay_rate", rate),
                "attributes": _with(attributes, theirs.attributes, TOPIC_SAID),
            }
        case "date":
            return {"happens_at": theirs.happens_at}
        case "pin":
            return {"attributes": _with(attributes, theirs.attributes, _PINNED)}
        case "withheld":
            return {"attributes": _with(attributes, theirs.attributes, WITHHELD)}
        case "links":
            attributes = _with(attributes, theirs.attributes, "supersedes", "conflict_reason")
            if merged := [*_listed(attributes.get("merged")), *_listed(theirs.attributes.get("merged"))]:
                attributes["merged"] = list(dict.fromkeys(merged))
            return {"attributes": attributes}
        case "sources":
            return {"source_ids": tuple(dict.fromkeys((*here.source_ids, *theirs.source_ids)))}
    return {}


def _listed(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _with(mine: dict[str, Any], theirs: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    rest = {key: value for key, value in mine.items() if key not in keys}
    return rest | {key: theirs[key] for key in keys if key in theirs}


def _word(aspect: str, mine: _Side, theirs: _Side) -> str:
    """What people call it that theirs is taken over; "" for what goes with something else."""
    if aspect.startswith(stamps.TAG):
        return "tag"
    if aspect == "state":
        if theirs.ended_by is not None:
            return _ENDED[theirs.ended_by]
        if mine.ended_by is not None:
            return "restored"
        return {"confirmed": "confirmation", "weak": "correction"}.get(str(theirs.value("state")), "")
    return _COUNTED.get(aspect, "")


# What the person is asked


def _rivals(
    connection: apsw.Connection, here: MemoryRecord, mine: _Side, theirs: _Side, stamp: Stamp
) -> list[Card]:
    """Both corrected it, each to something else: both texts stand, until the person says which."""
    if mine.successor is None or theirs.successor is None:
        return []
    shown = [theirs.successor, mine.successor]
    reason = f"corrected differently {_on(connection, stamp)} and here"
    return [Card(tuple(shown), {"memories": shown, "reason": reason})]


def _question(
    connection: apsw.Connection, here: MemoryRecord, ours: Stamp, stamp: Stamp, mine: _Side, theirs: _Side,
    line: MemoryLine,
) -> list[Card]:  # fmt: skip
    where, aspect = _on(connection, stamp), stamp.aspect
    shown = [here.id]
    there: dict[str, Any] = {}
    if aspect == "state":
        shown = [id for id in dict.fromkeys((_holds(here, theirs), _holds(here, mine))) if id]
        reason = f"{_told(theirs)} {where}, {_told(mine)} here"
    else:
        there = _columns(aspect, here, line, theirs, {})
        of = {"topic": "topic", "date": "date", "text": "text"}[aspect]
        reason = f"{of}: {_shown(aspect, theirs)} {where}, {_shown(aspect, mine)} here"
    if not shown:
        return []
    payload = {
        "memory": here.id, "aspect": aspect, "seen": stamp.seen, "there": there, "memories": shown, "reason": reason,
    }  # fmt: skip
    sides = (sorted(one.seen.items()) for one in (ours, stamp))
    return [Card((here.id, aspect, *sorted(map(str, sides))), payload)]


def _holds(here: MemoryRecord, side: _Side) -> str | None:
    """What holds if one side is right."""
    return here.id if side.ended_by is None else side.successor


def _told(side: _Side) -> str:
    if side.ended_by is not None:
        return "corrected" if side.ended_by == "superseded" else side.ended_by
    return "confirmed" if side.confirmed else "kept"


def _shown(aspect: str, side: _Side) -> str:
    value = side.value(aspect)
    if aspect == "date" and isinstance(value, int):
        from datetime import datetime

        return datetime.fromtimestamp(value).astimezone().date().isoformat()
    return str(value)[:200] if value else "none"


def _on(connection: apsw.Connection, stamp: Stamp) -> str:
    name = device_name(stamp.device)
    return "in another memory" if name == device_name(stamps.device(connection)) else f"on {name}"


# Names


_NAMES = {
    "name": ("canonical_name", NAMED), "type": ("type", TYPED | TYPED_BY_AGENT), "summary": ("summary", DESCRIBED),
    "hidden": ("hidden", 0), "pinned": ("pinned", 0), "merged": ("merged_into", 0),
}  # fmt: skip
"""The aspects of an entity: its column, and the bits that say that somebody decided it."""


def entity(connection: apsw.Connection, line: EntityLine, ids: OtherIds) -> Plan | None:
    """What was decided about a name on another device. The person is not asked: one of two words holds, two names that one
    side keeps apart stay apart, and undo gives back the other."""
    here = ids.of(line.id) or line.id
    row: Any = connection.execute(
        "SELECT canonical_name, type, summary, hidden, pinned, (SELECT id FROM entities t WHERE t.eid = e.merged_into), "
        "protected FROM entities e WHERE id = ?",
        (here,),
    ).fetchone()
    if row is None:
        return None
    mine = dict(zip(_NAMES, row, strict=False))
    theirs = {aspect: getattr(line, column) for aspect, (column, _) in _NAMES.items()}
    theirs["merged"] = ids.of(line.merged_into)
    ours, written, columns, counts = stamps.of(connection, here), [], {}, Counter[str]()
    for stamp in line.decided:
        aspect = stamp.aspect
        if aspect not in _NAMES:
            continue
        own = ours.get(aspect)
        present = own is None or _place(stamp) > _place(own)
        if aspect in ("hidden", "pinned"):
            present = bool(theirs[aspect])
        elif aspect == "merged" and None in (mine[aspect], theirs[aspect]):
            present = theirs[aspect] is None
        met = meet(own, stamp, same=mine[aspect] == theirs[aspect], asked=False, present=present)
        if met is None or met.stamp is None:
            continue
        written.append(met.stamp)
        if met.take:
            column, bits = _NAMES[aspect]
            columns[column] = theirs[aspect]
            columns["protected"] = (columns.get("protected", row[-1]) & ~bits) | (line.protected & bits)
            counts["decision about names"] += 1
    return Plan(here, tuple(written), counts, columns=columns) if written else None


def _write_entity(connection: apsw.Connection, id: str, columns: Mapping[str, Any]) -> None:
    values = dict(columns)
    if survivor := values.get("merged_into"):
        eid = "coalesce(merged_into, eid)"
        values["merged_into"] = scalar(
            connection, f"SELECT {eid} FROM entities WHERE id = ? AND id <> ?", (survivor, id)
        )
        connection.execute(
            "UPDATE entities SET merged_into = ?1 WHERE merged_into = (SELECT eid FROM entities WHERE id = ?2) AND eid <> ?1",
            (values["merged_into"], id),
        )
    assignments = ", ".join(f"{name} = ?" for name in values)
    connection.execute(f"UPDATE entities SET {assignments} WHERE id = ?", (*values.values(), id))


# The scratchpad


def entry(connection: apsw.Connection, line: ScratchpadLine | GoneLine) -> Plan | None:
    """What another device wrote under a key, or that it took it away. Of two values both stay, one under another key."""
    if not line.decided:
        return None
    thing, stamp = stamps.PAD + line.key, line.decided[0]
    ours = stamps.of(connection, thing).get(stamp.aspect)
    note = scratchpad.find(connection, line.key)
    written = line if isinstance(line, ScratchpadLine) else None
    same = (written.value if written else None) == (note.value if note else None)
    both = written is not None and note is not None
    met = meet(ours, stamp, same=same, asked=both, anyone=True, present=written is not None)
    if met is None:
        return None
    counts = {"scratchpad entry": 1}
    if met.stamp is None:
        assert ours is not None and note is not None and written is not None
        there = ScratchpadLine(key=note.key, value=note.value, updated_at=note.updated_at)
        stays, moved = sorted(((ours, there), (stamp, written)), key=lambda one: _place(one[0]), reverse=True)
        key = _free_key(connection, f"{line.key} ({device_name(moved[0].device)}", moved[1].value)
        kept = replace(stays[0], seen=stamps.joined(ours.seen, stamp.seen))
        return Plan(thing, (kept,), counts, entries=(stays[1], replace(moved[1], key=key)))
    if not met.take:
        return Plan(thing, (met.stamp,))
    if written is None:
        return Plan(thing, (met.stamp,), counts, removed=line.key)
    return Plan(thing, (met.stamp,), counts, entries=(written,))


def _free_key(connection: apsw.Connection, name: str, value: str) -> str:
    """A key beside the one that both wrote: one that is free, or has this value already."""
    for number in count(1):
        key = f"{name})" if number == 1 else f"{name} {number})"
        there = scratchpad.find(connection, key)
        if there is None or there.value == value:
            break
    return key


# Review


def card(connection: apsw.Connection, line: ProposalLine) -> Plan | None:
    """A card that waits here and was decided on another device: what came of it comes with what it was about."""
    here = proposals.find(connection, line.id)
    if here is None or here.state not in ("open", "snoozed") or line.state not in ("accepted", "rejected"):
        return None
    return Plan(line.id, counts={"review decision": 1}, settled=(line.id,), state=line.state)


# Writing


def carry_out(connection: apsw.Connection, plan: Plan, now: int) -> None:
    """Write what was planned, with the stamps of the other device; in the caller's operation where something changes."""
    with stamps.taking_over(connection):
        if plan.columns and plan.rid is not None:
            memories.update(connection, plan.rid, **plan.columns)
        elif plan.columns:
            _write_entity(connection, plan.thing, plan.columns)
        for stamp in plan.stamps:
            stamps.put(connection, plan.thing, stamp)
        if plan.rid is not None:
            _carry_to_successor(connection, plan.thing, now)
        for one in plan.entries:
            scratchpad.put(connection, one.key, one.value, one.updated_at)
        if plan.removed is not None:
            scratchpad.remove(connection, plan.removed)
    for card in plan.cards:
        known = [id for id in card.payload["memories"] if _is_here(connection, id)]
        if known:
            payload = {**card.payload, "memories": known}
            if "memory" in payload:  # it was asked about before one of them decided again
                for id in _open_cards(connection, plan.thing, payload["aspect"]):
                    proposals.decide(connection, id, "accepted", now)
            proposals.ask(connection, card.id, DEVICES, payload, now)
    for id in plan.settled:
        proposals.decide(connection, id, plan.state, now)


def _is_here(connection: apsw.Connection, id: str) -> bool:
    return scalar(connection, "SELECT 1 FROM memories WHERE id = ?", (id,)) is not None


def _open_cards(connection: apsw.Connection, thing: str, aspect: str) -> list[str]:
    """The cards that ask about an aspect of a memory."""
    rows: Any = connection.execute(
        "SELECT id FROM proposals WHERE kind = ? AND state IN ('open', 'snoozed') AND payload ->> 'memory' = ? "
        "AND payload ->> 'aspect' = ?",
        (DEVICES, thing, aspect),
    ).fetchall()
    return [str(id) for (id,) in rows]


def _carry_to_successor(connection: apsw.Connection, id: str, now: int) -> None:
    """What one side said of a fact that the other one corrected goes for what stands in its place."""
    old = memories.get(connection, id, now)
    if old.ended_by != "superseded":
        return
    new = memories.latest_version(connection, id, now)
    if new.id == old.id or not new.active:
        return
    known = stamps.of(connection, new.id)
    columns: dict[str, Any] = {}
    for aspect, stamp in stamps.of(connection, old.id).items():
        if aspect in known or not (aspect in _CARRIED or aspect.startswith(stamps.TAG)):
            continue
        columns |= _as_before(aspect, old, new, columns)
        stamps.put(connection, new.id, stamp)
    columns = {name: value for name, value in columns.items() if getattr(new, name) != value}
    if columns:
        memories.update(connection, new.rid, **columns)


def _as_before(
    aspect: str, old: MemoryRecord, new: MemoryRecord, so_far: Mapping[str, Any]
) -> dict[str, Any]:
    if aspect.startswith(stamps.TAG):
        tag, tags = aspect.removeprefix(stamps.TAG), list(so_far.get("tags", new.tags))
        if (tag in tags) == (tag in old.tags):
            return {}
        left = {*tags, tag} if tag in old.tags else {*tags} - {tag}
        return {"tags": tuple(sorted(left, key=lambda one: (one.casefold(), one)))}
    if aspect == "pin":
        return {"attributes": _with({**so_far.get("attributes", new.attributes)}, old.attributes, _PINNED)}
    return {"topic": old.topic} if aspect == "topic" else {"happens_at": old.happens_at}


# The person's word on a card


def decide(
    connection: apsw.Connection,
    payload: Mapping[str, Any],
    verdict: str,
    *,
    keep: str | None,
    actor: str,
    now: int,
) -> None:
    """Settle a card in the caller's operation: ``keep`` what is named (or all that it shows), ``forget`` it, ``both``
    stay, or ``merge``: as the other device has it. It holds against what was decided on either side."""
    shown = [one.id for one in device_cards.sides(connection, payload, now)]
    chosen = keep or shown[0]
    if chosen not in shown:
        raise InputError(f"{chosen} is not on this card.", f"Choose {' or '.join(shown)}.")
    others = [id for id in shown if id != chosen]
    if verdict == "forget" and others:
        chosen, others, verdict = others[0], [chosen], "keep"
    aspect = payload.get("aspect", "state")
    if aspect != "state":
        if verdict == "merge":
            memories.update(
                connection, memories.get(connection, chosen, now).rid, **_decoded(payload["there"])
            )
    elif verdict == "forget":
        _end(connection, chosen, "forgotten", now)
    else:
        _stand(connection, chosen, now)
        for other in others:
            if verdict == "both":
                _stand(connection, other, now)
            else:
                _replace(connection, chosen, other, now)
    if "memory" in payload:
        stamps.decide(connection, str(payload["memory"]), str(aspect), payload["seen"], actor, now)


def _decoded(there: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in there.items() if name != "attributes"}


def _stand(connection: apsw.Connection, id: str, now: int) -> None:
    one = memories.get(connection, id, now)
    if not one.active:
        memories.update(connection, one.rid, valid_until=None, ended_by=None, last_accessed=now)
    memories.update(connection, one.rid, reviewed_at=now)


def _end(connection: apsw.Connection, id: str, how: str, now: int) -> None:
    one = memories.get(connection, id, now)
    if one.active:
        memories.update(connection, one.rid, valid_until=now, ended_by=how)


def _replace(connection: apsw.Connection, chosen: str, other: str, now: int) -> None:
    """``chosen`` stands in the place of ``other``, and says so where that is not the other way round already."""
    winner, loser = memories.get(connection, chosen, now), memories.get(connection, other, now)
    if not loser.active:
        return
    if loser.supersedes == winner.id or winner.supersedes is not None:
        known = {one.id for one in memories.linked(connection, winner.id, "supersedes", now)}
        if loser.supersedes == winner.id:
            _end(connection, loser.id, "forgotten", now)
            return
        both = [*dict.fromkeys((*known, loser.id))]
        memories.update(connection, winner.rid, attributes={**winner.attributes, "supersedes": both})
    else:
        memories.update(connection, winner.rid, attributes={**winner.attributes, "supersedes": loser.id})
    _end(connection, loser.id, "superseded", now)
