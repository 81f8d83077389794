"""How a failure leaves the program: one line of cause, one of next step, and an exit code.

    0   ok
    1   a negative answer: no hit, a failed check, nothing to undo
    2   usage
    3   bad input
    4   the memory file
    5   degraded, or an endpoint
    70  a fault of memtui itself
    130 cancelled
    141 nobody reads the output any more

Imports no click: the app opens without it.
"""

from __future__ import annotations

import sys

from memtui.engine.errors import FilterError, MemtuiError

OK, NEGATIVE, USAGE, BAD_INPUT, FILE, DEGRADED, FAULT, CANCELLED, UNREAD = 0, 1, 2, 3, 4, 5, 70, 130, 141


def report(error: BaseException, *, json: bool, logged: bool = True) -> int:
    """Tell the person about ``error`` (stderr; with ``json`` on stdout too) and return the exit code.

    ``logged``: a fault of memtui goes into the log as well.
    """
    kind, message, hint, code = _described(error, logged)
    if code in (CANCELLED, UNREAD):
        if code == CANCELLED:
            _complain("cancelled")
        return code
    if json:
        from .output import emit

        emit({"error": {"kind": kind, "message": message, "hint": hint, "exit_code": code}})
    _complain(f"error: {message}")
    if isinstance(error, FilterError):
        _complain(error.pointer(), indent="  ")
    if hint:
        _complain(f"hint: {hint}")
    return code


def _described(error: BaseException, logged: bool) -> tuple[str, str, str, int]:
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
        hint = f"{context.command_path} --help tells how it is called." if context else ""
        if context and isinstance(error, click.NoSuchOption) and context.command.name == "list":
            hint = f"A filter that begins with - goes behind --: {context.command_path} -- -tag:work"
        return "UsageError", error.format_message(), hint, USAGE
    if click and isinstance(error, click.exceptions.Abort):
        return "Cancelled", "cancelled", "", CANCELLED
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        return "OSError", f"{place}{error.strerror or error}", "", BAD_INPUT
    return (*_fault(error, logged), FAULT)


def _fault(error: BaseException, logged: bool) -> tuple[str, str, str]:
    """A bug: told without its message or locals, which may hold memory text."""
    import logging

    from memtui import log

    if logged:
        log.start()
        logging.getLogger("memtui.cli").critical("unexpected error", exc_info=error)
    hint = "Nothing that was acknowledged is lost. Please report it with that line."
    return "Fault", f"memtui failed unexpectedly: {log.outline(error)}", hint


def _complain(text: str, indent: str = "") -> None:
    from .output import err

    for line in text.splitlines() or [""]:
        err(indent + line)
