"""How well names are found, on labelled notes of many languages; a third of them no rule was tuned on."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
from memtui.engine.models.ner import NameRecogniser


@pytest.fixture(scope="module")
def ner_eval() -> ModuleType:
    place = Path(__file__).parents[2] / "benchmarks" / "ner_eval.py"
    spec = importlib.util.spec_from_file_location("ner_eval", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["ner_eval"] = module
    spec.loader.exec_module(module)
    return module


def test_the_notes_are_many_and_of_many_scripts(ner_eval: ModuleType) -> None:
    tuned, held = ner_eval.notes("tuned"), ner_eval.notes("held")
    assert len(tuned) + len(held) >= 90
    assert len(held) >= 30
    whole = "".join(text for text, _ in tuned + held)
    for letter in "aжλ王さ김عम":
        assert letter in whole
    for text, names in tuned + held:
        assert all(text[name.start : name.end].strip() for name in names)


@pytest.mark.parametrize("part", ["tuned", "held"])
def test_rules_find_nine_names_of_ten(ner_eval: ModuleType, part: str) -> None:
    notes = ner_eval.notes(part)
    found, _ = ner_eval.read(NameRecogniser(), notes, "fast")
    score = ner_eval.score(notes, found)
    assert score.recall_of_names >= 0.9
    assert score.f1 >= 0.8
    assert score.typed_f1 >= 0.55


@pytest.mark.parametrize("part", ["tuned", "held"])
def test_spacy_and_rules_find_names_and_what_they_name(ner_eval: ModuleType, part: str) -> None:
    notes = ner_eval.notes(part)
    found, _ = ner_eval.read(NameRecogniser(), notes, "accurate")
    score = ner_eval.score(notes, found)
    assert score.f1 >= 0.8
    assert score.typed_f1 >= 0.55


@pytest.mark.parametrize("strategy", ["fast", "local"])
def test_names_get_their_type_in_notes_that_nobody_tuned_on(ner_eval: ModuleType, strategy: str) -> None:
    file = ner_eval.OTHERS["names_n, unseen"]
    notes = [*ner_eval.notes("tuned", file), *ner_eval.notes("held", file)]
    found, _ = ner_eval.read(NameRecogniser(), notes, strategy)
    score = ner_eval.score(notes, found)
    assert score.f1 >= 0.68  # 0.63 by rules alone
    assert score.right_types >= 0.75  # 0.69 by rules alone
