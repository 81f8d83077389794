"""How rare words are among what a filter leaves, where that is little.

A name that every turn of a conversation carries says nothing within it, however rare it is elsewhere. So
where few memories pass, the texts among them are counted: how many there are, how long, which words stand in
which. A search that is filtered to one conversation then answers as a memory would that holds nothing else.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import apsw

from memtui.engine.store.full_text import decode_varints
from memtui.engine.store.sql import as_json

from . import term_statistics
from .scope import Scope
from .term_statistics import FullTextIndex, inverse_document_frequency

FEW = 5_000
"""Up to so many memories that pass a filter are counted."""
MOST_POSTINGS = 150_000
"""So many places where words stand may be passed on the way. It takes some 20 ms."""


class SubsetText(NamedTuple):
    """A text that has a word of the question: its length in words, and how often each word occurs in it (by place)."""

    length: int
    counts: tuple[int, ...]


class SubsetStatistics:
    """Statistics like those of a whole index, of the few texts that pass.

    ``rows``: how many of them the index has; ``texts``: those with one of ``words``, by rid; ``places``: where
    each word stands among ``words``.
    """

    def __init__(
        self,
        connection: apsw.Connection,
        index: FullTextIndex,
        rids: Sequence[int],
        words: Sequence[tuple[str, str]],
    ) -> None:
        among = as_json(rids)
        sizes: list[Any] = connection.execute(
            f"SELECT sz FROM {index.table}_docsize WHERE id IN (SELECT value FROM json_each(?))", (among,)
        ).fetchall()
        self.rows = len(sizes)
        # A number under 128 is one byte of a varint, and most texts are so short.
        lengths = sum(sum(size) if size.isascii() else sum(decode_varints(size)) for (size,) in sizes)
        self.mean_length = lengths / self.rows if self.rows else 1.0
        self.places = {stem: position for position, (_, stem) in enumerate(words)}
        self.texts = dict(
            _texts_with_words(connection, index.table, rids, among, [word for word, _ in words])
        )
        by_word = zip(*(text.counts for text in self.texts.values()), strict=True)
        self._counts = [sum(map(bool, counts)) for counts in by_word] or [0] * len(words)

    def document_count(self, word: str) -> int:
        """In how many texts the word occurs, as the index spells it."""
        return self._counts[self.places[word]]

    def idf(self, word: str) -> float:
        return inverse_document_frequency(self.document_count(word), self.rows)


def small_subset(connection: apsw.Connection, scope: Scope) -> list[int] | None:
    """The memories of a scope, oldest first; None where there are many, unless it stands alone."""
    if scope.broad:
        return None
    most = -1 if scope.alone else FEW + 1
    rows = connection.execute(
        f"SELECT m.rid FROM memories m WHERE {scope.where} LIMIT {most}", scope.bindings
    )
    rids = sorted(rid for (rid,) in rows)
    return rids if scope.alone or len(rids) <= FEW else None


def count_subset(
    connection: apsw.Connection, index: FullTextIndex, rids: Sequence[int], words: Sequence[tuple[str, str]], *,
    whatever: bool = False,
) -> SubsetStatistics | None:  # fmt: skip
    """Count the words (each with its stem) among these memories; None where that would take long, unless
    ``whatever`` it takes.
    """
    if whatever:
        return SubsetStatistics(connection, index, rids, words)
    whole = term_statistics.load(connection, index)
    if whole.rows * len(words) > MOST_POSTINGS:
        [(newest,)] = connection.execute("SELECT max(rid) FROM memories")
        share = (rids[-1] - rids[0] + 1) / newest
        if share * sum(whole.document_count(stem) for _, stem in words) > MOST_POSTINGS:
            return None
    return SubsetStatistics(connection, index, rids, words)


def _texts_with_words(
    connection: apsw.Connection, table: str, rids: Sequence[int], among: str, words: Sequence[str]
) -> Iterator[tuple[int, SubsetText]]:
    if not words:
        return
    match = " OR ".join(f'"{word}"' for word in words)
    rows = connection.execute(
        f"""
        SELECT rowid, occurrences({table}) FROM {table}
        WHERE {table} MATCH ? AND rowid BETWEEN ? AND ? AND +rowid IN (SELECT value FROM json_each(?))
        """,
        (match, rids[0], rids[-1], among),
    )
    unpack = struct.Struct(f"<{1 + len(words)}I").unpack
    for rid, packed in rows:
        length, *counts = unpack(packed)
        yield rid, SubsetText(length, tuple(counts))
