"""How near two vectors must be to mean something. Cosines of one model are not those of another: each was measured.

``same`` by pairs of statements (SICK, ``tests/benchmarks/pairs_eval.py PAIRS --embedder NAME``): the least cosine at which nine
of ten pairs, whose words agree besides, say the same; it finds 70% of them with the packaged model, 84% with MiniLM. ``bears``
by conversations (LoCoMo, ``tests/benchmarks/context_floor.py DATA --embedder NAME``): of the questions of one conversation,
asked of another one, 4 in 100 get a fact for its meaning alone.
"""

from __future__ import annotations

from ..records import Record


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


def of(model_id: str) -> SimilarityThresholds:
    """Of a model that nobody measured, an endpoint's say, what holds for the packaged one."""
    return _MEASURED.get(model_id, _PACKAGED)
