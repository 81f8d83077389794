"""Guess the type of a name from its own words and from those beside it."""

from __future__ import annotations

import re
from pathlib import Path

from msgspec import structs

from memtui.engine import word_lists

from . import cues
from .gazetteer import is_given_name, is_place
from .span import NameSpan

BASE, SHARED, HINTED, RULED = 0.6, 0.7, 0.78, 0.85
"""Confidence: nothing is known; a name beside it is one; a word beside it says so; it says so itself. spaCy's word
counts for more than the first two."""

_plain = re.compile(
    r"[^\W\d_](?:[^\W\dA-Z_]*(?:['’-]\w+)?|[^\W\d_]?)|(?:Mac|Mc|De|Di|Du|La|Le|Van)[A-Z][a-z]+"
)
# "..., a small cooperative", "... is our cat"
_apposition = re.compile(r"(?: is|,| was| \() ?(?:an?|the|our|my|his|her|their) ((?:[\w-]{1,20} ?){1,3})")
_LIST = Path(__file__).with_name("name_types.txt")
_STREETS = tuple(word_lists.read_words(_LIST, "street endings"))
_SHARED = frozenset({"person", "location", "organization"})
_ALSO_SURNAMES = word_lists.read_words(_LIST, "also surnames")
_MOVES = word_lists.read_words(_LIST, "moves")
_NOBILIARY = word_lists.read_words(_LIST, "nobiliary")


def guess_name_type(
    parts: list[str], before: str, after: str, follower: str, possessive: bool
) -> tuple[str, float]:
    """Type and confidence of a name.

    ``parts``: its words; ``before``, ``after``: the text around it, in small letters; ``follower``: the word after it, in
    small letters, or a comma when another name follows; ``possessive``: an 's follows.
    """
    lowered = [part.lower() for part in parts]
    itself = _type_by_name(lowered, follower)
    if itself:
        return itself, RULED
    if lowered[0] in cues.TECHNOLOGY:
        return "other", HINTED
    stated = _type_by_apposition(after)
    if stated:
        return stated, HINTED
    words = before.rstrip(' "“(').split()
    determined = bool(words) and words[-1] in cues.ARTICLES
    the = determined and words[-1] in ("the", "a", "an")  # which English puts before no name of a person
    hints = words[-3:-1] if determined else words[-2:]
    last = hints[-1] if hints else ""
    previous = hints[-2] if len(hints) > 1 else ""
    if is_given_name(lowered[0]) and not is_place(lowered):
        return "person", RULED if len(parts) > 1 else HINTED
    if last in cues.ANIMALS:
        return "other", HINTED
    dealing = last in cues.EMPLOYER_JOINTS and (
        previous in cues.EMPLOYER_BEFORE
        or (len(words) > 3 and words[-3 - determined] in cues.EMPLOYER_BEFORE)
    )
    if last in cues.PROJECT_WORDS or last in cues.PROJECT_BEFORE:
        return "project", RULED if last in cues.PROJECT_WORDS else HINTED
    if last == "of" and previous in cues.PROJECT_BEFORE_OF:
        return "project", HINTED
    if the and follower in cues.PROJECT_AFTER:
        return "project", HINTED
    if dealing and (last in ("at", "for") or not is_place(lowered)):
        return "organization", HINTED
    if is_place(lowered) and not possessive:
        return "location", HINTED
    if last == "in" and previous in _MOVES:
        return "other", BASE  # a town or shoes
    if last in cues.PLACE_BEFORE or (last in ("to", "from") and previous in cues.PLACE_BEFORE_TO):
        return "location", HINTED
    if last in ("with", "from", "at", "to", "by") and previous in cues.DEALINGS:
        return "organization", HINTED
    plain = all(_plain.fullmatch(part) for part in parts)
    if plain and not the and (last in cues.KIN or follower in cues.PERSON_VERBS):
        return "person", SHARED if follower in cues.COMMON_VERBS and last not in cues.KIN else HINTED
    if last == "at":
        return "location", SHARED
    if len(parts) == 1 and lowered[0].isalpha() and parts[0].isupper() and len(parts[0]) < 5:
        return "organization", BASE
    full = len([word for word in lowered if word not in _NOBILIARY])
    named = plain and 1 < full < 4 and not cues.PARTICLES.intersection(lowered) - _NOBILIARY
    return ("person" if named else "other"), BASE


def _type_by_name(lowered: list[str], follower: str) -> str:
    if follower == "project":
        return "project"
    if len(lowered) == 2 and lowered[1] in _ALSO_SURNAMES and is_given_name(lowered[0]):
        return "person"
    if len(lowered) > 1:
        if lowered[0] in cues.PROJECT_STARTS:
            return "project"
        if cues.ORGANISATION_WORDS.intersection(lowered) or "&" in lowered:
            return "organization"
        if lowered[0] in cues.PLACE_STARTS or cues.PLACE_WORDS.intersection(lowered):
            return "location"
    return "location" if len(lowered[-1]) > 6 and lowered[-1].endswith(_STREETS) else ""


def _type_by_apposition(after: str) -> str:
    match = _apposition.match(after)
    if match is None:
        return ""
    said = match[1].split()
    if any(word in cues.PERSON_AFTER_GROUP for word in said[1:]) and _group_of(said[0]):
        return "person"
    return next((type for word in said for type, nouns in cues.SAID_TO_BE.items() if word in nouns), "")


def _group_of(word: str) -> bool:
    return word in cues.SAID_TO_BE["organization"] or word in cues.SAID_TO_BE["project"]


def share_types(text: str, spans: list[NameSpan]) -> list[NameSpan]:
    """In "Ada, Marek and Ola" all are what one of them is known to be, and a name is the same all over a text.

    ``spans`` in order; changed in place.
    """
    best: dict[str, NameSpan] = {}
    for span in spans:
        if span.name not in best or span.confidence > best[span.name].confidence:
            best[span.name] = span
    for at, span in enumerate(spans):
        sure = best[span.name]
        if span.type != sure.type:
            spans[at] = structs.replace(span, type=sure.type, confidence=sure.confidence)
    last = len(spans) - 1
    for order, step in ((range(1, last + 1), -1), (range(last - 1, -1, -1), 1)):
        for at in order:
            one, other = spans[at], spans[at + step]
            if (
                one.type != "other"
                or one.confidence > BASE
                or other.type not in _SHARED
                or other.confidence <= BASE
            ):
                continue
            first, second = (other, one) if step < 0 else (one, other)
            if text[first.end : second.start] in cues.LIST_JOINTS and _plain.fullmatch(one.text):
                spans[at] = structs.replace(one, type=other.type, confidence=SHARED)
    return spans
