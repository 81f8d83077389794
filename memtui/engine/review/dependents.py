"""What depends on a memory: shown before it is corrected or forgotten, and asked about afterwards.

Afterwards what was drawn from it waits as one card of Review. Notes carry their caution until the person has decided
(``search.cautions``); of an entity's summary, which has no sources, the open card itself tells that it may not hold. Facts
with a name that a correction took away (``naming``) wait on the card too, without a caution: nothing else speaks against them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import apsw

from memtui.engine.consolidation.compare.similarity import analyse_statement, plain_weight
from memtui.engine.errors import NotFoundError
from memtui.engine.memories import predecessors, validation
from memtui.engine.records import (
    SETTLED,
    Dependents,
    Entity,
    MemoryRecord,
    PinnedQuestion,
    Record,
    ServedAgent,
)
from memtui.engine.search import cautions
from memtui.engine.store import entities, memories, proposals, recalls, saved_queries
from memtui.engine.store.proposals import Proposal
from memtui.engine.store.sql import as_json, scalar
from memtui.engine.wording import quote_beginning, quoted_change

from . import naming

_SAYS_THE_SAME = 0.5
# The memories themselves, and what they took the place of, step by step.
_OWN = """
    WITH RECURSIVE own(start, id) AS (
        SELECT value, value FROM json_each(:ids)
        UNION SELECT own.start, l.to_id FROM own JOIN memory_links l ON l.from_id = own.id
        WHERE l.rel IN ('supersedes', 'merged'))
"""
_DRAWN_FROM = f"""{_OWN}
    SELECT DISTINCT own.start, m.rid FROM own JOIN memory_links l ON l.to_id = own.id AND l.rel = 'source'
    JOIN memories m ON m.id = l.from_id
    WHERE m.valid_until IS NULL AND m.id NOT IN (SELECT id FROM own) ORDER BY m.rid
"""
_SAME_TURNS = """
    SELECT DISTINCT m.rid FROM memory_links mine
    JOIN memories turn ON turn.id = mine.to_id AND turn.kind = 'episode'
    JOIN memory_links theirs ON theirs.to_id = turn.id AND theirs.rel = 'source'
    JOIN memories m ON m.id = theirs.from_id
    WHERE mine.from_id IN (SELECT value FROM json_each(:ids)) AND mine.rel = 'source'
        AND m.kind = 'fact' AND m.valid_until IS NULL AND m.id NOT IN (SELECT value FROM json_each(:ids))
    ORDER BY m.rid
"""
_NAMED_ENTITIES_WITH_SUMMARY = """
    SELECT DISTINCT s.eid FROM memory_entities l JOIN entities e ON e.eid = l.eid
    JOIN entities s ON s.eid = coalesce(e.merged_into, e.eid)
    WHERE l.rid = ? AND s.summary IS NOT NULL AND NOT s.hidden ORDER BY s.eid
"""
_NAMED_ON_A_CARD = f"""
    SELECT 1 FROM proposals p, json_each(p.payload, '$.named') n WHERE p.kind = '{proposals.DEPENDENTS}' AND n.value = ? LIMIT 1
"""
_NO_LONGER_VALID = """
    SELECT m.rid FROM memories m WHERE m.id IN (SELECT value FROM json_each(:ids)) AND m.kind <> 'episode'
        AND (m.ended_by IN ('superseded', 'forgotten')
            OR EXISTS (SELECT 1 FROM memory_links l JOIN memories n ON n.id = l.from_id
                WHERE l.to_id = m.id AND l.rel = 'supersedes' AND (n.valid_until IS NULL OR n.ended_by IN ('superseded', 'merged')
                    OR json_type(n.attributes, '$.conflict_reason') IS NOT NULL)))
    ORDER BY m.rid
