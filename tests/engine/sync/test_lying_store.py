"""A store that lies: what it made up, cut, swapped, put back or sent again is named, and nothing of it is applied."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from memtui import Memory
from memtui.engine.records import Options
from memtui.engine.records.sync import SyncReport
from memtui.engine.sync.batch import Batch, BatchHeader, lines_hash
from memtui.engine.sync.envelope import AgeSealer, Epoch, new_identity

OPTIONS = Options(background=False, embedder="off", allow_unsafe_fs=True)


class Two:
    """A laptop that writes three batches, a desktop that has read the first of them, and the store between them."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        self._monkeypatch = monkeypatch
        self.store = folder / "store"
        self.laptop = Memory.open(folder / "laptop.db", options=OPTIONS)
        self.desktop = Memory.open(folder / "desktop.db", options=OPTIONS)
        self.laptop.remember("Fact 1")
        self.run("laptop", str(self.store))
        self._at("laptop")
        code = self.laptop.sync.invite().code
        self._at("desktop")
        self.desktop.sync.join(str(self.store), code)
        for number in (2, 3, 4):
            self.laptop.remember(f"Fact {number}")
            self.run("laptop")
        self.device = self.laptop.files.device()

    def close(self) -> None:
        self.laptop.close()
        self.desktop.close()

    def run(self, name: str, url: str | None = None) -> SyncReport:
        self._at(name)
        memory: Memory = getattr(self, name)
        return memory.sync.run(url)

    def _at(self, name: str) -> None:
        self._monkeypatch.setenv("XDG_CONFIG_HOME", str(self._folder / name))

    def batch(self, number: int) -> Path:
        return self.store / "batches" / self.device / f"{number:010}"

    @property
    def facts(self) -> list[str]:
        rows = self.desktop.view.rows([rid for page in self.desktop.view.rids() for rid in page])
        return sorted(one.content for one in rows)


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Two]:
    made = Two(tmp_path, monkeypatch)
    yield made
    made.close()


def truncate(two: Two) -> None:
    two.batch(3).write_bytes(two.batch(3).read_bytes()[:-20])


def empty(two: Two) -> None:
    two.batch(3).write_bytes(b"")


def change(two: Two) -> None:
    data = bytearray(two.batch(3).read_bytes())
    data[-40] ^= 1
    two.batch(3).write_bytes(bytes(data))


def swap(two: Two) -> None:
    third, fourth = two.batch(3).read_bytes(), two.batch(4).read_bytes()
    two.batch(3).write_bytes(fourth)
    two.batch(4).write_bytes(third)


def replay(two: Two) -> None:
    two.batch(3).write_bytes(two.batch(2).read_bytes())


def drop(two: Two) -> None:
    two.batch(3).unlink()


def forge(two: Two) -> None:
    """Whoever runs the store knows the format, and has keys of its own."""
    line = b'{"line":"scratchpad","key":"k","value":"forged","updated_at":1}'
    group = "0" * 32
    header = BatchHeader(
        kind="batch", group=group, device=two.device, number=3, previous="", heads={}, count=1,
        lines=lines_hash([line]), made_at=1,
    )  # fmt: skip
    sealer = AgeSealer(group, (Epoch(number=2, identity=new_identity()),), bytes(32), {})
    two.batch(3).write_bytes(sealer.seal(Batch(header, (line,))))


LIES: dict[str, tuple[Callable[[Two], None], str]] = {
    "truncated": (truncate, "partial"), "empty": (empty, "partial"), "changed": (change, "damaged"),
    "swapped": (swap, "swapped"), "replayed": (replay, "swapped"), "missing": (drop, "missing"), "forged": (forge, "damaged"),
}  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_named_and_nothing_of_it_is_applied(two: Two, lie: str) -> None:
    kept = {number: two.batch(number).read_bytes() for number in (3, 4)}
    tell, kind = LIES[lie]
    tell(two)
    for _ in range(2):
        [problem] = two.run("desktop").problems
        assert (problem.device, problem.number, problem.kind) == (two.device, 3, kind)
        assert two.facts == ["Fact 1", "Fact 2"]
    status = two.desktop.sync.status()
    assert status is not None
    assert [one.number for one in status.problems] == [3]
    two.desktop.remember("What is written here goes on")
    assert two.run("desktop").sent == 1
    for number, data in kept.items():
        two.batch(number).write_bytes(data)
    assert not two.run("desktop").problems
    assert two.facts == ["Fact 1", "Fact 2", "Fact 3", "Fact 4", "What is written here goes on"]


def test_an_old_state_of_the_store_is_named(two: Two) -> None:
    two.run("desktop")
    two.batch(4).unlink()
    two.batch(3).unlink()
    [problem] = two.run("desktop").problems
    assert (problem.device, problem.kind) == (two.device, "old")
    assert two.facts == ["Fact 1", "Fact 2", "Fact 3", "Fact 4"]


def test_a_device_that_wrote_much_writes_a_snapshot_that_who_joins_reads(
    two: Two, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memtui.engine.sync.replica.SNAPSHOT_EVERY", 5)
    assert not (two.store / "snapshots").exists()
    two.run("desktop")
    two.desktop.remember("Fact 5")
    two.run("desktop")
    for number in (6, 7):
        two.laptop.remember(f"Fact {number}")
        two.run("laptop")
        two.run("desktop")
        two.desktop.remember(f"Fact {number}, as the desktop says")
        two.run("desktop")
    two.run("laptop")
    assert (two.store / "snapshots" / two.device).is_dir()
    two._at("laptop")
    code = two.laptop.sync.invite().code
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "phone"))
    with Memory.open(tmp_path / "phone.db", options=OPTIONS) as phone:
        phone.sync.join(str(two.store), code)
        assert phone.files.content_hash() == two.laptop.files.content_hash()


def test_a_device_without_turns_writes_no_snapshot(
    two: Two, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would hide the turns of others from who joins."""
    two.laptop.record_turn("s1", "user", "I am moving to Oslo in May")
    two.run("laptop")
    monkeypatch.setattr("memtui.engine.sync.replica.SNAPSHOT_EVERY", 2)
    two._at("desktop")
    two.desktop.sync.run(facts_only=True)
    for number in (5, 6, 7):
        two.desktop.remember(f"Fact {number}")
        two.run("desktop")
    assert not (two.store / "snapshots" / two.desktop.files.device()).exists()
    code = two.desktop.sync.invite().code
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "phone"))
    with Memory.open(tmp_path / "phone.db", options=OPTIONS) as phone:
        phone.sync.join(str(two.store), code)
        assert phone.stats().by_kind["episode"] == 1
