"""Devices of one group over a real store, each with keys and a memory of its own."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import closing, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from memtui import Memory
from memtui.engine.records import Options
from memtui.engine.records.sync import SyncReport
from memtui.engine.sync.batch import Batch, BatchError, Removed
from memtui.engine.sync.envelope import decrypt
from memtui.engine.sync.keyring import Keyring, Membership
from memtui.engine.sync.stores import open_store

OPTIONS = Options(background=False, embedder="off", allow_unsafe_fs=True)


class Machines:
    """Devices of one group, each with keys of its own."""

    def __init__(self, folder: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder, self.monkeypatch = folder, monkeypatch
        self.url = url
        self.memories: dict[str, Memory] = {}

    def add(self, name: str, *, plain: bool = False) -> Memory:
        """A new device: the first begins the group, another one joins it."""
        host = None if plain else next(iter(self.memories), None)
        code = self.on(host).sync.invite().code if host else ""
        self.memories[name] = Memory.open(self._folder / f"{name}.db", options=OPTIONS)
        memory = self.on(name)
        report = memory.sync.join(self.url, code) if host else memory.sync.run(self.url, plain=plain)
        assert not report.problems
        return memory

    def on(self, name: str, memory: Memory | None = None) -> Memory:
        """The memory of a device (or another one) with the keys of that device."""
        self.monkeypatch.setenv("XDG_CONFIG_HOME", str(self._folder / name))
        return memory or self.memories[name]

    def sync(self, rounds: int = 2) -> list[SyncReport]:
        """All devices in turns, so that what one says is heard and answered by each."""
        reports = [self.on(name).sync.run() for _ in range(rounds) for name in self.memories]
        problems = [one.problems for one in reports if one.problems]
        assert not problems, problems
        return reports

    def hold(self, text: bytes) -> list[str]:
        """The objects of the store that have a text, as they are or as a device can read them."""
        members = [self._membership(name) for name in self.memories]
        with closing(open_store(self.url)) as store:
            objects = {name: store.get(name) or b"" for name in store.list_since("")}
        if "://" not in self.url:  # and what is beside them, under any name
            files = (path for path in Path(self.url).rglob("*") if path.is_file())
            objects |= {str(path): path.read_bytes() for path in files}
        return sorted(
            name for name, data in objects.items() if any(text in one for one in _readings(data, members))
        )

    def _membership(self, name: str) -> Membership:
        self.on(name)
        found = Keyring().get(self._folder / f"{name}.db")
        assert found is not None
        return found


def _readings(data: bytes, members: list[Membership]) -> Iterator[bytes]:
    """All that can be made of an object: as it is, opened by each device, decrypted by each key, unpacked."""
    yield data
    for member in members:
        with suppress(BatchError):
            yield _content(member.group.sealer.open(data))
        keys = (member.identity, *(epoch.identity for epoch in member.group.epochs))
        for key in keys:
            _, _, sealed = data.partition(b"\n")
            if key and (found := decrypt(sealed, key)) is not None:
                yield found
                yield from _unpacked(found[32:])  # after its authentication


def _content(batch: Batch) -> bytes:
    return b"\n".join(line for line in batch.lines if not isinstance(line, Removed))


def _unpacked(data: bytes) -> Iterator[bytes]:
    with suppress(Exception):
        yield _zstd().ZstdDecompressor().decompress(data)
    with suppress(zlib.error):
        yield zlib.decompress(data)


def _zstd() -> Any:
    with suppress(ImportError):
        return import_module("compression.zstd")
    return import_module("backports.zstd")
