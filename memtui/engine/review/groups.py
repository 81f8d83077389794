"""Groups of cards in Review: those of one conversation, or of one person, project or place.

A verdict on a group is for what is plain: new and fading facts are kept, and what is held back or suspicious can be
refused with them. What has two sides, and what an agent asks for, is decided by itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import apsw
from msgspec.structs import replace

from memtui.engine.records import Entity, MemoryRecord, Options, Record
from memtui.engine.store import entities, proposals
from memtui.engine.store import sessions as stored_sessions
from memtui.engine.store.entity_lists import GROUP
from memtui.engine.store.sql import as_json
from memtui.engine.wording import plural

from . import cards as review_cards
from .cards import ReviewItem, ReviewKind, Verdict

_KEPT: frozenset[ReviewKind] = frozenset({"new", "fading"})
_REFUSED: frozenset[ReviewKind] = frozenset({"new", "fading", "suspicious", "quarantined"})
_MOST = 5_000
_SUBJECTS = 6
# Of a subject that is on this card alone there is no group.
_FEWEST = 2


class ReviewGroup(Record):
    """``title``: the conversation, or whom or what it is about. ``items``: its cards, narrowed to what belongs to it."""

    title: str
    items: tuple[ReviewItem, ...]
    about: Entity | None = None
    session_id: str | None = None

    def items_for(self, verdict: Verdict) -> tuple[ReviewItem, ...]:
        """Those that the verdict settles as a group."""
        kinds = _KEPT if verdict == "keep" else _REFUSED
        return tuple(item for item in self.items if item.kind in kinds and verdict in item.offered)

    def count(self, verdict: Verdict) -> int:
        """How many memories (or texts that are held back) the verdict would be about."""
        return sum(max(len(item.memories), 1) for item in self.items_for(verdict))

    def count_left(self, verdict: Verdict) -> int:
        """How many of its cards are to be decided by themselves."""
        return len(self.items) - len(self.items_for(verdict))

    def label(self, verdict: Verdict) -> str:
        """The operation of a verdict on it."""
        done = {"keep": "Kept", "forget": "Forgot", "snooze": "Put off"}.get(verdict, "Decided")
        return f"{done} {plural(self.count(verdict), 'fact')} {self.describe_facts}"

    @property
    def describe_facts(self) -> str:
        """Which facts these are, for a sentence."""
        return f"about {self.title}" if self.about is not None else f"of “{self.title}”"


def group_of_session(
    connection: apsw.Connection, now: float, options: Options, session_id: str
) -> ReviewGroup:
    """Everything that waits and comes from one conversation. Raises NotFoundError."""
    session = stored_sessions.get(connection, session_id)
    cards = _all_cards(connection, now, options)
    return ReviewGroup(
        title=session.name, session_id=session.session_id,
        items=tuple(part for card in cards if (part := _is_of_session(card, session.session_id))),
    )  # fmt: skip


def group_about_entity(
    connection: apsw.Connection, now: float, options: Options, entity: Entity
) -> ReviewGroup:
    """Everything that waits and mentions an entity."""
    cards = _all_cards(connection, now, options)
    mentioned = _memories_mentioning(connection, entity.eid, cards)
    return ReviewGroup(
        title=entity.canonical_name, about=entity,
        items=tuple(part for card in cards if (part := _narrow_card(card, mentioned))),
    )  # fmt: skip


def groups_of_card(
    connection: apsw.Connection, now: float, options: Options, item: ReviewItem
) -> tuple[ReviewGroup, ...]:
    """The groups that a card belongs to: its conversation, then whom and what it mentions, the largest first.

    What a new memory mentions is known once it has its links, which are made in the background.
    """
    groups = []
    if item.session_id is not None:
        groups.append(group_of_session(connection, now, options, item.session_id))
    subjects = [
        group_about_entity(connection, now, options, entity)
        for entity in _subjects_of(connection, item.memories)
    ]
    subjects.sort(key=lambda group: -group.count("keep"))
    groups += [group for group in subjects if max(group.count("keep"), group.count("forget")) >= _FEWEST]
    return tuple(group for group in groups if group.items_for("forget"))


def _all_cards(connection: apsw.Connection, now: float, options: Options) -> list[ReviewItem]:
    return review_cards.review(connection, now, options, limit=_MOST, every_new=True)


def _is_of_session(card: ReviewItem, session_id: str) -> ReviewItem | None:
    if card.kind == "quarantined":
        return card if card.session_id == session_id else None
    return _narrow_card(card, {memory.rid for memory in card.memories if memory.session_id == session_id})


def _narrow_card(card: ReviewItem, rids: set[int]) -> ReviewItem | None:
    """The card with only these memories; one of two sides stays whole."""
    some = tuple(memory for memory in card.memories if memory.rid in rids)
    if not some:
        return None
    if len(some) == len(card.memories) or not card.several:
        return card
    id = proposals.identity(card.kind, *(memory.id for memory in some))
    return replace(card, id=id, memories=some, sources=())


def _memories_mentioning(connection: apsw.Connection, eid: int, cards: Sequence[ReviewItem]) -> set[int]:
    """The memories that are linked to it, and those without links yet that have one of its names."""
    memories = {memory.rid: memory for card in cards for memory in card.memories}
    rids = list(memories)
    rows: Any = connection.execute(
        f"SELECT rid FROM memory_entities WHERE rid IN (SELECT value FROM json_each(?1)) "
        f"AND eid IN {GROUP.format(eid='?2')}",
        (as_json(rids), eid),
    )
    mentioning = {int(rid) for (rid,) in rows}
    names: Any = connection.execute(
        f"SELECT key FROM entity_aliases WHERE entity_id IN {GROUP.format(eid='?1')}", (eid,)
    ).fetchall()
    waiting = _without_links(connection, rids) - mentioning
    named = re.compile("|".join(rf"(?<!\w){re.escape(key)}(?!\w)" for (key,) in names) or r"(?!)")
    return mentioning | {rid for rid in waiting if named.search(entities.entity_key(memories[rid].content))}


def _without_links(connection: apsw.Connection, rids: Sequence[int]) -> set[int]:
    rows: Any = connection.execute(
        "SELECT rid FROM index_queue WHERE text = 1 AND rid IN (SELECT value FROM json_each(?))",
        (as_json(rids),),
    )
    return {int(rid) for (rid,) in rows}


def _subjects_of(connection: apsw.Connection, memories: Sequence[MemoryRecord]) -> list[Entity]:
    rows: Any = connection.execute(
        """
        SELECT s.eid, count(*) FROM memory_entities l JOIN entities e ON e.eid = l.eid
        JOIN entities s ON s.eid = coalesce(e.merged_into, e.eid)
        WHERE l.rid IN (SELECT value FROM json_each(?)) AND NOT s.hidden AND s.type NOT IN ('date', 'url')
        GROUP BY s.eid ORDER BY count(*) DESC, s.mention_count DESC LIMIT ?
        """,
        (as_json([memory.rid for memory in memories]), _SUBJECTS),
    ).fetchall()
    return entities.by_eid(connection, [int(eid) for eid, _ in rows])
