"""Facts that only make sense beside the sentence before them: "Besides peanuts he is allergic to cashews", "she has one".

Where it is certain who is meant the name takes the place of the pronoun. Else the person is asked; what may harm is kept
meanwhile, with the sentence before it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from memtui.engine import word_lists
from memtui.engine.guards.quotes import mask_quotes
from memtui.engine.models.ner.gazetteer import is_given_name

from .antecedents import HE, SHE, find_antecedent
from .joined_statements import begins_with_subject
from .sentences import Sentence, split_sentences
from .severity import is_severe
from .statements import HEDGED, Statement, introduced_names

_LOOKED_BACK = 600
_QUOTED = 160
_pronoun = re.compile(rf"\b(?:(?P<he>{HE})|(?P<she>hers|{SHE}))\b", re.IGNORECASE)
_object = re.compile(
    r"(?:him|her)(?=[.,;!]|$| (?:on|at|to|from|in|with|every|by|there|back|up|home|if|when|so|and|because|today|tomorrow)\b)",
    re.IGNORECASE,
)
# "UI gave her Law": her, and not hers.
_gives = re.compile(
    r"\b(?:g[ai]ve|gives|giving|told|tells?|shows?|showed|taught|teaches|offered|sends?|sent|calls?|called) $",
    re.IGNORECASE,
)
_one = re.compile(r"(?:^\S+(?: \S+){0,2} (?:has|have|got|needs?|wants?)) (?P<one>one)\W*$", re.IGNORECASE)
_somebody = re.compile(
    r"\b(?:my|our|your|mine|the|an?|every|each|no|one of|two|three|some)\s+[a-z]|(?<!^)\b[A-Z][^\W\d_]+|"
    r"\b(?:some|any|every|no)(?:body|one)\b|\bwho(?:ever)?\b",
)
_LIST = Path(__file__).with_name("unresolved.txt")
_OPENERS = frozenset(map(str.casefold, word_lists.read_words(_LIST, "openers")))
_possessive_and_name = re.compile(r"(?i:his|her) [a-z]+ [A-Z][^\W\d_]+")
_RUNS_ON = 20  # words: a text without full stops is understood by the others of them
_does = re.compile(r"[A-Z][^\W\d_]+ [a-z]{2,}ed\b")
_named = re.compile(r"\b(?:my|our) [a-z]+(?: [A-Z][^\W\d_]+)?|\b[A-Z][^\W\d_]+", re.IGNORECASE)


class UnresolvedWord(NamedTuple):
    """The word of a text that stands for somebody or something that the text does not name, and where it is."""

    word: str
    start: int
    end: int


def find_unresolved(text: str, people: Collection[str] = ()) -> UnresolvedWord | None:
    """The first such word of a text; None where the text can be understood alone."""
    masked = mask_quotes(text)
    if _possessive_and_name.match(masked):
        return None
    for match in _pronoun.finditer(masked):
        before = masked[: match.start()]
        if ":" in before or (before.strip() and len(masked.split()) > _RUNS_ON):
            return None
        named = _names_somebody(before, masked, people) or find_antecedent(
            before, masked[match.start() :], people
        )
        if not named or _means_somebody_else(before, masked, match):
            return UnresolvedWord(match[0], match.start(), match.end())
        return None
    one = _one.search(masked)
    return UnresolvedWord(one["one"], one.start("one"), one.end("one")) if one else None


def resolve_statement(
    statement: Statement, before: Sequence[Sentence], earlier: str, people: Collection[str]
) -> Statement:
    """The statement with the name in it, or with the question whom it means.

    ``before``: the sentences of the same message before it; ``earlier``: the person's message before that.
    """
    text = statement.text
    found = find_unresolved(text, people)
    if found is None:
        return statement
    said_before = " ".join(one.masked for one in before).replace("\x00", " ")
    rest = text[found.start :]
    who, earlier = None, earlier[-_LOOKED_BACK:]
    if found.word.casefold() != "one":
        known = frozenset(people) | introduced_names(earlier) | introduced_names(said_before)
        who = find_antecedent(said_before[-_LOOKED_BACK:], rest, known)
        if who is None and earlier and not any(_has_same_pronoun(rest, one.masked) for one in before):
            who = find_antecedent(f"{mask_quotes(earlier)} {said_before}"[-_LOOKED_BACK:], rest, known)
    if who is None:
        if is_severe(text) and (in_context := _with_preceding_sentence(text, before)):
            return statement._replace(text=in_context, confidence=HEDGED)
        return statement._replace(question=_question_whom(found.word, before, earlier))
    return statement._replace(
        text=f"{text[: found.start]}{_replace_word(who, text, found)}{text[found.end :]}"
    )


def _with_preceding_sentence(text: str, before: Sequence[Sentence]) -> str:
    """The text after the sentence that it follows, in the person's words: unclear, but not lost; empty without one."""
    said = before[-1].text.strip() if before else ""
    if not said or len(said) > _QUOTED or said.endswith(":"):
        return ""
    said = said if said[-1] in ".!?" else f"{said}."
    return f"{said[:1].upper()}{said[1:]} {text}"


def _names_somebody(before: str, text: str, people: Collection[str]) -> bool:
    if _somebody.search(before):
        return True
    first = re.match(r"[^\W\d_]+", text)
    if first is None or first.end() > len(before):
        return False
    return first[0].casefold() not in _OPENERS and bool(
        first[0] in people
        or is_given_name(first[0].casefold())
        or begins_with_subject(text)
        or _does.match(text)
    )


def _means_somebody_else(before: str, text: str, pronoun: re.Match[str]) -> bool:
    """Whether "her" is the object of the only person named before it: somebody else is meant."""
    if not _object.match(text, pronoun.start()):
        return False
    subject = _named.match(before)
    return subject is not None and not _somebody.search(before, subject.end()) and " and " not in before


def _has_same_pronoun(rest: str, sentence: str) -> bool:
    """Whether a sentence has a pronoun of the same gender as the one that ``rest`` begins with."""
    asked = _pronoun.match(rest)
    gender = "he" if asked and asked["he"] else "she"
    return any(match[gender] for match in _pronoun.finditer(sentence))


def _replace_word(who: str, text: str, unresolved: UnresolvedWord) -> str:
    word = unresolved.word.casefold()
    given = (
        _gives.search(text[: unresolved.start]) is not None and text[unresolved.end :].lstrip()[:1].isupper()
    )
    possessive = word == "his" or (word == "her" and not given and not _object.match(text, unresolved.start))
    name = who[:1].upper() + who[1:] if unresolved.start == 0 else who
    return f"{name}'s" if possessive else name


def _question_whom(word: str, before: Sequence[Sentence], earlier: str) -> str:
    what = "What" if word.casefold() == "one" else "Who"
    said = before[-1].text if before else next((one.text for one in reversed(split_sentences(earlier))), "")
    shortened = said if len(said) <= _QUOTED else said[: _QUOTED - 1].rstrip() + "…"
    asked = f"{what} is meant by “{word}”?"
    return f"{asked} The sentence before it: “{shortened}”" if shortened else asked
