"""Words for labels, reports and errors: plurals, and beginnings of texts."""

from __future__ import annotations

import re
from datetime import datetime

# So many characters of what two texts begin with alike come before their difference.
_LED_BY = 16
# The end of a label as ``memories.predecessors.again_note`` writes it.
_AGAIN_NOTE = re.compile(r"; (?:“(?:(?!; “).)*”|[\d,]+ memor\w+) stands? again$")


def plural(number: int, noun: str, many: str = "") -> str:
    """``1 turn``, ``1,204 turns``, ``2 memories``; ``many`` where the rule does not tell it: ``2 facts wait``."""
    if number != 1:
        regular = f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2:-1] not in "aeiou" else f"{noun}s"
        noun = many or regular
    return f"{number:,} {noun}"


def cut_text(text: str, most: int) -> str:
    """At most ``most`` characters; what was cut ends with ``…``."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def text_beginning(text: str, most: int = 60) -> str:
    """The text on one line, at most ``most`` characters."""
    return cut_text(" ".join(text.split()), most)


def quote_beginning(text: str, most: int = 60) -> str:
    """The beginning in quotes."""
    return f"“{text_beginning(text, most)}”"


def quoted_change(old: str, new: str, most: int = 60) -> tuple[str, str]:
    """Both in quotes. Where they differ only further on, what they begin with alike is left out: ``“…until friday”``."""
    before, after = " ".join(old.split()), " ".join(new.split())
    pairs = zip(before, after, strict=False)
    alike = next(
        (index for index, (one, other) in enumerate(pairs) if one != other), min(len(before), len(after))
    )
    if max(len(before), len(after)) <= most or alike <= _LED_BY:
        return quote_beginning(before, most), quote_beginning(after, most)
    start = before.find(" ", alike - _LED_BY, alike - _LED_BY // 2) + 1 or alike - _LED_BY
    return quote_beginning(f"…{before[start:]}", most), quote_beginning(f"…{after[start:]}", most)


def without_again_note(label: str) -> str:
    """The label of an operation without what stands again by it: taken back, that does not stand again."""
    return _AGAIN_NOTE.sub("", label)


def until_when(end: float, now: float) -> str:
    """``until 18:00``, with the day where it is another one than that of ``now``; local time."""
    then, today = datetime.fromtimestamp(end), datetime.fromtimestamp(now)
    day = "" if then.date() == today.date() else f"{then.day} {then:%b} "
    return f"until {day}{then:%H:%M}"
