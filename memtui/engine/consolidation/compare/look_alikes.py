"""Statements that look like a change and are none: questions, exceptions, hearsay, what is said of somebody else, and what says
the same again.

The ``update_model`` judges by likeness; these rules say no, for a card that asks for nothing costs a person's time.
"""

from __future__ import annotations

from .change_words import CHANGES, cue_phrases
from .compatible import subject_of
from .life_changes import ends_belonging
from .statement_features import StatementFeatures, people_named
from .update_model import packaged_features

_SHORT_WORD = 3  # letters


def looks_like_one(new: str, old: str) -> bool:
    """Whether ``new`` changes nothing about ``old`` without doubt, however much it sounds like it."""
    plain = " ".join(new.casefold().replace("’", "'").split())
    return (
        any(cue_phrases(heading).search(plain) for heading in ("asked", "exception", "hearsay", "not quite"))
        or ends_belonging(new, old)
        or _is_about_others(new, old, plain)
        or _repeats_statement(packaged_features(new), packaged_features(old))
    )


def _is_about_others(new: str, old: str, plain: str) -> bool:
    """Whether it is said of somebody whom the known statement does not name."""
    if found := cue_phrases("of others").match(plain):
        in_law = "law" in found[0] and "law" not in old.casefold()
        if in_law or " other " in found[0] or "'s " in found[0]:  # Noelle's friend is not Noelle
            return True
        different_people = people_named(old).isdisjoint(people_named(new[: found.end()]))
        return different_people and not (
            len(last := found[0].split()[-1]) > _SHORT_WORD and last in old.casefold()
        )
    who = subject_of(new)
    named = who.name or who.relation
    return bool(named and not people_named(old) and cue_phrases("theirs").search(plain))


def _repeats_statement(new: StatementFeatures, old: StatementFeatures) -> bool:
    """Whether it names all that the known one names, with no other value, nobody new, and no word of a change."""
    if new.negated & set(old.content) or new.negated_values & old.spoken_values:
        return False
    pairs = list(zip(new.values, old.values, strict=True))
    if any(known and not known & mine for mine, known in pairs) or any(new.cues[:CHANGES]):
        return False
    if any(known for _, known in pairs):
        return True
    return bool(old.names) and old.names <= set(new.content) and not new.names - old.names
