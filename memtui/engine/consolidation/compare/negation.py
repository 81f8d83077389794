"""Whether a statement says of something known that it is no longer so: "off warfarin", "Aisha took over deploys"."""

from __future__ import annotations

from ..extract.joined_statements import statements_in
from .change_words import CHANGES, CUES, words_under
from .similarity import tokens_as_written
from .update_model import packaged_features

_LITTLE_ELSE = 3


def denies_statement(new: str, old: str) -> bool:
    """Whether the new statement denies what the known one says ("off warfarin"), and the known one says little else."""
    mine, theirs = packaged_features(new), packaged_features(old)
    if mine.people != theirs.people:
        return False
    shared = set(mine.content).intersection(theirs.content)
    # "No ladders" and "I can't do ladders" both deny it.
    said = bool((mine.negated - theirs.negated).intersection(theirs.content)) or bool(
        mine.negated_values & theirs.spoken_values
    )
    return said and len(set(theirs.content) - shared) <= _LITTLE_ELSE


def negates_part(new: str, old: str) -> bool:
    """Whether the new statement denies one of several that the known one is made of."""
    parts = statements_in(old)
    return len(parts) > 1 and any(denies_statement(new, part) for part in parts)


def negates_all(new: str, old: str) -> bool:
    """Whether the new statement has all content words of the known one, and names once what it denies.

    "We dropped sqlite, sqlite stays for the cli" names it twice."""
    mine, theirs = packaged_features(new), packaged_features(old)
    return set(theirs.content) <= set(mine.content) and all(
        mine.content.count(stem) == 1 for stem in mine.negated
    )


def changes_hands(new: str) -> bool:
    """Whether the statement says that somebody took over from somebody else ("Aisha took over deploys")."""
    return bool(packaged_features(new).cues[CUES.index("replaced")])


def denies_alike(new: str, old: str) -> bool:
    """Whether one says "no nuts" and the other "allergic to nuts", and the new one says of no change."""
    mine, theirs = packaged_features(new), packaged_features(old)
    if any(mine.cues[:CHANGES]) or not set(mine.content) & set(theirs.content):
        return False
    first, second = _denies_without_not(new), _denies_without_not(old)
    if first == second:  # "not allergic to cats" denies "allergic to cats"
        return False
    return bool(theirs.negations if first else mine.negations)


def _denies_without_not(text: str) -> bool:
    return not words_under("deny without not").isdisjoint(map(str.casefold, tokens_as_written(text)))
