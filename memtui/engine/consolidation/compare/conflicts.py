"""How a new statement relates to what is known: the same, a contradiction, or beside it.

A contradiction is only worth a person's time where one of the two can be wrong. Liking tea does not
contradict liking coffee; living in Oslo does contradict living in Bergen.
"""

from __future__ import annotations

import math
from typing import Literal

from msgspec.structs import replace

from memtui.engine.records import MemoryRecord, Record, is_trusted_less

from ..extract.joined_statements import statements_in, without_date
from ..extract.severity import is_severe
from .change_words import says_addition, says_change
from .compatible import are_compatible, may_be_of_one
from .ended_ailment import OVER, ends_ailment
from .life_changes import changes_life
from .look_alikes import looks_like_one
from .negation import denies_alike, denies_statement, negates_all, negates_part
from .similarity import AnalysedText, analyse_statement, compare_analysed
from .slots import contested_slot, moves_home, names_role
from .statement_features import people_named
from .values import (
    another_value,
    begin_with_same_word,
    lifts_denial,
    sets_another_value,
    shares_words,
)
from .vocabulary import SEVERAL_AT_ONCE

# In a run so many facts, or this share of them if that is more, may be superseded without being asked, as with the
# cap of fading; the rest waits in Review.
MOST_SUPERSEDED = 10
SUPERSEDED_SHARE = 0.02
SUPERSEDED_CONFIDENCE = 0.3
SUPERSEDED_DECAY = 0.5
_CLOSE = 0.6
# Log-odds of the ``update_model``: from here it is worth a card; if it says what is no longer so; if it sets another value,
# and says so or not; though it says "also"; and nobody is asked.
# What rules alone hold for a conflict needs less, and is none where it is said to be far from one.
REPLACES = 1.0
_NAMED = 0.0
_NAMED_IN_PART = -1.0
_SET, _SET_ALIKE, _SET_SILENTLY, _PERMITTED = 0.5, -0.5, 1.3, 0.7
# Of all that is known the likeliest, where the new one says of a change, or shares a word with it: a card costs less than a
# value that stands though it is over.
_LIKELIEST, _LIKELIEST_SILENTLY = -0.3, 0.3
MANY_KNOWN = 8
"""Among so many known facts it means something to be the likeliest."""
_MORE_AMONG_FEW = 1.1
_CERTAINLY = 4.0
_CLEARLY = 1.5
_SURELY = 2.0
# What only sounds changed is often another fact than the likeliest; not from here on, or if it says what is no longer so.
_PLAINLY, _PLAINLY_NAMED = 3.5, 1.0
_HARDLY = -1.0
# A person has only one of these; a later one replaces it.
_GROWS = "age"
CHANGED = "it may have changed since"
CHANGED_IN_PART = f"{CHANGED}, by one part of this"


class Relation(Record):
    """``strong``: beyond doubt that the new one replaces the old one, if it is the later of the two."""

    kind: Literal["duplicate", "conflict", "beside"]
    reason: str = ""
    strong: bool = False
    score: float = 0.0


def relation_between(
    new: str,
    old: str,
    *,
    correcting: bool = False,
    judged: float | None = None,
    likeliest: bool = False,
    among_many: bool = False,
) -> Relation:
    """``correcting``: the new one says of itself that something has changed. ``judged``: the score of ``update_model``, if any;
    ``likeliest``: of all that is known, no other has a higher one; ``among_many``: it was compared with MANY_KNOWN or more.

    What is said of somebody replaces nothing that was said of somebody else beyond doubt. The day on which something was said
    is no part of it; but "next Saturday", said on another day, may be another Saturday.
    """
    said, known = without_date(new), without_date(old)
    found = _relation_by_rules(said, known, correcting, judged, among_many)
    if found.kind == "duplicate" and said != new and known != old and new[len(said) :] != old[len(known) :]:
        return Relation(kind="beside", score=found.score)
    if likeliest and found.kind == "beside" and _may_replace_likeliest(said, known, correcting, judged):
        found = Relation(kind="conflict", reason=CHANGED, score=1 / (1 + math.exp(-(judged or 0.0))))
    return (
        replace(found, strong=False) if found.strong and people_named(said) != people_named(known) else found
    )


