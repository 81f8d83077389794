"""Observations: what agents learned while they worked; and a second tab, the scratchpad."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.widget import Widget

from memtui.ui.actions import ActionContext
from memtui.ui.panes.list_pane import ListPane
from memtui.ui.panes.pane import Command, Pane, use_styles
from memtui.ui.safe import assemble

from .columns import ObservationColumns
from .scratchpad import ScratchpadTab

if TYPE_CHECKING:
    pass

_Tab = ObservationColumns | ScratchpadTab


class ObservationsPane(Pane):
    """Two tabs, each with its own keys. One is shown."""

    pane_id: ClassVar = "observations"
    tables = frozenset({"memories", "memory_entities", "entities", "entity_aliases", "scratchpad", "*"})

    def compose(self) -> ComposeResult:
        use_styles(self.app, "panes.tcss")
        use_styles(self.app, "observations.tcss")
        yield ObservationColumns(id="observation-columns")
        pad = ScratchpadTab(id="scratchpad")
        pad.display = False
        yield pad

    @property
    def columns(self) -> ObservationColumns:
        return self.query_one(ObservationColumns)

    @property
    def scratchpad(self) -> ScratchpadTab:
        return self.query_one(ScratchpadTab)

    @property
    def tab(self) -> _Tab:
        return self.scratchpad if self.scratchpad.display else self.columns

    @property
    def action_context(self) -> ActionContext:
        return self.tab.pane_id

    def load(self) -> None:
        self._name_tabs()
        self.columns.load()
        self.scratchpad.load()

    def reload(self) -> None:
        self.columns.reload()
        self.scratchpad.reload()

    def back(self) -> bool:
        return self.tab.back()

    @property
    def view_shown(self) -> Hashable:
        return self.tab.pane_id, self.tab.view_shown

    @property
    def is_at_rest(self) -> bool:
        return self.tab.is_at_rest

    def bookmark(self) -> Callable[[], None]:
        return self.tab.bookmark()

    def focus_parts(self) -> list[Widget]:
        return self.tab.focus_parts()

    def commands(self) -> Iterator[Command]:
        return self.tab.commands()

    def preferred_actions(self) -> Sequence[str]:
        return self.tab.preferred_actions()

    def do_focus_list(self) -> None:
        self.tab.table.focus()

    def do_scratchpad(self) -> None:
        self._show_tab(self.scratchpad)

    def do_observations(self) -> None:
        self._show_tab(self.columns)

    def _show_tab(self, tab: _Tab) -> None:
        self.scratchpad.display, self.columns.display = tab is self.scratchpad, tab is self.columns
        self.tab.show_status(self.tab.status)
        self.tab.table.focus()
        self.shell.refresh_keys()

    def _name_tabs(self) -> None:
        """The title of each frame names its tab, and the key of the other one."""
        key = self.shell.keymap_shown("scratchpad")
        names = (
            (self.columns, "observations", "scratchpad"),
            (self.scratchpad, "scratchpad", "observations"),
        )
        tab: ListPane[object]
        for tab, own, other in names:  # type: ignore[assignment]
            tab.query_one(".list-side").border_title = assemble(
                (f" {own} ", "$text"), f"{self.shell.glyphs.dot} ", (key, "$accent"), f" {other} "
            )
