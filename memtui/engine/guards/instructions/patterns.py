"""Patterns of prompt injection, as ``patterns.txt`` has them: each reason with alternatives, of which one must be found."""

from __future__ import annotations

import functools
import re
from pathlib import Path

from memtui.engine import word_lists

_LIST = Path(__file__).with_name("patterns.txt")
REASONS = tuple(section for section in word_lists.read_sections(_LIST) if section[0].islower())


@functools.cache
def pattern_for(reason: str) -> re.Pattern[str]:
    """What is looked for, for one of ``REASONS``. Compiled when it is needed: all of them take 20 ms."""
    return re.compile(
        word_lists.read_expression(_LIST, reason).replace("GAP", r"[^.!?\n]{0,40}"), re.MULTILINE
    )
