"""What happens once and is true ever after: a cat adopted, a house bought, a job left; what a team settled on.

Such a sentence may well say "yesterday": it is kept with its date.
"""

from __future__ import annotations

import re
from pathlib import Path

from memtui.engine import word_lists
from memtui.engine.models.ner.gazetteer import is_given_name

from .statement_shapes import FAMILY

_LIST = Path(__file__).with_name("events.txt")


_LIFE = re.compile(word_lists.read_expression(_LIST, "life"))
# With a name after it, which only its capital tells.
_NAMED_LIFE = re.compile(word_lists.read_expression(_LIST, "named life"))
_SOMEBODYS = re.compile(word_lists.read_expression(_LIST, "somebodys"))
_RELATIVES = re.compile(rf"(?:my|our) (?:[\w-]+ )?{FAMILY} (?:[a-z]+ )??{_SOMEBODYS.pattern}")
_PUT_TO_USE = re.compile(word_lists.read_expression(_LIST, "put to use"))
_USED_BY_NAME = re.compile(
    r"We (?:now |all |also )?use [A-Z][\w.+#-]*(?:(?:,| and|, and) [A-Z][\w.+#-]*)*[.!]*$"
)
_SWITCHED = re.compile(word_lists.read_expression(_LIST, "switched"))
MOMENT = re.compile(r"\b(?:today|tonight|this (?:morning|afternoon|evening)|yesterday|last night)\b")
_UNDONE = re.compile(
    r"\b(?:almost|nearly|never|in (?:my|the) (?:dream|game|book|novel|story)|fell through)\b"
)


def life_event(text: str, plain: str) -> bool:
    """Whether it tells what has changed for good in the person's life."""
    if _UNDONE.search(plain):
        return False
    return bool(_LIFE.match(plain) or _NAMED_LIFE.match(text))


def family_event(text: str, plain: str) -> bool:
    """The same of one of the family, or of somebody called by what is a first name beyond doubt."""
    if _UNDONE.search(plain):
        return False
    first = re.match(r"([A-Z][^\W\d_]+) ", text)
    if first is not None and is_given_name(first[1].casefold()) and _SOMEBODYS.match(plain, first.end()):
        return True
    return _RELATIVES.match(plain) is not None


def team_decision(text: str, plain: str) -> bool:
    """Whether it tells what the person's team works with."""
    return bool(_PUT_TO_USE.match(plain) or _USED_BY_NAME.match(text) or _SWITCHED.match(plain))
