"""Plain sentences of a message: what its writer says in their own words.

Left out: code, quoted lines, tables, pasted logs, and what follows a request to work on a text ("translate
this: ..."). Quotation marks stay in the sentence, but ``masked`` blanks what is between them, so that
nobody is taken to say what they only quote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from memtui.engine import word_lists
from memtui.engine.guards.quotes import MASK, mask_quotes
from memtui.engine.word_lists import load_abbreviations

from .exclusions import is_request

_LIST = Path(__file__).with_name("sentences.txt")

_MAX_CHARACTERS = 20_000
# Both bound how often a character is looked at.
_LONGEST_PARAGRAPH = 2_000
_LONGEST_ABBREVIATION = 20
# Of a day.
_HALVES = frozenset(("am", "pm"))
_fence = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_not_prose = re.compile(word_lists.read_expression(_LIST, "not prose"))
_speaker = re.compile(
    r"\s*(?:user|assistant|human|system|ai|bot|me|you|\w+ \(\d\d:\d\d\))\s?:\s", re.IGNORECASE
)
# "Summarise this: ..." hands over somebody's text; what follows is not the writer's.
_hands_over = re.compile(word_lists.read_expression(_LIST, "hands over"), re.IGNORECASE)
_item = re.compile(r"\s*(?:[-*•–]|\d{1,3}[.)]|\[[ xX]?\])\s+")
_end = re.compile(r"[.!?…]+[\"”»')\]]*(?=\s|$)|[。！？]+")
_end_of_quote = re.compile(r"[.!?。！？][」』”»\"](?=\s+[A-ZÀ-Þ])")
_number_of_item = re.compile(r"(?:^|(?<=\s))(\d)[.)]\s+")
# "am 14. März", "vom 3. bis 10. August", "zum 1. des Monats"
_ordinal = re.compile(word_lists.read_expression(_LIST, "ordinal"), re.IGNORECASE)
_continues = re.compile(word_lists.read_expression(_LIST, "told further"))
_LONGEST_EXCLAMATION = 5  # words
# "nicht am 3. sondern am 17."
_day = re.compile(word_lists.read_expression(_LIST, "day"), re.IGNORECASE)
_LONGEST_DAY = 8
# "I'm allergic to nuts, can I eat this?": what is said before the question.
_asked_after = re.compile(word_lists.read_expression(_LIST, "asked after"), re.IGNORECASE)


class Sentence(NamedTuple):
    """``masked`` has the length of ``text``; what is quoted in it is blanked. ``question``: it asks."""

    text: str
    masked: str
    question: bool


def split_sentences(text: str) -> list[Sentence]:
    """The sentences of a message in order, without list marks."""
    found = []
    for line in _prose_lines(_fence.sub("\n", text[:_MAX_CHARACTERS])):
        for part in _split_line(line):
            masked = mask_quotes(part)
            asks = bool(re.search(r"\?[\W_]*$", masked.rstrip(MASK + " ")))
            introduction = _asked_after.match(masked) if asks else None
            if introduction:
                end = introduction.end("statement" if introduction["statement"] else "said")
                found.append(Sentence(part[:end], masked[:end], False))
            found.append(Sentence(part, masked, asks))
    return found


def _prose_lines(text: str) -> Iterator[str]:
    """Lines of prose; a line that goes on in small letters is one with the next, unless that asks for something."""
    paragraph, handed_over = "", False
    for line in text.replace("\r\n", "\n").split("\n"):
        if handed_over:
            # Up to the blank line after it; a text that begins on a new line may have many paragraphs.
            if not line.strip() and paragraph:
                paragraph, handed_over = "", False
            continue
        if not line.strip() or _not_prose.match(line) or _speaker.match(line):
            yield from filter(None, (paragraph,))
            paragraph = ""
            continue
        item = _item.match(line)
        body = line[item.end() :].strip() if item and not _list_item_markers(line) else line.strip()
        goes_on = (
            paragraph
            and not item
            and body[0].islower()
            and not _end.search(paragraph[-2:])
            and not is_request(body)
        )
        if goes_on and len(paragraph) < _LONGEST_PARAGRAPH:
            paragraph = f"{paragraph} {body}"
        else:
            yield from filter(None, (paragraph,))
            paragraph = body
        handing = (
            _hands_over.search(mask_quotes(paragraph)) if ":" in body else None
        )  # a paragraph grows line by line
        if handing:
            yield paragraph[: handing.end()]
            handed_over, paragraph = True, paragraph[handing.end() :].strip()
    if paragraph and not handed_over:
        yield paragraph


def _split_line(line: str) -> Iterator[str]:
    """The sentences of a line; of a list that is written in it ("1. migrate 2. deploy") its items."""
    numbers = _list_item_markers(line)
    if not numbers:
        yield from _split_at_ends(line)
        return
    starts = [one.start() for one in numbers]
    yield from _split_at_ends(line[: starts[0]])
    for one, end in zip(numbers, [*starts[1:], len(line)], strict=True):
        yield from _split_at_ends(line[one.end() : end])


def _list_item_markers(line: str) -> list[re.Match[str]]:
    """The numbers 1, 2, ... of a list that is written in one line."""
    found = list(_number_of_item.finditer(line))
    return found if len(found) > 1 and [int(one[1]) for one in found] == [*range(1, len(found) + 1)] else []


def _split_at_ends(line: str) -> Iterator[str]:
    masked = mask_quotes(line)
    start = 0
    ends = [*_end.finditer(masked), *_end_of_quote.finditer(line)]
    for match in sorted(ends, key=re.Match.end):
        if _is_not_sentence_end(masked, match, start) or masked.count("(", start, match.end()) > masked.count(
            ")", start, match.end()
        ):
            continue
        yield line[start : match.end()].strip()
        start = match.end()
    if line[start:].strip():
        yield line[start:].strip()


def _is_not_sentence_end(text: str, match: re.Match[str], start: int) -> bool:
    """Whether a dot ends an abbreviation or an initial, not the sentence, or what follows says more of a short exclamation.

    ``start``: of the sentence.
    """
    if match[0] == "!" and _continues.match(text, match.end()):
        return 1 < len(text[start : match.start()].split()) <= _LONGEST_EXCLAMATION
    if match[0] != ".":
        return False
    if text[: match.start()][-1:].isdigit() and (
        _ordinal.match(text, match.end())
        or (
            text[match.end() :].lstrip()[:1].islower()
            and _day.search(text[max(0, match.start() - _LONGEST_DAY) : match.start()])
        )
    ):
        return True
    before = text[max(0, match.start() - _LONGEST_ABBREVIATION) : match.start()]
    word = re.split(r"[\s(]", before)[-1].casefold()
    return (
        word in load_abbreviations() or word in _HALVES or (len(word) == 1 and word.isalpha() and word != "i")
    )
