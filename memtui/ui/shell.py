"""The protocol of the app for panes, dialogs and widgets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

if TYPE_CHECKING:
    from textual.app import App
    from textual.dom import DOMNode
    from textual.screen import Screen

    from memtui.config import Configuration
    from memtui.engine.records import Stats
    from memtui.present.glyphs import Glyphs

    from .actions import Action
    from .keymap import Keymap
    from .messages import Severity
    from .navigation import Navigation
    from .operations import Operations
    from .permissions import Permissions
    from .state import UiState
    from .theme import Appearance

T = TypeVar("T")


class Shell(Protocol):
    """The running app."""

    # The configuration that the settings change, and the saved state.
    configuration: Configuration | None
    state: UiState
    # Whether to start the demo next, or to leave its tour for the person's own memory.
    demo_wanted: bool
    own_wanted: bool

    @property
    def app(self) -> App[object]:
        """The Textual app: screens, timers, workers."""

    # -- facts

    @property
    def memory_name(self) -> str: ...
    @property
    def shell_options(self) -> Sequence[str]:
        """The options with which a command in a shell opens this memory."""

    @property
    def stats(self) -> Stats | None:
        """The last read counts of the whole memory."""

    @property
    def readonly(self) -> bool: ...
    @property
    def permissions(self) -> Permissions:
        """What the app may do besides showing the memory."""

    @property
    def started(self) -> float: ...
    @property
    def is_leaving(self) -> bool: ...
    @property
    def own_operations(self) -> set[int]:
        """The operations of this run of the app."""

    @property
    def home(self) -> Path | None:
        """Where session files of other programs are looked for."""

    @property
    def crash_folder(self) -> Path | None: ...
    @property
    def clock(self) -> Callable[[], float]: ...
    @property
    def look(self) -> Appearance: ...
    @property
    def glyphs(self) -> Glyphs: ...
    @property
    def keymap(self) -> Keymap: ...
    def keymap_shown(self, action_id: str) -> str:
        """The key of an action, for texts that mention it."""

    # -- the memory

    @property
    def operations(self) -> Operations:
        """Reads and changes the memory."""

    @property
    def applies_settings(self) -> bool:
        """Whether engine settings can take effect now."""

    async def apply_settings(self) -> None:
        """Open the memory again with the present settings."""

    # -- the window

    @property
    def navigation(self) -> Navigation:
        """Navigation to other panes and back."""

    @property
    def shown_pane_id(self) -> str:
        """The place of the pane that is shown."""

    def begin_opening(self) -> None:
        """Open the memory. Called after the first paint."""

    def refresh_keys(self) -> None:
        """Draw the keys of the footer again: the possible actions may have changed."""

    def show_count(self, pane_id: str, number: int) -> None:
        """Show the count of a tab that is not in the statistics."""

    def tab_count(self, pane_id: str) -> int | None:
        """The count of a tab that is not in the statistics; None while it is not known."""

    def action_perform(self, action_id: str) -> None:
        """Run an action at the node that has it now."""

    def app_unavailable_reason(self, action: Action) -> str:
        """Why an action cannot run in any pane now. Empty if it can."""

    # -- the person

    def show_message(self, text: str, severity: Severity = "information") -> None:
        """Show one line in the status line. An error is also a notification."""

    def show_error(self, error: Exception, task: str) -> None:
        """Show an error: cause, place and next step."""

    async def show_dialog(self, dialog: Screen[T]) -> T | None:
        """Show a dialog and wait for its result (from a worker only). None if it was closed."""


def shell_of(node: DOMNode) -> Shell:
    """The app that a widget or screen is in."""
    return cast("Shell", node.app)
