"""Find a backup by path, file name, position in the list, or moment."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo
from pathlib import Path

from memtui.engine.clock import local_time
from memtui.engine.errors import NotFoundError
from memtui.engine.records.backups import Backup
from memtui.engine.search.moments import moment


def find(there: Sequence[Backup], name: str | Path, now: float, zone: tzinfo | None = None) -> Path:
    """The backup with this path or file name; ``latest``; a place in the list (``3``); or the last one until a moment.

    ``there``: all that there are, the latest first. Raises NotFoundError, InputError.
    """
    text = str(name).strip()
    for found in there:
        if found.path.name == text:
            return found.path
    given = Path(name).expanduser()
    if given.is_file():
        return given
    if text == "latest" or (text.isascii() and text.isdigit() and len(text) < 4):
        place = 0 if text == "latest" else int(text) - 1
        if 0 <= place < len(there):
            return there[place].path
        raise NotFoundError(f"There is no backup {text!r}.", "memtui backup list shows them.")
    if given.suffix or len(given.parts) > 1:
        raise NotFoundError(f"There is no backup {text!r}.", "memtui backup list shows them.")
    at = moment(text, now, zone)
    for found in there:
        if found.at <= at:
            return found.path
    oldest = f"The oldest is of {local_time(there[-1].at, zone):%Y-%m-%d %H:%M}: " if there else ""
    raise NotFoundError(
        f"There is no backup from {text!r} or before.",
        f"{oldest}memtui restore lists those that there are.",
    )


def info(there: Sequence[Backup], name: str | Path, now: float, zone: tzinfo | None = None) -> Backup:
    """The backup that ``find`` finds; one that lies elsewhere has the time of its file, and the reason ``file``."""
    path = find(there, name, now, zone)
    for one in there:
        if one.path == path:
            return one
    status = path.stat()
    return Backup(path=path, at=int(status.st_mtime), reason="file", size=status.st_size)
