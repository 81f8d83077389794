"""The form in which records are shown: pieces of text, each with a role. The caller turns a role into a colour."""

from __future__ import annotations

from typing import Literal, NamedTuple

Role = Literal[
    "text", "strong", "dim", "faint", "accent",
    "keyword", "vector", "sense", "entity", "context",
    "success", "warning", "error", "added", "removed",
]  # fmt: skip

Part = tuple[str, Role]
Line = tuple[Part, ...]
"""Parts of one line, in order. Their text is as stored: the caller must pass it through ``visible()``."""


class Labelled(NamedTuple):
    """A line about a record, with a label."""

    label: str
    line: Line
