"""Move a memory from the vectors of one embedding model to those of another, while the old ones serve.

The new vectors are kept beside the old, batch by batch, so that a run that ended early goes on where it
stopped. Only when none is missing, one transaction makes the new model the file's; the two are never mixed.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from memtui.engine.errors import DegradedError
from memtui.engine.models.embedders import Embedder
from memtui.engine.models.vectors import quantise, usable
from memtui.engine.records import Record
from memtui.engine.store import vectors
from memtui.engine.store.connection import Connections
from memtui.engine.store.vectors import VectorSpace

BATCH = 64
_SAMPLE = 16
_ROWS_DELETED_AT_ONCE = 5_000


class ReembedPlan(Record):
    """What a change of the model takes. ``before`` is None where nothing was embedded yet.

    ``texts`` wait for a vector, ``done`` have one from an earlier run; ``characters`` are to be read;
    ``seconds`` is estimated from a few texts embedded on trial, ``size`` (bytes) is what the new vectors take.
    """

    before: VectorSpace | None
    after: VectorSpace
    texts: int
    done: int
    characters: int
    seconds: float
    size: int


class Reembedded(Record):
    """``embedded`` texts in this run; ``switched``: the new vectors are in use."""

    embedded: int
    switched: bool


class Reembedder:
    """``embedder`` is the new one. Methods block and may run in any thread; embedding is outside transactions."""

    def __init__(self, connections: Connections, embedder: Embedder) -> None:
        self._connections = connections
        self._embedder = embedder
        self._target = VectorSpace(embedder.model_id, embedder.dims)

    def plan(self) -> ReembedPlan:
        """Raises DegradedError when the new model cannot be used."""
        with self._connections.read() as connection:
            before = vectors.space(connection)
            texts, characters = vectors.count_lacking(connection, self._target)
            done = vectors.embedded(connection, self._target)
            sample = vectors.lacking(connection, self._target, 0, _SAMPLE)
        start = time.perf_counter()
        if sample:
            self._embedder.embed([text for _, text in sample])
        share = characters / max(1, sum(len(text) for _, text in sample))
        return ReembedPlan(
            before=before, after=self._target, texts=texts, done=0 if before == self._target else done,
            characters=characters, seconds=share * (time.perf_counter() - start), size=texts * self._target.dims,
        )  # fmt: skip

    def run(
        self, progress: Callable[[int, int], None] = lambda done, all: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Reembedded:  # fmt: skip
        """Embed what lacks a vector of the new model, then switch.

        ``progress(done, all)`` counts texts. Cancelled, everything done so far is kept for the next run.
        Raises DegradedError when the model fails; nothing is lost then either.
        """
        with self._connections.read() as connection:
            if vectors.space(connection) == self._target:
                return Reembedded(embedded=0, switched=True)
            everything, _ = vectors.count_lacking(connection, self._target)
        made = 0
        nothing: set[int] = set()  # the model knows nothing of these texts
        while not cancelled():
            with self._connections.write() as connection:
                left = vectors.lacking(connection, self._target, 0, len(nothing) + 1)
                if all(rid in nothing for rid, _ in left):
                    vectors.switch(connection, self._target)
                    break
            above = 0
            while not cancelled() and (batch := self._batch(above)):
                nothing |= self._embed(batch)
                made += len(batch)
                above = max(batch)
                progress(min(made, everything), everything)
        else:
            return Reembedded(embedded=made, switched=False)
        more = True
        while more:
            with self._connections.write_in_turn() as connection:
                more = vectors.drop_others(connection, self._target, _ROWS_DELETED_AT_ONCE) > 0
        return Reembedded(embedded=made, switched=True)

    def _batch(self, above: int) -> dict[int, str]:
        with self._connections.read() as connection:
            return dict(vectors.lacking(connection, self._target, above, BATCH))

    def _embed(self, batch: dict[int, str]) -> set[int]:
        """Returns those that the model knows nothing of."""
        matrix = self._embedder.embed(list(batch.values()))
        if matrix.shape != (len(batch), self._target.dims):
            raise DegradedError(
                f"{self._target.model_id} makes {matrix.shape[1]} dimensions, not {self._target.dims}.",
                "Choose another model, or set embedder.dimensions to what it makes.",
            )
        good = dict(zip(batch, usable(matrix).tolist(), strict=True))
        rows = dict(zip(batch, quantise(matrix), strict=True))
        with self._connections.write_in_turn() as connection:
            # A text that changed meanwhile comes again.
            same = vectors.unchanged(connection, batch)
            vectors.keep(connection, self._target, [(rid, rows[rid].tobytes()) for rid in same if good[rid]])
        return {rid for rid in same if not good[rid]}
