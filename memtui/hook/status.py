"""``memtui status --line`` for a shell's prompt: a process as short as that of a hook."""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memtui.paths import is_surely_missing
from memtui.startup import without_typing_extensions

from .program import SECONDS

if TYPE_CHECKING:
    from pathlib import Path

    from memtui.engine.records import Options, Status

DEGRADED = 5
_FLAGS = frozenset({"--line", "--json"})


def run_fast(arguments: Sequence[str]) -> None:
    """Print the status, and end the process. Returns if the arguments ask for more than a line, or if something is
    wrong. Then click reads the arguments and reports it.
    """
    named = [one for one in arguments if one.startswith("--db=")]
    if not {"--line"} <= {*arguments} <= {*_FLAGS, *named} or len(named) > 1:
        return
    gc.disable()
    watch = threading.Timer(SECONDS, _exit_now)
    watch.daemon = True
    watch.start()
    without_typing_extensions()
    from memtui.engine.errors import MemtuiError

    from .program import hook_settings

    flags = {"--db": named[0].removeprefix("--db=")} if named else {}
    try:
        from pathlib import Path

        from memtui import paths

        options, path = hook_settings(flags)
        path = flags.get("--db") or path
        status = read_status(Path(path).expanduser() if path else paths.default_memory(), options)
    except MemtuiError:
        watch.cancel()
        return
    from memtui.present.status import status_line

    if "--json" in arguments:
        import msgspec

        output = msgspec.json.encode(status)
    else:
        output = status_line(status, time.time()).encode("utf-8", "replace")
    sys.stdout.buffer.write(output + b"\n")
    sys.stdout.buffer.flush()
    os._exit(0)


def _exit_now() -> None:
    os.write(2, f"memtui: the status took longer than {SECONDS:g} seconds\n".encode())
    os._exit(DEGRADED)


def read_status(path: Path, options: Options) -> Status:
    """The status of the memory at ``path``. Raises StoreError and its kin."""
    from memtui.engine.errors import StoreError
    from memtui.engine.review.status_line import status
    from memtui.engine.store import file

    if is_surely_missing(path):
        raise StoreError(f"There is no memory at {path}.", "memtui creates one.")
    connections = file.open_file(path, readonly=True, allow_unsafe=options.allow_unsafe_fs)
    try:
        with connections.read() as connection:
            return status(connection, time.time())
    finally:
        connections.close()
