"""Reconcile cards of Review, and carry out the person's choice between two devices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import apsw

from memtui.engine.errors import InputError
from memtui.engine.memories import predecessors
from memtui.engine.store import memories, proposals, stamps
from memtui.engine.store.export_rows import ProposalLine
from memtui.engine.store.proposals import DEVICES
from memtui.engine.store.sql import scalar

from .meeting import Plan


def plan(connection: apsw.Connection, line: ProposalLine) -> Plan | None:
    """A card that waits here and was decided on another device: what came of it comes with what it was about."""
    here = proposals.find(connection, line.id)
    if here is None or here.state not in ("open", "snoozed") or line.state not in ("accepted", "rejected"):
        return None
    return Plan(line.id, counts={"review decision": 1}, settled=(line.id,), state=line.state)


def open_cards(connection: apsw.Connection, thing: str, aspect: str) -> list[str]:
    """The cards that ask about an aspect of a memory."""
    rows: Any = connection.execute(
        "SELECT id FROM proposals WHERE kind = ? AND state IN ('open', 'snoozed') AND payload ->> 'memory' = ? "
        "AND payload ->> 'aspect' = ?",
        (DEVICES, thing, aspect),
    ).fetchall()
    return [str(id) for (id,) in rows]


# The person's word


def apply_verdict(
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
    shown = [one.id for one in proposals.disputed_sides(connection, payload, now)]
    if not shown:
        raise InputError("There is nothing left to decide on this card.", "memtui review lists what waits.")
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
                connection, memories.get(connection, chosen, now).rid, **_without_attributes(payload["there"])
            )
    elif verdict == "forget":
        _end_memory(connection, chosen, "forgotten", now)
    else:
        _keep_memory(connection, chosen, now)
        for other in others:
            if verdict == "both":
                _keep_memory(connection, other, now)
            else:
                _replace_memory(connection, chosen, other, now)
    if "memory" in payload:
        memory = str(payload["memory"])
        rid = scalar(connection, "SELECT rid FROM memories WHERE id = ?", (memory,))
        if rid is not None:  # a stamp alone is no change, and would stay on this device
            memories.update(connection, rid, reviewed_at=now)
        stamps.note_decision(connection, memory, str(aspect), payload["seen"], actor, now)
        # Three devices make three cards of one dispute, one of each two: this answers all that this device knows of.
        for id in open_cards(connection, memory, str(aspect)):
            proposals.decide(connection, id, "accepted", now)


def _without_attributes(columns: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in columns.items() if name != "attributes"}


def _keep_memory(connection: apsw.Connection, id: str, now: int) -> None:
    one = memories.get(connection, id, now)
    if not one.active:
        memories.update(connection, one.rid, valid_until=None, ended_by=None, last_accessed=now)
    memories.update(connection, one.rid, reviewed_at=now)


def _end_memory(connection: apsw.Connection, id: str, ending: str, now: int) -> None:
    one = memories.get(connection, id, now)
    if one.active:
        if ending == "forgotten":
            predecessors.bring_back(connection, one, now)
        memories.update(connection, one.rid, valid_until=now, ended_by=ending)


def _replace_memory(connection: apsw.Connection, chosen: str, other: str, now: int) -> None:
    """``chosen`` is in the place of ``other``, and says so where that is not the other way round already."""
    winner, loser = memories.get(connection, chosen, now), memories.get(connection, other, now)
    if not loser.active:
        return
    if loser.supersedes == winner.id or winner.supersedes is not None:
        known = {one.id for one in memories.linked(connection, winner.id, "supersedes", now)}
        if loser.supersedes == winner.id:
            _end_memory(connection, loser.id, "forgotten", now)
            return
        both = [*dict.fromkeys((*known, loser.id))]
        memories.update(connection, winner.rid, attributes={**winner.attributes, "supersedes": both})
    else:
        memories.update(connection, winner.rid, attributes={**winner.attributes, "supersedes": loser.id})
    _end_memory(connection, loser.id, "superseded", now)
