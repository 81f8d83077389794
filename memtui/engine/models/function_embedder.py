"""Vectors by a function of the program that opened the memory. What it gives is checked before it is stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memtui.engine.errors import DegradedError
from memtui.engine.records import EmbeddingFunction

from .vectors import cap_threads, normalise_rows

if TYPE_CHECKING:
    from .embedders import WordWeight
    from .vectors import FloatMatrix


class FunctionEmbedder:
    """An ``Embedder``; the function may be called from any thread."""

    sends_to = ""

    def __init__(self, function: EmbeddingFunction) -> None:
        self._function = function
        self.model_id = f"function:{function.name}"
        self.dims = function.dims

    def available(self) -> str | None:
        return None

    def at_hand(self, text: str) -> bool:
        return True

    def interrupt(self) -> None:
        """Nothing here waits that could be ended."""

    def embed(self, texts: Sequence[str]) -> FloatMatrix:
        """Raises DegradedError for a function that fails, or gives anything but a row of ``dims`` numbers a text."""
        cap_threads()
        import numpy as np

        try:
            rows = np.asarray(self._function.embed(list(texts)), np.float32)
        except Exception as error:  # the program's code: whatever it raises is reported
            raise DegradedError(
                f"The embedding function {self._function.name} failed ({type(error).__name__}: {error}).",
                "It takes a list of texts and gives a row of numbers for each.",
            ) from error
        wanted = (len(texts), self.dims)
        if rows.shape != wanted or not np.isfinite(rows).all():
            given = (
                f"an array of shape {rows.shape}" if rows.shape != wanted else "numbers that are not finite"
            )
            raise DegradedError(
                f"The embedding function {self._function.name} gave {given}.",
                f"For {len(texts)} texts it is {len(texts)} rows of {self.dims} finite numbers.",
            )
        return normalise_rows(rows)

    def embed_query(self, text: str, weight: WordWeight | None = None) -> FloatMatrix:
        return self.embed([text])
