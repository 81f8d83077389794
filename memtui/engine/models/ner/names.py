"""Find names by capital letters and by the words around them.

No model: a word with a capital letter (of any script that has them) is a name unless it opens a
sentence or stands in a list of words that never are one. The type is a guess from the words beside it.
Title-case headings and shouting hold no names; in German, where every noun has a capital, only
words in a name's place count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from . import cues, words
from .gazetteer import is_given_name, is_place
from .name_lists import BRAND, GIVEN, ORGANISATION, PLACE, THING, WORD, lists_with_name
from .name_types import BASE, HINTED, RULED, guess_name_type, share_types
from .other_scripts import find_in_other_scripts
from .span import NameSpan
from .type_model import CLASSES, NameContext, type_probabilities

_capitalised = re.compile(r"(?<![\w@#/.&-])[^\W\d_a-z]\w*(?:['’&-]\w+)*")
_heading = re.compile(r"^#{1,6} .*$", re.MULTILINE)
# The word behind a name, or a comma when another name follows it; "Bread and salt" is no pair of names.
_word_after = re.compile(
    r"(?:, (?!and\b)(?=[^\W\dA-Z_])| (?!and [a-z]))([^\W\d_]+(?:['’]t)?)|, (?=[^\W\d_a-z])"
)
_small_word = re.compile(r"(?<![\w@#/.&'’-])[^\W\d_]+(?:-[^\W\d_]+)*(?![\w@/&])")
_initial = re.compile(r"\. [^\W\d_a-z](?:\w|\. [^\W\d_a-z])")  # what follows an initial
_number_after = re.compile(r"\.? \d")
_joint = re.compile(rf" (?:(?:{'|'.join(sorted(cues.PARTICLES))}) (?:the )?)?")
_POSSESSIVE = ("'s", "’s")
_SENTENCE_ENDS = ".!?…:\n。！？"
_BETWEEN_SENTENCES = " \t\"“”‘'«»()[]*_-–—•>#"
_QUOTES = {'"': '"', "“": "”", "«": "»", "‘": "’"}
_verbish = re.compile(r"[A-Z][a-z]{2,}(?:ed|ly)")
_demonym = re.compile(r".{3,}(?:ian|ese)(?:-.*)?")
_ordinary = re.compile(r".{3,}(?:ing|tion|ment|ness|ally|ism)|\w*(?:Error|Exception)|\w*[\d_]\w{0,2}")
_MOST_WORDS = 8
_SHORT = 12  # words of a text that has room for one sign of its language
_IN_CODE = ("/", "_", "\\", "=")
_NAME_LISTS = GIVEN | PLACE | ORGANISATION | THING | BRAND
_NO_NAME_BEFORE = ("(", "/", "=", "_", "\\")

_REJECT_THRESHOLD, _REJECT_THRESHOLD_OF_SEVERAL, _ACCEPT_THRESHOLD, _SURE_SHARE, _CERTAIN_SHARE = (
    0.85,
    0.95,
    0.25,
    0.85,
    0.95,
)
"""How likely it is no name: what rules take for one is dropped above the first (of several words above the second), what
they pass over is taken below the third. Above the fourth a type is sure, above the last it stands against a rule that the name
itself meets."""

Word = tuple[str, int, int]
"""A word with its place, without a possessive s."""


class _CapitalRun(NamedTuple):
    """Neighbouring capitalised words; ``opens`` a sentence; ``possessive``: an 's follows."""

    words: list[Word]
    opens: bool
    possessive: bool


class NameCandidate(NamedTuple):
    """What may be a name: its place, what the rules say of it, and whether they take it for one."""

    start: int
    end: int
    type: str
    confidence: float
    opens: bool
    likely: bool

    def to_model_input(self, text: str, label: str = "") -> NameContext:
        rule = f"{self.type} {self.confidence:.2f} {self.likely:d}"
        return NameContext(text, self.start, self.end, self.opens, rule, label)


def find_names(text: str) -> list[NameSpan]:
    """The names in ``text``; those of a script with capitals are in order and apart."""
    if text.isascii():
        return _capitalised_names(text)
    return [*_capitalised_names(text), *find_in_other_scripts(text)]


def _capitalised_names(text: str) -> list[NameSpan]:
    return share_types(
        text, [span for one in name_candidates(text) if (span := classify_candidate(text, one)) is not None]
    )


def classify_candidate(
    text: str, candidate: NameCandidate, provider: str = "names", least: float = BASE, label: str = ""
) -> NameSpan | None:
    """The candidate with the type that is most likely, or None where it is more likely no name; ``label``: spaCy's."""
    shares = type_probabilities(candidate.to_model_input(text, label))
    no_name = shares[-1]
    several = candidate.likely and " " in text[candidate.start : candidate.end]
    if no_name > (
        _REJECT_THRESHOLD_OF_SEVERAL
        if several
        else _REJECT_THRESHOLD
        if candidate.likely
        else _ACCEPT_THRESHOLD
    ):
        return None
    best = max(range(len(shares) - 1), key=shares.__getitem__)
    type, share = CLASSES[best], shares[best] / (1.0 - no_name)
    if candidate.confidence >= RULED and share < _CERTAIN_SHARE:
        type = candidate.type  # it says so itself
    confidence = max(least, HINTED if share > _SURE_SHARE else BASE)
    if candidate.type == type:
        confidence = max(confidence, candidate.confidence)
    start, end = candidate.start, candidate.end
    return NameSpan(
        text=text[start:end],
        start=start,
        end=end,
        type=type,
        confidence=confidence,
        provider=provider,
        name=" ".join(text[start:end].split()),
    )


