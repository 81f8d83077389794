"""A value that the person takes back a moment later: "Thursday at 6. No wait, Friday."

The correction often shares no word with what it corrects. It says so itself ("no wait", "I mean", "Quatsch", "miento"), it comes
right after, and it has another value of the same kind.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from pathlib import Path

from memtui.engine import word_lists

from .change_words import says_change, words_under
from .pair_features import Statement
from .similarity import tokens_as_written
from .statement_features import StatementFeatures, people_named
from .update_model import packaged_features
from .value_mentions import read_values

_BEFORE = 40  # characters before the statement in which the cue may stand
_WITHIN = 30  # of the statement itself
_LONGEST = 20_000  # characters of a message
MESSAGES_BACK = 2
LONG_BACK = 12
"""Messages before a value that stands alone, among which what it is said of may be."""
_MUCH_ELSE = 4
_KINDS = {"times": "time", "days": "day", "dates": "date", "amounts": "amount", "numbers": "number"}
_ALIKE = {"amounts": "numbers", "numbers": "amounts"}  # "13.50 an hour", then "no, 14"


def corrects_itself(content: str, message: str) -> bool:
    """Whether the person says, right before the content or as its first words, that they correct what they said."""
    plain = _plain_text(message[:_LONGEST])
    wanted = _plain_text(content)[:_WITHIN]
    at = plain.find(wanted)
    if at < 0:  # its first words were changed
        return _correction_cue().search(wanted) is not None
    return _correction_cue().search(plain[max(0, at - _BEFORE) : at + _WITHIN]) is not None


def is_value_alone(content: str) -> bool:
    """Whether it says of nothing named that it has another value now: "it's the 9th now"."""
    return says_change(content) and _begins_with_value(content)


def find_corrected_statement(
    new: Statement, earlier: Sequence[Statement], *, messages_back: int = MESSAGES_BACK
) -> tuple[int, str] | None:
    """Which of the earlier statements of the session it corrects (its index), and the kind of value; None where none is near.

    ``earlier``: in the order in which they were said.
    """
    if not new.session_id:
        return None
    mine = packaged_features(new.text)
    times = sorted({one.said_at for one in earlier if one.session_id == new.session_id} | {new.said_at})
    oldest = times[max(0, len(times) - 1 - messages_back)]
    near = [
        place
        for place, one in enumerate(earlier)
        if one.session_id == new.session_id and oldest <= one.said_at <= new.said_at
    ]
    for named in (True, False):  # "9:30, not 8:30" says which one
        for place in reversed(near):
            theirs = packaged_features(earlier[place].text)
            kind = _another_value(mine, theirs, named=named)
            if not kind or not _same_people(new.text, earlier[place].text):
                continue
            if named or set(mine.content) & set(theirs.content) or _begins_with_value(new.text):
                return place, kind
    return None


def says_much_else(new: str, old: str) -> bool:
    """Whether the old statement would lose more than a value if the new one replaced it."""
    mine, theirs = packaged_features(new), packaged_features(old)
    values = sum(map(len, theirs.values))
    return len(set(theirs.content) - set(mine.content)) > _MUCH_ELSE or values > 1


def _another_value(mine: StatementFeatures, theirs: StatementFeatures, *, named: bool) -> str:
    for kind, label in _KINDS.items():
        ours: frozenset[str] = getattr(mine.values, kind) - mine.negated_values
        known: frozenset[str] = getattr(theirs.values, kind)
        if not known and kind in _ALIKE:
            known = getattr(theirs.values, _ALIKE[kind])
        if not ours or not known or ours & known:
            continue
        if not named or known & mine.negated_values:
            return label
    return ""


def _begins_with_value(text: str) -> bool:
    """Whether nothing but a cue or a pronoun comes before the first value: "it's Friday", "make it 8,000"."""
    plain = _plain_text(text)
    spans = read_values(plain, tokens_as_written(plain)).spans
    if not spans:
        return False
    before = packaged_features(plain[: min(start for _, _, start, _ in spans)])
    return set(before.content) <= words_under("says a correction")


def _same_people(new: str, old: str) -> bool:
    """A correction need not name whom it is about. It names no other person, except one in the reason, after a comma."""
    return people_named(re.split(r"[,;(]|\b(?:because|cos|cause|weil|car|porque)\b", new)[0]) <= people_named(
        old
    )


@functools.lru_cache(maxsize=8)
def _plain_text(text: str) -> str:
    return " ".join(text.casefold().replace("’", "'").split())


@functools.cache
def _correction_cue() -> re.Pattern[str]:
    lines = word_lists.read_sections(Path(__file__).with_name("self_correction_cues.txt"))
    return re.compile(rf"(?<!\w)(?:{'|'.join(line for some in lines.values() for line in some)})(?!\w)")
