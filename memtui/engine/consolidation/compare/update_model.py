"""How likely a new statement replaces a known one: a small network of our own.

"Sold Morven, smaller boat, the Wren" replaces "Boat's called Morven" with hardly a shared word. The features are those of
``pair_features``; the weights are made by ``tests/benchmarks/updates_train.py``.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.models.embedders import OfflineEmbedder

from .pair_features import Statement, pair_features, with_preceding
from .statement_features import StatementFeatures, features_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

WEIGHTS = Path(__file__).parent / "update_model.npz"


class UpdateModel:
    """Judges pairs. Raises DegradedError where the vectors are missing."""

    def __init__(self, embedder: OfflineEmbedder | None = None) -> None:
        self.embedder = embedder or OfflineEmbedder()

    def available(self) -> bool:
        """Whether the vectors are installed; without them only the rules compare."""
        return self.embedder.available() is None

    def nearest(self, new: Statement, known: Sequence[str], limit: int) -> list[int]:
        """The indexes of the known statements most similar to the new one, with or without what precedes it."""
        import numpy as np

        if not known:
            return []
        rows = np.stack([features_of(text, self.embedder).vector for text in known])
        mine = [features_of(text, self.embedder).vector for text in (new.text, with_preceding(new))]
        closeness = np.max(rows @ np.stack(mine).T, axis=1)
        return [int(place) for place in np.argsort(-closeness, kind="stable")[:limit]]

    def judge(self, new: Statement, known: Sequence[Statement]) -> list[float]:
        """For each known statement the log-odds that the new one replaces it; about 0.1 ms each."""
        if not known:
            return []
        import numpy as np

        table = np.asarray(pair_features(new, known, self.embedder), np.float32)
        weights = _weights()
        hidden = np.tanh(((table - weights.mean) / weights.spread).clip(-4, 4) @ weights.inner + weights.bias)
        return [float(score) for score in hidden @ weights.outer + weights.shift]


@functools.cache
def model() -> UpdateModel:
    """The model of this process. It reads its vectors once and caches the features of recent statements."""
    return UpdateModel()


class _Weights(NamedTuple):
    mean: Floats
    spread: Floats
    inner: Floats
    bias: Floats
    outer: Floats
    shift: Floats


@functools.cache
def _weights() -> _Weights:
    import numpy as np

    with np.load(WEIGHTS) as file:
        return _Weights(*(file[name].astype(np.float32) for name in _Weights._fields))


def packaged_features(text: str) -> StatementFeatures:
    """The features of a statement with the vectors of the model of this process."""
    return features_of(text, model().embedder)
