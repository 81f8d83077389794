"""Settings: typed, from ``config.toml`` and the environment, each documented (:func:`describe`)."""

from __future__ import annotations

from .load import Configuration, config_file, load
from .save import save
from .schema import (
    Decay,
    Embedder,
    General,
    ImportCaps,
    Ner,
    Search,
    SecretPolicy,
    Secrets,
    Setting,
    Settings,
    describe,
)

__all__ = [
    "Configuration",
    "Decay",
    "Embedder",
    "General",
    "ImportCaps",
    "Ner",
    "Search",
    "SecretPolicy",
    "Secrets",
    "Setting",
    "Settings",
    "config_file",
    "describe",
    "load",
    "save",
]
