"""The vectors of single words that were looked up last, kept in memory."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from .vectors import normalise_rows, quantise_rows

if TYPE_CHECKING:
    from .vectors import ByteMatrix, FloatMatrix

MOST_KEPT = 12_000
"""So many words are kept at least, and twice as many at most: of 256 dimensions each takes 1.3 KB."""
_AT_ONCE = 4_000
"""For so many words of one call there is room."""


class _Words:
    """``rows`` is the place of each word in the matrices, which have room for more."""

    def __init__(self, dims: int) -> None:
        import numpy as np

        self.rows: dict[str, int] = {}
        # Zeros take no memory before they are written; to copy what grew would take 60 ms.
        self.units: FloatMatrix = np.zeros((MOST_KEPT + _AT_ONCE, dims), np.float32)
        self.quantised: ByteMatrix = np.zeros((MOST_KEPT + _AT_ONCE, dims), np.int8)

    def add(self, words: Sequence[str], units: FloatMatrix, quantised: ByteMatrix) -> None:
        import numpy as np

        start = len(self.rows)
        end = start + len(words)
        if end > len(self.units):
            self.units = np.concatenate([self.units[:start], units])
            self.quantised = np.concatenate([self.quantised[:start], quantised])
        else:
            self.units[start:end] = units
            self.quantised[start:end] = quantised
        self.rows.update(zip(words, range(start, end), strict=True))


class WordVectors:
    """For all embedders of one model in a process: they read the same texts. Threads may share it.

    ``sum_words`` makes a row (n, dims) for each word that is not kept.
    """

    def __init__(self, dims: int) -> None:
        self._dims = dims
        self._lock = threading.Lock()
        self._known: _Words | None = None
        self._older: _Words | None = None

    def __len__(self) -> int:
        return len(self._known.rows) if self._known else 0

    def quantised(
        self, words: Sequence[str], sum_words: Callable[[Sequence[str]], FloatMatrix]
    ) -> ByteMatrix:
        """A row of int8 for each of the words."""
        with self._lock:
            known = self._look_up(words, sum_words)
            return known.quantised[list(map(known.rows.__getitem__, words))]

    def units(self, words: Sequence[str], sum_words: Callable[[Sequence[str]], FloatMatrix]) -> FloatMatrix:
        """A row of length one for each of the words; zero for those that the model does not know."""
        with self._lock:
            known = self._look_up(words, sum_words)
            return known.units[list(map(known.rows.__getitem__, words))]

    def _look_up(self, words: Sequence[str], sum_words: Callable[[Sequence[str]], FloatMatrix]) -> _Words:
        known, older = self._known, self._older
        if known is None or len(known.rows) > MOST_KEPT:
            # What is asked for again comes back from the older ones.
            known, older = _Words(self._dims), known
            self._known, self._older = known, older
        new = [word for word in dict.fromkeys(words) if word not in known.rows]
        if older and (back := [word for word in new if word in older.rows]):
            places = list(map(older.rows.__getitem__, back))
            known.add(back, older.units[places], older.quantised[places])
            new = [word for word in new if word not in older.rows]
        if new:
            sums = sum_words(new)
            known.add(new, normalise_rows(sums), quantise_rows(sums))
        return known
