"""Which backup is meant, what a restore would do, and single memories out of a backup."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from memtui import Memory
from memtui.engine.backups import backups, single_memories
from memtui.engine.errors import CorruptFileError, InputError, NotFoundError, ReadOnlyError
from memtui.engine.records import Changes, Options
from memtui.engine.records.backups import RestoreCount, RestorePreview
from memtui.engine.records.history import RestoreGap
from memtui.engine.store import history, row_images
from memtui.engine.store.undo import NothingUndoneError
from night import make_scheduler

from clock import Clock
from state_hash import state_hash

# Noon in UTC, a Monday.
START = 1_772_452_800.0
DAY, HOUR = 86_400, 3_600
OPTIONS = Options(background=False, embedder="off")


@pytest.fixture
def clock() -> Clock:
    return Clock(START)


@pytest.fixture
def memory(place: Path, clock: Clock) -> Iterator[Memory]:
    with Memory.open(place, clock=clock, options=OPTIONS) as memory:
        yield memory


def hash_of(memory: Memory) -> str:
    with memory._core.connections.read() as connection:
        return state_hash(connection)


def count(preview: RestorePreview, what: str) -> RestoreCount:
    return next(one for one in preview.counts if one.what == what)


# -- when one is made, and kept


def test_deleted_backups_are_made_again_although_nothing_changed(memory: Memory, clock: Clock) -> None:
    memory.remember("one")
    made = memory.backups.make()
    assert "backup" not in make_scheduler(memory, clock).due()
    made.path.unlink()
    assert "backup" in make_scheduler(memory, clock).due()
    clock.now += 60
    assert memory.backups.ensure("import") is not None


def test_what_agents_wrote_is_backed_up_before_the_persons_first_import(memory: Memory, place: Path) -> None:
    with Memory.open(place, actor="agent:x", options=OPTIONS) as agent:
        agent.remember("Ada is vegetarian")
    file = place.with_name("turns.jsonl")
    file.write_text('{"session": "s", "role": "user", "content": "hello"}')
    memory.files.import_paths([file])
    assert [one.reason for one in memory.backups.all()] == ["import"]


def test_backups_of_a_sound_file_stay_while_it_fails_its_check(memory: Memory, clock: Clock) -> None:
    scheduler = make_scheduler(memory, clock)

    def back_up(hours: float) -> int:
        clock.now += hours * HOUR
        memory.remember(f"fact at {clock.now}")
        run = scheduler.run_now("backup")
        assert run.state == "done"
        return len(memory.backups.all())

    assert [back_up(0.2) for _ in range(4)] == [1, 2, 3, 4]
    assert back_up(30) == 2  # thinned: it is sound
    assert [back_up(0.2) for _ in range(4)] == [3, 4, 5, 6]
    with memory._core.connections.write() as connection:
        connection.execute('UPDATE memories SET attributes = \'{"supersedes": "fact_gone"}\' WHERE rid = 1')
    clock.now += 30 * HOUR
    memory.remember("after the damage")
    run = scheduler.run_now("backup")
    assert run.report is not None and "does not pass its check" in run.report.summary
    assert run.report.counts["findings"] == 1
    before = {one.path for one in memory.backups.all()}
    assert len(before) == 7
    # What is made of the damaged file is thinned as ever.
    assert [back_up(0.2) for _ in range(4)] == [8, 9, 10, 11]
    assert back_up(30) == 10  # one an hour
    assert before <= {one.path for one in memory.backups.all()}
    with memory._core.connections.write() as connection:
        connection.execute("UPDATE memories SET attributes = '{}' WHERE rid = 1")
    assert back_up(0.2) < 7


def test_what_a_crash_left_half_made_is_cleared_away_after_a_day(memory: Memory, place: Path) -> None:
    memory.remember("one")
    folder = memory.backups.make().path.parent
    old, young, others = (
        folder / f"{name}.partial" for name in ("memory-1-manual", "memory-2-manual", "other-1-manual")
    )
    for path in (old, young, others):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 2 * DAY,) * 2)
    os.utime(others, (time.time() - 2 * DAY,) * 2)
    memory.backups.rotate()
    assert (old.exists(), young.exists(), others.exists()) == (False, True, True)


# -- which one


def test_a_backup_is_named_by_place_file_path_or_moment(memory: Memory, clock: Clock, tmp_path: Path) -> None:
    made = []
    for day in range(3):
        clock.now = START + day * DAY
        memory.remember(f"fact {day}")
        made.append(memory.backups.make().path)
    clock.now += HOUR
    find = memory.backups.find
    assert [find("1"), find("latest"), find("3")] == [made[2], made[2], made[0]]
    assert find("yesterday") == made[1]
    assert find("monday") == made[0]
    assert find("2026-03-03") == made[1]
    assert find("2d") == made[0]
    assert find(made[0]) == find(made[0].name) == made[0]
    for unknown, error in (
        ("4", NotFoundError),
        ("2025", NotFoundError),
        ("x.db", NotFoundError),
        ("soon", InputError),
    ):
        with pytest.raises(error):
            find(unknown)
    elsewhere = tmp_path / "elsewhere" / "copy.db"
    elsewhere.parent.mkdir()
    elsewhere.write_bytes(made[0].read_bytes())
    assert memory.backups.info(elsewhere).reason == "file"
    assert memory.backups.contents("3").counts == {"episode": 0, "fact": 1, "trash": 0}
    elsewhere.write_bytes(b"no database at all")
    assert "not a database" in memory.backups.contents(elsewhere).problem


# -- what it would do


def test_the_preview_tells_what_comes_back_changes_and_is_lost(
    memory: Memory, clock: Clock, place: Path
) -> None:
    standup = memory.remember("Standup is at 10:00")
    walnuts = memory.remember("Ada is allergic to walnuts")
    pen = memory.remember("Uses a fountain pen")
    oboe = memory.remember("Plays the oboe")
    trash = memory.remember("Owns a unicycle")
    memory.forget(trash.id)
    memory.scratchpad.set("city", "Lisbon")
    memory.record_turn("s", "user", "the first turn")
    made = memory.backups.make()
    assert memory.backups.preview("latest").changes_nothing
    clock.now += DAY
    memory.correct(memory.correct(standup.id, "Standup is at 10:15").id, "Standup is at 10:30")
    memory.forget(walnuts.id)
    memory.tag(pen.id, add=["green"])
    memory.restore(trash.id)
    memory.remember("The spare key is with Nadia")
    with memory._core.operation("undo", "as an undo takes back what it added") as op:
        op.connection.execute("DELETE FROM memories WHERE rid = ?", (oboe.rid,))
    memory.record_turn("s", "user", "the second turn")
    memory.record_turn("t", "user", "elsewhere")
    memory.scratchpad.set("city", "Porto")
    memory.scratchpad.set("key", "Nadia")
    memory.jobs.enable("decay", False)
    version, content = memory.data_version(), made.path.read_bytes()
    files = sorted(path.name for path in made.path.parent.iterdir())
    preview = memory.backups.preview("1")
    assert (preview.path, preview.at, preview.reason) == (str(made.path), made.at, "manual")
    assert not preview.changes_nothing
    assert count(preview, "facts") == RestoreCount(what="facts", now=4, then=4, back=2, changed=2, lost=2)
    assert count(preview, "turns") == RestoreCount(what="turns", now=3, then=1, lost=2)
    assert (count(preview, "sessions").lost, count(preview, "sessions").now) == (1, 2)
    notes = count(preview, "notes of the scratchpad")
    assert (notes.changed, notes.lost) == (1, 1)
    assert count(preview, "jobs switched off").lost == 1
    assert {one.then for one in preview.back} == {"Ada is allergic to walnuts", "Plays the oboe"}
    assert {(one.then, one.now) for one in preview.changed} == {
        ("Standup is at 10:00", "Standup is at 10:30"), ("Uses a fountain pen", "Uses a fountain pen"),
    }  # fmt: skip
    assert [one.now for one in preview.lost] == [
        "The spare key is with Nadia", "Owns a unicycle", "elsewhere", "the second turn",
    ]  # fmt: skip
    assert preview.operations == 11
    assert (memory.data_version(), made.path.read_bytes()) == (version, content)
    assert sorted(path.name for path in made.path.parent.iterdir()) == files
    with Memory.open(place, readonly=True, options=OPTIONS) as reader:
        assert reader.backups.preview("1").counts == preview.counts
    # And so it is: afterwards nothing differs.
    memory.backups.restore("1")
    assert memory.backups.preview(made.path).changes_nothing


def test_memories_of_another_file_are_known_by_their_ids(
    memory: Memory, tmp_path: Path, clock: Clock
) -> None:
    memory.remember("Uses a fountain pen")
    memory.remember("Ada is allergic to walnuts")
    memory.files.export(tmp_path / "all.jsonl")
    with Memory.open(tmp_path / "other.db", clock=clock, options=OPTIONS) as other:
        other.remember("Plays the oboe")
        other.files.import_paths([tmp_path / "all.jsonl"])
        copy = other.backups.make().path
    facts = count(memory.backups.preview(copy), "facts")
    assert (facts.now, facts.then, facts.back, facts.changed, facts.lost) == (2, 3, 1, 0, 0)


def test_a_damaged_backup_is_refused_before_anything_is_told_of_it(memory: Memory) -> None:
    for number in range(50):
        memory.remember(f"fact {number} " * 20)
    path = memory.backups.make().path
    content = bytearray(path.read_bytes())
    content[4096 * 3 : 4096 * 6] = b"\xa5" * (4096 * 3)
    path.write_bytes(content)
    with pytest.raises(CorruptFileError):
        memory.backups.preview("1")
    with pytest.raises(CorruptFileError):
        memory.backups.restore_memories("1")


# -- single memories


def test_memories_are_taken_from_a_backup_as_one_operation_that_undo_takes_back(
    memory: Memory, clock: Clock
) -> None:
    kept = memory.remember("Uses a fountain pen")
    walnuts = memory.remember("Ada is allergic to walnuts", tags=["health"])
    memory.actor = "agent:x"
    faded = memory.remember("Considering a move to Porto", confidence=0.3)
    memory.actor = "person"
    memory.record_turn("s", "user", "the first turn")
    standup = memory.remember("Standup is at 10:00")
    made = memory.backups.make().path
    clock.now += 60
    for operation in memory.view.operations():
        if operation.label in ("Recorded a turn", "Remembered “Ada is allergic to walnuts”"):
            memory.undo(operation.op_id)
    memory.correct(standup.id, "Standup is at 10:30")
    clock.now += 60 * DAY
    memory.jobs.run_now("decay")
    assert memory.get(faded.id).ended_by == "faded"
    assert memory.view.count_sessions() == 0
    before = hash_of(memory)
    operation = memory.backups.restore_memories(made)
    assert operation is not None
    assert operation.label == "Took from the backup of 2026-03-02 12:00: 3 memories"
    assert sorted(one.content for one in memory.view.page("kind:fact,episode")) == [
        "Ada is allergic to walnuts", "Considering a move to Porto", "Standup is at 10:30", "Uses a fountain pen",
        "the first turn",
    ]  # fmt: skip
    assert memory.get(walnuts.id).tags == ("health",)
    assert [one.content for one in memory.view.transcript("s")] == ["the first turn"]
    assert memory.jobs.run_now("decay").op_id is None, "what came back does not fade the same night"
    assert memory.files.check(deep=True).ok
    assert memory.backups.restore_memories(made) is None
    memory.undo(operation.op_id)
    assert hash_of(memory) == before
    # What was corrected since comes back when it is asked for.
    memory.backups.restore_memories(made, [standup.id, kept.id])
    assert memory.get(standup.id).active
    with pytest.raises(NotFoundError):
        memory.backups.restore_memories(made, ["fact_000000000000"])


def test_many_memories_are_taken_in_parts_and_undone_as_one(
    memory: Memory, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backups, "_ROWS_AT_ONCE", 100)
    monkeypatch.setattr(single_memories, "_AT_ONCE", 40)
    for number in range(110):
        memory.record_turn(f"s{number % 9}", "user", f"turn {number}")
    memory.backups.make()
    clock.now += 60
    memory.change_all("forget", [rid for chunk in memory.view.rids("kind:episode") for rid in chunk])
    before = hash_of(memory)
    operation = memory.backups.restore_memories("latest")
    assert operation is not None and operation.state == "done"
    assert memory.view.count("kind:episode") == 110
    memory.undo(operation.op_id)
    assert hash_of(memory) == before


def test_what_was_erased_for_good_does_not_come_back_from_a_copy_that_lies_elsewhere(
    memory: Memory, clock: Clock, tmp_path: Path
) -> None:
    kept = memory.remember("Uses a fountain pen")
    gone = memory.remember("The accordion is in the cellar")
    memory.record_turn("s", "user", "it is in the cellar")
    copy = tmp_path / "elsewhere.db"
    copy.write_bytes(memory.backups.make().path.read_bytes())
    clock.now += 60
    memory.forget(kept.id)
    memory.files.erase(memory.files.plan_erase([gone.id, memory.view.transcript("s")[0].id]))
    assert memory.backups.preview(copy).erased == 2, "a restore of all of it would: it says so"
    assert memory.backups.preview("1").erased == 0
    operation = memory.backups.restore_memories(copy)
    assert operation is not None and operation.rows == 1
    assert [one.content for one in memory.view.page("kind:fact,episode")] == ["Uses a fountain pen"]
    memory.undo(operation.op_id)
    assert memory.backups.restore_memories(copy, [gone.id]) is None


def test_what_is_taken_from_another_file_leaves_the_numbers_that_history_knows(
    memory: Memory, tmp_path: Path
) -> None:
    with Memory.open(tmp_path / "other.db", options=OPTIONS) as other:
        other.record_turn("theirs", "user", "plays the oboe")
        theirs = other.record_turn("theirs", "user", "and the bassoon")
        copy = other.backups.make().path
    memory.remember("Uses a fountain pen")
    memory.record_turn("mine", "user", "green ink only")
    before = hash_of(memory)
    undone = memory.undo(memory.view.operations()[0].op_id)
    taken = memory.backups.restore_memories(copy, [theirs.id])
    assert taken is not None
    redone = memory.undo(undone.by.op_id)
    assert not redone.conflicts
    found = {one.content for one in memory.view.page("kind:fact,episode")}
    assert found == {"Uses a fountain pen", "green ink only", "and the bassoon"}
    assert [one.content for one in memory.view.transcript("mine")] == ["green ink only"]
    memory.undo(taken.op_id)
    assert hash_of(memory) == before


def test_a_row_that_took_the_place_of_an_undone_one_is_not_overwritten(memory: Memory, clock: Clock) -> None:
    memory.remember("Uses a fountain pen")
    gone = memory.remember("Ada is allergic to walnuts")
    undone = memory.undo()
    with history.operation(memory._core.connections, clock, "person", "take", "Took") as op:
        kept = row_images.current_row(op.connection, "memories", 1)
        assert kept is not None
        row_images.insert_row(op.connection, "memories", {**kept, "rid": gone.rid, "id": "fact_other"})
    with pytest.raises(NothingUndoneError, match="another row took its place"):
        memory.undo(undone.by.op_id)
    assert [one.id for one in memory.view.page()].count("fact_other") == 1


def test_nothing_is_taken_into_a_memory_that_is_open_for_reading_only(memory: Memory, place: Path) -> None:
    memory.remember("one")
    memory.backups.make()
    with Memory.open(place, readonly=True, options=OPTIONS) as reader, pytest.raises(ReadOnlyError):
        reader.backups.restore_memories("1")


# -- looking back over a restore


def test_what_a_restore_took_back_is_said_to_be_in_another_file(memory: Memory, clock: Clock) -> None:
    memory.remember("kept")
    made = memory.backups.make()
    clock.now += DAY
    memory.remember("added after the backup")
    clock.now += DAY
    opened = memory.history.as_of("now")
    done = memory.backups.restore("1")
    for number in range(9):  # its history is longer than the one before by now
        memory.remember(f"after the restore {number}")
    assert [one.content for one in opened.page("kept")] == ["kept"]
    assert opened.page("backup") == []
    clock.now += DAY
    reach = memory.history.as_of(START + DAY).coverage
    assert reach.gap == RestoreGap(
        start=made.at, end=int(START) + 2 * DAY, backup=done.before.path.name, operation=done.operation.op_id
    )
    assert memory.history.as_of(START).coverage.gap is None
    assert memory.history.as_of("now").coverage.gap is None
    assert memory.backups.contents(done.before.path.name).counts["fact"] == 2


# -- its line in history


def test_a_restore_is_a_line_of_history_which_tells_what_it_took_and_the_way_back(
    memory: Memory, clock: Clock
) -> None:
    kept = memory.remember("kept")
    memory.record_turn("talk", "user", "one turn")
    made = memory.backups.make()
    clock.now += DAY
    memory.forget(kept.id)
    memory.remember("added after the backup")
    for number in range(2):
        memory.record_turn("talk", "user", f"later turn {number}")
    last = memory.view.operations(limit=1)[0].op_id
    told: list[Changes] = []
    memory.subscribe("changed", told.append)
    done = memory.backups.restore("1")

    line = memory.view.operations(limit=1)[0]
    assert line == done.operation == told[-1].operation
    assert line.op_id > last, "a number is never given twice"
    assert (line.kind, line.actor, line.at) == ("restore-backup", "person", int(clock.now))
    day = datetime.fromtimestamp(made.at).strftime("%Y-%m-%d %H:%M")
    assert line.label == f"Restored {day}: lost 2 turns, 1 fact; 1 fact came back"
    assert memory.backups.before(line.op_id) == done.before
    assert memory.files.check(deep=True).ok

    assert memory.history.next_undo() == line
    with pytest.raises(InputError, match="only another restore takes back") as refused:
        memory.undo()
    assert done.before.path.name in refused.value.hint

    back = memory.backups.restore(done.before.path.name)
    assert {one.content for one in memory.view.page("kind:fact")} == {"added after the backup"}
    assert back.operation.label.endswith("lost 1 fact; 2 turns, 1 fact came back")
    assert memory.backups.before(back.operation.op_id) == back.before
    back.before.path.unlink()
    assert memory.backups.before(back.operation.op_id) is None
