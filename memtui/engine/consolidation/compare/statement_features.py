"""What comparing two statements needs to know of each: its content words, names, people, values, negations and vectors."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.models.embedders import OfflineEmbedder
from memtui.engine.models.ner import gazetteer
from memtui.engine.models.ner.words import ordinary_words
from memtui.engine.store import tokens as index_words

from .change_words import change_words, cue_patterns, day_names, month_names, words_under
from .similarity import plain_weight, tokens_as_written, word_shape
from .value_mentions import ValueSets, negated_values, read_values, spoken_forms
from .vocabulary import ENDINGS, FUNCTION_WORDS, NEGATIONS, NUMBER_WORDS, SYNONYMS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

LONGEST = 400
"""Characters of a statement that are read."""
_NEAR = 4  # words that "no longer" is said of
_BEFORE, _AFTER = 4, 3  # content words next to a value
_MOST_MENTIONS = 12
_said = re.compile(r" \(said [^)]*\)$")
_elided = re.compile(r"^(?:[ldjmnstc]|qu)'(?=\w{2})")


class ValueMention(NamedTuple):
    """A value or a name in a statement.

    ``kind``: a field of ``ValueSets``, or "name"; ``unit``: the stem right after it, which is what is counted;
    ``nearby_stems``: of the content words next to it, with their mean vector ``nearby_vector``.
    """

    kind: str
    value: str
    unit: str
    nearby_stems: frozenset[str]
    nearby_vector: Floats


class StatementFeatures(NamedTuple):
    """What comparing needs of one statement.

    ``content``: stems of the content words, with ``word_vectors`` and ``word_weights`` in the same order; ``names``: names and
    rare words, for people type names in small letters; ``people``: given names and words such as "sister";
    ``negated``, ``negated_values``: what the statement says is no longer so; ``spoken_values``: its values as another one may
    say them; ``cues``: 1 for each of ``CUES`` in it.
    """

    word_count: int
    content: tuple[str, ...]
    names: frozenset[str]
    people: frozenset[str]
    first_person: bool
    values: ValueSets
    negated: frozenset[str]
    negated_values: frozenset[str]
    spoken_values: frozenset[str]
    cues: tuple[float, ...]
    negations: int
    word_vectors: Floats
    word_weights: Floats
    vector: Floats
    mentions: tuple[ValueMention, ...]


def people_named(text: str) -> frozenset[str]:
    """The given names and the words for people ("sister") in a statement, by stem."""
    people = words_under("people")
    bare = (token.casefold().removesuffix("'s") for token in tokens_as_written(text.replace("’", "'")))
    return frozenset(
        SYNONYMS.get(word, word) for word in bare if word in people or gazetteer.is_given_name(word)
    )


@functools.lru_cache(maxsize=4096)
def features_of(text: str, embedder: OfflineEmbedder) -> StatementFeatures:
    """The features of one statement; about 0.3 ms."""
    import numpy as np

    text = _said.sub("", text[:LONGEST].replace("’", "'"))
    plain = " ".join(text.casefold().split())
    found = tokens_as_written(text)
    lowered = [token.casefold() for token in found]
    listed = change_words()
    values, value_words, spans = read_values(plain, lowered)
    content: list[str] = []
    content_words: list[str] = []
    stems: list[str] = []
    names, people = set(), set()
    for place, (token, word) in enumerate(zip(found, lowered, strict=True)):
        bare, stem = _strip_punctuation(word), _stem_to_synonym(word)
        stems.append(stem)
        if bare in listed["people"]:
            people.add(stem)
        if (
            word in value_words
            or len(bare) < 2
            or bare in FUNCTION_WORDS
            or bare in NEGATIONS
            or bare in listed["small"]
            or word in listed["self"]
        ):
            continue
        content.append(stem)
        content_words.append(bare)
        given = gazetteer.is_given_name(bare)
        if given:
            people.add(stem)
        if given or (place and token[0].isupper()) or not (bare.isalpha() and ordinary_words([bare])):
            names.add(stem)
    vectors = (
        np.stack([_word_vector(embedder, word) for word in content_words])
        if content_words
        else np.zeros((0, embedder.dims), np.float32)
    )
    return StatementFeatures(
        word_count=len(found),
        content=tuple(content),
        names=frozenset(names),
        people=frozenset(people),
        first_person=not listed["self"].isdisjoint(lowered),
        values=values,
        negated=frozenset(_negated_stems(lowered, stems)).intersection(content),
        negated_values=negated_values(plain),
        spoken_values=spoken_forms(values),
        cues=tuple(float(shape.search(plain) is not None) for shape in cue_patterns()),
        negations=sum(map(_is_negation, lowered)),
        word_vectors=vectors,
        word_weights=np.array([plain_weight(word) for word in content_words], np.float32),
        vector=embedder.embed([text])[0],
        mentions=_mentions_of(plain, spans, names, embedder),
    )


def _mentions_of(
    plain: str, spans: Sequence[tuple[str, str, int, int]], names: Iterable[str], embedder: OfflineEmbedder
) -> tuple[ValueMention, ...]:
    """The values and names of a statement, each with the content words next to it."""
    import numpy as np

    found = [(match[0], match.start(), match.end()) for match in word_shape.finditer(plain)]
    said = [(word, _stem_to_synonym(word), start, end) for word, start, end in found]
    named = set(names)
    spans = [*spans, *(("name", stem, start, end) for _, stem, start, end in said if stem in named)]
    mentions = []
    for kind, value, start, end in spans:
        content_near = [
            (word, stem, at)
            for word, stem, at, to in said
            if (to <= start or at >= end) and _is_content(word) and stem != value
        ]
        near = [one for one in content_near if one[2] < start][-_BEFORE:] + [
            one for one in content_near if one[2] >= end
        ][:_AFTER]
        after = next((stem for _, stem, at, _ in said if end <= at <= end + 2), "")
        rows = [_word_vector(embedder, _strip_punctuation(word)) for word, _, _ in near]
        total = np.sum(rows, axis=0) if rows else np.zeros(embedder.dims, np.float32)
        length = float((total @ total) ** 0.5)
        mentions.append(
            ValueMention(
                kind,
                value,
                after,
                frozenset(stem for _, stem, _ in near),
                total / length if length else total,
            )
        )
    return tuple(mentions[:_MOST_MENTIONS])


def _strip_punctuation(word: str) -> str:
    bare = _elided.sub("", word.casefold().removesuffix("'s"))
    return SYNONYMS.get(bare, bare)


@functools.lru_cache(maxsize=8192)
def _stem_to_synonym(word: str) -> str:
    bare = _strip_punctuation(word)
    stem = next(iter(index_words.text_stems(bare)), bare)
    return SYNONYMS.get(stem, stem)


def _is_content(word: str) -> bool:
    """Whether a word says something by itself and is not a value."""
    bare, listed = _strip_punctuation(word), change_words()
    return not (
        len(bare) < 2
        or bare[0].isdigit()
        or bare in FUNCTION_WORDS
        or bare in NEGATIONS
        or bare in NUMBER_WORDS
        or bare in listed["small"]
        or word in listed["self"]
        or bare in day_names()
        or bare in month_names()
    )


def _is_negation(word: str) -> bool:
    return word in NEGATIONS or word in ENDINGS or word.endswith("n't") or word in change_words()["not"]


def _negated_stems(lowered: Sequence[str], stems: Sequence[str]) -> Iterable[str]:
    """Stems of what the statement denies or says has ended."""
    listed = change_words()
    for place, word in enumerate(lowered):
        if word in listed["takes back"] or word in NEGATIONS or word.endswith("n't"):
            yield from stems[place + 1 : place + 1 + _NEAR]
        if word in listed["ends"]:
            yield from stems[max(0, place - 3) : place]


@functools.lru_cache(maxsize=8192)
def _word_vector(embedder: OfflineEmbedder, word: str) -> Floats:
    row: Floats = embedder.embed([word])[0]
    return row
