"""A question as the retrievers read it: its words that matter, how rare each is, its bigrams.

Words that carry no meaning ("what did the") are left out unless there are no others: without them the
answers are the same and come ten times sooner.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import apsw

from memtui.engine.records import Record
from memtui.engine.store import full_text
from memtui.engine.store.tokens import STOP_WORDS, text_stems, text_words

from . import subset_statistics, term_statistics
from .scope import Scope
from .subset_statistics import SubsetStatistics
from .term_statistics import CJK, FullTextIndex, TermStatistics

MOST_WORDS = 40
"""Of a longer text (somebody pasted a page) only the rarest words are looked for."""
_MOST_COUNTED = 500

# What is between blanks and the punctuation of any script.
_PIECE = re.compile("[^\\s!-/:-@\\[-`{-~¡¿«»…‘-‟。、，！？：；「」،؛؟।]+")


class QueryTerm(Record):
    """One thing to look for: a word and its stem as the index has it, or a bigram (``word`` = ``stem``).

    ``count``: in how many texts it occurs; ``idf``: how much that says.
    """

    word: str
    stem: str
    count: int
    idf: float
    bigram: bool = False


class FilteredSubset(NamedTuple):
    """What a filter leaves, where that is little: the memories, oldest first, and their texts in both indexes.

    ``words`` and ``bigrams`` are None where nothing is looked for in that index.
    """

    rids: list[int]
    words: SubsetStatistics | None
    bigrams: SubsetStatistics | None


class ParsedQuery(Record):
    """``rows`` and ``mean_length`` are those of the index, or of what is ``inside`` a narrow scope.

    ``terms`` in the order of the text, each once. ``characters``: what no
    index knows (a single CJK character, a sign, a part of a word), when there is nothing else.

    ``most``: what a text would weigh that had every term, each often. ``dropped``: how many words were left
    out because there were too many.
    """

    text: str
    index: FullTextIndex
    rows: int
    mean_length: float
    terms: tuple[QueryTerm, ...]
    most: float
    characters: tuple[str, ...]
    dropped: int
    inside: FilteredSubset | None


def parse_query(
    connection: apsw.Connection, text: str, index: FullTextIndex, scope: Scope | None = None
) -> ParsedQuery:
    """Read a question of any length and content for one index. Never raises.

    Words are as rare as they are in the ``scope``, where that is little; else as in the whole index.
    """
    text = text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
    found: dict[str, str] = {}
    for word, stem in zip(text_words(text), text_stems(text), strict=True):
        if stem not in found and len(found) < _MOST_COUNTED and not full_text.cjk_runs(word):
            found[stem] = word
    telling = {stem: word for stem, word in found.items() if word not in STOP_WORDS}
    runs = full_text.cjk_runs(text)
    pairs = {pair: pair for pair in full_text.cjk_bigrams(text)}
    inside = _subset_of_filter(connection, index, scope, telling or ({} if pairs else found), pairs)
    counted: TermStatistics | SubsetStatistics = (inside and inside.words) or term_statistics.load(
        connection, index
    )
    terms = [_make_term(counted, word, stem) for stem, word in telling.items()]
    if pairs:
        paired = (inside and inside.bigrams) or term_statistics.load(connection, CJK)
        terms += [_make_term(paired, pair, pair, bigram=True) for pair in pairs]
    known = any(term.count or term.bigram for term in terms)
    characters = () if known else tuple(dict.fromkeys(_unindexed_words(text, runs)))
    if not terms and not characters:
        terms = [_make_term(counted, word, stem) for stem, word in found.items()]
    rarest = {id(term) for term in sorted(terms, key=lambda term: term.count or counted.rows)[:MOST_WORDS]}
    kept = tuple(term for term in terms if id(term) in rarest)
    return ParsedQuery(
        text=text, index=index, rows=counted.rows, mean_length=counted.mean_length, terms=kept,
        most=sum(term.idf for term in kept), characters=characters, dropped=len(terms) - len(kept), inside=inside,
    )  # fmt: skip


def _subset_of_filter(
    connection: apsw.Connection,
    index: FullTextIndex,
    scope: Scope | None,
    words: dict[str, str],
    pairs: dict[str, str],
) -> FilteredSubset | None:
    """``words`` and ``pairs`` by stem. None where the scope holds much, or counting it would take long."""
    rids = subset_statistics.small_subset(connection, scope) if scope is not None else None
    if not rids:
        return None if rids is None else FilteredSubset([], None, None)
    assert scope is not None
    listed = [(word, stem) for stem, word in words.items()]
    of_words = subset_statistics.count_subset(connection, index, rids, listed, whatever=scope.alone)
    of_pairs = (
        subset_statistics.count_subset(connection, CJK, rids, list(pairs.items()), whatever=scope.alone)
        if pairs
        else None
    )
    if of_words is None or (pairs and of_pairs is None):
        return None
    return FilteredSubset(rids, of_words, of_pairs)


def _unindexed_words(text: str, runs: list[str]) -> list[str]:
    """What may be in a text although no index knows it.

    A single CJK character, a sign such as 🍕, a word of a script that writes no blanks (Thai) or puts small
    words before others (Hebrew, Arabic).
    """
    pieces = [run for run in runs if len(run) == 1]
    for piece in _PIECE.findall(text):
        letters = any(map(str.isalpha, piece))
        if (
            not piece.isascii()
            and not full_text.cjk_pattern().search(piece)
            and (len(piece) > 1 or not letters)
        ):
            pieces.append(piece)
    return pieces


def _make_term(
    counted: TermStatistics | SubsetStatistics, word: str, stem: str, *, bigram: bool = False
) -> QueryTerm:
    return QueryTerm(
        word=word, stem=stem, count=counted.document_count(stem), idf=counted.idf(stem), bigram=bigram
    )
