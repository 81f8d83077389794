"""The rule by which two decisions become one (``meeting.agree``): devices that pass on what they hold end alike.

Which device hears of what, and when, is random; so are ranks, clocks and what each decision knew of.
"""

from __future__ import annotations

import random
from typing import NamedTuple

import pytest
from memtui.engine.reconcile import meeting
from memtui.engine.records import Stamp
from msgspec.structs import replace

HISTORIES = 3_000
ACTORS = ("person", "person", "agent:claude", "scheduler")


class Held(NamedTuple):
    """What a device holds: of a tag, whether it is there."""

    stamp: Stamp
    there: bool


def decide(held: Held | None, device: str, dice: random.Random) -> Held:
    seen, at = dict(held.stamp.seen) if held else {}, dice.choice((1, 5, 9))
    seen[device] = max(seen.get(device, 0) + 1, at)
    stamp = Stamp(aspect="tag:x", seen=seen, device=device, at=at, actor=dice.choice(ACTORS))
    return Held(stamp, dice.random() < 0.5)


def meet(ours: Held | None, theirs: Held | None) -> Held | None:
    """What a device holds that had ours and hears of theirs."""
    if theirs is None:
        return ours
    differ = ours is not None and ours.there != theirs.there
    met = meeting.agree(ours.stamp if ours else None, theirs.stamp, present=theirs.there if differ else None)
    if met is None or met.stamp is None:
        return ours
    return Held(met.stamp, theirs.there if met.take or ours is None else ours.there)


def play(dice: random.Random) -> tuple[list[Held | None], dict[str, int]]:
    """What devices hold once each has heard of all others, and the number of the last decision of each."""
    names = [f"device-{number}" for number in range(dice.choice((2, 3, 4)))]
    held: list[Held | None] = [None] * len(names)
    last: dict[str, int] = {}
    for _ in range(dice.randint(2, 10)):
        here, there = dice.randrange(len(names)), dice.randrange(len(names))
        if dice.random() < 0.5:
            one = decide(held[here], names[here], dice)
            held[here], last[names[here]] = one, one.stamp.seen[names[here]]
        else:
            held[there] = meet(held[there], held[here])
    for _ in range(4):
        for here in range(len(names)):
            for there in range(len(names)):
                held[there] = meet(held[there], held[here])
    return held, last


def failures() -> list[int]:
    found = []
    for seed in range(HISTORIES):
        held, last = play(random.Random(seed))
        if len({repr(one) for one in held}) > 1 or (held[0] and held[0].stamp.seen != last):
            found.append(seed)
    return found


def test_devices_end_alike_and_know_of_every_decision() -> None:
    assert failures() == []


def test_the_same_once_more_changes_nothing_and_it_does_not_matter_who_hears() -> None:
    for seed in range(HISTORIES):
        dice = random.Random(seed)
        first = decide(None, "laptop", dice)
        second = decide(first if dice.random() < 0.3 else None, "desktop", dice)
        met = meet(first, second)
        assert met == meet(second, first)
        assert meet(met, first) == met == meet(met, second)
        assert meet(met, met) == met


def test_going_by_the_clock_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def by_clock(ours: Stamp | None, theirs: Stamp, **given: object) -> meeting.Meeting | None:
        return None if ours and ours.at >= theirs.at else meeting.Meeting(True, theirs)

    monkeypatch.setattr(meeting, "agree", by_clock)
    assert failures()


def test_not_knowing_of_both_sides_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    real = meeting.agree

    def forgetful(ours: Stamp | None, theirs: Stamp, **given: bool | None) -> meeting.Meeting | None:
        met = real(ours, theirs, **given)
        if met is None or met.stamp is None or ours is None:
            return met
        return met._replace(stamp=replace(met.stamp, seen=(theirs if met.take else ours).seen))

    monkeypatch.setattr(meeting, "agree", forgetful)
    assert failures()