def _relation_by_rules(
    new: str, old: str, correcting: bool, judged: float | None, among_many: bool
) -> Relation:
    mine, theirs = analyse_statement(new), analyse_statement(old)
    verdict = compare_analysed(mine, theirs)
    if verdict.kind == "duplicate":
        return Relation(kind="duplicate", reason=verdict.reasons[0], score=verdict.score)
    if says_addition(new) and (
        is_severe(new)  # one more allergy never takes the place of another
        or not (judged is not None and judged >= _CERTAINLY and sets_another_value(new, old))
    ):
        return Relation(kind="beside", score=verdict.score)
    if ends_ailment(new, old):
        return Relation(kind="conflict", reason=OVER, score=max(verdict.score, _CLOSE))
    slot = contested_slot(new, old)
    if slot is not None:
        return Relation(
            kind="conflict", reason=f"a different {slot}", strong=_surely_replaces(slot, new, old, correcting),
            score=max(verdict.score, _CLOSE),
        )  # fmt: skip
    if reason := changes_life(new, old):
        return Relation(kind="conflict", reason=reason, score=max(verdict.score, _CLOSE))
    if correcting and (reason := another_value(new, old)):
        return Relation(kind="conflict", reason=reason, strong=True, score=max(verdict.score, _CLOSE))
    if looks_like_one(new, old) or (
        are_compatible(new, old) and not _score_outweighs_words(new, old, judged)
    ):
        return Relation(kind="beside", score=verdict.score)
    if denies_alike(new, old):
        return Relation(kind="beside", score=verdict.score)
    doubtful = judged is not None and judged < _HARDLY
    if verdict.kind == "conflict" and _cannot_both_be_true(mine, theirs, verdict.score) and not doubtful:
        return Relation(
            kind="conflict", reason="; ".join(verdict.reasons), score=verdict.score,
            strong=correcting and mine.denials != theirs.denials,
        )  # fmt: skip
    if judged is not None and judged >= _SET_ALIKE:
        named = judged >= _NAMED and denies_statement(new, old)
        if (
            named
            or judged >= _card_threshold(new, old, correcting, among_many)
            or _has_new_value(new, old, judged, correcting)
        ):
            return Relation(
                kind="conflict", reason=CHANGED, score=1 / (1 + math.exp(-judged)),
                strong=judged >= _SURELY and correcting and named and negates_all(new, old),
            )  # fmt: skip
    if judged is not None and judged >= _NAMED_IN_PART and negates_part(new, old):
        return Relation(kind="conflict", reason=CHANGED, score=1 / (1 + math.exp(-judged)))
    return Relation(kind="beside", score=verdict.score)


def _score_outweighs_words(new: str, old: str, judged: float | None) -> bool:
    """Whether the score says more than that no word is shared: "I eat chicken again", of a vegetarian."""
    return judged is not None and judged >= _CLEARLY and may_be_of_one(new, old)


def _may_replace_likeliest(new: str, old: str, correcting: bool, judged: float | None) -> bool:
    """Whether the new one may replace what is likeliest to be replaced by it."""
    if (
        judged is None
        or judged < _LIKELIEST
        or says_addition(new)
        or (are_compatible(new, old) and not _score_outweighs_words(new, old, judged))
        or denies_alike(new, old)
        or looks_like_one(new, old)
    ):
        return False
    return correcting or says_change(new) or (judged >= _LIKELIEST_SILENTLY and shares_words(new, old))


def _card_threshold(new: str, old: str, correcting: bool, among_many: bool) -> float:
    """The score from which a card is worth it: higher where another value is all that speaks for a change, or where few
    other statements could have been the likelier one."""
    if correcting or says_change(new):
        return REPLACES
    least = _SET_SILENTLY if sets_another_value(new, old) else REPLACES
    return least if among_many else least + _MORE_AMONG_FEW


