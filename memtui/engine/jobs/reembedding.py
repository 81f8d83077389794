"""Move a memory to another embedding model, while the old vectors go on serving.

The new vectors are kept beside the old, batch by batch, so that a run that ended early goes on where it
stopped. Only when none is missing, one transaction makes the new model the file's; the two are never mixed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from memtui.engine.errors import DegradedError
from memtui.engine.models.embedders import Embedder
from memtui.engine.models.vectors import quantise_rows, usable_rows
from memtui.engine.records.embedding import ReembedPlan, ReembedResult, VectorSpace
from memtui.engine.store import vectors
from memtui.engine.store.connections import Connections
from memtui.engine.store.vectors import MissingVectors, WordRows

if TYPE_CHECKING:
    from memtui.engine.models.vectors import FloatMatrix

BATCH = 64
_TRIAL = "On Tuesday the ferry to the islands leaves at nine, and tickets are sold on board as well."
_TRIALS = 16
_BYTES_A_TOKEN = 4
_CHARACTERS_A_WORD = 12  # that gets a vector of its own, where the model makes them
_ROWS_DELETED_AT_ONCE = 5_000


class Reembedder:
    """``embedder`` is the new one. Methods block and may run in any thread; embedding is outside transactions.

    ``before_write`` is called when there is something to do, ``on_switch`` once the new vectors are in use.
    """

    def __init__(
        self, connections: Connections, embedder: Embedder, *,
        before_write: Callable[[], None] = lambda: None, on_switch: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        from memtui.engine.models.embedders import word_vector_dims  # not needed by readers

        self._connections = connections
        self._embedder = embedder
        self._target = VectorSpace(embedder.model_id, embedder.dims)
        self._word_vector_dims = word_vector_dims(embedder)
        self._before_write = before_write
        self._on_switch = on_switch

    def plan(self) -> ReembedPlan:
        """Sends no text of the memory anywhere. Raises DegradedError when the new model cannot be used."""
        with self._connections.read() as connection:
            before = vectors.vector_space(connection)
            words_before = vectors.word_vector_dims(connection) > 0
            lacking = vectors.count_lacking(connection, self._target)
            done = vectors.count_embedded(connection, self._target)
        return ReembedPlan(
            before=before, after=self._target, texts=0 if before == self._target else lacking.texts,
            done=0 if before == self._target else done, characters=lacking.characters,
            tokens=lacking.bytes // _BYTES_A_TOKEN + lacking.texts, seconds=self._estimate_seconds(lacking),
            size=lacking.texts * self._target.dims
            + lacking.characters // _CHARACTERS_A_WORD * self._word_vector_dims,
            sends_to=self._embedder.sends_to, words_before=words_before, words=self._word_vector_dims > 0,
        )  # fmt: skip

    def _estimate_seconds(self, lacking: MissingVectors) -> float:
        """Estimated from two trials: what a call costs by itself, and what a character does."""
        few, many = [_TRIAL], [_TRIAL] * _TRIALS
        self._embed_all(few)  # the first call loads the model or connects
        small, large = (self._time_trial(texts) for texts in (few, many))
        a_character = max(0.0, large - small) / (len(_TRIAL) * (_TRIALS - 1))
        a_call = max(0.0, small - a_character * len(_TRIAL))
        return -(-lacking.texts // BATCH) * a_call + lacking.characters * a_character

    def _time_trial(self, texts: list[str]) -> float:
        start = time.perf_counter()
        self._embed_all(texts)
        return time.perf_counter() - start

    def run(
        self, progress: Callable[[int, int], None] = lambda done, all: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> ReembedResult:  # fmt: skip
        """Embed what lacks a vector of the new model, then switch.

        ``progress(done, all)`` counts texts. Cancelled, everything done so far is kept for the next run.
        Raises DegradedError when the model fails; nothing is lost then either.
        """
        with self._connections.read() as connection:
            needed = vectors.vector_space(connection) != self._target
            everything = vectors.count_lacking(connection, self._target).texts
        if not needed:  # of a run that was ended right after the switch, or given up, something may be left
            self._drop_others()
            return ReembedResult(embedded=0, switched=True)
        self._before_write()
        made = 0
        nothing: set[int] = set()  # texts without a vector in this model
        while not cancelled():
            with self._connections.write() as connection:
                texts = vectors.texts_without_vector(connection, self._target, 0, len(nothing) + 1)
                if all(rid in nothing for rid, _ in texts):
                    vectors.switch_space(connection, self._target, self._word_vector_dims)
                    break
            above = 0
            while not cancelled() and (batch := self._next_batch(above)):
                try:
                    nothing |= self._embed_batch(batch)
                except DegradedError:
                    if not cancelled():
                        raise
                    break
                made += len(batch)
                above = max(batch)
                progress(min(made, everything), everything)
        else:
            return ReembedResult(embedded=made, switched=False, refused=len(nothing))
        self._on_switch()
        self._drop_others()
        return ReembedResult(
            embedded=made, switched=True, refused=len(nothing), words=bool(self._word_vector_dims)
        )

    def _drop_others(self) -> None:
        more = True
        while more:
            with self._connections.write_in_turn() as connection:
                if vectors.vector_space(connection) != self._target:
                    return  # somebody went over to another one meanwhile
                more = vectors.delete_other_vectors(connection, self._target, _ROWS_DELETED_AT_ONCE) > 0

    def interrupt(self) -> None:
        """After it was cancelled, from another thread: do not wait for the network to answer."""
        self._embedder.interrupt()

    def _next_batch(self, above: int) -> dict[int, str]:
        with self._connections.read() as connection:
            return dict(
                vectors.texts_without_vector(
                    connection, self._target, above, BATCH, named=bool(self._word_vector_dims)
                )
            )

    def _embed_batch(self, batch: dict[int, str]) -> set[int]:
        """Returns those that the model gives no vector."""
        matrix, words = self._embed_all(list(batch.values()))
        of_words = (
            WordRows(self._word_vector_dims, dict(zip(batch, words, strict=True)))
            if words is not None
            else None
        )
        good = dict(zip(batch, usable_rows(matrix).tolist(), strict=True))
        rows = dict(zip(batch, quantise_rows(matrix), strict=True))
        with self._connections.write_in_turn() as connection:
            # A text that changed meanwhile comes again.
            same = vectors.unchanged_texts(connection, batch, named=bool(self._word_vector_dims))
            kept = [(rid, rows[rid].tobytes()) for rid in same if good[rid]]
            vectors.store_int8(connection, self._target, kept, of_words)
        return {rid for rid in same if not good[rid]}

    def _embed_all(self, texts: list[str]) -> tuple[FloatMatrix, list[bytes] | None]:
        from memtui.engine.models import embedders

        matrix, words = embedders.embed_words(self._embedder, texts)
        if matrix.shape != (len(texts), self._target.dims):
            raise DegradedError(
                f"{self._target.model_id} makes {matrix.shape[1]} dimensions, not {self._target.dims}.",
                "Choose another model, or set embedder.dimensions to what it makes.",
            )
        return matrix, words
