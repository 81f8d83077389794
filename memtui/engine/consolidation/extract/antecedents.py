"""Whom "he" or "she" stands for, where the message leaves no doubt: one person named before, and no other.

A fact that begins with a pronoun is worth nothing without its name; a wrong name is worse than no fact.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from memtui.engine import word_lists
from memtui.engine.models.ner.gazetteer import is_given_name

_LIST = Path(__file__).with_name("antecedents.txt")

_MALE = word_lists.read_expression(_LIST, "MALE")
_FEMALE = word_lists.read_expression(_LIST, "FEMALE")
_EITHER = (
    r"(?:dog|cat|partner|boss|manager|friend|mate|neighbou?r|baby|greyhound|puppy|horse|colleague|solicitor|lawyer|"
    r"flatmate|intern)"
)
_relation = re.compile(
    rf"\b(?:(?i:my|our|meine?|unsere?|mi)|[A-Z]\w+'s) (?:\w+ )?(?:(?P<he>(?i:{_MALE}))|(?P<she>(?i:{_FEMALE}))|"
    rf"(?P<either>{_EITHER}))\b"
    r"(?:,? (?:is called |called |named |heißt )?(?P<name>[A-Z][^\W\d_]+))?"
)
_name = re.compile(
    r"(?P<title>\b(?<!eine )(?:Mr|Mrs|Ms|Miss|Dr|Herr|Frau|don|doña)\.? )?(?P<name>\b[A-Z][^\W\d_]{1,20})(?P<own>['’]s\b)?"
)
_small_name = re.compile(
    r"\b(?P<name>[a-z]{3,})['’]s\b|"
    rf"(?:^|[.!?] +)(?P<subject>[a-z]{{3,}})(?= {word_lists.read_expression(_LIST, 'at its start')}\b)"
)
HE = word_lists.read_expression(_LIST, "he")
SHE = word_lists.read_expression(_LIST, "she")
_pronoun = re.compile(rf"(?:(?P<he>{HE})|(?P<she>{SHE}))(?:['’]\w+)?\b", re.IGNORECASE)
# "Still has to carry the pens", "sleeps in the woodshed": of somebody, who is not named. Nouns end in "s" as well.
_left_out = re.compile(word_lists.read_expression(_LIST, "left out"), re.IGNORECASE)
_GERMAN = frozenset(("er", "sie", "der", "die"))
_LADY, _GENTLEMAN = ("Mrs", "Ms", "Miss", "Frau", "doña"), ("Mr", "Herr", "don")


def begins_with_pronoun(text: str) -> re.Match[str] | None:
    """The "he" or "she" that a text begins with."""
    return _pronoun.match(text)


def leaves_out_subject(text: str) -> bool:
    """Whether a text begins with a verb whose "he", "she" or "it" is left out."""
    return _left_out.match(text) is not None


def find_antecedent(before: str, text: str, people: Collection[str]) -> str | None:
    """The name or the relation ("my mum") that the pronoun at the start of ``text``, or the subject that it leaves out,
    stands for; None where it is in doubt.

    ``before``: what the same message says before it; ``people``: first names that are known.
    """
    pronoun = _pronoun.match(text)
    other: str | None = None
    titles: tuple[str, ...] = ()
    if pronoun is not None:
        other, titles = ("she", _LADY) if pronoun["he"] else ("he", _GENTLEMAN)
    elif not leaves_out_subject(text):
        return None
    german = pronoun is not None and pronoun[0].casefold() in _GERMAN  # whose nouns have capitals, too
    found: dict[str, int] = {}
    for match in _relation.finditer(before):
        if other is None or not match[other]:
            found[match["name"] or match[0]] = match.start()
        covered = match["name"]
        if other is not None and covered and match[other]:
            found.pop(covered, None)
    owners = {match[0].split("'")[0].split("’")[0] for match in _relation.finditer(before)}
    names_of_other_gender = owners | {
        match["name"]
        for match in _relation.finditer(before)
        if other is not None and match[other] and match["name"]
    }
    for match in _name.finditer(before):
        name, title = _owner_name(match["name"], people), (match["title"] or "").strip(" .")
        if (
            title in titles
            or name in names_of_other_gender
            or (title and _visited.search(before[: match.start()]))
        ):
            continue
        if (
            title
            or name in people
            or (is_given_name(name.casefold()) if german else _is_person_name(before, match.start(), name))
        ):
            found[f"{title} {name}".strip()] = match.start()
    for match in _small_name.finditer(before):
        small = match["name"] or match["subject"]
        if is_given_name(small) and small not in _COMMON:
            found.setdefault(small.capitalize(), match.start())
    found = {
        one: at for one, at in found.items() if not any(one != more and one in more.split() for more in found)
    }
    if len(found) != 1:
        return _subject_of_previous(before, pronoun, found, people) if pronoun is not None else None
    return next(iter(found))


def _subject_of_previous(
    before: str, pronoun: re.Match[str], found: Collection[str], people: Collection[str]
) -> str | None:
    """The subject of the sentence before, where that names nobody else and tells the gender: "My brother Dino drives. He ...".

    Where it begins with the same pronoun, the subject of the one before that.
    """
    gender, kin = ("he", _MALE) if pronoun["he"] else ("she", _FEMALE)
    if pronoun[gender].casefold() != gender:
        return None  # of "him" and "his" the subject is another one
    for sentence in reversed(_sentence_end.split(before.strip())):
        sentence = _joining.sub("", sentence, count=1)
        begins = _pronoun.match(sentence)
        if begins is not None and begins[gender]:
            continue
        others = {one for one in found if re.search(rf"(?<!\w){re.escape(one)}(?!\w)", sentence)}
        if sentence.endswith("?") and not any(_may_be_person(one, people) for one in others):
            continue
        subject = _begins.match(sentence)
        if subject is None:
            return None
        who = next((one for one in others if subject["who"].endswith(one)), None)
        if who is None or any(_may_be_person(one, people) for one in others if one != who):
            return None
        said = re.compile(rf"\b(?:{kin}|{gender}['’]?s?)\b", re.IGNORECASE)
        return who if said.search(sentence) else None
    return None


def _may_be_person(name: str, people: Collection[str]) -> bool:
    """Whether it is a relation, or a name that is no place or thing: "Swansea", "Sienna"."""
    return " " in name or name in people or is_given_name(name.casefold())


def _owner_name(word: str, people: Collection[str]) -> str:
    """The name in "Marits birthday": that of somebody known, though the apostrophe is left out."""
    short = word[:-1]
    if not word.endswith("s") or word in people or is_given_name(word.casefold()):
        return word
    return short if short in people or is_given_name(short.casefold()) else word


def _is_person_name(text: str, at: int, word: str) -> bool:
    """Whether a capital is a person's: not that of a sentence, a day, a place or what one works at."""
    plain = word.casefold()
    ahead = text[:at].rstrip()
    if plain in _NO_NAMES or word.isupper() or _place.search(ahead):
        return False
    if _towards.search(ahead) and not is_given_name(plain):
        return False
    if not ahead or ahead[-1] in ".!?:":
        if is_given_name(plain) and plain not in _COMMON:
            return True
        return plain not in _STARTS and _acts.match(text, at + len(word)) is not None
    return True


_sentence_end = re.compile(r"(?<=[.!?])\s+")
_joining = re.compile(word_lists.read_expression(_LIST, "joining"), re.IGNORECASE)
_begins = re.compile(word_lists.read_expression(_LIST, "begins"))
_place = re.compile(word_lists.read_expression(_LIST, "place"), re.IGNORECASE)
_towards = re.compile(word_lists.read_expression(_LIST, "towards"), re.IGNORECASE)
_visited = re.compile(r"\b(?:at|to|from|by|bei|zu|chez)\s+$", re.IGNORECASE)
_acts = re.compile(word_lists.read_expression(_LIST, "acts"))
_STARTS = word_lists.read_words(_LIST, "starts")
_COMMON = word_lists.read_words(_LIST, "common")
_NO_NAMES = word_lists.read_words(_LIST, "no names")
