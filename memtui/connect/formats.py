"""One entry in the text of a configuration, whatever its format: read, set, removed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memtui.config import toml_text

from . import json_text, yaml_text
from .clients import FormatName


def load(format: FormatName, text: str) -> dict[str, Any]:
    """The document. Raises ValueError if the text is not of that format, or not an object."""
    match format:
        case "toml":
            return toml_text.load(text)
        case "yaml":
            return yaml_text.load(text)
        case "json" | "jsonc":
            return json_text.load(text, strict=format == "json")


def set_values(format: FormatName, text: str, path: Sequence[str], values: Mapping[str, Any]) -> str:
    """``text`` with ``values`` in the object at ``path``, which is created if missing. Raises ValueError."""
    match format:
        case "toml":
            return toml_text.set_values(text, path, values)
        case "yaml":
            return yaml_text.set_values(text, path, values)
        case "json" | "jsonc":
            return json_text.set_values(text, path, values, strict=format == "json")


def remove(format: FormatName, text: str, path: Sequence[str]) -> str:
    """``text`` without the object at ``path``, and without what is empty then around it. Raises ValueError."""
    match format:
        case "toml":
            return toml_text.remove(text, path)
        case "yaml":
            return yaml_text.remove(text, path)
        case "json" | "jsonc":
            return json_text.remove(text, path, strict=format == "json")


def value_at(document: Mapping[str, Any], path: Sequence[str]) -> Any:
    """The value at a path, None if there is none."""
    value: Any = document
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value
