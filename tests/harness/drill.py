"""Backups and restores while two other processes write, for the harness ``drill``.

PYTHONPATH=.:tests:tests/harness python tests/harness/drill.py '{"path": ..., "rounds": ...}'
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
from crew import OPTIONS, Worker
from memtui import Memory
from memtui.engine.backups.backups import Backups
from memtui.engine.errors import MemtuiError, NotFoundError
from memtui.engine.store import backup

from state_hash import state_hash


def _write(path: str, writer: int, report: Callable[..., None]) -> None:
    """Write until killed; what was acknowledged carries the times between which it was written."""
    with Memory.open(path, actor=f"agent:{writer}", options=OPTIONS) as memory:
        for number in range(1_000_000):
            since = time.monotonic()
            content = f"writer {writer} turn {number}: Grace met Ada at the harbour"
            try:
                turn = memory.record_turn(f"session {writer}", "user", content)
                if number % 7 == 6:
                    fact = memory.remember(f"fact {writer} {number}")
                    try:
                        memory.forget(fact.id)
                    except NotFoundError:  # right only when a restore came in between
                        report(gone=fact.id, since=since, at=time.monotonic())
            except MemtuiError as error:
                report(failed=error.message)
                continue
            report(id=turn.id, since=since, at=time.monotonic())


def _copy_the_file_alone(
    connection: apsw.Connection,
    path: Path,
    *,
    reason: str,
    folder: Path | None = None,
    at: float | None = None,
) -> Path:
    """The mutant: what many people take for a backup."""
    target = path.parent / backup.FOLDER / f"{path.stem}-20260101T000000Z-{reason}{time.monotonic_ns()}.db"
    target.parent.mkdir(exist_ok=True)
    shutil.copy(path, target)
    return target


def _state(path: Path) -> dict[str, Any]:
    """What a copy holds, opened as a memory of its own."""
    with Memory.open(path, options=OPTIONS) as memory, memory._core.connections.read() as connection:
        ids = [str(id) for (id,) in connection.execute("SELECT id FROM memories WHERE kind = 'episode'")]
        report = memory.files.check(deep=True)
        return {"ok": report.ok, "findings": [one.message for one in report.findings], "ids": ids,
                "hash": state_hash(connection)}  # fmt: skip


def _write_on(memory: Memory) -> None:
    """Let the writers write a little. In vain, for a while, where a copy that is none (the mutant) was restored."""
    enough = memory.view.count("kind:episode") + 3
    for _ in range(500):
        time.sleep(0.02)
        if memory.view.count("kind:episode") >= enough:
            break


def drill(path: str, rounds: int, folder: str, mutant: str = "") -> dict[str, Any]:
    """Back up and restore ``rounds`` times between writers; then once more in silence."""
    if mutant:
        backup.back_up = _copy_the_file_alone
    found: list[dict[str, Any]] = []
    with Memory.open(path, options=OPTIONS) as memory:
        memory.record_turn("first", "user", "before all others")
    workers = [Worker(lambda report, n=n: _write(path, n, report)) for n in range(2)]  # type: ignore[misc]
    for worker in workers:
        worker.wait_until_ready()
    # In a process of its own, so that closing files (the mutant) drops no locks of this one.
    with Memory.open(path, options=OPTIONS) as memory:
        backups = Backups(memory._core.connections, time.time)
        for number in range(rounds):
            before = time.monotonic()
            made = backups.make(f"round{number}").path
            after = time.monotonic()
            _write_on(memory)
            restored = number % 3 == 2
            if restored:
                # What it says would be lost is counted while the others write.
                lost = {one.what: one.lost for one in memory.backups.preview(made).counts}
                backups.restore(made)
            kept = Path(folder) / f"{number}.db"
            shutil.copy(made, kept)
            found.append(
                {
                    "before": before,
                    "after": after,
                    "file": str(kept),
                    "restored_at": time.monotonic() if restored else 0,
                    "told_lost": lost["turns"] if restored else None,
                }
            )
            _write_on(memory)
        for worker in workers:
            worker.kill()
        lines = [line for worker in workers for line in worker.lines()]
        check = memory.files.check(deep=True)
        last = backups.make("last").path
        memory.record_turn("after", "user", "after the last backup")
        last_lost = sum(one.lost for one in memory.backups.preview(last).counts if one.what == "turns")
        backups.restore(last)
        same = memory.backups.preview(last).changes_nothing
        with memory._core.connections.read() as connection:
            live = state_hash(connection)
    for entry in found:
        entry.update(_state(Path(entry["file"])))
    shutil.copy(last, Path(folder) / "last.db")
    return {
        "rounds": found, "written": lines, "live_ok": check.ok, "live": live, "last": _state(Path(folder) / "last.db"),
        "findings": [one.message for one in check.findings], "last_lost": last_lost, "same": same,
    }  # fmt: skip


if __name__ == "__main__":
    json.dump(drill(**json.loads(sys.argv[1])), sys.stdout)
