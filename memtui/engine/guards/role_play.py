"""Who speaks in a message: the person, or a part that they play. What a part says is nobody's."""

from __future__ import annotations

import functools
import re
from pathlib import Path

from memtui.engine import word_lists

from .quotes import mask_quotes

# A message without one of them sets up no part.
_SIGNS = (
    "play", "pretend", "act as", "imagin", "you are", "you're", "you be", "you'll be", "you will be", "stell dir", "tu so",
    "tue so", "spiel", "fais ", "joue", "jeu de", "haz ", "finge", "juego",
)  # fmt: skip
_LIST = Path(__file__).with_name("role_play.txt")
_LONGEST = 1_200  # characters that are read


def before_part(message: str) -> str:
    """What a message says before it asks the assistant, or both, to play a part; all of it where it does not.

    Who says "I" after that need not be the person."""
    plain = _plain_text(message)
    if not any(sign in plain for sign in _SIGNS) or len(plain) != len(message[:_LONGEST]):
        return message
    match = _pattern_of("sets up").search(plain)
    return message if match is None else message[: match.start()]


def begins_own_part(message: str) -> bool:
    """Whether the writer takes a part too, and so speaks as somebody else in the messages after this one."""
    return _pattern_of("own part").search(_plain_text(message)) is not None


def ends_part(message: str) -> bool:
    """Whether the writer speaks as themself again: "okay, enough role-play"."""
    return _pattern_of("out of part").search(_plain_text(message)) is not None


def is_in_part(message: str, playing: bool) -> bool:
    """Whether the writer speaks in a part after this message. ``playing``: they did before it."""
    return (playing and not ends_part(message)) or begins_own_part(message)


@functools.cache
def _pattern_of(heading: str) -> re.Pattern[str]:
    """Compiled at first use: a hook seldom needs it."""
    return re.compile(word_lists.read_expression(_LIST, heading))


def _plain_text(message: str) -> str:
    return mask_quotes(message[:_LONGEST]).lower().replace("’", "'")
