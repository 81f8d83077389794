"""What the app tells the person: the status line, running work, failures."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from memtui import __version__
from memtui.engine.errors import InputError, MemtuiError

from .actions import BY_ID
from .messages import Notified
from .safe import notice
from .widgets.bars import StatusLine

if TYPE_CHECKING:
    from .dialogs.error import ErrorDialog
    from .shell import Shell

SAID_SECONDS = 8.0
SPIN_SECONDS = 0.1
# A change that takes less is not announced while it runs.
BUSY_AFTER = 0.2


class Notifications:
    """The status line and the panels of failures."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._counted: tuple[str, int] = ("", 0)
        # Why there is no memory and will be none.
        self.unopened: Exception | None = None

    @property
    def _status(self) -> StatusLine:
        return self._shell.app.screen_stack[0].query_one(StatusLine)

    def show(self, said: Notified) -> None:
        """Put it into the status line."""
        shell = self._shell
        if shell.is_leaving:
            return
        kind, times = self._counted
        times = times + 1 if said.kind and said.kind == kind else 1
        self._counted = (said.kind, times)
        status = self._status
        status.severity = said.severity
        status.said = f"{said.text} (×{times})" if times > 1 else said.text
        status.undo_hint = f"{shell.keymap_shown(said.then)} {BY_ID[said.then].label}" if said.then else ""
        if said.severity == "error" and times == 1:
            notice(shell.app.screen, said.text, severity=said.severity)
        if not said.then:
            shell.app.set_timer(SAID_SECONDS, partial(self._unsay, status.said))

    def go_on(self) -> None:
        """The person does the next thing: what was said is about the last one, unless it can be undone."""
        shell = self._shell
        if not shell.is_leaving and shell.app.screen_stack[0].is_mounted:
            for status in shell.app.screen_stack[0].query(StatusLine):
                if not status.undo_hint:
                    status.said = ""

    def _unsay(self, text: str) -> None:
        """What was said a while ago is no longer news; what can be undone stays."""
        if not self._shell.is_leaving and self._status.said == text:
            self._status.said = ""

    # -- running work

    def show_busy_soon(self) -> None:
        """Work began or ended: say so, unless it is over in a moment."""
        self._shell.app.set_timer(BUSY_AFTER, self._show_busy)

    def _show_busy(self) -> None:
        shell = self._shell
        if shell.is_leaving:
            return
        status = self._status
        status.running = tuple(shell.operations.running)
        if shell.operations.running:
            moves = shell.look.moves()
            turning = shell.glyphs.spinner if moves else shell.glyphs.busy
            status.spinner = turning[int(time.monotonic() / SPIN_SECONDS) % len(turning)]
            if moves:
                shell.app.set_timer(SPIN_SECONDS, self._show_busy)

    # -- failures

    def show_error(self, error: Exception, place: str) -> None:
        """Tell about a failure: cause, place and next step. A mistake of the person's is only a line."""
        shell = self._shell
        if shell.is_leaving:
            return
        if isinstance(error, InputError):
            shell.say(f"{error.message} {error.hint}", "warning")
            return
        shell.app.push_screen(self._panel(error, place))

    def _panel(self, error: Exception, place: str) -> ErrorDialog:
        from .crash import write_report
        from .dialogs.error import ErrorDialog

        report, folder = None, self._shell.crash_folder
        if not isinstance(error, MemtuiError) and folder is not None:
            report = write_report(error, folder, __version__)
        return ErrorDialog(error, place, report)

    def show_unopened(self, error: Exception) -> None:
        """Tell why there is no memory to show; without one the app ends with that panel."""
        self.unopened = error
        if not self._shell.is_leaving:
            panel = self._panel(error, "opening the memory")
            self._shell.app.push_screen(panel, lambda _: self.leave_unopened())

    def leave_unopened(self) -> None:
        """End the app, with what kept the memory from being opened as its exit status."""
        error = self.unopened
        self._shell.app.exit(return_code=error.exit_code if isinstance(error, MemtuiError) else 1)