def labelled_candidate(text: str, start: int, end: int) -> NameCandidate:
    """A candidate that another provider found."""
    before, after = text[max(0, start - 32) : start].lower(), text[end : end + 48]
    possessive = after.startswith(_POSSESSIVE)
    type, confidence = guess_name_type(
        text[start:end].replace(".", " ").split() or [text[start:end]],
        before,
        after.lower(),
        _following_word(after, possessive),
        possessive,
    )
    return NameCandidate(start, end, type, confidence, opens_sentence(text, start), True)


def name_candidates(text: str) -> list[NameCandidate]:
    """What has the capital letters of a name, in order and apart; in a text without capitals, what may be one by its words."""
    if text.islower():
        return [
            labelled_candidate(text, start, end)._replace(likely=False) for start, end in _small_runs(text)
        ]
    if "# " in text:
        text = _heading.sub(lambda match: " " * len(match[0]), text)
    runs = list(_capital_runs(text))
    if not runs or _is_shouted(text, runs):
        return []
    german = _is_german(text)
    # A word with a capital amid a sentence may open another one.
    inner = {run.words[0][0] for run in runs if not run.opens}
    return [one for run in runs if (one := _judge_run(text, run, german, inner)) is not None]


def _is_german(text: str) -> bool:
    words = text.lower().split()
    alone = len(words) <= _SHORT and not cues.GERMAN_ALONE.isdisjoint(words)
    return alone or len(cues.GERMAN.intersection(words)) >= 2


def _capital_runs(text: str) -> Iterator[_CapitalRun]:
    run: _CapitalRun | None = None
    for match in _capitalised.finditer(text):
        word = match[0]
        if not word[0].isupper():
            continue
        start, end = match.span()
        possessive = word.endswith(_POSSESSIVE)
        if possessive:
            word, end = word[:-2], end - 2
        beside = run is not None and text[run.words[-1][2] : start] == " "  # "plan A"
        initial = word == "A" and not beside and _initial.match(text, end) is not None
        if word.lower() in words.NOT_NAMES and not initial and not _is_surname(text, run, word, start, end):
            if run is not None:
                yield run
                run = None
            continue
        here = (word, start, end)
        if run is not None and len(run.words) < _MOST_WORDS and _continues_name(text, run, start):
            run.words.append(here)
            run = run._replace(possessive=possessive)
            continue
        if run is not None:
            yield run
        run = _CapitalRun([here], opens_sentence(text, start), possessive)
    if run is not None:
        yield run


def _is_surname(text: str, run: _CapitalRun | None, word: str, start: int, end: int) -> bool:
    """Whether a month or a season stands as a surname right after a first name or a title: "Frau Sommer", not "Ben, May 12"."""
    if run is None or run.possessive or word.lower() not in words.ALSO_SURNAMES:
        return False
    last, _, at = run.words[-1]
    first = is_given_name(last.lower()) or last.lower() in cues.TITLES
    return first and text[at:start] in (" ", ". ") and _number_after.match(text, end) is None


def _continues_name(text: str, run: _CapitalRun, start: int) -> bool:
    last, _, end = run.words[-1]
    gap = text[end:start]
    if gap == " ":
        return not run.possessive
    if gap == ". ":
        return len(last) == 1 or last.lower() in cues.TITLES or last.lower() in cues.PLACE_STARTS
    return len(gap) < 12 and not run.possessive and _joint.fullmatch(gap) is not None


def opens_sentence(text: str, start: int) -> bool:
    """Whether the word at ``start`` would have its capital letter in any case."""
    at = start - 1
    if at >= 0 and text[at] in _QUOTES:
        return True
    while at >= 0 and text[at] in _BETWEEN_SENTENCES:
        at -= 1
    return at < 0 or text[at] in _SENTENCE_ENDS


def _is_shouted(text: str, runs: list[_CapitalRun]) -> bool:
    """Capital letters throughout, or a heading with a capital at almost every word."""
    if text.isupper():
        return True
    written = sum(len(run.words) for run in runs)
    if written < 4 or "," in text:
        return False
    every = text.split()
    if all(_has_known_name(run) for run in runs if not run.opens):
        return False  # "Dinner with Sam Lee in New York"
    return 3 * sum(word[0].isupper() for word in every) > 2 * len(every)


def _has_known_name(run: _CapitalRun) -> bool:
    """Whether a run holds a first name, or is a place."""
    plain = [word.lower() for word, _, _ in run.words]
    return any(is_given_name(word) for word in plain) or is_place(plain)


