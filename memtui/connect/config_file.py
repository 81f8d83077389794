"""Write an edit: a copy of the old file beside it, then the new one in its place at once."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

from memtui import paths
from memtui.engine.errors import InputError

from .clients import Edit, read


def write(edit: Edit) -> Path | None:
    """Write the file and return where its old text is kept, None where there was none.

    The file keeps its mode; a new one is for its owner only. Raises InputError, the file as it was, when it
    cannot be written or somebody else changed it after it was read.
    """
    path = edit.path
    try:
        if read(path) != edit.before:
            raise InputError(f"{path} was changed by another program just now.", "Try again.")
        paths.private_folder(path.parent)
        mode = 0o600 if edit.before is None else stat.S_IMODE(path.stat().st_mode)
        backup = None
        if edit.before is not None:
            backup = _free(path.with_name(f"{path.name}.{time.strftime('%Y%m%d-%H%M%S')}.bak"))
            _create(backup, edit.before, mode)
        draft = _free(path.with_name(f".{path.name}.memtui"))
        _create(draft, edit.after, mode)
        try:
            draft.replace(path)
        except OSError:
            draft.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise paths.no_room(error, path) or InputError(
            f"{path} cannot be written: {error.strerror}.", "Check its folder and the disk."
        ) from error
    return backup


def _create(path: Path, text: str, mode: int) -> None:
    """A new file, whole or not at all."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    handle = os.open(path, flags, mode)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
    except OSError:
        path.unlink(missing_ok=True)
        raise


def _free(path: Path) -> Path:
    """``path``, or the first ``path-2``, ``path-3`` ... that is not there."""
    number, place = 2, path
    while os.path.lexists(place):
        place = path.with_name(f"{path.name}-{number}")
        number += 1
    return place
