"""Edits a text in the person's own editor.

The editor gets the terminal while it runs. The app gets it back in every case: also if the editor is missing,
ends with an error, or is killed. A signal to end memtui ends the editor first.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.errors import InputError

if TYPE_CHECKING:
    from .shell import Shell

# Editors to try if $VISUAL and $EDITOR do not name one that starts.
_USUAL = ("editor", "nano", "micro", "vim", "vi", "notepad.exe")
_ENDING = ("SIGTERM", "SIGHUP", "SIGINT")
LOOK_SECONDS = 0.05
# How long an editor may take to end.
END_SECONDS = 3.0
# Reset cursor and number keys, which a killed editor may have changed.
_PLAIN_KEYS = b"\x1b[?1l\x1b>"


class Edited(NamedTuple):
    """``note``: a message for the person, for example that another editor was opened. Empty for none."""

    text: str
    note: str


def edit(shell: Shell, text: str) -> str:
    """Open ``text`` in $VISUAL, $EDITOR or another editor, and return what was saved. Blocks the app.

    Raises InputError if none can be started, if it ends with an error, or if it is not permitted.
    """
    shell.permissions.require("editor")
    edited: Edited | Exception
    with shell.app.suspend():
        # Textual gives the terminal back to the app only if nothing is raised in here.
        try:
            edited = edited_outside(text)
        except Exception as error:
            edited = error
    shell.app.refresh()
    if isinstance(edited, Exception):
        raise edited
    if edited.note:
        shell.show_message(edited.note, "warning")
    return edited.text


def edited_outside(text: str) -> Edited:
    """As ``edit``, on a free terminal. The file is in a private folder and is deleted afterwards."""
    with tempfile.TemporaryDirectory(prefix="memtui-") as folder:
        path = Path(folder, "memory.txt")
        path.write_text(text, "utf-8", "surrogateescape")
        path.chmod(0o600)
        wrong: list[str] = []
        for words, name in _candidates(wrong):
            try:
                status = _run([*words, str(path)])
            except (OSError, ValueError):
                wrong.append(f"{name} cannot be started")
                continue
            if status:
                how = f"was ended by {_signal_name(-status)}" if status < 0 else f"ended with status {status}"
                raise InputError(f"{name} {how}.", "Nothing was changed.")
            break
        else:
            note = "; ".join(wrong) or "none is installed"
            raise InputError(f"No editor: {note}.", "Set $EDITOR, for example: export EDITOR=nano")
        saved = path.read_text("utf-8", "replace")
    note = f"{'; '.join(wrong)}: {name} was opened instead." if wrong else ""
    return Edited(saved if text.endswith("\n") else saved.removesuffix("\n"), note)


def _candidates(wrong: list[str]) -> Iterator[tuple[list[str], str]]:
    """The words of each command and its name. ``wrong`` collects what is not a valid command."""
    for variable in ("VISUAL", "EDITOR"):
        command = os.environ.get(variable, "").strip()
        if not command:
            continue
        try:
            words = shlex.split(command)
        except ValueError:
            words = []
        if words:
            yield words, f"{Path(words[0]).name} (${variable})"
        else:
            wrong.append(f"${variable} is no command")
    for usual in _USUAL:
        if found_path := shutil.which(usual):
            yield [found_path], usual


def _run(command: list[str]) -> int:
    """Run a program in the foreground of the terminal. Returns its status; negative: a signal. Raises OSError."""
    if sys.platform == "win32":
        return subprocess.run(command, check=False).returncode
    with _terminal_kept() as foreground, _endings_noted() as endings:
        # In its own process group, so that Ctrl+C goes to the editor and not to memtui.
        program = subprocess.Popen(command, process_group=0)
        foreground(program.pid)
        asked_at = None
        while True:
            pid, status = os.waitpid(program.pid, os.WNOHANG | os.WUNTRACED)
            if pid and os.WIFSTOPPED(status):  # Ctrl+Z, or it wanted the terminal before it had it
                foreground(program.pid)
                _to_group(program.pid, signal.SIGCONT)
            elif pid:
                program.returncode = os.waitstatus_to_exitcode(status)
                return program.returncode
            if endings and asked_at is None:
                asked_at = time.monotonic()
                _to_group(program.pid, signal.SIGHUP if endings[0] == signal.SIGHUP else signal.SIGTERM)
            elif asked_at is not None and time.monotonic() - asked_at > END_SECONDS:
                _to_group(program.pid, signal.SIGKILL)
            time.sleep(LOOK_SECONDS)


@contextmanager
def _terminal_kept() -> Iterator[Callable[[int], None]]:
    """Yields a function that gives the terminal to a group. Afterwards it is ours again, with its old settings."""
    import termios

    try:
        settings = termios.tcgetattr(0)
        ours = os.tcgetpgrp(0)
    except (OSError, termios.error):
        yield lambda group: None  # no terminal to hand over
        return

    def foreground(group: int) -> None:
        # A background process that uses the terminal would be stopped by this signal.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
        with suppress(OSError, termios.error):  # the group, or the terminal, is gone already
            os.tcsetpgrp(0, group)
            if group == ours:
                termios.tcsetattr(0, termios.TCSADRAIN, settings)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)

    try:
        yield foreground
    finally:
        foreground(ours)
        with suppress(OSError):
            os.write(2, _PLAIN_KEYS)


@contextmanager
def _endings_noted() -> Iterator[list[int]]:
    """Collects signals that end memtui while the event loop is blocked. The loop also gets them later."""
    endings: list[int] = []
    before = {}
    for name in _ENDING:
        number = getattr(signal, name)
        before[number] = signal.signal(number, lambda number, frame: endings.append(number))
    try:
        yield endings
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _to_group(group: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, number)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
