"""How likely a clause says something lasting about the person, and of what: a linear model of our own.

It reads the packaged static vectors, surface signs (who, when, how much) and hashed words and letters. The weights are
made by ``tests/benchmarks/extract_train.py`` from labelled sentences, and are read when they are first needed.
"""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from memtui.engine.models.embedders import Embedder, OfflineEmbedder

from .severity import is_impersonal, is_severe

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TOPICS = (
    "health", "people", "home", "work", "project", "rule", "preference", "routine", "plan", "possession", "decision",
    "identity",
)  # fmt: skip
HASHED = 1 << 14
TOPIC_HASHED = 1 << 12
WEIGHTS = Path(__file__).parent / "durability.npz"
_token = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d+|[^\w\s]")
_number = re.compile(r"\d")


def _sign_pattern(*words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)", re.IGNORECASE)


_MONTHS = (
    "jan(?:uary|uar|vier)?", "feb(?:ruary|ruar)?", "february", "march", "märz", "mars", "april", "avril", "may", "mai",
    "june?", "juni?", "juin", "july?", "juli", "juillet", "aug(?:ust)?", "août", "sept?(?:ember)?", "septembre", "oct(?:ober)?",
    "oktober", "octobre", "nov(?:ember)?", "novembre", "dec(?:ember)?", "dezember", "décembre", "enero", "febrero", "marzo",
    "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre",
)  # fmt: skip
_DAYS = (
    "(?:mon|tues|wednes|thurs|fri|satur|sun)days?", "mon", "tue", "wed", "thu", "fri", "sat", "(?:mon|diens|donners|frei|sams|"
    "sonn)tags?", "mittwochs?", "lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanches?", "lunes", "martes",
    "miércoles", "jueves", "viernes", "sábados?", "domingos?",
)  # fmt: skip
_SURFACE = (
    _sign_pattern(
        "i", "i'm", "im", "i've", "ive", "me", "myself",
        "ich", "mir", "mich", "je", "j'ai", "moi", "yo", "soy", "tengo"),
    _sign_pattern("we", "we're", "we've", "us", "wir", "uns", "nous", "nos", "nosotros"),
    _sign_pattern("my", "mein\\w*", "mon", "ma", "mes", "mi", "mis"),
    _sign_pattern("our", "unser\\w*", "notre", "nuestr[oa]s?"),
    _sign_pattern("he", "he's", "she", "she's", "they", "him", "her", "his", "their", "er", "sie", "il", "elle", "ella", "él"),
    _sign_pattern("it", "it's", "that", "that's", "this", "these", "those", "es", "das", "ça", "c'est", "eso"),
    _sign_pattern("you", "your", "you're", "u", "sie", "ihnen", "du", "dir", "tu", "te", "vous", "usted"),
    _sign_pattern("please", "pls", "bitte", "porfa", "s'il"),
    _sign_pattern("always", "never", "ever", "only", "immer", "nie", "niemals", "toujours", "jamais", "siempre", "nunca"),
    _sign_pattern("no", "not", "don't", "dont", "doesn't", "can't", "cant", "cannot", "won't", "kein\\w*", "nicht", "pas", "sin"),
    _sign_pattern("now", "instead", "anymore", "no longer", "moved", "changed", "switched", "after all", "jetzt", "nun",
        "maintenant", "ya no", "ahora"),
    _sign_pattern("if", "would", "could", "suppose", "imagine", "pretend", "say", "wish", "hypothetically", "wenn", "würde",
        "si", "imagina"),
    _sign_pattern("today", "tonight", "just", "right now", "heute", "gerade", "hoy", "aujourd'hui", "ce soir"),
    _sign_pattern("what", "how", "why", "which", "who", "when", "where", "can", "could", "should", "do", "does", "is",
        "are", "was", "wie"),
    _sign_pattern("write", "make", "give", "draft", "tell", "show", "explain", "help", "translate", "put", "add", "redo",
        "summari[sz]e", "generate", "fix"),
    _sign_pattern(*_MONTHS),
    _sign_pattern(*_DAYS),
    _sign_pattern(r"\d{1,2}[:.h]\d\d", r"\d{1,2} ?[ap]m", "noon", "uhr"),
    re.compile(r"\d"),
    re.compile(r"[€$£]|\b(?:euros?|dollars|pounds|k|lakhs?|mil|quid)\b"),
    _sign_pattern(r"\d+(?:st|nd|rd|th)"),
    re.compile(r"(?<=[\w,'’] )[A-Z][^\W\d_]+"),
    re.compile(r"^[A-Z][^\W\d_]+(?:'s| (?:is|has|can|works|lives|left|took|moved)\b)"),
    re.compile(r"[\x00]"),
    re.compile(r"[=<>{}|]|\w\(|\w_\w"),
    re.compile(r"!"),
    re.compile(r"\?"),
    re.compile(r":\s*$"),
    _sign_pattern("is", "are", "was", "am", "'s", "has", "have", "ist", "sind", "hat", "est", "sont", "es", "está", "tiene"),
)  # fmt: skip
_BEGINS = (
    _sign_pattern("i", "i'm", "i've", "we", "we're", "we've", "my", "our", "ich", "wir", "mein\\w*", "je", "on", "soy", "mi"),
    _sign_pattern("he", "she", "they", "he's", "she's", "it", "it's", "er", "es", "il", "elle"),
    _sign_pattern("what", "how", "why", "which", "who", "when", "where", "can", "could", "should", "is", "are", "do",
        "does", "was", "wie", "wer", "qué", "cómo"),
    _sign_pattern("write", "make", "give", "draft", "tell", "show", "explain", "help", "translate", "put", "add", "redo",
        "fix", "find", "say"),
    _sign_pattern("no", "not", "never", "always", "only", "don't", "please", "keine?"),
    _sign_pattern("thanks", "ok", "okay", "lol", "haha", "good", "great", "perfect", "lovely", "hmm", "danke", "gut",
        "gracias", "merci"),
)  # fmt: skip
SURFACE = 4 + len(_SURFACE) + len(_BEGINS)


