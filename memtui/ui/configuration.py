"""Saves a setting in the configuration file, if the app is permitted to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.errors import InputError

if TYPE_CHECKING:
    from memtui.config.save import Value

    from .shell import Shell


def save_setting(shell: Shell, name: str, value: Value) -> None:
    """Write a setting to the file and read all settings again. Raises InputError, DiskFullError."""
    from memtui import config

    shell.permissions.require("settings")
    if shell.configuration is None:
        raise InputError("There are no settings here to write it to.", "Open the app with memtui.")
    file = shell.configuration.file
    config.write_setting(file, name, value)
    shell.configuration = config.load(file)
