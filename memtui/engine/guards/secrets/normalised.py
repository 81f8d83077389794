"""Normalise texts for the search for secrets: no hidden characters, lines joined. Also tests of redacted texts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .tokens import Span, find_tokens

_HIDDEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e01ef]+"
)
_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_wide = re.compile("[\uff01-\uff5e]")

_KEY = r"[A-Za-z0-9_+/=.~-]"
_line_end = re.compile(r"\r?\n[ \t>|*]*['\"]?")
_key_before_line_end = re.compile(rf"(?<!{_KEY})(?P<run>{_KEY}{{6,600}})['\"]?[ \t+\\]{{0,9}}\Z")
_key_after_line_end = re.compile(rf"{_KEY}{{4,600}}")
_rest_of_line = re.compile(r"['\",;)]{0,3}[ \t+\\]{0,9}(?=\r?\n)")
_LONGEST_TAIL = 640


def normalise_with_offsets(text: str) -> tuple[str, list[int] | None]:
    """The plain text, and the place in ``text`` of each of its characters; None when the places are the same."""
    if text.isascii():
        return text, None
    if _wide.search(text):
        text = text.translate(_WIDE)
    if not _HIDDEN.search(text):
        return text, None
    places: list[int] = []
    at = 0
    for match in _HIDDEN.finditer(text):
        places += range(at, match.start())
        at = match.end()
    places += range(at, len(text))
    return _HIDDEN.sub("", text), places


def find_broken_keys(text: str) -> Iterator[Span]:
    """Keys that go on in the next line. What is joined must look like a key on both sides of the line end."""
    end = 0
    for match in _line_end.finditer(text):
        if match.start() < end:
            continue
        begin = max(text.rfind("\n", 0, match.start()) + 1, match.start() - _LONGEST_TAIL)
        tail = _key_before_line_end.search(text, begin, match.start())
        if tail is None or not _may_be_key_part(tail["run"]):
            continue
        parts = [tail.span("run")]
        line_end: re.Match[str] | None = match
        while line_end and (head := _key_after_line_end.match(text, line_end.end())) and len(parts) < 40:
            if len(parts) > 1 and not _may_be_key_part(head[0]):
                break
            parts.append(head.span())
            over = _rest_of_line.match(text, head.end())
            line_end = _line_end.match(text, over.end()) if over else None
        end = parts[-1][0]  # the line ends before it have been looked at
        yield from _join_lines(text, parts)


def _join_lines(text: str, parts: list[tuple[int, int]]) -> Iterator[Span]:
    pieces = [text[start:end] for start, end in parts]
    joined = "".join(pieces)
    tokens = list(find_tokens(joined, joined.lower()))
    if not tokens:  # nearly always
        return
    places = [index for start, end in parts for index in range(start, end)]
    first = len(pieces[0])
    alone = any(True for _ in find_tokens(pieces[0], pieces[0].lower()))
    for kind, start, end in tokens:
        if start + 4 <= first < end and (not alone or _looks_random(joined[first:end])):
            yield kind, places[start], places[end - 1] + 1


def _may_be_key_part(run: str) -> bool:
    """Whether it may be a stretch of a key: it has a digit, a sign, or letters of both sizes within."""
    return not run.isalpha() or not (run.islower() or run.isupper() or run.istitle())


def _looks_random(run: str) -> bool:
    """What is added to a key that is whole without it must be sure to belong to it."""
    return (
        len(run) >= 8
        and sum(c.isdigit() for c in run) >= 2
        and any(c.isalpha() for c in run)
        and run.isalnum()
    )


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


def is_only_redactions(text: str) -> bool:
    """Whether a text says nothing but that there was a secret: ``My token is [redacted: github token]``.

    Each part of it holds a blacked-out one, points at it, or is too short to say something.
    """
    if not is_redacted(text):
        return False
    return not any(map(_may_reveal, _ends.split(_secret.sub(_MASK, text))))


def _may_reveal(part: str) -> bool:
    return _MASK not in part and len(part.split()) >= _FEWEST_WORDS and _points.search(part) is None
