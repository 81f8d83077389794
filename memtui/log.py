"""The log file: private, rotated, and free of secrets.

Nothing happens at import; the command line and the app call :func:`start`. Modules log through
``logging.getLogger("memtui.<room>")``; what would quote memories at debug level, which is not written. Whatever is
written passes through the secrets filter, on one line, without control characters. Of an error only its type
and its place in the code are written: its message may quote a memory.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from memtui import operating_system

from . import paths
from .engine.errors import MemtuiError

if TYPE_CHECKING:
    import logging
    from collections.abc import Iterator

FILE_NAME = "memtui.log"
LARGEST = 1_000_000
KEPT = 3
_TIME = "%Y-%m-%dT%H:%M:%SZ"


def start(folder: Path | None = None) -> Path | None:
    """Log to a file in ``folder`` (the platform's log folder) and return its path.

    Returns None where the file cannot be opened: a program without a log is better than none.
    """
    import logging

    logger = logging.getLogger("memtui")
    stop()
    try:
        file = log_path(paths.make_private_folder(folder or paths.log_folder()))
        handler = _file_handler(file)
    except (OSError, MemtuiError):
        logger.addHandler(logging.NullHandler())
        return None
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    return file


def log_path(folder: Path | None = None) -> Path:
    """The log file in ``folder`` (the platform's log folder)."""
    return (folder or paths.log_folder()) / FILE_NAME


def read_entries(logger: str, *, since: float) -> Iterator[tuple[float, str]]:
    """What a logger wrote into the newest log file: when (Unix seconds) and the message, the oldest first.

    Nothing where there is no log or it cannot be read.
    """
    import calendar
    import time

    try:
        lines = log_path().read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        head, found, text = line.partition(f" {logger}: ")
        try:
            at = float(calendar.timegm(time.strptime(head.split(" ", 1)[0], _TIME)))
        except ValueError:
            continue
        if found and at >= since:
            yield at, text


def stop() -> None:
    """Close the log file."""
    import logging

    logger = logging.getLogger("memtui")
    for handler in tuple(logger.handlers):
        logger.removeHandler(handler)
        handler.close()
    logger.setLevel(logging.NOTSET)
    logger.propagate = True


def error_outline(error: BaseException) -> str:
    """An error's type and its frames as "file:line function", innermost last; no message, no locals."""
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    places = [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    text = f"{type(error).__qualname__} at {' > '.join(places) or 'an unknown place'}"
    return f"{text} | after {error_outline(cause)}" if cause else text


def clean_text(text: str) -> str:
    """``text`` without secrets, on one line, its control characters and surrogates escaped."""
    from .engine.guards.secrets import redact_secrets

    text = redact_secrets(text)[0]
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _file_handler(file: Path) -> logging.Handler:
    import logging
    import logging.handlers
    import time

    class PrivateFileHandler(logging.handlers.RotatingFileHandler):
        """Creates its files for their owner only, and does not write through a symbolic link."""

        def _open(self):  # type: ignore[no-untyped-def]  # typeshed's stream type is version-dependent
            def opener(name: str, flags: int) -> int:
                return operating_system.open_private(name, flags)

            return open(self.baseFilename, "a", encoding="utf-8", opener=opener)

        def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
            """A full disk must not print memory text to the terminal, as the original would."""

    class CleanFormatter(logging.Formatter):
        def format(self, record: logging.LogRecord) -> str:
            at = time.strftime(_TIME, time.gmtime(record.created))
            text = clean_text(record.getMessage())
            if record.exc_info and record.exc_info[1]:
                text += f" | {error_outline(record.exc_info[1])}"
            return f"{at} {record.process} {record.levelname} {record.name}: {text}"

    handler = PrivateFileHandler(file, maxBytes=LARGEST, backupCount=KEPT, encoding="utf-8")
    handler.setFormatter(CleanFormatter())
    return handler
