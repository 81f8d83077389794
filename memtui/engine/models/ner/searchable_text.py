"""What of a text is searched for names."""

from __future__ import annotations

import re

MOST_CHARACTERS = 20_000

_code = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)


def readable(text: str) -> str:
    """The first ``MOST_CHARACTERS`` code points, each in its place; blanks in the place of code."""
    text = text[:MOST_CHARACTERS]
    return _code.sub(lambda found: " " * len(found[0]), text) if "`" in text else text
