"""Reconcile a memory that another device has decided about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Set
from typing import Any, NamedTuple

import apsw
import msgspec
from msgspec.structs import asdict

from memtui.engine.errors import NotFoundError
from memtui.engine.records import TOPIC_SAID, WITHHELD, WITHHELD_FROM, MemoryRecord, Stamp
from memtui.engine.store import memories, proposals, stamps
from memtui.engine.store.export_rows import MemoryLine
from memtui.engine.store.import_rows import OtherIds
from memtui.engine.store.tokens import fold_text

from . import meeting
from .cards import open_cards
from .meeting import Card, Plan, other_device

_decode_strings = msgspec.json.Decoder(tuple[str, ...]).decode
_decode_object = msgspec.json.Decoder(dict[str, Any]).decode
_PINNED = "pinned_at"
_ASKED = frozenset(("state", "text", "topic", "date"))
# The columns of the state: all of them follow whoever decided last.
_STATE = ("valid_until", "ended_by", "confirmed_at", "reviewed_at", "confidence", "decay_rate")
_RATE, _REVIEWED = "decay_rate", "reviewed_at"
_CARRIED = ("pin", "topic", "date")
# What people call the change of an aspect.
_COUNTED = {"text": "wording", "topic": "topic", "date": "date", "pin": "pin", "withheld": "withheld fact"}
_ENDED = {"superseded": "correction", "forgotten": "forgotten", "merged": "merge", "faded": "faded"}


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
    decay_rate: float = 0.0
    reviewed_at: int | None = None

    def value(self, aspect: str) -> object:
        """What it says about an aspect, comparable to what the other side says."""
        if aspect.startswith(stamps.TAG):
            return aspect.removeprefix(stamps.TAG) in self.tags
        if aspect.startswith(stamps.NOT_FOR):
            return _agent_of(aspect, self.attributes) is not None
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
            case "rate":
                return self.decay_rate
            case "reviewed":
                return self.reviewed_at
        return None


_WEAK = 0.3


def _says_present(aspect: str, side: _Side) -> bool:
    """Whether a side says of an aspect that it has something, which goes before having nothing."""
    if aspect == "rate":
        return side.decay_rate == 0.0
    if aspect == "links":
        return bool({"supersedes", "merged"} & side.attributes.keys())
    return bool(side.value(aspect))


def plan(
    connection: apsw.Connection, line: MemoryLine, ids: OtherIds, successor: str | None, now: float, *,
    agreed: bool = False,
) -> Plan | None:  # fmt: skip
    """What a memory of another device, which is here as well, brings. ``successor``: the id of what corrects it there.

    None where nothing is to be done, or it is not here.
    """
    try:
        here = memories.get(connection, ids.local_id(line.id) or line.id, now)
    except NotFoundError:
        return None
    ours = stamps.read_stamps(connection, here.id)
    theirs = _make_other_side(line, ids, successor)
    mine = _make_local_side(connection, here, theirs.successor, now)
    columns: dict[str, Any] = {}
    counts: Counter[str] = Counter()
    written: list[Stamp] = []
    cards: list[Card] = []
    settled: list[str] = []
    differing_aspects = {*ours, *(stamp.aspect for stamp in line.decided)}
    for stamp in line.decided:
        aspect = stamp.aspect
        if aspect.startswith(stamps.ABOUT):
            continue  # comes with the decision itself
        same = mine.value(aspect) == theirs.value(aspect)
        both = aspect == "state" and mine.ended_by == theirs.ended_by == "superseded" and not same
        met = meeting.compare_decisions(
            ours.get(aspect),
            stamp,
            same=same or both,
            asked=aspect in _ASKED,
            present=_says_present(aspect, theirs)
            if _says_present(aspect, mine) != _says_present(aspect, theirs)
            else None,
            agreed=agreed,
        )
        if met is None:
            if agreed and ours.get(aspect) == stamp:
                columns |= _lower_columns(aspect, here, line, theirs, columns, differing_aspects)
            continue
        if both and stamps.compare_stamps(_seen_numbers(ours, aspect), stamp.seen) == "apart":
            cards += _rival_cards(connection, here, mine, theirs, ours[aspect], stamp, agreed=agreed)
        if agreed and not (same or both) and aspect in _ASKED and _are_persons(ours.get(aspect), stamp):
            cards.append(_question_agreed(here, ours[aspect], stamp, mine, theirs))
        if met.stamp is None:
            asked = _disagreement_cards(connection, here, ours[aspect], stamp, mine, theirs, line)
            if asked:
                cards += asked
                continue
            met = meeting.later_of(ours[aspect], stamp)  # nothing stands on either side that could be kept
        assert met.stamp is not None
        written.append(met.stamp)
        if agreed:
            joined = meeting.are_apart(ours.get(aspect), stamp)
            columns |= _agreed_columns(
                aspect, here, line, theirs, columns, differing_aspects, take=met.take, joined=joined
            )
            if met.take and not same and (word := _change_label(aspect, mine, theirs)):
                counts[word] += 1
            continue
        if closing := open_cards(connection, here.id, aspect):
            settled += closing
            counts["review decision"] += len(closing)
        if met.take:
            columns |= _merged_columns(aspect, here, line, theirs, columns, differing_aspects)
            if word := _change_label(aspect, mine, theirs):
                counts[word] += 1
    columns = {name: value for name, value in columns.items() if getattr(here, name) != value}
    cards = [card for card in cards if proposals.find(connection, card.id) is None]
    if not (written or cards or (agreed and columns)):
        return None
    return Plan(here.id, tuple(written), counts, here.rid, columns, tuple(cards), tuple(settled))


def _seen_numbers(ours: Mapping[str, Stamp], aspect: str) -> dict[str, int]:
    return ours[aspect].seen if aspect in ours else {}


def _make_local_side(
    connection: apsw.Connection, here: MemoryRecord, theirs: str | None, now: float
) -> _Side:
    """``theirs``: what corrects it there, which has come in before; it is ours where nothing else does."""
    later = memories.linked(connection, here.id, "supersedes", now, incoming=True)
    if here.ended_by == "merged":
        later = memories.linked(connection, here.id, "merged", now, incoming=True) or later
    later = [one for one in later if one.id != theirs] or later
    return _Side(
        here.ended_by, here.protected, here.confidence, here.content, here.topic, here.happens_at, here.tags,
        here.attributes, here.source_ids, later[-1].id if later else None, here.decay_rate, here.reviewed_at,
    )  # fmt: skip


def _make_other_side(line: MemoryLine, ids: OtherIds, successor: str | None) -> _Side:
    attributes = _decode_object(line.attributes)
    for relation in ("supersedes", "merged"):
        if isinstance(named := attributes.get(relation), list):
            attributes[relation] = [ids.local_id(id) if isinstance(id, str) else id for id in named]
        elif isinstance(named, str):
            attributes[relation] = ids.local_id(named)
    sources = tuple(ids.local_id(id) or id for id in _decode_strings(line.source_ids))
    there = asdict(line)
    return _Side(
        there["ended_by"], there["confirmed_at"] is not None, line.confidence, line.content, there["topic"],
        there["happens_at"], _decode_strings(line.tags), attributes, sources, ids.local_id(successor), line.decay_rate,
        there["reviewed_at"],
    )  # fmt: skip


def _are_persons(ours: Stamp | None, theirs: Stamp) -> bool:
    """Whether the person decided on both sides, and on neither knew of the other."""
    return meeting.are_apart(ours, theirs) and all(
        one is not None and meeting.actor_rank(one.actor) == meeting.PERSON for one in (ours, theirs)
    )


def _agreed_columns(
    aspect: str, here: MemoryRecord, line: MemoryLine, theirs: _Side, so_far: Mapping[str, Any], differing_aspects: Set[str], *,
    take: bool, joined: bool,
) -> dict[str, Any]:  # fmt: skip
    """The columns once both devices agree: those of the side that holds, or of both where they can stand beside each other
    (``joined``: neither knew of the other)."""
    if aspect == "sources":
        both = (
            (*here.source_ids, *theirs.source_ids)
            if joined
            else theirs.source_ids
            if take
            else here.source_ids
        )
        return {"source_ids": tuple(dict.fromkeys(both))}
    if aspect == "links":
        attributes: dict[str, Any] = dict(so_far.get("attributes", here.attributes))
        merged = [*_strings_of(attributes.get("merged")), *_strings_of(theirs.attributes.get("merged"))]
        if take:
            attributes = _with_values_of_other(
                attributes, theirs.attributes, "supersedes", "conflict_reason", "merged"
            )
        if joined and merged:
            attributes["merged"] = sorted(set(merged))
        return {"attributes": attributes}
    return _merged_columns(aspect, here, line, theirs, so_far, differing_aspects) if take else {}


def _lower_columns(
    aspect: str,
    here: MemoryRecord,
    line: MemoryLine,
    theirs: _Side,
    so_far: Mapping[str, Any],
    differing_aspects: Set[str],
) -> dict[str, Any]:
    """Of one decision that has two values, the lower one. Three decisions of which the last knew of the first can be joined
    in more than one way; whoever joined them has sent what came of it, so all devices know all of these values."""
    there = _agreed_columns(aspect, here, line, theirs, so_far, differing_aspects, take=True, joined=False)
    mine = {name: so_far.get(name, getattr(here, name)) for name in there}
    return there if _encode_ordered(there) < _encode_ordered(mine) else {}


_encode_ordered = msgspec.json.Encoder(order="deterministic").encode


def _merged_columns(
    aspect: str, here: MemoryRecord, line: MemoryLine, theirs: _Side, so_far: Mapping[str, Any],
    differing_aspects: Set[str] = frozenset(),
) -> dict[str, Any]:  # fmt: skip
    """The columns of the memory once it is as the other side says.

    ``differing_aspects``: the aspects that come by themselves; older exports have fewer.
    """
    attributes: dict[str, Any] = dict(so_far.get("attributes", here.attributes))
    if aspect.startswith(stamps.TAG):
        tag, tags = aspect.removeprefix(stamps.TAG), set(so_far.get("tags", here.tags))
        (tags.add if tag in theirs.tags else tags.discard)(tag)
        return {"tags": tuple(sorted(tags, key=lambda one: (one.casefold(), one)))}
    if aspect.startswith(stamps.NOT_FOR):
        kept, agent = _agent_of(aspect, attributes), _agent_of(aspect, theirs.attributes)
        left = [one for one in _strings_of(attributes.pop(WITHHELD_FROM, None)) if one != kept]
        left = sorted([*left, *([agent] if agent else [])], key=fold_text)
        return {"attributes": attributes | ({WITHHELD_FROM: left} if left else {})}
    match aspect:
        case "state":
            there = asdict(line)
            own = {_RATE: "rate" in differing_aspects, _REVIEWED: "reviewed" in differing_aspects}
            return {name: there[name] for name in _STATE if not own.get(name)}
        case "text":
            return {"content": line.content}
        case "topic":
            stays = here.kind != "fact" or here.protected or "rate" in differing_aspects
            rate = here.decay_rate if stays else line.decay_rate
            return {
                "topic": theirs.topic,
                "decay_rate": so_far.get("decay_rate", rate),
                "attributes": _with_values_of_other(attributes, theirs.attributes, TOPIC_SAID),
            }
        case "date":
            return {"happens_at": theirs.happens_at}
        case "pin":
            return {"attributes": _with_values_of_other(attributes, theirs.attributes, _PINNED)}
        case "withheld":
            return {"attributes": _with_values_of_other(attributes, theirs.attributes, WITHHELD)}
        case "links":
            attributes = _with_values_of_other(attributes, theirs.attributes, "supersedes", "conflict_reason")
            if merged := [
                *_strings_of(attributes.get("merged")),
                *_strings_of(theirs.attributes.get("merged")),
            ]:
                attributes["merged"] = list(dict.fromkeys(merged))
            return {"attributes": attributes}
        case "sources":
            return {"source_ids": tuple(dict.fromkeys((*here.source_ids, *theirs.source_ids)))}
        case "rate":
            return {_RATE: line.decay_rate}
        case "reviewed":
            return {_REVIEWED: theirs.reviewed_at}
        case stamps.REST:
            mine = {key: value for key, value in attributes.items() if key in stamps.OWN_ATTRIBUTES}
            other = {
                key: value for key, value in theirs.attributes.items() if key not in stamps.OWN_ATTRIBUTES
            }
            there = asdict(line)
            return {**{name: there[name] for name in stamps.REST_COLUMNS}, "attributes": mine | other}
    return {}


def _agent_of(aspect: str, attributes: Mapping[str, Any]) -> str | None:
    """The agent of an aspect ``not-for:NAME``, as it is written there; None where the memory is not kept from it."""
    name = fold_text(aspect.removeprefix(stamps.NOT_FOR))
    return next((one for one in _strings_of(attributes.get(WITHHELD_FROM)) if fold_text(one) == name), None)


def _strings_of(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _with_values_of_other(mine: dict[str, Any], theirs: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    rest = {key: value for key, value in mine.items() if key not in keys}
    return rest | {key: theirs[key] for key in keys if key in theirs}


def _change_label(aspect: str, mine: _Side, theirs: _Side) -> str:
    """What people call it that theirs is taken over; "" for what goes with something else."""
    if aspect.startswith(stamps.TAG):
        return "tag"
    if aspect.startswith(stamps.NOT_FOR):
        return "kept from an agent" if theirs.value(aspect) else "given to an agent again"
    if aspect == "state":
        if theirs.ended_by is not None:
            return _ENDED[theirs.ended_by]
        if mine.ended_by is not None:
            return "restored"
        return {"confirmed": "confirmation", "weak": "correction"}.get(str(theirs.value("state")), "")
    return _COUNTED.get(aspect, "")


# What the person is asked


def _rival_cards(
    connection: apsw.Connection, here: MemoryRecord, mine: _Side, theirs: _Side, ours: Stamp, stamp: Stamp, *,
    agreed: bool,
) -> list[Card]:  # fmt: skip
    """Both corrected it, each to something else: both texts stand, until the person says which."""
    if agreed:
        where = " and ".join(sorted(f"on {one.device}" for one in (ours, stamp)))
        return [
            _agreed_card(here.id, ours, stamp, f"corrected differently {where}", corrected=True, rivals=True)
        ]
    if mine.successor is None or theirs.successor is None or mine.successor == theirs.successor:
        return []
    shown = [theirs.successor, mine.successor]
    reason = f"corrected differently {other_device(connection, stamp)} and here"
    return [Card(tuple(shown), {"memories": shown, "reason": reason})]


def _agreed_card(id: str, ours: Stamp, stamp: Stamp, reason: str, **more: Any) -> Card:
    """A question that follows from two decisions alone: it is the same wherever they meet, whatever else is known there.

    So ``reason`` has the ids of the devices. Review shows what each file calls them.
    """
    aspect = stamp.aspect
    seen = stamps.join_stamps(*({one.device: meeting.number_of(one)} for one in (ours, stamp)))
    later = max(ours, stamp, key=lambda one: (one.at, one.device))
    payload = {
        "memory": id,
        "aspect": aspect,
        "seen": seen,
        "there": {},
        "memories": [],
        "reason": reason,
        **more,
    }
    key = (id, aspect, *(f"{device}:{number}" for device, number in seen.items()))
    made = Stamp(aspect="value", seen=seen, device=later.device, at=later.at, actor="scheduler")
    return Card(key, payload, made)


def _disagreement_cards(
    connection: apsw.Connection, here: MemoryRecord, ours: Stamp, stamp: Stamp, mine: _Side, theirs: _Side,
    line: MemoryLine,
) -> list[Card]:  # fmt: skip
    """Each side keeps its own."""
    where, aspect = other_device(connection, stamp), stamp.aspect
    shown = [here.id]
    there: dict[str, Any] = {}
    if aspect == "state":
        shown = [
            id for id in dict.fromkeys((_valid_memory_id(here, theirs), _valid_memory_id(here, mine))) if id
        ]
        reason = f"{_state_of(theirs)} {where}, {_state_of(mine)} here"
    else:
        there = _merged_columns(aspect, here, line, theirs, {})
        subject = {"topic": "topic", "date": "date", "text": "text"}[aspect]
        reason = f"{subject}: {_value_text(aspect, theirs)} {where}, {_value_text(aspect, mine)} here"
    if not shown:
        return []
    payload = {
        "memory": here.id, "aspect": aspect, "seen": stamp.seen, "there": there, "memories": shown, "reason": reason,
    }  # fmt: skip
    sides = (sorted(one.seen.items()) for one in (ours, stamp))
    return [Card((here.id, aspect, *sorted(map(str, sides))), payload)]


def _question_agreed(here: MemoryRecord, ours: Stamp, stamp: Stamp, mine: _Side, theirs: _Side) -> Card:
    """Both decided; one side holds meanwhile. Every device asks the same, in the same words."""
    aspect = stamp.aspect
    sides = sorted(((mine, ours), (theirs, stamp)), key=lambda one: meeting.order_of(one[1]), reverse=True)
    if aspect == "state":
        reason = ", ".join(f"{_state_of(side)} on {one.device}" for side, one in sides)
        ends = {side.ended_by for side, _ in sides}
        return _agreed_card(
            here.id, ours, stamp, reason, memories=[here.id] if None in ends else [],
            corrected=not ends.isdisjoint(("superseded", "merged")),
        )  # fmt: skip
    values_text = ", ".join(f"{_value_text(aspect, side)} on {one.device}" for side, one in sides)
    there = {_VALUE_COLUMNS[aspect]: sides[1][0].value(aspect)}
    return _agreed_card(here.id, ours, stamp, f"{aspect}: {values_text}", memories=[here.id], there=there)


_VALUE_COLUMNS = {"text": "content", "topic": "topic", "date": "happens_at"}


def _valid_memory_id(here: MemoryRecord, side: _Side) -> str | None:
    """What holds if one side is right."""
    return here.id if side.ended_by is None else side.successor


def _state_of(side: _Side) -> str:
    if side.ended_by is not None:
        return "corrected" if side.ended_by == "superseded" else side.ended_by
    return "confirmed" if side.confirmed else "kept"


def _value_text(aspect: str, side: _Side) -> str:
    value = side.value(aspect)
    if aspect == "date" and isinstance(value, int):
        from datetime import datetime

        return datetime.fromtimestamp(value).astimezone().date().isoformat()
    return str(value)[:200] if value else "none"


# After a correction


def carry_to_successor(connection: apsw.Connection, id: str, now: int) -> None:
    """What one side said of a fact that the other one corrected goes for what replaced it."""
    old = memories.get(connection, id, now)
    if old.ended_by != "superseded":
        return
    new = memories.latest_version(connection, id, now)
    if new.id == old.id or not new.active:
        return
    known = stamps.read_stamps(connection, new.id)
    columns: dict[str, Any] = {}
    for aspect, stamp in stamps.read_stamps(connection, old.id).items():
        if aspect in known or not (aspect in _CARRIED or aspect.startswith(stamps.TAG)):
            continue
        columns |= _undone_change(aspect, old, new, columns)
        stamps.carry_stamp(connection, new.id, stamp)
    columns = {name: value for name, value in columns.items() if getattr(new, name) != value}
    if columns:
        memories.update(connection, new.rid, **columns)


def _undone_change(
    aspect: str, old: MemoryRecord, new: MemoryRecord, so_far: Mapping[str, Any]
) -> dict[str, Any]:
    if aspect.startswith(stamps.TAG):
        tag, tags = aspect.removeprefix(stamps.TAG), list(so_far.get("tags", new.tags))
        if (tag in tags) == (tag in old.tags):
            return {}
        left = {*tags, tag} if tag in old.tags else {*tags} - {tag}
        return {"tags": tuple(sorted(left, key=lambda one: (one.casefold(), one)))}
    if aspect == "pin":
        return {
            "attributes": _with_values_of_other(
                {**so_far.get("attributes", new.attributes)}, old.attributes, _PINNED
            )
        }
    return {"topic": old.topic} if aspect == "topic" else {"happens_at": old.happens_at}
