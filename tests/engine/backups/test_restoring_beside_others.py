"""What a restore waits for, and what it does not take back: numbers that were given, and what was erased for good."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pytest
from memtui import Memory
from memtui.engine.backups.backups import Backups
from memtui.engine.erase import proof as proofs
from memtui.engine.erase.proof import PendingErase
from memtui.engine.errors import StoreError
from memtui.engine.importers.watch import FileFollower
from memtui.engine.records import Operation, Options
from memtui.engine.records.erase import EraseProof
from memtui.engine.store import history, metadata, tombstones
from memtui.engine.store.locks import BusyError

OPTIONS = Options(background=False, embedder="off")


@pytest.fixture
def memory(place: Path) -> Iterator[Memory]:
    with Memory.open(place, options=OPTIONS) as memory:
        yield memory


@pytest.fixture
def unproven(monkeypatch: pytest.MonkeyPatch) -> None:
    """The proof runs in a process of its own; what it says does not matter here."""

    def proof(
        connections: object, ids: Sequence[str], pieces: object, problems: Sequence[str], *_: object
    ) -> EraseProof:
        return EraseProof(
            complete=not problems,
            memories=len(ids),
            pieces=0,
            found=0,
            files=(),
            bytes=0,
            questions=0,
            problems=tuple(problems),
        )

    monkeypatch.setattr(proofs, "prove_erased", proof)


def said(text: str, number: int) -> str:
    return json.dumps({"role": "user", "content": text, "session": "s", "id": str(number)}) + "\n"


def texts(memory: Memory) -> set[str]:
    return {one.content for one in memory.view.page()}


def salt_of(memory: Memory) -> bytes:
    with memory._core.connections.read() as connection:
        return tombstones.salt_of(connection)


def latest(memory: Memory) -> Operation:
    return memory.view.operations()[0]


# -- beside others


@pytest.mark.parametrize("lock", [".import", ".jobs", ".erase"])
def test_a_restore_waits_for_long_work_and_then_refuses(memory: Memory, place: Path, lock: str) -> None:
    from filelock import FileLock

    memory.remember("one")
    made = memory.backups.make()
    memory.remember("two")
    impatient = Backups(memory._core.connections, memory._core.clock, wait=0.1)
    with FileLock(f"{place}{lock}", thread_local=False), pytest.raises(BusyError, match="running"):
        impatient.restore(made.path)
    assert texts(memory) == {"one", "two"}
    impatient.restore(made.path)
    assert texts(memory) == {"one"}


def test_an_import_that_is_under_way_is_not_pulled_the_ground_from_under(memory: Memory, place: Path) -> None:
    memory.remember("one")
    made = memory.backups.make()
    file = place.with_name("turns.jsonl")
    file.write_text("".join(said(f"turn number {number}", number) for number in range(600)))
    refused = []

    def restore(progress: object) -> None:
        with pytest.raises(BusyError, match="import"):
            Backups(memory._core.connections, memory._core.clock, wait=0).restore(made.path)
        refused.append(progress)

    memory.files.import_paths([file], progress=restore)
    assert refused and latest(memory).rows >= 600
    assert memory.files.check(deep=True).ok


def test_no_number_is_given_twice_after_a_restore(memory: Memory) -> None:
    one = memory.remember("one")
    made = memory.backups.make()
    two = memory.remember("two")
    taken = latest(memory).op_id
    memory.backups.restore(made.path)
    three = memory.remember("three")
    assert latest(memory).op_id > taken
    assert three.rid > two.rid > one.rid
    assert memory.files.check(deep=True).ok


def test_what_is_followed_after_a_restore_does_not_join_the_persons_operation(
    memory: Memory, place: Path
) -> None:
    file = place.with_name("a.jsonl")
    file.write_text(said("one said", 1))
    with (
        Memory.open(place, options=OPTIONS) as other,
        FileFollower(other._core.connections, [file], clock=other._core.clock, options=OPTIONS) as follower,
    ):
        memory.remember("kept")
        made = memory.backups.make()
        assert follower.import_new() is not None
        memory.backups.restore(made.path)
        memory.remember("my own note")
        with file.open("a") as more:
            more.write(said("two said", 2))
        assert follower.import_new() is not None
        memory.undo()
        assert texts(memory) == {"kept", "two said"}
    assert memory.files.check(deep=True).ok


def test_an_operation_that_a_restore_took_away_is_broken_off(memory: Memory, tmp_path: Path) -> None:
    with Memory.open(tmp_path / "other.db", options=OPTIONS) as other:
        for text in "abcde":
            other.remember(text)
        foreign = other.backups.make()
    memory.remember("one")
    own = memory.backups.make()
    for backup in (own, foreign):  # the other file has an operation of this number, but another one
        op_id = history.begin_long(
            memory._core.connections, memory._core.clock, "person", "import", "Long work"
        )
        memory.backups.restore(backup.path)
        with pytest.raises(history.RestoredError), history.continue_long(memory._core.connections, op_id):
            pass
        with history.reopen_latest(memory._core.connections, op_id) as connection:
            assert connection is None
        labels = [operation.label for operation in memory.view.operations()]
        history.finish_long(memory._core.connections, op_id, "Was mine")
        assert [operation.label for operation in memory.view.operations()] == labels


def test_more_of_an_operation_is_not_put_into_that_of_another_file(memory: Memory, tmp_path: Path) -> None:
    with Memory.open(tmp_path / "other.db", options=OPTIONS) as other:
        other.remember("a")
        foreign = other.backups.make()
    op_id = history.begin_long(memory._core.connections, memory._core.clock, "import", "import", "Following")
    done = memory.backups.restore(foreign.path)
    with (
        memory._core.connections.write() as connection
    ):  # as a program restores that leaves no line in history
        connection.execute("DELETE FROM ops WHERE op_id = ?", (done.operation.op_id,))
    assert latest(memory).op_id == op_id == 1
    with history.reopen_latest(memory._core.connections, op_id) as connection:
        assert connection is None


# -- what was erased


@pytest.mark.usefixtures("unproven")
def test_what_was_erased_stays_away_after_a_backup_from_before_it_came(memory: Memory, place: Path) -> None:
    memory.remember("kept")
    made = memory.backups.make("import")
    file = place.with_name("turns.jsonl")
    file.write_text(said("harmless", 1) + said("the secret of it", 2))
    memory.files.import_paths([file])
    secret = next(one for one in memory.view.page() if "secret" in one.content)
    memory.files.erase(memory.files.plan_erase([secret.id]))
    memory.backups.restore(made.path)
    memory.files.import_paths([file])
    assert texts(memory) == {"kept", "harmless"}


@pytest.mark.usefixtures("unproven")
def test_what_was_erased_in_either_file_stays_away_when_one_takes_the_others_place(
    memory: Memory, place: Path, tmp_path: Path
) -> None:
    file = place.with_name("turns.jsonl")
    file.write_text("".join(said(text, number) for number, text in enumerate(("mine", "theirs", "ours"))))

    def erase(where: Memory, text: str) -> None:
        first = latest(where).op_id if where.files.import_paths([file]).imported else 0
        where.files.erase(
            where.files.plan_erase([next(one.id for one in where.view.page() if one.content == text)])
        )
        where.undo(first)

    with Memory.open(tmp_path / "folder" / "other.db", options=OPTIONS) as other:
        erase(other, "theirs")
        foreign = other.backups.make()
    erase(memory, "mine")
    salt = salt_of(memory)
    memory.backups.restore(foreign.path)
    assert salt_of(memory) == salt, "an erase that is not finished has hashes made with it"
    own = memory.backups.all()[0]
    memory.files.import_paths([file])
    assert texts(memory) == {"ours"}
    memory.backups.restore(own.path)  # and back again
    memory.files.import_paths([file])
    assert texts(memory) == {"ours"}


@pytest.mark.usefixtures("unproven")
def test_an_erase_that_is_not_finished_stays_so_after_a_restore(memory: Memory) -> None:
    secret = memory.remember("the secret of it")
    damaged = memory.backups.make().path
    memory.remember("kept")
    good = memory.backups.make()
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[:3_000] + b"\xff" * 2_000 + whole[5_000:])
    memory.files.erase(memory.files.plan_erase([secret.id]))
    assert memory.files.unfinished_erase() is not None
    memory.backups.restore(good.path)
    left = memory.files.unfinished_erase()
    assert left is not None and left.begun
    memory.files.resume_erase(delete_damaged=True)
    assert memory.files.unfinished_erase() is None and not damaged.exists()


def marked(memory: Memory, mark: PendingErase) -> None:
    with memory._core.connections.write() as connection:
        metadata.set_value(connection, tombstones.UNFINISHED, msgspec.json.encode(mark).decode())


def mark_of(memory: Memory) -> PendingErase:
    with memory._core.connections.read() as connection:
        return msgspec.json.decode(metadata.get(connection, tombstones.UNFINISHED) or "", type=PendingErase)


@pytest.mark.usefixtures("unproven")
def test_an_unfinished_erase_is_as_far_as_the_restored_rows_say(memory: Memory) -> None:
    memory.remember("kept")
    without = memory.backups.make()
    secret = memory.remember("the secret of it")
    having = memory.backups.make()
    plan = memory.files.plan_erase([secret.id])
    marked(memory, PendingErase(request=plan.request, memories=1, at=1))
    memory.backups.restore(without.path)
    assert mark_of(memory).ids == (secret.id,)  # the backup that was just made has it
    memory.backups.restore(having.path)
    assert mark_of(memory).ids == ()
    memory.files.resume_erase()
    assert texts(memory) == {"kept"} and memory.files.unfinished_erase() is None


def test_what_went_from_the_memory_while_an_erase_waited_goes_from_the_backups_too(memory: Memory) -> None:
    memory.remember("kept")
    secret = memory.remember("the secret zxqvelvet of it")
    having = memory.backups.make()
    marked(memory, PendingErase(request=memory.files.plan_erase([secret.id]).request, memories=1, at=1))
    with memory._core.connections.write() as connection:  # by a program that knows nothing of erasing
        connection.execute("DELETE FROM memories WHERE id = ?", (secret.id,))
        connection.execute("DELETE FROM changes")
    assert b"zxqvelvet" in having.path.read_bytes()
    proof = memory.files.resume_erase()
    assert proof is not None and proof.complete, proof
    assert b"zxqvelvet" not in having.path.read_bytes()
    assert texts(memory) == {"kept"} and memory.files.unfinished_erase() is None


def test_a_restore_that_fails_at_its_last_page_leaves_everything_as_it_was(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.remember("one")
    made = memory.backups.make()
    memory.remember("two")

    def fail(*_: object) -> None:
        raise OSError("out of luck")

    monkeypatch.setattr("memtui.engine.backups.carry_over.copy_into_restored", fail)
    with pytest.raises(StoreError, match="luck"):
        memory.backups.restore(made.path)
    assert texts(memory) == {"one", "two"}
    assert not list(made.path.parent.glob("*.partial"))
