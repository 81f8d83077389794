"""The process of a hook. It is quick, prints nothing else, and never blocks the agent.

It always ends with exit code 0, at the latest after two seconds, because a waiting agent is worse than one without
memories. If nothing was given or recorded, the log has the reason.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from memtui.startup import without_typing_extensions

if TYPE_CHECKING:
    from memtui.engine.records import Options

    from .events import ClientDialect
    from .quick import HookMemory

SECONDS = 2.0
_MOST_BYTES = 16 << 20
CLIENTS = ("claude-code", "codex", "gemini-cli")
_VALUES = ("--db", "--config", "--agent", "--project", "--filter")
_FLAGS = ("--readonly", "--allow-unsafe-fs")


def run_fast(arguments: Sequence[str]) -> None:
    """Run ``hook CLIENT`` with these arguments, and end the process.

    Returns only for arguments that ``memtui connect`` does not write. Then click reads them.
    """
    if not arguments or arguments[0] not in CLIENTS:
        return
    options: dict[str, str] = {}
    for argument in arguments[1:]:
        name, sign, value = argument.partition("=")
        if not (name in _VALUES and value if sign else name in _FLAGS):
            return
        options[name] = value
    run_hook(arguments[0], options)


def run_hook(client: str, options: dict[str, str]) -> NoReturn:
    """Read an event of a client, answer it, end the process. ``options``: those of the command line."""
    gc.disable()
    without_typing_extensions()
    logged = "--readonly" not in options
    watch = threading.Timer(
        SECONDS, _exit_now, [f"did nothing: it took longer than {SECONDS:g} seconds", logged]
    )
    watch.daemon = True
    watch.start()
    note = ""
    opened: list[HookMemory] = []
    try:
        from .events import DIALECTS, answer_event

        dialect = DIALECTS[client]
        note = answer_event(
            _read_input(),
            dialect,
            lambda: _open_memory(dialect, options, opened),
            options.get("--project"),
            _write_output,
        )
    except BaseException as error:
        note = f"did nothing: {_log_message(error)}"
    for memory in opened:
        try:
            memory.close()
        except BaseException as error:
            note = note or f"did nothing: {_log_message(error)}"
    _exit_now(note, logged)


def _open_memory(dialect: ClientDialect, flags: dict[str, str], opened: list[HookMemory]) -> HookMemory:
    from pathlib import Path

    from memtui import paths

    from .quick import HookMemory

    options, set_place = hook_settings(flags)
    named = flags.get("--db") or set_place
    memory = HookMemory(
        Path(named).expanduser() if named else paths.default_memory(),
        agent=flags.get("--agent", dialect.client),
        imported=dialect.imported,
        options=options,
        filter=flags.get("--filter"),
        project=flags.get("--project"),
        readonly="--readonly" in flags,
    )
    opened.append(memory)
    return memory


def hook_settings(flags: dict[str, str]) -> tuple[Options, str]:
    """The settings and the path of the memory.

    Most people have no settings. Then the schema of the settings is not read.
    """
    from memtui import paths

    named = flags.get("--config")
    unsafe = "--allow-unsafe-fs" in flags
    path = named or paths.config_file()
    if not os.path.exists(path) and not any(map(_is_setting, os.environ)):  # noqa: PTH110
        from memtui.engine.records import Options

        return Options(allow_unsafe_fs=unsafe), os.environ.get("MEMTUI_DB", "")
    from pathlib import Path

    from memtui import config

    file = Path(named) if named and os.path.exists(named) else None  # noqa: PTH110
    settings = config.load(file).settings
    return settings.options(allow_unsafe_fs=unsafe), settings.general.db


def _is_setting(variable: str) -> bool:
    return variable.startswith("MEMTUI_") and variable not in ("MEMTUI_DB", "MEMTUI_CONFIG")


def _read_input() -> bytes:
    if sys.stdin is None or sys.stdin.isatty():
        return b"{}"
    return sys.stdin.buffer.read(_MOST_BYTES)


def _write_output(text: bytes) -> None:
    sys.stdout.buffer.write(text)
    sys.stdout.buffer.flush()


def _log_message(error: BaseException) -> str:
    from memtui.engine.errors import MemtuiError
    from memtui.log import error_outline

    return error.message if isinstance(error, MemtuiError) else error_outline(error)


def _exit_now(note: str, logged: bool) -> NoReturn:
    """End the process at once. Nothing is open, and a normal exit takes 10 ms.

    With ``--readonly`` no log is written; the message goes to standard error.
    """
    if note and not logged:
        os.write(2, f"memtui: a hook {note}\n".encode("utf-8", "backslashreplace"))
    elif note:
        try:
            import logging

            from memtui import log

            log.start()
            logging.getLogger("memtui.hook").warning("a hook %s", note)
        finally:
            os._exit(0)
    os._exit(0)
