"""Sessions, operations and recalls as lists: words, order, keys."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import pytest
from memtui import Memory
from memtui.engine.store import sessions

NOW = 1_762_000_000


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory.open(":memory:", clock=lambda: NOW) as memory:
        yield memory


def _talk(memory: Memory, session: str, at: int, turns: int = 1, **more: str) -> None:
    for number in range(turns):
        memory.record_turn(session, "user", f"turn {number} of {session}", at + number, **more)


def _consolidate(memory: Memory, session: str) -> None:
    with memory._core.connections.write() as connection:
        sessions.mark_consolidated(connection, session, NOW)


def test_what_waits_comes_first_then_the_latest(memory: Memory) -> None:
    for name, ago in (("middle", 2_000), ("latest", 1_000), ("oldest", 3_000)):
        _talk(memory, name, NOW - ago)
    _consolidate(memory, "latest")
    assert [row.session.session_id for row in memory.view.session_list.page()] == [
        "middle",
        "oldest",
        "latest",
    ]
    assert [row.pending for row in memory.view.session_list.page()] == [True, True, False]
    assert memory.view.session_list.count("is:pending") == 2
    assert [row.session.session_id for row in memory.view.session_list.page("-is:pending")] == ["latest"]


def test_a_later_turn_makes_a_session_wait_again(memory: Memory) -> None:
    _talk(memory, "one", NOW - 500)
    _consolidate(memory, "one")
    assert not memory.view.session_list.page()[0].pending
    _talk(memory, "one", NOW - 100)
    assert memory.view.session_list.page()[0].pending


def test_pages_and_keys_agree_and_rows_come_back_by_key(memory: Memory) -> None:
    for index in range(30):
        _talk(memory, f"session {index % 7} {index}", NOW - index * 60)
    listed = memory.view.session_list
    for order, falling in (("pending", True), ("time", False), ("title", False)):
        pages = [
            row.sid
            for at in range(0, 30, 8)
            for row in listed.page(order=order, falling=falling, offset=at, limit=8)
        ]
        keys = [key for chunk in listed.keys(order=order, falling=falling) for key in chunk]
        assert pages == keys
        assert len(set(keys)) == 30
    assert {row.sid for row in listed.rows(keys[:5])} == set(keys[:5])
    assert listed.rows([10_000]) == []


def test_words_are_found_in_any_case_and_script_and_a_minus_leaves_out(memory: Memory) -> None:
    _talk(memory, "Поездка в Гент", NOW - 300, project="Home")
    _talk(memory, "Trip to Porto", NOW - 200, project="home")
    sessions = memory.view.session_list
    assert sessions.count("поездка") == 1
    assert sessions.count("HOME") == 2
    assert sessions.count("home -ПОРТО -porto") == 1
    assert sessions.count("after:2020") == 2 and sessions.count("before:2020") == 0
    assert sessions.count(f"porto on:{datetime.fromtimestamp(NOW - 200).date()}") == 1
    assert sessions.count("-") == 0
    assert sessions.count("100% _ ' \0 \ud800") == 0


def test_operations_are_found_by_who_and_by_what(memory: Memory) -> None:
    fact = memory.remember("Prefers trains")
    memory.forget(fact.id)
    memory.undo()
    listed = memory.view.operation_list
    assert [one.label for one in listed.page()] == [one.label for one in memory.view.operations()]
    assert [one.kind for one in listed.page("person forgot")] == ["undo", "forget"]
    assert [one.state for one in listed.page("undone")] == ["undone"]
    assert listed.count("agent:") == 0
    assert listed.count("after:7d") == listed.count() and listed.count("before:7d") == 0
    assert listed.count() == memory.view.count_operations()


def test_recalls_are_listed_with_their_keys(memory: Memory) -> None:
    from memtui.engine.store import recalls

    with memory._core.connections.write() as connection:
        for number in range(3):
            recalls.add(
                connection, at=NOW + number, agent="planner", session_id=None, query=f"question {number}",
                memory_ids=["fact_1"],
            )  # fmt: skip
    listed = memory.view.recall_list
    rows = listed.page("planner")
    assert [row.recall.query for row in rows] == ["question 2", "question 1", "question 0"]
    assert listed.rows([rows[1].recall_id]) == [rows[1]]
    assert listed.count("question 1") == 1
    with memory._core.connections.write() as connection:
        recalls.add(
            connection,
            at=NOW - 40 * 86_400,
            agent="planner",
            session_id=None,
            query="question 9",
            memory_ids=[],
        )
    then = datetime.fromtimestamp(NOW - 40 * 86_400).date()
    for words in (f"planner on:{then}", f"on:..{then}"):
        assert [row.recall.query for row in listed.page(words)] == ["question 9"]
    assert (
        listed.count(f"on:{datetime.fromtimestamp(NOW).date()}")
        == 3
        == listed.count(f"on:{then}.. question -9")
    )
    assert listed.count("on:whenever") == 0  # a word like any other
    today = datetime.fromtimestamp(NOW).date()
    assert (
        listed.count(f"after:{today}") == 3 == listed.count(f"-before:{today}") == listed.count(f"-on:{then}")
    )
    assert [row.recall.query for row in listed.page(f"before:{today}")] == ["question 9"]
    assert listed.count(f"after:{then} before:{today} 9") == 1


def test_a_session_without_a_title_is_known_by_its_first_words(memory: Memory) -> None:
    untold = "claude-code:7edf864f-cb52-473a-9f00-000000000001"
    first = memory.record_turn(
        untold,
        "user",
        "Please look\n at the cello lesson plan, and at what the teacher of last spring said of it",
        NOW,
    )
    memory.record_turn(untold, "assistant", "The plan has three parts.", NOW + 1)
    later = memory.record_turn(untold, "user", "Thanks, that will do", NOW + 2)
    titled = "claude-code:7edf864f-cb52-473a-9f00-000000000002"
    memory.record_turn(titled, "user", "hi", NOW)
    with memory._core.connections.write() as connection:
        sessions.register_session(connection, titled, NOW, NOW, title="Greeting")
    memory.record_turn("trip", "user", "An id that says something stays", NOW)
    session = memory.view.session(untold)
    assert session.title is None
    assert session.name == "Please look at the cello lesson plan, and at what the…"
    assert {one.session.name for one in memory.view.session_list.page()} == {session.name, "Greeting", "trip"}
    # It is found and put in order by what is shown.
    assert [row.session.session_id for row in memory.view.session_list.page("cello")] == [untold]
    assert [one.session_id for one in memory.view.sessions(text="cello")] == [untold]
    by_title = memory.view.session_list.page(order="title", falling=False)
    assert [row.session.name for row in by_title] == ["Greeting", session.name, "trip"]
    # Nothing of it is kept beside the turn: it goes with it.
    memory.forget(first.id)
    assert memory.view.session(untold).name == "Thanks, that will do"
    memory.forget(later.id)
    assert memory.view.session(untold).name == untold
