"""``memtui embed``: what a change of the embedding model takes, and doing it."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from cli_kit import Cli, Program
from memtui import Memory
from memtui.engine.models import minilm
from memtui.engine.models.embedders import OfflineEmbedder, QuestionWords
from memtui.engine.records import Options

from endpoint import Endpoint, Exchange, embed

if TYPE_CHECKING:
    from memtui.engine.models.vectors import FloatMatrix


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint(embed).in_thread() as endpoint:
        yield endpoint


@pytest.fixture
def held(home: Path, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A memory with the packaged model's vectors, and settings that want an endpoint's."""
    place = home / "memory.db"
    with Memory.open(place, options=Options(background=False)) as memory:
        for number in range(150):
            memory.record_turn("s", "user", f"Ada has read {number} books about the sea")
        memory.models.index_pending()
    monkeypatch.setenv("MEMTUI_EMBEDDER_KIND", "endpoint")
    monkeypatch.setenv("MEMTUI_EMBEDDER_BASE_URL", endpoint.url)
    monkeypatch.setenv("MEMTUI_EMBEDDER_MODEL", "tiny")
    monkeypatch.setenv("MEMTUI_EMBEDDER_DIMENSIONS", "32")
    monkeypatch.setenv("MEMTUI_EMBEDDER_KEY_ENV", "MEMTUI_TEST_NO_KEY")
    return place


def sent(endpoint: Endpoint) -> list[str]:
    return [text for one in endpoint.requests for text in one.texts if "books" in text]


@pytest.mark.usefixtures("held")
def test_the_plan_tells_everything_and_sends_nothing(cli: Cli, endpoint: Endpoint) -> None:
    result = cli("embed", "--plan")
    assert result.code == 0
    for part in (
        "wordllama",
        "tiny@127.0.0.1, 32 dimensions",
        "150",
        "characters",
        "tokens",
        "kB",
        endpoint.url,
    ):
        assert part in result.out, part
    plan = cli("embed", "--plan", "--json").json["plan"]
    assert (plan["texts"], plan["done"], plan["sends_to"]) == (150, 0, endpoint.url)
    assert sent(endpoint) == []


@pytest.mark.usefixtures("held")
def test_nothing_leaves_the_machine_unasked(cli: Cli, endpoint: Endpoint) -> None:
    result = cli("embed")
    assert result.code == 2
    assert "--yes" in result.err and endpoint.url in result.err
    assert cli("embed", "--json").code == 2
    cli("search", "books")
    assert sent(endpoint) == []


@pytest.mark.usefixtures("held")
def test_it_goes_over_and_then_has_nothing_to_do(cli: Cli, endpoint: Endpoint) -> None:
    assert "to embed anew" in cli("doctor").out
    done = cli("embed", "--yes")
    assert done.code == 0
    assert "Embedded 150 texts" in done.out
    assert sorted(sent(endpoint)) == sorted(f"Ada has read {n} books about the sea" for n in range(150))
    again = cli("embed", "--yes")
    assert (again.code, "already" in again.out) == (0, True)
    assert cli("check", "--deep").code == 0
    found = cli("search", "7 books", "--json").json
    assert not [note for note in found["notes"] if "without vectors" in note]
    assert "to embed anew" not in cli("doctor").out


