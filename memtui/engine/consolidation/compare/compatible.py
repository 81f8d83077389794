"""Two statements that can both be true whatever they have in common: of two people, or of two things that harm somebody.

"Tobi is allergic to cats" leaves my hazelnuts as they are, and a new school leaves the lactose where it was.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

from memtui.engine.models.ner import gazetteer

from ..extract.severity import is_severe
from .change_words import words_under
from .negation import changes_hands
from .similarity import tokens_as_written
from .statement_features import people_named
from .update_model import packaged_features
from .values import says_other_old_value, takes_back_value
from .vocabulary import SYNONYMS

_SELF = "\x00self"
_LEADING = 3  # words in which the subject stands
_AND = frozenset(("and", "und", "et", "y", "or", "&"))


class Subject(NamedTuple):
    """Of whom a statement is: the person, a relation of theirs, a name. All empty where it is of no person, or of several."""

    own: bool = False
    relation: str = ""
    name: str = ""


def are_compatible(new: str, old: str) -> bool:
    """Whether the two stand beside each other without doubt.

    Somebody whom the new one only mentions ("on the 17th because Priya is away") is not what it is about.
    """
    if says_other_old_value(new, old):
        return True
    mine, theirs = subject_of(new), subject_of(old)
    shared = _shared_stems(new, old)
    if is_severe(new) or (is_severe(old) and not takes_back_value(new, old)):
        return are_different_people(mine, theirs) or not shared
    named = people_named(new) & people_named(old)
    if are_different_people(mine, theirs) and named.isdisjoint((*mine[1:], *theirs[1:])):
        return not (shared and changes_hands(new))
    # Of two people who begin it, it is about both ("Tom and Aisha is the 21st now").
    return bool(named) and not shared and named.isdisjoint((*mine[1:], *_leading_people(new)))


def may_be_of_one(new: str, old: str) -> bool:
    """Whether nothing in a statement says that it is of somebody or something else: it names nobody first, or whom the known one
    is about, and no other old value."""
    if says_other_old_value(new, old):
        return False
    mine, theirs = subject_of(new), subject_of(old)
    if mine.relation or mine.name:
        return False
    if are_different_people(mine, theirs):
        return not {*theirs[1:]}.isdisjoint(people_named(new))
    return not people_named(new) - people_named(old)


def _leading_people(text: str) -> frozenset[str]:
    """The people among its first words, where two are joined."""
    words = tokens_as_written(text)[: _LEADING + 1]
    return frozenset() if _AND.isdisjoint(map(str.casefold, words)) else people_named(" ".join(words))


def _shared_stems(new: str, old: str) -> frozenset[str]:
    """The stems that both have: no people, and not what is said of any ailment."""
    mine, theirs = packaged_features(new), packaged_features(old)
    both = frozenset(mine.content) & frozenset(theirs.content)
    return both - mine.people - theirs.people - words_under("health in general")


def are_different_people(mine: Subject, theirs: Subject) -> bool:
    """A relation and a name may be one person; two relations, two names, and the person beside another one are not."""
    if mine.own or theirs.own:
        return mine.own != theirs.own and any((*mine, *theirs[1:])) and any((*mine[1:], *theirs))
    if mine.name and theirs.name:
        return mine.name != theirs.name
    return bool(mine.relation and theirs.relation) and mine.relation != theirs.relation


@functools.lru_cache(maxsize=2048)
def subject_of(text: str) -> Subject:
    """Whom a statement is about, by its first words."""
    words = [word.casefold() for word in tokens_as_written(text)[: _LEADING + 1]]
    if not words or not _AND.isdisjoint(words):
        return Subject()
    name = relation = ""
    for word in words[:_LEADING]:
        bare = SYNONYMS.get(word.removesuffix("'s"), word.removesuffix("'s"))
        if not relation and not name and (word in words_under("people") or bare in words_under("people")):
            relation = bare
        elif not name and gazetteer.is_given_name(bare):
            name = bare
        elif word not in words_under("self"):
            break
    own = words[0] in words_under("speakers") | words_under("verbs of the person") and not (relation or name)
    return Subject(own, relation, name)
