"""How often words occur in a full-text index: how much one word of a question says compared with another.

Counting the documents of a frequent word walks through all of them (20 ms at a million). So counts are kept for each
connection until the index has grown by a twentieth.
"""

from __future__ import annotations

import math
from weakref import WeakKeyDictionary

import apsw

from memtui.engine.records import Record
from memtui.engine.store.full_text import decode_varints

_MOST_COUNTS = 20_000


class FullTextIndex(Record):
    """A full-text index and the table that lists its words."""

    table: str
    vocabulary: str


MEMORIES = FullTextIndex(table="memories_fts", vocabulary="memories_vocab")
FACTS = FullTextIndex(table="facts_fts", vocabulary="facts_vocab")
OBSERVATIONS = FullTextIndex(table="observations_fts", vocabulary="observations_vocab")
CJK = FullTextIndex(table="memories_cjk", vocabulary="cjk_vocab")


class TermStatistics:
    """Counts over one index: ``rows`` texts of ``mean_length`` words."""

    def __init__(
        self, connection: apsw.Connection, index: FullTextIndex, counts: dict[str, int], averages: list[int]
    ) -> None:
        self.rows = averages[0] if averages else 0
        self.mean_length = sum(averages[1:]) / self.rows if self.rows else 1.0
        self._connection = connection
        self._index = index
        self._counts = counts

    def document_count(self, word: str) -> int:
        """In how many texts the word occurs, as the index spells it (a stem, a bigram)."""
        known = self._counts.get(word)
        if known is None:
            row = self._connection.execute(
                f"SELECT doc FROM {self._index.vocabulary} WHERE term = ?", (word,)
            ).fetchone()
            known = int(row[0]) if row else 0
            if len(self._counts) < _MOST_COUNTS:
                self._counts[word] = known
        return known

    def idf(self, word: str) -> float:
        """Inverse document frequency, as BM25 has it; greater than 0."""
        return inverse_document_frequency(self.document_count(word), self.rows)


def inverse_document_frequency(count: int, rows: int) -> float:
    """Of a word that stands in ``count`` of ``rows`` texts."""
    count = min(count, rows)
    return math.log(1.0 + (rows - count + 0.5) / (count + 0.5))


_kept: WeakKeyDictionary[apsw.Connection, dict[str, tuple[int, dict[str, int]]]] = WeakKeyDictionary()


def load(connection: apsw.Connection, index: FullTextIndex) -> TermStatistics:
    """The statistics of an index as it stands now; word counts may be a twentieth behind."""
    averages = _average_lengths(connection, index)
    rows = averages[0] if averages else 0
    counted = _kept.setdefault(connection, {})
    rows_then, counts = counted.get(index.table, (-1, {}))
    if abs(rows - rows_then) * 20 > rows:
        rows_then, counts = rows, {}
    counted[index.table] = (rows_then, counts)
    return TermStatistics(connection, index, counts, averages)


def _average_lengths(connection: apsw.Connection, index: FullTextIndex) -> list[int]:
    """Number of texts, then the number of words in each column: the record FTS5 keeps for its own bm25()."""
    row = connection.execute(f"SELECT block FROM {index.table}_data WHERE id = 1").fetchone()
    return decode_varints(row[0]) if row else []
