"""How a failure is reported: its cause, the next step, and an exit code.

    0   done
    1   nothing found, or the answer is no: a failed check, nothing to undo
    2   wrong usage
    3   input that cannot be read
    4   the memory file cannot be used
    5   works only in part, or an endpoint failed
    70  a bug in memtui
    130 cancelled
    141 the reader of the output has gone

Imports no click: the app opens without it.
"""

from __future__ import annotations

import errno
import sys

from memtui.engine.errors import FilterError, MemtuiError

OK, NEGATIVE, USAGE, BAD_INPUT, FILE, DEGRADED, FAULT, CANCELLED, UNREAD = 0, 1, 2, 3, 4, 5, 70, 130, 141
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EIO)


def report_error(error: BaseException, *, json: bool, logged: bool = True) -> int:
    """Tell the person about ``error`` (stderr; with ``json`` on stdout too) and return the exit code.

    ``logged``: a fault of memtui goes into the log as well.
    """
    kind, message, hint, code = _describe_error(error, logged)
    if code in (CANCELLED, UNREAD):
        if code == CANCELLED:
            _print_error("cancelled")
        return code
    if json:
        from .output import print_json

        try:
            print_json({"error": {"kind": kind, "message": message, "hint": hint, "exit_code": code}})
        except BrokenPipeError:
            return UNREAD
        except OSError:  # the output itself is full: stderr tells it
            pass
    _print_error(f"error: {message}")
    if isinstance(error, FilterError):
        _print_error(error.pointer(), indent="  ")
    if hint:
        _print_error(f"hint: {hint}")
    return code


def _describe_error(error: BaseException, logged: bool) -> tuple[str, str, str, int]:
    """Kind, message, hint and exit code of anything that may end a command."""
    if isinstance(error, MemtuiError):
        return type(error).__name__, error.message, error.hint, error.exit_code
    if isinstance(error, KeyboardInterrupt):
        return "Cancelled", "cancelled", "", CANCELLED
    if isinstance(error, BrokenPipeError):
        return "BrokenPipe", "", "", UNREAD
    click = sys.modules.get("click")
    if click and isinstance(error, click.UsageError):
        context = error.ctx
        hint = f"See {context.command_path} --help." if context else ""
        if context and isinstance(error, click.NoSuchOption) and context.command.name == "list":
            hint = f"Put -- before a filter that begins with -: {context.command_path} -- -tag:work"
        return "UsageError", error.format_message(), hint, USAGE
    if click and isinstance(error, click.exceptions.Abort):
        return "Cancelled", "cancelled", "", CANCELLED
    if isinstance(error, OSError):
        return (*_describe_system_error(error), BAD_INPUT)
    return (*_describe_bug(error, logged), FAULT)


def _describe_system_error(error: OSError) -> tuple[str, str, str]:
    """An error of a file, or of the output: files of memtui itself have errors of their own."""
    why = error.strerror or str(error)
    if error.filename:
        return "OSError", f"{error.filename}: {why}", "Check the path and its permissions."
    if error.errno in _NO_ROOM:
        hint = "Write to another place. If the command changed something, that is saved: memtui history shows it."
        return "OSError", f"What the command prints cannot be written: {why}.", hint
    return "OSError", why, "memtui doctor checks the setup."


def _describe_bug(error: BaseException, logged: bool) -> tuple[str, str, str]:
    """A bug. Its message and locals are not shown: they may hold the text of a memory."""
    import logging

    from memtui import log

    if logged:
        log.start()
        logging.getLogger("memtui.cli").critical("unexpected error", exc_info=error)
    hint = "Nothing that was saved is lost. Please report this line."
    return "Fault", f"memtui failed unexpectedly: {log.error_outline(error)}", hint


def _print_error(text: str, indent: str = "") -> None:
    from .output import err

    for line in text.splitlines() or [""]:
        err(indent + line)
