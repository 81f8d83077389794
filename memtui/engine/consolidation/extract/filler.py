"""What people type around a statement and nobody needs in a fact: greetings, laughter, "by the way", smileys."""

from __future__ import annotations

import re
from pathlib import Path

from memtui.engine import word_lists

_LIST = Path(__file__).with_name("filler.txt")

_WORD = rf"(?:{word_lists.read_expression(_LIST, 'WORD')})"
_REMEMBER = r"(?:please )?remember(?: that)?(?= (?:i|i'm|we|we're|my|our)\b)"
_lead = re.compile(rf"(?:(?:{_WORD}|{_REMEMBER})(?:\s*[,:;.!…–—-]+\s*|\s+(?=\S)))+", re.IGNORECASE)
_tail = re.compile(word_lists.read_expression(_LIST, "tail"), re.IGNORECASE)
_joins = re.compile(r"[\s,]+(?:and|but|so|or|because|though|tho|und|et|y|pero)[\s,.]*$", re.IGNORECASE)
_inside = re.compile(
    r",? (?:btw|by the way|lol|haha+|jaja+)\b(?=,|\s|$)|\s?[\U0001f300-\U0001faff\u2600-\u27bf\ufe0f]\u200d?",
    re.IGNORECASE,
)
# "as I'm on warfarin": the reason stands alone.
_reason = re.compile(word_lists.read_expression(_LIST, "reason"), re.IGNORECASE)
_SHORTEST_WORD = 3  # letters that say something
_CORRECTS = re.compile(r"\b(?:no|wait|actually|correction|nein|non|perdón|scrap|hang on)\b", re.IGNORECASE)


def filler_length(text: str) -> int:
    """How many characters of filler begin the text; never all of it."""
    match = _lead.match(text)
    return match.end() if match and match.end() < len(text) else 0


def begins_with_retraction(text: str) -> bool:
    """Whether the text begins by taking something back: "wait no, ...", "actually, ..."."""
    return _CORRECTS.search(text[: filler_length(text)]) is not None


def is_retraction(text: str) -> bool:
    """Whether the text only takes something back: "No wait."."""
    return (
        _CORRECTS.search(text) is not None and len(_CORRECTS.sub("", text).strip(" ,.!…-–—")) < _SHORTEST_WORD
    )


def without_filler(text: str) -> str:
    """The statement itself, beginning with a capital, without its final stop."""
    text = without_reason(_joins.sub("", without_asides(text[filler_length(text) :])).strip(" ,;–—-"))
    return text[:1].upper() + text[1:]


def without_reason(text: str) -> str:
    """Without the "as" or "because" that hangs it on something else."""
    return _reason.sub("", text, count=1)


def without_asides(text: str) -> str:
    """Without laughter, smileys and "by the way" inside it and at its end."""
    return " ".join(_tail.sub("", _inside.sub("", text)).split())
