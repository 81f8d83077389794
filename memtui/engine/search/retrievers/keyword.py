"""The keyword retriever: memories that share words with the question, best first by BM25.

Any of the words will do; the rarer ones weigh more. In a large index a memory must have one of the rare
words, else a question with one everyday word would rank a third of everything. What a person typed is
never handed to FTS5 as it is: every word is quoted.
"""

from __future__ import annotations

import math
from heapq import nsmallest
from operator import itemgetter
from typing import NamedTuple

import apsw

from memtui.engine.search.query import ParsedQuery, QueryTerm
from memtui.engine.search.scope import Scope, rids_in_scope
from memtui.engine.search.subset_statistics import SubsetStatistics
from memtui.engine.store.sql import as_json

GATE_FROM = 50_000
"""Texts in the index from which on a rare word is required."""
GATE_SHARE = 0.02
_QUEUE_LOOKED_AT = 2_000
# What FTS5's bm25() has.
_K1 = 1.2
_B = 0.75
_LEAST_IDF = 1e-6


class KeywordHits(NamedTuple):
    rid: int
    score: float


def bm25_first_pass(
    connection: apsw.Connection, question: ParsedQuery, scope: Scope, limit: int
) -> list[KeywordHits]:
    """The best ``limit`` memories of the scope, by the BM25 of FTS5 (k1 1.2, b .75), newer ones first among equals."""
    if question.inside and not question.inside.rids:
        return []
    if question.characters:
        return _having_characters(connection, question.characters, scope, limit)
    scores: dict[int, float] = {}
    if question.inside and question.inside.words:
        terms = [term for term in question.terms if not term.bigram]
        scores |= _best_among(question.inside.words, terms, limit)
    elif match := word_match(question):
        scores |= _best_matches(connection, question.index.table, match, scope, limit)
    bigrams = [term for term in question.terms if term.bigram]
    if bigrams:
        for rid, score in _add_bigram_matches(connection, question, bigrams, scope, limit).items():
            scores[rid] = scores.get(rid, 0.0) + score
    best = sorted(scores.items(), key=itemgetter(1, 0), reverse=True)[:limit]
    return list(map(KeywordHits._make, best))


def word_match(question: ParsedQuery) -> str:
    """The FTS5 query for the words; empty when there are none."""
    terms = [term for term in question.terms if not term.bigram]
    everything = _match_any(terms)
    if question.rows < GATE_FROM or not terms:
        return everything
    known = sorted((term for term in terms if term.count), key=lambda term: term.count)
    rare: list[QueryTerm] = []
    seen = 0
    for term in known:
        seen += term.count
        if rare and seen > question.rows * GATE_SHARE:
            break
        rare.append(term)
    return f"({_match_any(rare)}) AND ({everything})" if len(rare) < len(known) else everything


def count_better(
    connection: apsw.Connection, question: ParsedQuery, scope: Scope, rid: int
) -> tuple[float, int] | None:
    """The first-pass score of one memory and how many memories of the scope come before it; None if it has no word."""
    if question.inside and question.inside.words:
        terms = [term for term in question.terms if not term.bigram]
        scores = _bm25_among(question.inside.words, terms)
        if rid not in scores:
            return None
        mine = (scores[rid], rid)
        return mine[0], sum((score, other) > mine for other, score in scores.items())
    match = word_match(question)
    if not match:
        return None
    table = question.index.table
    found = connection.execute(
        f"SELECT -bm25({table}) FROM {table} WHERE {table} MATCH ? AND rowid = ?", (match, rid)
    ).fetchone()
    if found is None:
        return None
    [(before,)] = connection.execute(
        f"""
        WITH f AS MATERIALIZED (SELECT rowid AS rid, -bm25({table}) AS score FROM {table} WHERE {table} MATCH :match)
        SELECT count(*) FROM f CROSS JOIN memories m ON m.rid = f.rid
        WHERE (f.score, f.rid) > (:score, :rid) AND {scope.where}
        """,
        {**scope.bindings, "match": match, "score": found[0], "rid": rid},
    )
    return float(found[0]), int(before)


def _match_any(terms: list[QueryTerm]) -> str:
    return " OR ".join(f'"{term.word}"' for term in terms)