"""


class DependentsCard(Record):
    """What waits of one correction. ``ended``: what no longer holds; ``drawn`` and ``summaries``: what was drawn from it.

    ``named``: ids of those of ``drawn`` that were not, but have a name that the correction took away. ``done``: what became
    of it: ``you corrected``. ``now``: what the first of it is now.
    """

    id: str
    ended: tuple[MemoryRecord, ...]
    drawn: tuple[MemoryRecord, ...]
    summaries: tuple[Entity, ...]
    done: str
    named: frozenset[str] = frozenset()
    now: MemoryRecord | None = None

    def describe_reason(self, undecided: Sequence[MemoryRecord | Entity]) -> str:
        """``3 things were drawn from what you corrected: “...”, now “...”``; ``undecided``: what is asked about now."""
        named = sum(one.id in self.named for one in undecided)
        parts = len(undecided) - named
        counts = [f"{'1 thing was' if parts == 1 else f'{parts:,} things were'} drawn from"] if parts else []
        counts += [f"{'1 fact has' if named == 1 else f'{named:,} facts have'} a name of"] if named else []
        old = validation.open_text(self.ended[0]) if self.ended else ""
        if self.now:
            before, now = quoted_change(old, validation.open_text(self.now))
            said = f": {before}, now {now}"
        else:
            said = f": {quote_beginning(old)}" if self.ended else ""
        more = f" and {len(self.ended) - 1:,} more" if len(self.ended) > 1 else ""
        return f"{', '.join(counts)} what {self.done}{said}{more}"


def find_dependents(connection: apsw.Connection, ids: Sequence[str], now: float) -> Dependents:
    """What depends on these memories. Raises NotFoundError."""
    known_memories = [memories.get(connection, id, now) for id in dict.fromkeys(ids)]
    known = [one.id for one in known_memories]
    same = [rid for (rid,) in connection.execute(_SAME_TURNS, {"ids": as_json(known)})]
    derived_rids = dict.fromkeys(rid for _, rid in _derived_memories(connection, known))
    summaries = {
        entity.eid: entity for one in known_memories for entity in _dependent_summaries(connection, one)
    }
    same_turns = memories.by_rid(
        connection, [one for one in dict.fromkeys(same) if one not in derived_rids], now
    )
    shown = {*derived_rids, *(one.rid for one in same_turns)}
    named = [
        one for one in naming.facts_with_name(connection, known_memories, now) if one.memory.rid not in shown
    ]
    return Dependents(
        memories=tuple(known_memories),
        same_turns=tuple(same_turns),
        naming=tuple(one for one in named if not one.beside),
        wording=tuple(one for one in named if one.beside),
        derived=tuple(memories.by_rid(connection, list(derived_rids), now)),
        summaries=tuple(summaries.values()),
        questions=tuple(_dependent_questions(connection, frozenset(known), now)),
        served=_served_agents(connection, known),
        standing=tuple(
            old for one in known_memories for old in predecessors.standing_again(connection, one, now)
        ),
    )


def _derived_memories(connection: apsw.Connection, ids: Sequence[str]) -> list[tuple[str, int]]:
    rows: list[Any] = connection.execute(_DRAWN_FROM, {"ids": as_json(ids)}).fetchall()
    return [(str(start), int(rid)) for start, rid in rows]


def _dependent_questions(
    connection: apsw.Connection, ids: frozenset[str], now: float
) -> Iterable[PinnedQuestion]:
    for saved in saved_queries.all_questions(connection):
        if any(id in ids or _current_version(connection, id, now) in ids for id in saved.expected):
            yield PinnedQuestion(query_id=saved.query_id, query=saved.query)


def _current_version(connection: apsw.Connection, id: str, now: float) -> str:
    try:
        return memories.latest_version(connection, id, now).id
    except NotFoundError:  # erased since
        return id


def _served_agents(connection: apsw.Connection, ids: Sequence[str]) -> tuple[ServedAgent, ...]:
    return tuple(
        ServedAgent(agent=agent, times=times, first=first, last=last)
        for agent, times, first, last in recalls.agents_served(connection, ids)
    )


# -- summaries of entities


def _dependent_summaries(connection: apsw.Connection, memory: MemoryRecord) -> list[Entity]:
    """The entities that a note names and whose summary says the same."""
    if memory.kind == "episode":
        return []
    eids: list[Any] = connection.execute(_NAMED_ENTITIES_WITH_SUMMARY, (memory.rid,)).fetchall()
    return [
        one for one in entities.by_eid(connection, [eid for (eid,) in eids]) if _summary_repeats(one, memory)
    ]


def _summary_repeats(entity: Entity, memory: MemoryRecord) -> bool:
    """Whether a summary says what a note says: half of its words, and all of its names and numbers, but the entity's own."""
    own = set(analyse_statement(" ".join((entity.canonical_name, *entity.aliases))).content)
    note, summary = analyse_statement(memory.content), analyse_statement(entity.summary or "")
    content = set(note.content) - own
    weight = sum(map(plain_weight, content)) + len(note.numbers)
    if not weight or not (note.names - own <= set(summary.content) and note.numbers <= summary.numbers):
        return False
    return (
        sum(map(plain_weight, content & set(summary.content))) + len(note.numbers) >= _SAYS_THE_SAME * weight
    )


