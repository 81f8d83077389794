"""What a person has one of at a time: where they live, where they work, a name, a birthday, a boss.

Two facts that fill the same slot of the same owner with different values contradict each other, however
little their words have in common.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from memtui.engine.models.ner import gazetteer
from memtui.engine.word_lists import read_expression

from .similarity import analyse_statement

_SUBJECT = (
    r"(?:(?P<owner>i|we|the user|user|he|she|(?!(?:now|still|currently) )[a-z'-]+|"
    r"(?:my|our) [\w-]+(?: (?!(?:now|still|currently|also|just|recently|already|and|or|is|are|was|has|have|who|both) )"
    r"[\w'-]+)?)\s+)?"
)
_ADVERB = (
    r"(?:(?:now|still|currently|also|just|have|has|had|am|are|is|'m|'re|been|both|all|recently|already) )*"
)
_LISTS = Path(__file__).with_name("slots.txt")
# Held by one person at a time.
_ROLE = rf"(?:{read_expression(_LISTS, 'ROLE')})"
_ONE = rf"(?:{_ROLE}|{read_expression(_LISTS, 'ATTRIBUTE')})"
# "moved my desk to the window" moves a desk.
_MOVED = rf"(?P<moved>moved)(?: (?:{read_expression(_LISTS, 'AFTER_MOVED')}))* (?:in(?! with\b)|to|into)"
_ROLE_BY_NAME = "role"
_SHAPES = {
    "home": rf"^(?:(?:i|we)(?:'ve| have)? moved(?:[:,;]| and) )?{_SUBJECT}{_ADVERB}"
    rf"(?:(?:lives?|living|resides?|based)\b[^.;]{{0,80}}?\b(?:in|at)|{_MOVED}) (?P<value>.+)",
    "employer": rf"^{_SUBJECT}{_ADVERB}(?:works?|working|employed) (?:[\w-]+ ){{0,3}}?(?:at|for|by) (?P<value>.+)",
    "age": rf"^{_SUBJECT}{_ADVERB}(?P<value>\d{{1,3}})(?: years old)?$",
    _ROLE_BY_NAME: rf"^(?:(?:dr|mr|mrs|ms|mx|prof)\.? )?(?P<value>(?!(?:{read_expression(_LISTS, 'NOBODY')})\b)"
    rf"[\w.'-]+(?: [\w.'-]+){{0,2}}) (?:is|became|has become|will be) (?:now |currently |still |also )?"
    rf"(?P<owner>my|our|his|her|their|[\w-]+'s) (?:new |current )?(?P<thing>{_ROLE})"
    rf"(?: now| currently| these days| since .+| from .+)?(?: \(said .+)?(?=$|[,;:])",
    # Whatever one has one of: "my boss is ...".
    "": rf"\b(?P<owner>my|our|his|her|their|[\w-]+'s|the) "
    rf"(?:new |current )?(?P<thing>{_ONE}) (?:is|was|are) (?:now |called )?(?P<value>.+)",
}
_SLOTS = {name: re.compile(shape) for name, shape in _SHAPES.items()}
_ROLE_IS = re.compile(rf"\b{_ROLE} (?:is|was|are)\b")
_ROLE_IS_NAMED = re.compile(rf"\b(?i:{_ROLE}) (?:is|was|are) (?:now |called )?[^\W\d_a-z]")
_SELF = frozenset({"", "i", "we", "the user", "user", "my", "our"})
_STOPS = re.compile(
    r"\s*(?:(?<!\bdr)(?<!\bmr)(?<!\bms)(?<!\bmrs)(?<!\bst)\.|[;()]|"
    r",? (?:and|but|because|since|so|until|with|where|which|who)\b)"
)
_TITLES = frozenset({"dr", "mr", "mrs", "ms", "prof"})
# "in a small flat", "to the next step": no place by its name.
_UNNAMED_PLACE = re.compile(rf"(?:{read_expression(_LISTS, 'UNNAMED_PLACE')})\b")
# It is denied, in the past, wished for, or one of several.
_OPEN = re.compile(rf"\b(?:{read_expression(_LISTS, 'OPEN')})\b|n't\b")
_WHEN = re.compile(r" (?:now|again|last|this|next|in|on|at|a|for|two|three|\d)\b.*")


LONGEST = 300
"""Characters of a statement; of more than that nothing is read here, which also bounds the time it takes."""


class Slot(NamedTuple):
    owner: str
    thing: str


def filled_slots(text: str) -> dict[Slot, frozenset[str]]:
    """The slots that a statement fills, with the content words and numbers of the value."""
    plain = _plain_text(text)
    if len(plain) > LONGEST or _OPEN.search(plain):
        return {}
    found = {}
    for name, shape in _SLOTS.items():
        match = shape.search(plain)
        if match is None:
            continue
        if not name and _ROLE_IS.search(plain) and not _ROLE_IS_NAMED.search(text):
            continue  # "my boss is on holiday" has no name
        owner = match["owner"] or ""
        owner = "" if owner in _SELF else owner.removesuffix("'s")
        value_text = _STOPS.split(match["value"], maxsplit=1)[0]
        if name == "home" and not _names_place(value_text, text):
            continue
        value = analyse_statement(value_text)
        words = (frozenset(value.content) | value.numbers) - _TITLES
        if words:
            found[Slot(owner, match["thing"] if "thing" in match.groupdict() else name)] = words
    return found


def moves_home(new: str, old: str) -> bool:
    """Whether two different homes are both given by the name of a place, so that the later one can follow the other.

    A street or a house number may be in the town that is known; who "moved to Postgres" still lives in Oslo.
    """
    return _slots_by_name(new) and _slots_by_name(old)


def _slots_by_name(text: str) -> bool:
    match = _SLOTS["home"].search(_plain_text(text))
    if match is None:
        return False
    place = _WHEN.sub("", _STOPS.split(match["value"], maxsplit=1)[0]).strip(" ,")
    if any(sign.isdigit() for sign in place):
        return False
    return not match["moved"] or gazetteer.is_place(place.split(",")[0].split())


def _names_place(value_text: str, text: str) -> bool:
    """Whether ``value_text``, a part of ``text`` in small letters, says a place by its name and not what it is like."""
    words = set(re.findall(r"[\w'-]+", value_text))
    return not _UNNAMED_PLACE.match(value_text) or any(
        word[0].isupper() and word.casefold() in words for word in re.findall(r"[\w'-]+", text)[1:]
    )


def _plain_text(text: str) -> str:
    plain = " ".join(text.casefold().replace("’", "'").split()).rstrip(".")
    return plain.replace("favourite", "favorite").replace("colour", "color")


def contested_slot(first: str, second: str) -> str | None:
    """The slot that both fill with values that share nothing; None when there is none."""
    theirs = filled_slots(second)
    for slot, value in filled_slots(first).items():
        other = theirs.get(slot)
        if other and not value & other:
            return slot.thing
    return None


def names_role(text: str) -> bool:
    """Whether it begins with who holds a role: "Ingrid is my team lead"."""
    return _SLOTS[_ROLE_BY_NAME].search(_plain_text(text)) is not None
