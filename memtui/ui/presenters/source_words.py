"""Which words two texts share: to mark those of a source that a memory was made from, and to tell what a merge loses."""

from __future__ import annotations

import re

_word = re.compile(r"\w{2,}")
# Words that are too common to mark.
_COMMON = frozenset(
    (  # noqa: SIM905 - a word list reads best as text
        "a an and are as at be been but by can did do does for from had has have he her hers him his i if in into is"
        " it its me my no not of on or our she so that the their them then there they this to too up us was we were"
        " what when which who will with would you your user"
    ).split()
)
_STEM = 5


def shared_words(text: str, source: str) -> list[tuple[int, int]]:
    """The words of ``source`` that are also in ``text``, as ranges of code points.

    ``train`` finds ``trains``: for longer words, the same beginning is enough.
    """
    stems = {_word_stem(word) for word in _word.findall(text.casefold()) if word not in _COMMON}
    return [
        match.span()
        for match in _word.finditer(source)
        if (word := match[0].casefold()) not in _COMMON and _word_stem(word) in stems
    ]


def is_mostly_lost(old: str, new: str) -> bool:
    """Fewer than half of the words of ``old`` are also in ``new``."""
    words = sum(match[0].casefold() not in _COMMON for match in _word.finditer(old))
    return len(shared_words(new, old)) * 2 < words


def excerpt_around(
    source: str, ranges: list[tuple[int, int]], length: int
) -> tuple[str, list[tuple[int, int]]]:
    """About ``length`` code points of ``source`` with most of ``ranges``, and these ranges within them."""
    if len(source) <= length:
        return source, ranges
    starts = [start for start, _ in ranges] or [0]
    best = max(starts, key=lambda start: sum(start <= other < start + length * 2 // 3 for other in starts))
    begin = max(0, best - length // 6)
    if begin:
        blank = source.find(" ", begin, begin + 30)
        begin = blank + 1 if blank >= 0 else begin
    end = min(len(source), begin + length)
    if end < len(source):
        blank = source.rfind(" ", end - 30, end)
        end = blank if blank > begin else end
    ellipsis = "…" if begin else ""
    by = len(ellipsis) - begin
    moved = [(start + by, stop + by) for start, stop in ranges if begin <= start and stop <= end]
    return f"{ellipsis}{source[begin:end]}{'…' if end < len(source) else ''}", moved


def _word_stem(word: str) -> str:
    return word[:_STEM] if len(word) > _STEM else word.removesuffix("s")
