"""Whatever an endpoint for vectors does: nothing wrong is believed, nothing is lost, and search goes on by words.

Must fail on: taking what comes back as it is.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from memtui import Memory
from memtui.engine.errors import DegradedError, InputError
from memtui.engine.models import endpoint_embedder
from memtui.engine.models.endpoint_embedder import EndpointEmbedder
from memtui.engine.records import EmbeddingOptions, Options
from memtui.present.reembedding import reembed_result

from endpoint import Behaviour, Endpoint, Exchange, embed, embeddings, numbers_of

pytestmark = pytest.mark.llmfaults

DIMS = 32
TEXTS = ["Ada likes the sea", "Grace builds compilers", "  ", "the sea is cold"]


# Those that never answer are given up soon; whoever answers may take as long as a slow machine needs.
SOON, LATE = 0.8, 60.0


def options(url: str, **changed: Any) -> EmbeddingOptions:
    given = {"model": "tiny", "key_env": "MEMTUI_TEST_NO_KEY", "dimensions": DIMS, "timeout": LATE} | changed
    return EmbeddingOptions(base_url=url, **given)


def changed(place: int, numbers: Any) -> Behaviour:
    """The vector at a place is another one."""

    async def behave(exchange: Exchange) -> None:
        body = json.loads(embeddings(exchange.texts, DIMS))
        body["data"][place]["embedding"] = numbers
        await exchange.reply(json.dumps(body))

    return behave


def raw(body: str, status: str = "200 OK", **how: Any) -> Behaviour:
    return lambda exchange: exchange.reply(body, status=status, **how)


async def too_few(exchange: Exchange) -> None:
    await exchange.reply(embeddings(exchange.texts[:-1], DIMS))


async def too_many(exchange: Exchange) -> None:
    await exchange.reply(embeddings([*exchange.texts, "more"], DIMS))


async def one_twice(exchange: Exchange) -> None:
    body = json.loads(embeddings(exchange.texts, DIMS))
    body["data"][1]["index"] = 0
    await exchange.reply(json.dumps(body))


async def ignores_dimensions(exchange: Exchange) -> None:
    await exchange.reply(embeddings(exchange.texts, 1536))


async def drip(exchange: Exchange) -> None:
    await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9000\r\n\r\n")
    while True:
        await exchange.send(b" ")
        await asyncio.sleep(0.02)


async def stall(exchange: Exchange) -> None:
    await asyncio.sleep(600)


async def reset(exchange: Exchange) -> None:
    exchange.writer.transport.abort()


async def huge(exchange: Exchange) -> None:
    await exchange.send(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 50000000\r\n\r\n"
    )
    for _ in range(50):
        await exchange.send(b" " * 1_000_000)


async def redirected(exchange: Exchange) -> None:
    await exchange.reply("", status="307 Elsewhere", headers="Location: http://127.0.0.1:9/v1/embeddings\r\n")


FAULTS: dict[str, tuple[Behaviour, str]] = {
    "wrong dimensions": (ignores_dimensions, "1,536 dimensions"),
    "NaN": (changed(1, [float("nan")] * DIMS), "no numbers"),
    "infinity": (changed(1, [float("inf")] * DIMS), "no numbers"),
    "zero": (changed(1, [0.0] * DIMS), "empty"),
    "beyond a float": (changed(1, [10**400] * DIMS), ""),
    "words": (changed(1, ["a"] * DIMS), "no usable vectors"),
    "no list": (changed(1, "AAAA"), "no usable vectors"),
    "nested": (changed(1, [[1.0] * DIMS]), "no usable vectors"),
    "too few": (too_few, "one vector for each"),
    "too many": (too_many, "one vector for each"),
    "one twice": (one_twice, "one vector for each"),
    "no data": (raw("{}"), ""),
    "null": (raw("null"), ""),
    "a list": (raw("[]"), ""),
    "not JSON": (raw("{"), ""),
    "deep": (raw("[" * 100_000), ""),
    "HTML": (raw("<html>login</html>", kind="text/html"), ""),
    "401": (raw('{"error": {"message": "sk-mine"}}', "401 No"), "refused the key"),
    "404": (raw("{}", "404 No"), "does not know"),
    "429": (raw("{}", "429 No"), "too many requests"),
    "500": (raw("{}", "500 No"), "out of order"),
    "400": (raw('{"error": {"message": "no"}}', "400 No"), "refused the request"),
    "drip": (drip, "did not answer within"),
    "stall": (stall, "did not answer within"),
    "reset": (reset, ""),
    "huge": (huge, "sent more than"),
    "redirect": (redirected, "points to another"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_reply_is_refused_and_explained(fault: str) -> None:
    behave, words = FAULTS[fault]
    with Endpoint(behave).in_thread() as endpoint:
        timeout = SOON if behave in (drip, stall) else LATE
        started = time.monotonic()
        with pytest.raises(DegradedError) as caught:
            EndpointEmbedder(options(endpoint.url, timeout=timeout)).embed(TEXTS)
    assert words in caught.value.message
    assert caught.value.hint
    assert "sk-mine" not in f"{caught.value.message}{caught.value.hint}"
    assert time.monotonic() - started < 30


def test_the_vectors_are_those_of_the_texts_whatever_the_order_of_the_reply() -> None:
    async def backwards(exchange: Exchange) -> None:
        body = json.loads(embeddings(exchange.texts, DIMS))
        body["data"].reverse()
        await exchange.reply(json.dumps(body))

    with Endpoint(backwards).in_thread() as endpoint:
        rows = EndpointEmbedder(options(endpoint.url)).embed(TEXTS)
    assert rows.shape == (4, DIMS) and rows.dtype == np.float32
    for place, text in enumerate(TEXTS):
        expected = np.array(numbers_of(text, DIMS))
        assert np.allclose(rows[place], expected / max(np.linalg.norm(expected), 1))
    assert endpoint.requests[0].texts == [text for text in TEXTS if text.strip()]
    assert endpoint.requests[0].body["dimensions"] == DIMS


def test_huge_and_tiny_numbers_keep_their_direction() -> None:
    for size in (1e300, 1e-300):
        with Endpoint(changed(0, [size, size] + [0.0] * (DIMS - 2))).in_thread() as endpoint:
            row = EndpointEmbedder(options(endpoint.url)).embed(["a"])[0]
        assert np.allclose(row[:2], 0.5**0.5)


def test_one_that_will_not_be_asked_for_dimensions_is_not_asked() -> None:
    async def picky(exchange: Exchange) -> None:
        if "dimensions" in exchange.body:
            await exchange.reply('{"error": {"message": "dimensions is not supported"}}', status="400 No")
        else:
            await exchange.reply(embeddings(exchange.texts, DIMS))

    with Endpoint(picky).in_thread() as endpoint:
        assert EndpointEmbedder(options(endpoint.url)).embed(["a b"]).any()


def test_a_text_that_is_too_long_is_judged_by_its_start() -> None:
    async def small(exchange: Exchange) -> None:
        if max(map(len, exchange.texts)) > 2_000:
            await exchange.reply('{"error": {"message": "maximum context length"}}', status="400 No")
        else:
            await embed(exchange)

    with Endpoint(small).in_thread() as endpoint:
        assert EndpointEmbedder(options(endpoint.url)).embed(["sea " * 50_000, "a"]).any(axis=1).all()
    assert [max(map(len, one.texts)) for one in endpoint.requests] == [8_000, 2_000]


def test_many_texts_go_in_several_calls() -> None:
    with Endpoint(embed).in_thread() as endpoint:
        rows = EndpointEmbedder(options(endpoint.url)).embed([f"word{n}" for n in range(150)])
    assert rows.any(axis=1).all()
    assert [len(one.texts) for one in endpoint.requests] == [64, 64, 22]


def test_an_unusable_address_is_an_error_at_once() -> None:
    for url in (
        "http://api.example.org/v1",
        "ftp://localhost",
        "",
        "https://user:sk-mine@api.example.org/v1",
    ):
        with pytest.raises(InputError) as caught:
            EndpointEmbedder(options(url))
        assert "sk-mine" not in str(caught.value)
    remote = EndpointEmbedder(options("https://api.example.org/v1"))
    assert "no key" in str(remote.available())
    with pytest.raises(DegradedError, match="no key"):
        remote.embed(["a"])


async def test_it_works_where_a_loop_runs() -> None:
    async with Endpoint(embed) as endpoint:
        embedder = EndpointEmbedder(options(endpoint.url))
        assert (await asyncio.to_thread(embedder.embed, ["a"])).any()
    with Endpoint(embed).in_thread() as endpoint:
        assert EndpointEmbedder(options(endpoint.url)).embed(["a"]).any()


def test_a_key_is_sent_and_headers_of_the_environment_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-elsewhere")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("MEMTUI_TEST_KEY", "sk-mine")
    with Endpoint(embed).in_thread() as endpoint:
        EndpointEmbedder(options(endpoint.url, key_env="MEMTUI_TEST_KEY")).embed(["a"])
    head = endpoint.requests[0].head.casefold()
    assert "elsewhere" not in head and "\nauthorization: bearer sk-mine\r" in head


# -- questions


@pytest.fixture
def quick(no_haste: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint_embedder, "QUERY_SECONDS", SOON)


def test_nobody_there_is_said_in_so_many_words() -> None:
    with pytest.raises(DegradedError, match=r"cannot be reached \(ConnectionRefusedError\)"):
        EndpointEmbedder(options("http://127.0.0.1:9/v1")).embed(["a"])


def test_a_question_is_asked_once_and_remembered() -> None:
    with Endpoint(embed).in_thread() as endpoint:
        embedder = EndpointEmbedder(options(endpoint.url))
        first = embedder.embed_query("where is the sea?")
        assert (embedder.embed_query("where is the sea?") == first).all()
    assert len(endpoint.requests) == 1


def test_after_a_failure_questions_wait_a_while(quick: None, monkeypatch: pytest.MonkeyPatch) -> None:
    with Endpoint(stall).in_thread() as endpoint:
        embedder = EndpointEmbedder(options(endpoint.url))
        for _ in range(3):
            with pytest.raises(DegradedError, match="did not answer within"):
                embedder.embed_query("where is the sea?")
        assert len(endpoint.requests) <= 1
        endpoint.behave = embed
        monkeypatch.setattr(endpoint_embedder, "QUERY_SECONDS", LATE)
        monkeypatch.setattr(embedder, "_pause_until", 0.0)
        assert embedder.embed_query("where is the sea?").any()


def test_a_question_with_a_secret_is_not_sent() -> None:
    with Endpoint(embed).in_thread() as endpoint:
        embedder = EndpointEmbedder(options(endpoint.url))
        with pytest.raises(DegradedError, match="secret"):
            embedder.embed_query("what is ghp_" + "a1B2" * 9 + " for?")
    assert endpoint.requests == []


# -- a whole memory


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint(embed).in_thread() as endpoint:
        yield endpoint


def opened(place: Path, url: str, **changed: Any) -> Memory:
    given = {"embedder": "endpoint", "endpoint": options(url), "background": False} | changed
    return Memory.open(place, options=Options(**given))


def test_nothing_is_sent_before_the_person_was_asked(place: Path, endpoint: Endpoint) -> None:
    with opened(place, endpoint.url) as memory:
        memory.remember("Ada likes the sea")
        assert memory.models.index_pending() == 0
        memory.models.reembedding.plan()
        assert endpoint.requests and not any("Ada" in text for one in endpoint.requests for text in one.texts)
        result = memory.search("the sea")
        assert result.hits
        assert memory.stats().vectors_wanted.startswith("tiny@")
        assert memory.models.reembedding.run().switched
        assert memory.stats().vectors_wanted == memory.stats().vectors_problem == ""
        memory.remember("Grace sails on cold water")
        assert memory.models.index_pending() == 1
        assert memory.search("cold water").hits[0].retrievers["vector"].score > 0.5
        assert memory.files.check(deep=True).ok


def test_secrets_are_never_sent(place: Path, endpoint: Endpoint) -> None:
    secret = "ghp_" + "a1B2" * 9
    with opened(place, endpoint.url, embedder="offline") as memory:
        memory.record_turn("s", "user", f"My token is {secret}")
        memory.record_turn("s", "user", "I like the sea")
        fact = memory.remember("Ada likes the sea")
        memory.models.index_pending()
        memory.correct(fact.id, f"Ada's token is {secret}")
    with opened(place, endpoint.url) as memory:
        memory.models.reembedding.run()
        memory.record_turn("s", "user", f"Again: {secret}")
        memory.models.index_pending()
        memory.search(f"what about {secret}?")
        assert memory.files.check(deep=True).ok
    sent = [text for one in endpoint.requests for text in one.texts]
    assert "I like the sea" in sent and not any(secret in text for text in sent)


@pytest.mark.parametrize("fault", ["stall", "401", "NaN", "wrong dimensions", "reset", "HTML"])
def test_search_answers_by_words_and_says_so(
    place: Path, endpoint: Endpoint, fault: str, quick: None
) -> None:
    where = options(endpoint.url, timeout=4.0 if fault == "stall" else LATE)
    with opened(place, endpoint.url, endpoint=where) as memory:
        memory.remember("Ada likes the sea")
        memory.models.reembedding.run()
        endpoint.behave = FAULTS[fault][0] if fault != "NaN" else changed(0, [float("nan")] * DIMS)
        started = time.monotonic()
        result = memory.search("who likes the sea?")
        assert time.monotonic() - started < 30
        assert [hit.memory.content for hit in result.hits] == ["Ada likes the sea"]
        assert any(note.startswith("Searched without vectors: ") for note in result.notes), result.notes
        memory.remember("Grace likes the hills")
        assert memory.models.index_pending() == 0, "what cannot be embedded now waits"
        assert memory.stats().unembedded == 1
        assert "none yet" not in memory.stats().vectors
        endpoint.behave = embed
        assert memory.models.index_pending() == 1
        assert memory.files.check(deep=True).ok


def test_closing_does_not_wait_for_an_endpoint(place: Path, endpoint: Endpoint) -> None:
    memory = opened(place, endpoint.url, background=True, endpoint=options(endpoint.url, timeout=60.0))
    memory.models.reembedding.run()
    endpoint.behave = stall
    before = len(endpoint.requests)
    memory.remember("Ada likes the sea")
    waited = time.monotonic() + 60
    while len(endpoint.requests) == before and time.monotonic() < waited:
        time.sleep(0.02)
    assert len(endpoint.requests) > before
    started = time.monotonic()
    memory.close()
    assert time.monotonic() - started < 30


def test_a_text_that_is_refused_does_not_hold_up_the_others(place: Path, endpoint: Endpoint) -> None:
    async def squeamish(exchange: Exchange) -> None:
        if any("plague" in text for text in exchange.texts):
            await exchange.reply('{"error": {"message": "content policy"}}', status="400 No")
        else:
            await embed(exchange)

    with opened(place, endpoint.url, embedder="offline") as memory:
        for place_of in range(70):
            memory.remember(f"note {place_of} is of the {'plague' if place_of in (5, 66) else 'sea'}")
    endpoint.behave = squeamish
    with opened(place, endpoint.url) as memory:
        done = memory.models.reembedding.run()
        assert (done.switched, done.refused) == (True, 2)
        assert "2 texts have no vector" in reembed_result(done, "tiny")
        assert memory.stats().embedded == 68
        assert {hit.memory.content for hit in memory.search("plague").hits[:2]} == {
            "note 5 is of the plague", "note 66 is of the plague",
        }  # fmt: skip
        memory.remember("another plague")
        memory.remember("another sea")
        memory.models.index_pending()
        assert memory.stats().embedded == 69
        assert memory.files.check(deep=True).ok
    refused = sum(any("plague" in text for text in one.texts) for one in endpoint.requests)
    assert refused < 40, "halves, not one by one"


def test_words_and_names_answer_at_once_where_nobody_waits(place: Path, endpoint: Endpoint) -> None:
    with opened(place, endpoint.url) as memory:
        memory.remember("Ada likes the sea")
        memory.models.reembedding.run()
        asked = len(endpoint.requests)
        quick = memory.search("who likes the sea?", wait=False)
        assert len(endpoint.requests) == asked
        assert {retriever.retriever: retriever.state for retriever in quick.retrievers}["vector"] == "coming"
        assert [hit.memory.content for hit in quick.hits] == ["Ada likes the sea"]
        assert not quick.notes
        whole = memory.search("who likes the sea?")
        assert {retriever.retriever: retriever.state for retriever in whole.retrievers}[
            "vector"
        ] == "answered"
        again = memory.search("who likes the sea?", wait=False)
        assert (again.retrievers[1].state, again.hits) == ("answered", whole.hits)
        assert len(endpoint.requests) == asked + 1