@pytest.mark.usefixtures("held")
def test_back_to_the_packaged_model_needs_no_consent(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cli("embed", "--yes").code == 0
    monkeypatch.setenv("MEMTUI_EMBEDDER_KIND", "offline")
    search = cli("search", "books", "--json").json
    assert any("another model (tiny@127.0.0.1)" in note for note in search["notes"]), (
        "nothing goes to a network"
    )
    assert cli("embed").code == 0
    assert cli("check", "--deep").code == 0


class Words(OfflineEmbedder):
    """Stands in for MiniLM."""

    model_id = "words"
    word_vector_dims = 64

    def embed_words(self, texts: Sequence[str]) -> tuple[FloatMatrix, list[bytes]]:
        return self.embed(texts), [bytes([1] * 64)] * len(texts)

    def question_words(self, text: str, weight: Callable[[str], float]) -> QuestionWords:
        return QuestionWords(np.ones((1, 64), np.int8), (1.0,), (text,))


def test_the_ranking_that_the_model_makes_possible_is_offered_and_chosen(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(minilm, "MiniLmEmbedder", Words)
    cli("remember", "Ada keeps bees")
    assert cli("embed", "--late").code == 2, "the packaged model has none"
    monkeypatch.setenv("MEMTUI_EMBEDDER_KIND", "minilm")
    monkeypatch.setenv("MEMTUI_CONFIG", str(home / "config.toml"))
    assert "late" in cli("embed", "--plan").out
    assert '"memtui embed --late" chooses it' in cli("embed").err
    assert "finds more with this model" in cli("doctor").out
    assert cli("search", "bees", "--json").json["profile"]["name"] == "default"
    with monkeypatch.context() as fixed:
        fixed.setenv("MEMTUI_SEARCH_PROFILE", "default")
        assert "MEMTUI_SEARCH_PROFILE in the environment" in cli("embed", "--late").err
    assert 'rank by "late" now' in cli("embed", "--late").err
    assert cli("search", "bees", "--json").json["profile"]["name"] == "late"
    monkeypatch.setenv("MEMTUI_EMBEDDER_KIND", "offline")
    assert "cannot work with this model" in (gone := cli("embed")).out
    assert "ranked by default" in gone.err and "ranked by default" in cli("doctor").out
    assert "ranked by default" in cli("search", "bees").err


def test_settings_that_make_no_sense_are_explained(
    cli: Cli, held: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMTUI_EMBEDDER_BASE_URL", "http://api.example.org/v1")
    result = cli("embed", "--plan")
    assert (result.code, "without encryption" in result.err) == (3, True)
    assert cli("search", "books", "--json").code == 0, "the vectors of before go on serving"
    monkeypatch.setenv("MEMTUI_EMBEDDER_KIND", "off")
    assert cli("embed").code == 3
    for name, value in (
        ("DIMENSIONS", "0"),
        ("DIMENSIONS", "100000"),
        ("KIND", "openai"),
        ("MODEL", "x" * 300),
    ):
        with monkeypatch.context() as patch:
            patch.setenv(f"MEMTUI_EMBEDDER_{name}", value)
            assert cli("embed", "--plan").code == 3, (name, value)


@pytest.mark.parametrize("kill", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_was_ended_goes_on_where_it_stopped(
    cli: Cli, program: Program, held: Path, endpoint: Endpoint, kill: int
) -> None:
    async def third_waits(exchange: Exchange) -> None:
        if len(sent(endpoint)) > 128:
            process.send_signal(kill)
            await until_it_ends()
        await embed(exchange)

    async def until_it_ends() -> None:
        import asyncio

        while process.poll() is None:
            await asyncio.sleep(0.01)

    endpoint.behave = third_waits
    process = program("embed", "--yes", "--json")
    code = process.wait(120)
    assert code == (130 if kill == signal.SIGINT else -signal.SIGKILL)
    endpoint.behave = embed
    before = sent(endpoint)
    assert json.loads(cli("embed", "--plan", "--json").out)["plan"]["done"] >= 128
    assert cli("search", "books", "--json").json["hits"]
    assert cli("embed", "--yes").code == 0
    assert len(sent(endpoint)) - len(before) <= 22, "what was done is not sent again"
    assert cli("check", "--deep").code == 0


def test_what_the_texts_will_cost_is_told_where_a_price_is_set(
    cli: Cli, held: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "for" not in cli("embed", "--plan").out.split("to read")[1].splitlines()[0]
    monkeypatch.setenv("MEMTUI_EMBEDDER_PRICE", "1000000")
    plan = cli("embed", "--plan", "--json").json["plan"]
    assert f"about {plan['tokens']:,} tokens for about {plan['tokens']:,}.00" in cli("embed", "--plan").out
    monkeypatch.setenv("MEMTUI_EMBEDDER_PRICE", "0.02")
    assert "for less than 0.01" in cli("embed", "--plan").out
