"""The second look, where scores are fused: candidates are read, then the turns around the best of them.

The retrievers' lists stop somewhere, and what lies beyond is not nothing: each text that is read counts with
its own words and its own cosine, whichever retriever brought it here.
"""

from __future__ import annotations

import math
import time
from collections.abc import Collection
from heapq import nlargest

import apsw
from msgspec.structs import replace

from memtui.engine.records import RetrieverName

from . import scored_documents
from .fusion import RetrieverCandidate, retriever_weight, weighted_totals
from .request import QueryVector, SearchRequest
from .retrievers import context, keyword
from .scope import rids_in_scope
from .scored_documents import ScoredDocument

SURROUNDED = 40
"""For so many of the best candidates the turns around them are read too. More changes nothing."""
QUESTION = 0.8
"""What the words of a turn that asks something count, against one that does not: it is seldom the answer."""
CHATTER = 0.5
"""What a turn counts that only agrees, thanks, greets or closes. A fact of the same words comes before it."""
NOTES = 1.2
"""What the words of a fact count, against those of a turn: it says plainly what talk goes around. Among facts alone, 1."""
BRIEF = 5 / 6
"""What a turn of no words would count, against a full one: "at the abbey" says less than a sentence does."""
FULL = 33
"""From so many words on a turn is full; below, its length counts by the logarithm."""
OTHERS = 0.8
"""What the turn of an assistant, a tool or a document counts, against one of the person."""
FTS5_MOST = 2.2
"""The most that FTS5's bm25() gives a word, as a multiple of its idf."""
STATIC_WORDS = 3_000
"""Of so many words the packaged vectors are looked up: in the candidates, then in the turns around and what was left out."""
STATIC_WORDS_OF_MANY = 1_000
"""The same in a large index, where all else takes longer already."""


def rerank_candidates(
    connection: apsw.Connection,
    request: SearchRequest,
    first_pass: dict[int, float],
    lists: dict[RetrieverName, list[RetrieverCandidate]],
) -> float:
    """Order the keyword list anew, complete the vector list, make those of the word vector and the context retriever.

    ``first_pass``: the keyword retriever's candidates with their scores. Returns the milliseconds of late interaction.
    """
    pool = {candidate.rid for candidates in lists.values() for candidate in candidates}
    readings = scored_documents.score_documents(connection, request.question, pool)
    judging = _score_documents(connection, request, first_pass, readings, lists)
    if retriever_weight(request.profile, "context") > 0.0 and "episode" in request.scope.kinds:
        best = nlargest(
            SURROUNDED, weighted_totals(lists, request.profile).items(), key=lambda one: one[::-1]
        )
        around = context.neighbouring_turns(connection, [rid for rid, _ in best])
        facts_by_turn = context.facts_of_turns(
            connection, [rid for rid in pool if readings[rid].kind == "fact"]
        )
        beside = rids_in_scope(connection, request.scope, (around.keys() | facts_by_turn.keys()) - pool)
        readings |= scored_documents.score_documents(connection, request.question, beside)
        judging += _score_documents(connection, request, first_pass, readings, lists)
        lists["context"] = context.context_candidates(request, readings, around, facts_by_turn, lists)
    less = {rid: part for rid, text in readings.items() if (part := _counted_share(text)) < 1.0}
    for retriever, found in lists.items():
        lists[retriever] = [
            replace(one, share=one.share * less[one.rid]) if one.rid in less else one for one in found
        ]
    return judging


def _counted_share(text: ScoredDocument) -> float:
    """How much of what it scores counts."""
    if text.kind != "episode":
        return 1.0
    length = BRIEF + (1.0 - BRIEF) * min(1.0, math.log1p(text.length) / math.log1p(FULL))
    return length * (CHATTER if text.chatter else 1.0) * (1.0 if text.trust == "user" else OTHERS)


def _score_documents(
    connection: apsw.Connection,
    request: SearchRequest,
    first_pass: dict[int, float],
    readings: dict[int, ScoredDocument],
    lists: dict[RetrieverName, list[RetrieverCandidate]],
) -> float:
    """Returns the milliseconds of late interaction."""
    judging = 0.0
    if request.profile.keyword:
        counted = [
            one
            for text in readings.values()
            if (one := _score_by_words(request, text, first_pass)).score > 0.0
        ]
        # Those of the first pass come first: only among them is the order known to be the order over everything.
        lists["keyword"] = sorted(counted, key=lambda one: (one.rid not in first_pass, -one.score, -one.rid))
    if request.meaning and request.profile.vector:
        from .retrievers.cosine import cosines_of_memories

        listed = {candidate.rid for candidate in lists["vector"]}
        meaning = request.meaning
        found = cosines_of_memories(
            connection, meaning.space, meaning.query, readings.keys() - listed, meaning.vector_cache
        )
        lists["vector"] += [
            RetrieverCandidate(rid=rid, score=cosine, share=max(0.0, cosine))
            for rid, cosine in sorted(found.items(), key=lambda one: (-one[1], -one[0]))
        ]
    if request.meaning and request.meaning.words:
        started = time.perf_counter()
        judged = lists.get("word_vector", [])
        others = readings.keys() - {candidate.rid for candidate in judged}
        judged = judged + _score_word_vectors(connection, request, request.meaning, readings, others, lists)
        lists["word_vector"] = sorted(judged, key=lambda one: (-one.score, -one.rid))
        judging = (time.perf_counter() - started) * 1000.0
    return judging


def _score_word_vectors(
    connection: apsw.Connection,
    request: SearchRequest,
    meaning: QueryVector,
    readings: dict[int, ScoredDocument],
    rids: Collection[int],
    lists: dict[RetrieverName, list[RetrieverCandidate]],
) -> list[RetrieverCandidate]:
    from .retrievers import late_interaction

    assert meaning.words is not None
    if meaning.static is None:
        return late_interaction.score_words(connection, meaning.space, meaning.words, rids)
    # Words are looked up in the texts themselves: so many that a search stays quick, of the best texts first.
    totals = weighted_totals(lists, request.profile)
    looked_up: list[int] = []
    room = STATIC_WORDS if request.question.rows < keyword.GATE_FROM else STATIC_WORDS_OF_MANY
    for rid in sorted(rids, key=lambda rid: (totals.get(rid, 0.0), rid), reverse=True):
        room -= readings[rid].length
        if room < 0 and looked_up:
            break
        looked_up.append(rid)
    texts = {rid: readings[rid].text for rid in looked_up}
    return late_interaction.score_static_words(meaning.static, meaning.words, texts, request.profile.floor)


def _score_by_words(
    request: SearchRequest, text: ScoredDocument, first_pass: dict[int, float]
) -> RetrieverCandidate:
    """BM25 over what was read; of a text too long to be read, the score of the first pass."""
    most = request.question.most
    score = text.weight * (scored_documents.K1 + 1.0)
    share = text.weight / most if most else 0.0
    if request.question.characters and text.rid in first_pass:
        score = share = 1.0
    elif text.cut and text.rid in first_pass:
        score = first_pass[text.rid]
        share = score / (FTS5_MOST * most) if most else 0.0
    if text.asks:
        share *= QUESTION
    if text.kind != "episode":
        share *= NOTES if "episode" in request.scope.kinds else 1.0
    return RetrieverCandidate(rid=text.rid, score=score, share=share)
