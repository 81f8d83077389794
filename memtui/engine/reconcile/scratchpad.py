"""Reconcile scratchpad entries that another device wrote or deleted."""

from __future__ import annotations

from itertools import count

import apsw
from msgspec.structs import replace

from memtui.engine.records import device_name
from memtui.engine.store import scratchpad, stamps
from memtui.engine.store.export_rows import DeletedKeyLine, ScratchpadLine

from . import meeting
from .meeting import Plan, precedence


def plan(
    connection: apsw.Connection, line: ScratchpadLine | DeletedKeyLine, *, agreed: bool = False
) -> Plan | None:
    """What another device wrote under a key, or that it took it away. Of two values both stay, one under another key."""
    if not line.decided:
        return None
    thing, stamp = stamps.PAD + line.key, line.decided[0]
    ours = stamps.read_stamps(connection, thing).get(stamp.aspect)
    note = scratchpad.find(connection, line.key)
    written = line if isinstance(line, ScratchpadLine) else None
    same = (written.value if written else None) == (note.value if note else None)
    both = written is not None and note is not None
    met = meeting.compare_decisions(
        ours, stamp, same=same, asked=both, anyone=True, present=written is not None, agreed=agreed
    )
    if met is None:
        return None
    counts = {} if same else {"scratchpad entry": 1}
    if met.stamp is None or (agreed and both and not same and meeting.are_apart(ours, stamp)):
        assert ours is not None and note is not None and written is not None
        there = ScratchpadLine(key=note.key, value=note.value, updated_at=note.updated_at)
        stays, moved = sorted(
            ((ours, there), (stamp, written)), key=lambda one: precedence(one[0]), reverse=True
        )
        if agreed and met.take != (stays[0] is stamp):
            stays, moved = moved, stays
        key = _free_key(
            connection, f"{line.key} ({_beside_name(moved[0].device, stays[0].device)}", moved[1].value
        )
        kept = replace(stays[0], seen=stamps.join_stamps(ours.seen, stamp.seen))
        beside = replace(moved[1], key=key, decided=(moved[0],) if agreed else ())
        return Plan(thing, (kept,), counts, entries=(stays[1], beside))
    if not met.take:
        return Plan(thing, (met.stamp,))
    if written is None:
        return Plan(thing, (met.stamp,), counts, removed=line.key)
    return Plan(thing, (met.stamp,), counts, entries=(written,))


def _beside_name(device: str, other: str) -> str:
    """What a device is called beside another one, on whichever device it is asked."""
    return device if device_name(device) == device_name(other) else device_name(device)


def _free_key(connection: apsw.Connection, name: str, value: str) -> str:
    """A key beside the one that both wrote: one that is free, or has this value already."""
    for number in count(1):
        key = f"{name})" if number == 1 else f"{name} {number})"
        there = scratchpad.find(connection, key)
        if there is None or there.value == value:
            break
    return key
