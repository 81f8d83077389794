"""Write a file completely or not at all: under another name first, flushed, then renamed."""

from __future__ import annotations

import io
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Literal

from memtui import operating_system, paths
from memtui.engine.errors import InputError, MemtuiError

_BUFFER = 1 << 20


def target_exists(path: Path, kind: Literal["file", "folder"]) -> bool:
    """Whether there is a file (folder) at ``path``. Raises InputError where none is and none can be made."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        if not path.parent.is_dir():
            raise InputError(
                f"There is no folder {path.parent}.", "Make it, or choose another place."
            ) from None
        return False
    except (OSError, ValueError) as error:
        raise InputError(f"{str(path)!r} cannot be used: {error}.", "Choose another place.") from None
    if stat.S_ISLNK(mode):
        raise InputError(f"{path} is a symbolic link, which is not followed.", f"Name the {kind} itself.")
    if not (stat.S_ISREG if kind == "file" else stat.S_ISDIR)(mode):
        raise InputError(f"{path} exists and is not a {kind}.", "Choose another name.")
    return True


def require_free(path: Path, *, force: bool) -> None:
    """Raise InputError unless a file may be made at ``path``; ``force``: in the place of a file that is there."""
    if target_exists(path, "file") and not force:
        raise InputError(f"{path} already exists.", "--force replaces it; or choose another name.")


@contextmanager
def write_atomically(path: Path, *, force: bool) -> Iterator[BinaryIO]:
    """Write ``path``, mode 0600. Any error, or leaving by ``Abandon``, leaves everything as it was.

    Raises InputError if it may not be written (``require_free``), DiskFullError.
    """
    require_free(path, force=force)
    partial = path.with_name(f".memtui-{secrets.token_hex(6)}.partial")
    try:
        with io.BufferedWriter(io.FileIO(operating_system.create_private(partial), "w"), _BUFFER) as file:
            yield file
            file.flush()
            operating_system.flush_descriptor(file.fileno())
        if force:
            require_free(path, force=True)
            operating_system.replace(partial, path)
        else:
            _move_into_place(partial, path)
        with suppress(OSError):  # a file system that cannot
            operating_system.flush_path(path.parent)
    except AbandonFile:
        pass
    except OSError as error:
        raise write_error(error, path) from None
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


class AbandonFile(Exception):  # noqa: N818 - no error: the person stopped it
    """Leave ``write_atomically`` without a file."""


def write_error(error: OSError, path: Path) -> MemtuiError:
    """The memtui error for one of the file system."""
    return paths.disk_full_error(error, path) or InputError(
        f"{path} cannot be written: {error.strerror or error}.",
        "Check its permissions, or choose another place.",
    )


def _move_into_place(partial: Path, path: Path) -> None:
    """Rename, but never over a file that somebody made meanwhile."""
    try:
        os.link(partial, path)
    except FileExistsError:
        require_free(path, force=False)
        raise
    except OSError:  # a file system without hard links
        require_free(path, force=False)
        operating_system.rename(partial, path)
