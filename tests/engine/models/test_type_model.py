"""What tells the type of a name: its sums, its lists, and how much a name by itself and its neighbours say."""

from __future__ import annotations

import math

import pytest
from memtui.engine.models.ner import name_lists, type_model
from memtui.engine.models.ner.names import name_candidates
from memtui.engine.models.ner.type_model import (
    CLASSES,
    SIZE,
    NameContext,
    context_features,
    hash_features,
    name_features,
)

TEXT = "Met Zoë Brandt-Okafor of Siemens AG in Köln, she drives a Skoda Fabia 1.4."


def test_six_numbers_in_one_integer_add_up_as_six_numbers_do() -> None:
    weights, scale, bias = type_model._load_model()
    for place in (one.to_model_input(TEXT) for one in name_candidates(TEXT)):
        plain, letters = name_features(TEXT[place.start : place.end])
        odds = list(bias)
        for kind in range(len(CLASSES)):
            for at in hash_features([*context_features(place), *plain]):
                odds[kind] += weights[at * len(CLASSES) + kind]
            odds[kind] += sum(weights[at * len(CLASSES) + kind] for at in letters) / math.sqrt(len(letters))
        worth = [math.exp(scale * one) for one in odds]
        expected = [one / sum(worth) for one in worth]
        assert type_model.type_probabilities(place) == pytest.approx(expected)
        assert sum(expected) == pytest.approx(1.0)


def test_a_name_of_many_letters_stays_within_its_bits() -> None:
    name = " ".join(["Pneumonoultramicroscopic" + "z" * 90] * 40)
    _, letters = name_features(name)
    assert len(letters) <= 255
    shares = type_model.type_probabilities(NameContext(name, 0, len(name), True, "other 0.60 1"))
    assert sum(shares) == pytest.approx(1.0)
    assert len(type_model.FILE.read_bytes()) == 8 * (1 + len(CLASSES)) + SIZE * len(CLASSES)


def test_the_lists_know_names_by_their_words() -> None:
    for name, bit in (
        ("olga", name_lists.GIVEN),
        ("okafor", name_lists.SURNAME),
        ("köln", name_lists.PLACE),
        ("new york", name_lists.PLACE),
        ("siemens", name_lists.ORGANISATION),
        ("skoda fabia", name_lists.THING),
        ("kitchen", name_lists.WORD),
        ("spotify", name_lists.BRAND),
    ):
        assert name_lists.lists_with_name(name) & bit, name
        assert 0 <= name_lists.name_group(name) < name_lists.GROUPS
    assert (name_lists.lists_with_name("zzqvx"), name_lists.name_group("zzqvx")) == (0, -1)
