"""Strategies: who is asked, in which order, what is kept, what is remembered, and what is told of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from memtui.engine.errors import DegradedError, InputError
from memtui.engine.models.budget import BudgetError
from memtui.engine.models.ner import NameRecogniser, NameSpan, providers, spacy_names
from memtui.engine.models.ner.recogniser import MOST_REMEMBERED
from memtui.engine.records import LlmOptions

LLM = LlmOptions(base_url="http://127.0.0.1:9/v1", model="tiny")


class Model:
    """As if spaCy and a language model were here: each takes words of a list for names."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.read: dict[str, list[str]] = {"spacy": [], "llm": []}
        self.words = {"spacy": ("harbour", "location", 0.75), "llm": ("old harbour", "organization", 0.9)}
        monkeypatch.setattr(spacy_names, "reason_unavailable", lambda: "")
        monkeypatch.setattr(spacy_names, "find_names", lambda texts: self.find("spacy", texts))

        async def ask(
            options: LlmOptions, texts: Sequence[str], spending: Any = None
        ) -> list[list[NameSpan]]:
            return self.find("llm", texts)

        monkeypatch.setattr(providers, "find_names_with_llm", ask)

    def find(self, provider: str, texts: Sequence[str]) -> list[list[NameSpan]]:
        self.read[provider] += texts
        word, type, confidence = self.words[provider]
        return [
            [
                NameSpan(text=word, start=at, end=at + len(word), type=type, confidence=confidence, provider=provider, name=word)
            ]
            if (at := text.find(word)) >= 0
            else []
            for text in texts
        ]  # fmt: skip


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Model:
    return Model(monkeypatch)


async def test_each_strategy_asks_its_providers_in_order(model: Model) -> None:
    recogniser = NameRecogniser({"mine": ("spacy",)}, LLM)
    texts = ["Ada sits at the old harbour, ada@example.org"]
    found = {}
    for name in recogniser.strategies:
        extraction = await recogniser.find_names(texts, name)
        found[name] = [span.text for span in extraction.spans[0]]
        assert [one.provider for one in extraction.report.providers] == list(recogniser.strategies[name])
        assert extraction.report.spans == len(found[name])
    assert found == {
        "fast": ["Ada", "ada@example.org"],
        "local": ["Ada", "harbour", "ada@example.org"],
        # Of "harbour" and "old harbour" the more confident one stays.
        "accurate": ["Ada", "old harbour", "ada@example.org"],
        "mine": ["harbour"],
    }


async def test_a_provider_that_is_not_there_is_passed_over_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spacy_names, "reason_unavailable", lambda: "spaCy is not installed")
    recogniser = NameRecogniser()
    extraction = await recogniser.find_names(["Ask Ada."], "accurate")
    assert [span.text for span in extraction.spans[0]] == ["Ada"]
    assert {one.provider: one.why for one in extraction.report.providers} == {
        "regex": "", "names": "", "spacy": "spaCy is not installed", "llm": "no language model is configured",
    }  # fmt: skip
    assert (
        recogniser.reason_unavailable("accurate")
        == "spaCy is not installed, and no language model is configured"
    )
    assert "rules only" in recogniser.reason_unavailable("fast")
    assert NameRecogniser(llm=LLM).reason_unavailable("accurate") == ""


async def test_models_are_asked_once_for_a_text_and_rules_each_time(model: Model) -> None:
    recogniser = NameRecogniser(llm=LLM)
    first = await recogniser.find_names(["the old harbour", "nothing", "nothing"], "accurate")
    again = await recogniser.find_names(["nothing", "the old harbour", "another"], "accurate")
    assert again.spans[1] == first.spans[0]
    assert model.read["spacy"] == model.read["llm"] == ["the old harbour", "nothing", "another"]
    reports = {one.provider: one for one in again.report.providers}
    assert (reports["llm"].texts, reports["llm"].remembered) == (3, 2)
    assert (reports["names"].texts, reports["names"].remembered) == (3, 0)


async def test_what_is_remembered_is_bounded(model: Model) -> None:
    recogniser = NameRecogniser()
    texts = [f"text {number}" for number in range(MOST_REMEMBERED + 5)]
    await recogniser.find_names(texts, "local")
    await recogniser.find_names(texts[-1:], "local")
    assert len(model.read["spacy"]) == len(texts)
    await recogniser.find_names(texts[:1], "local")
    assert len(model.read["spacy"]) == len(texts) + 1


async def test_what_is_private_does_not_leave_this_process(model: Model) -> None:
    recogniser = NameRecogniser(llm=LLM)
    found = await recogniser.find_names(["the old harbour", "my old harbour"], "accurate", private=[1])
    assert model.read["llm"] == ["the old harbour"]
    assert [span.text for span in found.spans[1]] == ["harbour"]
    assert [report.strategy for report in await recogniser.compare_strategies(["an old harbour"])] == [
        "fast",
        "local",
        "accurate",
    ]
    assert model.read["llm"] == ["the old harbour"]


async def test_compared_strategies_each_read_the_texts_for_themselves(model: Model) -> None:
    reports = await NameRecogniser().compare_strategies(["the old harbour", "another"])
    spacy = [one for report in reports for one in report.providers if one.provider == "spacy"]
    assert [(one.texts, one.remembered) for one in spacy] == [(2, 0), (2, 0)]


@pytest.mark.parametrize(
    ("name", "providers", "says"),
    [
        ("mine", ("regex", "spacey"), "'spacey'"),
        ("mine", (), "no provider"),
        ("mine", ("spacy", "spacy"), "twice"),
        ("fast", ("regex", "spacy"), "cannot use 'spacy'"),
    ],
)
def test_a_strategy_that_cannot_be_is_an_error(name: str, providers: tuple[str, ...], says: str) -> None:
    with pytest.raises(InputError, match=says):
        NameRecogniser({name: providers})


async def test_an_unknown_strategy_is_an_error_that_names_the_others() -> None:
    with pytest.raises(InputError, match="no strategy 'best'") as caught:
        await NameRecogniser().find_names(["x"], "best")
    assert "fast, local, accurate" in str(caught.value.hint)


def test_fast_may_be_made_smaller() -> None:
    small = NameRecogniser({"fast": ("regex",)})
    assert [span.text for span in small.find_names_by_rules("Ask Ada, ada@example.org")] == [
        "ada@example.org"
    ]


async def test_a_model_that_fails_takes_nobody_elses_names_away(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(options: LlmOptions, texts: Sequence[str], spending: Any = None) -> list[list[NameSpan]]:
        raise BudgetError("it would cost too much", "Raise llm.budget.")

    monkeypatch.setattr(providers, "find_names_with_llm", fail)
    extraction = await NameRecogniser(llm=LLM).find_names(["Ada sits at the harbour"], "accurate")
    assert [span.text for span in extraction.spans[0]] == ["Ada", "harbour"]
    failed = [one for one in extraction.report.providers if one.failed]
    assert [(one.provider, one.why) for one in failed] == [("llm", "it would cost too much")]


async def test_where_every_model_failed_the_error_is_told(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(texts: Sequence[str]) -> list[list[NameSpan]]:
        raise DegradedError("spaCy cannot be used", "")

    monkeypatch.setattr(spacy_names, "find_names", fail)
    with pytest.raises(DegradedError, match="spaCy cannot be used"):
        await NameRecogniser().find_names(["Ada sits at the harbour"], "local")
