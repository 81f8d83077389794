"""How much a piece of a turn bears on a prompt: a few features, summed with weights that were fitted on conversations.

The weights stand in ``relevance.json``, made by ``tests/benchmarks/talks_eval.py --fit`` from the half of the conversations
that is there to learn from; for pieces of turns and for facts, with vectors of words and without.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import mul
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from memtui.engine.records import Record
from memtui.engine.store.tokens import text_stems, text_words

from . import lexicon
from .clauses import MAX_CHARACTERS as MAX_CHARACTERS
from .clauses import Clause

if TYPE_CHECKING:
    from .word_meanings import WordMeanings, WordNearness

FEATURES = (
    "words", "telling words", "names", "turn", "likeness", "topic", "topic rule", "health", "rule", "health asked", "people",
    "asks", "request", "statement", "first person", "change", "recent", "long", "least",
    "attribute", "no attribute", "names missing", "whole",
    "who", "no who", "when", "no when", "where", "no where", "number", "no number",
    "personal", "working", "subjects", "cosine",
)  # fmt: skip
KINDS = ("who", "when", "where", "number")
"""What a question word asks for; of two the first counts."""
_BEGINNING = 5
HEALTH_ASKED = frozenset({"food", "medicine", "outing"})
"""The subjects of a prompt for which health matters."""
_OF_WORK = frozenset({"code", "documents", "letters", "person", "principles", "money"})
"""The subjects of a prompt about code and no person: "every Monday" there asks for no calendar, "run" for no sport."""
OTHERWISE = 0.8
"""How much of a prompt's word a piece has that answers it with other words."""
MOST_WORDS = 40
"""So many telling words of a prompt are compared with every piece, those that say most."""
Source = Literal["turns", "facts"]
"""What pieces are of: each has its own weights, for a fact is shorter and stands by itself."""
Vectors = Literal["without vectors", "with vectors", "with sentence vectors"]
"""What the features come from besides words: nothing, vectors of single words, and beside those the cosine similarity of the
prompt and the whole memory by a model that reads sentences. Each has its own weights."""
SENTENCE_MODELS = frozenset({"all-minilm-l6-v2-int8-384"})
"""The models whose cosines the weights were fitted with."""
_WEIGHTS = Path(__file__).parent / "relevance.json"
_capital = re.compile(r"(?<=[^\W\d_]\s)[A-ZÀ-ÖØ-Þ][\w'’-]+")
_name = re.compile(r"\b[A-ZÀ-ÖØ-Þ][\w’-]+(?:\s[A-ZÀ-ÖØ-Þ][\w’-]+)*")


_MOST_KEPT = 20_000
_stems: dict[str, str] = {}


class PromptFeatures(Record):
    """A prompt as the score reads it. ``weights``: its telling words by stem, each with how much it says.

    ``plain``: those of them that are no names; ``total`` and ``of_plain``: their sums. ``wordings``:
    the stems of words that statements may answer with others, and with which. ``personal``: it speaks of the person or of
    somebody near. ``working``: it is about code and no person.
    """

    text: str
    weights: Mapping[str, float]
    total: float
    plain: Mapping[str, float]
    of_plain: float
    words: Mapping[str, str]
    names: frozenset[str]
    topics: tuple[str, ...]
    people: frozenset[str]
    factual: bool
    personal: bool
    working: bool
    wanted: str
    attributes: tuple[re.Pattern[str], ...]
    wordings: tuple[tuple[frozenset[str], lexicon.PhraseList], ...]


class ClauseFeatures(Record):
    """A clause of a turn, its words and stems; the stems of the turn, and its place by age (0 the newest, 1 the oldest).

    ``telling``: the words that say something. ``marks``: how many of the words stand on each list of the lexicon.
    ``beginnings``: those of the longer stems.
    """

    clause: Clause
    words: frozenset[str]
    plain: str
    stems: tuple[str, ...]
    telling: tuple[str, ...]
    marks: Mapping[str, int]
    beginnings: frozenset[str]
    turn_stems: frozenset[str]
    age: float


