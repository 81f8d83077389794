"""A folder as a store: of a client that syncs it (Syncthing, Dropbox), on a network file system, or on a stick.

A file gets its name only when it is whole and on the disk. What a client leaves beside it (conflict copies, partial files) has
names that are not listed. On a folder that a client syncs, ``put_if_absent`` sees what has arrived here so far.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import time
from contextlib import suppress
from pathlib import Path

from memtui import operating_system, paths

from . import base
from .base import MOST_BYTES, SyncStoreError, checked_name, checked_prefix

_PARTIAL = ".memtui-"
_LEFT_BEHIND_SECONDS = 3_600
"""No write takes as long: the program that wrote such a file was killed. It may hold what is erased since."""

_READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS)
_LATER = "Nothing was lost: what is new here is sent later."


class FolderStore:
    """Objects as files. ``create``: make the folder if its parent is there; else a missing one is an error, because a
    stick that is not plugged in must not look like an empty store."""

    def __init__(self, folder: Path, *, create: bool = False) -> None:
        self.url = str(folder)
        self._folder = folder
        try:
            if create and not folder.exists() and folder.parent.is_dir():
                folder.mkdir(mode=paths.FOLDER_MODE)
            usable = folder.is_dir()
        except OSError as error:
            raise self._store_error(error) from None
        if not usable:
            raise SyncStoreError(
                f"There is no folder {folder}.",
                "Plug in or mount what it is on, make it, or name another one: memtui sync FOLDER",
            )

    def put_if_absent(self, name: str, data: bytes) -> bool:
        path = self._path_of(name)
        try:
            partial = self._write_partial(path, data)
            try:
                try:
                    os.link(partial, path)
                except FileExistsError:
                    return False
                except OSError:  # a file system without hard links, as on most sticks
                    if os.path.lexists(path):
                        return False
                    operating_system.rename(partial, path)
                _flush_folder(path.parent)
            finally:
                with suppress(OSError):
                    partial.unlink(missing_ok=True)
        except OSError as error:
            raise self._not_written(error) from None
        return True

    def get(self, name: str) -> bytes | None:
        path = self._path_of(name)
        # Who else writes into the folder may have put a pipe or a link there.
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)
        try:
            with os.fdopen(operating_system.open_private(path, flags), "rb") as file:
                found = os.fstat(file.fileno())
                if not stat.S_ISREG(found.st_mode):
                    raise SyncStoreError(f"{path} is not a file.", "Remove it from the store.")
                if found.st_size > MOST_BYTES:
                    raise base.large_object_error(name, found.st_size)
                return file.read(MOST_BYTES + 1)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise self._store_error(error) from None

    def list_since(self, prefix: str, after: str = "") -> list[str]:
        found: list[str] = []
        self._list_folder(checked_prefix(prefix), after, found)
        return sorted(found)

    def replace(self, name: str, data: bytes) -> None:
        path = self._path_of(name)
        try:
            partial = self._write_partial(path, data)
            try:
                operating_system.replace(partial, path)
            except OSError:
                with suppress(OSError):
                    partial.unlink()
                raise
            _flush_folder(path.parent)
        except OSError as error:
            raise self._not_written(error) from None

    def delete(self, name: str) -> None:
        path = self._path_of(name)
        try:
            path.unlink(missing_ok=True)
        except NotADirectoryError:
            pass
        except OSError as error:
            raise self._not_written(error) from None

    def close(self) -> None:
        """Nothing is open."""

    def _path_of(self, name: str) -> Path:
        return self._folder.joinpath(*checked_name(name).split("/"))

    def _list_folder(self, prefix: str, after: str, found: list[str]) -> None:
        place = self._folder.joinpath(*prefix.split("/"))
        below: list[str] = []
        try:
            with os.scandir(place) as entries:
                for entry in entries:
                    name = prefix + entry.name
                    if entry.name.startswith(_PARTIAL):
                        _remove_left_behind(Path(entry.path))
                    elif base.is_name(name) and entry.is_dir(follow_symlinks=False):
                        below.append(f"{name}/")
                    elif name > after and base.is_name(name):
                        found.append(name)
        except (FileNotFoundError, NotADirectoryError):
            self._must_be_there()
        except OSError as error:
            raise self._store_error(error) from None
        for folder in below:
            if f"{folder}~" > after:  # else all that is in it comes before
                self._list_folder(folder, after, found)

    def _must_be_there(self) -> None:
        if not self._folder.is_dir():
            raise SyncStoreError(f"The folder {self._folder} is gone.", "Plug in or mount what it is on.")

    def _write_partial(self, path: Path, data: bytes) -> Path:
        """A file beside ``path`` that has the data on the disk. Whoever may use the folder may read it."""
        self._must_be_there()
        folder_mode = stat.S_IMODE(self._folder.stat().st_mode)
        missing = [above for above in (path.parent, *path.parent.parents) if not above.exists()]
        for folder in reversed(missing):
            with suppress(FileExistsError):
                folder.mkdir(mode=folder_mode)
            _flush_folder(folder.parent)
        for left in path.parent.glob(f"{_PARTIAL}*.partial"):
            _remove_left_behind(left)
        partial = path.with_name(f"{_PARTIAL}{secrets.token_hex(6)}.partial")
        try:
            with os.fdopen(operating_system.create_private(partial, folder_mode & 0o666), "wb") as file:
                file.write(data)
                file.flush()
                operating_system.flush_descriptor(file.fileno())
        except OSError:
            with suppress(OSError):
                partial.unlink()
            raise
        return partial

    def _not_written(self, error: OSError) -> Exception:
        full = paths.disk_full_error(error, self._folder)
        if full is not None:
            full.hint = f"{_LATER} Free some space there, and sync again."
            return full
        if error.errno in _READ_ONLY:
            return SyncStoreError(
                f"The folder {self._folder} cannot be written: {error.strerror}.",
                f"{_LATER} See that you may write there, and that it is not mounted for reading only.",
            )
        return self._store_error(error)

    def _store_error(self, error: OSError) -> Exception:
        return SyncStoreError(
            f"The folder {self._folder} cannot be used: {error.strerror or error}.",
            "Check that it is mounted and that you may write there.",
        )


def _remove_left_behind(partial: Path) -> None:
    """Remove what a killed program left half written."""
    with suppress(OSError):
        if partial.suffix == ".partial" and partial.stat().st_mtime < time.time() - _LEFT_BEHIND_SECONDS:
            partial.unlink()


def _flush_folder(folder: Path) -> None:
    with suppress(OSError):  # a file system that cannot
        operating_system.flush_path(folder)
