"""How likely a new statement replaces a known one: a small network of our own.

"Sold Morven, smaller boat, the Wren" replaces "Boat's called Morven" with hardly a shared word. The features are those of
``pair_features``. One of them is how much the new statement alone sounds like a change, by a linear model over its words
(``change_features``). The weights of both are made by ``tests/benchmarks/updates_train.py``.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.models.embedders import OfflineEmbedder

from ..extract.durability import hashed_features, surface_features
from .pair_features import Statement, pair_features, with_preceding
from .statement_features import StatementFeatures, features_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

WEIGHTS = Path(__file__).parent / "update_model.npz"
CHANGE_HASHED = 1 << 12
MOST_CHANGE = 4.0
_OF_VECTOR = 4.0  # a vector beside signs that are 0 or 1


class UpdateModel:
    """Judges pairs. Raises DegradedError where the vectors are missing."""

    def __init__(self, embedder: OfflineEmbedder | None = None) -> None:
        self.embedder = embedder or OfflineEmbedder()

    def available(self) -> bool:
        """Whether the vectors are installed; without them only the rules compare."""
        return self.embedder.available() is None

    def most_similar(self, new: Statement, known: Sequence[str], limit: int) -> list[int]:
        """The indexes of the known statements most similar to the new one, with or without what precedes it."""
        import numpy as np

        if not known:
            return []
        rows = np.stack([features_of(text, self.embedder).vector for text in known])
        mine = [features_of(text, self.embedder).vector for text in (new.text, with_preceding(new))]
        closeness = np.max(rows @ np.stack(mine).T, axis=1)
        return [int(place) for place in np.argsort(-closeness, kind="stable")[:limit]]

    def replacement_odds(self, new: Statement, known: Sequence[Statement]) -> list[float]:
        """For each known statement the log-odds that the new one replaces it; about 0.1 ms each."""
        if not known:
            return []
        import numpy as np

        weights = _load_weights()
        change = self.change_odds(new.text)
        table = np.asarray(pair_features(new, known, self.embedder, change), np.float32)
        hidden = np.tanh(((table - weights.mean) / weights.spread).clip(-4, 4) @ weights.inner + weights.bias)
        return [float(score) for score in hidden @ weights.outer + weights.shift]

    def change_odds(self, text: str) -> float:
        """The log-odds that a statement changes something, whatever is known."""
        weights = _load_weights()
        score = float(change_features(text, self.embedder) @ weights.change_dense) + float(
            weights.change_bias
        )
        for place, value in change_words(text).items():
            score += float(weights.change_words[place]) * value
        return max(-MOST_CHANGE, min(MOST_CHANGE, score))


def change_features(text: str, embedder: OfflineEmbedder) -> Floats:
    """The vector of a statement, its surface signs and the phrases for a change in it."""
    import numpy as np

    features = features_of(text, embedder)
    return np.concatenate([features.vector * _OF_VECTOR, surface_features(text), features.cues]).astype(
        np.float32
    )


def change_words(text: str) -> dict[int, float]:
    """Its hashed words and letters."""
    found: dict[int, float] = {}
    for place, value in hashed_features(text).items():
        found[place % CHANGE_HASHED] = found.get(place % CHANGE_HASHED, 0.0) + value
    return found


@functools.cache
def update_model() -> UpdateModel:
    """The model of this process. It reads its vectors once and caches the features of recent statements."""
    return UpdateModel()


class _Weights(NamedTuple):
    mean: Floats
    spread: Floats
    inner: Floats
    bias: Floats
    outer: Floats
    shift: Floats
    change_dense: Floats
    change_words: Floats
    change_bias: Floats


@functools.cache
def _load_weights() -> _Weights:
    return _Weights(*read_arrays(WEIGHTS, _Weights._fields))


def read_arrays(path: Path, names: Iterable[str]) -> list[Floats]:
    """Arrays of a file of weights, by their names."""
    import numpy as np

    with np.load(path) as file:
        return [file[name].astype(np.float32) for name in names]


def packaged_features(text: str) -> StatementFeatures:
    """The features of a statement with the vectors of the model of this process."""
    return features_of(text, update_model().embedder)
