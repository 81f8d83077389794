"""Recall of observations: ranked among themselves by what they say, and by nothing else.

BM25 (k1 1.2, b .75) over the content, with the document frequencies of observations alone; neither category
nor source is matched. The score that is shown, s / (1 + s), keeps the order of all sums s, so a least score
never drops a better one.
"""

from __future__ import annotations

from collections.abc import Iterable

import apsw
import msgspec

from memtui.engine.errors import InputError
from memtui.engine.records import Category, MemoryRecord, Record
from memtui.engine.store import full_text, memories
from memtui.engine.store.tokens import text_stems

from . import query as search_query
from . import scored_documents
from .filters.compiler import compile_filter
from .query import ParsedQuery
from .retrievers import keyword
from .scope import Scope, make_scope
from .term_statistics import OBSERVATIONS

K1 = 1.2
B = 0.75
MOST = 1_000
_LEAST_READ = 200


class ObservationHit(Record):
    """An observation that answers a query. ``bm25``: the raw sum; ``score`` = bm25 / (1 + bm25), from 0 to under 1.

    ``matched``: the words that match, as they are in it.
    """

    memory: MemoryRecord
    score: float
    bm25: float
    matched: tuple[str, ...] = ()


def observations_scope(
    now: float, *, category: Category | None = None, filter: str = "", after: int | None = None,
    before: int | None = None, alone: bool = False,
) -> Scope:  # fmt: skip
    """Observations that pass; ``after`` (included) and ``before`` (not) are Unix seconds. ``alone``: see ``Scope``.

    Raises FilterError.
    """
    terms = ["kind:observation", f"category:{category}" if category else "", filter]
    chosen = make_scope(compile_filter(" ".join(filter_ for filter_ in terms if filter_), now), alone=alone)
    where, bindings = chosen.where, dict(chosen.bindings)
    if after is not None:
        where, bindings["after"] = f"{where} AND m.event_time >= :after", after
    if before is not None:
        where, bindings["before"] = f"{where} AND m.event_time < :before", before
    return msgspec.structs.replace(
        chosen, where=where, bindings=bindings, broad=chosen.broad and after is None and before is None
    )


def recall(
    connection: apsw.Connection, query: str, scope: Scope, *, limit: int, min_score: float, now: float
) -> tuple[ObservationHit, ...]:
    """The best ``limit`` for a query in any words, best first, newer first among equals; () for one without words.

    No query raises; InputError for a limit outside 1 to 1,000 or a least score outside 0 to 1.
    """
    if not 1 <= limit <= MOST:
        raise InputError(f"{limit!r} observations cannot be recalled.", f"Give a limit from 1 to {MOST:,}.")
    if not 0.0 <= min_score <= 1.0:
        raise InputError(f"A lowest score is between 0 and 1, not {min_score!r}.", "For example 0.1.")
    parsed_query = search_query.parse_query(connection, query, OBSERVATIONS, scope if scope.alone else None)
    found = keyword.bm25_first_pass(connection, parsed_query, scope, max(_LEAST_READ, 2 * limit))
    read = memories.by_rid(connection, [one.rid for one in found], now)
    scored = [(bm25, memory) for memory in read if (bm25 := _bm25_score(parsed_query, memory.content)) > 0.0]
    scored.sort(key=lambda one: (-one[0], -one[1].event_time, -one[1].rid))
    return tuple(
        ObservationHit(
            memory=memory,
            score=bm25 / (1.0 + bm25),
            bm25=bm25,
            matched=scored_documents.matched_words(parsed_query, memory.content),
        )
        for bm25, memory in scored[:limit]
        if bm25 / (1.0 + bm25) >= min_score
    )


def _bm25_score(parsed_query: ParsedQuery, content: str) -> float:
    if parsed_query.characters:  # a single character is in no index: it stands there, or it does not
        return float(sum(character in content for character in parsed_query.characters))
    all_words = text_stems(content)
    counts = _word_counts((*all_words, *full_text.cjk_bigrams(content)))
    longer = (
        K1 * (1.0 - B + B * len(all_words) / parsed_query.mean_length) if parsed_query.mean_length else K1
    )
    return sum(
        term.idf * counts[term.stem] * (K1 + 1.0) / (counts[term.stem] + longer)
        for term in parsed_query.terms
        if term.stem in counts
    )


def _word_counts(words: Iterable[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts
