"""Do two short statements say the same, contradict each other, or merely share words?

Without a model: by their content words (stemmed, rare ones weigh more), and by guards for what decides
the meaning although it is small: negation, numbers, one word in the place of another. A statement that
differs in one of those is never a duplicate; it is at most a candidate for a conflict.
"""

from __future__ import annotations

import functools
import math
import re
import unicodedata
from collections.abc import Callable, Set
from typing import Literal, NamedTuple

from memtui.engine.records import Record
from memtui.engine.store import tokens as store_tokens

from .vocabulary import DIRECTIONS, ENDINGS, FUNCTION_WORDS, NEGATIONS, NUMBER_WORDS, SYNONYMS

Relation = Literal["duplicate", "conflict", "related", "different"]
Weight = Callable[[str], float]
"""How much a stem says, above 0; rare words say more."""

DUPLICATE = 0.8
CONFLICT = 0.5
RELATED = 0.25

_NO_MORE = frozenset({("any", "more"), ("any", "longer"), ("no", "longer"), ("no", "more")})
_TURNING = frozenset({"by", "which", "who", "that", "whose"})
word_shape = re.compile(r"\d+(?:[.,:/'-]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?(?:\d+)?|\d+[^\W_]+")


class AnalysedText(NamedTuple):
    """A statement as comparison sees it. ``content``: stems in order; ``spelled``: each as written there; ``names``: words
    written with a capital inside it; ``turned``: its words may stand in another order (passive, relative clause)."""

    exact: str
    content: tuple[str, ...]
    spelled: tuple[str, ...]
    numbers: frozenset[str]
    denials: int
    names: frozenset[str]
    turned: bool
    directions: frozenset[str]


class StatementRelation(Record):
    """How two statements relate; ``score`` is the weighted share of common content in [0, 1]."""

    kind: Relation
    score: float
    reasons: tuple[str, ...] = ()


def tokens_as_written(text: str) -> list[str]:
    """The words and numbers of a text as written there."""
    return word_shape.findall(unicodedata.normalize("NFKC", text).replace("’", "'"))


@functools.lru_cache(maxsize=2048)
def analyse_statement(text: str) -> AnalysedText:
    """What comparing needs of a statement: its telling words, numbers, names, and whether it denies."""
    found = tokens_as_written(text)
    lowered = [token.casefold() for token in found]
    numbers, content, spelled, names = [], [], [], []
    denials = 0
    for place, (token, word) in enumerate(zip(found, lowered, strict=True)):
        if word[0].isdigit() or word in NUMBER_WORDS:
            numbers.append(NUMBER_WORDS.get(word) or word.replace(",", "").replace("'", ""))
        elif word in NEGATIONS or word in ENDINGS or word.endswith("n't"):
            denials += 1
        elif (lowered[place - 1] if place else "", word) in _NO_MORE or word == "anymore":
            pass  # "not any more" denies once
        elif (bare := word.removesuffix("'s")) not in FUNCTION_WORDS and not bare.startswith(
            ("i'", "we'", "you'")
        ):
            content.append(SYNONYMS.get(bare, bare))
            spelled.append(token[: len(bare)])
            if place and token[0].isupper():
                names.append(len(content) - 1)
    stemmed = tuple(store_tokens.text_stems(" ".join(content))) if content else ()
    if len(stemmed) != len(content):  # a script that the tokenizer cuts differently
        stemmed = tuple(content)
    stemmed = tuple(SYNONYMS.get(stem, stem) for stem in stemmed)
    return AnalysedText(
        exact=" ".join(lowered),
        content=stemmed,
        spelled=tuple(spelled),
        numbers=frozenset(numbers),
        denials=denials,
        names=frozenset(stemmed[place] for place in names),
        turned=not _TURNING.isdisjoint(lowered),
        directions=DIRECTIONS & set(lowered),
    )


def plain_weight(stem: str) -> float:
    """Without document frequencies long words are taken for the rarer ones."""
    return 1.0 + math.log(1 + len(stem))


def compare_statements(first: str, second: str, weight: Weight = plain_weight) -> StatementRelation:
    """How two statements relate to each other; ``weight`` says how much a word tells."""
    return compare_analysed(analyse_statement(first), analyse_statement(second), weight)


def compare_analysed(a: AnalysedText, b: AnalysedText, weight: Weight = plain_weight) -> StatementRelation:
    """The order of the two does not matter."""
    if a.exact == b.exact:
        return StatementRelation(kind="duplicate", score=1.0, reasons=("the same words",))
    ours, theirs = set(a.content), set(b.content)
    shared, only_a, only_b = ours & theirs, ours - theirs, theirs - ours
    total = sum(map(weight, ours | theirs))
    score = sum(map(weight, shared)) / total if total else 0.0
    # Of the shorter one: "lives in Berlin" is wholly in "lives in Berlin with Ada".
    smaller = min(sum(map(weight, ours)), sum(map(weight, theirs)))
    inside = sum(map(weight, shared)) / smaller if smaller else 0.0
    if score < RELATED and inside < CONFLICT:
        return StatementRelation(kind="different", score=score)
    differences = _list_differences(a, b, only_a, only_b)
    if not differences and score >= DUPLICATE and _has_same_order(a, b, shared):
        return StatementRelation(kind="duplicate", score=score, reasons=("the same content words",))
    if differences and inside >= CONFLICT and _may_conflict(a, b, only_a, only_b, score):
        return StatementRelation(kind="conflict", score=score, reasons=differences)
    return StatementRelation(
        kind="related" if score >= RELATED else "different", score=score, reasons=differences
    )


def _list_differences(
    a: AnalysedText, b: AnalysedText, only_a: set[str], only_b: set[str]
) -> tuple[str, ...]:
    found = []
    if a.denials != b.denials:
        found.append("one denies what the other says")
    if a.numbers != b.numbers:
        found.append(
            _describe_both_sides(*(", ".join(sorted(x.numbers - y.numbers)) for x, y in ((a, b), (b, a))))
        )
    if only_a and only_b:
        found.append(_describe_both_sides(_words_as_written(a, only_a), _words_as_written(b, only_b)))
    elif a.directions != b.directions:
        found.append(f"only one says {', '.join(sorted(a.directions ^ b.directions))}")
    elif (named := a.names & only_a) or (b.names & only_b):
        found.append(
            f"only one names {_words_as_written(a, named) if named else _words_as_written(b, b.names & only_b)}"
        )
    return tuple(found)


def _describe_both_sides(mine: str, yours: str) -> str:
    """What each of two says that the other does not; one of both may be empty."""
    if mine and yours:
        return f"one says {mine}, the other {yours}"
    return f"only one says {mine or yours}"


def _words_as_written(reading: AnalysedText, stems: Set[str]) -> str:
    """Some of its words as they are in the statement, at most four."""
    words = dict.fromkeys(
        word for stem, word in zip(reading.content, reading.spelled, strict=True) if stem in stems
    )
    return ", ".join(list(words)[:4])


def _may_conflict(a: AnalysedText, b: AnalysedText, only_a: set[str], only_b: set[str], score: float) -> bool:
    if a.denials != b.denials:
        return score >= CONFLICT or not (only_a and only_b)
    if a.numbers - b.numbers and b.numbers - a.numbers:
        return score >= CONFLICT
    # One word in the place of another; more than that is another statement.
    return score >= CONFLICT and 0 < len(only_a) <= 2 and 0 < len(only_b) <= 2


def _has_same_order(a: AnalysedText, b: AnalysedText, shared: set[str]) -> bool:
    """ "Ada asked Bo" is not "Bo asked Ada", unless one of them is passive or has a clause that turns words round."""
    first = [stem for stem in a.content if stem in shared]
    second = [stem for stem in b.content if stem in shared]
    return first == second or a.turned != b.turned
