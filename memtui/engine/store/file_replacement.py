"""Replace an unusable memory file by another one, and set the old files aside unchanged.

A file, its log and the log's index cannot be moved at once. So the plan of an exchange lies beside the memory until it
is done, and the next one to open the memory finishes an interrupted one: no process reads a file with the log of another,
and none creates an empty memory in between.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from memtui import operating_system
from memtui.engine.errors import CorruptFileError, StoreError
from memtui.engine.records import Record
from memtui.paths import is_surely_missing

from .backup import find_backups
from .locks import BusyError, work_lock

SIDECARS = ("-wal", "-shm", "-journal")
ASIDE = "set-aside"
_PLAN = ".exchange"
_WAIT_SECONDS = 30.0


class ReplacementPlan(Record):
    """Names in the memory's folder: the ``new`` file, and what the old one is to be called."""

    new: str
    aside: str


def replace_file(path: Path, new: Path, aside: Path) -> tuple[Path, ...]:
    """Put ``new``, a whole file in the same folder, in the place of what is at ``path``; returns what was set aside.

    What fails half-way is taken back. Raises StoreError where that fails too: then the next open finishes it.
    """
    plan = path.with_name(f"{path.name}{_PLAN}")
    with _exclusive_access(path):
        written = plan.with_name(f"{plan.name}.new")
        written.write_bytes(msgspec.json.encode(ReplacementPlan(new=new.name, aside=aside.name)))
        operating_system.close_to_others(written)
        operating_system.flush_path(written)
        operating_system.replace(written, plan)
        try:
            operating_system.flush_path(path.parent)
            _carry_out_plan(path)
        except (Exception, KeyboardInterrupt) as error:
            _roll_back(path, new, aside, error)
            raise
    return tuple(file for file in _with_sidecars(aside) if os.path.lexists(file))


def was_interrupted(path: Path) -> bool:
    """Whether an exchange was broken off."""
    return os.path.exists(f"{path}{_PLAN}")  # noqa: PTH110 - asked at every open


def finish_interrupted(path: Path) -> None:
    """Finish an exchange that was broken off. Raises BusyError while another program is at it."""
    with _exclusive_access(path):
        _carry_out_plan(path)


def places_aside(path: Path) -> list[Path]:
    """What was set aside beside the memory at ``path``, with logs."""
    start = f"{path.stem}.{ASIDE}-"
    return sorted(one for one in path.parent.iterdir() if one.name.startswith(start))


def _carry_out_plan(path: Path) -> None:
    """Each step may have been done already, by a process that was killed."""
    plan_path = path.with_name(f"{path.name}{_PLAN}")
    try:
        plan = msgspec.json.decode(plan_path.read_bytes(), type=ReplacementPlan)
        new, aside = path.with_name(plan.new), path.with_name(plan.aside)
    except FileNotFoundError:
        return
    except (msgspec.MsgspecError, ValueError) as error:  # ValueError: what cannot be a name in this folder
        raise CorruptFileError(
            f"{plan_path}, the plan of an interrupted restore, is damaged.",
            "Move it away and open the memory again; if that fails, memtui restore brings back a backup.",
        ) from error
    if new.exists():
        # The log first: beside another file it would be taken for that one's.
        for old, moved in zip(_with_sidecars(path)[1:], _with_sidecars(aside)[1:], strict=True):
            if os.path.lexists(old) and not os.path.lexists(moved):
                operating_system.rename(old, moved)
        if os.path.lexists(path) and not os.path.lexists(aside):
            _name_twice(path, aside)
        operating_system.replace(new, path)
    for moved in _with_sidecars(aside):
        if not moved.is_symlink() and moved.exists():
            operating_system.close_to_others(moved)
    operating_system.flush_path(path.parent)
    plan_path.unlink()
    operating_system.flush_path(path.parent)


def _roll_back(path: Path, new: Path, aside: Path, error: BaseException) -> None:
    """Move back what was moved, and forget the plan. ``aside``: a name that was free."""
    try:
        if not os.path.lexists(new):
            operating_system.rename(path, new)
        if os.path.lexists(aside):
            if os.path.lexists(path):
                aside.unlink()  # a second name
            else:
                operating_system.rename(aside, path)
        for old, moved in zip(_with_sidecars(path)[1:], _with_sidecars(aside)[1:], strict=True):
            if os.path.lexists(moved):
                operating_system.rename(moved, old)
        path.with_name(f"{path.name}{_PLAN}").unlink(missing_ok=True)
        operating_system.flush_path(path.parent)
    except OSError as failed:
        if was_interrupted(path):
            raise StoreError(
                f"The restore of {path} stopped half-way ({error}), and could not be taken back ({failed}).",
                "Nothing is lost: whoever opens the memory next finishes the restore.",
            ) from error


def _name_twice(path: Path, aside: Path) -> None:
    """So that there is always a file at ``path``; where a second name cannot be, it is renamed."""
    if not path.is_dir():
        try:
            aside.hardlink_to(path)
        except OSError:
            pass
        else:
            return
    operating_system.rename(path, aside)


def refuse_to_begin_anew(path: Path) -> None:
    """Raise StoreError where the memory at ``path`` is gone and its backups are there: an empty one would hide the loss."""
    try:
        resolved = path.expanduser().absolute().resolve()
    except (OSError, RuntimeError, ValueError):
        return  # no path at all, or a link to itself: whoever opens it says so
    if is_surely_missing(resolved) and not was_interrupted(resolved) and find_backups(resolved):
        raise StoreError(
            f"There is no memory at {path}, but there are backups of it.",
            "memtui restore brings one back; for an empty memory, move the folder backups away.",
        )


def _with_sidecars(path: Path) -> tuple[Path, ...]:
    return (path, *(path.with_name(path.name + end) for end in SIDECARS))


def free_name(path: Path, at: float) -> Path:
    """What the file at ``path`` is to be called when it is set aside."""
    stamp, serial = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(at)), 0
    while True:
        serial += 1
        name = path.with_name(f"{path.stem}.{ASIDE}-{stamp}{f'-{serial}' if serial > 1 else ''}{path.suffix}")
        if not any(os.path.lexists(file) for file in _with_sidecars(name)):
            return name


@contextmanager
def _exclusive_access(path: Path) -> Iterator[None]:
    from filelock import Timeout

    try:
        with work_lock(path, "exchanging").acquire(timeout=_WAIT_SECONDS):
            yield
    except Timeout:
        raise BusyError(
            f"Another program is restoring {path}.", "Wait for it to end, and try again."
        ) from None