# -- what waits afterwards


def open_card(connection: apsw.Connection, ids: Iterable[str], verb: str, actor: str, now: int) -> None:
    """After ``ids`` were changed, in the same operation: what was drawn from those that no longer hold waits as one card.

    ``verb``: ``corrected``, ``forgot``... for the card.
    """
    ids = list(ids)
    ended = memories.by_rid(connection, _ended_memories(connection, ids), now)
    # What was merged still holds as it is said now, but for a name that its text had.
    merged = [one for one in memories.by_ids(connection, ids, now) if one.ended_by == "merged"]
    if not (ended or merged):
        return
    starts = _derived_memories(connection, [one.id for one in ended])
    notes = memories.by_rid(connection, list(dict.fromkeys(rid for _, rid in starts)), now)
    doubtful = cautions.decided_cautions(
        connection, [one.id for one in notes if one.kind in ("reflection", "observation")], now
    )
    pending = [one for one in notes if one.id in doubtful]
    rids = {one.rid for one in pending}
    starting_ids = {start for start, rid in starts if rid in rids}
    summaries: dict[str, str] = {}
    for one in ended:
        for entity in _dependent_summaries(connection, one):
            summaries[entity.id] = entity.summary or ""
            starting_ids.add(one.id)
    named: list[str] = []
    for one in (*ended, *merged):
        known = {*named, *(note.id for note in pending)}
        if new := [
            other.id for other in _facts_that_lost_name(connection, one, now) if other.id not in known
        ]:
            named += new
            starting_ids.add(one.id)
    if not (pending or summaries or named):
        return
    about = [one.id for one in (*ended, *merged) if one.id in starting_ids]
    payload = {
        "of": about, "memories": [*(one.id for one in pending), *named], "summaries": summaries, "named": named,
        "verb": verb, "who": actor,
    }  # fmt: skip
    card = proposals.identity(proposals.DEPENDENTS, *about)
    if not proposals.ask(connection, card, proposals.DEPENDENTS, payload, now):
        proposals.update_payload(connection, card, payload)
        proposals.decide(connection, card, "open", now)


def _facts_that_lost_name(
    connection: apsw.Connection, corrected: MemoryRecord, now: float
) -> Iterator[MemoryRecord]:
    """Facts with a name that a correction took away; none where nothing stands in its place, or a card asks about the name."""
    if scalar(connection, _NAMED_ON_A_CARD, (corrected.id,)):
        return
    new = memories.latest_version(connection, corrected.id, now)
    if corrected.kind == "fact" and corrected.ended_by in ("superseded", "merged") and new.active:
        dependents = Dependents(
            memories=(corrected,), wording=naming.facts_with_name(connection, [corrected], now)
        )
        yield from (one.memory for one in dependents.after(new.content).naming)


def _ended_memories(connection: apsw.Connection, ids: Iterable[str]) -> list[int]:
    rows: list[Any] = connection.execute(
        _NO_LONGER_VALID, {"ids": as_json(list(dict.fromkeys(ids)))}
    ).fetchall()
    return [int(rid) for (rid,) in rows]


