"""Configuration files of other programs: read, edited as text, written whole or not at all, with a backup."""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from memtui import operating_system, paths
from memtui.engine.errors import InputError
from memtui.engine.records import Record

_MOST_BYTES = 64 << 20
_MOST_BACKUPS = 20
_BYTE_ORDER_MARK = "\ufeff"


class Edit(Record):
    """A file with its text before and after. ``before`` is None if there is no file yet, ``after`` if none is left."""

    path: Path
    before: str | None
    after: str | None

    @property
    def changes_text(self) -> bool:
        return (self.after or "") != (self.before or "")


def plan_edit(path: Path, change: Callable[[str], str]) -> Edit:
    """The edit that ``change`` makes. A link is followed; a byte order mark and line ends are kept.

    Raises InputError for a file that cannot be read or changed.
    """
    path = _link_target(path)
    before = read_text(path)
    text = (before or "").removeprefix(_BYTE_ORDER_MARK)
    windows = "\r\n" in text and text.count("\n") == text.count("\r\n")
    try:
        after = change(text.replace("\r\n", "\n") if windows else text)
    except (ValueError, RecursionError) as error:
        raise cannot_change(path, error) from error
    if windows:
        after = after.replace("\n", "\r\n")
    if before is not None and before.startswith(_BYTE_ORDER_MARK):
        after = _BYTE_ORDER_MARK + after
    return Edit(path=path, before=before, after=after)


def normalise_text(path: Path) -> str:
    """The text of a configuration without its byte order mark and with line ends of one character; "" for no file.

    Raises InputError if it cannot be read.
    """
    text = read_text(_link_target(path)) or ""
    return text.removeprefix(_BYTE_ORDER_MARK).replace("\r\n", "\n")


def earlier_texts(path: Path) -> Iterator[str]:
    """The texts of the backups beside a file, the newest first."""
    path = _link_target(path)
    try:
        backups = sorted(path.parent.glob(f"{_escape_name(path.name)}.*.bak*"), reverse=True)
    except OSError:
        return
    for backup in backups[:_MOST_BACKUPS]:
        try:
            text = read_text(backup)
        except InputError:
            continue
        if text is not None:
            yield text


def _escape_name(name: str) -> str:
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in name)


def _link_target(path: Path) -> Path:
    """The file itself, if ``path`` is a link to it. Raises InputError for a circle of links."""
    if not path.is_symlink():
        return path
    try:
        return path.resolve()
    except (OSError, RuntimeError) as error:
        raise InputError(f"{path} is a symbolic link that leads nowhere.", "Correct the link.") from error


def read_text(path: Path) -> str | None:
    """The text of a configuration file, None if there is none. Raises InputError if it cannot be read."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.", "Check its folder.") from error
    if len(raw) > _MOST_BYTES:
        raise InputError(f"{path} is larger than {_MOST_BYTES >> 20} MiB.", "Is it the right file?")
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise cannot_change(path, error) from error


def cannot_change(path: Path, error: Exception) -> InputError:
    """The error. It quotes no text of the file, which may hold keys."""
    place = ""
    if isinstance(error, json.JSONDecodeError):
        cause = f"it is not valid JSON: {error.msg.lower()}"
        place = f", line {error.lineno}"
    elif isinstance(error, UnicodeDecodeError):
        cause = f"it is not valid UTF-8 (byte {error.start})"
    elif isinstance(error, RecursionError):
        cause = "it is nested too deeply"
    else:
        cause = str(error)
    return InputError(f"{path}{place} cannot be changed: {cause}.", "Correct the file; it was left as it is.")


def write_edit(edit: Edit) -> Path | None:
    """Write the file. Returns where its old text is kept, None if there was none.

    The file keeps its mode; a new one is readable by its owner only. Raises InputError, and leaves the file
    unchanged, if it cannot be written or was changed after it was read.
    """
    path = edit.path
    try:
        if read_text(path) != edit.before:
            raise InputError(f"{path} was changed by another program just now.", "Try again.")
        paths.make_private_folder(path.parent)
        mode = 0o600 if edit.before is None else stat.S_IMODE(path.stat().st_mode)
        backup = None
        if edit.before is not None:
            backup = _free_path(path.with_name(f"{path.name}.{time.strftime('%Y%m%d-%H%M%S')}.bak"))
            _create_file(backup, edit.before, mode)
        if edit.after is None:
            path.unlink()
            return backup
        draft = _free_path(path.with_name(f".{path.name}.memtui"))
        _create_file(draft, edit.after, mode)
        try:
            operating_system.replace(draft, path)
        except OSError:
            draft.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise paths.disk_full_error(error, path) or InputError(
            f"{path} cannot be written: {error.strerror}.", "Check its folder and the disk."
        ) from error
    return backup


def _create_file(path: Path, text: str, mode: int) -> None:
    """Create a file, complete or not at all."""
    handle = operating_system.create_private(path, mode)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
            stream.flush()
            operating_system.flush_descriptor(stream.fileno())
    except OSError:
        path.unlink(missing_ok=True)
        raise


def _free_path(path: Path) -> Path:
    """``path``, or the first ``path-2``, ``path-3`` ... that is not there."""
    number, place = 2, path
    while os.path.lexists(place):
        place = path.with_name(f"{path.name}-{number}")
        number += 1
    return place
