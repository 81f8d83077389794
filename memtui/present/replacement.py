"""What took whose place, as text: ``was 12 May, now 19 May (said on 4 May)``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .format import local_date
from .memory import without_secrets
from .text import ELLIPSIS, LabelledLine, Line, Role, VisibleText, max_cells, one_line, visible_text

if TYPE_CHECKING:
    from memtui.engine.records import MemoryRecord, Replacement

CHANGED = "changed"
# Of two texts whose day is the same.
_TEXT_CHANGED = "text changed"
# So many words are left of a text with which the other one begins.
_WORDS_LEFT = 2
# So many words before a value that is over belong to it: "Friday 1 January and no longer".
_WORDS_AROUND = 6
# With less room nothing stands before what differs.
_WITH_BEGINNING = 24
_MOST = 8
_AGENT = 40
_HOW = {"corrected": "corrected on", "replaced": "said on", "asked": "said on", "told": "said on"}
# So much of a value that a text itself says is over.
_WAS = 24


def moved_day(old: MemoryRecord, new: MemoryRecord, now: float) -> tuple[str, str] | None:
    """The day that the old text names and the one that the new text names, if both do and they differ."""
    if old.happens_at is None or new.happens_at is None:
        return None
    was, is_now = local_date(old.happens_at, now), local_date(new.happens_at, now)
    return None if was == is_now else (was, is_now)


def moved_days(one: Replacement, now: float) -> tuple[str, str] | None:
    """The days of ``moved_day``."""
    return None if one.old is None else moved_day(one.old, one.new, now)


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


def shown_sides(one: Replacement, room: int) -> tuple[VisibleText, VisibleText]:
    """The new and the old text, together in ``room`` cells, so that what differs is seen in both.

    Where they do not fit, the old text begins where they differ, and the new one says less of what is alike before that.
    """
    new, old = _words(one.new), _old_words(one)
    texts = " ".join(new), " ".join(old)
    if sum(map(max_cells, texts)) <= room:
        return one_line(texts[0], room), one_line(texts[1], room)
    # The old text has the half of the room, or what the new one leaves.
    half = min(max_cells(_from_difference(old, _words_alike(new, old))), room // 2)
    shown_new = _with_difference(new, _words_before_change(one), room - half)
    return shown_new, shown_old(one, room - max_cells(shown_new))


def shown_new(one: Replacement, room: int) -> VisibleText:
    """The new text in ``room`` cells: without a part of the beginning that is alike in both, where it does not fit."""
    return _with_difference(_words(one.new), _words_before_change(one), room)


def shown_old(one: Replacement, room: int) -> VisibleText:
    """The old text in ``room`` cells: without the beginning that is alike in both, where it does not fit."""
    old = _old_words(one)
    whole = " ".join(old)
    return one_line(
        whole if max_cells(whole) <= room else _from_difference(old, _words_alike(_words(one.new), old)), room
    )


def _words(memory: MemoryRecord) -> list[str]:
    return visible_text(without_secrets(memory)).split()


def _old_words(one: Replacement) -> list[str]:
    return visible_text(one.was).split() if one.old is None else _words(one.old)


def _words_before_change(one: Replacement) -> int:
    """How many words at the beginning of the new text say nothing of the change: those alike in both.

    Where the new text itself names the value that is over, those well before that: the new value stands beside it."""
    new, old = _words(one.new), _old_words(one)
    if one.old is not None:
        return _words_alike(new, old)
    at = next((at for at in range(len(new)) if _words_alike(new[at:], old) == len(old)), 0)
    return max(at - _WORDS_AROUND, 0)


def _words_alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words both begin with, whatever their case and punctuation."""

    def plain(word: str) -> str:
        return word.casefold().strip(".,;:!?") or word

    pairs = enumerate(zip(one, other, strict=False))
    differs = (at for at, (word, another) in pairs if plain(word) != plain(another))
    return next(differs, min(len(one), len(other)))


def _from_difference(words: Sequence[str], alike: int) -> str:
    """A text without the words at its beginning that are alike; its last words stay if all are."""
    cut = alike if alike < len(words) else alike - _WORDS_LEFT
    return f"{ELLIPSIS} {' '.join(words[cut:])}" if cut > 1 else " ".join(words)


def _with_difference(words: Sequence[str], alike: int, room: int) -> VisibleText:
    """A text with its first words, and then from where it differs, in ``room`` cells."""
    whole = " ".join(words)
    rest = _from_difference(words, alike)
    if max_cells(whole) <= room or not rest.startswith(ELLIPSIS) or alike == len(words):
        return one_line(whole, room)
    first = max(room // 3 if room >= _WITH_BEGINNING else 0, room - max_cells(rest) - 1)
    begun: list[str] = []
    for word in words[:alike]:
        if max_cells(" ".join([*begun, word])) > first:
            break
        begun.append(word)
    return one_line(" ".join([*begun, rest]), room)


def short_note(one: Replacement, now: float, of: MemoryRecord | None = None) -> str:
    """Behind the text that took the place: ``was 12 May``, or ``changed``. With ``?`` while Review asks; ``by an agent``.

    Where both name the same day it is ``text changed``, so that nobody takes the day for another one.
    ``of``: the memory that it stands behind; behind the old text it is ``now 19 May?``.
    """
    days = moved_days(one, now)
    by = " by an agent" if changed_by(one) else ""
    if one.old is None:
        return f"was {one_line(one.was, _WAS)}"
    if not days:
        same_day = one.old.happens_at is not None and one.new.happens_at is not None
        return f"{_TEXT_CHANGED}{'?' * (one.how == 'asked')}{by}" if same_day else f"{label(one)}{by}"
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
        (" ".join((one.was if one.old is None else without_secrets(one.old)).split()), "text"),
    )
    is_now: Line = (
        (label_before(one, "now"), role(one)),
        (" ".join(without_secrets(one.new).split()), "text"),
    )
    if of is not None and of.id == one.new.id:
        return (*was, (about, "dim"))
    if of is not None and one.old is not None and of.id == one.old.id:
        return (*is_now, (about, "dim"))
    return (*was, ("; ", role(one)), *is_now, (about, "dim"))


def versions(chain: Sequence[Replacement]) -> list[MemoryRecord]:
    """The texts of a chain, each once, the earliest first."""
    return list({side.id: side for one in chain for side in one.sides}.values())


def next_version(chain: Sequence[Replacement], id: str) -> MemoryRecord | None:
    """What follows a memory (by id) in its chain; after the last one the first. None if it is in none."""
    those = versions(chain)
    at = next((at for at, one in enumerate(those) if one.id == id), None)
    return None if at is None else those[(at + 1) % len(those)]


def chain_lines(replacements: Sequence[Replacement], now: float, of: MemoryRecord) -> Iterator[LabelledLine]:
    """The chain that a memory belongs to, the earliest first. Each has a label."""
    for one in replacements[:_MOST]:
        yield LabelledLine(label(one), line(one, now, of))
