"""Erased text is in no object of a store, also decrypted with the keys of the devices. Over each store that is installed.

Must fail on: batches or snapshots that stay as they are; a snapshot that goes though batches were dropped for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from machines import Machines
from memtui.engine.records.sync import SyncReport
from memtui.engine.sync import replica
from memtui.engine.sync.erased_lines import ErasedLines
from memtui.engine.sync.stores import open_store

import store_servers as servers

WORD = b"submarine"


@pytest.fixture(params=["folder", "s3", "postgres"])
def machines(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Machines]:
    places: dict[str, Callable[[], str]] = {
        "folder": lambda: str(tmp_path / "store"), "s3": servers.s3_url, "postgres": servers.postgres_url
    }  # fmt: skip
    yield from _three(tmp_path, places[request.param](), monkeypatch)


def _three(folder: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machines]:
    """Three devices that write snapshots, and drop batches because of them."""
    monkeypatch.setattr(replica, "SNAPSHOT_EVERY", 3)
    monkeypatch.setattr(replica, "TELL_EVERY", 1)
    made = Machines(folder, url, monkeypatch)
    for name in ("laptop", "desktop", "server"):
        made.add(name)
    yield made
    for memory in made.memories.values():
        memory.close()


def _tell_of(machines: Machines) -> str:
    """A fact that each device has said something about, between others; the id of the fact."""
    fact = machines.on("laptop").remember("The user owns a purple submarine", tags=("boats",))
    for number in range(4):
        machines.on("laptop").remember(f"Fact {number}")
        machines.sync(1)
    machines.on("desktop").tag(fact.id, add=("toys",))
    machines.sync()
    corrected = machines.on("server").correct(fact.id, "The user owns a yellow submarine")
    machines.sync()
    return corrected.id


def _erase(machines: Machines, id: str, monkeypatch: pytest.MonkeyPatch) -> list[SyncReport]:
    """Erase on one device, and sync all; no other snapshot is due for long, as after any sync but one of many."""
    monkeypatch.setattr(replica, "SNAPSHOT_EVERY", 1_000)
    monkeypatch.setattr(replica, "TELL_EVERY", 1_000)
    memory = machines.on("desktop")
    assert memory.files.erase(memory.files.plan_erase([id])).complete
    return machines.sync(3)


def test_what_was_erased_is_in_no_object_of_the_store(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = _tell_of(machines)
    assert {name.partition("/")[0] for name in machines.hold(WORD)} >= {"batches", "snapshots"}
    reports = _erase(machines, id, monkeypatch)
    assert machines.hold(WORD) == []
    assert machines.hold(b"Fact 3")  # they can be read
    # What a store keeps by itself is for its owner to delete, and each device that took something out says so.
    assert sum(replica.KEEPS_VERSIONS in one.notes for one in reports) == len(machines.memories)
    _assert_joiner_has_everything(machines, facts=4)  # nothing else went with it


def _assert_joiner_has_everything(machines: Machines, *, facts: int) -> None:
    phone = machines.add("phone")
    assert phone.view.count("kind:fact") == facts
    machines.sync()
    assert len({machines.on(name).files.content_hash() for name in machines.memories}) == 1


@pytest.fixture
def over_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machines]:
    yield from _three(tmp_path, str(tmp_path / "store"), monkeypatch)


class Cut(BaseException):
    """The process ends here."""


def test_a_snapshot_that_was_cut_off_keeps_nothing_and_hides_nothing(
    over_folder: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = _tell_of(over_folder)
    monkeypatch.setattr(replica, "SNAPSHOT_EVERY", 1_000)
    monkeypatch.setattr(replica, "TELL_EVERY", 1_000)
    monkeypatch.setattr("memtui.engine.sync.outgoing.MOST_LINES", 4)  # a snapshot of some parts
    over_folder.on("laptop").remember("Fact 4")
    over_folder.sync()
    put = replica.Replica._put_part

    def cut_off(self: replica.Replica, *given: Any, part: int, parts: int) -> None:
        if part != 1:
            raise Cut
        put(self, *given, part=part, parts=parts)

    with monkeypatch.context() as patched:
        patched.setattr(replica, "SNAPSHOT_EVERY", 0)
        patched.setattr(replica.Replica, "_put_part", cut_off)
        with pytest.raises(Cut):
            over_folder.on("laptop").sync.run()
    server = over_folder.on("server")
    for one in server.view.page("kind:fact"):
        server.tag(one.id, add=("late",))
    over_folder.on("server").sync.run()
    with monkeypatch.context() as patched:  # it sends nothing, so this one would have the same number
        patched.setattr(replica, "SNAPSHOT_EVERY", 0)
        over_folder.on("laptop").sync.run()
    _assert_joiner_has_everything(over_folder, facts=6)
    _erase(over_folder, id, monkeypatch)
    assert over_folder.hold(WORD) == []


def test_what_was_to_be_sent_again_is_when_the_batches_were_half_replaced(
    over_folder: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replica, "SNAPSHOT_EVERY", 1_000)
    laptop = over_folder.on("laptop")
    fact = laptop.remember("The user owns a purple submarine")
    other = laptop.correct(fact.id, "The user owns a plane")
    over_folder.sync()
    real = type(open_store(over_folder.url)).replace

    def cut_off(self: Any, name: str, data: bytes) -> None:
        real(self, name, data)
        raise Cut

    assert laptop.files.erase(laptop.files.plan_erase([fact.id])).complete
    with monkeypatch.context() as patched:
        patched.setattr("memtui.engine.sync.stores.folder.FolderStore.replace", cut_off)
        with pytest.raises(Cut):
            over_folder.on("laptop").sync.run()
    over_folder.sync(3)
    assert over_folder.hold(WORD) == []
    assert other.id in {one.id for one in laptop.view.page("kind:fact")}
    _assert_joiner_has_everything(over_folder, facts=1)


@pytest.mark.parametrize("fault", ["_remove_erased_lines", "batch_without", "delete"])
def test_what_stays_in_the_store_is_found(
    over_folder: Machines, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    id = _tell_of(over_folder)
    if fault == "_remove_erased_lines":
        monkeypatch.setattr(replica.Replica, "_remove_erased_lines", lambda self: None)
    elif fault == "batch_without":
        monkeypatch.setattr(ErasedLines, "batch_without", lambda *given: None)
    else:  # older snapshots stay
        monkeypatch.setattr("memtui.engine.sync.stores.folder.FolderStore.delete", lambda *given: None)
    _erase(over_folder, id, monkeypatch)
    assert over_folder.hold(WORD)


def test_a_name_that_tells_of_it_and_comes_after_the_erase_is_covered_everywhere(machines: Machines) -> None:
    """The device that gave the name covers it; the device that erased had no such name then, and is told."""
    fact = machines.on("laptop").remember("Ada Lovell keeps her zxqvelvet gloves in the hall")
    machines.on("laptop").remember("Ada Lovell lives in Paris")
    machines.sync()
    for name in machines.memories:
        machines.on(name).models.index_pending()
    machines.sync()
    server = machines.on("server")
    (ada,) = [one for one in server.entities.page() if one.canonical_name == "Ada Lovell"]
    server.entities.rename(ada.id, "Lady Zxqvelvet")
    server.sync.run()
    laptop = machines.on("laptop")
    assert laptop.files.erase(laptop.files.plan_erase([fact.id])).complete
    machines.sync(3)
    for name in machines.memories:
        entity = machines.on(name).entities.get(ada.id).entity
        assert "velvet" not in " ".join((entity.canonical_name, *entity.aliases)).casefold(), name
    assert machines.hold(b"xqvelvet") == []
    assert len({machines.on(name).files.content_hash() for name in machines.memories}) == 1