def _best_matches(
    connection: apsw.Connection, table: str, match: str, scope: Scope, limit: int
) -> dict[int, float]:
    if scope.broad:
        wanted = 3 * limit
        rows = connection.execute(
            f"SELECT rowid, -bm25({table}) FROM {table} WHERE {table} MATCH ? "
            f"ORDER BY bm25({table}), rowid DESC LIMIT ?",
            (match, wanted),
        )
        scores: dict[int, float] = dict(rows)
        best = list(scores.items())
        found: list[tuple[int, float]] = []
        # Nearly all are in the scope: a few more than wanted are enough.
        at_once = limit + limit // 4
        for start in range(0, len(best), at_once):
            some = best[start : start + at_once]
            inside = rids_in_scope(connection, scope, [rid for rid, _ in some])
            found += [one for one in some if one[0] in inside]
            if len(found) >= limit:
                break
        if len(found) >= limit or len(best) < wanted:
            return dict(found[:limit])
    rows = connection.execute(
        f"""
        SELECT {table}.rowid, -bm25({table}) FROM {table} CROSS JOIN memories m ON m.rid = {table}.rowid
        WHERE {table} MATCH :match AND {scope.where} ORDER BY bm25({table}), {table}.rowid DESC LIMIT :limit
        """,
        {**scope.bindings, "match": match, "limit": limit},
    )
    return dict(rows)


def _best_among(among: SubsetStatistics, terms: list[QueryTerm], limit: int) -> dict[int, float]:
    scores = _bm25_among(among, terms).items()
    return dict(nsmallest(limit, scores, key=lambda score: (-score[1], -score[0])))


def _bm25_among(among: SubsetStatistics, terms: list[QueryTerm]) -> dict[int, float]:
    """What FTS5's bm25() would say if its index held the texts of the scope alone."""
    idfs = {
        among.places[term.stem]: max(
            math.log((among.rows - term.count + 0.5) / (term.count + 0.5)), _LEAST_IDF
        )
        for term in terms
    }
    found = {}
    for rid, text in among.texts.items():
        longer = _K1 * (1.0 - _B + _B * text.length / among.mean_length)
        score = 0.0
        counts = text.counts
        for index, idf in idfs.items():
            if count := counts[index]:
                score += idf * (count * (_K1 + 1.0) / (count + longer))
        if score:
            found[rid] = score
    return found


def _add_bigram_matches(
    connection: apsw.Connection, question: ParsedQuery, bigrams: list[QueryTerm], scope: Scope, limit: int
) -> dict[int, float]:
    """What the index of bigrams has, and what is so new that it waits to be indexed.

    The index may know a text that has changed since, so the texts are looked at.
    """
    waiting = connection.execute(
        "SELECT rid FROM index_queue WHERE text = 1 ORDER BY rid DESC LIMIT ?", (_QUEUE_LOOKED_AT,)
    )
    scores = dict.fromkeys(rids_in_scope(connection, scope, [rid for (rid,) in waiting]), 0.0)
    if question.inside and question.inside.bigrams:
        scores |= _best_among(question.inside.bigrams, bigrams, limit)
    else:
        scores |= _best_matches(connection, "memories_cjk", _match_any(bigrams), scope, limit)
    rows = connection.execute(
        "SELECT rid, content FROM memories WHERE rid IN (SELECT value FROM json_each(?))", (as_json(scores),)
    )
    return {rid: scores[rid] for rid, content in rows if any(pair.stem in content for pair in bigrams)}


def _having_characters(
    connection: apsw.Connection, characters: tuple[str, ...], scope: Scope, limit: int
) -> list[KeywordHits]:
    """What is in no index: every text that is not ASCII, as none of it is, is looked at, the newest first."""
    where = " OR ".join(f"instr(m.content, :c{index})" for index in range(len(characters)))
    rows = connection.execute(
        f"""
        SELECT m.rid FROM memories m WHERE length(CAST(m.content AS BLOB)) > length(m.content)
        AND {scope.where} AND ({where}) ORDER BY m.rid DESC LIMIT :limit
        """,
        {**scope.bindings, "limit": limit, **{f"c{index}": one for index, one in enumerate(characters)}},
    )
    return [KeywordHits(rid, 1.0) for (rid,) in rows]
