"""Half characters in what a client sends: JSON can carry them, UTF-8 and SQLite cannot."""

from __future__ import annotations

from typing import Any

from memtui.engine.store.sql import storable_text


def without_surrogates(value: Any) -> Any:
    """A value as JSON has it, with a stand-in for each half character, also in the names of fields."""
    if isinstance(value, dict):
        return {storable_text(key): without_surrogates(one) for key, one in value.items()}
    if isinstance(value, list):
        return [without_surrogates(one) for one in value]
    return storable_text(value) if isinstance(value, str) else value
