"""Texts for agents with their hidden characters made visible: a model reads what no person sees on a screen.

Tag characters spell orders that show nothing, zero-width characters hide words, direction overrides turn them around.
``present/text.py`` does the same for the terminal; it is above the engine. The file keeps the text as it was said.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

# Controls except line ends and tabs; characters without width, but not the joiners of emoji and of some scripts; bidi
# controls; tags; variation selectors where several follow one another, which can spell bytes.
_HIDDEN = (
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e007f]"
    "|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}"
)


@cache
def _hidden_characters() -> re.Pattern[str]:
    """Compiled at first use: a hook seldom needs it."""
    return re.compile(_HIDDEN)


def with_hidden_shown(value: Any) -> Any:
    """A value as JSON has it, with ``‹U+202E›`` for each hidden character in its texts. Names of fields are ours."""
    if isinstance(value, dict):
        return {key: with_hidden_shown(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [with_hidden_shown(one) for one in value]
    return show_hidden(value) if isinstance(value, str) else value


def show_hidden(text: str) -> str:
    """One text; most are returned as they are."""
    return text if text.isascii() and text.isprintable() else _hidden_characters().sub(_code_points, text)


def _code_points(match: re.Match[str]) -> str:
    return "".join(f"‹U+{ord(one):04X}›" for one in match[0])
