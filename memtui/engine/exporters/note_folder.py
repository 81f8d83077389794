"""A folder of exported notes. Each export replaces its own notes and leaves foreign files alone.

Notes are written beside the folder first. A list in it says which files are ours, with a hash each: only a file
that is still as we left it is replaced or removed.
"""

from __future__ import annotations

import hashlib
import io
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

import msgspec

from memtui import operating_system
from memtui.atomic_file import AbandonFile, target_exists, write_error
from memtui.engine.errors import InputError
from memtui.engine.records import Record

LIST = ".memtui-vault.json"
_FORMAT = "memtui-vault"
_CHUNK = 1 << 20


class _Manifest(Record):
    """``files``: path -> hashes of what we may have left there."""

    format: str
    version: int
    files: dict[str, tuple[str, ...]]


class NoteFolder:
    """Notes of one export. ``size`` in bytes; ``kept``: files that somebody changed since, or that are not ours."""

    def __init__(self, target_folder: Path, staging_folder: Path) -> None:
        self.size = 0
        self.kept: list[str] = []
        self._target_folder = target_folder
        self._staging_folder = staging_folder
        self._made: dict[str, str] = {}

    @contextmanager
    def create_note(self, path: str) -> Iterator[TextIO]:
        name = f"{path}.md"
        file = self._staging_folder / name
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = operating_system.create_private(file)
        with io.TextIOWrapper(_text_writer(descriptor), encoding="utf-8", newline="\n") as text:
            yield text
        self.size += file.stat().st_size
        self._made[name] = _hash_file(file)

    def put_in_place(self) -> None:
        """Bring the notes into the folder."""
        before = _read_manifest(self._target_folder)
        if before is None:
            self._write_list({name: (hash,) for name, hash in self._made.items()}, self._staging_folder)
            if self._target_folder.exists():
                self._target_folder.rmdir()  # empty, or this fails
            operating_system.rename(self._staging_folder, self._target_folder)
            return
        # Until all is done, the file of a path may be the one of before or the new one.
        names = before.files.keys() | self._made.keys()
        both = {name: (*before.files.get(name, ()), *filter(None, (self._made.get(name),))) for name in names}
        self._write_list(both, self._target_folder)
        for name in sorted(names):
            file = self._target_folder / name
            if not self._is_own_file(file, both[name]):
                self.kept.append(name)
                self._made.pop(name, None)
            elif name in self._made:
                file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                operating_system.replace(self._staging_folder / name, file)
            else:
                file.unlink(missing_ok=True)
                with suppress(OSError):
                    file.parent.rmdir()
        self._write_list({name: (hash,) for name, hash in self._made.items()}, self._target_folder)

    def _is_own_file(self, file: Path, hashes: tuple[str, ...]) -> bool:
        """Whether no foreign file is there, and no link on the way to it."""
        folder = file.parent
        while folder != self._target_folder:
            if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
                return False
            folder = folder.parent
        try:
            mode = file.lstat().st_mode
        except FileNotFoundError:
            return True
        return stat.S_ISREG(mode) and _hash_file(file) in hashes

    def _write_list(self, files: dict[str, tuple[str, ...]], folder: Path) -> None:
        listed = _Manifest(format=_FORMAT, version=1, files=dict(sorted(files.items())))
        partial = folder / f"{LIST}.partial"
        partial.unlink(missing_ok=True)
        descriptor = operating_system.create_private(partial)
        with _text_writer(descriptor) as file:
            file.write(msgspec.json.format(msgspec.json.encode(listed), indent=1) + b"\n")
            file.flush()
            operating_system.flush_descriptor(file.fileno())
        operating_system.replace(partial, folder / LIST)


@contextmanager
def open_note_folder(target_folder: Path) -> Iterator[NoteFolder]:
    """A folder for notes, mode 0700: a new or empty one, or one that an export made before.

    Leaving by ``Abandon`` or an error leaves everything as it was. Raises InputError, DiskFullError.
    """
    _require_usable(target_folder)
    staging_folder = target_folder.with_name(f".memtui-{secrets.token_hex(6)}.partial")
    try:
        staging_folder.mkdir(mode=0o700)
        folder = NoteFolder(target_folder, staging_folder)
        yield folder
        folder.put_in_place()
    except AbandonFile:
        pass
    except OSError as error:
        raise write_error(error, target_folder) from None
    finally:
        shutil.rmtree(staging_folder, ignore_errors=True)


def _require_usable(target_folder: Path) -> None:
    if (
        target_exists(target_folder, "folder")
        and _read_manifest(target_folder) is None
        and any(target_folder.iterdir())
    ):
        raise InputError(
            f"{target_folder} contains files that memtui did not export.",
            "Name a new folder in it, or an empty one.",
        )


def _read_manifest(target_folder: Path) -> _Manifest | None:
    """The list of a folder that an export made; paths that lead out of it are not believed."""
    file = target_folder / LIST
    if file.is_symlink() or not file.is_file():
        return None
    try:
        listed = msgspec.json.decode(file.read_bytes(), type=_Manifest)
    except (OSError, msgspec.MsgspecError):
        return None
    if listed.format != _FORMAT:
        return None
    safe = {
        name: hashes
        for name, hashes in listed.files.items()
        if name.endswith(".md")
        and not Path(name).is_absolute()
        and ".." not in Path(name).parts
        and "\0" not in name
    }
    return msgspec.structs.replace(listed, files=safe)


def _text_writer(handle: int) -> io.BufferedWriter:
    return io.BufferedWriter(io.FileIO(handle, "w"))


def _hash_file(file: Path) -> str:
    digest = hashlib.blake2b(digest_size=16)
    with file.open("rb") as data:
        while chunk := data.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
