"""Does a text say again what a fact said? For texts from which the fact was not drawn, so that nothing links the two.

It goes by words alone, and a wrong yes is worse than none: a clause must say the same of the same subject with the same words in
the same order. More may follow. What is asked, supposed, denied or over does not count. In other words it counts only with
the name or number that a correction took away, in the same place (``gives_value``): "You work at Initech, then".
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from memtui.engine import word_lists
from memtui.engine.store import tokens

_MAX_CHARACTERS = 4_000
"""Characters of a text that are read."""
_FEWEST = 2
_BEGINNING = 4
"""Letters by which words are compared before they are stemmed."""
_word = re.compile(r"[^\W_]+(?:['’.,:][^\W_]+)*")
_sentence = re.compile(r"(?<=[.!?…。！？])\s+|\n+")
_clause = re.compile(
    r"[,;:()“”\"–—]\s*|\s-\s|\s(?=(?:because|since|and|but|so|as)\s+(?:i|my|we|our|you|your|the user)\b)",
    re.I,
)
_dated = re.compile(r"\s*\(said [^)]*\)$")  # what a fact has beside the words it was drawn from
_short = {"m": "am", "re": "are", "ve": "have", "ll": "will", "d": "would", "s": "s"}


class AnalysedClause(NamedTuple):
    """A clause as it is compared. ``own``: the person is its subject; ``words``: what tells something, as written and stemmed.

    ``before``, ``after``: the word of the clause beside each of them, empty at an end. ``doubts``: words by which it is
    supposed, over or denied.
    """

    own: bool
    words: tuple[str, ...]
    stems: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    doubts: frozenset[str]


@functools.cache
def _word_lists() -> dict[str, frozenset[str]]:
    lines = word_lists.read_sections(Path(__file__).parent / "words" / "said_again.txt")
    return {name: frozenset(" ".join(rows).split()) for name, rows in lines.items()}


def word_beginnings(text: str) -> set[str]:
    """The beginnings of the longer words of a text."""
    return {word[:_BEGINNING] for word in _fold_text(text).split() if len(word) >= _BEGINNING}


@functools.lru_cache(maxsize=4_000)
def required_beginnings(fact: str) -> frozenset[str]:
    """The beginnings of words that a text must have to say the fact again."""
    return frozenset(
        word[:_BEGINNING]
        for word in _fold_text(_dated.sub("", fact)).split()
        if len(word) >= _BEGINNING
        and word not in _word_lists()["small"]
        and word not in _word_lists()["person"]
    )


def _fold_text(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text[:_MAX_CHARACTERS]).replace("’", "'").casefold()
    return " ".join(word.partition("'")[0] for word in _word.findall(plain))


def names_successor(text: str, fact: str, instead: str) -> bool:
    """Whether a text has all that ``instead``, which holds in the place of ``fact``, says otherwise."""
    new = set(_analyse_clause(_dated.sub("", instead), "fact").stems) - set(
        _analyse_clause(fact, "fact").stems
    )
    return bool(new) and new <= _content_stems(text[:_MAX_CHARACTERS])


@functools.lru_cache(maxsize=200)
def _content_stems(text: str) -> frozenset[str]:
    return frozenset(map(_stem_word, _fold_text(text).split()))


def says_again(text: str, fact: str, *, by: str = "user") -> bool:
    """Whether a text says what ``fact`` says. ``by``: the role of who wrote the text."""
    analysed, many = _analyse_fact(fact)
    if len(analysed.stems) < _FEWEST or not _word_lists()["supposing"].isdisjoint(analysed.doubts):
        return False
    alike = _joined_clauses(text[:_MAX_CHARACTERS], by, many).get(
        (analysed.own, analysed.stems[0], analysed.stems[1]), ()
    )
    return any(_states_same(clause, analysed) for clause in alike)


def gives_value(text: str, fact: str, instead: str, *, by: str = "user") -> bool:
    """Whether a clause gives the names and numbers of ``fact`` for the same thing: it begins with the same word, has half
    of its other words, and up to the value no word that the fact has not. ``instead``: what holds now, "" for nothing; only
    names and numbers that it does not have count.
    """
    valued = _values_of_fact(_dated.sub("", fact))
    if valued is None:
        return False
    kept = set(_analyse_clause(_dated.sub("", instead), "fact").stems)
    values = valued.values - kept
    others = frozenset(stem for stem in valued.others if not instead or stem in kept)
    if not values or not others:
        return False
    return any(
        _gives_values(clause, valued.fact, values, others)
        for sentence, words in _sentences_with_words(text[:_MAX_CHARACTERS])
        if not words.isdisjoint(fact_values(fact))
        for clause in _clauses_of_sentence(sentence, by)
    )


def give_a_value(text: str, facts: Mapping[str, Mapping[str, str]], *, by: str = "user") -> set[str]:
    """The ids of those facts of which a text may give a value: ``gives_value`` tells, once it is known what holds now.

    ``facts``: by each word that is ``given``, by id.
    """
    found: set[str] = set()
    for sentence, words in _sentences_with_words(text[:_MAX_CHARACTERS]):
        for word in words & facts.keys():
            for id, fact in facts[word].items():
                valued = None if id in found else _values_of_fact(_dated.sub("", fact))
                if valued is not None and any(
                    _gives_values(clause, valued.fact, frozenset(), valued.others)
                    for clause in _clauses_of_sentence(sentence, by)
                ):
                    found.add(id)
    return found


class _FactValues(NamedTuple):
    """A fact with names and numbers (``values``) and ``others``, words that tell something, all stemmed."""

    fact: AnalysedClause
    values: frozenset[str]
    others: frozenset[str]


@functools.lru_cache(maxsize=4_000)
def fact_values(fact: str) -> frozenset[str]:
    """The names and numbers of a fact in small letters, and whatever else is written with a capital."""
    written = _word.findall(unicodedata.normalize("NFKC", fact).replace("’", "'"))
    return frozenset(
        word.partition("'")[0].casefold() for word in written[1:] if word[0].isupper() or word[0].isdigit()
    )


@functools.lru_cache(maxsize=200)
def _sentences_with_words(text: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """The sentences of a text, each with its words, folded to small letters."""
    return tuple((one, frozenset(_fold_text(one).split())) for one in _sentence.split(text) if one)


@functools.lru_cache(maxsize=2_000)
def _clauses_of_sentence(sentence: str, by: str) -> tuple[AnalysedClause, ...]:
    """The clauses of a sentence, each with the doubts of all."""
    clauses = [_analyse_clause(clause, by) for clause in _analyse_clauses(sentence)]
    doubts = frozenset().union(*(clause.doubts for clause in clauses))
    return tuple(clause._replace(doubts=doubts) for clause in clauses if clause.stems)


def _informative_stems(stems: Iterable[str]) -> frozenset[str]:
    return frozenset(stems) - _word_lists()["placing"] - _word_lists()["linking"]


@functools.lru_cache(maxsize=4_000)
def _values_of_fact(plain: str) -> _FactValues | None:
    """A fact as ``gives_value`` compares it. Its first word may have its capital for another reason."""
    fact = _analyse_clause(plain, "fact")
    named = fact_values(plain)
    values = {stem for word, stem in zip(fact.words[1:], fact.stems[1:], strict=True) if word in named}
    values -= set(fact.stems[:1])
    telling = _informative_stems(fact.stems)
    others = telling - values
    if not values or not others or fact.stems[0] not in telling:
        return None
    return (
        _FactValues(fact, frozenset(values), others)
        if _word_lists()["supposing"].isdisjoint(fact.doubts)
        else None
    )


def _gives_values(
    clause: AnalysedClause, fact: AnalysedClause, values: frozenset[str], others: frozenset[str]
) -> bool:
    """Whether a clause with the same subject and first word has all ``values`` and half of the ``others``."""
    if clause.own != fact.own or clause.stems[0] != fact.stems[0] or clause.doubts != fact.doubts:
        return False
    at = {stem: index for index, stem in enumerate(clause.stems)}
    if not values <= at.keys() or 2 * sum(stem in at for stem in others) < len(others):
        return False
    last = max((at[stem] for stem in values), default=0)
    if not _informative_stems(clause.stems[:last]) <= set(fact.stems):
        return False
    for index, stem in enumerate(fact.stems):
        if stem not in at:
            if stem[0].isdigit() and not values.isdisjoint(fact.stems[index:]):
                return False  # another number stands before the value
            continue
        mine = at[stem]
        if clause.words[mine].endswith("ed") != fact.words[index].endswith("ed"):
            return False
        if "'s" in (clause.after[mine], fact.after[index]) and clause.after[mine] != fact.after[index]:
            return False
        if stem in values and not _prepositions_agree(clause.before[mine], fact.before[index]):
            return False
    return True


def _prepositions_agree(mine: str, theirs: str) -> bool:
    """Whether two words before a value may say the same: "at", and none or "at", but not "near"."""
    placing = _word_lists()["placing"]
    return mine == theirs or mine not in placing or theirs not in placing


@functools.lru_cache(maxsize=4_000)
def _analyse_fact(fact: str) -> tuple[AnalysedClause, int]:
    """A fact as it is compared, and how many clauses it has."""
    plain = _dated.sub("", fact)
    return _analyse_clause(plain, "fact"), len(list(_analyse_clauses(plain)))


@functools.lru_cache(maxsize=200)
def _joined_clauses(text: str, by: str, many: int) -> dict[tuple[bool, str, str], list[AnalysedClause]]:
    """So many clauses of a text in a row, wherever they begin, by their subject and first words: each fact looks up its own."""
    clauses = list(_analyse_clauses(text))
    found: dict[tuple[bool, str, str], list[AnalysedClause]] = {}
    for start in range(len(clauses) - many + 1):
        clause = _analyse_clause(" ".join(clauses[start : start + many]), by)
        if len(clause.stems) >= _FEWEST:
            found.setdefault((clause.own, clause.stems[0], clause.stems[1]), []).append(clause)
    return found


def _states_same(clause: AnalysedClause, fact: AnalysedClause) -> bool:
    count = len(fact.stems)
    if clause.doubts != fact.doubts or clause.own != fact.own or clause.stems[:count] != fact.stems:
        return False
    if any(
        mine.endswith("ed") != theirs.endswith("ed")
        for mine, theirs in zip(clause.words, fact.words, strict=False)
    ):
        return False
    following = clause.after[count - 1]
    return not following or following in _word_lists()["may follow"]


def _analyse_clauses(text: str) -> Iterator[str]:
    for sentence in _sentence.split(text):
        parts = [part for part in _clause.split(sentence) if part and part.strip()]
        yield from parts[:-1] if sentence.rstrip("\"”»') ").endswith("?") else parts


@functools.lru_cache(maxsize=4_000)
def _analyse_clause(clause: str, by: str) -> AnalysedClause:
    listed = _word_lists()
    person = listed["person"] | (listed["addressed"] if by == "assistant" else frozenset())
    plain = unicodedata.normalize("NFKC", clause).replace("’", "'").casefold()
    found: list[str] = []
    for token in _word.findall(plain):
        if token.endswith("n't") or token == "cannot":
            found += [token.removesuffix("n't").replace("cannot", "can"), "not"]
            continue
        word, mark, rest = token.partition("'")
        found += [
            word,
            *([_short[rest]] if mark and rest in _short and rest != "s" else ["'s"] if mark else []),
        ]
    while found and found[0] in listed["before"]:
        del found[0]
    words, before, after = [], [], []
    for index, word in enumerate(found):
        if word in listed["small"] or word in person or word == "'s":
            continue
        words.append(word)
        before.append(found[index - 1] if index else "")
        after.append(found[index + 1] if index + 1 < len(found) else "")
    own = bool(found) and found[0] in person
    doubts = (listed["doubtful"] | listed["supposing"]) & set(found)
    return AnalysedClause(
        own, tuple(words), tuple(map(_stem_word, words)), tuple(before), tuple(after), doubts
    )


@functools.lru_cache(maxsize=10_000)
def _stem_word(word: str) -> str:
    return "".join(tokens.text_stems(word)) or word
