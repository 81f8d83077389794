"""Named entities of a text: providers find spans, ``merge`` decides between them.

The ``fast`` strategy needs no model: what is marked (addresses, links, handles, tags, dates), the names
that the memory knows already, and runs of capitalised words. Code is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .known import KnownNames
from .marked import find_marked
from .names import find_names
from .span import Span, merge

__all__ = [
    "MOST_CHARACTERS",
    "KnownNames",
    "Span",
    "extract_fast",
    "find_marked",
    "find_names",
    "merge",
    "readable",
]

MOST_CHARACTERS = 20_000

_code = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)


def readable(text: str) -> str:
    """What of a text is searched for names: the first ``MOST_CHARACTERS`` code points, blanks in the place of code."""
    text = text[:MOST_CHARACTERS]
    return _code.sub(lambda found: " " * len(found[0]), text) if "`" in text else text


def extract_fast(text: str, known: KnownNames | None = None, more: Iterable[Span] = ()) -> tuple[Span, ...]:
    """The spans of the ``fast`` strategy, in order, none overlapping.

    ``known`` are the entities of the memory and the speakers of the session. ``more``: spans that other
    providers found in the same text, which makes it the ``accurate`` strategy.
    """
    text = readable(text)
    found = [*find_marked(text), *find_names(text), *more]
    if known is not None:
        found += known.find(text)
    return merge(found) if len(found) > 1 else tuple(found)
