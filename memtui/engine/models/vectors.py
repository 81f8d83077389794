"""Arithmetic on matrices of embeddings: one row a text, float32 of unit length or int8.

numpy is imported inside, with its thread pools held to one thread: the products are small, and the app
has a frame to paint meanwhile.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    FloatMatrix = NDArray[np.float32]
    ByteMatrix = NDArray[np.int8]
    Mask = NDArray[np.bool_]


from ..records import Record

_POOLS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


@cache
def cap_threads() -> None:
    """Hold numeric libraries to one thread; to be called before the first import of numpy."""
    for name in _POOLS:
        os.environ.setdefault(name, "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


def usable_rows(matrix: NDArray[Any]) -> Mask:
    """Which rows may be stored: finite, and not zero (a text without anything that the model knows)."""
    cap_threads()
    import numpy as np

    return np.asarray(np.isfinite(matrix).all(axis=1) & matrix.any(axis=1))


def normalise_rows(matrix: FloatMatrix) -> FloatMatrix:
    """The rows at unit length; zero rows stay zero."""
    cap_threads()
    import numpy as np

    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.asarray(np.divide(matrix, lengths, out=np.zeros_like(matrix), where=lengths > 0))


def quantise_rows(matrix: FloatMatrix) -> ByteMatrix:
    """Each row as int8, stretched so that its largest component is 127.

    The length of a row is lost, its direction kept: compare by cosine. ``row.tobytes()`` is what a BLOB
    holds. Raises ValueError for NaN and infinity.
    """
    cap_threads()
    import numpy as np

    if not np.isfinite(matrix).all():
        raise ValueError("a vector with NaN or infinity cannot be quantised")
    largest = np.abs(matrix).max(axis=1, keepdims=True, initial=0)
    scaled = np.divide(matrix * np.float32(127), largest, out=np.zeros_like(matrix), where=largest > 0)
    return np.asarray(np.rint(scaled).astype(np.int8))


def quantise_numbers(numbers: Sequence[float]) -> bytes:
    """One row as ``quantise_rows`` gives it, without numpy."""
    largest = max(map(abs, numbers))
    return struct.pack(
        f"{len(numbers)}b", *(round(number * 127 / largest) if largest else 0 for number in numbers)
    )


class SimilarityThresholds(Record):
    """Cosine thresholds: for two facts that say the ``same``, and for a fact that ``bears`` on a prompt without a shared
    word.
    """

    same: float
    bears: float


_PACKAGED = SimilarityThresholds(same=0.90, bears=0.35)
# By model id, so that a hook, which has no vectors, loads no embedder.
_MEASURED = {
    "wordllama-l2-supercat-256": _PACKAGED,
    "all-minilm-l6-v2-int8-384": SimilarityThresholds(same=0.85, bears=0.40),
}


def thresholds_of(model_id: str) -> SimilarityThresholds:
    """For a model that was not measured, such as an endpoint's, the values of the packaged one."""
    return _MEASURED.get(model_id, _PACKAGED)
