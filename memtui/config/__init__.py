"""Settings: typed, from ``config.toml`` and the environment, each documented (:func:`describe`)."""

from __future__ import annotations

from .load import Configuration, config_file, load
from .save import save
from .schema import (
    Decay,
    Embedder,
    General,
    Search,
    Secrets,
    Setting,
    Settings,
    describe,
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
    "describe",
    "load",
    "save",
    "settings_text",
]
