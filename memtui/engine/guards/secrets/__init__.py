"""Secrets in text: keys, passwords, private keys, card and account numbers.

Every path that writes a memory asks here first (facts are redacted; episodes that carry a secret get no
embedding and go to no model). So an ordinary message must cost microseconds: each rule names words
without which it cannot match, and only the rules whose word is there run. All patterns are bounded or
anchored to a literal: the time is linear in the text.

What is found is a guess by shape. It errs towards silence: identifiers, hashes, UUIDs, encoded images
and placeholders in code are not secrets.
"""

from __future__ import annotations

from collections.abc import Iterator

from memtui.engine.records import Record

from .assignments import find_assignments, find_in_urls
from .normalised import find_broken_keys, normalise_with_offsets
from .normalised import is_only_redactions as is_only_redactions
from .normalised import is_redacted as is_redacted
from .spoken import find_spoken
from .tokens import Span, find_numbers, find_private_keys, find_tokens


class SecretMatch(Record):
    """A secret in a text: code points ``start:end``; ``kind`` is a short name such as ``github token``."""

    kind: str
    start: int
    end: int


def find_secrets(text: str) -> tuple[SecretMatch, ...]:
    """The secrets of ``text`` in order, none overlapping; also one over two lines, or with letters that show nothing."""
    plain, places = normalise_with_offsets(text)
    kept = list(_find_candidates(plain))
    kept += find_broken_keys(plain)
    if len(kept) > 1:
        kept = _merge_overlaps(kept)
    if places is not None:
        kept = [(kind, places[start], places[end - 1] + 1) for kind, start, end in kept]
    return tuple(SecretMatch(kind=kind, start=start, end=end) for kind, start, end in kept)


def _find_candidates(text: str) -> Iterator[Span]:
    lowered = text.lower()
    if len(lowered) != len(text):  # a letter whose small form is longer would shift every place
        lowered = "".join(character.lower()[0] for character in text)
    yield from find_tokens(text, lowered)
    yield from find_private_keys(text)
    yield from find_assignments(text, lowered)
    yield from find_in_urls(text)
    yield from find_numbers(text)
    yield from find_spoken(text, lowered)


def redact_secrets(text: str) -> tuple[str, tuple[str, ...]]:
    """``text`` with ``[redacted: kind]`` in place of each secret, and the kinds in order of appearance."""
    matches = find_secrets(text)
    if not matches:
        return text, ()
    parts: list[str] = []
    at = 0
    for match in matches:
        parts += text[at : match.start], f"[redacted: {match.kind}]"
        at = match.end
    return "".join(parts) + text[at:], tuple(dict.fromkeys(match.kind for match in matches))


def blank_secrets(text: str) -> str:
    """``text`` with blanks in the place of each secret: what is beside them keeps its place."""
    for match in find_secrets(text):
        text = text[: match.start] + " " * (match.end - match.start) + text[match.end :]
    return text


def _merge_overlaps(spans: list[tuple[str, int, int]]) -> list[tuple[str, int, int]]:
    kept: list[tuple[str, int, int]] = []
    for kind, start, end in sorted(spans, key=lambda one: (one[1], -one[2])):
        if kept and start < kept[-1][2]:
            kind, start, end = kept[-1][0], kept[-1][1], max(kept[-1][2], end)
            kept.pop()
        kept.append((kind, start, end))
    return kept
