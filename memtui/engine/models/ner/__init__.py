"""Named entities of a text: providers find spans, ``merge`` decides between them, strategies say who is asked.

Rules need no model: what is marked (addresses, links, handles, tags, dates), runs of capitalised words, and
what is beside a name in scripts without capitals. The names that the memory knows already come first,
whatever the strategy. Code is passed over.
"""

from __future__ import annotations

from .known_entities import KnownNames
from .names import find_names
from .patterns import find_marked
from .recogniser import NameRecogniser, NerResult
from .span import MAX_CHARACTERS, NameSpan, merge_spans, readable_part

__all__ = [
    "MAX_CHARACTERS",
    "KnownNames",
    "NameRecogniser",
    "NameSpan",
    "NerResult",
    "find_marked",
    "find_names",
    "merge_spans",
    "readable_part",
]
