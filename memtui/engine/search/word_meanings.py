"""How near the words of a piece are in meaning to those of a prompt, by the packaged vectors of single words.

For each telling word of the prompt the nearest word of the piece counts, as much as the prompt's word says: so
"flight" bears on "I do not fly". The vectors are packaged, nothing is stored or asked.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from memtui.engine.models.embedders import OfflineEmbedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MOST_KEPT = 20_000


class WordMeanings:
    """Vectors of words, made once each. Raises DegradedError where the packaged model is missing."""

    def __init__(self) -> None:
        self._embedder = OfflineEmbedder()
        self._known: dict[str, NDArray[np.float32]] = {}

    def learn(self, wanted: Iterable[str]) -> None:
        """Make the vectors of words, all at once."""
        if len(self._known) > _MOST_KEPT:
            self._known.clear()
        new = [word for word in dict.fromkeys(wanted) if word not in self._known]
        self._known.update(zip(new, self._embedder.embed(new), strict=True))

    def nearest(self, asked: Sequence[str], said: Sequence[str]) -> list[float]:
        """For each word that is asked for, the cosine of the nearest one that is said, 0 to 1; ``learn`` all of them before."""
        import numpy as np

        if not said or not asked:
            return [0.0] * len(asked)
        mine = np.stack([self._known[word] for word in said])
        wanted = np.stack([self._known[word] for word in asked])
        found: list[float] = np.maximum((wanted @ mine.T).max(axis=1), 0.0).tolist()
        return found


@functools.cache
def packaged() -> WordMeanings:
    return WordMeanings()
