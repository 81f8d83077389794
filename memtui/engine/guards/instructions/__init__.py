"""Prompt injection in texts: planted orders, hidden text, fake prompts.

A guess by shape, used to decide what a person should look at before an agent is told it. What the person
says themself may well be an order ("always answer in metric"): whoever asks weighs the answer by trust.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator

from .classifier import CERTAIN_SCORE, score_instruction
from .patterns import REASONS, pattern_for, patterns_for_any

_MAX_CHARACTERS = 20_000
_OVERRIDES = tuple(reason for reason in REASONS if reason.startswith("tells to ignore its rules"))
_OTHERS = REASONS[len(_OVERRIDES) :]
_LOOKALIKES = str.maketrans("аеорсхуіјѕԁһⅼɡɑοειν", "aeopcxyijsdhlgaoeiv")
_LEET = str.maketrans("013457@$", "oieastas")
_leet_word = re.compile(r"[a-z][013457@$]+[a-z]|\b[013457@$][a-z]{3}")
_spaced_word = re.compile(r"(?<!\w)(?:\w[ .\-_*]){3,}\w(?!\w)")
# Characters that show nothing and yet spell ASCII.
_TAGS = range(0xE0020, 0xE007F)


@functools.lru_cache(1024)
def find_instructions(text: str) -> tuple[str, ...]:
    """Why ``text`` looks like an order to an assistant, each reason once; empty when it does not.

    Kept, because a server tells the same facts again and again.
    """
    found = tuple(dict.fromkeys(_find_reasons(text[:_MAX_CHARACTERS], _OVERRIDES, _OTHERS)))
    if not found and score_instruction(text) >= CERTAIN_SCORE:
        return ("reads like an order to an assistant",)
    # Its shapes match English, too, and then say nothing new.
    return tuple(
        reason for reason in found if (english := reason.partition(" (")[0]) == reason or english not in found
    )


@functools.lru_cache(1024)
def find_overrides(text: str) -> tuple[str, ...]:
    """Those of the reasons that no person gives to their own assistant: suspicious in the person's words too."""
    return tuple(dict.fromkeys(_find_reasons(text[:_MAX_CHARACTERS], _OVERRIDES)))


def _find_reasons(text: str, *groups: tuple[str, ...]) -> Iterator[str]:
    if not text.isascii() and any(ord(character) in _TAGS for character in text):
        yield "hides text in invisible characters"
    for reading in _normalised_readings(text):
        for reasons in groups:
            if any(pattern.search(reading) for pattern in patterns_for_any(reasons)):
                yield from (reason for reason in reasons if pattern_for(reason).search(reading))


def _normalised_readings(text: str) -> Iterator[str]:
    """The text as a model may read it: folded and, where it looks disguised, undisguised too."""
    shown = text
    if not text.isascii():
        shown = "".join(chr(ord(c) - 0xE0000) if ord(c) in _TAGS else c for c in text)
        shown = "".join(c for c in shown if unicodedata.category(c) != "Cf")
        shown = unicodedata.normalize("NFKC", shown)
    folded = shown.casefold().replace("’", "'")
    yield folded
    mixed = not folded.isascii() and any(map(_mixes_scripts, folded.split()))
    plain = folded.translate(_LOOKALIKES) if mixed else folded
    plain = "  ".join(_spaced_word.sub(_join_spaced_letters, part) for part in plain.split("  ")).replace(
        "  ", " "
    )
    if _leet_word.search(plain):
        plain = plain.translate(_LEET)
    if plain != folded:
        yield plain


def _join_spaced_letters(match: re.Match[str]) -> str:
    return re.sub(r"[ .\-_*]", "", match[0])


def _mixes_scripts(word: str) -> bool:
    return any("a" <= c <= "z" for c in word) and any("\u0370" <= c <= "\u052f" for c in word)
