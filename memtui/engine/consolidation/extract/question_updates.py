"""What a question says before it asks: "now that I live in Leeds, which gyms are near?" changes where the person lives.

It is kept only where it changes a known fact: what a question says on the way is seldom worth keeping by itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from memtui.engine import word_lists

from .filler import filler_length
from .sentences import Sentence
from .statement_shapes import CORRECTING
from .statements import HEDGED, RELATIVE, Statement, plain_text

_LIST = Path(__file__).with_name("question_updates.txt")
_FEWEST_WORDS, _LONGEST = 3, 160
_said_first = re.compile(
    rf"(?:(?P<changed>{word_lists.read_expression(_LIST, 'changed')})|{word_lists.read_expression(_LIST, 'so')})(?:(?<=')|\s+)"
    rf"(?P<statement>[^\W\d_].{{6,{_LONGEST}}}?),\s+(?:then )?(?:{word_lists.read_expression(_LIST, 'asks')})\b",
    re.IGNORECASE,
)


def updates_in_questions(
    message: Sequence[Sentence], stated: Mapping[int, Sequence[Statement]]
) -> dict[int, list[Statement]]:
    """By the place of its sentence what a question says first, and no statement tells yet."""
    found: dict[int, list[Statement]] = {}
    for index, sentence in enumerate(message):
        masked = sentence.masked.replace("’", "'")
        said = _said_first.match(masked, filler_length(masked))
        if said is None or "\x00" in said["statement"]:
            continue
        text = sentence.text[said.start("statement") : said.end("statement")]
        known = " ".join(one.text for one in stated.get(index, ())).casefold()
        if len(text.split()) < _FEWEST_WORDS or text.casefold() in known:
            continue
        plain = plain_text(text)
        found[index] = [
            Statement(
                text=text[:1].upper() + text[1:], tags=(), confidence=HEDGED,
                correcting=said["changed"] is not None or CORRECTING.search(plain) is not None,
                dated=RELATIVE.search(plain) is not None,
            )
        ]  # fmt: skip
    return found
