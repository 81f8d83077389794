"""How near the words of a piece are in meaning to those of a prompt, by the packaged vectors of single words.

For each telling word of the prompt the nearest word of the piece counts, as much as the prompt's word says: so
"flight" bears on "I do not fly". The vectors are packaged, nothing is stored or asked.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from memtui.engine.models.embedders import OfflineEmbedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class WordNearness:
    """The words of a prompt, each with how much it says, beside all the words of some pieces; each a unit vector."""

    def __init__(
        self,
        prompt_rows: NDArray[np.float32],
        weights: NDArray[np.float32],
        text_rows: NDArray[np.float32],
        places: Mapping[str, int],
    ) -> None:
        self._mean = weights @ prompt_rows
        self._said = text_rows
        self._cosines = prompt_rows @ text_rows.T
        self._places = places

    def cosines(self, words: Sequence[str]) -> list[float]:
        """For each word of the prompt, the cosine of the nearest one that is said, 0 to 1."""
        if not words:
            return [0.0] * len(self._cosines)
        places = [self._places[word] for word in words]
        found: list[float] = self._cosines[:, places].max(axis=1, initial=0.0).tolist()
        return found

    def cosine_of_means(self, words: Sequence[str]) -> float:
        """The cosine of the prompt's mean, each word as much as it says, and the mean of what is said, 0 to 1."""
        import numpy as np

        if not words:
            return 0.0
        text = self._said[[self._places[word] for word in words]].sum(axis=0)
        length = float(np.sqrt(self._mean @ self._mean) * np.sqrt(text @ text))
        return max(0.0, float(self._mean @ text) / length) if length else 0.0


class WordMeanings:
    """Vectors of words. Raises DegradedError where the packaged model is missing."""

    def __init__(self) -> None:
        self._embedder = OfflineEmbedder()

    def compare(
        self, prompt_words: Sequence[str], weights: Sequence[float], text_words: Iterable[str]
    ) -> WordNearness:
        """Every word that is asked for, with its weight, beside every one that is said."""
        import numpy as np

        places = {word: index for index, word in enumerate(dict.fromkeys(text_words))}
        importance = np.asarray(weights, np.float32)
        if not prompt_words or not places:
            nothing = np.zeros((len(prompt_words), 1), np.float32), np.zeros((len(places), 1), np.float32)
            return WordNearness(nothing[0], importance, nothing[1], places)
        units = self._embedder.word_units([*prompt_words, *places])
        return WordNearness(units[: len(prompt_words)], importance, units[len(prompt_words) :], places)


@functools.cache
def packaged_meanings() -> WordMeanings:
    return WordMeanings()
