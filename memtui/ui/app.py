"""The app: it paints, then opens the memory, then follows what changes, and restores the terminal."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from textual.app import App
from textual.binding import Binding, BindingType
from textual.filter import LineFilter
from textual.screen import Screen

from memtui import __version__
from memtui.engine.errors import InputError, MemtuiError

from .actions import BY_ID, Action
from .app_actions import AppActions
from .crash import leave_on_signals, write_report
from .glyphs import Glyphs
from .keymap import bindings_at, read_keymap
from .line_filter import ControlFilter
from .look import Look
from .messages import Changed, MemoryOpened, Progressed, Refused, Said, Severity
from .ops import Operations
from .perform import start
from .safe import notice
from .screens.main import MainScreen
from .state import UiState
from .theme import DARK, own_themes, variable_defaults
from .widgets.bars import StatusLine, TitleBar

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import Changes, Stats

T = TypeVar("T")

# Dialogs that are opened by an action: where their code is.
DIALOGS: dict[str, str] = {}

STYLES = ("styles/shell.tcss", "styles/lists.tcss")
POLL_SECONDS = 0.5
PROGRESS_SECONDS = 1.0
SPIN_SECONDS = 0.1
# A change that takes less is not announced while it runs.
BUSY_AFTER = 0.2


class MemtuiApp(AppActions, App[None], inherit_bindings=False):
    """The terminal app on a memory that ``open_memory`` opens, in a thread, after the first paint.

    ``name`` is what the title calls the memory. ``state`` is where the app was left, ``crash_folder``
    where a crash report goes. Run it with ``run_app``, which gives the exit status.
    """

    TITLE = "memtui"
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_at("everywhere"),
        Binding("ctrl+c", "help_quit", show=False, system=True),
    ]
    HORIZONTAL_BREAKPOINTS = [(0, "-tiny"), (60, "-stacked"), (84, "-split")]
    VERTICAL_BREAKPOINTS = [(0, "-low"), (30, "-high")]
    ENABLE_COMMAND_PALETTE = False
    NOTIFICATION_TIMEOUT = 4

    def __init__(
        self,
        open_memory: Callable[[], Memory],
        *,
        name: str = "",
        look: Look = Look(),  # noqa: B008 - frozen
        keymap: Mapping[str, str] | None = None,
        readonly: bool = False,
        state: UiState | None = None,
        crash_folder: Path | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._control_filter = ControlFilter()
        super().__init__(css_path=[*STYLES, "styles/ascii.tcss"] if look.ascii else [*STYLES])
        self.look = look
        self.keymap, self._keymap_problems = read_keymap(keymap or {})
        self.readonly = readonly
        self.clock = clock
        self.started = clock()
        self.state = state or UiState(None)
        self.stats: Stats | None = None
        self.operations = Operations(open_memory, self._busy)
        self.memory_name = name
        self._crash_folder = crash_folder
        self._crash: BaseException | None = None
        self._data_version: int | None = None
        self._progress: Changes | None = None
        self._counted: tuple[str, int] = ("", 0)
        for theme in own_themes():
            self.register_theme(theme)
        chosen = look.theme if look.theme in self.available_themes else DARK
        # Not as an assignment, which would parse all styles a second time before the first paint.
        self.set_reactive(App.theme, chosen)
        self.stylesheet.set_variables(self.get_css_variables())
        self.animation_level = "basic" if look.moves() else "none"
        self.set_keymap(self.keymap.textual())

    # -- Textual's questions

    def get_default_screen(self) -> Screen[Any]:
        return MainScreen(self.state.pane)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return variable_defaults(self.current_theme)

    def get_line_filters(self) -> Sequence[LineFilter]:
        return (*super().get_line_filters(), self._control_filter)

    @property
    def main(self) -> MainScreen:
        return cast(MainScreen, self.screen_stack[0])

    @property
    def is_leaving(self) -> bool:
        """No window any more, though timers and threads may still have something to tell."""
        return not self.screen_stack or not self.is_running

    @property
    def glyphs(self) -> Glyphs:
        return self.look.glyphs

    # -- opening

    def on_mount(self) -> None:
        leave_on_signals(self._leave_on_signal)

    def begin(self) -> None:
        """The window was painted: now the memory."""
        for problem in self._keymap_problems:
            self.post_message(Said(problem, "warning", kind="keymap"))
        start(self, self._open, "open")

    async def _open(self) -> None:
        memory = await self.operations.open()
        memory.subscribe("changed", self._changed_in_thread)
        memory.subscribe("progress", self._progressed_in_thread)
        self.readonly = self.readonly or memory.readonly
        self.main.memory_opened()
        self.post_message(MemoryOpened())
        self.count_again()
        self.set_interval(POLL_SECONDS, self._poll)

    def refusal(self, action: Action) -> str:
        """Why ``action`` cannot run at all at the moment; empty when it can."""
        if action.changes and self.readonly:
            return "This memory is open for reading only, so nothing can be changed."
        if action.changes and self.operations.memory is None:
            return "The memory is not open yet."
        return self.why_not(action)

    # -- changes

    def _changed_in_thread(self, changes: Changes) -> None:
        self.post_message(Changed(changes))

    def on_changed(self, event: Changed) -> None:
        operation = event.changes.operation
        if self.is_leaving:
            return
        if operation is not None and operation.actor == "person":
            undo = "redo" if operation.kind == "undo" else "undo"
            self.post_message(Said(operation.label, then=undo))
        self.main.memory_changed(event.changes)
        self.count_again()

    def _progressed_in_thread(self, changes: Changes) -> None:
        self.post_message(Progressed(changes))

    def on_progressed(self, event: Progressed) -> None:
        """Links and vectors come in thousands of batches: the lists follow once a second."""
        if self._progress is None and not self.is_leaving:
            self.set_timer(PROGRESS_SECONDS, self._follow_progress)
        self._progress = event.changes

    def _follow_progress(self) -> None:
        changes, self._progress = self._progress, None
        if changes is not None and not self.is_leaving:
            self.main.memory_changed(changes)
            self.count_again()

    def _poll(self) -> None:
        start(self, self._look_for_others, "poll")

    async def _look_for_others(self) -> None:
        """Another process may have written; a file that cannot be read just now is one line, not a panel."""
        from memtui.engine.records import Changes

        try:
            version = await self.operations.ask(lambda memory: memory.data_version())
        except MemtuiError as error:
            self.post_message(Said(f"{error.message} {error.hint}", "warning", kind="poll"))
            return
        if self._data_version is not None and version != self._data_version:
            self.post_message(Changed(Changes(tables=frozenset({"*"}))))
        self._data_version = version

    def count_again(self) -> None:
        """Ask for the counts of the tabs and the title."""
        start(self, self._count, "count")

    async def _count(self) -> None:
        self.stats = stats = await self.operations.ask(lambda memory: memory.stats())
        if self.is_leaving:
            return
        self.main.show_stats(stats)
        title = self.main.query_one(TitleBar)
        facts = []
        if waiting := stats.unembedded + stats.unlinked:
            facts.append(f"{self.glyphs.marked} indexing {waiting:,} left")
        if self.readonly:
            facts.append("read only")
        title.facts = tuple(facts)

    # -- telling

    def say(self, text: str, severity: Severity = "information") -> None:
        self.post_message(Said(text, severity))

    def on_said(self, event: Said) -> None:
        if self.is_leaving:
            return
        kind, times = self._counted
        times = times + 1 if event.kind and event.kind == kind else 1
        self._counted = (event.kind, times)
        status = self.main.query_one(StatusLine)
        status.severity = event.severity
        status.said = f"{event.text} (×{times})" if times > 1 else event.text
        status.undo_hint = self._hint(event.then)
        if event.severity != "information" and times == 1:
            notice(self.screen, event.text, severity=event.severity)

    def keymap_shown(self, action_id: str) -> str:
        """The key of an action, for texts that mention it."""
        return self.keymap.shown(BY_ID[action_id])

    def _hint(self, action_id: str) -> str:
        return f"{self.keymap_shown(action_id)} {BY_ID[action_id].label}" if action_id else ""

    def on_refused(self, event: Refused) -> None:
        self.post_message(Said(event.reason, "warning", kind=f"refused {event.action_id}"))

    def look_again(self) -> None:
        """What can be done may have changed."""
        if not self.is_leaving:
            self.main.look_again()

    def _busy(self) -> None:
        self.set_timer(BUSY_AFTER, self._show_busy)

    def _show_busy(self) -> None:
        if self.is_leaving:
            return
        status = self.main.query_one(StatusLine)
        status.running = tuple(self.operations.running)
        if self.operations.running:
            turning = self.glyphs.spinner if self.look.moves() else self.glyphs.marked
            status.spinner = turning[int(time.monotonic() / SPIN_SECONDS) % len(turning)]
            if self.look.moves():
                self.set_timer(SPIN_SECONDS, self._show_busy)

    # -- asking

    def push_named(self, name: str) -> None:
        """Open one of the dialogs that have a module of their own: ``import``, ``settings``."""
        opener = DIALOGS.get(name)
        if opener is None:
            self.say("This is not there yet.", "warning")
        else:
            module, _, dialog = opener.partition(":")
            self.push_screen(getattr(import_module(module), dialog)())

    async def ask_person(self, dialog: Screen[T]) -> T | None:
        """Show a dialog and wait for its answer (from a worker only); None when it was left."""
        return await self.push_screen_wait(dialog)

    def action_help_quit(self) -> None:
        self.say(f"Nothing is selected to copy. {self.keymap_shown('quit')} quits.")

    # -- errors and leaving

    def show_error(self, error: Exception, place: str) -> None:
        """Tell about a failure: cause, place and next step. A mistake of the person's is only a line."""
        if self.is_leaving:
            return
        if isinstance(error, InputError):
            self.say(f"{error.message} {error.hint}", "warning")
            return
        from .screens.error import ErrorDialog

        report = None
        if not isinstance(error, MemtuiError) and self._crash_folder is not None:
            report = write_report(error, self._crash_folder, __version__)
        self.push_screen(ErrorDialog(error, place, report))

    def _fatal_error(self) -> None:
        """Textual's own prints every local variable, memory texts and keys included."""
        self.bell()
        self._crash = self._exception
        self._close_messages_no_wait()

    def _leave_on_signal(self, status: int) -> None:
        self.exit(return_code=status)

    async def on_unmount(self) -> None:
        self.state.save(pane=self.main.active if self.screen_stack else self.state.pane)
        self.operations.close()

    def crash_message(self) -> str:
        """What to print after a crash; empty when there was none."""
        if self._crash is None:
            return ""
        path = write_report(self._crash, self._crash_folder, __version__) if self._crash_folder else None
        where = f" A report without any memory text is in {path}." if path is not None else ""
        return (
            f"memtui stopped because of an unexpected error ({type(self._crash).__name__})."
            f" Nothing that was saved is lost.{where}"
        )


def run_app(app: MemtuiApp) -> int:
    """Run the app; returns the exit status: 0, 1 after a crash, 128 + signal."""
    app.run()
    if message := app.crash_message():
        os.write(2, f"{message}\n".encode())
    return app.return_code or 0
