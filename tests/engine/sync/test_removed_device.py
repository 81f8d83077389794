"""A device that was removed holds nothing back, what live devices need stays, and it may come back with all that it has."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from machines import OPTIONS, Machines
from memtui import Memory
from memtui.engine.sync import replica
from memtui.engine.sync.group import NotMemberError
from memtui.engine.sync.stores import open_store

import store_servers as servers

PLACES: dict[str, Callable[[Path], str]] = {
    "folder": lambda path: str(path / "store"),
    "s3": lambda path: servers.s3_url(),
    "postgres": lambda path: servers.postgres_url(),
}


@pytest.fixture
def machines(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Machines]:
    place = PLACES[getattr(request, "param", "folder")]
    made = Machines(tmp_path, place(tmp_path), monkeypatch)
    for name in ("laptop", "desktop", "server"):
        made.add(name)
    yield made
    for memory in made.memories.values():
        memory.close()


def _objects_of(machines: Machines, device: str) -> list[str]:
    with closing(open_store(machines.url)) as store:
        return [name for name in store.list_since("") if device in name.split("/")]


def _leave(machines: Machines, name: str) -> Memory:
    """Take a device out of the group, as the laptop does; it is none of the machines that sync from then on."""
    device = machines.on(name).files.device()
    machines.on("laptop").sync.remove(device)
    return machines.memories.pop(name)


def _facts(memory: Memory) -> set[str]:
    return {one.content for one in memory.view.page("kind:fact")}


def _are_one(machines: Machines) -> bool:
    return len({machines.on(name).files.content_hash() for name in machines.memories}) == 1


@pytest.mark.parametrize("machines", PLACES, indirect=True)
def test_what_a_removed_device_wrote_goes_and_it_holds_nothing_back(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    machines.on("server").remember("The server runs in Oslo")
    machines.sync()
    server = machines.on("server").files.device()
    assert _objects_of(machines, server)
    with closing(_leave(machines, "server")):
        machines.sync(3)
        assert not _objects_of(machines, server)
        monkeypatch.setattr(replica, "SNAPSHOT_EVERY", 3)
        monkeypatch.setattr(replica, "TELL_EVERY", 1)
        for number in range(8):
            machines.on("laptop").remember(f"Fact {number}")
            machines.sync(1)
        machines.sync()
        laptop = machines.on("laptop").files.device()
        assert len([one for one in _objects_of(machines, laptop) if one.startswith("batches/")]) < 6
        phone = machines.add("phone")
        assert "The server runs in Oslo" in _facts(phone)
        machines.sync()
        assert _are_one(machines)


def test_what_a_removed_device_wrote_stays_until_every_device_has_read_it(machines: Machines) -> None:
    machines.on("server").remember("The server runs in Oslo")
    machines.on("server").sync.run()
    server = machines.memories["server"].files.device()
    with closing(_leave(machines, "server")):
        for _ in range(3):  # the desktop is away, and has read nothing of it
            machines.on("laptop").remember("Ada lives in Bergen")
            machines.on("laptop").sync.run()
        assert any(name.startswith("batches/") for name in _objects_of(machines, server))
        assert "The server runs in Oslo" not in _facts(machines.memories["desktop"])
        machines.sync(2)
        assert "The server runs in Oslo" in _facts(machines.memories["desktop"])
        assert not _objects_of(machines, server)
        assert _are_one(machines)


def test_a_removed_device_comes_back_with_all_it_has_and_what_was_erased_stays_erased(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    laptop = machines.on("laptop")
    secret = laptop.remember("The user owns a purple submarine")
    machines.sync()
    server = _leave(machines, "server")
    name = server.files.device()
    server.remember("Written while nobody read it")
    laptop = machines.on("laptop")
    laptop.files.erase(laptop.files.plan_erase([secret.id]))
    laptop.remember("Ada lives in Bergen")
    machines.sync(3)
    # The batches that told of the erase go, too: only snapshots are left.
    monkeypatch.setattr(replica, "SNAPSHOT_EVERY", 1)
    monkeypatch.setattr(replica, "TELL_EVERY", 1)
    for number in range(4):
        machines.on("laptop").remember(f"Fact {number}")
        machines.sync(1)
    with pytest.raises(NotMemberError):
        machines.on("server", server).sync.run()
    code = machines.on("laptop").sync.invite().code
    machines.memories["server"] = server
    report = machines.on("server").sync.join(machines.url, code)
    assert report.erased == 1
    assert server.files.device() != name
    machines.sync(3)
    for device in machines.memories:
        facts = _facts(machines.on(device))
        assert {"Written while nobody read it", "Ada lives in Bergen", "Fact 3"} <= facts
        assert "The user owns a purple submarine" not in facts
    assert _are_one(machines)
    assert machines.hold(b"submarine") == []


def test_what_only_one_device_read_of_a_removed_one_reaches_the_others(
    machines: Machines, tmp_path: Path
) -> None:
    """In a folder that a client mirrors, its last batch had not arrived where it was removed."""
    machines.sync()
    machines.on("server").remember("The server runs in Oslo")
    machines.on("server").sync.run()
    machines.on("desktop").sync.run()
    batch = max((tmp_path / "store" / "batches" / machines.memories["server"].files.device()).iterdir())
    data = batch.read_bytes()
    batch.unlink()
    with closing(_leave(machines, "server")):
        batch.write_bytes(data)
        notes = [note for report in machines.sync(2) for note in report.notes]
        assert any("removed device" in note for note in notes)
        assert "The server runs in Oslo" in _facts(machines.memories["laptop"])
        assert _are_one(machines)


def test_it_does_so_when_it_was_killed_before_it_noted_its_batch(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    class KilledError(Exception): ...

    def be_killed(*given: object) -> None:
        raise KilledError

    machines.sync()
    server = machines.on("server")
    server.remember("The user lives in Paris")
    server.sync.run()
    machines.on("desktop").remember("The user likes tea")
    with monkeypatch.context() as patched:
        patched.setattr(replica.Replica, "_note_written", be_killed)
        with pytest.raises(KilledError):
            machines.on("desktop").sync.run()
    with closing(
        open_store(machines.url)
    ) as store:  # the laptop does not see the batch before it removes the server
        written = _objects_of(machines, server.files.device())
        last = max(name for name in written if name.startswith("batches/"))
        batch = store.get(last)
        store.delete(last)
        _leave(machines, "server").close()
        assert batch is not None
        store.put_if_absent(last, batch)
    machines.sync(3)
    for name in machines.memories:
        assert _facts(machines.on(name)) == {"The user lives in Paris", "The user likes tea"}, name
    assert _are_one(machines)


def test_the_old_name_of_a_copied_home_goes_when_it_is_removed(machines: Machines, tmp_path: Path) -> None:
    server = machines.memories.pop("server")
    old = server.files.device()
    server.close()
    copy = tmp_path / "copy.db"
    shutil.copy(tmp_path / "server.db", copy)
    shutil.copytree(tmp_path / "server", tmp_path / "copy")
    keys = tmp_path / "copy" / "memtui" / "sync.json"
    keys.write_text(keys.read_text().replace(str(tmp_path / "server.db"), str(copy)))
    machines.memories["copy"] = Memory.open(copy, options=OPTIONS)
    assert any(old in note for note in machines.on("copy").sync.run().notes)
    machines.sync()
    assert _objects_of(machines, old)
    machines.on("laptop").sync.remove(old)
    machines.on("copy").remember("The copy goes on")
    machines.sync(3)
    assert not _objects_of(machines, old)
    assert "The copy goes on" in _facts(machines.memories["laptop"])
    assert _are_one(machines)


def test_who_is_behind_reads_what_is_no_longer_there_from_a_snapshot(
    machines: Machines, tmp_path: Path
) -> None:
    """A file from before, as a backup has it; what the removed device wrote since is in snapshots of others only."""
    machines.on("laptop").remember("Ada lives in Bergen")
    machines.sync()
    machines.memories["desktop"].close()
    shutil.copy(tmp_path / "desktop.db", tmp_path / "before.db")
    machines.memories["desktop"] = Memory.open(tmp_path / "desktop.db", options=OPTIONS)
    machines.on("server").remember("The server runs in Oslo")
    machines.sync(2)
    server = machines.on("server").files.device()
    with closing(_leave(machines, "server")):
        machines.sync(3)
        assert not _objects_of(machines, server)
        machines.memories["desktop"].close()
        (tmp_path / "before.db").replace(tmp_path / "desktop.db")
        machines.memories["desktop"] = Memory.open(tmp_path / "desktop.db", options=OPTIONS)
        machines.sync(2)
        assert "The server runs in Oslo" in _facts(machines.memories["desktop"])
        assert _are_one(machines)


def test_a_device_that_was_removed_from_a_plain_folder_stops_until_it_begins_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machines = Machines(tmp_path, str(tmp_path / "store"), monkeypatch)
    laptop, desktop = machines.add("laptop", plain=True), machines.add("desktop", plain=True)
    machines.sync()
    machines.on("laptop").sync.remove(desktop.files.device())
    desktop.remember("Written while nobody read it")
    with pytest.raises(NotMemberError, match="was removed") as raised:
        machines.on("desktop").sync.run()
    assert "--plain" in raised.value.hint
    desktop.sync.stop()
    desktop.sync.run(machines.url, plain=True)
    machines.sync()
    assert "Written while nobody read it" in _facts(laptop)
    assert _are_one(machines)
    laptop.close()
    desktop.close()


def test_a_memory_takes_what_came_by_sync_along_into_another_group(
    machines: Machines, tmp_path: Path
) -> None:
    machines.on("laptop").remember("Ada lives in Bergen")
    machines.sync()
    desktop = machines.on("desktop")
    desktop.sync.stop()
    other = Machines(tmp_path, str(tmp_path / "other"), machines.monkeypatch)
    other.memories["desktop"] = desktop
    other.on("desktop").sync.run(other.url)
    phone = other.add("phone")
    assert _facts(phone) == {"Ada lives in Bergen"}
    phone.close()
