"""What a statement is about: a linear model of our own over twelve topics, that needs neither vectors nor numpy.

It reads the surface signs of ``durability``, hints by topic (``topic_words.txt``), who the sentence begins with, and hashed
words. The weights are made by ``tests/benchmarks/topic_train.py``. Where the packaged vectors are installed, the ``durability``
model has an opinion, too: their mean is right more often than either.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from memtui.engine import word_lists
from memtui.engine.records import Topic

from .durability import hashed_features, surface_features

TOPICS: tuple[Topic, ...] = (
    "health", "people", "home", "work", "project", "rule", "preference", "routine", "plan", "possession", "decision",
    "identity",
)  # fmt: skip
HASHED = 1 << 12
WEIGHTS = Path(__file__).with_name("topics.bin")
OF_WORDS = 2.0  # what hashed words weigh before training, beside one sign
_WORDS = Path(__file__).with_name("topic_words.txt")
_HINT = 2.0  # the same of a hint
_SHARPNESS = 0.03  # of its scores, before they become probabilities
_LEAST = {"health": 0.5, "rule": 0.45}
"""What is of these topics never fades and comes first: so likely it has to be, or it is what else is likeliest."""
_PET_OR_PERSON = ("relative", "friend", "pet")
_OPENING = r"^(?:(?:and|so|but|n|well|ok|oh|also) )*"


class _HintPatterns(NamedTuple):
    """Patterns: of each section of the list, and of how a sentence begins."""

    words: dict[str, re.Pattern[str]]
    begins: tuple[re.Pattern[str], ...]


@functools.cache
def _load_hints() -> _HintPatterns:
    sections = word_lists.read_sections(_WORDS)
    kin = "|".join(word for name in _PET_OR_PERSON for word in sections[name])
    begins = (
        rf"{_OPENING}(?:i|i'm|im|i've|ive|my|we|our|ich|wir|mein\w*|je|j'|mon|ma|mes|yo|mi|mis)\b",
        rf"{_OPENING}(?:(?:s?he(?:'?s)?|they|er|sie|ils?|elles?|ell[oa]s?|él)\b"
        r"|(?-i:[A-Z][a-zà-ÿ]+(?:'s|s)? (?:is|has|can|works|lives|left|was|will|wants|doesn|starts|got|turns|goes|just|"
        r"might|does|likes|hates|moved|'s)\b|[A-Z][a-zà-ÿ]+:))",
        rf"{_OPENING}(?:my|our|mein\w*|unser\w*|mon|ma|mes|notre|mi|mis|nuestr\w+) (?:[\w-]+ ){{0,2}}(?:{kin})\b",
        r"^(?:i'm|im|i am|ich bin|je suis|soy|estoy)\b",
        r"^(?:(?:please|pls|and|also|n) )*(?:don't|dont|do not|never|always|no|only|use|keep|answer|write|call|ask|stop|put|"
        r"give|tell|make|bitte|keine?|immer|toujours|jamais|pas|nunca|siempre)\b",
    )
    return _HintPatterns(
        {name: re.compile(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)", re.I) for name, words in sections.items()},
        tuple(re.compile(pattern, re.I) for pattern in begins),
    )


def hint_features(text: str) -> list[float]:
    """Hints of one statement, each from 0 to 3: how often each section of the list occurs, how it begins, and some of both."""
    plain = text.replace("’", "'")
    count = {
        name: min(sum(1 for _ in shape.finditer(plain)), 3) / 2 for name, shape in _load_hints().words.items()
    }
    own, other, kin, am, command = (float(shape.search(plain) is not None) for shape in _load_hints().begins)
    both = (
        count["ill"] and (other or kin or count["third person"]),
        count["ill"] and own and not kin,
        count["date"] and not count["again"],
        count["date"] and count["job"],
        count["relative"] and count["date"],
        count["making"] and count["order"],
    )
    found = [*count.values(), own, other, kin, am, command, *(float(bool(one)) for one in both)]
    return [_HINT * one for one in found]


def model_features(text: str) -> list[float]:
    """What the model reads beside the hashed words; the first stands for how common a topic is."""
    return [1.0, *surface_features(text), *hint_features(text)]


def likely_topic(text: str, judged: Sequence[float] | None = None) -> Topic:
    """The likeliest topic of a statement; under a millisecond. ``judged``: how likely the ``durability`` model holds each."""
    chances = _topic_probabilities(text)
    if judged is not None:
        chances = [
            mean if (mean := (mine + other) / 2) >= _LEAST.get(topic, 0.0) else 0.0
            for topic, mine, other in zip(TOPICS, chances, judged, strict=True)
        ]
    return TOPICS[chances.index(max(chances))]


def _topic_probabilities(text: str) -> list[float]:
    """The probability of each topic."""
    first = model_features(text)
    weights = _load_weights()
    scores = [0.0] * len(TOPICS)
    found = [
        *enumerate(first),
        *(
            (len(first) + bucket % HASHED, OF_WORDS * value)
            for bucket, value in hashed_features(text).items()
        ),
    ]
    for row, value in found:
        if value:
            for topic in range(len(TOPICS)):
                scores[topic] += weights[row * len(TOPICS) + topic] * value
    likely = [math.exp(_SHARPNESS * (score - max(scores))) for score in scores]
    return [one / sum(likely) for one in likely]


@functools.cache
def _load_weights() -> memoryview:
    """A signed byte for each sign and each hashed word, for each topic."""
    return memoryview(WEIGHTS.read_bytes()).cast("b")
