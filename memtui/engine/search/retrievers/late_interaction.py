"""The word vector retriever: late interaction between the words of a question and of a text.

It finds nothing by itself. What other retrievers found, and the turns around, it judges word by word: for each word of the
question the nearest one of the text counts, as much as that word is rare. So an answer in other words than the question is
distinguished from a text that is only about the same, which one vector for all of it cannot do.

A model that reads words in their sentence stores their vectors beside the text (``score_words``). For the packaged one a
word has one vector everywhere, so the texts are read instead, and nothing is stored (``score_static_words``).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from operator import itemgetter, mul
from typing import TYPE_CHECKING

import apsw
from msgspec.structs import replace

from memtui.engine.models.embedders import QuestionWords, StaticEmbedder
from memtui.engine.records.embedding import VectorSpace
from memtui.engine.search.fusion import RetrieverCandidate
from memtui.engine.search.query import ParsedQuery
from memtui.engine.store.sql import as_json
from memtui.engine.store.tokens import STOP_WORDS, text_words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memtui.engine.models.vectors import ByteMatrix

MEANS = 0.5
"""The cosine from which on a text is said to have a word's meaning."""


READ = 600
"""Characters of a text of which the packaged vectors are looked up."""
# The vector of a lone letter is near to any word that begins with it.
_MEANINGLESS = STOP_WORDS.union("abcdefghijklmnopqrstuvwxyz")


def static_question_words(embedder: StaticEmbedder, question: ParsedQuery) -> QuestionWords | None:
    """The words that are looked for, with the packaged vector of each; None where there are none."""
    terms = [term for term in question.terms if not term.bigram]
    if not terms:
        return None
    words = tuple(term.word for term in terms)
    return QuestionWords(embedder.word_vectors(words), tuple(term.idf for term in terms), words)


def score_static_words(
    embedder: StaticEmbedder, question: QuestionWords, texts: Mapping[int, str], floor: float
) -> list[RetrieverCandidate]:
    """As ``score_words``, of the beginnings of these texts (by rid). What reaches the ``floor`` answers by itself."""
    read = {
        rid: [word for word in text_words(text[:READ]) if word not in _MEANINGLESS]
        for rid, text in texts.items()
    }
    read = {rid: words for rid, words in read.items() if words}
    if not read:
        return []
    every = list(dict.fromkeys(chain.from_iterable(read.values())))
    places = dict(zip(every, range(len(every)), strict=True))
    best = _best_cosines(
        embedder.word_vectors(every),
        question,
        list(map(places.__getitem__, chain.from_iterable(read.values()))),
        list(map(len, read.values())),
    )
    return [replace(one, stands=one.score >= floor) for one in _make_candidates(list(read), best, question)]


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
    import numpy as np

    dims = words.rows.shape[1]
    stored = np.frombuffer(b"".join(vectors_of.values()), np.int8).reshape(-1, dims)
    best = _best_cosines(stored, words, None, [len(blob) // dims for blob in vectors_of.values()])
    return _make_candidates(list(vectors_of), best, words)


def _make_candidates(
    rids: Sequence[int], best: Sequence[Sequence[float]], words: QuestionWords
) -> list[RetrieverCandidate]:
    """``best``: for each of them the best cosine of each word."""
    whole = sum(words.weights)
    made = []
    for rid, cosines in zip(rids, best, strict=True):
        score = sum(map(mul, words.weights, cosines)) / whole
        meant = [(cosine, word) for cosine, word in zip(cosines, words.words, strict=True) if cosine >= MEANS]
        matched = dict.fromkeys(word for _, word in sorted(meant, key=itemgetter(0), reverse=True))
        made.append(
            RetrieverCandidate(
                rid=rid, score=score, share=score, matched=tuple(matched), cosines=tuple(cosines)
            )
        )
    return made


def _best_cosines(
    stored: ByteMatrix, words: QuestionWords, places: Sequence[int] | None, sizes: Sequence[int]
) -> list[list[float]]:
    """For each text the best cosine, at least 0, of each word of the question.

    ``stored`` has a row for each word; ``places`` which of them a text has, one text after the other, where words are shared;
    ``sizes`` how many each text has.
    """
    import numpy as np

    # Sums of whole numbers: exact, and so the same for a text whatever is beside it.
    question_rows = words.rows.astype(np.float32)
    rows = stored.astype(np.float32)
    lengths = np.outer(_row_lengths(rows), _row_lengths(question_rows))
    cosines = np.divide(rows @ question_rows.T, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    if places is not None:
        cosines = cosines[np.asarray(places, np.intp)]
    starts = np.cumsum([0, *sizes[:-1]])
    best: list[list[float]] = np.maximum(np.maximum.reduceat(cosines, starts, axis=0), 0.0).tolist()
    return best


def _row_lengths(rows: NDArray[np.float32]) -> NDArray[np.float64]:
    import numpy as np

    return np.asarray(np.sqrt(np.vecdot(rows, rows).astype(np.float64)))
