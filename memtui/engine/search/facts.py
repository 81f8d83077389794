"""Facts for the context block: those that the search finds and those of the prompt's subjects, in one order.

The search finds by words, names and the meaning of the whole. "What shall I cook for the team" shares none of them with
"Priya can't eat nuts". So the newest facts, those of the prompt's subjects and those that answer it with other words are
read too. Each gets a probability that it answers (``scoring``); its place by that and its place among the hits are fused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import apsw

from memtui.engine.records import Hit, MemoryRecord, Record
from memtui.engine.store import memories
from memtui.engine.store.tokens import words

from . import excerpts, relevance, scoring
from .clauses import Clause
from .relevance import Piece, Prompt
from .scope import Scope, newest_facts
from .scoring import Scored

ANSWERS, BEARS_ON_WORK = 0.025, 0.03
"""The least probability with which a fact answers that is told without a word, a name or a meaning in common: to a question
for one thing; to a prompt for work, for which more may matter than was asked for."""
BY_MEANING = 0.04
"""The least where nothing but the meaning of words shows that it does."""
BESIDE_THE_POINT = 0.012
"""A hit that answers a question for one thing less probably is not told, whatever words it shares."""
MOST_OF_SUBJECT = 25
"""So many facts of the prompt's subjects are read, the newest; as many that answer it with other words."""
NEWEST, FEW = 60, 500
"""So many facts are read whatever they say, those said last, where there are no more than ``FEW``."""
FIRST, BESIDE = 15, 20
"""Where there are more, so many hits are read, and so many others where too few of the hits bear on the prompt."""
K = 20
"""Added to a place before orders are fused (RRF): the smaller, the more the first places count."""
BY_SEARCH = 0.3
"""What a place among the hits counts, against one by probability."""


class Fact(NamedTuple):
    """A fact that may be told. ``hit``: as the search found it; ``judged``: how probably it answers."""

    memory: MemoryRecord
    hit: Hit | None
    judged: Scored


class Related(Record):
    """A fact that is told for its subject, for other words or for a meaning that is near.

    ``score``: how probably it answers, 0 to 1. ``reasons``: why, each a few words.
    """

    memory: MemoryRecord
    score: float
    reasons: tuple[str, ...]


def ranked(
    connection: apsw.Connection,
    read: Prompt,
    hits: Sequence[Hit],
    within: Scope,
    now: float,
    *,
    few: bool,
    beside: bool,
    with_meanings: bool,
) -> list[Fact]:
    """The hits and the other facts that may bear on a prompt, the best first.

    ``few``: whether there are few facts; ``beside``: whether any but the hits are read.
    """
    hits = hits if few else hits[:FIRST]
    found = {hit.memory.rid: hit for hit in hits}
    others = _others(connection, read, within, few=few) if beside else []
    others = [rid for rid in others if rid not in found][: None if few else BESIDE]
    known = [hit.memory for hit in hits] + memories.by_rid(connection, others, now)
    newest = sorted(known, key=lambda fact: (-fact.event_time, -fact.rid))
    pieces = [(fact, _piece(fact, place / len(newest))) for place, fact in enumerate(newest)]
    judged = scoring.scored(read, pieces, "facts", with_meanings=with_meanings)
    places = {hit.memory.rid: place for place, hit in enumerate(hits)}
    fused = {
        one.memory.rid: 1 / (K + place) + BY_SEARCH / (K + places.get(one.memory.rid, len(known)))
        for place, one in enumerate(judged)
    }
    judged.sort(key=lambda one: -fused[one.memory.rid])
    return [Fact(one.memory, found.get(one.memory.rid), one) for one in judged]


def related(fact: Fact, read: Prompt) -> Related | None:
    """The fact as it is told for what it probably answers; None where that is improbable, or nothing shows why."""
    why = scoring.reasons(fact.judged, read)
    least = BY_MEANING if why == (scoring.MEANING,) else ANSWERS if read.factual else BEARS_ON_WORK
    if fact.judged.score < least or not why:
        return None
    return Related(memory=fact.memory, score=fact.judged.score, reasons=why)


def why_beside_the_point(fact: Fact, read: Prompt) -> str:
    """Why a hit that bears on a prompt by its words is not told all the same; empty where it is."""
    improbable = read.factual and fact.judged.score < BESIDE_THE_POINT
    return "it hardly answers what is asked" if improbable else ""


def _others(connection: apsw.Connection, read: Prompt, within: Scope, *, few: bool) -> list[int]:
    """The facts of the prompt's subjects, those that answer it with other words, and the newest."""
    found: dict[int, None] = {}
    for match in filter(None, (excerpts.of_subjects(read), excerpts.said_otherwise(read))):
        found |= dict.fromkeys(newest_facts(connection, within, match, MOST_OF_SUBJECT))
    if not few:
        return list(found)
    rows = connection.execute(
        f"""
        SELECT m.rid FROM memories m
        WHERE m.kind <> 'episode' AND m.kind = 'fact' AND m.valid_until IS NULL AND {within.where}
        ORDER BY m.event_time DESC, m.rid DESC LIMIT :limit
        """,
        {**within.bindings, "limit": NEWEST},
    )
    return list(found | dict.fromkeys(rid for (rid,) in rows))


def _piece(fact: MemoryRecord, age: float) -> Piece:
    text = fact.content[: relevance.READ_AT_MOST]
    return relevance.read_piece(Clause(text=text, asks=False), frozenset(relevance.stemmed(words(text))), age)