def read_prompt(text: str, rarity: Mapping[str, float]) -> PromptFeatures:
    """``rarity``: how much each stem says; what is not in it says as much as the one that says most."""
    text = text[:MAX_CHARACTERS]
    words = text_words(text)
    stems_said = stem_words(words)
    most = max(rarity.values(), default=1.0)
    telling = {
        stem: rarity.get(stem, most)
        for word, stem in zip(words, stems_said, strict=True)
        if lexicon.is_content_word(word)
    }
    telling = dict(sorted(telling.items(), key=lambda one: -one[1])[:MOST_WORDS])
    unique_words = set(words)
    people = lexicon.kinds_of_people(unique_words)
    subjects = lexicon.topics_asked_about(unique_words)
    factual = lexicon.asks_for_one_thing(text)
    if working := "code" in subjects and not (people or factual):
        subjects = tuple(name for name in subjects if name in _OF_WORK)
    personal = not working and bool(people or lexicon.compiled_pattern("speaks of the person").search(text))
    names = frozenset(stem for name in _capital.findall(text) for stem in text_stems(name))
    plain = {stem: weight for stem, weight in telling.items() if stem not in names}
    wanted = next((kind for kind in KINDS if lexicon.sentence_words()[kind] & unique_words), "")
    by_word = dict(zip(words, stems_said, strict=True))
    wordings = [
        (frozenset(by_word[word] for word in one.asked if word in by_word) & telling.keys(), one.answers)
        for one in lexicon.answer_wordings(unique_words, f" {' '.join(words)} ")
    ]
    return PromptFeatures(
        text=text, weights=telling, total=sum(telling.values()) or 1.0, plain=plain, of_plain=sum(plain.values()),
        words=dict(zip(stems_said, words, strict=True)), names=names, topics=subjects,
        people=people, factual=factual, personal=personal, working=working,
        wanted=wanted, attributes=lexicon.asked_attributes(text),
        wordings=tuple(one for one in wordings if one[0]),
    )  # fmt: skip


def read_piece(clause: Clause, turn_stems: frozenset[str], age: float) -> ClauseFeatures:
    found = text_words(clause.text)
    unique_words = dict.fromkeys(found)
    stems_said = tuple(stem_words(found))
    without_content = lexicon.words_without_content()
    marks: dict[str, int] = {}
    for word in unique_words:
        for mark in lexicon.lists_marking(word):
            marks[mark] = marks.get(mark, 0) + 1
    return ClauseFeatures(
        clause=clause, words=frozenset(unique_words), plain=f" {' '.join(found)} ", stems=stems_said,
        telling=tuple([word for word in unique_words if word not in without_content]), marks=marks,
        beginnings=frozenset([stem[:_BEGINNING] for stem in stems_said if len(stem) >= _BEGINNING]),
        turn_stems=turn_stems, age=age,
    )  # fmt: skip


def score_turn(prompt: PromptFeatures, turn_stems: frozenset[str], words: Sequence[str]) -> float:
    """How much a whole turn may have for the prompt, by its words."""
    shared = sum(weight for stem, weight in prompt.weights.items() if stem in turn_stems)
    if prompt.wordings:
        otherwise = _answered_with_synonyms(prompt, set(words), f" {' '.join(words)} ") - turn_stems
        shared += sum(OTHERWISE * prompt.weights[stem] for stem in otherwise)
    topics = 0
    if prompt.topics:
        wanted = {lexicon.strong_mark(topic) for topic in prompt.topics}
        topics = sum(not wanted.isdisjoint(lexicon.lists_marking(word)) for word in set(words))
    return shared / prompt.total + min(topics, 3) / 3


def stem_words(words: Sequence[str]) -> list[str]:
    """The stems of words; texts have most words in common."""
    if new := [word for word in words if word not in _stems]:
        if len(_stems) > _MOST_KEPT:
            _stems.clear()
            new = list(words)
        _stems.update(zip(new, text_stems(" ".join(new)), strict=True))
    return [_stems[word] for word in words]


def word_features(prompt: PromptFeatures, piece: ClauseFeatures) -> dict[str, float]:
    """The features by name, each 0 to about 1; those of meaning are 0 (``with_meanings``)."""
    marks, text = piece.marks, piece.clause.text
    covered, said_otherwise = _covered_words(prompt, piece)
    overlap = in_turn = telling = 0.0
    for stem, weight in prompt.weights.items():
        overlap += weight * covered[stem]
        if stem in piece.turn_stems:
            in_turn += weight
    for stem, weight in prompt.plain.items():
        telling += weight * covered[stem]
    in_turn += sum(OTHERWISE * prompt.weights[stem] for stem in said_otherwise - piece.turn_stems)
    topic_words = (
        min(max((lexicon.count_topic_words(topic, marks) for topic in prompt.topics), default=0), 3) / 3
    )
    health = min(marks.get("health", 0), 2) / 2
    rule = "rule" in marks
    met = any(attribute.search(text) for attribute in prompt.attributes)
    values = (
        overlap / prompt.total, telling / prompt.of_plain if prompt.of_plain else 0.0,
        any(covered[stem] for stem in prompt.names if stem in covered),
        in_turn / prompt.total, 0.0, topic_words, topic_words * rule, health, rule,
        health * (not HEALTH_ASKED.isdisjoint(prompt.topics)), not prompt.people.isdisjoint(marks),
        piece.clause.asks, piece.clause.requests,
        "verb" in marks, "first person" in marks, "change" in marks,
        1.0 - piece.age, min(len(text) / 200, 1.0),
        min([covered[stem] for stem in prompt.plain], default=0.5),
        met, bool(prompt.attributes) and not met,
        bool(prompt.names) and not any(_turn_has_stem(stem, piece) for stem in prompt.names),
        0.0, *_answer_kind_features(prompt.wanted, text), prompt.personal, prompt.working, min(len(prompt.topics), 2) / 2,
        0.0,
    )  # fmt: skip
    return dict(zip(FEATURES, map(float, values), strict=True))


