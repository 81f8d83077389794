"""What something is set to: the standup to 10:30, the dentist to Friday, the rent to 900 euros.

Where the same thing is set to something else of the same sort, and the person says that it changed, the older one is
out of date. That both begin alike is not enough: "my sister now has 3 kids" leaves her 40 years old.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ..extract.severity import is_severe
from .change_words import CUES
from .similarity import analyse_statement
from .slots import LONGEST
from .statement_features import StatementFeatures
from .update_model import packaged_features

_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_VERB = (
    r"(?:(?:is|are|was|were|got|has been|have been|will be) (?:moved|changed|rescheduled|postponed|pushed|put off)|"
    r"(?:has |have )?(?:moved|changed)|is|are|was|were|will be|starts?|begins?|ends?|takes? place|costs?|leaves?|opens?|closes?)"
)
_SET = re.compile(
    rf"^(?:now |currently )?(?P<subject>.+?)(?P<about> (?:with|at|for|in|of|from|to|by) .+?)?(?: now| currently)? {_VERB}"
    r"(?: now| currently| only| back| forward| every day| daily)*(?: from [^,]+?(?= (?:to|until) ))?"
    r"(?P<value> (?:to |at |on |for |in |until |by )?.+)$"
)
_SORTS = {
    "time": re.compile(
        r"\b\d{1,2}[:.]\d{2}(?: ?[ap]m)?\b|\b\d{1,2} ?(?:[ap]m|o'clock)\b|\bnoon\b|\bmidnight\b|"
        r"(?<=^ at )\d{1,2}\b|(?<=^ to )\d{1,2}\b(?! \w)"
    ),
    "day": re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b"),
    "date": re.compile(
        rf"\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}\b|\b{_MONTH} \d{{1,2}}\b|\b\d{{4}}-\d\d-\d\d\b"
    ),
    "amount": re.compile(r"(?<=^ )(?:to |about |around )?[€$£]?\d[\d.,]*(?: ?[a-z%€$£]+)?"),
}
# "moved from 19 November to 26 November", "went from 85 to 92"; no span of time ("away from the 5th to the 20th"). Each match
# ends where the new value begins.
_from_value_to_value = re.compile(
    r"\b(?:moved?|moves|moving|shift(?:ed|s)|push(?:ed|es)|chang(?:ed|es)|rescheduled|postponed|went|goes|gone|going|rais(?:ed|es)"
    r"|increased|reduced|cut|dropped)(?: (?:up|down|back|forward|out))? from (?:the )?"
    rf"(?P<before>(?:[€$£]?\d|\w+day\b|{_MONTH} )[^,;]{{0,24}}?) to (?:the )?(?=[€$£]?\d|\w+day\b|{_MONTH} )"
    r"|\b(?:switch(?:ed|ing)|migrat(?:ed|ing)|swapp(?:ed|ing)|upgraded|downgraded|changed)(?: over)? from (?:the |my |our )?"
    r"(?P<thing>[\w'’.-]+(?: [\w'’.-]+)?) to (?=\w)"
    r"|\b(?:in|on|at) (?:the |my |our )?(?P<place>[\w'’.-]+(?: [\w'’.-]+)?)(?:,|,? (?:well|or rather|but)) now (?:in|on|at) "
    r"(?:the |my |our )?(?=[^\W\d])",
    re.IGNORECASE,
)
_LONGEST_NEW_VALUE = 2  # words
_value_words = re.compile(r"[^\W_]+")
_LATER = re.compile(r",(?!\d)|[;(]| (?:and|but|because|since|so|while|if|unless|after|before|until|except) ")


class _ValueAssignment(NamedTuple):
    subject: frozenset[str]
    about: frozenset[str]
    values: dict[str, str]


def another_value(new: str, old: str) -> str:
    """ "a different time", day, date or amount, where both set the same thing to a different one of these; else empty."""
    mine, theirs = _find_assignment(new), _find_assignment(old)
    if mine is None or theirs is None or mine.subject != theirs.subject:
        return ""
    if mine.about and theirs.about and mine.about != theirs.about:
        return ""
    for sort in _SORTS:
        ours, known = mine.values.get(sort), theirs.values.get(sort)
        if ours and known and ours != known:
            return "" if sort == "amount" and _unit_of(ours) != _unit_of(known) else f"a different {sort}"
    return ""


def _find_assignment(text: str) -> _ValueAssignment | None:
    plain = " ".join(text.casefold().replace("’", "'").split()).rstrip(".")
    match = _SET.match(plain) if len(plain) <= LONGEST else None
    if match is None or re.search(r"\b(?:also|too|another|either)\b", plain):
        return None
    value = _LATER.split(match["value"], maxsplit=1)[0]
    values = {sort: found[0].strip() for sort, shape in _SORTS.items() if (found := shape.search(value))}
    if "time" in values or "date" in values:
        values.pop("amount", None)
    subject = frozenset(analyse_statement(match["subject"]).content)
    return (
        _ValueAssignment(subject, frozenset(analyse_statement(match["about"] or "").content), values)
        if subject and values
        else None
    )


def _unit_of(amount: str) -> str:
    return re.sub(r"^(?:to|about|around) |[\d., ]", "", amount)


def sets_another_value(new: str, old: str) -> bool:
    """Whether both speak of the same thing, and the new one gives it another time, day, date or amount."""
    mine, theirs = packaged_features(new), packaged_features(old)
    shared = (set(mine.content) & set(theirs.content)) - mine.people - theirs.people
    ours, known = [one - mine.negated_values for one in _values_by_kind(mine)], _values_by_kind(theirs)
    both = [(one, another) for one, another in zip(ours, known, strict=True) if one and another]
    return bool(shared and both) and all(one.isdisjoint(another) for one, another in both)


def shares_words(new: str, old: str) -> bool:
    """Whether both have a word that says something."""
    return not set(packaged_features(new).content).isdisjoint(packaged_features(old).content)


def words_shared(new: str, old: str) -> int:
    """How many words that say something both have."""
    return len(set(packaged_features(new).content) & set(packaged_features(old).content))


def says_other_old_value(new: str, old: str) -> bool:
    """Whether the new one says itself which value it replaces, and the known one has neither that value nor another word of
    it: "on the balcony, now in the garden" changes nothing about the size of the garden."""
    match = _from_value_to_value.search(new)
    if match is None:
        return False
    before = match["before"] or match["thing"] or match["place"]
    after = " ".join(_value_words.findall(new[match.end() :])[:_LONGEST_NEW_VALUE])
    shared = set(packaged_features(new).content) & set(packaged_features(old).content)
    return shared <= set(packaged_features(after).content) and set(
        _value_words.findall(before.casefold())
    ).isdisjoint(_value_words.findall(old.casefold()))


def begin_with_same_word(new: str, old: str) -> bool:
    """Whether both begin with the same word that says something: "Rate goes to 92", "Rate at bluebell 85"."""
    mine, theirs = packaged_features(new), packaged_features(old)
    return mine.content[:1] == theirs.content[:1] != () and not {*mine.content[:1]} & (
        mine.people | theirs.people
    )


def lifts_denial(new: str, old: str) -> bool:
    """Whether the new statement says "again", or that somebody is well, of what the known one denies or calls ill."""
    again = packaged_features(new).cues[CUES.index("again")]
    return bool(again) and (bool(packaged_features(old).negations) or is_severe(old))


def takes_back_value(new: str, old: str) -> bool:
    """Whether the new statement says of a value of the known one that it is another now: "60 went to 75"."""
    mine, theirs = packaged_features(new), packaged_features(old)
    return bool(mine.negated_values & theirs.spoken_values)


def _values_by_kind(features: StatementFeatures) -> list[frozenset[str]]:
    times, days, dates, amounts, numbers = features.values
    return [times, days, dates, amounts | numbers]
