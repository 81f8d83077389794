"""Read word lists: text files with an entry a line and optional [headings]; # begins a comment."""

from __future__ import annotations

import functools
import re
from pathlib import Path

_name = re.compile(r"\{([A-Z_]+)\}")


def read_lines(path: Path) -> list[str]:
    """The lines that say something, headings among them."""
    text = path.read_text(encoding="utf-8")
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


@functools.cache
def read_sections(path: Path) -> dict[str, list[str]]:
    """The lines below each [heading], in order."""
    found: dict[str, list[str]] = {}
    for line in read_lines(path):
        if line.startswith("[") and line.endswith("]"):
            below = found.setdefault(line[1:-1], [])
        else:
            below.append(line)
    return found


@functools.cache
def read_words(path: Path, heading: str) -> frozenset[str]:
    """The words below a heading, with blanks between them."""
    return frozenset(" ".join(read_sections(path)[heading]).split())


def read_expression(path: Path, heading: str) -> str:
    """The lines below a heading as the alternatives of one regular expression; {NAME} stands for those of another heading."""
    return _name.sub(lambda match: read_expression(path, match[1]), "|".join(read_sections(path)[heading]))


def as_folded(pattern: str) -> str:
    """A pattern for text in small letters as ``str.casefold`` writes them, where ß is ss."""
    return pattern.replace("ß", "ss")


@functools.cache
def load_abbreviations() -> frozenset[str]:
    """Words whose dot ends no sentence, in four languages: in small letters, without the last dot."""
    return frozenset(Path(__file__).with_name("abbreviations.txt").read_text(encoding="utf-8").split())
