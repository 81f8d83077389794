"""Saves the typed filter under a name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from memtui.ui.actions import Action

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.ui.messages import Severity
    from memtui.ui.shell import Shell
    from memtui.ui.widgets.filter_bar import FilterBar


class FilteredPane(Protocol):
    """The pane whose list is filtered."""

    @property
    def shell(self) -> Shell: ...
    def show_message(self, text: str, severity: Severity = "information") -> None: ...
    async def ask(self, call: Callable[[Memory], list[str]]) -> list[str]: ...
    async def change(self, call: Callable[[Memory], object], name: str) -> object: ...


class SaveFilterAction:
    """``bar``: the filter bar."""

    def __init__(self, pane: FilteredPane, bar: Callable[[], FilterBar]) -> None:
        self._pane = pane
        self._bar = bar

    def unavailable_reason(self, action: Action) -> str:
        return "" if self._bar().value.strip() else "There is no filter to save: type one first."

    async def do_save_filter(self) -> None:
        from memtui.engine.errors import InputError
        from memtui.ui.dialogs.line_input import NameDialog

        filter = self._bar().value.strip()
        used_names = await self._pane.ask(lambda memory: [one.name for one in memory.filters.saved()])
        name = await self._pane.shell.show_dialog(NameDialog("Save this filter as", used_names))
        if name is None:
            self._pane.show_message("No filter was saved.")
            return
        try:
            done = await self._pane.change(
                lambda memory: memory.filters.save(name, filter), "saving the filter"
            )
        except InputError as error:
            self._pane.show_message(f"{error.message} {error.hint}", "warning")
            return
        if done is None:
            self._pane.show_message("This filter was saved under that name already.")
