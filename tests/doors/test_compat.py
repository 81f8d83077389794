"""The names of the original memory system: each takes what its description says, and gives it back in that shape."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from memtui import (
    DegradedError,
    FilterError,
    InputError,
    Memory,
    NotFoundError,
    Options,
)
from memtui.compat import MemoryExtension, MemoryRow, SessionCompleted
from memtui.guide import guide_page

from clock import Clock

DAY = 86_400
NOON = 1_772_625_600  # 2026-03-04T12:00Z
COLUMNS = set(MemoryRow.__annotations__)


@pytest.fixture(scope="module")
def clock() -> Clock:
    return Clock(NOON)


@pytest.fixture(scope="module")
def memory(clock: Clock) -> Iterator[MemoryExtension]:
    options = Options(background=False, embedder="off")
    with Memory.open(":memory:", actor="agent:coach", clock=clock, options=options) as opened:
        yield MemoryExtension(opened)


def _fact(memory: MemoryExtension, text: str) -> str:
    stored: str = memory.remember_fact(text)["memory"]["id"]
    return stored


def test_each_public_name_is_in_the_guide() -> None:
    text = guide_page("compat").text
    names = [name for name in vars(MemoryExtension) if not name.startswith("_")]
    assert [name for name in names if f"`{name}`" not in text] == []
    assert len(names) > 30


def test_open_and_close(tmp_path: Path) -> None:
    options = Options(background=False, embedder="off")
    with MemoryExtension.open(tmp_path, agent="coach", options=options) as opened:
        assert opened.memory.path == tmp_path / "memory.db"
        assert opened.memory.actor == "agent:coach"
    opened.close()
    with Memory.open(":memory:", options=options) as own, pytest.raises(InputError):
        MemoryExtension(own)


def test_save_episode(memory: MemoryExtension) -> None:
    id = memory.save_episode("I fly kites with Ada Norn", "kites", "user")
    answer = memory.save_episode("Which ones?", "kites", "coach")
    assert re.fullmatch(r"ep_[0-9a-f]{12}", id)
    told, asked = (memory.memory.get(one) for one in (id, answer))
    assert (told.kind, told.session_id, told.source_role) == ("episode", "kites", "user")
    assert (asked.source_role, asked.decay_rate, asked.active) == ("coach", 0.0, True)
    with pytest.raises(InputError):
        memory.save_episode(" ", "kites", "user")


def test_ensure_session_and_get_pending_consolidations(memory: MemoryExtension) -> None:
    memory.save_episode("I sail on Sundays", "sailing", "user")
    memory.save_episode("I knit too", "knitting", "user")
    memory.ensure_session("knitting")
    found = memory.get_pending_consolidations(exclude_session_id="knitting")
    (sailing,) = [one for one in found if one["session_id"] == "sailing"]
    assert sailing == {"session_id": "sailing", "first_seen_at": NOON, "consolidated_at": None}
    assert "knitting" not in {one["session_id"] for one in found}
    assert "knitting" in {one["session_id"] for one in memory.get_pending_consolidations()}


def test_session_completed(memory: MemoryExtension, clock: Clock) -> None:
    """A new session tells of those before it that are over."""
    seen: list[SessionCompleted] = []
    stop = memory.subscribe("memory.session_completed", seen.append)
    memory.save_episode("I bake bread", "baking", "user")
    clock.now += 3_600
    memory.save_episode("Now something else", "after baking", "user")
    assert {"session_id": "baking"} in seen
    assert {"session_id": "after baking"} not in seen
    stop()
    seen.clear()
    clock.now += 3_600
    memory.save_episode("And again", "after that", "user")
    assert seen == []
    with pytest.raises(InputError):
        memory.subscribe("user_message", seen.append)  # type: ignore[arg-type]


def test_get_context(memory: MemoryExtension) -> None:
    """A Markdown block: facts, then the insight; nothing where nothing bears on the prompt."""
    _fact(memory, "The rehearsal of the choir is on Thursdays at 19:30")
    memory.save_reflection("The week was full of choir music.")
    block = memory.get_context("When is the rehearsal of the choir?")
    assert block.startswith("## Relevant memory\n")
    assert "Thursdays at 19:30" in block
    insight = block.split("## Weekly insight\n")[1]
    assert "The week was full of choir music." in insight
    assert "Thursdays" not in memory.get_context("Which bird is that?", session_id="kites")


def test_hybrid_search(memory: MemoryExtension) -> None:
    id = _fact(memory, "The greenhouse key hangs behind the door")
    memory.save_episode("The greenhouse key is rusty", "garden", "user")
    found = memory.hybrid_search("greenhouse key", kind="fact", limit=5)
    assert [one["id"] for one in found] == [id]
    assert set(found[0]) == COLUMNS | {"score", "caution"}
    assert found[0]["score"] > 0
    assert (found[0]["kind"], found[0]["valid_until"], found[0]["tags"]) == ("fact", None, [])
    every = memory.hybrid_search("greenhouse key")
    assert {one["kind"] for one in every} == {"fact", "episode"}
    others = memory.hybrid_search("greenhouse key", exclude_session_id="garden")
    assert {one["kind"] for one in others} == {"fact"}
    for odd in ("???", '"', "NOT", "OR"):
        memory.hybrid_search(odd)
    with pytest.raises(FilterError):
        memory.hybrid_search("key", kind="wish")  # type: ignore[arg-type]


def test_a_row_of_a_search_says_what_no_longer_holds_and_what_may_have_changed(clock: Clock) -> None:
    options = Options(background=False, embedder="off")
    with Memory.open(":memory:", clock=clock, options=options) as opened:
        for day, text in (("monday", "My boss is Anna Holm."), ("friday", "My boss is now Peter Lund.")):
            opened.record_turn(day, "user", text)
            asyncio.run(opened.consolidate(day))
        memory = MemoryExtension(opened.acting_as("agent:coach"))
        (row,) = [
            one for one in memory.hybrid_search("who is my boss", kind="fact") if "Anna" in one["content"]
        ]
        assert "may have changed; said on" in row["caution"]
        assert "Peter Lund" in row["caution"]
        opened.correct(row["id"], "My boss is Ida Moe")
        (turn,) = [
            one for one in memory.hybrid_search("who is my boss") if one["content"] == "My boss is Anna Holm."
        ]
        assert "corrected" in turn["caution"]
        assert "Ida Moe" in turn["caution"]


def test_save_reflection_and_get_latest_reflection(memory: MemoryExtension, clock: Clock) -> None:
    fact = _fact(memory, "The allotment was dug over")
    clock.now += 60
    id = memory.save_reflection("Much gardening this week.", [fact], tags=["weekly"])
    latest = memory.get_latest_reflection()
    assert latest is not None
    assert set(latest) == COLUMNS
    assert re.fullmatch(r"ref_[0-9a-f]{12}", id)
    assert (latest["id"], latest["source_ids"], latest["tags"]) == (id, [fact], ["weekly"])
    assert (latest["kind"], latest["decay_rate"], latest["confidence"]) == ("reflection", 0.0, 1.0)
    assert memory.get_latest_reflection_timestamp() == int(clock.now)
    assert memory.memory.get(id).trust == "agent"
    undone = memory.memory.undo()
    assert undone is not None
    newest = memory.get_latest_reflection()
    assert newest is None or newest["id"] != id
    with pytest.raises(NotFoundError):
        memory.save_reflection("On nothing.", ["fact_none"])
    with pytest.raises(InputError):
        memory.save_reflection("")


def test_a_memory_without_a_reflection_has_none() -> None:
    options = Options(background=False, embedder="off")
    with Memory.open(":memory:", actor="agent:coach", options=options) as opened:
        empty = MemoryExtension(opened)
        assert empty.get_latest_reflection() is None
        assert empty.get_latest_reflection_timestamp() is None


def test_get_recent_memories_for_reflection(memory: MemoryExtension, clock: Clock) -> None:
    old = _fact(memory, "An old thing about lighthouses")
    clock.now += 9 * DAY
    new = _fact(memory, "A new thing about lighthouses")
    turn = memory.save_episode("Lighthouses again", "towers", "user")
    found = {one["id"]: one for one in memory.get_recent_memories_for_reflection(days=7, limit=200)}
    assert {new, turn} <= found.keys()
    assert old not in found
    assert {one["kind"] for one in found.values()} <= {"fact", "episode"}
    assert len(memory.get_recent_memories_for_reflection(limit=1)) == 1
    with pytest.raises(FilterError):
        memory.get_recent_memories_for_reflection(days="some")  # type: ignore[arg-type]


def test_entity_enrichment(memory: MemoryExtension) -> None:
    id = _fact(memory, "the ferry leaves early")
    some = memory.get_memories_for_entity_enrichment(kinds=["fact"], max_entity_count=2, limit=50)
    assert id in {one["id"] for one in some}
    assert all(len(one["entity_ids"]) <= 2 and "enriched_at" not in one["attributes"] for one in some)
    if memory.accurate_ner_available:
        gained = asyncio.run(memory.enrich_memory_entities(id, "the ferry leaves early"))
        assert gained == 0
        left = memory.get_memories_for_entity_enrichment(["fact"])
        assert id not in {one["id"] for one in left}
    else:
        with pytest.raises(DegradedError):
            asyncio.run(memory.enrich_memory_entities(id))
    with pytest.raises(NotFoundError):
        asyncio.run(memory.enrich_memory_entities("fact_none"))


def test_run_decay_and_prune(clock: Clock) -> None:
    own = Clock(NOON)
    options = Options(background=False, embedder="off")
    with Memory.open(":memory:", actor="agent:coach", clock=own, options=options) as opened:
        decaying = MemoryExtension(opened)
        faded, kept = _fact(decaying, "The milk is sour"), _fact(decaying, "The cellar is dry")
        decaying.confirm_fact(kept)
        assert decaying.run_decay_and_prune(threshold=0.05) == 0
        own.now += 400 * DAY
        decaying.memory.jobs.accept_clock()
        assert decaying.run_decay_and_prune() == 1
        assert (opened.get(faded).ended_by, opened.get(kept).active) == ("faded", True)
        with pytest.raises(InputError):
            decaying.run_decay_and_prune(0.5)


def test_the_tasks_of_maintenance(memory: MemoryExtension) -> None:
    runs = {
        "enrichment": memory.execute_entity_enrichment(),
        "consolidation": memory.execute_consolidation(),
        "decay": memory.execute_decay(),
        "reflection": memory.execute_reflection(),
    }
    assert {name: run.job for name, run in runs.items()} == {name: name for name in runs}
    assert {run.state for run in runs.values()} == {"done"}
    report = runs["reflection"].report
    assert report is not None
    assert report.skipped == "no language model is configured"


def test_the_tools_of_the_main_agent(memory: MemoryExtension) -> None:
    saved = memory.remember_fact("Ada Norn tunes pianos", confidence=0.9)
    id = saved["memory"]["id"]
    assert saved["status"] == "done"
    assert id.startswith("fact_")
    found = memory.search_memory("who tunes pianos", kind="fact", limit=10)["memories"]
    assert found[0]["id"] == id
    assert found[0]["score"] > 0
    assert memory.search_memory("who tunes pianos", tag="none")["memories"] == []

    corrected = memory.correct_fact(id, "Ada Norn tunes harps")["memory"]
    assert corrected["id"] != id
    assert memory.memory.get(id).ended_by == "superseded"
    memory.confirm_fact(corrected["id"])
    confirmed = memory.memory.get(corrected["id"])
    assert (confirmed.decay_rate, confirmed.confidence) == (0.0, 1.0)

    counted = memory.memory_stats()
    assert counted["by_kind"]["fact"] > 0
    assert counted["latest"].startswith("2026-")
    about = memory.get_entity_info("Ada Norn", limit=10)
    assert about["entities"][0]["name"] == "Ada Norn"
    assert corrected["id"] in {one["id"] for one in about["memories"]}


def test_what_a_tool_refuses_is_raised(memory: MemoryExtension) -> None:
    with pytest.raises(NotFoundError):
        memory.correct_fact("fact_none", "other")
    with pytest.raises(NotFoundError):
        memory.get_entity_info("Nobody Known")
    with pytest.raises(InputError):
        memory.search_memory("x", limit=51)
    kept = _fact(memory, "The loft is full")
    memory.memory.acting_as("person").confirm(kept)
    assert memory.correct_fact(kept, "The loft is empty")["status"] == "waits"
    assert memory.memory.get(kept).content == "The loft is full"


def test_the_tools_of_the_consolidator(memory: MemoryExtension) -> None:
    session = "a long talk"
    turns = [memory.save_episode(f"I have read book {n}", session, "user") for n in range(31)]
    assert memory.is_session_consolidated(session) == {"consolidated": False, "waiting": 31}
    with pytest.raises(InputError):
        memory.mark_session_consolidated(session)
    page_1 = memory.get_episodes_for_consolidation(session)
    assert (page_1["total"], len(page_1["episodes"]), page_1["next_offset"]) == (31, 30, 30)
    page_2 = memory.get_episodes_for_consolidation(session, offset=30, limit=30)
    assert [one["id"] for one in (*page_1["episodes"], *page_2["episodes"])] == turns

    old = _fact(memory, "The person reads at the kitchen table")
    fact = {"content": "The person reads at the window now", "source_ids": [turns[0]], "tags": ["books"]}
    (saved,) = memory.save_facts_batch(session, [fact])["facts"]  # type: ignore[list-item]
    assert saved["outcome"] in ("added", "conflict")
    near = memory.detect_conflicts(saved["id"], saved["content"], session)["candidates"]
    assert old in {one["fact"]["id"] for one in near}
    assert memory.resolve_conflict(saved["id"], old, "It is the window now")["status"] in ("done", "waits")
    (again,) = memory.save_facts_batch(session, [fact])["facts"]  # type: ignore[list-item]
    assert again["outcome"] != "added"

    assert memory.mark_session_consolidated(session) == {"consolidated": True, "waiting": 0}
    with pytest.raises(NotFoundError):
        memory.is_session_consolidated("no such talk")


def test_get_consolidator_tools(memory: MemoryExtension) -> None:
    pytest.importorskip("agents")
    tools = memory.get_consolidator_tools()
    assert {one.name for one in tools} == {
        "get_episodes_for_consolidation", "save_facts_batch", "mark_session_consolidated", "is_session_consolidated",
        "detect_conflicts", "resolve_conflict",
    }  # fmt: skip
    assert all(inspect.iscoroutinefunction(one.on_invoke_tool) for one in tools)
