"""Facts for the context block: those that the search finds and those of the prompt's subjects, in one order.

The search finds by words, names and the meaning of the whole. "What shall I cook for the team" shares none of them with
"Priya can't eat nuts". So the newest facts, those of the prompt's subjects and those that answer it with other words are
read too. Each gets a probability that it answers (``scoring``), which decides whether it is told and where it stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import apsw

from memtui.engine.records import Hit, MemoryRecord, Record
from memtui.engine.store import memories
from memtui.engine.store.sql import as_json
from memtui.engine.store.tokens import text_words

from . import excerpts, prompt_need, relevance, scoring
from .clauses import Clause
from .relevance import ClauseFeatures, PromptFeatures
from .scope import Scope, newest_facts
from .scoring import Cosines, ScoredPiece

NEEDED = -1.0
"""From these log odds on a prompt may need the memory: then much is told, for a fact too few costs more than a line too many."""
ANSWERS, ELSE = 0.012, 0.06
"""The least probability with which a fact is told, where the prompt may need the memory and where it hardly does."""
BESIDE_BEST = 0.1
"""The least share of the best fact's probability, where no word shows why."""
IMPROBABLE = "it hardly answers what is asked"
ALL_TOGETHER = "all of it together"
"""The reason where neither a word nor a meaning alone shows why."""
MOST_OF_SUBJECT = 25
"""So many facts of the prompt's subjects are read, the newest; as many that answer it with other words."""
NEWEST, FEW = 60, 500
"""So many facts are read whatever they say, those said last, where there are no more than ``FEW``."""
FIRST, BESIDE = 25, 20
"""Where there are more, so many hits are read, and so many others where too few of the hits bear on the prompt."""


class FactCandidate(NamedTuple):
    """A fact that may be told. ``hit``: as the search found it; ``judged``: how probably it answers."""

    memory: MemoryRecord
    hit: Hit | None
    judged: ScoredPiece


class RelatedFact(Record):
    """A fact that is told for its subject, for other words or for a meaning that is near.

    ``score``: how probably it answers, 0 to 1. ``reasons``: why, each a few words.
    """

    memory: MemoryRecord
    score: float
    reasons: tuple[str, ...]


def rank_facts(
    connection: apsw.Connection,
    read: PromptFeatures,
    hits: Sequence[Hit],
    scope: Scope,
    now: float,
    *,
    few: bool,
    beside: bool,
    with_meanings: bool,
    turns: Scope,
    cosines: Cosines | None,
) -> list[FactCandidate]:
    """The hits and the other facts that may bear on a prompt, the best first.

    ``few``: whether there are few facts; ``beside``: whether any but the hits are read. ``turns``: those that may be read
    for what a fact was said with. ``cosines``: of memories and the prompt, where a model that reads sentences made them.
    """
    hits = hits if few else hits[:FIRST]
    found = {hit.memory.rid: hit for hit in hits}
    others = _facts_of_subjects(connection, read, scope, few=few) if beside else []
    others = [rid for rid in others if rid not in found][: None if few else BESIDE]
    known = [hit.memory for hit in hits] + memories.by_rid(connection, others, now)
    newest = sorted(known, key=lambda fact: (-fact.event_time, -fact.rid))
    said_with = _source_stems(connection, known, turns)
    pieces = [
        (fact, _fact_piece(fact, index / len(newest), said_with.get(fact.id, frozenset())))
        for index, fact in enumerate(newest)
    ]
    judged = scoring.score_pieces(read, pieces, "facts", with_meanings=with_meanings, cosines=cosines)
    return [FactCandidate(one.memory, found.get(one.memory.rid), one) for one in judged]


def least_probability(read: PromptFeatures, ranked: Sequence[FactCandidate]) -> float:
    """The least probability with which one of the facts, the best first, is told."""
    odds = prompt_need.answer_odds(read, "facts", [one.judged.score for one in ranked])
    return ANSWERS if odds >= NEEDED else ELSE


def related_fact(fact: FactCandidate, read: PromptFeatures, best: float) -> RelatedFact | None:
    """The fact as it is told for what it probably answers; None where too little shows why.

    ``best``: the highest probability of the facts.
    """
    why = scoring.describe_reasons(fact.judged, read)
    if not (why or read.factual or read.personal):
        return None
    if not set(why) - {scoring.MEANING} and fact.judged.score < BESIDE_BEST * best:
        return None
    return RelatedFact(memory=fact.memory, score=fact.judged.score, reasons=why or (ALL_TOGETHER,))


def _facts_of_subjects(
    connection: apsw.Connection, read: PromptFeatures, scope: Scope, *, few: bool
) -> list[int]:
    """The facts of the prompt's subjects, those that answer it with other words, and the newest."""
    found: dict[int, None] = {}
    for match in filter(None, (excerpts.subject_query(read), excerpts.rewording_query(read))):
        found |= dict.fromkeys(newest_facts(connection, scope, match, MOST_OF_SUBJECT))
    if not few:
        return list(found)
    rows = connection.execute(
        f"""
        SELECT m.rid FROM memories m
        WHERE m.kind <> 'episode' AND m.kind = 'fact' AND m.valid_until IS NULL AND {scope.where}
        ORDER BY m.event_time DESC, m.rid DESC LIMIT :limit
        """,
        {**scope.bindings, "limit": NEWEST},
    )
    return list(found | dict.fromkeys(rid for (rid,) in rows))


def _source_stems(
    connection: apsw.Connection, known: Sequence[MemoryRecord], turns: Scope
) -> dict[str, frozenset[str]]:
    """By the id of a fact the stems of the turns it was drawn from: "29 November, the hall" was said of the wedding."""
    found: dict[str, frozenset[str]] = {}
    stems_of: dict[int, frozenset[str]] = {}  # a turn may have many facts
    rows = connection.execute(
        f"""
        SELECT l.from_id, m.rid, substr(m.content, 1, {relevance.MAX_CHARACTERS})
        FROM memory_links l JOIN memories m ON m.id = l.to_id
        WHERE l.rel = 'source' AND l.from_id IN (SELECT value FROM json_each(:facts)) AND {turns.where}
        """,
        {**turns.bindings, "facts": as_json([fact.id for fact in known])},
    )
    for fact, turn, text in rows:
        if turn not in stems_of:
            stems_of[turn] = frozenset(relevance.stem_words(text_words(text)))
        found[fact] = found.get(fact, frozenset()) | stems_of[turn]
    return found


def _fact_piece(fact: MemoryRecord, age: float, said_with: frozenset[str]) -> ClauseFeatures:
    text = fact.content[: relevance.MAX_CHARACTERS]
    stems = said_with.union(relevance.stem_words(text_words(text)))
    return relevance.read_piece(Clause(text=text, asks=False), stems, age)
