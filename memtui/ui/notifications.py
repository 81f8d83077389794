"""What the app tells the person: the status line, running work, dialogs, failures."""

from __future__ import annotations

import time
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar, cast

from memtui import __version__
from memtui.engine.errors import InputError, MemtuiError

from .actions import BY_ID
from .messages import Refused, Said, Severity
from .safe import notice
from .widgets.bars import StatusLine

if TYPE_CHECKING:
    from textual.dom import DOMNode as _Base
    from textual.screen import Screen

    from .app import MemtuiApp
    from .dialogs.error import ErrorDialog
else:
    _Base = object

T = TypeVar("T")

# Dialogs that an action of the whole app opens: where their code is.
DIALOGS: dict[str, str] = {
    "import": "memtui.ui.dialogs.import_:ImportDialog",
    "settings": "memtui.ui.dialogs.settings:SettingsDialog",
}

SAID_SECONDS = 8.0
SPIN_SECONDS = 0.1
# A change that takes less is not announced while it runs.
BUSY_AFTER = 0.2


class AppTelling(_Base):
    """Mixin of the app: everything it says."""

    _counted: tuple[str, int] = ("", 0)
    # Why there is no memory and will be none.
    _unopened: Exception | None = None

    @property
    def _self(self) -> MemtuiApp:
        return cast("MemtuiApp", self)

    def say(self, text: str, severity: Severity = "information") -> None:
        """One line in the status; an error is a notification too."""
        self.post_message(Said(text, severity))

    def on_said(self, event: Said) -> None:
        me = self._self
        if me.is_leaving:
            return
        kind, times = self._counted
        times = times + 1 if event.kind and event.kind == kind else 1
        self._counted = (event.kind, times)
        status = me.main.query_one(StatusLine)
        status.severity = event.severity
        status.said = f"{event.text} (×{times})" if times > 1 else event.text
        status.undo_hint = f"{self.keymap_shown(event.then)} {BY_ID[event.then].label}" if event.then else ""
        if event.severity == "error" and times == 1:
            notice(me.screen, event.text, severity=event.severity)
        if not event.then:
            self.set_timer(SAID_SECONDS, partial(self._unsay, status.said))

    def go_on(self) -> None:
        """The person does the next thing: what was said is about the last one, unless it can be undone."""
        me = self._self
        if not me.is_leaving and me.main.is_mounted:
            for status in me.main.query(StatusLine):
                if not status.undo_hint:
                    status.said = ""

    def _unsay(self, text: str) -> None:
        """What was said a while ago is no longer news; what can be undone stays."""
        me = self._self
        if not me.is_leaving and me.main.query_one(StatusLine).said == text:
            me.main.query_one(StatusLine).said = ""

    def on_refused(self, event: Refused) -> None:
        self.post_message(Said(event.reason, "warning", kind=f"refused {event.action_id}"))

    def keymap_shown(self, action_id: str) -> str:
        """The key of an action, for texts that mention it."""
        return self._self.keymap.shown(BY_ID[action_id])

    def action_help_quit(self) -> None:
        if self._unopened is not None:
            self._leave_unopened()
            return
        self.say(f"Nothing is selected to copy. {self.keymap_shown('quit')} quits.")

    def look_again(self) -> None:
        """What can be done may have changed: the footer should show it."""
        if not self._self.is_leaving:
            self._self.main.look_again()

    # -- running work

    def show_busy_soon(self) -> None:
        """Work began or ended: say so, unless it is over in a moment."""
        self.set_timer(BUSY_AFTER, self._show_busy)

    def _show_busy(self) -> None:
        me = self._self
        if me.is_leaving:
            return
        status = me.main.query_one(StatusLine)
        status.running = tuple(me.operations.running)
        if me.operations.running:
            moves = me.look.moves()
            turning = me.glyphs.spinner if moves else me.glyphs.marked
            status.spinner = turning[int(time.monotonic() / SPIN_SECONDS) % len(turning)]
            if moves:
                self.set_timer(SPIN_SECONDS, self._show_busy)

    # -- dialogs

    def push_named(self, name: str) -> None:
        """Open one of ``DIALOGS``."""
        opener = DIALOGS.get(name)
        if opener is None:
            self.say("This is not there yet.", "warning")
        else:
            module, _, dialog = opener.partition(":")
            self._self.push_screen(getattr(import_module(module), dialog)())

    async def ask_person(self, dialog: Screen[T]) -> T | None:
        """Show a dialog and wait for its answer (from a worker only); None when it was left."""
        return await self._self.push_screen_wait(dialog)

    def show_error(self, error: Exception, place: str) -> None:
        """Tell about a failure: cause, place and next step. A mistake of the person's is only a line."""
        me = self._self
        if me.is_leaving:
            return
        if isinstance(error, InputError):
            self.say(f"{error.message} {error.hint}", "warning")
            return
        me.push_screen(self._panel(error, place))

    def _panel(self, error: Exception, place: str) -> ErrorDialog:
        from .crash import write_report
        from .dialogs.error import ErrorDialog

        report, folder = None, self._self.crash_folder
        if not isinstance(error, MemtuiError) and folder is not None:
            report = write_report(error, folder, __version__)
        return ErrorDialog(error, place, report)

    def show_unopened(self, error: Exception) -> None:
        """Tell why there is no memory to show; without one the app ends with that panel."""
        me = self._self
        self._unopened = error
        if not me.is_leaving:
            me.push_screen(self._panel(error, "opening the memory"), lambda _: self._leave_unopened())

    def _leave_unopened(self) -> None:
        error = self._unopened
        self._self.exit(return_code=error.exit_code if isinstance(error, MemtuiError) else 1)
