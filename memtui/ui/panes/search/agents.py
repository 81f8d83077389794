"""Which profile agents rank by: chosen where its effect can be seen."""

from __future__ import annotations

from memtui.engine.errors import InputError
from memtui.ui.panes import agent_ranking as agents_ranking

from .pinned_questions import Pinning


class AgentsProfile(Pinning):
    """What can be done with the profile that is in use here."""

    def no_agents_profile(self) -> str:
        """Why agents cannot be given this profile; empty when they can."""
        if self.tuning is None:
            return "There are no settings here to write it to."
        if self.tuning.changed:
            return f"This way of ranking has no name yet: {self.shell.keymap_shown('save_profile')} saves it."
        if fixed := agents_ranking.why_fixed(self.shell):
            return fixed
        if self.tuning.base.name == self.agents_profile:
            return f"Agents use {self.agents_profile} already."
        return ""

    async def do_agents_profile(self) -> None:
        if self.tuning is None:
            return
        name = self.tuning.base.name
        try:
            agents_ranking.choose(self.shell, name)
        except InputError as error:
            self.say(f"{error.message} {error.hint}", "warning")
            return
        self.say(f"Agents use the profile {name} from their next start on.")
        self.reload()
