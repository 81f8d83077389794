"""The app as panes, dialogs and widgets see it: what they may ask of it, and nothing of how it is built."""

from __future__ import annotations

from collections.abc import Callable
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
    from .appearance import Look
    from .keymap import Keymap
    from .messages import Severity
    from .navigation import Navigation
    from .operations import Operations
    from .permissions import Permissions
    from .state import UiState

T = TypeVar("T")


class Shell(Protocol):
    """The running app."""

    # What settings show and change, and where it was left.
    configuration: Configuration | None
    state: UiState
    # Whether it is left for the demo, or from its tour for the person's own memory.
    demo_wanted: bool
    own_wanted: bool

    @property
    def app(self) -> App[object]:
        """Textual's side of it: screens, timers, workers."""

    # -- facts

    @property
    def memory_name(self) -> str: ...
    @property
    def stats(self) -> Stats | None:
        """The counts of the whole memory, when they were last read."""

    @property
    def readonly(self) -> bool: ...
    @property
    def permissions(self) -> Permissions:
        """What the app may do beside showing the memory."""

    @property
    def started(self) -> float: ...
    @property
    def is_leaving(self) -> bool: ...
    @property
    def made(self) -> set[int]:
        """Operations that this run of the app carried out itself."""

    @property
    def home(self) -> Path | None:
        """Where other programs' session files are looked for."""

    @property
    def crash_folder(self) -> Path | None: ...
    @property
    def clock(self) -> Callable[[], float]: ...
    @property
    def look(self) -> Look: ...
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
        """Whether settings of the engine can count at once."""

    async def apply_settings(self) -> None:
        """Open the memory anew, with the settings as they are now."""

    # -- the window

    @property
    def navigation(self) -> Navigation:
        """The ways to another pane, and back."""

    @property
    def place_shown(self) -> str:
        """The place of the pane that is shown."""

    def begin(self) -> None:
        """The window was painted: now the memory."""

    def look_again(self) -> None:
        """What can be done may have changed: the footer should show it."""

    def show_count(self, place: str, number: int) -> None:
        """The count of a tab that is not among the statistics."""

    def action_perform(self, action_id: str) -> None:
        """Hand an action to whoever carries it out now."""

    def refusal(self, action: Action) -> str:
        """Why an action cannot run at all at the moment; empty when it can."""

    # -- the person

    def say(self, text: str, severity: Severity = "information") -> None:
        """One line in the status; an error is a notification too."""

    def show_error(self, error: Exception, place: str) -> None:
        """Tell about a failure: cause, place and next step."""

    async def ask_person(self, dialog: Screen[T]) -> T | None:
        """Show a dialog and wait for its answer (from a worker only); None when it was left."""


def shell_of(node: DOMNode) -> Shell:
    """The app that a widget or screen is in."""
    return cast("Shell", node.app)
