"""Changes that the person has not decided: what may have taken the place of a fact, and what an agent put in the place of one.

A card of Review asks about each, so both texts are told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import apsw

from memtui.engine.memories import predecessors
from memtui.engine.records import MemoryRecord, Record, is_trusted_less
from memtui.engine.store import proposals, replacements

from . import lexicon
from .kept_back import why_kept_back
from .scope import Scope, rids_in_scope


class OpenChanges(Record):
    """By the id of a fact: what may have replaced it (``perhaps_now``), and what it replaced by an agent's word alone
    (``before``)."""

    perhaps_now: Mapping[str, MemoryRecord]
    before: Mapping[str, MemoryRecord]


def find_open_changes(
    connection: apsw.Connection, listed: Sequence[MemoryRecord], now: float, known: Scope | None
) -> OpenChanges:
    """Those of the listed facts. ``known``: all that there is for whoever asks; None for everything."""
    return OpenChanges(
        perhaps_now=_find_newer(connection, listed, now, known),
        before=_find_before(connection, listed, now, known),
    )


def _find_newer(
    connection: apsw.Connection, listed: Sequence[MemoryRecord], now: float, known: Scope | None
) -> dict[str, MemoryRecord]:
    """The latest that may have replaced each, if that shares a word with it, or is listed too and with no other one does."""
    facts = {one.id for one in listed if one.kind == "fact"}
    cards = proposals.undecided_about_any(connection, proposals.CONFLICT, facts)
    on_cards = facts.intersection(id for card in cards for id in proposals.conflict_ids(card))
    changes = [
        one
        for those in replacements.find_replacements(connection, on_cards, now, guessed=True).values()
        for one in those
        if one.how == "asked" and not why_kept_back(one.new)
    ]
    candidates = [
        (one.old, one.new)
        for one in sorted(changes, key=lambda one: one.at)
        # An agent's claim casts no doubt on the person's words.
        if one.old is not None
        and one.old.id in on_cards
        and not is_trusted_less(one.new.trust, one.old.trust)
    ]
    if known is not None:
        within = rids_in_scope(connection, known, {new.rid for _, new in candidates})
        candidates = [(old, new) for old, new in candidates if new.rid in within]
    related = {
        (old.id, new.id)
        for old, new in candidates
        if not lexicon.content_stems(new.content).isdisjoint(lexicon.content_stems(old.content))
    }
    told = {new for _, new in related}
    return {
        old.id: new
        for old, new in candidates
        if (old.id, new.id) in related or (new.id in facts and new.id not in told)
    }


def _find_before(
    connection: apsw.Connection, listed: Sequence[MemoryRecord], now: float, known: Scope | None
) -> dict[str, MemoryRecord]:
    """What would stand again if the person rejected what an agent put in its place."""
    by_agents = {one.id: one for one in listed if one.corrected_by and not one.protected and one.active}
    unasked = {one.new for one in replacements.find_unasked(connection, [*by_agents])}
    found = {
        id: old
        for id in unasked
        for old in predecessors.standing_again(connection, by_agents[id], now)
        if not old.active and not why_kept_back(old)
    }
    if known is not None:
        within = rids_in_scope(connection, known, {old.rid for old in found.values()})
        found = {id: old for id, old in found.items() if old.rid in within}
    return found
