"""Reconcile decisions of another device with those made here: take over, keep, or ask the person.

About each aspect of a thing the later decision holds; which is later, the stamps tell (``store.stamps``). Where neither
side knew of the other, equal decisions are one, the person's goes before an agent's or a job's, and what can stand beside
each other does. Of what is left the person is asked: a card in Review shows both. Plans read only; ``carry_out`` writes in
the caller's operation. A line of an export is one way for decisions to come; nothing here depends on files.
"""

from __future__ import annotations

import apsw

from memtui.engine.store import memories as rows
from memtui.engine.store import proposals, stamps
from memtui.engine.store import scratchpad as notes
from memtui.engine.store.export_rows import (
    DeletedKeyLine,
    EntityLine,
    MemoryLine,
    ProposalLine,
    ScratchpadLine,
)
from memtui.engine.store.import_rows import OtherIds
from memtui.engine.store.proposals import DEVICES

from . import cards, entities, meeting, memories, scratchpad
from .cards import apply_verdict
from .meeting import Plan

__all__ = ["Decided", "Plan", "apply_verdict", "carry_out", "meeting", "plan"]

Decided = EntityLine | MemoryLine | ScratchpadLine | DeletedKeyLine | ProposalLine


def plan(
    connection: apsw.Connection,
    line: Decided,
    ids: OtherIds,
    successor: str | None,
    now: float,
    *,
    agreed: bool = False,
) -> Plan | None:
    """What a line of another device brings to what is here; None where nothing is to be done.

    ``successor``: the line of what corrects a memory there. ``agreed``: the devices hear of each other again, so one side
    holds on all of them until the person answers (``meeting.agree``); else each keeps its own until then.
    """
    match line:
        case MemoryLine():
            return memories.plan(connection, line, ids, successor, now, agreed=agreed)
        case EntityLine():
            return entities.plan(connection, line, ids, agreed=agreed)
        case ProposalLine():
            return cards.plan(connection, line)
        case _:
            return scratchpad.plan(connection, line, agreed=agreed)


def carry_out(connection: apsw.Connection, plan: Plan, now: int) -> None:
    """Write what was planned, with the stamps of the other device; in the caller's operation where something changes."""
    with stamps.carrying_stamps(connection):
        if plan.columns and plan.rid is not None:
            rows.update(connection, plan.rid, **plan.columns)
        elif plan.columns:
            entities.write_columns(connection, plan.thing, plan.columns, plan.stamps)
        for stamp in plan.stamps:
            stamps.write_stamp(connection, plan.thing, stamp)
        if plan.rid is not None:
            memories.carry_to_successor(connection, plan.thing, now)
        for one in plan.entries:
            notes.take_over(connection, one.key, one.value, one.updated_at)
            if one.key != plan.thing.removeprefix(stamps.PAD):
                for stamp in one.decided:
                    stamps.write_stamp(connection, stamps.PAD + one.key, stamp)
        if plan.removed is not None:
            notes.remove(connection, plan.removed)
    for card in plan.cards:
        if card.stamp is not None:
            proposals.ask(connection, card.id, DEVICES, card.payload, card.stamp.at)
            continue
        known = [id for id in card.payload["memories"] if rows.memory_exists(connection, id)]
        if known:
            payload = {**card.payload, "memories": known}
            if "memory" in payload:  # it was asked about before one of them decided again
                for id in cards.open_cards(connection, plan.thing, payload["aspect"]):
                    proposals.decide(connection, id, "accepted", now)
            proposals.ask(connection, card.id, DEVICES, payload, now)
    for id in plan.settled:
        proposals.decide(connection, id, plan.state, now)
