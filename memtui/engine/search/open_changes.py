"""What may have taken the place of a fact: a card of Review asks whether it did, so both are told."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from memtui.engine.records import MemoryRecord
from memtui.engine.store import proposals, replacements

from . import lexicon
from .kept_back import why_kept_back
from .scope import Scope, rids_in_scope


def find_open_changes(
    connection: apsw.Connection, listed: Sequence[MemoryRecord], now: float, known: Scope | None
) -> dict[str, MemoryRecord]:
    """By the id of each listed fact the latest that may have replaced it, if that is listed too or shares a word with it.

    ``known``: all that there is for whoever asks; None for everything.
    """
    facts = {one.id for one in listed if one.kind == "fact"}
    cards = proposals.undecided_about_any(connection, proposals.CONFLICT, facts)
    on_cards = facts.intersection(id for card in cards for id in proposals.memory_ids(connection, card))
    asked = [
        one
        for id, those in replacements.find_replacements(connection, on_cards, now).items()
        for one in those
        if one.how == "asked" and one.old.id == id and not why_kept_back(one.new)
    ]
    if known is not None:
        within = rids_in_scope(connection, known, {one.new.rid for one in asked})
        asked = [one for one in asked if one.new.rid in within]
    return {
        one.old.id: one.new
        for one in sorted(asked, key=lambda one: one.at)
        if one.new.id in facts
        or not lexicon.content_stems(one.new.content).isdisjoint(lexicon.content_stems(one.old.content))
    }
