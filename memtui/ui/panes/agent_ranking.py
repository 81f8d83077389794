"""The setting ``search.profile``: by which profile searches and agents rank, as Search and Maintenance choose it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.ui.perform import start

if TYPE_CHECKING:
    from memtui.ui.shell import Shell

_SETTING = "search.profile"


def why_fixed(shell: Shell) -> str:
    """Why it cannot be chosen here; empty when it can."""
    if shell.configuration is None:
        return "There are no settings here to write it to."
    if variable := shell.configuration.variable_of(_SETTING):
        return f"{variable} in the environment decides which profile agents use: change it there."
    return ""


def choose(shell: Shell, name: str) -> None:
    """Write it into the settings, and let it count. Raises InputError, DiskFullError."""
    from memtui import config

    assert shell.configuration is not None
    config.save(shell.configuration.file, _SETTING, name)
    shell.configuration = config.load(shell.configuration.file)
    if shell.applies_settings:
        start(shell.app, shell.apply_settings, "settings", exclusive=False)
