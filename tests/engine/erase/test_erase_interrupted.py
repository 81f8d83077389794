"""An erase that is killed, or that another program holds up: finished later or told, never claimed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import memtui
import pytest
from erase_kit import CJK, FACT, KEPT, TURN, found_in_bytes, open_memory
from memtui import Memory
from memtui.engine.erase import backups, eraser
from memtui.engine.errors import StoreError
from memtui.engine.records.erase import EraseProgress

ROOT = Path(memtui.__file__).parent.parent
ERASE = """
import os, signal, sys
from memtui import Memory
from memtui.engine.records import Options
from memtui.engine.erase import eraser, proof as proofs

path, stage = sys.argv[1:3]
die = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
if stage == "half a transaction":
    eraser.settle_indexes = die
if stage == "before the proof":
    proofs.prove = die
count = 0
def progress(now):
    global count
    count += 1
    if now.doing.startswith(stage) or (stage == "second backup" and count == 2):
        die()

with Memory.open(path, options=Options(background=False, embedder="off")) as memory:
    ids = [one.id for one in memory.view.page() if "greenhouse" not in one.content]
    print(memory.files.erase(memory.files.plan_erase(ids), progress=progress).complete, flush=True)
"""
STAGES = (
    "backup",
    "second backup",
    "erasing in",
    "half a transaction",
    "cleaning the index",
    "writing the file",
    "before the proof",
)
TRACES = ("zxqvelvet", "wvkrhubarb", "花生过敏")


def fill(home: Path) -> None:
    with open_memory(home) as memory:
        for text in (FACT, CJK, KEPT):
            memory.remember(text)
        memory.record_turn("s", "user", TURN)
        memory.backups.make("manual")
        memory.backups.make("restore")


def test_a_kill_at_any_moment_is_finished_or_told(home: Path, full: bool, near: None) -> None:
    for stage in STAGES if full else STAGES[1::2]:
        fill(home)
        killed = subprocess.run(
            [sys.executable, "-c", ERASE, str(home), stage],
            capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(ROOT)}, check=False,
        )  # fmt: skip
        assert (killed.returncode, killed.stdout) == (-signal.SIGKILL, ""), (stage, killed.stderr)
        with open_memory(home) as memory:
            waiting = memory.files.unfinished_erase()
            assert waiting is not None, stage
            assert waiting.memories == 3
            assert waiting.begun == (memory.view.count() == 1), stage
            assert [finding.check for finding in memory.files.check(deep=True).findings] == ["erase"]
            proof = memory.files.resume_erase()
            assert proof is not None
            assert proof.complete, (stage, proof)
            assert memory.files.check(deep=True).findings == ()
            assert memory.files.unfinished_erase() is None
            assert memory.files.resume_erase() is None
            assert [one.content for one in memory.view.page()] == [KEPT]
        assert found_in_bytes(home.parent, TRACES) == [], stage
        assert not [
            one.name for one in home.parent.rglob("*") if one.suffix in (".erasing", ".erased", ".partial")
        ]
        for place in home.parent.rglob("*"):
            if place.is_file():
                place.unlink()


def test_another_program_that_reads_is_told_and_waited_for(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(eraser, "WAIT", 0.2)
    fill(home)
    reader = apsw.Connection(str(home))
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM memories").fetchone() == (4,)
    with open_memory(home) as memory, open_memory(home, actor="agent:other") as other:
        ids = [one.id for one in memory.view.page() if one.content != KEPT]
        proof = memory.files.erase(memory.files.plan_erase(ids))
        assert not proof.complete
        assert any("another program still reads" in problem for problem in proof.problems)
        assert memory.files.unfinished_erase() is not None
        assert other.view.count() == 1
        reader.execute("ROLLBACK")
        reader.close()
        other.remember("Something new from another program")
        proof = memory.files.resume_erase()
        assert proof is not None
        assert proof.complete
        assert other.view.count() == 2
    assert found_in_bytes(home.parent, TRACES) == []


def test_a_backup_that_is_made_meanwhile_is_cleaned_too(
    home: Path, near: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(home)
    with open_memory(home) as memory, open_memory(home) as other:
        before = apsw.Connection(str(home))
        compact = eraser.compact_file

        def compact_and_meanwhile(*arguments: object, **named: object) -> str:
            said = compact(*arguments, **named)  # type: ignore[arg-type]
            late = home.parent / "backups" / f"{home.stem}-20991231T000000Z-manual.db"
            late.write_bytes(kept)
            return said

        kept = memory.backups.all()[0].path.read_bytes()
        monkeypatch.setattr(eraser, "compact_file", compact_and_meanwhile)
        ids = [one.id for one in memory.view.page() if one.content != KEPT]
        proof = memory.files.erase(memory.files.plan_erase(ids))
        assert (proof.complete, proof.backups_written) == (True, 3)
        before.close()
        assert other.view.count() == 1
    assert found_in_bytes(home.parent, TRACES) == []


def test_an_import_or_a_job_that_runs_is_not_crossed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from filelock import FileLock

    monkeypatch.setattr(eraser, "WAIT", 0.05)
    fill(home)
    with open_memory(home) as memory:
        plan = memory.files.plan_erase([memory.view.page()[0].id])
        with FileLock(f"{home}.jobs"), pytest.raises(StoreError, match="job is running"):
            memory.files.erase(plan)
        assert memory.view.count() == 4
        assert memory.files.unfinished_erase() is None


def test_a_backup_that_cannot_be_written_leaves_everything_and_says_so(
    home: Path, near: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(home)
    replace: Callable[..., Path] = Path.replace

    def refuse(self: Path, target: Path) -> Path:
        if self.suffix == ".erased" and "restore" in self.name:
            raise OSError(28, "No space left on device", str(self))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", refuse)
    with open_memory(home) as memory:
        plan = memory.files.plan_erase([one.id for one in memory.view.page() if one.content != KEPT])
        with pytest.raises((OSError, StoreError)):
            memory.files.erase(plan)
        assert memory.view.count() == 4
        assert memory.files.unfinished_erase() is not None
        assert len(memory.backups.all()) == 2
        monkeypatch.undo()
    with Memory.open(home) as memory:
        assert backups.delete_leftovers(home) == []


def test_the_backups_of_another_memory_beside_it_are_left_alone(home: Path, near: None) -> None:
    with open_memory(home) as memory, open_memory(home.with_name("memory-work.db")) as other:
        fact = memory.remember(FACT)
        memory.backups.make("manual")
        other.remember(FACT)
        theirs = [other.backups.make("manual").path]
        for end in ("erasing", "erased", "partial"):
            theirs.append(theirs[0].with_suffix(f".{end}"))
            theirs[-1].write_bytes(b"half a copy")
            os.utime(theirs[-1], (1, 1))
        ours = theirs[1].with_name("memory-20260101T000000Z-manual.erasing")
        ours.write_bytes(b"half a copy")
        proof = memory.files.erase(memory.files.plan_erase([fact.id]))
        assert (proof.complete, proof.kept) == (True, ())
        assert not {file.path for file in proof.files} & set(theirs)
        assert len(proof.files) >= 2
        assert all(place.exists() for place in theirs)
        assert not ours.exists()


def test_what_others_write_while_it_is_worked_out_is_erased_too(
    home: Path, near: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(home)
    with open_memory(home) as memory, open_memory(home) as other:
        plan = memory.files.plan_erase([one.id for one in memory.view.page() if one.content != KEPT])
        plain, looked = eraser.planned_steps, 0

        def meanwhile(*arguments: Any) -> Any:
            nonlocal looked
            looked += 1
            found = plain(*arguments)
            if looked == 2:  # the first is that of the list, which must be the same
                other.scratchpad.set("late", TURN)
            return found

        monkeypatch.setattr(eraser, "planned_steps", meanwhile)
        assert memory.files.erase(plan).complete
        assert looked == 3
    assert found_in_bytes(home.parent, TRACES) == []


def test_others_write_while_the_index_of_words_is_cleaned(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(eraser, "_PAGES_PER_STEP", 1)
    fill(home)
    commits: dict[str, int] = {}
    doing = ""

    def count() -> int:
        commits[doing] = commits.get(doing, 0) + 1
        return 0

    def progress(now: EraseProgress) -> None:
        nonlocal doing
        doing = now.doing

    with open_memory(home) as memory:
        ids = [one.id for one in memory.view.page() if one.content == TURN]
        for number in range(300):
            memory.record_turn(
                f"s{number % 9}", "user", f"{number} {KEPT} {number * 7919:x} {number * 104729:x}"
            )
        plan = memory.files.plan_erase(ids)
        with memory._core.connections.exclusive() as writer:
            writer.set_commit_hook(count)
        assert memory.files.erase(plan, progress=progress).complete
    assert commits["erasing in the memory"] == 1
    assert commits["cleaning the index of words"] >= 10


def test_a_large_file_is_written_anew_when_nobody_writes_and_the_proof_says_what_is_left(
    home: Path, near: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(eraser, "WAIT", 0.3)
    monkeypatch.setattr(eraser, "_AT_ONCE_BYTES", 0)
    monkeypatch.setattr(eraser, "LONG_SECONDS", 0.0)
    fill(home)
    told: list[str] = []
    over = threading.Event()

    def write() -> None:
        with open_memory(home) as other:
            while not over.is_set():
                other.scratchpad.set("busy", str(time.monotonic()))

    with open_memory(home) as memory:
        ids = [one.id for one in memory.view.page() if one.content != KEPT]
        busy = threading.Thread(target=write)
        busy.start()
        try:
            proof = memory.files.erase(memory.files.plan_erase(ids))
        finally:
            over.set()
            busy.join()
        assert not proof.complete
        assert any("others write all the time" in problem for problem in proof.problems)
        assert memory.files.unfinished_erase() is not None
        assert memory.view.count() == 1
        again = memory.files.resume_erase(progress=lambda now: told.append(now.doing))
        assert again is not None
        assert again.complete
        assert any(doing.startswith("waiting for a moment") for doing in told)
        assert any("others could not write for" in note for note in again.notes)
    assert found_in_bytes(home.parent, TRACES) == []
