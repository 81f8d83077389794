"""How many examples a property is tried on."""

from __future__ import annotations

import hypothesis


def examples(number: int) -> int:
    """``number``, and ten times as many with ``--full`` (which conftest.py loads a profile for)."""
    return number * 10 if hypothesis.settings.get_current_profile_name() == "full" else number
