"""What every pane of the app is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple, TypeVar

from textual.containers import Container
from textual.widget import Widget

from memtui.ui.action_dispatch import chord, delegated, perform
from memtui.ui.actions import Action, Place
from memtui.ui.messages import Notified, PaneStatus, Severity
from memtui.ui.shell import shell_of

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import Changes
    from memtui.ui.shell import Shell

T = TypeVar("T")


class Command(NamedTuple):
    """An entry of the command palette that only this pane has."""

    name: str
    help: str
    run: Callable[[], object]


class Pane(Container):
    """A pane: it fills the window between tabs and status. One file, one subclass.

    ``load`` is called once the memory is open and the pane is shown; afterwards ``reload`` follows
    every change that ``concerned`` says yes to, at once or when the pane is shown again.
    """

    place: ClassVar[Place]
    # Tables whose changes show here; None: all of them.
    tables: ClassVar[frozenset[str] | None] = None
    # Actions that the footer leaves out while they cannot run; the help lists them with the reason.
    footer_if_able: ClassVar[frozenset[str]] = frozenset({"merge_marked"})
    # Objects that carry out some of the pane's actions (see ``perform``).
    delegates: Sequence[object] = ()
    action_perform, action_chord = perform, chord

    @property
    def shell(self) -> Shell:
        return shell_of(self)

    @property
    def here(self) -> Place:
        """Whose keys work here now: a pane with several faces has a place for each."""
        return self.place

    def offers(self, action: Action) -> bool:
        """Whether an action has any sense here."""
        return True

    def why_not(self, action: Action) -> str:
        """Why an action cannot run now, as a sentence; empty when it can."""
        return delegated(self, action)

    @property
    def memory_filter(self) -> str:
        """The filter that narrows the memories on screen, for an export."""
        return ""

    def load(self) -> None:
        """Show the memory for the first time."""

    def reload(self) -> None:
        """The memory changed: show it as it is now, with the selection where it was."""

    def legend(self) -> Sequence[tuple[str, str]]:
        """Signs and words of the pane that are not plain, and what they mean, for the help."""
        return ()

    def stats_read(self) -> None:
        """The counts of the whole memory (``shell.stats``) were read again."""

    def concerned(self, changes: Changes) -> bool:
        return self.tables is None or not self.tables.isdisjoint(changes.tables)

    def back(self) -> bool:
        """One step back; False when there is nowhere to go."""
        return False

    def as_arrived(self) -> bool:
        """Whether all is as ``navigation.visit`` showed it, so that one step back leaves the pane again."""
        return False

    def bookmark(self) -> Callable[[], None]:
        """What puts the pane back as it is now, while it is shown or before it is left."""
        return self.do_focus_list

    def parts(self) -> list[Widget]:
        """What Tab and jump mode go through, in reading order; the first is where the pane starts."""
        return []

    def commands(self) -> Iterator[Command]:
        return iter(())

    @property
    def in_mode(self) -> bool:
        """Whether Esc leaves something that the keys at the bottom should tell of: the full view, tuning, the Trash."""
        return False

    def preferred_actions(self) -> Sequence[str]:
        """Actions that the footer should offer first just now."""
        return ()

    def take_focus(self) -> None:
        """Focus the part where a person begins, when the pane is shown."""
        self.do_focus_list()

    def do_focus_list(self) -> None:
        if parts := self.parts():
            parts[0].focus()

    def do_focus_preview(self) -> None:
        if parts := self.parts():
            parts[-1].focus()

    def show_status(self, text: str) -> None:
        """What this pane shows, for the left of the status line."""
        self.post_message(PaneStatus(self.place, text))

    def say(self, text: str, severity: Severity = "information") -> None:
        self.post_message(Notified(text, severity))

    async def ask(self, call: Callable[[Memory], T]) -> T:
        """Read from the memory, in a thread."""
        return await self.shell.operations.ask(call)

    async def change(self, call: Callable[[Memory], T], name: str) -> T:
        """Change the memory, in a thread; whoever is concerned reloads by itself."""
        return await self.shell.operations.change(call, name)
