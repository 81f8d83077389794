"""Does the person state this of themselves? For what is drawn from their words and may carry their trust.

Word by word, in the third person. A word that is left out can turn the meaning: if, may, no longer, my brother.
So every word counts but the few that never do; what is put in other words is not taken for theirs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .similarity import tokens_as_written
from .vocabulary import DEPENDENT, EMPTY_WORDS, NUMBER_WORDS

_SELF, _OWN, _NOT = "\x00self", "\x00own", "\x00not"
_SPEAKER = frozenset(("i", "me", "we", "us"))
_SPEAKERS_OWN = frozenset(("my", "mine", "our", "ours"))
_OTHERS_OWN = frozenset(("his", "her", "their"))
_OTHERS = _OTHERS_OWN | {"he", "him", "she", "they", "them", "theirs", "hers"}
_FULL = {"can't": "can", "cannot": "can", "won't": "will", "shan't": "shall", "has": "have"}
_SHORT = {"'m": "am", "'re": "are", "'ve": "have", "'ll": "will", "'d": "would"}
_third_person = re.compile(r"(?<=[sxzo])es$|(?<=[cs]h)es$|(?<=\w\w[^s\W])s$")
_and_i = re.compile(r"(?:[,;]\s*(?:and|but)|;|\s(?:and|but))\s+(?=(?:I|we)\b)")


def states_claim(sentence: str, claim: str) -> bool:
    """Whether the sentence, or a clause of it that stands alone, is this claim."""
    wanted = list(_content_words(claim.replace("’", "'"), third_person=True))
    return any(
        said in (wanted, [_SELF, *wanted], _restates_first_person(wanted, said))
        for said in (list(_content_words(clause)) for clause in _split_clauses(sentence))
        if said
    )


def _split_clauses(sentence: str) -> list[str]:
    parts = _and_i.split(sentence)
    words = [[word.casefold() for word in tokens_as_written(part)] for part in parts]
    alone = all(
        clause
        and _as_self_reference(clause[0])
        and sum(map(_as_self_reference, clause)) == 1
        and DEPENDENT.isdisjoint(clause)
        for clause in words
    ) and not any(_NOT in _content_words(part) for part in parts[:-1])
    return [sentence, *parts] if alone else [sentence]


def _as_self_reference(word: str) -> bool:
    return word.partition("'")[0] in _SPEAKER


def _restates_first_person(wanted: list[str], said: list[str]) -> list[str]:
    """ "The user loves their job" for "I love my job": no other person is mentioned."""
    if said[0] != _SELF or not _OTHERS.isdisjoint(said):
        return wanted
    return [_SELF, *(_OWN if word in _OTHERS_OWN else word for word in wanted if word != _SELF)]


def _content_words(text: str, *, third_person: bool = False) -> Iterator[str]:
    """``third_person``: the text speaks of the person as "the user"."""
    for token in tokens_as_written(text):
        word = token.casefold()
        if third_person and word in ("user", "user's"):
            yield _OWN if word.endswith("'s") else _SELF
        elif word in _SPEAKERS_OWN:
            yield _OWN
        elif word == "not":
            yield _NOT
        elif word.endswith("n't") or word == "cannot":
            yield from _strip_verb_ending(_FULL.get(word, word.removesuffix("n't")))
            yield _NOT
        else:
            bare, mark, short = word.partition("'")
            full = _SHORT.get(mark + short)
            yield from _strip_verb_ending(word if full is None else bare)
            if full:
                yield from _strip_verb_ending(full)


def _strip_verb_ending(word: str) -> Iterator[str]:
    """Without the ending of the third person; nothing for an empty word."""
    word = _FULL.get(word, word)
    if word in _SPEAKER:
        yield _SELF
    elif word not in EMPTY_WORDS:
        yield NUMBER_WORDS.get(word) or _third_person.sub("", re.sub(r"(?<=\w\w)ies$", "y", word))
