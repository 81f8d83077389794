"""Memories that may say in other words what is to be erased. No link and no quotation leads to them, so the person has to look.

They are found by meaning (the vectors of the file) and by shared words and names, and scored pair by pair. How many of them are
listed is counted by ``tests/benchmarks/similar_eval.py``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, NamedTuple

import apsw

from memtui.engine.consolidation.compare import duplicates
from memtui.engine.consolidation.compare.paraphrase import paraphrase_odds
from memtui.engine.consolidation.compare.similarity import analyse_statement, plain_weight
from memtui.engine.consolidation.compare.update_model import packaged_features, update_model
from memtui.engine.consolidation.extract.sentences import split_sentences
from memtui.engine.memories import validation
from memtui.engine.records import MemoryRecord
from memtui.engine.records.erase import Carrier, ErasePlan
from memtui.engine.search.filters.compiler import compile_filter
from memtui.engine.search.retrievers import vector
from memtui.engine.search.scope import Scope, make_scope
from memtui.engine.store import memories, vectors

if TYPE_CHECKING:
    from memtui.engine.search.retrievers.vector_cache import VectorCache

WHY = "may say it in other words"
MOST_LISTED = 10
"""In a plan. So many, the nearest of each statement, are compared by the classifier, which takes 3 ms for each."""
_MOST_TEXTS = 16
_MOST_SENTENCES = 8
"""Of a turn, from its beginning."""
_SHORTEST = 2
"""Content words that a sentence needs to be compared."""
_NEAREST = {"note": 24, "turn": 8}
_RAREST = 4
_WORDS, _ODDS, _MOST_ODDS = 0.3, 0.1, 3.0
_LEAST = 0.3
_LEAST_BY_WORDS = 0.5
"""Where no vectors are installed: the share of common words."""
_SCOPES = {"note": "is:active,trash kind:fact,observation,reflection", "turn": "is:active,trash kind:episode"}


class _Statement(NamedTuple):
    """What is to go: a memory, and what it says in one sentence or as a whole."""

    rid: int
    text: str


class _Likeness(NamedTuple):
    """A memory that stays, and its sentence that is most like what goes."""

    score: float
    memory: MemoryRecord
    sentence: str


def find_similar(
    connection: apsw.Connection, plan: ErasePlan, now: float, vector_cache: VectorCache | None = None
) -> tuple[Carrier, ...]:
    """Up to ``MOST_LISTED`` memories outside of the plan that may say it in other words, the likeliest first."""
    listed = {*plan.ids, *(one.key for one in plan.carriers)}
    scopes = {kind: make_scope(compile_filter(filter, now)) for kind, filter in _SCOPES.items()}
    best: dict[str, _Likeness] = {}
    for statement in _statements(memories.by_ids(connection, plan.ids, now)):
        rids = {
            rid
            for kind, scope in scopes.items()
            for rid in _nearby_rids(connection, statement, scope, _NEAREST[kind], vector_cache)
        }
        near = [one for one in memories.by_rid(connection, sorted(rids), now) if one.id not in listed]
        for found in _judge(statement.text, near):
            if (known := best.get(found.memory.id)) is None or known.score < found.score:
                best[found.memory.id] = found
    ranked = sorted(best.values(), key=lambda found: (-found.score, found.memory.rid))[:MOST_LISTED]
    return tuple(
        Carrier(
            key=found.memory.id, place="memory", title=validation.without_secrets(found.sentence)[:300],
            why=WHY, outcome="kept", choice=True, kind=found.memory.kind,
        )
        for found in ranked
    )  # fmt: skip


def _statements(erased: Collection[MemoryRecord]) -> list[_Statement]:
    """What the memories say: their facts and notes, or the sentences of turns of which no fact is among them."""
    notes = [_Statement(one.rid, one.content) for one in erased if one.kind != "episode"]
    turns = (_Statement(one.rid, part) for one in erased for part in _sentences(one))
    return (notes or [one for one in turns if len(set(analyse_statement(one.text).content)) >= _SHORTEST])[
        :_MOST_TEXTS
    ]


def _sentences(turn: MemoryRecord) -> list[str]:
    return [one.text for one in split_sentences(turn.content) if not one.question][:_MOST_SENTENCES]


def _nearby_rids(
    connection: apsw.Connection,
    statement: _Statement,
    scope: Scope,
    limit: int,
    vector_cache: VectorCache | None,
) -> Iterator[int]:
    """The memories of a scope nearest by meaning, and those that share its rarest words."""
    space = vectors.vector_space(connection)
    if space is not None:
        row = connection.execute(
            "SELECT vector FROM embeddings WHERE model_id = ? AND dims = ? AND rid = ?",
            (*space, statement.rid),
        ).fetchone()
        if row is not None:
            hits = vector.nearest_memories(connection, space, bytes(row[0]), scope, limit, vector_cache)
            yield from (hit.rid for hit in hits)
    if words := duplicates.telling_words(connection, statement.text)[:_RAREST]:
        match = " OR ".join(f'"{word}"' for word in words)
        yield from (
            int(str(rid))
            for (rid,) in connection.execute(
                f"""
                SELECT f.rowid FROM memories_fts f CROSS JOIN memories m ON m.rid = f.rowid
                WHERE memories_fts MATCH :match AND {scope.where} ORDER BY bm25(memories_fts), f.rowid DESC LIMIT :limit
                """,
                {**scope.bindings, "match": f"content : ({match})", "limit": limit},
            )
        )


def _judge(text: str, near: Collection[MemoryRecord]) -> Iterator[_Likeness]:
    """Those that may say what ``text`` says."""
    by_meaning = update_model().available()
    roughly = sorted((_closest_sentence(text, one, by_meaning) for one in near), key=lambda one: -one.score)
    if not by_meaning:
        yield from (one for one in roughly if one.score >= _LEAST_BY_WORDS)
        return
    judged = roughly[:MOST_LISTED]
    odds = paraphrase_odds(text, [one.sentence for one in judged])
    for one, forward in zip(judged, odds, strict=True):
        [backward] = paraphrase_odds(one.sentence, [text])
        score = one.score + _ODDS * max(-_MOST_ODDS, min(_MOST_ODDS, max(forward, backward)))
        if score >= _LEAST:
            yield one._replace(score=score)


def _closest_sentence(text: str, memory: MemoryRecord, by_meaning: bool) -> _Likeness:
    parts = (_sentences(memory) or [memory.content]) if memory.kind == "episode" else [memory.content]
    return max(
        (_Likeness(_closeness(text, part, by_meaning), memory, part) for part in parts),
        key=lambda one: one.score,
    )


def _closeness(text: str, other: str, by_meaning: bool) -> float:
    """The cosine and a part of the share of common words; only that share without vectors."""
    shared = _shared_weight(text, other)
    if not by_meaning:
        return shared
    cosine = float(packaged_features(text).vector @ packaged_features(other).vector)
    return cosine + _WORDS * shared


def _shared_weight(text: str, other: str) -> float:
    """The share of common content words in that of the two with fewer, 0 to 1."""
    mine, theirs = set(analyse_statement(text).content), set(analyse_statement(other).content)
    smaller = min(sum(map(plain_weight, mine)), sum(map(plain_weight, theirs)))
    return sum(map(plain_weight, mine & theirs)) / smaller if smaller else 0.0
