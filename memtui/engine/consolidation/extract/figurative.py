"""What only sounds as if somebody could come to harm: "allergic to Mondays", a sick printer, a lady on television.

Words of illness are everywhere in talk. What they say is of nobody whom the person knows where it is a turn of speech, of a
thing, of a stranger, of a figure in a tale, or was feared and is not so.
"""

from __future__ import annotations

import re
from pathlib import Path

from memtui.engine import word_lists

_LIST = Path(__file__).with_name("figurative.txt")


def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(word_lists.as_folded(word_lists.read_expression(_LIST, name)))


_THING, _FIGURE, _STRANGER = _pattern("thing"), _pattern("figure"), _pattern("stranger")
_MEDIA, _UNFOUNDED = _pattern("media"), _pattern("unfounded")
_MADE_FOR_OTHERS, _OWN = _pattern("made for others"), _pattern("own")
_NEAR_BEGIN = 60  # characters: later it is where something is told, and not where it is met
_PERSON = re.compile(rf"(?<!\w)(?:{word_lists.read_expression(_LIST, 'PERSON')})(?!\w)")


def without_figures(plain: str) -> str:
    """A text in small letters without its turns of speech."""
    return _FIGURE.sub(" ", plain)


def after_relief(plain: str) -> str | None:
    """What a clause in small letters says after it told that something feared is not so; None where it tells no such thing."""
    found = _UNFOUNDED.search(plain)
    return plain[found.end() :] if found else None


def is_of_thing(plain: str) -> bool:
    """Whether a clause in small letters is of a thing, and of nobody whom it harms."""
    thing = _THING.match(plain)
    if thing is None:
        return False
    begins = re.search(r"\S+ ", plain)  # "my" is the thing's
    return _PERSON.search(plain, begins.end() if begins else thing.end()) is None


def is_of_stranger(plain: str) -> bool:
    """Whether a clause in small letters is of somebody whom the person does not know, or of a figure in a tale."""
    if _STRANGER.match(plain) is None and _MEDIA.search(plain, 0, _NEAR_BEGIN) is None:
        return False
    return _OWN.search(plain) is None


def is_made_for_others(message: str) -> bool:
    """Whether a message asks for a tale, or for a piece of teaching."""
    return _MADE_FOR_OTHERS.search(message.casefold().replace("’", "'")) is not None


def speaks_of_own(text: str) -> bool:
    """Whether a text tells something of the person, or of somebody of theirs."""
    return _OWN.search(text.casefold().replace("’", "'")) is not None
