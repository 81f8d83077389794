"""Whether a statement says that an ailment is over, of which a known one tells: "not allergic any more", "cleared for gluten".

Any allergy is told in the same words, so what both share is no word that says something. It is enough that the new one
names nothing else, or the same thing. Where it names no allergy, it has to name the same thing.
"""

from __future__ import annotations

import re

from ..extract.severity import is_severe, names_allergy, says_allergy_is_over, says_cleared
from .change_words import same_things, words_under
from .compatible import are_different_people, subject_of
from .statement_features import people_named
from .update_model import packaged_features

OVER = "it says that this is over"
_ailment = re.compile(r"(?:allerg|intoler|unvertraglich)[a-z]*$")  # "Nussallergie"
_SHORTEST_PART = 3  # "nut" in "walnut"


def ends_ailment(new: str, old: str) -> bool:
    """Whether ``new`` says that what harms somebody, by ``old``, does so no longer."""
    over = says_allergy_is_over(new)
    if not (over or says_cleared(new)) or says_allergy_is_over(old) or not is_severe(old):
        return False
    mine, theirs = subject_of(new), subject_of(old)
    named = people_named(new)
    if are_different_people(mine, theirs) or (named and theirs.own):
        return False
    if named and (known := people_named(old)) and named.isdisjoint(known):
        return False
    about = _things(new)
    return _share_thing(about, _things(old)) if about or not over else names_allergy(old)


def _things(text: str) -> frozenset[str]:
    """The stems of what an allergy is to."""
    features = packaged_features(text)
    general = words_under("health in general") | words_under("of a test")
    stems = frozenset(features.content) - features.people - general
    return frozenset(bare for stem in stems if (bare := _ailment.sub("", stem)))


def _share_thing(mine: frozenset[str], theirs: frozenset[str]) -> bool:
    """Whether both name one thing, be it that one names a kind of it: "nut" and "walnut", "gluten" and "coeliac"."""
    return any(
        _is_part(*sorted((one, other), key=len))
        or any(one in group and other in group for group in same_things())
        for one in mine
        for other in theirs
    )


def _is_part(short: str, long: str) -> bool:
    """Whether a stem is another one, or its end ("nut", "walnut"), or is only written shorter ("laktos", "laktose")."""
    if len(short) < _SHORTEST_PART:
        return short == long
    return long.endswith(short) or (long.startswith(short) and len(long) - len(short) == 1)
