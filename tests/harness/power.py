"""A disk whose power can be cut: it records what a program does to a folder, and builds what a cut leaves.

An APSW VFS notes every write, truncation and sync of SQLite; the file operations of Python (link, rename,
unlink, fsync) are noted beside them. After a cut

- what was synced is there;
- every later write is there, not there, or there in part (some of its 512-byte sectors), one by one;
- names appear and go in the order in which they were made, at least as far as the last sync of the folder.

The last rule is what journaling file systems give. The shared memory file is not recorded: after a cut
SQLite does not read it.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import pytest

SECTOR = 512
_JOURNALS = apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_SUPER_JOURNAL | apsw.SQLITE_OPEN_WAL


class Write(NamedTuple):
    file: int
    offset: int
    data: bytes


class Truncate(NamedTuple):
    file: int
    size: int


class Sync(NamedTuple):
    file: int


class Name(NamedTuple):
    """A name begins to mean a file, or (``file`` None) goes."""

    name: str
    file: int | None


class FolderSync(NamedTuple):
    pass


Event = Write | Truncate | Sync | Name | FolderSync


class Disk:
    """What happened in a folder since recording began, in order."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.events: list[Event] = []
        self._files = 0
        self._names: dict[str, int] = {}
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                file = self.made(str(path))
                self.events += [Write(file, 0, path.read_bytes()), Sync(file)]
        self.events.append(FolderSync())

    def watches(self, path: Any) -> bool:
        return str(path).startswith(f"{self.folder}{os.sep}") and not str(path).endswith("-shm")

    def made(self, path: str) -> int:
        """The file of a name; a new one if the name means none."""
        if path not in self._names:
            self._files += 1
            self._names[path] = self._files
            self.events.append(Name(path, self._files))
        return self._names[path]

    def linked(self, source: str, target: str) -> None:
        self._names[target] = self._names[source]
        self.events.append(Name(target, self._names[target]))

    def removed(self, path: str) -> None:
        if self._names.pop(path, None) is not None:
            self.events.append(Name(path, None))

    def synced(self, path: str) -> None:
        if path in self._names:
            self.events.append(Sync(self._names[path]))
        elif Path(path).is_dir():
            self.events.append(FolderSync())

    def after_cut(self, at: int, dice: random.Random) -> dict[str, bytes]:
        """The files (name to content) that a power cut just before event ``at`` leaves."""
        happened = self.events[:at]
        lasting = max((i for i, event in enumerate(happened) if isinstance(event, FolderSync)), default=0)
        later = [i for i, event in enumerate(happened) if isinstance(event, Name) and i > lasting]
        lost_from = dice.choice([*later, at])
        names: dict[str, int] = {}
        for event in happened[:lost_from]:
            if isinstance(event, Name):
                if event.file is None:
                    names.pop(event.name, None)
                else:
                    names[event.name] = event.file
        mood = dice.choice(("lost", "kept", "mixed", "torn"))
        return {name: self._content(happened, file, mood, dice) for name, file in names.items()}

    def _content(self, happened: list[Event], file: int, mood: str, dice: random.Random) -> bytes:
        mine = [(i, event) for i, event in enumerate(happened) if getattr(event, "file", None) == file]
        synced = max((i for i, event in mine if isinstance(event, Sync)), default=-1)
        content = bytearray()
        for i, event in mine:
            if isinstance(event, Write):
                for offset, data in _survives(event, mood if i > synced else "kept", dice):
                    content.extend(bytes(max(0, offset + len(data) - len(content))))
                    content[offset : offset + len(data)] = data
            elif isinstance(event, Truncate) and (i < synced or mood == "kept" or dice.random() < 0.5):
                del content[event.size :]
                content.extend(bytes(event.size - len(content)))
        return bytes(content)


def _survives(write: Write, mood: str, dice: random.Random) -> Iterator[tuple[int, bytes]]:
    if mood == "kept" or (mood == "mixed" and dice.random() < 0.5):
        yield write.offset, write.data
    elif mood == "torn":
        for start in range(0, len(write.data), SECTOR):
            if dice.random() < 0.6:
                yield write.offset + start, write.data[start : start + SECTOR]


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: apsw.URIFilename | str, flags: list[int]) -> None:
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        self._disk = disk
        self._file = disk.made(path) if disk.watches(path) else None
        # SQLite's own VFS flushes the folder as well at the first sync of each handle of a journal or log.
        self._folder_too = bool(flags[0] & _JOURNALS and flags[0] & apsw.SQLITE_OPEN_CREATE)
        super().__init__("unix", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - the name is SQLite's
        if self._file is not None:
            self._disk.events.append(Write(self._file, offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, size: int) -> None:  # noqa: N802
        if self._file is not None:
            self._disk.events.append(Truncate(self._file, size))
        super().xTruncate(size)

    def xSync(self, flags: int) -> None:  # noqa: N802
        super().xSync(flags)
        if self._file is not None:
            self._disk.events.append(Sync(self._file))
            if self._folder_too:
                self._disk.events.append(FolderSync())
                self._folder_too = False


class _Vfs(apsw.VFS):
    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        super().__init__("recording", "unix", makedefault=True)

    def xOpen(self, name: apsw.URIFilename | str | None, flags: list[int]) -> Any:  # noqa: N802
        if name is None:  # a temporary file
            return super().xOpen(name, flags)
        return _File(self._disk, name, flags)

    def xDelete(self, path: str, sync_folder: bool) -> None:  # noqa: N802
        super().xDelete(path, sync_folder)
        self._disk.removed(path)
        if sync_folder:
            self._disk.events.append(FolderSync())


@contextmanager
def recording(folder: Path) -> Iterator[Disk]:
    """Record what this process does to the files of ``folder``."""
    disk = Disk(folder)
    vfs = _Vfs(disk)
    plain = {name: getattr(os, name) for name in ("open", "link", "rename", "unlink", "fsync")}

    def opened(path: Any, flags: int, *args: Any, **kwargs: Any) -> int:
        handle: int = plain["open"](path, flags, *args, **kwargs)
        if flags & os.O_CREAT and disk.watches(path):
            disk.made(str(path))
        return handle

    def link(source: Any, target: Any, **kwargs: Any) -> None:
        plain["link"](source, target, **kwargs)
        if disk.watches(target):
            disk.linked(str(source), str(target))

    def rename(source: Any, target: Any, **kwargs: Any) -> None:
        plain["rename"](source, target, **kwargs)
        if disk.watches(target):
            disk.linked(str(source), str(target))
            disk.removed(str(source))

    def unlink(path: Any, **kwargs: Any) -> None:
        plain["unlink"](path, **kwargs)
        disk.removed(str(path))

    def fsync(handle: int) -> None:
        path = str(Path(f"/proc/self/fd/{handle}").readlink())
        plain["fsync"](handle)
        if disk.watches(path) or path == str(folder):
            disk.synced(path)

    patch = pytest.MonkeyPatch()
    for name, function in (
        ("open", opened),
        ("link", link),
        ("rename", rename),
        ("unlink", unlink),
        ("fsync", fsync),
    ):
        patch.setattr(os, name, function)
    try:
        yield disk
    finally:
        patch.undo()
        vfs.unregister()
