"""The status line of a shell's prompt, read without opening a Memory.

What Review finds by comparing memories takes too long for that. Counted are the cards that were asked, as Review shows them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import apsw

from memtui.engine.clock import local_midnight
from memtui.engine.records import ServedToday, Status
from memtui.engine.store import proposals, recalls, recording_rules, replacements
from memtui.engine.store.sql import as_json


def status(connection: apsw.Connection, now: float) -> Status:
    """The number of cards that wait, and what agents were served since local midnight."""
    served, memories = recalls.recall_counts_since(connection, local_midnight(now))
    return Status(
        review=count_cards(connection, now),
        served=tuple(ServedToday(agent=agent, times=times, memories=number) for agent, times, number in served),
        memories=memories, pause=recording_rules.pause_in_force(connection, now),
    )  # fmt: skip


def count_cards(connection: apsw.Connection, now: float) -> int:
    """How many cards of Review were asked: each memory is on one card only, what is gone on none."""
    shown: set[str] = set()
    cards = 0
    for ids in _memory_ids_by_card(connection, now):
        if not ids or not ids <= shown:
            cards += 1
        shown |= ids
    for one in proposals.pending_proposals(connection, proposals.CHANGE_REQUEST, now):
        cards += bool(_active_ids(connection, {str(one.payload["memory"])}))
    cards += len(proposals.pending_proposals(connection, proposals.QUARANTINED, now))
    return min(cards, proposals.MAX_PROPOSALS)


def _memory_ids_by_card(connection: apsw.Connection, now: float) -> Iterator[set[str]]:
    """The memories on each card that may show one that another card shows, the worst first."""
    if replacements.has_any_by_agents(connection):
        from . import agent_changes  # most memories have none

        for change in agent_changes.waiting_changes(connection, now):
            yield {change.new.id, change.olds[0].id}
    choices = []
    for one in proposals.pending_proposals(connection, proposals.CONFLICT, now):
        asked = {memory.id for memory in proposals.asked_memories(connection, one, now)}
        if len(asked) > 2:
            choices.append(asked)
        elif asked:
            yield asked
    yield from choices
    for one in proposals.pending_proposals(connection, proposals.DEVICES, now):
        if sides := proposals.disputed_sides(connection, one.payload, now):
            yield {side.id for side in sides}
    if proposals.pending_proposals(connection, proposals.DEPENDENTS, now, limit=1):
        from . import dependents  # what it compares with takes a while to load

        put_off = proposals.snoozed_memories(connection, now)
        for card in dependents.waiting_cards(connection, now):
            derived_ids = {memory.id for memory in card.drawn} - put_off
            if derived_ids or any(entity.id not in put_off for entity in card.summaries):
                yield derived_ids


def _active_ids(connection: apsw.Connection, ids: Iterable[str]) -> set[str]:
    """Those of some memories that are not in the Trash."""
    rows = connection.execute(
        "SELECT id FROM memories WHERE id IN (SELECT value FROM json_each(?)) AND valid_until IS NULL",
        (as_json(ids),),
    )
    return {str(id) for (id,) in rows}
