"""A folder that cannot be written, that is full, or that a client is still filling: named truly, and sync goes on after it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from machines import Machines
from memtui.engine.errors import DiskFullError
from memtui.engine.sync.stores import SyncStoreError
from memtui.present.sync import batch_problem_line


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of a megabyte, which is really full and really mounted for reading only."""
    place = tmp_path / "disk"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place], check=False).returncode:
        pytest.skip("this user may not mount")
    yield place
    subprocess.run(["umount", place], check=True)


@pytest.fixture
def two(tmp_path: Path, disk: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machines]:
    made = Machines(tmp_path, str(disk / "store"), monkeypatch)
    for name in ("laptop", "desktop"):
        made.add(name)
    yield made
    for memory in made.memories.values():
        memory.close()


def _fill(disk: Path) -> Callable[[], object]:
    with (disk / "filler").open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass
    return lambda: os.truncate(disk / "filler", 0)


def _forbid_writing(disk: Path) -> Callable[[], object]:
    def remount(how: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{how}", disk], check=True)

    remount("ro")
    return lambda: remount("rw")


TROUBLES = {
    "full": (_fill, DiskFullError, "No space left to write", "Free some space there"),
    "read-only": (_forbid_writing, SyncStoreError, "cannot be written: Read-only", "for reading only"),
}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_a_store_that_takes_nothing_is_named_gives_what_it_has_and_loses_nothing(
    two: Machines, disk: Path, trouble: str
) -> None:
    make, error, message, hint = TROUBLES[trouble]
    two.on("desktop").remember("The boat is called Argo")
    two.on("desktop").sync.run()
    mend = make(disk)
    laptop = two.on("laptop")
    laptop.remember("Ada lives in Bergen")
    with pytest.raises(error) as raised:
        laptop.sync.run()
    assert message in raised.value.message and two.url in raised.value.message
    assert hint in raised.value.hint and "Nothing was lost" in raised.value.hint
    assert "The boat is called Argo" in {one.content for one in laptop.view.page("kind:fact")}
    status = laptop.sync.status()
    assert status is not None
    assert message in status.error and status.pending
    mend()
    assert laptop.sync.run().sent == 1
    two.sync()
    assert len({two.on(name).files.content_hash() for name in two.memories}) == 1
    status = two.on("laptop").sync.status()
    assert status is not None and not status.error


@pytest.mark.parametrize("trouble", TROUBLES)
def test_an_erase_that_could_not_reach_the_store_does_so_later(
    two: Machines, disk: Path, trouble: str
) -> None:
    make, error, *_ = TROUBLES[trouble]
    laptop = two.on("laptop")
    fact = laptop.remember("The user owns a purple submarine")
    two.sync()
    mend = make(disk)
    laptop = two.on("laptop")
    assert laptop.files.erase(laptop.files.plan_erase([fact.id])).complete
    with pytest.raises(error):
        laptop.sync.run()
    assert two.hold(b"submarine")
    mend()
    two.sync(3)
    assert two.hold(b"submarine") == []
    assert not two.on("desktop").view.page("kind:fact")


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99])
def test_a_batch_that_is_half_copied_is_named_as_such_and_read_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, share: float
) -> None:
    machines = Machines(tmp_path, str(tmp_path / "store"), monkeypatch)
    laptop, desktop = machines.add("laptop"), machines.add("desktop")
    fact = machines.on("laptop").remember("Ada lives in Bergen")
    laptop.sync.run()
    batch = max((tmp_path / "store" / "batches" / laptop.files.device()).iterdir())
    whole = batch.read_bytes()
    batch.write_bytes(whole[: int(len(whole) * share)])
    machines.on("desktop").remember("The boat is called Argo")
    report = desktop.sync.run()
    (problem,) = report.problems
    assert problem.kind == "partial"
    said = batch_problem_line(problem)
    assert "still being copied" in said and "damaged" not in said and "once it is there" in said
    assert report.sent == 1  # what is written here goes on
    batch.write_bytes(whole)
    report = machines.on("desktop").sync.run()
    assert not report.problems
    assert fact.id in {one.id for one in desktop.view.page("kind:fact")}
    laptop.close()
    desktop.close()
