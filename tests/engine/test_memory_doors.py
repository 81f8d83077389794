"""Opening a memory, being told of changes, who was told what, and secrets on every way in."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import memtui
import pytest
from memtui import Memory
from memtui.engine import errors, records
from memtui.engine.errors import InputError, ReadOnlyError
from memtui.engine.records import Changes, Options, SecretPolicy

NOW = 1_750_000_000
DAY = 86_400
OPTIONS = Options(background=False, embedder="off")
KEY = "sk-proj-abcDEF0123456789abcDEF0123456789abcDEF01"


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory.open(":memory:", clock=lambda: NOW, options=OPTIONS) as opened:
        yield opened


# Opening


def test_the_package_offers_memory_its_records_and_its_errors() -> None:
    assert memtui.Memory is Memory and memtui.Hit is records.Hit
    offered = {name for name in records.__all__ if _is_record(getattr(records, name))}
    raised = {name for name, kind in vars(errors).items() if isinstance(kind, type)}
    assert set(memtui.__all__) == {"Memory", "Toolbox", "__version__", *offered, *raised}
    assert all(getattr(memtui, name).__doc__ for name in memtui.__all__)
    with pytest.raises(AttributeError):
        _ = memtui.Nothing


def _is_record(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, records.Record) and kind is not records.Record


@pytest.mark.parametrize("actor", ["person", "scheduler", "import", "agent:codex", "agent:claude code"])
def test_actors_sign_their_operations(actor: str) -> None:
    with Memory.open(":memory:", actor=actor, options=OPTIONS) as memory:
        memory.record_turn("talk", "user", "words")
        assert memory.view.operations()[0].actor == actor == memory.actor


@pytest.mark.parametrize("actor", ["", "agent:", "agent", "nobody", "external", "Person"])
def test_an_unknown_actor_is_refused_before_a_file_is_made(actor: str, place: Path) -> None:
    with pytest.raises(InputError) as caught:
        Memory.open(place, actor=actor)
    assert "agent:<name>" in caught.value.hint
    assert not place.exists()


def test_a_path_may_be_text_and_begin_at_home(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(place.parent))
    with Memory.open("~/memory.db", options=OPTIONS) as memory:
        assert memory.path == place


def test_a_memory_in_this_process_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Memory.open(":memory:", options=OPTIONS) as memory:
        memory.remember("Ada lives in Lisbon")
        assert memory.path is None and memory.files.check(deep=True).ok
    assert list(tmp_path.iterdir()) == []


def test_a_readonly_memory_refuses_every_verb_and_stays_as_it_was(place: Path) -> None:
    with Memory.open(place, options=OPTIONS) as memory:
        fact = memory.remember("Ada lives in Lisbon")
    turns = place.parent / "turns" / "turns.jsonl"
    turns.parent.mkdir()
    turns.write_text('{"session_id": "s", "role": "user", "content": "words"}\n')
    before = place.read_bytes()
    with Memory.open(place, readonly=True, options=OPTIONS) as memory:
        assert memory.readonly and memory.get(fact.id) == fact
        for act in (
            lambda: memory.record_turn("talk", "user", "words"), lambda: memory.remember("x"),
            lambda: memory.correct(fact.id, "y"), lambda: memory.confirm(fact.id), lambda: memory.forget(fact.id),
            lambda: memory.restore(fact.id), lambda: memory.tag(fact.id, add=["x"]), memory.undo, memory.redo,
            lambda: memory.change_all("forget", [fact.rid]), memory.models.index_pending,
            lambda: memory.files.import_paths([turns]), lambda: memory.files.check(repair=True),
        ):  # fmt: skip
            with pytest.raises(ReadOnlyError) as caught:
                act()
            assert caught.value.hint and caught.value.exit_code == 4
        assert memory.stats().active == 1
        assert memory.search("Lisbon").hits
    assert place.read_bytes() == before
    # SQLite leaves an empty log beside a file that it may only read.
    made = {path.name for path in place.parent.iterdir()} - {"memory.db-wal", "memory.db-shm"}
    assert made == {"memory.db", "turns"}


def test_methods_may_be_called_from_many_threads_at_once(place: Path) -> None:
    errors: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for turn in range(25):
                memory.record_turn(f"talk {number}", "user", f"thread {number} turn {turn}")
                fact = memory.remember(f"fact {number} {turn}")
                memory.view.page("", limit=20)
                memory.correct(fact.id, f"corrected {number} {turn}")
                memory.stats()
        except BaseException as error:
            errors.append(error)

    with Memory.open(place, options=Options(embedder="off")) as memory:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        assert memory.view.count("kind:episode") == memory.view.count("kind:fact") == 150
        memory.models.index_pending()
        assert memory.files.check(deep=True).ok


def test_a_question_without_words_has_no_answer_although_it_has_a_vector() -> None:
    with Memory.open(":memory:") as memory:
        memory.remember("And? Why? So?")
        memory.models.index_pending()
        assert memory.search("and why?").hits
        found = memory.search("???")
    assert found.hits == ()
    assert {retriever.retriever: retriever.why for retriever in found.retrievers}[
        "vector"
    ] == "there are no words in it"


# Being told


def test_subscribers_are_told_of_each_change_and_of_nothing_else(memory: Memory) -> None:
    told: list[Changes] = []
    end = memory.subscribe("changed", told.append)
    fact = memory.remember("Ada lives in Porto")
    new = memory.correct(fact.id, "Ada lives in Lisbon")
    memory.record_turn("talk", "user", "words")
    memory.undo()
    memory.change_all("forget", [new.rid])
    memory.confirm(memory.remember("again").id)  # is confirmed already: no change
    memory.view.page()
    assert [changes.operation.kind for changes in told if changes.operation] == [
        "remember", "correct", "record", "undo", "forget", "remember",
    ]  # fmt: skip
    assert told[0].tables == {"memories"} and told[0].ids == (fact.id,)
    assert set(told[1].ids) == {fact.id, new.id}
    assert told[2].tables == {"memories", "sessions_consolidations"}
    end()
    memory.remember("not told")
    assert len(told) == 6


def test_whoever_begins_a_conversation_has_ended_the_one_before(memory: Memory) -> None:
    told: list[tuple[str, ...]] = []
    memory.subscribe("session_completed", lambda changes: told.append(changes.sessions))
    memory.record_turn("monday", "user", "I live in Ghent.", source="chat")
    memory.record_turn("elsewhere", "user", "I like tea.", source="terminal")
    assert told == []
    memory.record_turn("tuesday", "user", "I like coffee.", source="chat")
    memory.record_turn("tuesday", "assistant", "Noted.", source="chat")
    assert told == [("monday",)]
    asyncio.run(memory.consolidate("monday"))
    memory.record_turn("wednesday", "user", "And milk.", source="chat")
    assert told == [("monday",), ("tuesday",)]


def test_a_subscriber_may_use_the_memory(memory: Memory) -> None:
    counts: list[int] = []
    memory.subscribe("changed", lambda changes: counts.append(memory.view.count()))
    memory.remember("one")
    memory.remember("two")
    assert counts == [1, 2]


def test_progress_is_told_while_links_are_made(memory: Memory) -> None:
    told: list[Changes] = []
    memory.subscribe("progress", told.append)
    with memory._core.connections.write() as connection:
        connection.execute(
            "INSERT INTO memories(id, kind, content, content_hash, trust, event_time, created_at) "
            "VALUES ('ep_1', 'episode', 'We met Ada Lovelace in Lisbon', 'x', 'user', 1, 1)"
        )
    memory.models.index_pending()
    assert told and all("memory_entities" in changes.tables for changes in told)


def test_an_unknown_event_is_refused(memory: Memory) -> None:
    with pytest.raises(InputError, match="moonrise"):
        memory.subscribe("moonrise", lambda changes: None)  # type: ignore[arg-type]


# Recalls


@pytest.fixture
def told_place(place: Path) -> Path:
    with Memory.open(place, actor="agent:setup", clock=lambda: NOW, options=OPTIONS) as memory:
        memory.remember("Ada lives in Lisbon near the harbour")
    return place


def local_noon(days: int) -> float:
    day = datetime.fromtimestamp(NOW).replace(hour=12, minute=0, second=0, microsecond=0) + timedelta(
        days=days
    )
    return day.timestamp()


def search_at(place: Path, actor: str, moment: float, **given: Any) -> None:
    with Memory.open(place, actor=actor, clock=lambda: moment, options=OPTIONS, **given) as memory:
        assert memory.search("where does Ada live").hits


def looked_at(place: Path) -> tuple[int, int, int | None]:
    with Memory.open(place, options=OPTIONS) as memory:
        (row,) = memory.view.page("kind:fact")
        return row.access_count, row.recall_days, row.last_accessed


def test_an_agents_search_is_a_recall_counted_once_a_day(told_place: Path) -> None:
    for count, (days, recall_days) in enumerate(((1, 1), (1, 1), (1, 1), (2, 2), (9, 3)), 1):
        search_at(told_place, "agent:codex", local_noon(days))
        assert looked_at(told_place) == (count, recall_days, int(local_noon(days)))


def test_two_agents_on_one_day_are_one_recall_day(told_place: Path) -> None:
    for actor in ("agent:codex", "agent:claude"):
        search_at(told_place, actor, local_noon(1))
    assert looked_at(told_place) == (2, 1, int(local_noon(1)))
    with Memory.open(told_place, options=OPTIONS) as memory:
        (fact,) = memory.view.page("kind:fact")
        recalls = memory.view.recalls_of(fact.id)
        assert [(recall.agent, recall.query) for recall in recalls] == [
            ("claude", "where does Ada live"), ("codex", "where does Ada live"),
        ]  # fmt: skip
        assert all(recall.memory_ids == (fact.id,) for recall in recalls)
        assert memory.view.recent_recalls() == recalls


def test_a_clock_that_went_back_takes_no_recall_away(told_place: Path) -> None:
    search_at(told_place, "agent:codex", local_noon(5))
    search_at(told_place, "agent:codex", local_noon(2))
    assert looked_at(told_place) == (2, 1, int(local_noon(5)))


def test_a_recall_slows_fading(told_place: Path) -> None:
    with Memory.open(told_place, clock=lambda: NOW + 20 * DAY, options=OPTIONS) as memory:
        (before,) = memory.view.page("kind:fact")
    search_at(told_place, "agent:codex", local_noon(1))
    with Memory.open(told_place, clock=lambda: NOW + 20 * DAY, options=OPTIONS) as memory:
        (after,) = memory.view.page("kind:fact")
    assert after.effective > before.effective and after.confidence == before.confidence


def test_a_look_of_the_person_is_no_recall(told_place: Path) -> None:
    search_at(told_place, "person", local_noon(1))
    with Memory.open(told_place, actor="agent:codex", options=OPTIONS) as memory:
        (fact,) = memory.view.page("kind:fact")
        memory.get(fact.id)
        memory.explain("where does Ada live", fact.id)
    assert looked_at(told_place) == (0, 0, None)
    with Memory.open(told_place, options=OPTIONS) as memory:
        assert memory.view.recent_recalls() == []


def test_a_recall_is_no_operation_and_a_readonly_agent_leaves_none(told_place: Path) -> None:
    with Memory.open(told_place, options=OPTIONS) as memory:
        before = memory.view.count_operations()
    search_at(told_place, "agent:codex", local_noon(1))
    search_at(told_place, "agent:codex", local_noon(2), readonly=True)
    assert looked_at(told_place)[0] == 1
    with Memory.open(told_place, options=OPTIONS) as memory:
        assert memory.view.count_operations() == before


# Secrets


def ways_in(memory: Memory) -> dict[str, Callable[[str], str]]:
    return {
        "remember": lambda text: memory.remember(text).id,
        "correct": lambda text: memory.correct(memory.remember("a fact to correct").id, text).id,
        "record_turn": lambda text: memory.record_turn("talk", "user", text).id,
    }


@pytest.mark.parametrize("way", ["remember", "correct", "record_turn"])
def test_a_secret_is_caught_on_every_way_in(way: str, memory: Memory) -> None:
    row = memory.get(ways_in(memory)[way](f"The deploy key is {KEY} for now"))
    if way == "record_turn":  # kept as it was said, and away from vectors and models
        assert KEY in row.content and row.attributes["secrets"] and "redacted" not in row.attributes
        assert memory.stats().quarantined == 1
        with memory._core.connections.read() as connection:
            assert connection.execute("SELECT vector FROM index_queue WHERE rid = ?", (row.rid,)).get in (
                0,
                None,
            )
    else:
        assert KEY not in row.content and "redacted" in row.content
        assert row.attributes["redacted"] is True
    assert KEY not in memory.view.operations()[0].label


@pytest.mark.parametrize("mode", ["redact", "quarantine", "keep"])
@pytest.mark.parametrize("way", ["remember", "correct", "record_turn"])
def test_the_policy_decides_what_happens_to_secrets(way: str, mode: Any) -> None:
    policy = SecretPolicy(facts=mode, episodes=mode)
    with Memory.open(":memory:", options=Options(background=False, embedder="off", secrets=policy)) as memory:
        row = memory.get(ways_in(memory)[way](f"The deploy key is {KEY} for now"))
        assert (KEY in row.content) == (mode != "redact")
        assert ("secrets" in row.attributes) == (mode != "keep")


def test_a_correction_without_the_secret_is_an_ordinary_fact_again(memory: Memory) -> None:
    secret = memory.remember(f"The deploy key is {KEY}")
    assert memory.correct(secret.id, "The deploy key is kept in the safe").attributes == {
        "supersedes": secret.id
    }


def test_quarantined_texts_get_no_vector(place: Path) -> None:
    with Memory.open(place, options=Options(background=False)) as memory:
        secret = memory.record_turn("talk", "user", f"The deploy key is {KEY} for now")
        plain = memory.record_turn("talk", "user", "The ferry leaves at nine in the morning")
        redacted = memory.remember(f"The deploy key of the harbour is {KEY}")
        memory.models.index_pending()
        with memory._core.connections.read() as connection:
            embedded = {rid for (rid,) in connection.execute("SELECT rid FROM embeddings")}
        assert embedded == {plain.rid, redacted.rid}
        assert memory.stats().unembedded == 0
        assert [row.id for row in memory.view.page("deploy kind:episode")] == [secret.id]
        assert memory.files.check(deep=True).ok


def test_closing_waits_for_the_background(place: Path) -> None:
    memory = Memory.open(place, options=Options(embedder="off"))
    memory.record_turn("talk", "user", "words")
    started = time.monotonic()
    memory.close()
    assert time.monotonic() - started < 60
    assert not [thread for thread in threading.enumerate() if thread.name == "memtui-indexer"]


# What a program passes by mistake


@pytest.mark.parametrize(
    "call",
    [
        lambda memory: memory.search(None),
        lambda memory: memory.context(None),
        lambda memory: memory.explain(None, "fact_1"),
        lambda memory: memory.get(7),
        lambda memory: memory.forget(["fact_1", "fact_2"]),
        lambda memory: memory.confirm(None),
    ],
)
def test_what_is_no_text_is_named_as_a_wrong_input(memory: Memory, call: Callable[[Any], object]) -> None:
    memory.remember("Likes tea")
    with pytest.raises(InputError, match="is text, not"):
        call(memory)


def test_a_single_path_is_no_list_of_letters(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The letters of "a.md" would be files: "." is the working folder."""
    monkeypatch.chdir(tmp_path)
    Path("a.md").write_text("- The ferry leaves at 7\n")
    Path("other.md").write_text("- The tax number is on the fridge\n")
    report = memory.files.import_paths("a.md")
    assert report.files == 1
    assert [one.content for one in memory.view.page("kind:fact")] == ["The ferry leaves at 7"]
    assert memory.files.import_paths(Path("other.md")).files == 1
