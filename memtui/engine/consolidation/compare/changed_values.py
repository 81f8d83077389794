"""What two statements have in common, and which values differ: "Labo donne 700 euros", "Labo a monté à 950"."""

from __future__ import annotations

from ..extract.severity import severe
from .change_words import CHANGES, CUES
from .statement_features import StatementFeatures
from .update_model import packaged_features


def sets_another_value(new: str, old: str) -> bool:
    """Whether both speak of the same thing, and the new one gives it another time, day, date or amount."""
    mine, theirs = packaged_features(new), packaged_features(old)
    shared = (set(mine.content) & set(theirs.content)) - mine.people - theirs.people
    ours, known = _by_kind(mine), _by_kind(theirs)
    both = [(one, another) for one, another in zip(ours, known, strict=True) if one and another]
    return bool(shared and both) and all(one.isdisjoint(another) for one, another in both)


def says_change(text: str) -> bool:
    """Whether it says that something changed: "now", "moved to", "went up to"."""
    return any(packaged_features(text).cues[:CHANGES])


def shares_words(new: str, old: str) -> bool:
    """Whether both have a word that says something."""
    return not set(packaged_features(new).content).isdisjoint(packaged_features(old).content)


def begin_alike(new: str, old: str) -> bool:
    """Whether both begin with the same word that says something: "Rate goes to 92", "Rate at bluebell 85"."""
    mine, theirs = packaged_features(new), packaged_features(old)
    return mine.content[:1] == theirs.content[:1] != () and not {*mine.content[:1]} & (
        mine.people | theirs.people
    )


def permits_again(new: str, old: str) -> bool:
    """Whether the new statement says "again", or that somebody is well, of what the known one denies or calls ill."""
    again = packaged_features(new).cues[CUES.index("again")]
    return bool(again) and (bool(packaged_features(old).negations) or severe(old))


def takes_back_value(new: str, old: str) -> bool:
    """Whether the new statement says of a value of the known one that it is another now: "60 went to 75"."""
    mine, theirs = packaged_features(new), packaged_features(old)
    return any(mine.negated_values & values for values in theirs.values)


def _by_kind(features: StatementFeatures) -> list[frozenset[str]]:
    times, days, dates, amounts, numbers = features.values
    return [times, days, dates, amounts | numbers]
