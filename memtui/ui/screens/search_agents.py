"""Which profile agents rank by: the setting ``search.profile``, chosen where its effect can be seen."""

from __future__ import annotations

from memtui.engine.errors import InputError
from memtui.ui.perform import start

from .search_pinned import Pinning

_SETTING = "search.profile"


class AgentsProfile(Pinning):
    """What can be done with the profile that is in use here."""

    def no_agents_profile(self) -> str:
        """Why agents cannot be given this profile; empty when they can."""
        configuration = self.shell.configuration
        if self.tuning is None or configuration is None:
            return "There are no settings here to write it to."
        if self.tuning.changed:
            return f"This way of ranking has no name yet: {self.shell.keymap_shown('save_profile')} saves it."
        origin = configuration.origins.get(_SETTING, "")
        if origin and not origin.startswith("line "):
            return f"{origin} in the environment decides which profile agents use: change it there."
        if self.tuning.base.name == self.agents_profile:
            return f"Agents use {self.agents_profile} already."
        return ""

    async def do_agents_profile(self) -> None:
        from memtui import config

        configuration = self.shell.configuration
        if self.tuning is None or configuration is None:
            return
        name = self.tuning.base.name
        try:
            config.save(configuration.file, _SETTING, name)
            self.shell.configuration = config.load(configuration.file)
        except InputError as error:
            self.say(f"{error.message} {error.hint}", "warning")
            return
        self.say(f"Agents use the profile {name} from their next start on.")
        if self.shell.applies_settings:
            start(self.shell, self.shell.apply_settings, "settings", exclusive=False)
        self.reload()
