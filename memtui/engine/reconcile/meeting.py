"""Compare two decisions about one aspect: which holds, or that the person is asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import apsw
from msgspec.structs import replace

from memtui.engine.records import Stamp, device_name
from memtui.engine.store import proposals, stamps
from memtui.engine.store.export_rows import ScratchpadLine
from memtui.engine.store.proposals import DEVICES


class Card(NamedTuple):
    """A question to the person. ``about``: ids of the memories that it shows; ``key``: what tells it from other ones.

    ``stamp``: of the same question on every device that asks it, where they agree meanwhile.
    """

    key: tuple[str, ...]
    payload: dict[str, Any]
    stamp: Stamp | None = None

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
    """Written with the stamps that they have, if any."""
    removed: str | None = None
    state: Literal["accepted", "rejected"] = "accepted"

    @property
    def changes(self) -> bool:
        return bool(self.counts or self.columns or self.cards or self.entries or self.removed or self.settled)


class Meeting(NamedTuple):
    """One aspect on which two sides stand: what becomes of it. ``stamp`` None: both stay as they are until the person decides."""

    take: bool
    stamp: Stamp | None


def compare_decisions(
    ours: Stamp | None, theirs: Stamp, *, same: bool, asked: bool, present: bool | None, anyone: bool = False,
    agreed: bool = False,
) -> Meeting | None:  # fmt: skip
    """None: there is nothing to do. ``same``: both sides say the same.

    ``agreed``: one side holds at once, the same one on every device (``agree``), and the person may say otherwise later.

    ``asked``: the person is, where nothing else tells, if both decisions are theirs. ``anyone``: whoever decided is heard.

    ``present``: whether theirs is what stays where it is no question for the person (a tag that is there rather than not);
    None where that tells nothing.
    """
    if agreed:
        return agree(ours, theirs, present=None if same or asked else present, anyone=anyone)
    relation = stamps.compare_stamps(ours.seen if ours else {}, theirs.seen)
    if relation in ("same", "newer"):
        return None
    if ours is None or relation == "older":
        return Meeting(not same, theirs)
    seen = stamps.join_stamps(ours.seen, theirs.seen)
    if same:  # whose it is must not depend on who asks
        return Meeting(False, replace(max(ours, theirs, key=precedence), seen=seen))
    mine, other = (1, 1) if anyone else (actor_rank(ours.actor), actor_rank(theirs.actor))
    if mine == other and asked and (anyone or mine == PERSON):
        return Meeting(False, None)
    if mine != other:
        take = other > mine
    elif asked or present is None:
        take = precedence(theirs) > precedence(ours)
    else:
        take = present
    return Meeting(take, replace(theirs if take else ours, seen=seen))


def later_of(ours: Stamp, theirs: Stamp) -> Meeting:
    """One of two decisions, the same one on whichever device it is asked."""
    take = precedence(theirs) > precedence(ours)
    return Meeting(take, replace(theirs if take else ours, seen=stamps.join_stamps(ours.seen, theirs.seen)))


def agree(
    ours: Stamp | None, theirs: Stamp, *, present: bool | None = None, anyone: bool = False
) -> Meeting | None:
    """One of two decisions, so that devices that hear of them in any order, and of each other's outcome, end alike.

    What knew of the other holds. Else the higher one does: the person's, then what is ``present`` (whether theirs is; None:
    that says nothing), then the later one by the numbers of their devices. An outcome knows of both, so it can meet another
    outcome of the same decisions: then, too, the higher one holds. Nothing goes by this, but by knowledge first, so a clock
    only chooses between what was decided apart.
    """
    if ours is None:
        return Meeting(True, theirs)
    relation = stamps.compare_stamps(ours.seen, theirs.seen)
    if relation == "newer" or (relation == "same" and _is_same(ours, theirs)):
        return None
    if relation == "older":
        return Meeting(True, theirs)
    seen = stamps.join_stamps(ours.seen, theirs.seen)
    mine, other = (
        (0 if anyone else actor_rank(one.actor), bool(there), *order_of(one))
        for one, there in ((ours, present is False), (theirs, present is True))
    )
    take = other > mine
    if relation == "apart":
        knew, known = _knows_decision(theirs, ours), _knows_decision(ours, theirs)
        take = knew if knew != known else take
    return Meeting(take, replace(theirs if take else ours, seen=seen))


def _is_same(one: Stamp, other: Stamp) -> bool:
    return (one.device, one.at, one.actor) == (other.device, other.at, other.actor)


def number_of(stamp: Stamp) -> int:
    """The number that its device gave it."""
    return stamp.seen.get(stamp.device, 0)


def order_of(stamp: Stamp) -> tuple[int, int, str, str]:
    """Of two decisions that were made apart, and that nothing else tells, the higher one holds."""
    return (number_of(stamp), stamp.at, stamp.device, stamp.actor)


def _knows_decision(one: Stamp, other: Stamp) -> bool:
    """Whether the decision itself, not all that the other side has met, was known."""
    return one.seen.get(other.device, 0) >= number_of(other)


def are_apart(ours: Stamp | None, theirs: Stamp) -> bool:
    """Whether two decisions were made without knowing of each other."""
    return ours is not None and stamps.compare_stamps(ours.seen, theirs.seen) == "apart"


PERSON = 2


def actor_rank(actor: str) -> int:
    return PERSON if actor == "person" else 0 if actor == "scheduler" else 1


def precedence(stamp: Stamp) -> tuple[int, str]:
    """Of two stamps the higher one holds, on whichever device it is asked."""
    return (actor_rank(stamp.actor), stamp.device)


def other_device(connection: apsw.Connection, stamp: Stamp) -> str:
    """Where it was decided: ``on desktop``."""
    imported = stamp.device not in stamps.synced_devices(connection)
    if imported and device_name(stamp.device) == device_name(stamps.device(connection)):
        return "in another memory"
    return f"on {stamps.device_names(connection, [stamp.device])[stamp.device]}"
