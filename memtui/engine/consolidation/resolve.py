"""Settle a contradiction, and make one fact of two. Functions inside the caller's operation.

Nothing is lost: the loser goes to the Trash with a link to the winner, and undo brings it back.
"""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from memtui.engine.errors import InputError, ProtectedError
from memtui.engine.memories import operations, predecessors, validation
from memtui.engine.records import TRUST_ORDER, MemoryRecord, Options
from memtui.engine.store import memories, proposals

from .apply import settle_replaced, weaken_replaced
from .compare.duplicates import without_repeats


def keep_new(connection: apsw.Connection, new: str, old: str, reason: str, *, actor: str, now: int) -> None:
    """The new fact takes the pin and names the old one. The old one stays, and fades as ``apply.weaken_replaced`` says."""
    winner, loser = _load_pair(connection, new, old, now)
    if loser.protected and actor != "person":
        raise ProtectedError(
            f"{loser.id} is confirmed by the person: {actor} may not replace it.", "Ask the person."
        )
    attributes = {
        **operations.pin_of(winner, loser),
        **winner.attributes,
        "supersedes": _superseded_ids(winner, loser),
        "conflict_reason": reason,
    }
    memories.update(connection, winner.rid, attributes=attributes, reviewed_at=now)
    weaken_replaced(connection, loser, winner.content)
    settle_replaced(connection, loser, winner, now)
    if loser.protected:
        memories.update(connection, loser.rid, confirmed_at=None)
    memories.update(connection, loser.rid, reviewed_at=now)


def keep_old(connection: apsw.Connection, new: str, old: str, *, now: int) -> None:
    """The known fact stands, with the pin of either; the new one goes to the Trash as superseded by it.

    What an agent, a job or a reading put the new one in the place of stands again. The known one names it: an older talk
    that says the same is not asked about again, and whoever reads what the new one was drawn from is told what holds.
    """
    loser, winner = _load_pair(connection, new, old, now)
    predecessors.bring_back(connection, loser, now)
    memories.update(connection, loser.rid, valid_until=now, ended_by="superseded")
    attributes = {**operations.pin_of(winner, loser), **winner.attributes}
    attributes["supersedes"] = _superseded_ids(winner, loser)
    memories.update(connection, winner.rid, attributes=attributes, reviewed_at=now)


def _superseded_ids(winner: MemoryRecord, loser: MemoryRecord) -> str | list[str]:
    """The ids of what the winner replaces, this one last; a single one is no list."""
    before = _name_list(winner.attributes.get("supersedes")) or (
        (winner.supersedes,) if winner.supersedes else ()
    )
    return [*(one for one in before if one != loser.id), loser.id] if set(before) - {loser.id} else loser.id


def keep_both(connection: apsw.Connection, ids: Sequence[str], *, now: int) -> None:
    """They do not contradict each other."""
    for id in ids:
        memories.update(connection, memories.get(connection, id, now).rid, reviewed_at=now)


def merge_facts(
    connection: apsw.Connection,
    survivor: str,
    others: Sequence[str],
    *,
    text: str,
    actor: str,
    options: Options,
    now: int,
) -> int:
    """One fact of several; returns the rid of the survivor, which has the tags, sources and protection of all.

    The others go to the Trash (``merged``) and stay linked. Another ``text`` makes a corrected survivor.
    """
    kept = memories.get(connection, survivor, now)
    gone = [memories.get(connection, id, now) for id in dict.fromkeys(others)]
    if not gone or any(one.id == kept.id for one in gone):
        raise InputError(
            "Merging takes two different facts.", "Choose one to keep and others to merge into it."
        )
    for one in (kept, *gone):
        if one.kind == "episode" or one.kind != kept.kind or not one.active:
            raise InputError(
                f"{one.id} cannot be merged.", "Only active facts (or observations) of one kind can."
            )
        operations.require_wording_allowed(one, actor)
    if text.strip() and text.strip() != kept.content:
        rid = operations.correct(connection, kept, text, actor=actor, options=options, now=now)
        (kept,) = memories.by_rid(connection, [rid], now)
    _transfer_pin(connection, kept, gone, now)
    for one in gone:
        memories.update(connection, one.rid, valid_until=now, ended_by="merged")
    for id in (survivor, *(one.id for one in gone)):
        if id != kept.id:
            proposals.hand_over(connection, id, kept.id, now)
    return kept.rid


def _transfer_pin(
    connection: apsw.Connection, kept: MemoryRecord, gone: Sequence[MemoryRecord], now: int
) -> None:
    everyone = (kept, *gone)
    sources: tuple[str, ...] = ()
    for one in everyone:
        sources = without_repeats(sources, one.source_ids)
    merged = _name_list(kept.attributes.get("merged"))
    pin = operations.pin_of(*everyone)
    confirmed = [one.confirmed_at for one in everyone if one.confirmed_at is not None]
    memories.update(
        connection, kept.rid,
        source_ids=sources,
        tags=validation.normalise_tags(tag for one in everyone for tag in one.tags),
        confidence=max(one.confidence for one in everyone),
        topic=next((one.topic for one in everyone if one.topic), None),
        happens_at=next((one.happens_at for one in everyone if one.happens_at), None),
        decay_rate=min(one.decay_rate for one in everyone),
        confirmed_at=min(confirmed) if confirmed else None,
        trust=max((one.trust for one in everyone), key=TRUST_ORDER.index),
        event_time=max(one.event_time for one in everyone),
        attributes={**kept.attributes, **pin, "merged": list(without_repeats(merged, [one.id for one in gone]))},
        reviewed_at=now,
    )  # fmt: skip


def _name_list(value: object) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


def _load_pair(
    connection: apsw.Connection, first: str, second: str, now: int
) -> tuple[MemoryRecord, MemoryRecord]:
    """Both as they are now. Raises InputError when they are one, or one of them is in the Trash."""
    found = memories.get(connection, first, now), memories.get(connection, second, now)
    if found[0].id == found[1].id:
        raise InputError("A fact cannot replace itself.", "Choose two different facts.")
    for one in found:
        if not one.active:
            raise InputError(
                f"{one.id} is in the Trash ({one.ended_by}).", "There is nothing left to decide."
            )
    return found
