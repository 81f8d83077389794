"""How much a piece of a turn bears on a prompt: a few features, summed with weights that were fitted on conversations.

The weights stand in ``relevance.json``, made by ``tests/benchmarks/talks_eval.py --fit`` from the half of the conversations
that is there to learn from; one set for memories with vectors of words, one without.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.records import Record
from memtui.engine.store.words import stems, words

from . import lexicon
from .clauses import READ_AT_MOST as READ_AT_MOST
from .clauses import Clause

if TYPE_CHECKING:
    from .word_meanings import WordMeanings

FEATURES = (
    "words", "telling words", "names", "turn", "likeness", "topic", "topic rule", "health", "rule", "health asked", "people",
    "kind of answer", "asks", "request", "statement", "first person", "change", "recent", "long", "least",
    "attribute", "no attribute", "names missing",
)  # fmt: skip
MOST_WORDS = 40
"""So many telling words of a prompt are compared with every piece, those that say most."""
_WEIGHTS = Path(__file__).parent / "relevance.json"
_capital = re.compile(r"(?<=[^\W\d_]\s)[A-ZÀ-ÖØ-Þ][\w'’-]+")
_name = re.compile(r"\b[A-ZÀ-ÖØ-Þ][\w’-]+(?:\s[A-ZÀ-ÖØ-Þ][\w’-]+)*")
_number = re.compile(r"\d")


class Prompt(Record):
    """A prompt as the score reads it. ``weights``: its telling words by stem, each with how much it says."""

    text: str
    weights: Mapping[str, float]
    words: Mapping[str, str]
    names: frozenset[str]
    topics: tuple[str, ...]
    people: frozenset[str]
    factual: bool
    wanted: str
    attributes: tuple[re.Pattern[str], ...]


class Limits(Record):
    """Probabilities."""

    opens: float
    keeps: float


class Piece(Record):
    """A clause of a turn, its words; what is known of the turn: its stems, its place by age (0 the newest, 1 the oldest)."""

    clause: Clause
    words: tuple[str, ...]
    stems: tuple[str, ...]
    turn_stems: frozenset[str]
    age: float


def read_prompt(text: str, rarity: Mapping[str, float]) -> Prompt:
    """``rarity``: how much each stem says; what is not in it says as much as the one that says most."""
    text = text[:READ_AT_MOST]
    said = words(text)
    stemmed = stems(text)
    most = max(rarity.values(), default=1.0)
    telling = {
        stem: rarity.get(stem, most) for word, stem in zip(said, stemmed, strict=True) if lexicon.tells(word)
    }
    telling = dict(sorted(telling.items(), key=lambda one: -one[1])[:MOST_WORDS])
    asked = set(said)
    subjects = tuple(topic.name for topic in lexicon.topics() if topic.asked.found(asked))
    names = frozenset(stem for name in _capital.findall(text) for stem in stems(name))
    wanted = next((kind for kind in ("who", "when", "number") if _sentence(kind) & asked), "")
    factual = lexicon.begins("asks for one thing", text) and not lexicon.patterns()["asks for work"].search(
        text
    )
    return Prompt(
        text=text, weights=telling, words=dict(zip(stemmed, said, strict=True)), names=names, topics=subjects,
        people=lexicon.kinds_of_people(asked), factual=factual, wanted=wanted,
        attributes=tuple(told for asks, told in lexicon.attributes() if asks.search(text)),
    )  # fmt: skip


def read_piece(clause: Clause, turn_stems: frozenset[str], age: float) -> Piece:
    return Piece(
        clause=clause, words=tuple(words(clause.text)), stems=tuple(stems(clause.text)), turn_stems=turn_stems, age=age,
    )  # fmt: skip


def features(prompt: Prompt, piece: Piece, meanings: WordMeanings | None = None) -> dict[str, float]:
    """The features by name; each 0 to about 1."""
    said, stemmed = set(piece.words), set(piece.stems)
    total = sum(prompt.weights.values()) or 1.0
    covered = {stem: _overlap(stem, stemmed) for stem in prompt.weights}
    overlap = sum(weight * covered[stem] for stem, weight in prompt.weights.items()) / total
    plain = {stem: weight for stem, weight in prompt.weights.items() if stem not in prompt.names}
    of_plain = sum(plain.values())
    telling = sum(weight * covered[stem] for stem, weight in plain.items()) / of_plain if of_plain else 0.0
    named = any(covered[stem] for stem in prompt.names if stem in covered)
    in_turn = sum(weight for stem, weight in prompt.weights.items() if stem in piece.turn_stems) / total
    near = _nearest(prompt, piece, meanings)
    likeness = sum(weight * near.get(stem, 0.0) for stem, weight in prompt.weights.items()) / total
    told, ruled = _topics_told(prompt, said)
    health = min(len(lexicon.vital()["health"].found(said)), 2) / 2
    rule = float(bool(lexicon.vital()["rule"].found(said)))
    health_asked = health * bool({"food", "medicine", "outing"} & set(prompt.topics))
    text = piece.clause.text
    answers = False
    match prompt.wanted:
        case "who":
            answers = bool(_name.search(text[1:]))
        case "when":
            answers = bool(lexicon.patterns()["time"].search(text))
        case "number":
            answers = bool(_number.search(text))
    values = (
        overlap, telling, named, in_turn, likeness, told, ruled, health, rule, health_asked,
        bool(prompt.people and prompt.people & lexicon.kinds_of_people(said)), answers, piece.clause.asks,
        lexicon.begins("request", text),
        bool(said & _sentence("verb")), bool(said & _sentence("first person")), bool(said & _sentence("change")),
        1.0 - piece.age, min(len(text) / 200, 1.0), _least(plain, covered, near),
        *_attributes(prompt, text),
        bool(prompt.names) and not any(_overlap(stem, piece.turn_stems) for stem in prompt.names),
    )  # fmt: skip
    return dict(zip(FEATURES, map(float, values), strict=True))


def learn(meanings: WordMeanings, prompt: Prompt, pieces: Iterable[Piece]) -> None:
    """Make the vectors of all the words that ``features`` compares."""
    meanings.learn([*prompt.words.values(), *(word for piece in pieces for word in piece.words)])


def score(prompt: Prompt, values: Mapping[str, float], *, meanings: bool) -> float:
    """The probability that the piece answers, 0 to 1. ``meanings``: whether the features come with vectors."""
    weights = _weights()[_asks(prompt)]["with vectors" if meanings else "without vectors"]
    total = weights["bias"] + sum(weights[name] * value for name, value in values.items())
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, total))))


def limits(prompt: Prompt) -> Limits:
    """What the best piece must reach for any to be told, and what each further one must."""
    return Limits(**_weights()[_asks(prompt)]["limits"])


def _asks(prompt: Prompt) -> str:
    return "for one thing" if prompt.factual else "for work"


@functools.cache
def _weights() -> dict[str, dict[str, dict[str, float]]]:
    found: dict[str, dict[str, dict[str, float]]] = json.loads(_WEIGHTS.read_text())
    return found


def _overlap(stem: str, among: Collection[str]) -> float:
    """1 where the word is there, a part where another form or a compound of it is."""
    if stem in among:
        return 1.0
    if len(stem) < 5:
        return 0.0
    return 0.7 if any(other[:5] == stem[:5] and abs(len(other) - len(stem)) < 5 for other in among) else 0.0


def _topics_told(prompt: Prompt, said: set[str]) -> tuple[float, float]:
    """How much a statement says of the prompt's subjects: of any; and whether it rules there."""
    most = 0
    for topic in lexicon.topics():
        if topic.name in prompt.topics:
            most = max(most, len(topic.told.found(said)))
    told = min(most, 3) / 3
    return told, told * bool(lexicon.vital()["rule"].found(said))


def _nearest(prompt: Prompt, piece: Piece, meanings: WordMeanings | None) -> dict[str, float]:
    """For each telling word of the prompt, by stem, how near the nearest word of the piece is."""
    if meanings is None:
        return {}
    said = [word for word in dict.fromkeys(piece.words) if lexicon.tells(word)]
    asked = [prompt.words[stem] for stem in prompt.weights]
    return dict(zip(prompt.weights, meanings.nearest(asked, said), strict=True))


def _least(plain: Mapping[str, float], covered: Mapping[str, float], near: Mapping[str, float]) -> float:
    """How well the word is covered that is covered least, of those that are no names."""
    return min((max(covered[stem], near.get(stem, 0.0)) for stem in plain), default=0.5)


def _attributes(prompt: Prompt, text: str) -> tuple[float, float]:
    """Whether the statement has what is asked for, where that can be seen: an age, a price, a number to call."""
    met = any(told.search(text) for told in prompt.attributes)
    return float(met), float(bool(prompt.attributes) and not met)


def _sentence(kind: str) -> frozenset[str]:
    return lexicon.sentence_words()[kind]