def waiting_cards(connection: apsw.Connection, now: float) -> list[DependentsCard]:
    """The cards that are to be asked now, the latest first, each with what is still undecided of it."""
    cards = (
        _dependents_card(connection, one, now)
        for one in proposals.pending_proposals(connection, proposals.DEPENDENTS, now)
    )
    return [card for card in cards if card.drawn or card.summaries]


def _dependents_card(connection: apsw.Connection, proposal: Proposal, now: float) -> DependentsCard:
    payload = proposal.payload
    ended = memories.by_rid(connection, _ended_memories(connection, payload["of"]), now)
    if payload.get("named"):
        ended += [one for one in memories.by_ids(connection, payload["of"], now) if one.ended_by == "merged"]
    named = frozenset(payload.get("named", ()))
    undecided = _undecided_memories(connection, payload["memories"], named, now) if ended else ()
    summaries = _unchanged_summaries(connection, payload["summaries"]) if ended else ()
    latest = memories.latest_version(connection, ended[0].id, now) if ended else None
    return DependentsCard(
        id=proposal.id, ended=tuple(ended), drawn=undecided, summaries=summaries, done=_decided_ids(payload), named=named,
        now=latest if latest and latest.active and latest.id != ended[0].id else None,
    )  # fmt: skip


def _decided_ids(payload: dict[str, Any]) -> str:
    who = "you" if payload["who"] == "person" else str(payload["who"]).removeprefix("agent:")
    return f"{who} {payload['verb']}"


def _undecided_memories(
    connection: apsw.Connection, ids: Sequence[str], named: Collection[str], now: float
) -> tuple[MemoryRecord, ...]:
    """Those of them, or what they were corrected to by others, that still have a caution, and the ``named`` as they were."""
    undecided: dict[str, MemoryRecord] = {}
    for id in ids:
        try:
            one = memories.latest_version(connection, id, now)
        except NotFoundError:  # erased since
            continue
        if one.active:
            undecided[one.id] = one
    doubtful = cautions.decided_cautions(connection, list(undecided), now)
    return tuple(one for one in undecided.values() if one.id in doubtful or one.id in named)


def _unchanged_summaries(connection: apsw.Connection, summaries: dict[str, str]) -> tuple[Entity, ...]:
    """The entities whose summary is still the one that was asked about."""
    rows: list[Any] = connection.execute(
        "SELECT eid FROM entities WHERE id IN (SELECT value FROM json_each(?)) AND merged_into IS NULL AND NOT hidden",
        (as_json(list(summaries)),),
    ).fetchall()
    by_eid = entities.by_eid(connection, [eid for (eid,) in rows])
    return tuple(one for one in by_eid if one.summary == summaries[one.id])


def note_summary_kept(connection: apsw.Connection, entity: Entity) -> None:
    """The person said that a summary stands: no card asks for it any more."""
    for proposal in proposals.undecided_proposals(connection, proposals.DEPENDENTS):
        if proposal.payload["summaries"].get(entity.id) == entity.summary:
            summaries = {id: text for id, text in proposal.payload["summaries"].items() if id != entity.id}
            proposals.update_payload(connection, proposal.id, {**proposal.payload, "summaries": summaries})


def settle_memory(connection: apsw.Connection, memory: MemoryRecord, now: float) -> None:
    """The person said that a note stands, as it is now, whatever became of what it was drawn from or of a name in it."""
    for proposal in proposals.undecided_proposals(connection, proposals.DEPENDENTS):
        named = proposal.payload.get("named", ())
        if memory.id in named:
            undecided = [id for id in named if id != memory.id]
            proposals.update_payload(connection, proposal.id, {**proposal.payload, "named": undecided})
    known = cautions.read_ids(memory.attributes.get(SETTLED))
    ends = [id for id in cautions.ended_sources(connection, memory.id, now) if id not in known]
    if ends:
        memories.update(connection, memory.rid, attributes={**memory.attributes, SETTLED: [*known, *ends]})
