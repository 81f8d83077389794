"""What may harm if it is forgotten: an allergy, an illness, a medicine, what somebody must not have.

A missed one costs more than a line too many. So it is looked for by its words in every sentence, also where the
sentence asks for something: "what can I cook for my brother, who is coeliac" tells that he is. What is found this way is
less sure than what the classifier keeps, and waits for the person in Review.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from memtui.engine import word_lists

from .exclusions import is_hypothetical, is_request
from .figurative import after_relief, is_of_stranger, is_of_thing, without_figures
from .filler import filler_length, without_reason

_LIST = Path(__file__).with_name("severity.txt")

_WORDS = Path(__file__).parent / "severe.txt"
# "cashew free", "gone gluten-free"; not "feel free" or "hands-free".
_FREE = (
    r"(?:be|is|are|was|goes|gone|went|going|eats?|stays?|strictly|completely|totally|everything|all|keep it|must be|"
    r"needs to be|has to be) (?!(?:feel|for|care|duty|hands|toll|rent|tax|is|are|it|now|finally|set|bug|error|royalty)\b)"
    r"[a-zé]+[ -]free"
)
# "no aspirin for me", "pas de pénicilline pour moi", "kein Ibuprofen für ihn".
_NONE_FOR = (
    r"(?:no|keine?n?|pas d(?:e |')|sin|nada de) [^\W\d_]+(?: [^\W\d_]+)? (?:ever )?"
    r"(?:for|für|pour|para) (?:me|him|her|us|mich|ihn|sie|uns|moi|lui|elle|nous|mí|él|ella|nosotros)"
)
_DOSE = r"\d+(?:[.,]\d+)? ?(?:mg|mcg|µg|iu|units|einheiten|unidades)"
# What others must not learn, or must not do: "my ex is not to know where we live", "never give anyone my address".
_KEPT_FROM = rf"(?:{word_lists.read_expression(_LIST, 'KEPT_FROM')})"
_BODILY = [
    rf"(?:{word_lists.read_expression(_LIST, name)})"
    for name in ("REACTS", "HAS", "RECOVERS", "HAUNTS", "BARRED")
]
_HARD_RULE = rf"(?:{word_lists.read_expression(_LIST, 'HARD_RULE')})"
_GIVES = (
    r"(?:gives?|brings?|sets?|makes?) (?:me|him|her|us|(?:my|our|his) [a-z]+) (?:out in|off with|(?:a |an )?(?:rash|"
    r"hives|migraines?|asthma|attacks?|welts|spots|blisters|cramps|palpitations|itch\w*|swell\w*|ill|sick|wheezy|dizzy))"
)
_SCARES = r"(?:scares?|frightens?|terrif(?:y|ies)) [a-z]+ (?:stiff|senseless|(?:half )?to death)"
# "I take adderall in the mornings", not "I take the bus".
_TAKES = (
    r"takes? (?!(?:the|an?|my|our|his|her|him|them|it|this|that|photos|notes|care|part|off|out|over|up|turns|lunch|leave|"
    r"trains?|buses|taxis) )[a-z-]+ (?:in the (?:mornings?|evenings?)|every (?:morning|evening|night|day)|"
    r"at (?:night|bedtime|noon)|(?:once|twice|three times) (?:a|every) day|daily|first thing|before bed)"
)

# "the allergy clinic" is a place, not an allergy.
_NO_PLACE = r"(?![ -](?:clinic|appointment|update|tests?|results|season|poster|story|scandal|joke)\b)"
# Nobody that the person knows: "some people can't have dairy", "a patient of 70 kg".
_NOBODY = re.compile(word_lists.read_expression(_LIST, "nobody"))
_ONCE = re.compile(word_lists.read_expression(_LIST, "once"))
_WHO = (
    r"(?:(?:my|our|his|her|meine?[nrms]?|unsere?[nrms]?|mon|ma|mes|mi|mis|the) (?:[\w-]+ ){0,2}?[\w-]+|"
    r"(?-i:[A-Z][^\W\d_]+))"
)
# "my brother who is coeliac", "for Ben, who can't eat nuts"
_relative = re.compile(
    rf"(?<!\w)(?P<who>{_WHO}),? (?:who|qui|que|der|die) ?(?P<statement>'s .+|.+)", re.IGNORECASE
)
# "as I'm on warfarin", "write to her that Otis can't have milk", "weil ich Zöliakie habe"
_subordinate = re.compile(word_lists.read_expression(_LIST, "subordinate"), re.IGNORECASE)
# "as a diabetic", "being coeliac"
_being = re.compile(
    r"(?<!\w)(?:as|being|als|en tant que|como)(?: an?| un[ea]?)? (?P<statement>.+)", re.IGNORECASE
)
_question = re.compile(word_lists.read_expression(_LIST, "question"), re.IGNORECASE)
_supposes = re.compile(r"(?:if|wenn|falls)\b", re.IGNORECASE)
# "is it true that I'm vegetarian": nothing that the person holds.
_doubts = re.compile(word_lists.read_expression(_LIST, "doubts"), re.IGNORECASE)
_theirs = re.compile(r"(?:his|her|seine?\w*|ihre?\w*)\b", re.IGNORECASE)
_run_on = re.compile(word_lists.read_expression(_LIST, "run on"), re.IGNORECASE)
_LONGEST_PART = 170
_joins = re.compile(r",? ?(?:and|but|so|und|aber|et|mais|y|pero) ", re.IGNORECASE)
_pronoun = re.compile(r"(?:he|she|they|er|sie|il|elle|él|ella|her|his)\b", re.IGNORECASE)
# "my nut allergy", "grandad with his pacemaker", "dad's parkinson"
_owned = re.compile(word_lists.read_expression(_LIST, "owned"), re.IGNORECASE)


_allergy = re.compile(rf"(?<!\w)(?:{word_lists.read_expression(_LIST, 'ALLERGY')})", re.IGNORECASE)
_allergy_is_over = re.compile(word_lists.read_expression(_LIST, "allergy is over"), re.IGNORECASE)
_is_cleared = re.compile(word_lists.read_expression(_LIST, "is cleared"), re.IGNORECASE)
_open_result = re.compile(word_lists.read_expression(_LIST, "open result"), re.IGNORECASE)


# "I'm on levothyroxine", not "no ibuprofen for me".
_taken = re.compile(word_lists.read_expression(_LIST, "taken"), re.IGNORECASE)


@functools.cache
def _medicine_pattern() -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(_shapes(word_lists.read_sections(_WORDS)['medicine']))})(?!\w)")


def names_medicine(text: str) -> bool:
    """Whether it says that somebody takes a medicine, by its name or its dose."""
    plain = text.casefold().replace("’", "'")
    if _taken.search(plain) is None:
        return False
    return (
        _medicine_pattern().search(plain) is not None
        or re.search(rf"(?<!\w){_DOSE}(?!\w)", plain) is not None
    )


def _shapes(lines: Iterable[str]) -> list[str]:
    """A regular expression for each entry of a word list."""
    listed = [entry.strip() for line in lines for entry in line.split(",") if entry.strip()]
    return [
        re.escape(entry.strip("*")).replace(r"\ ", r"\s+").replace(r"\*", r"\w*").join(
            (r"\w{3,}" if entry.startswith("*") else "", r"\w*" if entry.endswith("*") else "")
        )
        for entry in sorted(listed, key=len, reverse=True)
    ]  # fmt: skip


@functools.cache
def _severity_pattern(*, bodily: bool = False) -> re.Pattern[str]:
    """``bodily``: without what only must be kept from others. The apostrophe of "can't" may be left out."""
    shapes = _shapes(chain.from_iterable(word_lists.read_sections(_WORDS).values()))
    shapes += [_FREE, _NONE_FOR, _DOSE, _GIVES, _SCARES, _TAKES, *_BODILY]
    shapes += [] if bodily else [_KEPT_FROM, _HARD_RULE]
    return re.compile(rf"(?<!\w)(?:{'|'.join(shapes)})(?!\w){_NO_PLACE}".replace("n't", "n'?t"))


def severe_words(text: str) -> Iterator[re.Match[str]]:
    """The words in a text that tell of harm."""
    return _severity_pattern().finditer(text.casefold().replace("’", "'"))


@functools.lru_cache(maxsize=2048)
def is_severe(text: str) -> bool:
    """Whether it says a word that tells of harm."""
    return next(severe_words(text), None) is not None


def names_illness(plain: str) -> bool:
    """Whether a text in small letters says a word of illness, of medicine or of what somebody must not have."""
    return _severity_pattern(bodily=True).search(plain) is not None


def names_allergy(text: str) -> bool:
    """Whether it says a word for an allergy or an intolerance."""
    return _allergy.search(text) is not None


def says_allergy_is_over(text: str) -> bool:
    """Whether it says that somebody has no allergy or intolerance, or none any more."""
    return _allergy_is_over.search(text.replace("’", "'")) is not None


def says_cleared(text: str) -> bool:
    """Whether it says that somebody may have something again, or was tested for something and has not got it."""
    return _is_cleared.search(text.replace("’", "'")) is not None


def says_result(text: str) -> bool:
    """Whether it says, as something that is so, that an ailment or what was forbidden for it is over."""
    return (says_allergy_is_over(text) or says_cleared(text)) and _open_result.search(text) is None


def severe_clause(masked: str, *, question: bool) -> str | None:
    """What a clause tells that may harm, be it inside a question or a request; None where it is nobody's, or made up.

    ``masked``: with a NUL in the place of each quoted character.
    """
    if is_hypothetical(masked) or only_sounds_severe(masked):
        return None
    masked = masked[filler_length(masked) :]
    if _doubts.search(masked):
        return None
    if not question and not is_request(masked) and not _question.match(masked):
        return None if is_impersonal(masked) else masked
    for part in _statements_within(masked, question=question):
        statement = without_reason(part)
        if (
            is_severe(statement)
            and not is_request(statement)
            and not is_impersonal(statement)
            and not (_question.match(statement) or _supposes.match(statement))
        ):
            return statement
    for sign in severe_words(masked):
        owner = _owned.search(masked, 0, sign.start())
        if owner and _theirs.match(owner["statement"]):
            return masked.rstrip(" ?")  # the question tells whose it is
        if owner:
            return masked[owner.start("statement") : sign.end()]
    return None


def severe_parts(clause: str) -> Iterator[tuple[int, int]]:
    """The parts of a long clause without points that tell of harm; one that begins with "she" with what is said before it."""
    starts = [0, *(cut.end() for cut in _run_on.finditer(clause)), len(clause)]
    parts = [(start, end) for start, end in itertools.pairwise(starts) if end > start]
    for at, (start, end) in enumerate(parts):
        if not is_severe(clause[start:end]):
            continue
        while (
            at
            and _pronoun.match(clause, start)
            and end - parts[at - 1][0] <= _LONGEST_PART
            and not is_request(clause[slice(*parts[at - 1])])
        ):
            at -= 1
            start = parts[at][0]
        yield start, end


def _statements_within(masked: str, *, question: bool) -> Iterator[str]:
    """What a clause that asks may tell on the way, the longest first."""
    parts = masked.split(", ")
    for first in range(len(parts) - 1):
        if question and not is_request(parts[first]):
            yield ", ".join(parts[first:-1])
        yield ", ".join(parts[first + 1 :]).rstrip(" ?") if not question else parts[first]
    for match in _relative.finditer(masked):
        text = match["statement"].rstrip(" ?")
        yield match["who"] + ("" if text.startswith(("'", "’")) else " ") + text
    for shape in (_subordinate, _being):
        for match in shape.finditer(masked):
            yield match["statement"].rstrip(" ?")


def is_condition(masked: str) -> bool:
    """Whether a clause says under which condition something else is asked."""
    return _supposes.match(masked, filler_length(masked)) is not None


def is_impersonal(text: str) -> bool:
    """Whether it is said of people in general, of a thing, or of this moment. "Not allergic any more, tested today" lasts."""
    plain = _in_small_letters(text)
    if _NOBODY.match(plain) or only_sounds_severe(plain) or is_of_stranger(plain):
        return True
    return _ONCE.search(plain) is not None and not says_allergy_is_over(plain)


@functools.lru_cache(maxsize=2048)
def only_sounds_severe(text: str) -> bool:
    """Whether its words of harm are turns of speech, or of nobody whom the person knows."""
    plain = _in_small_letters(text)
    rest = without_figures(plain)
    if rest != plain:
        return not is_severe(rest)
    if not is_severe(plain):
        return False
    after = after_relief(plain)
    return is_of_thing(plain) or is_of_stranger(plain) or (after is not None and not is_severe(after))


def _in_small_letters(text: str) -> str:
    return " ".join(text.casefold().replace("’", "'").split())
