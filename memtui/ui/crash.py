"""After a crash: a report that can be shared, and a restored terminal.

Textual prints the local variables of every frame, and with them memory texts and keys. This report
has only the type of the error and its place. It has no values and no error messages of others,
because those often quote what was being read.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from memtui import operating_system
from memtui.engine.errors import MemtuiError


def crash_report(error: BaseException, version: str) -> str:
    """The crash report: versions, then the chain of errors with file, line and function of each frame."""
    import platform
    import traceback

    import textual

    lines = [
        f"memtui {version}, textual {textual.__version__}",
        f"Python {platform.python_version()}, {platform.system()}",
        f"at {datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC",
    ]
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        lines.append("")
        # The messages of our own errors quote no memory. Other messages may.
        exit_code = f" (exit code {link.exit_code})" if isinstance(link, MemtuiError) else ""
        lines.append(f"{type(link).__module__}.{type(link).__qualname__}{exit_code}")
        for frame in traceback.extract_tb(link.__traceback__):
            lines.append(f"  {_shorten_path(frame.filename)}:{frame.lineno} in {frame.name}")
        link = link.__cause__ or link.__context__
    return "\n".join(lines) + "\n"


def write_report(error: BaseException, folder: Path, version: str) -> Path | None:
    """Write the report into ``folder``, readable by its owner only. None if it cannot be written."""
    path = folder / f"crash-{datetime.now(UTC):%Y%m%d-%H%M%S}-{os.getpid()}.txt"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = operating_system.create_private(path)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(crash_report(error, version))
    except OSError:
        return None
    return path


def leave_on_signals(leave: Callable[[int], None]) -> None:
    """SIGTERM, SIGHUP and SIGINT close the app normally, so that the terminal is restored.

    ``leave`` gets the exit status, 128 + the number of the signal. Must be called on the event loop.
    """
    import asyncio

    operating_system.on_stop_signals(asyncio.get_running_loop(), lambda number: leave(128 + number))


def _shorten_path(filename: str) -> str:
    """A path relative to the package, without the user's home folder."""
    parts = Path(filename).parts
    for root in ("site-packages", "memtui"):
        if root in parts:
            return "/".join(parts[len(parts) - 1 - parts[::-1].index(root) :])
    return Path(filename).name
