"""Durable statements of the person about their own life, read from plain sentences without a model.

Precision before recall: what is asked, ordered, quoted, supposed, said of this very moment, or hangs on a
word whose meaning is elsewhere ("she", "it") is left out. What is kept stays in the person's words.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from memtui.engine import word_lists

from . import events, instructions
from .filler import without_asides
from .sentences import Sentence
from .statement_shapes import CLASSES, CORRECTING, CORRECTION, INTRODUCED, KNOWN_PERSON, NAMED_FIRST

_LIST = Path(__file__).with_name("statements.txt")

CONFIDENCE = 0.8
HEDGED = 0.5
_SHORTEST, _LONGEST = 8, 400

_LEAD_IN = re.compile(word_lists.read_expression(_LIST, "lead in"), re.IGNORECASE)
_LABEL = re.compile(r"(?:[A-Z][\w'-]*)(?: [\w'-]+){0,4}:\s+(?=\S)")
_ASKED_TO_KEEP = re.compile(word_lists.read_expression(_LIST, "asked to keep"), re.IGNORECASE)
_SUPPOSED = re.compile(word_lists.read_expression(_LIST, "supposed"))
HEDGES = re.compile(word_lists.read_expression(_LIST, "hedges"))
_MOMENT = re.compile(word_lists.read_expression(_LIST, "moment"))
RELATIVE = re.compile(word_lists.read_expression(_LIST, "relative"))
_PRONOUN = re.compile(word_lists.read_expression(_LIST, "pronoun"))
_SOMEBODY = re.compile(r"\b(?:my|our|the|an?)\s+[a-z]|(?<!^)(?<![.!?:] )\b[A-Z]\w+")
_PERSON = word_lists.read_words(_LIST, "person")
_NAMED = re.compile(word_lists.read_expression(_LIST, "named"))
_DUMMY_IT = re.compile(word_lists.read_expression(_LIST, "dummy it"))
_NOT_NAMES = word_lists.read_words(_LIST, "not names")
# Somebody at work on a program talks of the task at hand.
_TASK = re.compile(word_lists.read_expression(_LIST, "task"))
_AT_HAND = re.compile(word_lists.read_expression(_LIST, "at hand"))
_YOU = re.compile(r"\b(?:you|your|yours|yourself|u)\b")
_NEEDS_VERB = re.compile(word_lists.read_expression(_LIST, "needs verb"))
_SET_FOR_ONE_DATE = re.compile(word_lists.read_expression(_LIST, "set for one date"))
_CONTRACTIONS = (
    (re.compile(r"\bi'm\b|\bim\b"), "i am"), (re.compile(r"\b(i|we|you|"
        r"they)'ve\b"), r"\1 have"), (re.compile(r"\b(we|they|you)'re\b"), r"\1 are"),
    (re.compile(r"\b(i|we)'d rather\b"), r"\1 would rather"), (re.compile(r"\b(i|we|you|he|she|"
        r"they)'d\b"), r"\1 would"), (re.compile(r"\b(\w+)'ll\b"), r"\1 will"),
    (re.compile(r"\bcan't\b|\bcan not\b|"
        r"\bcant\b"), "cannot"), (re.compile(r"\bwon't\b"), "will not"), (re.compile(r"\b(do|does|did|is|"
        r"are|was|were|have|has|had|would|could|should)n'?t\b"), r"\1 not"),
    (re.compile(r"\b(she|he|it|that|there|who|what)'s\b"), r"\1 is"),
)  # fmt: skip


class Statement(NamedTuple):
    """``text`` stands alone; ``correcting``: it says that something known has changed; ``dated``: it needs its date.

    ``question``: to ask the person before the fact is kept ("who is meant?")."""

    text: str
    tags: tuple[str, ...]
    confidence: float
    correcting: bool
    dated: bool
    question: str = ""


def find_statement(
    sentence: Sentence, people: Collection[str] = (), *, of_work: bool = False, of_play: bool = False
) -> Statement | None:
    """What the sentence states about its writer, or about ``people`` (first names they introduced); None: nothing.

    The sentence must be the person's own. ``of_work``: its message asks for a piece of work, whose rules do not last;
    ``of_play``: it sets up a game, where none does.
    """
    if sentence.question or not _SHORTEST <= len(sentence.text) <= _LONGEST * 2:
        return None
    asked = _ASKED_TO_KEEP.search(sentence.masked)
    start = _statement_start(sentence, asked)
    marker = instructions.MARKER.search(sentence.masked, 0, start) or instructions.MARKER.match(
        sentence.masked, start
    )
    if marker:
        start = max(start, marker.end())
    text, masked = sentence.text[start:], sentence.masked[start:]
    plain = plain_text(masked)
    if plain.endswith(":"):
        return None  # what it says is elsewhere
    if not _SHORTEST <= len(text) <= _LONGEST or " " not in text or "\x00" in plain[:4]:
        return None
    if re.search(r"\b(?:to|of|with|for|the|an?|and|but|or)\W*$", plain):
        return None
    polite = instructions.politeness_length(text)
    lasts = (marker is not None or instructions.ends_as_lasting(plain)) and not of_play
    if instructions.is_order(
        text[polite:], plain_text(masked[polite:]), lasts=lasts, of_work=of_work or of_play
    ):
        begins = marker.start() if marker else start
        begins += instructions.politeness_length(sentence.text[begins:])
        return _statement_if_kept(sentence, sentence.text[begins:], plain, ("rule",), dated=False)
    if _SUPPOSED.search(plain) or _YOU.search(plain):
        return None
    event = events.life_event(text, plain) or events.family_event(text, plain)
    if _MOMENT.search(plain) and not (event and events.MOMENT.search(plain)):
        return None
    if _AT_HAND.match(plain) and _TASK.search(plain):
        return None
    tags = _tags_of(text, plain, people, asked is not None)
    if tags is None and event:
        tags = ("event",)
    if tags is None and events.team_decision(text, plain):
        tags = ("work",)
    if tags is None and lasts and not of_work and instructions.is_rule(marker[0] if marker else "", plain):
        tags = ("rule",)
    if tags is None or has_dangling_pronoun(masked):
        return None
    if len(text.split()) < 3 and not {"health", "self"}.intersection(tags):
        return None  # "We signed."
    dated = RELATIVE.search(plain) is not None or events.MOMENT.search(plain) is not None
    return _statement_if_kept(sentence, text, plain, tags, dated=dated)


def _statement_if_kept(
    sentence: Sentence, text: str, plain: str, tags: tuple[str, ...], *, dated: bool
) -> Statement:
    return Statement(
        text=_tidy_text(text),
        tags=tags,
        confidence=HEDGED if HEDGES.search(plain) else CONFIDENCE,
        correcting="correction" in tags or CORRECTING.search(plain_text(sentence.masked)) is not None,
        dated=dated,
    )


def introduced_names(text: str) -> set[str]:
    """The first names of the people and animals that a text introduces: "my partner Ada Ferreira" gives Ada."""
    found = {match["name"] for shape in (INTRODUCED, NAMED_FIRST) for match in shape.finditer(text)}
    return {name.split()[0] for name in found if name.split()[0] not in _NOT_NAMES}


def _statement_start(sentence: Sentence, asked: re.Match[str] | None) -> int:
    """Where the statement itself begins: after greetings, labels, "remember that"."""
    if asked:
        return asked.end()
    start = 0
    while True:
        rest = sentence.masked[start:]
        match = _LEAD_IN.match(rest) or _LABEL.match(rest)
        if not match or match.end() == len(rest):
            return start
        start += match.end()


def plain_text(masked: str) -> str:
    plain = masked.casefold().replace("’", "'")
    for shape, long in _CONTRACTIONS:
        plain = shape.sub(long, plain)
    return " ".join(plain.split())


def _tags_of(text: str, plain: str, people: Collection[str], asked: bool) -> tuple[str, ...] | None:
    for tags, shape in CLASSES:
        if shape.match(plain):
            return tags
    if CORRECTION.match(plain) and re.search(r"\d|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b", plain):
        return ("correction",)
    if re.match(r"(?:My|Our|my|our) (?:[\w'-]+ ){1,3}(?:is|are|was) (?:called )?[A-Z][^\W\d_]", text):
        return ("people",)
    first = re.match(r"([^\W\d_]+)", text)
    if first and first[0] in people and KNOWN_PERSON.match(plain, len(first[0])):
        return ("people",)
    name = re.match(r"I(?:'m| am) (?P<name>[A-Z][^\W\d_]+)", text)
    if name and name["name"] not in _NOT_NAMES:
        return ("self",)
    if asked and _NEEDS_VERB.search(plain) and not _is_command(plain):
        return () if _SET_FOR_ONE_DATE.match(plain) else ("rule",)
    return None


def _is_command(plain: str) -> bool:
    return bool(
        re.match(
            r"(?:please|do|don't|never|always|to|tell|put|keep|make|give|write|use|ask|remind|check|find)\b",
            plain,
        )
    )


def has_dangling_pronoun(masked: str) -> bool:
    """A pronoun before anything that it could stand for."""
    checked = _DUMMY_IT.sub(lambda match: "x" * len(match[0]), masked.casefold())
    pronoun = _PRONOUN.search(checked)
    if pronoun is None:
        return False
    named = (_SOMEBODY if pronoun[0] in _PERSON else _NAMED).search(masked)
    # The "I" or the name that begins the sentence is found by neither.
    begins = re.match(r"[A-Z][^\W\d_]+", masked)
    if begins and begins[0].casefold() not in ("i", "we", "my", "our", "actually"):
        return False
    return named is None or named.start() >= pronoun.start()


def _tidy_text(text: str) -> str:
    text = without_asides(text).strip(" ,;–—-") or " ".join(text.split())
    text = re.sub(r"(?<![.])\.$", "", text)
    return text[:1].upper() + text[1:]
