"""What is left of a text when its secrets are blacked out: often nothing that is worth keeping."""

from __future__ import annotations

import re

_secret = re.compile(r"\[redacted: [^\]]{1,40}\]")
_MASK = "\x00"
_ends = re.compile(
    r"[.!?;:…]+(?=\s|$)|,|\s[-–—]\s|\s(?:and|but|because|so|und|aber|weil|et|mais|y|pero)\s", re.IGNORECASE
)
# "use it for the release" says nothing alone.
_points = re.compile(r"\b(?:it|its|this|that|these|those|them|es|damit|ça|lo)\b", re.IGNORECASE)
_FEWEST_WORDS = 3


def is_redacted(text: str) -> bool:
    """Whether a secret was blacked out in it."""
    return _secret.search(text) is not None


def is_husk(text: str) -> bool:
    """Whether a text tells nothing but that there was a secret: ``My token is [redacted: github token]``.

    Each part of it holds a blacked-out one, points at it, or is too short to say something.
    """
    if not is_redacted(text):
        return False
    return not any(map(_may_reveal, _ends.split(_secret.sub(_MASK, text))))


def _may_reveal(part: str) -> bool:
    return _MASK not in part and len(part.split()) >= _FEWEST_WORDS and _points.search(part) is None
