"""A dose without the name of its medicine ("now it's 75 mcg"): which known medicines it may be of.

With one known medicine of that person and unit the dose is of that one. With several nobody can tell, so they are all offered.
"""

from __future__ import annotations

import re

from ..extract.severity import names_medicine
from .change_words import words_under
from .compatible import are_different_people, subject_of
from .look_alikes import looks_like_one
from .statement_features import people_named
from .update_model import packaged_features

DOSE = "a different dose"
_dose = re.compile(
    r"(?<![\w.,])(?P<amount>\d+(?:[.,]\d+)?) ?(?P<unit>mg|mcg|µg|μg|ug|iu|units|einheiten|unidades)(?!\w)"
)
_UNITS = {"µg": "mcg", "μg": "mcg", "ug": "mcg", "einheiten": "iu", "unidades": "iu", "units": "iu"}


def is_dose_alone(text: str) -> bool:
    """Whether it says a dose, and names nothing that it could be of."""
    if len(_doses(text)) != 1:
        return False
    features = packaged_features(text)
    said = frozenset(features.content) - features.people - words_under("health in general")
    return not {stem for stem in said if not any(sign.isdigit() for sign in stem)} - words_under("of a dose")


def may_be_dose_of(new: str, old: str) -> bool:
    """Whether ``new``, a dose alone, may be that of the medicine which ``old`` tells, of the same person."""
    if not names_medicine(old) or looks_like_one(new, old):
        return False
    mine, theirs = subject_of(new), subject_of(old)
    named, known = people_named(new), people_named(old)
    if are_different_people(mine, theirs) or (named and not named & known):
        return False
    if not (named or mine.relation) and (known or theirs.relation):
        return False  # nobody is named: it is the person's own
    ours, before = _doses(new), _doses(old)
    return not before or (not ours & before and {unit for _, unit in ours} <= {unit for _, unit in before})


def _doses(text: str) -> frozenset[tuple[str, str]]:
    """The amounts and units in a text."""
    return frozenset(
        (match["amount"].replace(",", "."), _UNITS.get(match["unit"], match["unit"]))
        for match in _dose.finditer(text.casefold())
    )
