"""A span: one name found in a text; and the choice between overlapping ones."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable

from memtui.engine.records import Record


class NameSpan(Record):
    """Code points ``start:end`` of a text name an entity.

    ``text`` is what stands there, ``name`` what to call the entity; ``type`` is person, project,
    organization, location, email, url, date or other; ``confidence`` in [0, 1]; ``provider`` found it.
    """

    text: str
    start: int
    end: int
    type: str
    confidence: float
    provider: str
    name: str


def merge_spans(spans: Iterable[NameSpan]) -> tuple[NameSpan, ...]:
    """Of overlapping spans the most confident, then the longest, then the first one; in order of place."""
    kept: list[NameSpan] = []
    starts: list[int] = []
    for span in sorted(spans, key=lambda one: (-one.confidence, one.start - one.end, one.start)):
        at = bisect_left(starts, span.start)
        after_previous = at == 0 or kept[at - 1].end <= span.start
        before_next = at == len(kept) or span.end <= starts[at]
        if after_previous and before_next:
            kept.insert(at, span)
            starts.insert(at, span.start)
    return tuple(kept)


MAX_CHARACTERS = 20_000

_code = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
# What a terminal obeys: ESC with a command, a title or another text up to its end; and other controls.
_control = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]?|(?:\x1b[]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\\\|\x9c)?"
    "|\x1b[ -/]*[0-~]?|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"
)
# Markup of terminal programs: ``[@click=app.quit]`` and what closes it.
_markup = re.compile(r"\[@[\w.]+=[^\]\n]*\]?|\[/[^\]\s]*\]")


def readable_part(text: str) -> str:
    """The first ``MAX_CHARACTERS`` code points, each in its place; blanks in the place of code, markup and controls."""
    text = text[:MAX_CHARACTERS]
    if "`" in text:
        text = _code.sub(_as_blanks, text)
    if "[@" in text or "[/" in text:
        text = _markup.sub(_as_blanks, text)
    return text if text.isprintable() else _control.sub(_as_blanks, text)


def _as_blanks(match: re.Match[str]) -> str:
    return " " * len(match[0])
