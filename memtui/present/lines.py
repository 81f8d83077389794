"""What a record is told in: pieces of text, each in a role, which whoever draws them turns into a colour."""

from __future__ import annotations

from typing import Literal, NamedTuple

Role = Literal[
    "text", "strong", "dim", "faint", "accent",
    "keyword", "vector", "sense", "entity", "context",
    "success", "warning", "error", "added", "removed",
]  # fmt: skip

Part = tuple[str, Role]
Line = tuple[Part, ...]
"""Parts of one line, one after the other. Their text is as it was stored: whoever draws it makes it visible."""


class Labelled(NamedTuple):
    """What is told of a record under a label."""

    label: str
    line: Line
