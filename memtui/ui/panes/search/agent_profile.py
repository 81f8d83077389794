"""Chooses the ranking profile of agents in Search, where its effect can be seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from memtui.engine.errors import InputError
from memtui.ui.panes import agent_ranking

if TYPE_CHECKING:
    from memtui.ui.actions import Action
    from memtui.ui.panes.pane import Pane

    from .ranking import Tuning


class AgentProfile:
    """Gives agents the profile that is in use here (``tuning``)."""

    def __init__(self, pane: Pane, tuning: Callable[[], Tuning | None]) -> None:
        self._pane = pane
        self._tuning = tuning

    @property
    def profile(self) -> str:
        """The name of the profile that agents rank by."""
        configuration = self._pane.shell.configuration
        if configuration is not None:
            return configuration.settings.search.profile
        return self._pane.shell.operations.require().options.profile

    def why_not(self, action: Action) -> str:
        """Why agents cannot be given this profile; empty when they can."""
        tuning = self._tuning()
        if tuning is None:
            return "There are no settings here to write it to."
        if tuning.changed:
            return f"This way of ranking has no name yet: {self._pane.shell.keymap_shown('save_profile')} saves it."
        if fixed := agent_ranking.why_fixed(self._pane.shell):
            return fixed
        if tuning.base.name == self.profile:
            return f"Agents use {self.profile} already."
        return ""

    async def do_agents_profile(self) -> None:
        tuning = self._tuning()
        if tuning is None:
            return
        name = tuning.base.name
        try:
            agent_ranking.choose(self._pane.shell, name)
        except InputError as error:
            self._pane.say(f"{error.message} {error.hint}", "warning")
            return
        self._pane.say(f"Agents use the profile {name} from their next start on.")
        self._pane.reload()
