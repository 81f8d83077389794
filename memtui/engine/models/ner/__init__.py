"""Named entities of a text: providers find spans, ``merge`` decides between them.

The ``fast`` strategy needs no model: what is marked (addresses, links, handles, tags, dates), the names
that the memory knows already, and runs of capitalised words. Code is passed over.
"""

from __future__ import annotations

import re

from .known import KnownNames
from .marked import find_marked
from .names import find_names
from .span import Span, merge

__all__ = ["MOST_CHARACTERS", "KnownNames", "Span", "extract_fast", "find_marked", "find_names", "merge"]

MOST_CHARACTERS = 20_000

_code = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)


def extract_fast(text: str, known: KnownNames | None = None) -> tuple[Span, ...]:
    """The spans of the ``fast`` strategy, in order, none overlapping.

    ``known`` are the entities of the memory and the speakers of the session. Text beyond
    ``MOST_CHARACTERS`` code points is not looked at.
    """
    text = text[:MOST_CHARACTERS]
    if "`" in text:
        text = _code.sub(lambda found: " " * len(found[0]), text)
    found = [*find_marked(text), *find_names(text)]
    if known is not None:
        found += known.find(text)
    return merge(found) if len(found) > 1 else tuple(found)
