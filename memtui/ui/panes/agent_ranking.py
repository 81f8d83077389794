"""The setting ``search.profile``: the ranking profile of searches and agents, as chosen in Search and Maintenance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.ui.action_dispatch import start_worker
from memtui.ui.configuration import save_setting

if TYPE_CHECKING:
    from memtui.ui.shell import Shell

_SETTING = "search.profile"


def why_profile_fixed(shell: Shell) -> str:
    """Why it cannot be chosen here; empty when it can."""
    if shell.configuration is None:
        return "There are no settings here to write it to."
    if reason := shell.permissions.unavailable_reason("settings"):
        return reason
    if variable := shell.configuration.variable_of(_SETTING):
        return f"{variable} in the environment sets the profile that agents use: change it there."
    return ""


def choose_profile(shell: Shell, name: str) -> None:
    """Save the profile in the settings and apply it. Raises InputError, DiskFullError."""
    save_setting(shell, _SETTING, name)
    if shell.applies_settings:
        start_worker(shell.app, shell.apply_settings, "settings", exclusive=False)
