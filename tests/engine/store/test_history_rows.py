"""What history records: one named operation for each change, nothing where nothing changed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from memtui import Memory
from memtui.engine.errors import NotFoundError
from memtui.engine.records import Operation, Options
from memtui.engine.store import history

NOW = 1_750_000_000
OPTIONS = Options(background=False, embedder="off")


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory.open(":memory:", clock=lambda: NOW, options=OPTIONS) as opened:
        yield opened


def latest(memory: Memory) -> Operation:
    return memory.view.operations(limit=1)[0]


def test_every_verb_is_one_operation_with_a_name_and_an_actor(memory: Memory) -> None:
    turn = memory.record_turn("talk", "user", "words")
    fact = memory.remember("Ada lives in Porto")
    fact = memory.correct(fact.id, "Ada lives in Lisbon")
    memory.tag(fact.id, add=["city"])
    memory.forget(fact.id)
    memory.restore(fact.id)
    memory.forget(turn.id)
    memory.undo()
    assert [(operation.kind, operation.label) for operation in reversed(memory.view.operations())] == [
        ("record", "Recorded a turn"),
        ("remember", "Remembered “Ada lives in Porto”"),
        ("correct", "Corrected “Ada lives in Porto” to “Ada lives in Lisbon”"),
        ("tag", "Tagged “Ada lives in Lisbon”"),
        ("forget", "Forgot “Ada lives in Lisbon”"),
        ("restore", "Restored “Ada lives in Lisbon”"),
        ("forget", "Forgot “words”"),
        ("undo", "Undid: Forgot “words”"),
    ]
    assert {operation.actor for operation in memory.view.operations()} == {"person"}
    assert {operation.at for operation in memory.view.operations()} == {NOW}


def test_a_long_text_is_cut_in_the_name(memory: Memory) -> None:
    memory.remember("many words " * 100)
    assert len(latest(memory).label) < 80 and latest(memory).label.endswith("…”")


def test_what_changes_nothing_leaves_no_trace(memory: Memory) -> None:
    fact = memory.remember("Ada lives in Lisbon", tags=["city"])
    before = memory.view.count_operations()
    memory.confirm(fact.id)
    memory.remember("Ada lives in Lisbon", tags=["City"])
    memory.tag(fact.id, add=["city"], remove=["other"])
    memory.restore(fact.id)
    assert memory.change_all("restore", [fact.rid]) is None
    assert memory.change_all("tag", [], add=["x"]) is None
    assert memory.view.count_operations() == before


def test_a_refused_verb_leaves_no_trace(memory: Memory) -> None:
    turn = memory.record_turn("talk", "user", "words")
    before = memory.view.count_operations()
    for act in (
        lambda: memory.correct(turn.id, "other"),
        lambda: memory.confirm(turn.id),
        lambda: memory.remember(" "),
    ):
        with pytest.raises(Exception, match=r"turn|no text"):
            act()
    assert memory.view.count_operations() == before


def test_inserts_one_after_the_other_are_one_row_of_history(memory: Memory) -> None:
    op_id = history.begin_long(memory._core.connections, lambda: NOW, "import", "import", "Importing")
    for part in range(3):
        with history.continue_long(memory._core.connections, op_id) as connection:
            for number in range(40):
                connection.execute(
                    "INSERT INTO memories(id, kind, content, content_hash, trust, event_time, created_at) "
                    "VALUES ('ep_' || hex(randomblob(6)), 'episode', 'x', 'x', 'user', ?, 1)",
                    (part * 40 + number,),
                )
    history.finish_long(memory._core.connections, op_id, "Imported 120 turns")
    with memory._core.connections.read() as connection:
        rows = connection.execute(
            "SELECT tbl, act, lo, hi, before FROM changes WHERE op_id = ?", (op_id,)
        ).fetchall()
    assert rows == [("memories", "insert", 1, 120, None)]
    assert latest(memory).rows == 120
    assert len(memory.view.changes_of(op_id)) == 120
    memory.undo(op_id)
    assert memory.view.count("kind:episode") == 0


def test_an_update_keeps_only_the_columns_that_changed(memory: Memory) -> None:
    fact = memory.remember("Ada lives in Lisbon")
    memory.forget(fact.id)
    [change] = memory.view.changes_of(latest(memory).op_id)
    assert change.memory_id == fact.id
    assert change.before == {"valid_until": None, "ended_by": None}
    assert change.after == {"valid_until": NOW, "ended_by": "forgotten"}


def test_what_is_counted_and_derived_is_not_history(memory: Memory) -> None:
    turn = memory.record_turn("talk", "user", "We met Ada Lovelace in Lisbon")
    before = memory.view.count_operations()
    with memory._core.connections.write() as connection:
        connection.execute("UPDATE memories SET access_count = 5, last_accessed = 9, recall_days = 2")
    memory.models.index_pending()
    assert memory.view.count_operations() == before
    assert {change.table for change in memory.view.changes_of(latest(memory).op_id)} == {
        "memories",
        "sessions_consolidations",
    }
    memory.undo()
    memory.redo()
    assert memory.get(turn.id).access_count == 5


def test_the_history_of_a_memory_tells_its_whole_life(memory: Memory) -> None:
    fact = memory.remember("Ada lives in Porto")
    memory.remember("something else")
    memory.tag(fact.id, add=["city"])
    new = memory.correct(fact.id, "Ada lives in Lisbon")
    memory.undo()
    memory.redo()
    kinds = [operation.kind for operation, _ in memory.view.history_of(fact.id)]
    assert kinds == ["remember", "tag", "correct", "undo", "redo"]
    assert [operation.kind for operation, _ in memory.view.history_of(new.id)] == ["correct", "undo", "redo"]


def test_operations_can_be_listed_by_page_and_by_actor(memory: Memory) -> None:
    for number in range(5):
        memory.remember(f"fact {number}")
    pages = [memory.view.operations(offset=offset, limit=2) for offset in (0, 2, 4)]
    assert [operation.label for page in pages for operation in page] == [
        f"Remembered “fact {n}”" for n in (4, 3, 2, 1, 0)
    ]
    assert memory.view.operations(actor="agent:x") == []
    with pytest.raises(NotFoundError):
        memory.view.operation(99)


def test_old_operations_are_pruned_and_the_rest_can_still_be_undone() -> None:
    now = [float(NOW)]
    with Memory.open(":memory:", clock=lambda: now[0], options=OPTIONS) as memory:
        old = memory.remember("old")
        now[0] += 91 * 86_400
        memory.forget(old.id)
        assert history.forget_old_operations(memory._core.connections, now[0]) == 1
        assert [operation.kind for operation in memory.view.operations()] == ["forget"]
        memory.undo()
        assert memory.get(old.id).active
        assert memory.files.check().ok


def test_what_follows_something_derived_is_history_again(memory: Memory) -> None:
    with memory._core.operation("set", "Set a key") as op:
        with history.paused_history(op.connection):
            op.connection.execute("INSERT INTO scratchpad(key, value, updated_at) VALUES ('a', 'b', 1)")
        op.connection.execute("INSERT INTO scratchpad(key, value, updated_at) VALUES ('c', 'd', 1)")
    assert latest(memory).rows == 1


def test_the_oldest_images_go_first(memory: Memory) -> None:
    fact = memory.remember("Ada lives in Lisbon")
    for number in range(10):
        memory.tag(fact.id, add=[f"tag{number}"])
    with memory._core.connections.read() as connection:
        sizes = [
            size
            for (size,) in connection.execute(
                "SELECT length(before) + length(after) FROM changes WHERE before IS NOT NULL ORDER BY seq"
            )
        ]
    history.forget_old_operations(memory._core.connections, NOW, keep_bytes=sum(sizes[-3:]))
    assert memory.view.count_operations() == 3
    for _ in range(3):
        memory.undo()
    assert memory.get(fact.id).tags == tuple(f"tag{number}" for number in range(7))


def test_an_operation_that_is_running_is_not_forgotten(memory: Memory) -> None:
    fact = memory.remember("Ada lives in Lisbon")
    op_id = history.begin_long(memory._core.connections, lambda: NOW, "person", "tag", "Tagging")
    for tags in ('["a"]', '["b"]'):
        with history.continue_long(memory._core.connections, op_id) as connection:
            connection.execute("UPDATE memories SET tags = ? WHERE rid = ?", (tags, fact.rid))
        history.forget_old_operations(memory._core.connections, NOW + 100 * 86_400, keep_bytes=0)
    history.finish_long(memory._core.connections, op_id, "Tagged")
    assert [one.label for one in memory.view.operations()] == ["Tagged"]
    memory.undo(op_id)
    assert memory.get(fact.id).tags == ()


def test_the_cap_counts_images_not_inserts(memory: Memory) -> None:
    fact = memory.remember("x" * 1_000)
    for number in range(10):
        memory.tag(fact.id, add=[f"tag{number}"])
    for number in range(50):
        memory.record_turn("talk", "user", f"turn {number} " * 100)
    assert history.forget_old_operations(memory._core.connections, NOW, keep_bytes=10_000_000) == 0
    assert history.forget_old_operations(memory._core.connections, NOW, keep_bytes=200) > 0
    kinds = {operation.kind for operation in memory.view.operations(limit=1_000)}
    assert "record" in kinds
    assert memory.files.check().ok
