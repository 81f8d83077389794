"""Whether a statement says that an allergy or an intolerance is over, of which a known one tells: "not allergic any more".

Any allergy is told in the same words, so what both share is no word that says something. It is enough that the new one
names nothing else, or the same thing.
"""

from __future__ import annotations

from ..extract.severity import is_severe, names_allergy, says_allergy_is_over
from .change_words import words_under
from .compatible import are_different_people, subject_of
from .statement_features import people_named
from .update_model import packaged_features

OVER = "it says that this is over"


def ends_ailment(new: str, old: str) -> bool:
    """Whether ``new`` says that what harms somebody, by ``old``, does so no longer."""
    if not says_allergy_is_over(new) or says_allergy_is_over(old) or not is_severe(old):
        return False
    mine, theirs = subject_of(new), subject_of(old)
    named = people_named(new)
    if are_different_people(mine, theirs) or (named and theirs.own):
        return False
    if named and (known := people_named(old)) and named.isdisjoint(known):
        return False
    about = _things(new)
    return bool(about & _things(old)) if about else names_allergy(old)


def _things(text: str) -> frozenset[str]:
    """The stems of what an allergy is to."""
    features = packaged_features(text)
    general = words_under("health in general") | words_under("of a test")
    return frozenset(features.content) - features.people - general
