"""The app: it paints, opens the memory, follows its changes, and restores the terminal at the end."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, cast

from textual import events
from textual.app import App
from textual.binding import Binding, BindingType
from textual.filter import LineFilter
from textual.screen import Screen

from memtui import __version__
from memtui.engine.errors import MemtuiError, ReplacedFileError
from memtui.present.glyphs import Glyphs

from . import garbage_collection
from .action_dispatch import perform_action, perform_chord, start_worker
from .actions import BY_ID, Action
from .app_actions import AppActions, show_welcome
from .change_follower import ChangeFollower
from .crash import leave_on_signals, write_report
from .file_recovery import FileRecovery
from .keymap import bindings_at, read_keymap
from .keystrokes import Keystrokes
from .line_filter import own_filters, without_greys
from .main_screen import MainScreen
from .messages import Changed, Notified, Progressed, Refused, Severity
from .navigation import Navigation
from .notifications import Notifications
from .operations import Operations
from .panes.registry import FIRST, WITHOUT_FACTS
from .permissions import Permissions, permissions_of_app
from .state import UiState
from .theme import DARK, LIGHT, Appearance, own_themes, variable_defaults

if TYPE_CHECKING:
    from memtui.config import Configuration, Settings
    from memtui.engine.memory import Memory
    from memtui.engine.records import Stats

T = TypeVar("T")
# What is shown first: the tour of the demo, or the import.
Beginning = Literal["tour", "import"] | None

STYLES = ("styles/shell.tcss", "styles/lists.tcss")
POLL_SECONDS = 0.5
# Background work imports modules for a tenth of a second. It waits until the first rows are shown.
BACKGROUND_SECONDS = 0.5


class MemtuiApp(App[None], inherit_bindings=False):
    """The terminal app on a memory that ``open_memory`` opens, in a thread, after the first paint.

    ``name``: the memory's name in the title. ``state``: the saved state of the last run. ``crash_folder``: where a
    crash report goes. ``home``: where session files of other programs are looked for (None: nowhere, and no
    welcome dialog). ``configuration``: what the settings show. ``reopen`` opens the memory with other settings
    (None: they take effect at the next start). ``memory_path``: the file of the memory, to restore a backup if it cannot
    be opened. ``permissions``: what it may do besides showing the memory. ``begins_with``: what is shown first.
    Run it with ``run_app``, which returns the exit status.
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
        reopen: Callable[[Settings], Memory] | None = None,
        memory_path: Path | None = None,
        name: str = "",
        shell_options: Sequence[str] = (),
        look: Appearance = Appearance(),  # noqa: B008 - frozen
        keymap: Mapping[str, str] | None = None,
        readonly: bool = False,
        permissions: Permissions | None = None,
        state: UiState | None = None,
        crash_folder: Path | None = None,
        home: Path | None = None,
        configuration: Configuration | None = None,
        clock: Callable[[], float] = time.time,
        begins_with: Beginning = None,
    ) -> None:
        super().__init__(css_path=[*STYLES, "styles/ascii.tcss"] if look.ascii else [*STYLES])
        if self.no_color:
            self._filters = without_greys(self._filters)
        self._own_filters = own_filters(ascii=look.ascii, no_color=self.no_color)
        self.look = look
        self.keymap, self._keymap_problems = read_keymap(keymap or {})
        self.readonly = readonly
        self.permissions = permissions or permissions_of_app(readonly=readonly, demo=False)
        self.clock = clock
        self.started = clock()
        self.state = state or UiState(None)
        self.navigation = Navigation(lambda: self.main, self.show_message)
        self.notifications = Notifications(self)
        self.follower = ChangeFollower(
            self, lambda: self.main, reopen, lambda: self.keystrokes.seconds_since_key
        )
        self.delegates: tuple[object, ...] = (AppActions(self, lambda: self.main), self.navigation)
        self.recovery = FileRecovery(self, None if readonly else memory_path, self.follower.follow_again)
        busy = self.notifications.show_busy_soon
        self.operations = Operations(open_memory, busy, self.recovery.offer_reopen)
        self.memory_name = name
        self.shell_options = shell_options
        self.crash_folder = crash_folder
        self.home = home
        self.configuration = configuration
        self.demo_wanted = self.own_wanted = False
        self._begins_with = begins_with
        self._crash: BaseException | None = None
        self.keystrokes: Keystrokes = Keystrokes(self, self._pass_event_on, self._takes_keys)
        for theme in own_themes():
            self.register_theme(theme)
        # light and dark are short for our own.
        wanted = f"memtui-{look.theme}" if look.theme in ("light", "dark") else look.theme
        chosen = wanted if wanted in self.available_themes else DARK
        self._no_theme = "" if chosen == wanted else look.theme
        # Not assigned to the attribute: that would parse all styles again before the first paint.
        self.set_reactive(App.theme, chosen)
        self.stylesheet.set_variables(self.get_css_variables())
        self.animation_level = "basic" if look.is_animated() else "none"
        self.set_keymap(self.keymap.textual_keymap())

    # -- overrides of Textual

    def get_default_screen(self) -> Screen[Any]:
        return MainScreen(self.state.pane)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return variable_defaults(self.current_theme)

    def get_css_variables(self) -> dict[str, str]:
        variables = super().get_css_variables()
        if (
            self.no_color and not self.current_theme.ansi
        ):  # so that ``NoColourFilter`` reverses the row of the cursor, and the tab of the pane
            variables["row-cursor"] = variables["foreground"]
        return variables

    def get_line_filters(self) -> Sequence[LineFilter]:
        return (*super().get_line_filters(), *self._own_filters)

    @property
    def main(self) -> MainScreen:
        return cast(MainScreen, self.screen_stack[0])

    @property
    def is_leaving(self) -> bool:
        """Whether the app is closing. Timers and threads may still send messages."""
        return not self.screen_stack or not self.is_running

    # -- the ``Shell`` protocol, for panes, dialogs and widgets

    @property
    def glyphs(self) -> Glyphs:
        return self.look.glyphs

    @property
    def stats(self) -> Stats | None:
        return self.follower.stats

    @property
    def own_operations(self) -> set[int]:
        return self.follower.own_operations

    @property
    def applies_settings(self) -> bool:
        return self.follower.applies_settings

    async def apply_settings(self) -> None:
        await self.follower.apply_settings()

    @property
    def shown_pane_id(self) -> str:
        return self.main.active

    def keymap_shown(self, action_id: str) -> str:
        return self.keymap.key_label(BY_ID[action_id])

    def refresh_keys(self) -> None:
        if not self.is_leaving:
            self.main.refresh_keys()

    def show_count(self, pane_id: str, number: int) -> None:
        self.main.show_count(pane_id, number)

    def tab_count(self, pane_id: str) -> int | None:
        return self.main.tab_count(pane_id)

    def show_message(self, text: str, severity: Severity = "information") -> None:
        self.post_message(Notified(text, severity))

    def show_error(self, error: Exception, task: str) -> None:
        if isinstance(error, ReplacedFileError):
            self.recovery.report_replaced(error)
        else:
            self.notifications.show_error(error, task)

    async def show_dialog(self, dialog: Screen[T]) -> T | None:
        return await self.push_screen_wait(dialog)

    # -- actions

    action_chord = perform_chord

    def action_perform(self, action_id: str) -> None:
        node = self.main.performer_of(BY_ID[action_id])
        if node is not None:
            perform_action(node, action_id)
        else:
            self.show_message(self.keymap.no_effect_message_of(BY_ID[action_id]))

    async def _check_bindings(self, key: str, priority: bool = False) -> bool:
        """As in Textual, but a key without an action gets a message."""
        done = await super()._check_bindings(key, priority)
        if not done and not priority and isinstance(self.screen, MainScreen):
            self.post_message(Notified(self.keymap.no_effect_message(key), kind=f"no key {key}"))
        return done

    def action_help_quit(self) -> None:
        if self.notifications.unopened is not None:
            self.notifications.leave_unopened()
            return
        self.show_message(f"Nothing is selected to copy. {self.keymap_shown('quit')} quits.")

    def action_show_entity(self, eid: int) -> None:
        """Show an entity: its name in a text was clicked."""
        start_worker(self, partial(self.navigation.open_entity, eid), "go")

    # -- messages

    def on_notified(self, event: Notified) -> None:
        self.notifications.show(event)

    def on_refused(self, event: Refused) -> None:
        if self.operations.memory is None and self.notifications.unopened is None:
            self.show_message("Opening the memory …: press the key again in a moment.")
            return
        self.post_message(Notified(event.reason, "warning", kind=f"refused {event.action_id}"))

    def on_changed(self, event: Changed) -> None:
        self.follower.show_changes(event.changes)

    def on_progressed(self, event: Progressed) -> None:
        self.follower.show_progress_soon(event.changes)

    # -- opening

    def on_mount(self) -> None:
        leave_on_signals(self._leave_on_signal)

    def begin_opening(self) -> None:
        """Open the memory. Called after the first paint."""
        self.set_timer(BACKGROUND_SECONDS, garbage_collection.freeze_startup_objects)
        for problem in self._keymap_problems:
            self.post_message(Notified(problem, "error", kind="keymap"))
        if self._no_theme:
            known = f"{DARK}, {LIGHT}, or one that {self.keymap_shown('settings')} lists"
            self.post_message(Notified(f"There is no theme {self._no_theme!r}: {known}.", "warning"))
        start_worker(self, self._open_memory, "open")

    async def _open_memory(self) -> None:
        while True:
            try:
                memory, version = await self.operations.open()
                break
            except Exception as error:
                if not await self._offer_backup_instead(error):
                    return
        self.state.note_open(memory.path, self.clock())
        self.follower.follow_memory(memory, version)
        self.readonly = self.readonly or memory.readonly
        await self._leave_empty_pane()
        self.main.memory_opened()
        self.follower.count_again()
        self.set_timer(BACKGROUND_SECONDS, self.follower.start_background)
        start_worker(self, self.follower.report_unfinished, "unfinished")
        self.set_interval(POLL_SECONDS, self.poll_changes)
        if self._begins_with == "tour":
            start_worker(self, self._begin_tour, "tour")
        else:
            start_worker(
                self, partial(show_welcome, self, start_import=self._begins_with == "import"), "welcome"
            )

    async def _leave_empty_pane(self) -> None:
        """Begin with another pane while there are no facts for the first one."""
        if self.main.active == FIRST:
            known = await self.operations.ask(lambda memory: bool(memory.view.page("kind:fact", limit=1)))
            if not known and self.main.active == FIRST:
                await self.navigation.begin_at(WITHOUT_FACTS)

    async def _begin_tour(self) -> None:
        from .tour import Tour

        plain = self.delegates

        def end_tour() -> None:
            self.delegates = plain
            self.refresh_keys()

        tour = Tour(self, lambda: self.main, self.navigation, end_tour)
        self.delegates = (tour, *plain)
        await tour.begin()

    async def _offer_backup_instead(self, error: Exception) -> bool:
        """Offer the backups of a memory that could not be opened. If there is none, show the error and end."""
        self.notifications.unopened = error
        try:
            restored = await self.recovery.offer_backup(error)
        except MemtuiError as failed:
            error, restored = failed, None
        if restored:
            self.notifications.unopened = None
        elif restored is False:
            self.notifications.leave_unopened()
        else:
            self.notifications.show_unopened(error)
        return bool(restored)

    def poll_changes(self) -> None:
        """Twice a second: collect garbage if no key is pressed, and check for changes by other programs."""
        garbage_collection.collect_if_due(self.keystrokes.seconds_since_key)
        self.follower.poll_file()

    def app_unavailable_reason(self, action: Action) -> str:
        """Why ``action`` cannot run in any pane now. Empty if it can."""
        if action.changes and self.readonly:
            return self.permissions.unchangeable
        if action.changes and self.operations.memory is None:
            return "The memory is not open yet."
        return self.permissions.unavailable_reason(action.needs) if action.needs else ""

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, (events.Key, events.MouseDown)):
            self.notifications.clear_message()
        if isinstance(event, (events.Key, events.Paste)) and not event.is_forwarded:
            self.keystrokes.add(event)
        else:
            await super().on_event(event)

    async def _pass_event_on(self, event: events.Event) -> None:
        if isinstance(self.screen, MainScreen):
            self.screen.keep_focus()
        await super().on_event(event)

    def _takes_keys(self) -> bool:
        """Whether keys can be handled, or a pane or dialog is still being made."""
        if isinstance(self.screen, MainScreen):
            return not self.screen.opening
        return self.screen.is_mounted and (self.screen.focused is not None or not self.screen.focus_chain)

    # -- leaving

    def _fatal_error(self) -> None:
        """Write a crash report instead of Textual's, which prints all local variables, with memory texts and keys."""
        self.bell()
        self._crash = self._exception
        self._close_messages_no_wait()

    def _leave_on_signal(self, status: int) -> None:
        self.exit(return_code=status)

    async def on_unmount(self) -> None:
        self.keystrokes.stop()
        if self.operations.memory is not None:
            self.state.note_open(self.operations.memory.path, self.clock())
        self.state.save()
        self.follower.stop_following()
        self.operations.close()

    def crash_message(self) -> str:
        """The message to print after a crash. Empty if there was none."""
        if self._crash is None:
            return ""
        path = write_report(self._crash, self.crash_folder, __version__) if self.crash_folder else None
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
