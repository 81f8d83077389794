"""The result of a test, or that somebody may have something again: "allergy test today: negative", "cleared for gluten again".

It is kept only where it changes a known fact. It is read as a whole sentence, for its clauses alone say neither what was
tested nor what came of it, with the sentence before it where that says what was tested.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .exclusions import is_hypothetical
from .filler import without_filler
from .sentences import Sentence
from .severity import says_result
from .statements import HEDGED, RELATIVE, Statement, plain_text

_LONGEST = 200
_LONGEST_ALONE = 60


def results_in_message(
    message: Sequence[Sentence], stated: Mapping[int, Sequence[Statement]]
) -> dict[int, list[Statement]]:
    """By the place of its sentence, each result that no statement tells yet."""
    found: dict[int, list[Statement]] = {}
    for index in range(len(message)):
        text = _result_text(message, index)
        if not text or any(says_result(one.text) for one in stated.get(index, ())):
            continue
        text = without_filler(text)
        found[index] = [
            Statement(
                text=text[:1].upper() + text[1:], tags=(), confidence=HEDGED, correcting=True,
                dated=RELATIVE.search(plain_text(text)) is not None,
            )
        ]  # fmt: skip
    return found


def _result_text(message: Sequence[Sentence], index: int) -> str:
    """What tells a result in a sentence, or in it and the one before it; empty where nothing does."""
    sentence = message[index]
    if _tells(sentence):
        return sentence.text if says_result(sentence.masked) else _with_sentence_before(message, index)
    return ""


def _with_sentence_before(message: Sequence[Sentence], index: int) -> str:
    before = message[index - 1] if index else None
    if before is None or not _tells(before) or len(message[index].text) > _LONGEST_ALONE:
        return ""
    joined = f"{before.masked.rstrip(' .!')}; {message[index].masked}"
    if says_result(before.masked) or len(joined) > _LONGEST or not says_result(joined):
        return ""
    return f"{before.text.rstrip(' .!')}; {message[index].text}"


def _tells(sentence: Sentence) -> bool:
    return not (
        sentence.question
        or len(sentence.text) > _LONGEST
        or "\x00" in sentence.masked
        or is_hypothetical(sentence.masked)
    )