def with_meanings(
    prompt: PromptFeatures,
    piece: ClauseFeatures,
    by_words: Mapping[str, float],
    nearness: WordNearness,
    cosine: float | None = None,
) -> dict[str, float]:
    """``word_features``, with those of meaning.

    ``cosine``: that of the prompt and the whole memory, by a model of ``SENTENCE_MODELS``.
    """
    covered, said_otherwise = _covered_words(prompt, piece)
    near = dict(zip(prompt.weights, nearness.cosines(piece.telling), strict=True))
    for stem in said_otherwise:
        near[stem] = max(near[stem], OTHERWISE)
    likeness = 0.0
    for stem, weight in prompt.weights.items():
        likeness += weight * near[stem]
    return {
        **by_words,
        "likeness": likeness / prompt.total,
        "least": float(min([max(covered[stem], near[stem]) for stem in prompt.plain], default=0.5)),
        "whole": nearness.cosine_of_means(piece.telling),
        "cosine": max(0.0, cosine or 0.0),
    }


def _covered_words(prompt: PromptFeatures, piece: ClauseFeatures) -> tuple[dict[str, float], set[str]]:
    """How much of each of the prompt's words a piece has, 0 to 1; and the words that it answers with others."""
    stems_said = set(piece.stems)
    covered = {stem: _stem_overlap(stem, stems_said, piece.beginnings) for stem in prompt.weights}
    said_otherwise = _answered_with_synonyms(prompt, piece.words, piece.plain)
    for stem in said_otherwise:
        covered[stem] = max(covered[stem], OTHERWISE)
    return covered, said_otherwise


def _answered_with_synonyms(prompt: PromptFeatures, words: Collection[str], plain: str) -> set[str]:
    """The words of a prompt that a text answers with others."""
    return {stem for stems, answers in prompt.wordings if answers.find_in(words, plain) for stem in stems}


def compare_words(
    meanings: WordMeanings, prompt: PromptFeatures, pieces: Iterable[ClauseFeatures]
) -> WordNearness:
    """How near all words of the pieces are to those of the prompt."""
    prompt_words = [prompt.words[stem] for stem in prompt.weights]
    text_words = [word for piece in pieces for word in piece.telling]
    return meanings.compare(prompt_words, list(prompt.weights.values()), text_words)


def _answer_kind_features(wanted: str, text: str) -> list[bool]:
    """For each kind of answer, whether it is wanted and a statement has it, and whether it is wanted and missing."""
    has = bool(wanted) and _has_answer_kind(wanted, text)
    return [value for kind in KINDS for value in (kind == wanted and has, kind == wanted and not has)]


def _has_answer_kind(wanted: str, text: str) -> bool:
    """Whether a statement has a name, a time, a place, a number."""
    if wanted == "who":
        return _name.search(text[1:]) is not None
    return (
        lexicon.compiled_pattern({"when": "time", "where": "place"}.get(wanted, wanted)).search(text)
        is not None
    )


def answer_probability(
    prompt: PromptFeatures, values: Mapping[str, float], source: Source, vectors: Vectors
) -> float:
    """The probability that the piece answers, 0 to 1. ``vectors``: what the features come from."""
    weights = _load_weights()[source][_is_asking(prompt)][vectors]
    total = weights["bias"] + sum(map(mul, map(weights.__getitem__, values), values.values()))
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, total))))


def _is_asking(prompt: PromptFeatures) -> str:
    return "for one thing" if prompt.factual else "for work"


@functools.cache
def _load_weights() -> dict[Source, dict[str, dict[str, dict[str, float]]]]:
    found: dict[Source, dict[str, dict[str, dict[str, float]]]] = json.loads(_WEIGHTS.read_text())
    return found


def _stem_overlap(stem: str, among: Collection[str], beginnings: Collection[str]) -> float:
    """1 where the word is there, a part where another form or a compound of it is."""
    if stem in among:
        return 1.0
    beginning = stem[:_BEGINNING]
    if len(stem) < _BEGINNING or beginning not in beginnings:
        return 0.0
    close = (other for other in among if other.startswith(beginning))
    return 0.7 if any(abs(len(other) - len(stem)) < _BEGINNING for other in close) else 0.0


def _turn_has_stem(stem: str, piece: ClauseFeatures) -> bool:
    """Whether the word, another form or a compound of it is in the turn."""
    return stem in piece.turn_stems or _stem_overlap(stem, piece.turn_stems, {stem[:_BEGINNING]}) > 0.0
