"""Settings: typed, from ``config.toml`` and the environment, each documented (:func:`describe_settings`)."""

from __future__ import annotations

from .load import Configuration, config_file, load
from .save import write_setting
from .schema import (
    Decay,
    Embedder,
    General,
    Search,
    Secrets,
    Setting,
    Settings,
    describe_settings,
    settings_text,
)

__all__ = [
    "Configuration",
    "Decay",
    "Embedder",
    "General",
    "Search",
    "Secrets",
    "Setting",
    "Settings",
    "config_file",
    "describe_settings",
    "load",
    "settings_text",
    "write_setting",
]
