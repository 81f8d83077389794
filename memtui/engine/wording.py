"""How labels, reports and errors word things: so many of them, and the beginning of a text."""

from __future__ import annotations

from datetime import datetime


def plural(number: int, noun: str, many: str = "") -> str:
    """``1 turn``, ``1,204 turns``, ``2 memories``; ``many`` where the rule does not tell it: ``2 facts wait``."""
    if number != 1:
        regular = f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2:-1] not in "aeiou" else f"{noun}s"
        noun = many or regular
    return f"{number:,} {noun}"


def cut(text: str, most: int) -> str:
    """At most ``most`` characters; what was cut ends with ``…``."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def beginning(text: str, most: int = 60) -> str:
    """The same on one line."""
    return cut(" ".join(text.split()), most)


def quoted(text: str, most: int = 60) -> str:
    """The beginning in quotes."""
    return f"“{beginning(text, most)}”"


def until_when(end: float, now: float) -> str:
    """``until 18:00``, with the day where it is another one than that of ``now``; local time."""
    then, today = datetime.fromtimestamp(end), datetime.fromtimestamp(now)
    day = "" if then.date() == today.date() else f"{then.day} {then:%b} "
    return f"until {day}{then:%H:%M}"
