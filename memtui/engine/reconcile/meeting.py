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


def compare_decisions(
    ours: Stamp | None, theirs: Stamp, *, same: bool, asked: bool, present: bool, anyone: bool = False
) -> Meeting | None:
    """None: there is nothing to do. ``same``: both sides say the same.

    ``asked``: the person is, where nothing else tells, if both decisions are theirs. ``anyone``: whoever decided is heard.

    ``present``: theirs is what stays where it is no question for the person (a tag that is there rather than not).
    """
    relation = stamps.compare_stamps(ours.seen if ours else {}, theirs.seen)
    if relation in ("same", "newer"):
        return None
    if ours is None or relation == "older":
        return Meeting(not same, theirs)
    seen = stamps.join_stamps(ours.seen, theirs.seen)
    if same:  # whose it is must not depend on who asks
        return Meeting(False, replace(max(ours, theirs, key=precedence), seen=seen))
    mine, other = (1, 1) if anyone else (rank(ours.actor), rank(theirs.actor))
    if mine == other and asked and (anyone or mine == _PERSON):
        return Meeting(False, None)
    if mine != other:
        take = other > mine
    elif asked:
        take = precedence(theirs) > precedence(ours)
    else:
        take = present
    return Meeting(take, replace(theirs if take else ours, seen=seen))


def later_of(ours: Stamp, theirs: Stamp) -> Meeting:
    """One of two decisions, the same one on whichever device it is asked."""
    take = precedence(theirs) > precedence(ours)
    return Meeting(take, replace(theirs if take else ours, seen=stamps.join_stamps(ours.seen, theirs.seen)))


_PERSON = 2


def rank(actor: str) -> int:
    return _PERSON if actor == "person" else 0 if actor == "scheduler" else 1


def precedence(stamp: Stamp) -> tuple[int, str]:
    """Of two stamps the higher one holds, on whichever device it is asked."""
    return (rank(stamp.actor), stamp.device)


def other_device(connection: apsw.Connection, stamp: Stamp) -> str:
    """Where it was decided: ``on desktop``."""
    name = device_name(stamp.device)
    return "in another memory" if name == device_name(stamps.device(connection)) else f"on {name}"
