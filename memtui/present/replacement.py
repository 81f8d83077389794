"""What took whose place, as text: ``was 12 May, now 19 May (said on 4 May)``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .format import local_date
from .memory import without_secrets
from .text import LabelledLine, Line, Role, one_line

if TYPE_CHECKING:
    from memtui.engine.records import MemoryRecord, Replacement

CHANGED = "changed"
_MOST = 8
_AGENT = 40
_HOW = {"corrected": "corrected on", "replaced": "said on", "asked": "said on"}


def moved_day(old: MemoryRecord, new: MemoryRecord, now: float) -> tuple[str, str] | None:
    """The day that the old text names and the one that the new text names, if both do and they differ."""
    if old.happens_at is None or new.happens_at is None:
        return None
    was, is_now = local_date(old.happens_at, now), local_date(new.happens_at, now)
    return None if was == is_now else (was, is_now)


def moved_days(one: Replacement, now: float) -> tuple[str, str] | None:
    """The days of ``moved_day``."""
    return moved_day(one.old, one.new, now)


def latest_of(replacements: Sequence[Replacement], memory: MemoryRecord) -> Replacement | None:
    """The last change that was decided and made a memory what it says; else the last that Review asks about. None without.

    ``replacements``: the earliest first. A question hides no decision: it stands beside its other memory too.
    """
    decided = (one for one in reversed(replacements) if one.new.id == memory.id and one.how != "asked")
    return next(decided, None) or next((one for one in reversed(replacements) if one.how == "asked"), None)


def latest_of_each(replacements: Sequence[Replacement]) -> list[Replacement]:
    """For each new text the change of ``latest_of``, in the order of ``replacements``: the latest first."""
    of_each: dict[str, list[Replacement]] = {}
    for one in replacements:
        of_each.setdefault(one.new.id, []).insert(0, one)
    latest = (latest_of(those, those[0].new) for those in of_each.values())
    return [one for one in latest if one is not None]


def label(one: Replacement) -> str:
    """``changed``, or ``changed?`` while Review asks."""
    return CHANGED + "?" * (one.how == "asked")


def changed_by(one: Replacement) -> str:
    """The agent by whose word alone the new text stands; empty where the person wrote or confirmed it."""
    return (one.new.corrected_by or "") if one.how == "corrected" and not one.new.protected else ""


def role(one: Replacement) -> Role:
    """The role of the words that say it: a warning where the person has not decided."""
    return "warning" if one.how == "asked" or changed_by(one) else "accent"


def label_before(one: Replacement, word: str = "was") -> str:
    """What stands before a text: ``was: ``, or ``was? `` while Review asks."""
    return f"{word}{'?' if one.how == 'asked' else ':'} "


def short_note(one: Replacement, now: float, of: MemoryRecord | None = None) -> str:
    """Behind the text that took the place: ``was 12 May``, or ``changed``. With ``?`` while Review asks; ``by an agent``.

    ``of``: the memory that it stands behind; behind the old text it is ``now 19 May?``.
    """
    days = moved_days(one, now)
    by = " by an agent" if changed_by(one) else ""
    if not days:
        return f"{label(one)}{by}"
    is_old = of is not None and of.id == one.old.id
    return f"{'now' if is_old else 'was'} {days[is_old]}{'?' * (one.how == 'asked')}{by and f',{by}'}"


def how_and_when(one: Replacement, now: float) -> str:
    """``said on 4 May``, ``corrected on 4 May``, ``changed by cursor on 4 May``."""
    if agent := changed_by(one):
        return f"{CHANGED} by {one_line(agent, _AGENT)} on {local_date(one.at, now)}"
    return f"{_HOW[one.how]} {local_date(one.at, now)}"


def line(one: Replacement, now: float, of: MemoryRecord | None = None) -> Line:
    """What it was and what it is now. ``of``: the memory that it stands beside, whose own text is not repeated."""
    is_open = one.how == "asked"
    about = f" ({how_and_when(one, now)}{'; Review asks whether it did' if is_open else ''})"
    if days := moved_days(one, now):
        return ((f"was {days[0]}, now {days[1]}{'?' * is_open}", role(one)), (about, "dim"))
    was: Line = (
        (label_before(one), role(one)),
        (" ".join(without_secrets(one.old).split()), "text"),
    )
    is_now: Line = (
        (label_before(one, "now"), role(one)),
        (" ".join(without_secrets(one.new).split()), "text"),
    )
    if of is not None and of.id == one.new.id:
        return (*was, (about, "dim"))
    if of is not None and of.id == one.old.id:
        return (*is_now, (about, "dim"))
    return (*was, ("; ", role(one)), *is_now, (about, "dim"))


def versions(chain: Sequence[Replacement]) -> list[MemoryRecord]:
    """The texts of a chain, each once, the earliest first."""
    return list({side.id: side for one in chain for side in (one.old, one.new)}.values())


def next_version(chain: Sequence[Replacement], id: str) -> MemoryRecord | None:
    """What follows a memory (by id) in its chain; after the last one the first. None if it is in none."""
    those = versions(chain)
    at = next((at for at, one in enumerate(those) if one.id == id), None)
    return None if at is None else those[(at + 1) % len(those)]


def chain_lines(replacements: Sequence[Replacement], now: float, of: MemoryRecord) -> Iterator[LabelledLine]:
    """The chain that a memory belongs to, the earliest first. Each has a label."""
    for one in replacements[:_MOST]:
        yield LabelledLine(label(one), line(one, now, of))