class Judgement(NamedTuple):
    """``probability`` that it is worth keeping; the ``topic`` that it looks like, which decides how likely it has to be;
    ``topics``: the probability of each."""

    probability: float
    topic: str
    topics: tuple[float, ...] = ()


def surface_features(text: str) -> list[float]:
    """Signs of one clause, each between 0 and about 1."""
    plain = text.replace("’", "'")
    words = plain.split()
    found = [min(len(words), 30) / 15, float(len(words) < 4)]
    found += [float(is_severe(plain)), float(is_impersonal(plain))]
    found += [float(shape.search(plain) is not None) for shape in _SURFACE]
    found += [float(shape.match(plain) is not None) for shape in _BEGINS]
    return found


def hashed_features(text: str) -> dict[int, float]:
    """Hashed words, pairs of words and letters; each of the three blocks of length one."""
    plain = _number.sub("0", text.replace("’", "'").casefold())
    words = ["^", *_token.findall(plain), "$"]
    found: dict[int, float] = {}
    for block in (words[1:-1], _word_pairs(words), _letter_ngrams(words[1:-1])):
        counts = Counter(block)
        length = math.sqrt(sum(count * count for count in counts.values())) or 1.0
        for feature, count in counts.items():
            bucket = crc32(feature.encode("utf-8", "replace")) % HASHED
            found[bucket] = found.get(bucket, 0.0) + count / length
    return found


def _word_pairs(words: Sequence[str]) -> Iterator[str]:
    return (f"{first} {second}" for first, second in pairwise(words))


def _letter_ngrams(words: Sequence[str]) -> Iterator[str]:
    for word in words:
        padded = f"<{word}>"
        for size in (3, 4):
            for at in range(len(padded) - size + 1):
                yield "#" + padded[at : at + size]


class _Weights(NamedTuple):
    dense: NDArray[np.float32]
    words: NDArray[np.float32]
    bias: float
    topic_dense: NDArray[np.float32]
    topic_words: NDArray[np.float32]
    topic_bias: NDArray[np.float32]


class DurabilityModel:
    """Judges clauses. Raises DegradedError where the vectors are missing."""

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder or OfflineEmbedder()

    def available(self) -> bool:
        """Whether the vectors are installed; without them the rules read alone."""
        return self._embedder.available() is None

    def judge_texts(self, texts: Sequence[str]) -> list[Judgement]:
        """One judgement for each text; about 0.2 ms each."""
        if not texts:
            return []
        import numpy as np

        weights = _load_weights()
        dense = dense_features(texts, self._embedder)
        scores = dense @ weights.dense + weights.bias
        topics = dense @ weights.topic_dense + weights.topic_bias
        for row, text in enumerate(texts):
            for bucket, value in hashed_features(text).items():
                scores[row] += weights.words[bucket] * value
                topics[row] += weights.topic_words[bucket % TOPIC_HASHED] * value
        chances = np.exp(topics - topics.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        return [
            Judgement(float(1 / (1 + np.exp(-score))), TOPICS[row.argmax()], tuple(row.tolist()))
            for score, row in zip(scores, chances, strict=True)
        ]


def dense_features(texts: Sequence[str], embedder: Embedder) -> NDArray[np.float32]:
    """The vector and the surface signs of each text: float32 (n, dims + SURFACE)."""
    import numpy as np

    signs = np.asarray([surface_features(text) for text in texts], np.float32)
    return np.hstack([embedder.embed(list(texts)) * 4, signs]).astype(np.float32)


@functools.cache
def _load_weights() -> _Weights:
    """Stored as bytes with a scale for each part."""
    import numpy as np

    with np.load(WEIGHTS) as file:
        return _Weights(
            *(
                part.astype(np.float32) * float(file[f"{name}_scale"]) if part.dtype == np.int8 else part
                for name in _Weights._fields
                for part in (file[name],)
            )
        )
