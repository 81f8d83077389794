"""The base class of all panes. ``use_styles`` loads a style sheet when a pane first needs it, to keep the start fast."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple, TypeVar

from textual.containers import Container
from textual.widget import Widget

from memtui.ui.action_dispatch import delegate_unavailable_reason, perform_action, perform_chord
from memtui.ui.actions import Action, ActionContext
from memtui.ui.messages import Notified, PaneStatus, Severity
from memtui.ui.shell import shell_of

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import Changes
    from memtui.ui.shell import Shell
from pathlib import Path

from textual.app import App

T = TypeVar("T")


class Command(NamedTuple):
    """An entry of the command palette that only this pane has."""

    name: str
    help: str
    run: Callable[[], object]


class Pane(Container):
    """A pane fills the window between the tabs and the status line.

    ``load`` is called when the memory is open and the pane is shown. After that, ``reload`` follows
    every change that ``is_affected_by`` says yes to, at once or when the pane is shown again.
    """

    pane_id: ClassVar[ActionContext]
    # Tables whose changes concern this pane. None: all of them.
    tables: ClassVar[frozenset[str] | None] = None
    # Actions that the footer leaves out while they cannot run; the help lists them with the reason.
    footer_if_able: ClassVar[frozenset[str]] = frozenset({"merge_marked"})
    # Objects that carry out some of the pane's actions (see ``perform_action``).
    delegates: Sequence[object] = ()
    action_perform, action_chord = perform_action, perform_chord

    @property
    def shell(self) -> Shell:
        return shell_of(self)

    @property
    def action_context(self) -> ActionContext:
        """The place whose keys work now. A pane with several views has a place for each."""
        return self.pane_id

    def offers(self, action: Action) -> bool:
        """Whether the pane has this action at all."""
        return True

    def label(self, action: Action) -> str:
        """What the footer calls an action here."""
        return action.label

    def help(self, action: Action) -> str:
        """What an action does here, as a sentence."""
        return action.help

    def unavailable_reason(self, action: Action) -> str:
        """Why an action cannot run now, as a sentence; empty when it can."""
        return delegate_unavailable_reason(self, action)

    @property
    def entity_name(self) -> str:
        """The name of the entity under the cursor. Empty where there is none."""
        return ""

    @property
    def memory_filter(self) -> str:
        """The filter that narrows the memories on screen, for an export."""
        return ""

    def load(self) -> None:
        """Show the memory for the first time."""

    def select_restored(self, ids: Sequence[str]) -> None:
        """Select what an undo restored, where the pane lists it."""

    def reload(self) -> None:
        """The memory changed: show it as it is now, with the selection where it was."""

    def legend(self) -> Sequence[tuple[str, str]]:
        """Signs and words of the pane that need an explanation, for the help."""
        return ()

    def stats_read(self) -> None:
        """The counts of the whole memory (``shell.stats``) were read again."""

    def is_affected_by(self, changes: Changes) -> bool:
        return self.tables is None or not self.tables.isdisjoint(changes.tables)

    def back(self) -> bool:
        """One step back; False when there is nowhere to go."""
        return False

    @property
    def view_shown(self) -> Hashable:
        """What the pane shows, whatever the cursor is on: a filter, a mode, the part that has the whole pane.

        While it is what ``navigation`` showed by a visit, one step back leaves the pane.
        """
        return None

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing is marked, and the focus is where a visit puts it."""
        return True

    def begin(self) -> None:
        """The person chose the pane by its number: show its first view."""

    @property
    def is_in_sight(self) -> bool:
        """Whether the pane is shown. Parts of a hidden one must not get the focus."""
        return all(part.display for part in self.ancestors_with_self if isinstance(part, Widget))

    def bookmark(self) -> Callable[[], None]:
        """A function that restores the present state of the pane."""
        return self.do_focus_list

    def focus_parts(self) -> list[Widget]:
        """The widgets for Tab and jump mode, in reading order. The first one gets the focus."""
        return []

    def commands(self) -> Iterator[Command]:
        return iter(())

    @property
    def in_mode(self) -> bool:
        """Whether the footer should show that Esc leaves a mode: the full view, tuning, the Trash."""
        return False

    @property
    def footer_needed(self) -> frozenset[str]:
        """Actions to which the way to the commands gives its room in a narrow footer."""
        return frozenset()

    def preferred_actions(self) -> Sequence[str]:
        """The actions that the footer should show first."""
        return ()

    def take_focus(self) -> None:
        """Focus the first part when the pane is shown."""
        self.do_focus_list()

    def do_focus_list(self) -> None:
        if parts := self.focus_parts():
            parts[0].focus()

    def do_focus_preview(self) -> None:
        if parts := self.focus_parts():
            parts[-1].focus()

    def show_status(self, text: str) -> None:
        """Show what this pane lists, at the left of the status line."""
        self.post_message(PaneStatus(self.pane_id, text))

    def show_message(self, text: str, severity: Severity = "information") -> None:
        self.post_message(Notified(text, severity))

    async def ask(self, call: Callable[[Memory], T]) -> T:
        """Read from the memory, in a thread."""
        return await self.shell.operations.ask(call)

    async def change(self, call: Callable[[Memory], T], name: str) -> T:
        """Change the memory, in a thread. Panes that are concerned reload by themselves."""
        return await self.shell.operations.change(call, name)


_STYLES = Path(__file__).parent.parent / "styles"


def use_styles(app: App[object], name: str) -> None:
    """Add a style sheet to those of the app, once."""
    path = _STYLES / name
    if not app.stylesheet.has_source(str(path), ""):
        app.stylesheet.read(path)
        app.refresh_css(animate=False)