def _has_new_value(new: str, old: str, judged: float, correcting: bool) -> bool:
    """Whether the same thing has another value, more likely than not, or said to have changed; or is allowed again."""
    if judged >= _PERMITTED and lifts_denial(new, old):
        return True
    if not (correcting or says_change(new)):
        return False
    return judged >= (_SET_ALIKE if begin_with_same_word(new, old) else _SET) and sets_another_value(new, old)


def is_plain_change(new: str, old: str, score: float | None) -> bool:
    """Whether it is plain which known fact a changed statement is about, so that no other one needs to be offered."""
    if score is None:
        return False
    return score >= _PLAINLY or (score >= _PLAINLY_NAMED and denies_statement(new, old))


def takes_back(new: str, old: str, score: float | None) -> bool:
    """Whether what says that something changed may be about what was said before it in the same conversation."""
    if score is None:
        return False
    return score >= REPLACES or (
        score >= _SET_ALIKE and begin_with_same_word(new, old) and sets_another_value(new, old)
    )


def _surely_replaces(slot: str, new: str, old: str, correcting: bool) -> bool:
    """Whether what fills a slot is beyond doubt in the place of what filled it before."""
    if names_role(new) or names_role(old):
        return False  # two people may share what one had: only the person knows
    if slot == "home":
        return correcting and moves_home(new, old)  # one may live in Berlin and in Germany
    return correcting or slot == _GROWS


def _cannot_both_be_true(mine: AnalysedText, theirs: AnalysedText, score: float) -> bool:
    """Of the candidates, those where both cannot be true."""
    if mine.denials != theirs.denials:
        return True
    only_mine, only_theirs = set(mine.content) - set(theirs.content), set(theirs.content) - set(mine.content)
    if not (only_mine or only_theirs):
        return bool(mine.numbers - theirs.numbers) and bool(theirs.numbers - mine.numbers)
    return score >= _CLOSE and SEVERAL_AT_ONCE.isdisjoint(set(mine.content) & set(theirs.content))


def both_may_be_true(new: MemoryRecord, old: MemoryRecord, reason: str) -> bool:
    """Whether two statements about health may hold beside each other: nothing says that one ended the other."""
    health = "health" in (new.topic, old.topic)
    return health and reason.startswith(CHANGED) and not denies_statement(new.content, old.content)


def may_supersede(
    old: MemoryRecord, *, trust_of_new: str, said_at: int, strong: bool, supersedes_left: int, claimed: bool = False,
    same_talk: bool = False,
) -> str:  # fmt: skip
    """Empty when a new fact may replace ``old`` without asking; else why the person is asked.

    ``same_talk``: the person said both in one conversation, and takes the first back there."""
    if old.protected:
        return "the old one is confirmed"
    if old.topic == "health":
        return "it is about somebody's health"
    if is_trusted_less(trust_of_new, old.trust):
        return "the source of the old one is trusted more"
    if claimed:
        return "only an agent says that you said this"
    if said_at < old.event_time:
        return "the new one was said before the old one"
    if not strong:
        return "both may be true"
    if old.trust == "user" and not same_talk:
        return "you said the old one in another conversation"
    if supersedes_left <= 0:
        return "many facts were replaced at once already, so this one is asked"
    return ""


def supersede_cap(facts: int) -> int:
    """How many facts a run may supersede by itself where there are so many active ones when it begins."""
    return max(MOST_SUPERSEDED, int(SUPERSEDED_SHARE * facts))


_COVERED = 0.6


def left_over(old: str, new: str) -> str:
    """The statements of ``old`` that ``new`` is not about; empty where it has one statement, or ``new`` says them as well."""
    parts = statements_in(old)
    if len(parts) < 2:
        return ""
    said = frozenset(analyse_statement(new).content)
    shared = [len(said & frozenset(analyse_statement(part).content)) for part in parts]
    replaced = shared.index(max(shared))
    left = []
    for place, part in enumerate(parts):
        words = frozenset(analyse_statement(part).content)
        if place != replaced and words and len(words & said) < _COVERED * len(words):
            left.append(part)
    return "; ".join(left)
