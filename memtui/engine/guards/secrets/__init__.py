"""Secrets in text: keys, passwords, private keys, card and account numbers.

Every path that writes a memory asks here first (facts are redacted; episodes that carry a secret get no
embedding and go to no model). So an ordinary message must cost microseconds: each detector names
substrings without which it cannot match, and only the detectors whose substring is there run. All
patterns are bounded or anchored to a literal: the time is linear in the text.

What is found is a guess by shape. It errs towards silence: identifiers, hashes, UUIDs, encoded images
and placeholders in code are not secrets.
"""

from __future__ import annotations

from memtui.engine.records import Record

from .assigned import find_assignments, find_in_urls
from .numbers import find_numbers
from .tokens import find_private_keys, find_tokens


class SecretMatch(Record):
    """A secret in a text: code points ``start:end``; ``kind`` is a short name such as ``github token``."""

    kind: str
    start: int
    end: int


_DETECTORS = (find_tokens, find_private_keys, find_assignments, find_in_urls, find_numbers)


def find_secrets(text: str) -> tuple[SecretMatch, ...]:
    """The secrets of ``text`` in order, none overlapping."""
    kept: list[tuple[str, int, int]] = []
    for detect in _DETECTORS:
        kept += detect(text)
    if len(kept) > 1:
        kept = _merged(kept)
    return tuple(SecretMatch(kind=kind, start=start, end=end) for kind, start, end in kept)


def redact(text: str) -> tuple[str, tuple[str, ...]]:
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


def _merged(found: list[tuple[str, int, int]]) -> list[tuple[str, int, int]]:
    kept: list[tuple[str, int, int]] = []
    for kind, start, end in sorted(found, key=lambda one: (one[1], -one[2])):
        if kept and start < kept[-1][2]:
            kind, start, end = kept[-1][0], kept[-1][1], max(kept[-1][2], end)
            kept.pop()
        kept.append((kind, start, end))
    return kept
