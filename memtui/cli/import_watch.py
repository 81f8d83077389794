"""``memtui import --watch``: brings in what programs say as they say it, until Ctrl+C or a signal ends it."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.errors import InputError, ReplacedFileError
from memtui.present.format import count, local_time, plural

from .errors import OK
from .import_discover import discovered
from .output import emit, note, out, paint, row
from .progress import Meter

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records.sources import FollowResult

    from .invocation import Invocation

_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
_LOOK_SECONDS = 0.2


def live_places() -> list[Path]:
    """Where programs on this machine add to their sessions. Raises InputError if there is none."""
    places = [source.path for source in discovered() if source.live]
    if not places:
        raise InputError(
            "No program that writes session files was found on this machine.",
            "Name a file or a folder: memtui import --watch ~/sessions",
        )
    return places


def follow(invocation: Invocation, places: Sequence[Path], *, later: bool, json: bool) -> int:
    """Follow the places. Raises InputError for one that is not there."""
    for place in places:
        if not place.exists():
            raise InputError(f"There is no file or folder {place}.", "Check the spelling of the path.")
    meter = Meter()
    with invocation.writing(background=not later) as memory, _stop_signals() as signals:
        note(f"following {plural(len(places), 'place')}; Ctrl+C ends it")
        while (replaced := _follow(memory, places, signals, meter, json=json)) is not None:
            memory.reopen()  # what was not written is read again: the new file knows how far it came
            note(f"{replaced.message} Following goes on with the file that is there now.")
    return OK


def _follow(
    memory: Memory, places: Sequence[Path], signals: list[int], meter: Meter, *, json: bool
) -> ReplacedFileError | None:
    """Follow until a signal ends it, or until the memory's file was replaced."""
    stopped = threading.Event()
    failed: list[BaseException] = []

    def run() -> None:
        try:
            memory.files.follow(
                places, stopped, lambda found: _print(found, meter, json=json), progress=_shown_on(meter)
            )
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, name="following")
    thread.start()
    try:
        while thread.is_alive() and not signals:
            thread.join(_LOOK_SECONDS)
    finally:
        stopped.set()
        thread.join()
        meter.clear()
    if failed and isinstance(failed[0], ReplacedFileError):
        return failed[0]
    if failed:
        raise failed[0]
    return None


@contextmanager
def _stop_signals() -> Iterator[list[int]]:
    """A list that is empty until one of the signals came that end a program."""
    signals: list[int] = []

    def ask(number: int, _: Any) -> None:
        signals.append(number)

    known = [getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)]
    before = [(number, signal.signal(number, ask)) for number in known]
    try:
        yield signals
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def _print(found: FollowResult, meter: Meter, *, json: bool) -> None:
    from memtui.engine.importers.ingest import named

    meter.clear()
    op_id = found.operation.op_id if found.operation else None
    if json:
        emit({"turns": found.turns, "others": found.others, "formats": found.formats, "operation": op_id})
        return
    others = f" and {plural(found.others, 'other thing')}" if found.others else ""
    turns = f"{plural(found.turns, 'new turn')}{others} from {named(found.formats)}"
    out(row(paint(local_time(time.time(), time.time()), "dim"), turns, paint(f"operation {op_id}", "dim")))
    sys.stdout.flush()


def _shown_on(meter: Meter) -> Callable[[int, int, int], None]:
    def show(done: int, files: int, came: int) -> None:
        if files > 1:
            meter.show(f"{count(done)} of {plural(files, 'file')}  {plural(came, 'new turn')}")

    return show
