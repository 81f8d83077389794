"""Enrichment reads again, with a model, what the rules found few names in: newest first, once, fifty a night."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from memtui import Memory
from memtui.engine.errors import DegradedError
from memtui.engine.models.ner import NameSpan, providers, spacy_names
from memtui.engine.records import LlmOptions, Options

from endpoint import Endpoint, Exchange, completion

OPTIONS = Options(background=False, embedder="off")


@pytest.fixture
def memory(place: Path) -> Iterator[Memory]:
    with Memory.open(place, options=OPTIONS) as memory:
        yield memory


@pytest.fixture
def no_spacy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spacy_names, "reason_unavailable", lambda: "spaCy is not installed")


@pytest.fixture
def spacy_says(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """As if spaCy were here and knew the harbour as an organisation; the list is of the texts it was given."""
    read: list[str] = []

    def find(texts: Sequence[str]) -> list[list[NameSpan]]:
        read.extend(texts)
        return [
            [
                NameSpan(
                    text="harbour",
                    start=at,
                    end=at + 7,
                    type="organization",
                    confidence=0.75,
                    provider="spacy",
                    name="Harbour",
                )
            ]
            if (at := text.find("harbour")) >= 0
            else []
            for text in texts
        ]

    monkeypatch.setattr(spacy_names, "reason_unavailable", lambda: "")
    monkeypatch.setattr(spacy_names, "find_names", find)
    return read


def names(memory: Memory, id: str) -> dict[str, str]:
    return {entity.canonical_name: entity.type for entity in memory.view.entities_of(id)}


@pytest.mark.usefixtures("no_spacy")
async def test_without_a_model_it_is_skipped_and_says_so(memory: Memory) -> None:
    fact = memory.remember("works at the harbour")
    assert not memory.models.accurate_ner_available
    run = memory.jobs.run_now("enrichment")
    assert run.state == "done"
    assert run.report is not None
    assert run.report.skipped == "spaCy is not installed, and no language model is configured"
    assert [waiting.id for waiting in memory.models.memories_for_enrichment()] == [fact.id]
    with pytest.raises(DegradedError, match="not installed"):
        await memory.models.enrich(fact.id)


def test_the_newest_come_first_each_once_and_fifty_a_run(memory: Memory, spacy_says: list[str]) -> None:
    for number in range(60):
        memory.record_turn("s", "user", f"turn {number} at the harbour", 1_700_000_000 + number)
    assert memory.models.accurate_ner_available
    run = memory.jobs.run_now("enrichment")
    assert run.report is not None
    assert run.report.counts == {"memories": 50, "links": 50}
    assert spacy_says[0] == "turn 59 at the harbour"
    assert len(memory.models.memories_for_enrichment()) == 10
    assert memory.jobs.run_now("enrichment").report.counts["memories"] == 10  # type: ignore[union-attr]
    assert memory.jobs.run_now("enrichment").report.counts["memories"] == 0  # type: ignore[union-attr]
    assert len(spacy_says) == 60
    assert memory.files.check(deep=True).ok


@pytest.mark.usefixtures("spacy_says")
async def test_it_adds_links_and_no_history(memory: Memory) -> None:
    fact = memory.remember("Ada works at the harbour")
    operations = memory.view.count_operations()
    assert await memory.models.enrich(fact.id) == 1
    assert names(memory, fact.id) == {"Ada": "person", "Harbour": "organization"}
    assert memory.view.count_operations() == operations
    assert await memory.models.enrich(fact.id) == 0


@pytest.mark.usefixtures("spacy_says")
async def test_what_it_added_can_be_told_later(memory: Memory) -> None:
    fact = memory.remember("Ada works at the harbour")
    assert memory.view.enrichment_of(fact.id) is None
    memory.models.index_pending()
    await memory.models.enrich(fact.id)
    told = memory.view.enrichment_of(fact.id)
    assert told is not None
    assert [(entity.canonical_name, entity.type) for entity in told.added] == [("Harbour", "organization")]
    await memory.models.enrich(fact.id)
    again = memory.view.enrichment_of(fact.id)
    assert again is not None
    assert again.added == told.added
    assert again.at >= told.at
    assert memory.files.check(deep=True).ok
    with memory._core.connections.write() as connection:
        connection.execute("UPDATE memories SET content = 'Ada rests' WHERE rid = ?", (fact.rid,))
    assert memory.view.enrichment_of(fact.id) is None


def test_the_strategy_of_the_night_is_a_setting(place: Path, spacy_says: list[str]) -> None:
    options = Options(background=False, embedder="off", strategies={"mine": ("regex",)}, enrichment="mine")
    with Memory.open(place, options=options) as memory:
        memory.remember("works at the harbour")
        assert not memory.models.accurate_ner_available
        run = memory.jobs.run_now("enrichment")
        assert run.report is not None
        assert run.report.skipped == "the strategy mine has rules only"
        assert spacy_says == []


def test_strategies_are_compared_without_writing(memory: Memory, spacy_says: list[str]) -> None:
    memory.remember("Ada works at the harbour")
    operations = memory.view.count_operations()
    reports = {report.strategy: report for report in memory.models.compare_strategies()}
    assert {name: report.spans for name, report in reports.items()} == {"fast": 1, "local": 2, "accurate": 2}
    assert reports["accurate"].providers[-1].why == "no language model is configured"
    assert set(spacy_says) == {"Ada works at the harbour"}
    assert memory.view.count_operations() == operations
    assert len(memory.models.memories_for_enrichment()) == 1


@pytest.mark.usefixtures("spacy_says")
def test_what_has_many_names_or_is_in_the_trash_is_left_alone(memory: Memory) -> None:
    memory.remember("Ada and Grace met Alan at ada@example.org near #apollo")
    gone = memory.remember("nothing at the harbour")
    memory.forget(gone.id)
    assert memory.models.memories_for_enrichment() == []
    assert memory.models.memories_for_enrichment(max_entities=9) != []
    assert memory.models.memories_for_enrichment(("episode",), max_entities=9) == []


@pytest.mark.usefixtures("spacy_says")
def test_a_dry_run_reads_nothing(memory: Memory, spacy_says: list[str]) -> None:
    fact = memory.remember("works at the harbour")
    run = memory.jobs.run_now("enrichment", dry_run=True)
    assert run.report is not None
    assert (run.report.summary, run.report.ids) == ("would read 1 memory again", (fact.id,))
    assert spacy_says == []


@pytest.mark.usefixtures("spacy_says")
async def test_a_text_that_changed_is_read_again(memory: Memory) -> None:
    turn = memory.record_turn("s", "user", "at the harbour")
    await memory.models.enrich(turn.id)
    assert memory.models.memories_for_enrichment() == []
    with memory._core.connections.write() as connection:
        connection.execute("UPDATE memories SET content = 'in the harbour' WHERE rid = ?", (turn.rid,))
    assert [waiting.id for waiting in memory.models.memories_for_enrichment()] == [turn.id]


@pytest.mark.usefixtures("spacy_says")
def test_cancelling_leaves_the_rest_for_another_time(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(30):
        memory.record_turn("s", "user", f"turn {number} at the harbour")
    real = spacy_names.find_names

    def find(texts: Sequence[str]) -> list[list[NameSpan]]:
        memory.jobs.cancel()
        return real(texts)

    monkeypatch.setattr(spacy_names, "find_names", find)
    run = memory.jobs.run_now("enrichment")
    assert run.state == "cancelled"
    assert run.report is not None
    assert run.report.counts["memories"] == 10
    assert len(memory.models.memories_for_enrichment()) == 20


def test_names_of_a_model_must_stand_in_the_text() -> None:
    texts = ["Joanna walks the Camino with Jo", "nothing here"]
    answer = {
        "names": [
            {"n": 1, "name": "Joanna", "type": "person"}, {"n": 1, "name": "Jo", "type": "person"},
            {"n": 1, "name": "Santiago", "type": "location"}, {"n": 2, "name": "Camino", "type": "location"},
            {"n": 9, "name": "Camino", "type": "location"}, {"n": 1, "name": "Camino", "type": "footpath"},
        ]
    }  # fmt: skip
    first, second = providers.read_reply(answer, texts)
    assert [(span.text, span.start, span.type) for span in first] == [
        ("Joanna", 0, "person"), ("Jo", 29, "person"), ("Camino", 17, "other"),
    ]  # fmt: skip
    assert second == []
    with pytest.raises(DegradedError):
        providers.read_reply({"names": "Joanna"}, texts)


def test_a_note_copied_whole_is_no_name() -> None:
    texts = ["Nora sails with Ada on Sundays.", "Museum of Modern Art"]
    copied = {"names": [{"n": 1, "name": "Nora sails with Ada on Sundays", "type": "person"}]}
    assert providers.read_reply(copied, texts) == [[], []]
    words = {"names": [{"n": 1, "name": name, "type": "person"} for name in ("Nora", "Ada")]}
    assert [span.text for span in providers.read_reply(words, texts)[0]] == ["Nora", "Ada"]


@pytest.mark.usefixtures("no_spacy")
async def test_a_language_model_is_told_no_secrets_and_may_find_names(place: Path) -> None:
    async def behave(exchange: Exchange) -> None:
        notes: list[Any] = exchange.prompt.splitlines()[1:-1]
        found = [{"n": number, "name": "harbour", "type": "location"} for number in range(1, len(notes) + 1)]
        await exchange.reply(completion({"names": found}))

    async with Endpoint(behave) as endpoint:
        options = Options(
            background=False, embedder="off", llm=LlmOptions(base_url=endpoint.url, model="tiny", timeout=60)
        )
        with Memory.open(place, options=options) as memory:
            turn = memory.record_turn("s", "user", "we met at the harbour")
            secret = memory.record_turn("s", "user", "the harbour key is sk-proj-" + "a1B2c3D4e5F6g7H8" * 3)
            assert await memory.models.enrich(turn.id) == 1
            assert names(memory, turn.id) == {"harbour": "location"}
            await memory.models.enrich(secret.id)
            assert len(endpoint.requests) == 1
            assert memory.models.memories_for_enrichment() == []


def test_what_spacy_found_stays_when_the_language_model_fails(place: Path, spacy_says: list[str]) -> None:
    options = Options(
        background=False, embedder="off", enrichment="accurate",
        llm=LlmOptions(base_url="http://127.0.0.1:9/v1", model="tiny", timeout=5),
    )  # fmt: skip
    with Memory.open(place, options=options) as memory:
        turn = memory.record_turn("s", "user", "we met at the harbour")
        run = memory.jobs.run_now("enrichment")
        assert names(memory, turn.id) == {"Harbour": "organization"}
        assert run.report is not None
        assert run.report.counts["links"] == 1
        assert [note.partition(":")[0] for note in run.report.notes] == ["llm was left out"]
