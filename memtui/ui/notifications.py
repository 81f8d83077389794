"""Messages to the person: the status line, running work, errors."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from memtui import __version__
from memtui.engine.errors import InputError, MemtuiError

from .actions import BY_ID
from .messages import Notified
from .safe import show_notice
from .widgets.bars import StatusLine

if TYPE_CHECKING:
    from .dialogs.dialog import ErrorDialog
    from .shell import Shell

SAID_SECONDS = 8.0
SPIN_SECONDS = 0.1
# A change that takes less time is not shown while it runs.
BUSY_AFTER = 0.2


class Notifications:
    """The status line and the error dialogs."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._counted: tuple[str, int] = ("", 0)
        # The error that kept the memory from being opened.
        self.unopened: Exception | None = None

    @property
    def _status_line(self) -> StatusLine:
        return self._shell.app.screen_stack[0].query_one(StatusLine)

    def show(self, notified: Notified) -> None:
        """Show a message in the status line."""
        shell = self._shell
        if shell.is_leaving:
            return
        kind, times = self._counted
        times = times + 1 if notified.kind and notified.kind == kind else 1
        self._counted = (notified.kind, times)
        status = self._status_line
        status.severity = notified.severity
        status.said = f"{notified.text} (×{times})" if times > 1 else notified.text
        status.undo_hint = (
            f"{shell.keymap_shown(notified.then)} {BY_ID[notified.then].label}" if notified.then else ""
        )
        cut = not notified.then and not status.has_room_for(notified.text)
        if (notified.severity == "error" or cut) and times == 1:
            shell.app.clear_notifications()
            show_notice(shell.app.screen, notified.text, severity=notified.severity)
        if not notified.then:
            shell.app.set_timer(SAID_SECONDS, partial(self._clear_old_message, status.said))

    def clear_message(self) -> None:
        """Clear the message when the person goes on, unless it offers an undo."""
        shell = self._shell
        if not shell.is_leaving and shell.app.screen_stack[0].is_mounted:
            for status in shell.app.screen_stack[0].query(StatusLine):
                if not status.undo_hint:
                    status.said = ""

    def _clear_old_message(self, text: str) -> None:
        """Clear an old message, unless it offers an undo."""
        if not self._shell.is_leaving and self._status_line.said == text:
            self._status_line.said = ""

    # -- running work

    def show_busy_soon(self) -> None:
        """Show that work began or ended, unless it is very short."""
        self._shell.app.set_timer(BUSY_AFTER, self._show_busy)

    def _show_busy(self) -> None:
        shell = self._shell
        if shell.is_leaving:
            return
        status = self._status_line
        status.running = tuple(shell.operations.running)
        if shell.operations.running:
            moves = shell.look.is_animated()
            turning = shell.glyphs.spinner if moves else shell.glyphs.busy
            status.spinner = turning[int(time.monotonic() / SPIN_SECONDS) % len(turning)]
            if moves:
                shell.app.set_timer(SPIN_SECONDS, self._show_busy)

    # -- failures

    def show_error(self, error: Exception, task: str) -> None:
        """Show an error: cause, place and next step. A wrong input is only one line."""
        shell = self._shell
        if shell.is_leaving:
            return
        if isinstance(error, InputError):
            shell.show_message(f"{error.message} {error.hint}", "warning")
            return
        shell.app.push_screen(self._error_panel(error, task))

    def _error_panel(self, error: Exception, task: str) -> ErrorDialog:
        from .crash import write_report
        from .dialogs.dialog import ErrorDialog

        report, folder = None, self._shell.crash_folder
        if not isinstance(error, MemtuiError) and folder is not None:
            report = write_report(error, folder, __version__)
        return ErrorDialog(error, task, report)

    def show_unopened(self, error: Exception) -> None:
        """Show why the memory could not be opened. The app ends when the dialog is closed."""
        self.unopened = error
        if not self._shell.is_leaving:
            panel = self._error_panel(error, "opening the memory")
            self._shell.app.push_screen(panel, lambda _: self.leave_unopened())

    def leave_unopened(self) -> None:
        """End the app with the exit status of that error."""
        error = self.unopened
        self._shell.app.exit(return_code=error.exit_code if isinstance(error, MemtuiError) else 1)
