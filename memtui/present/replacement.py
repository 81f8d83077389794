"""What took whose place, as text: ``was 12 May, now 19 May (said on 4 May)``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .format import local_date
from .memory import without_secrets
from .text import LabelledLine, Line, Role

if TYPE_CHECKING:
    from memtui.engine.records import MemoryRecord, Replacement

CHANGED = "changed"
_MOST = 8
_HOW = {"corrected": "corrected on", "replaced": "said on", "asked": "said on"}


def moved_day(old: MemoryRecord, new: MemoryRecord, now: float) -> tuple[str, str] | None:
    """The day that the old text names and the one that the new text names, if both do and they differ."""
    if old.happens_at is None or new.happens_at is None:
        return None
    was, is_now = local_date(old.happens_at, now), local_date(new.happens_at, now)
    return None if was == is_now else (was, is_now)


def dates(one: Replacement, now: float) -> tuple[str, str] | None:
    """The days of ``moved_day``."""
    return moved_day(one.old, one.new, now)


def latest_of(found: Sequence[Replacement], memory: MemoryRecord) -> Replacement | None:
    """The last change that made a memory what it says; or one that Review asks about. None without any."""
    return next((one for one in reversed(found) if one.new.id == memory.id or one.how == "asked"), None)


def label(one: Replacement) -> str:
    """``changed``, or ``changed?`` while Review asks."""
    return CHANGED + "?" * (one.how == "asked")


def short(found: Sequence[Replacement], now: float) -> str:
    """Behind the text that took the place: ``was 12 May``, or ``changed``. With ``?`` while Review asks. Empty without any."""
    if not found:
        return ""
    days = dates(found[-1], now)
    return f"was {days[0]}{'?' * (found[-1].how == 'asked')}" if days else label(found[-1])


def when(one: Replacement, now: float) -> str:
    """``said on 4 May``, ``corrected on 4 May``."""
    return f"{_HOW[one.how]} {local_date(one.at, now)}"


def line(one: Replacement, now: float, of: MemoryRecord | None = None) -> Line:
    """What it was and what it is now. ``of``: the memory that it stands beside, whose own text is not repeated."""
    asks = "; Review asks whether it did" if one.how == "asked" else ""
    about = f" ({when(one, now)}{asks})"
    role: Role = "warning" if one.how == "asked" else "accent"
    if days := dates(one, now):
        return ((f"was {days[0]}, now {days[1]}", role), (about, "dim"))
    was, is_now = (" ".join(without_secrets(side).split()) for side in (one.old, one.new))
    if of is not None and of.id == one.new.id:
        return (("was: ", role), (was, "text"), (about, "dim"))
    if of is not None and of.id == one.old.id:
        return (("now: ", role), (is_now, "text"), (about, "dim"))
    return (("was: ", role), (was, "text"), ("; now: ", role), (is_now, "text"), (about, "dim"))


def versions(chain: Sequence[Replacement]) -> list[MemoryRecord]:
    """The texts of a chain, each once, the earliest first."""
    return list({side.id: side for one in chain for side in (one.old, one.new)}.values())


def next_version(chain: Sequence[Replacement], id: str) -> MemoryRecord | None:
    """What follows a memory (by id) in its chain; after the last one the first. None if it is in none."""
    those = versions(chain)
    at = next((at for at, one in enumerate(those) if one.id == id), None)
    return None if at is None else those[(at + 1) % len(those)]


def lines(found: Sequence[Replacement], now: float, of: MemoryRecord) -> Iterator[LabelledLine]:
    """The chain that a memory belongs to, the earliest first. Each has a label."""
    for one in found[:_MOST]:
        yield LabelledLine(label(one), line(one, now, of))
