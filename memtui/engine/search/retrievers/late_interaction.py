"""The word vector retriever: late interaction between the words of a question and of a text, each in its sentence.

It finds nothing by itself. What other retrievers found, and the turns around, it judges word by word: for each word of the
question the nearest one of the text counts, as much as that word is rare. So an answer in other words than the question is
told from a text that is only about the same, which one vector for all of it cannot do. It takes a model that makes
vectors of words (``models.word_vectors``).
"""

from __future__ import annotations

from collections.abc import Collection
from operator import itemgetter, mul
from typing import TYPE_CHECKING

import apsw

from memtui.engine.models.embedders import QuestionWords
from memtui.engine.records.embedding import VectorSpace
from memtui.engine.search.fusion import RetrieverCandidate
from memtui.engine.store.sql import as_json

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MEANS = 0.5
"""The cosine from which on a text is said to have a word's meaning."""


def score_words(
    connection: apsw.Connection, space: VectorSpace, words: QuestionWords, rids: Collection[int]
) -> list[RetrieverCandidate]:
    """Those of the memories that have vectors of words; a score is the weighted mean of the best cosines, 0 to 1.

    The same for a memory whichever others are asked for.
    """
    rows = connection.execute(
        """
        SELECT rid, vectors FROM word_vectors
        WHERE model_id = ? AND dims = ? AND length(vectors) > 0 AND rid IN (SELECT value FROM json_each(?))
        """,
        (space.model_id, words.rows.shape[1], as_json(rids)),
    )
    vectors_of: dict[int, bytes] = dict(rows)
    if not vectors_of or not words.weights:
        return []
    whole = sum(words.weights)
    made = []
    for rid, best in zip(vectors_of, _best_cosines(list(vectors_of.values()), words), strict=True):
        score = sum(map(mul, words.weights, best)) / whole
        meant = [(cosine, word) for cosine, word in zip(best, words.words, strict=True) if cosine >= MEANS]
        matched = dict.fromkeys(word for _, word in sorted(meant, key=itemgetter(0), reverse=True))
        made.append(
            RetrieverCandidate(rid=rid, score=score, share=score, matched=tuple(matched), cosines=tuple(best))
        )
    return made


def _best_cosines(blobs: list[bytes], words: QuestionWords) -> list[list[float]]:
    """For each text the best cosine, at least 0, of each word of the question."""
    import numpy as np

    # Sums of whole numbers: exact, and so the same for a text whatever is beside it.
    asked = words.rows.astype(np.float32)
    rows = np.frombuffer(b"".join(blobs), np.int8).reshape(-1, asked.shape[1]).astype(np.float32)
    lengths = np.outer(_row_lengths(rows), _row_lengths(asked))
    cosines = np.divide(rows @ asked.T, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    starts = np.cumsum([0, *(len(blob) // asked.shape[1] for blob in blobs[:-1])])
    best: list[list[float]] = np.maximum(np.maximum.reduceat(cosines, starts, axis=0), 0.0).tolist()
    return best


def _row_lengths(rows: NDArray[np.float32]) -> NDArray[np.float64]:
    import numpy as np

    return np.asarray(np.sqrt(np.einsum("ij,ij->i", rows, rows).astype(np.float64)))