def _judge_run(text: str, run: _CapitalRun, german: bool, inner: set[str]) -> NameCandidate | None:
    parts, type, confidence, opens = _without_labels(run)
    start, end = parts[0][1], parts[-1][2]
    before, after = text[max(0, start - 32) : start].lower(), text[end : end + 48]
    if after.startswith(_NO_NAME_BEFORE) or (after[:1] == "." and after[1:2].isalnum()):
        return None
    if text[start - 1 : start] == "(" and text[start - 2 : start - 1].isalnum():
        return None
    if all(_is_ordinary(word) for word, _, _ in parts):
        return None
    follower = _following_word(after, run.possessive)
    likely = len(parts) > 1 or not (
        (opens and not _may_open(text, run, parts[0], inner, follower))
        or (german and not type and not _is_german_name(run, parts[0][0], opens, before))
    )
    if not type:
        type, confidence = guess_name_type(
            text[start:end].replace(".", " ").split(), before, after.lower(), follower, run.possessive
        )
    return NameCandidate(start, end, type, confidence, opens, likely)


def _small_runs(text: str) -> Iterator[tuple[int, int]]:
    """Neighbouring words that are no ordinary ones, in a text in small letters."""
    run: tuple[int, int] | None = None
    for match in _small_word.finditer(text):
        start, end = match.span()
        if (
            not _may_be_small_name(match[0])
            or text[end : end + 1] in _NO_NAME_BEFORE
            or text[start - 1 : start] in _IN_CODE
        ):
            continue
        if run is not None and text[run[1] : start] == " ":
            run = run[0], end
        else:
            if run is not None:
                yield run
            run = start, end
    if run is not None:
        yield run


def _may_be_small_name(word: str) -> bool:
    lists = lists_with_name(word)
    if lists & WORD:
        if not lists & _NAME_LISTS:
            return False
    elif not lists and len(word) < 3:
        return False
    return not any(
        word in some for some in (words.NOT_NAMES, words.OPENERS, words.ACRONYMS, cues.TITLES, cues.KIN)
    )


def _may_open(text: str, run: _CapitalRun, first: Word, inner: set[str], follower: str) -> bool:
    """Whether a word that begins a sentence looks like a name."""
    word, start, end = first
    return (
        run.possessive
        or word in inner
        or is_given_name(word.lower())
        or is_place([word.lower()])
        or follower == ","
        or (follower in cues.PERSON_VERBS and _verbish.fullmatch(word) is None)
        or _is_quoted(text, start, end)
    )


def _is_german_name(run: _CapitalRun, word: str, opens: bool, before: str) -> bool:
    """Whether a word of a German text is in a name's place, or known as one: every noun has a capital there."""
    return (
        is_given_name(word.lower())
        or is_place([word.lower()])
        or not cues.BEFORE_GERMAN_NAMES.isdisjoint(before.split()[-1:])
        or (opens and run.possessive)
    )


def _without_labels(run: _CapitalRun) -> tuple[list[Word], str, float, bool]:
    """The run without titles, the word project, and what opens the sentence; what these say about its type."""
    parts, type, confidence, opens = run.words, "", BASE, run.opens
    while len(parts) > 1:
        first = parts[0][0].lower()
        if first in cues.TITLES:
            type, confidence = "person", RULED
        elif first in cues.PROJECT_WORDS:
            type, confidence = "project", RULED
        elif not opens or not _only_opens(parts):
            break
        parts, opens = parts[1:], False
    if len(parts) > 1 and parts[-1][0].lower() in cues.PROJECT_WORDS:
        parts, type, confidence = parts[:-1], "project", RULED
    return parts, type, confidence, opens


def _only_opens(parts: list[Word]) -> bool:
    """Whether the first word has its capital from the sentence: "Met Ada", but not "New York"."""
    first = parts[0][0]
    given = is_given_name(first.lower()) or lists_with_name(first.lower()) & GIVEN  # "Manfred", "Billy"
    shaped = _ordinary.fullmatch(first) or (_verbish.fullmatch(first) and not given)
    return (first.lower() in words.OPENERS or bool(shaped)) and not is_place(
        [word.lower() for word, _, _ in parts]
    )


def _is_quoted(text: str, start: int, end: int) -> bool:
    before = text[start - 1 : start]
    return before in _QUOTES and text[end : end + 1] == _QUOTES[before]


def _is_ordinary(word: str) -> bool:
    lowered = word.lower()
    if (
        len(word) < 2
        or "_" in word
        or lowered in words.OPENERS
        or lowered in cues.TITLES
        or _ordinary.fullmatch(word)
        or (_demonym.fullmatch(word) and not is_given_name(lowered))
    ):
        return True
    return word.isupper() and (lowered in words.ACRONYMS or not 2 < len(word) < 7)


def _following_word(after: str, possessive: bool) -> str:
    """The word behind the run; a comma when another name follows it."""
    if possessive:
        return ""
    match = _word_after.match(after)
    return "" if match is None else (match[1] or ",").lower()
