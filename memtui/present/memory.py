"""A memory as text: its kind, trust, confidence, fading, and why it is in the Trash."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from .changes import ColumnChange
from .format import WHOLE_MONTHS, is_time, local_date, local_datetime, local_month, relative_time
from .text import LabelledLine, Line, VisibleText, one_line

if TYPE_CHECKING:
    from memtui.engine.records import Enrichment, Entity, MemoryDetail, MemoryRecord, Trust

# An unprotected memory with less confidence than this is shown as fading.
FADING = 0.2
RULE_FIRST = "a rule for all answers or for this project: rules come first"
_WHOSE: dict[Trust, str] = {
    "user": "from you", "agent": "from an agent", "tool": "from a tool", "model": "from a model"
}  # fmt: skip
_REASONS_ENDED = {"superseded": "replaced"}
_FOLLOWED = frozenset({"superseded", "merged"})
_TYPE_LABELS = {
    "person": "people", "location": "places", "project": "projects", "organization": "groups", "date": "dates",
}  # fmt: skip
_LEAST = 0.005
_SIDES = ("trash", "confidence", "confirmed", "tags", "kind", "project", "topic", "date")
_DAY = 86_400
_word = re.compile(r"\w+")
_AGENT = 40
_HALF_A_DAY = 43_200  # a day is named by its noon


def kind_label(memory: MemoryRecord) -> str:
    """``fact``, ``episode``, ``lesson``."""
    return memory.category or memory.kind


def speaker_note(memory: MemoryRecord) -> str:
    """Who said it: ``from you``, ``from a tool``, ``from cursor``."""
    if memory.corrected_by and not memory.protected:
        return f"from {one_line(memory.corrected_by, _AGENT)}"
    return _WHOSE[memory.trust]


def confidence_text(share: float) -> VisibleText:
    """A confidence between 0 and 1, in three cells: ``1.0``, ``.74``."""
    return VisibleText("1.0" if is_full_confidence(share) else f"{max(share, 0.0):.2f}"[1:])


def is_full_confidence(share: float) -> bool:
    """Whether a confidence is shown as 1.0."""
    return share >= 0.995


def confidence_left(memory: MemoryRecord) -> str:
    """``.74``, or ``.74, down from .90`` if it has faded."""
    effective = confidence_text(memory.effective)
    faded = memory.effective < memory.confidence - _LEAST
    return f"{effective}, down from {confidence_text(memory.confidence)}" if faded else effective


def is_fading(memory: MemoryRecord) -> bool:
    return memory.decay_rate > 0 and memory.effective < FADING


def confirmed_since(memory: MemoryRecord, now: float) -> str:
    """When it was confirmed. Empty if it was not."""
    if memory.confirmed_at is None:
        return ""
    return f"confirmed {local_date(memory.confirmed_at, now)}: never fades"


def pinned_since(memory: MemoryRecord, now: float) -> str:
    """Since when it is pinned. Empty if it is not, or is in the Trash."""
    if not memory.pinned or not memory.active:
        return ""
    at = memory.pinned_at
    since = f"since {local_date(at, now)}: " if is_time(at) else ""
    return f"{since}for every prompt"


def without_secrets(memory: MemoryRecord) -> str:
    """Its text as lists and cards show it: secrets are blacked out. Previews and transcripts show all of it."""
    if "secrets" not in memory.attributes:
        return memory.content
    from memtui.engine.guards import secrets

    return secrets.redact_secrets(memory.content)[0]


def is_past_plan(memory: MemoryRecord, now: float) -> bool:
    """Whether it is a plan whose date is over."""
    return memory.topic == "plan" and memory.happens_at is not None and memory.happens_at + _HALF_A_DAY < now


def plan_day(memory: MemoryRecord, now: float) -> str:
    """``12 Jun``: the day of a plan that lies ahead; empty for everything else."""
    if memory.topic != "plan" or memory.happens_at is None or not memory.active or is_past_plan(memory, now):
        return ""
    return day_or_month(memory, now)


def day_or_month(memory: MemoryRecord, now: float) -> str:
    """``12 Jun``; ``in Jun`` where the text names a month and no day of it. Empty without a day.

    A month is kept as its last day, until which a plan of it holds.
    """
    if memory.happens_at is None:
        return ""
    local = local_datetime(memory.happens_at, None)
    if (local + timedelta(days=1)).month != local.month:
        name = WHOLE_MONTHS[local.month - 1]
        words = set(_word.findall(memory.content.casefold()))
        names_day = "end" in words or any(word.startswith(str(local.day)) for word in words)
        if not names_day and not words.isdisjoint({name.casefold(), name[:3].casefold()}):
            return f"in {local_month(memory.happens_at, now)}"
    return local_date(memory.happens_at, now)


def date_note(memory: MemoryRecord, now: float) -> str:
    """``12 Jun, in 3w``, ``2 Mar, past``: the date in its text. Empty if there is none."""
    if memory.happens_at is None:
        return ""
    day = day_or_month(memory, now)
    days = round((memory.happens_at - now) / _DAY)  # from any hour to a noon: whole days of the calendar
    if days == 0:
        return f"{day}, today"
    away = relative_time(days * _DAY, 0)
    if days > 0:
        return f"{day}, {away}"
    return f"{day}, past" if is_past_plan(memory, now) else f"{day}, {away} ago"


def topic_and_date(memory: MemoryRecord, now: float) -> str:
    """``plan, 12 Jun, in 3w``: its topic and the date in its text."""
    return f"{memory.topic or 'no topic'}, {date_note(memory, now) or 'no date'}"


def fading_text(memory: MemoryRecord, fades: float | None, now: float) -> str:
    """Until when it stays above the threshold, or that it does not fade.

    Empty if it is confirmed, in the Trash or not a fact. ``fades``: when it reaches the threshold.
    """
    if not memory.active:
        return ""
    if fades is None:
        lasts = memory.kind == "fact" and memory.decay_rate == 0 and not memory.protected
        return "does not fade" if lasts else ""
    return f"{'until' if fades > now else 'faded since'} {local_date(fades, now)}"


def is_replaced(memory: MemoryRecord) -> bool:
    """Whether another memory replaces it."""
    return memory.ended_by in _FOLLOWED


def ended_reason(memory: MemoryRecord) -> str:
    """``replaced``, ``merged``, ``forgotten``, ``faded``."""
    return _REASONS_ENDED.get(memory.ended_by or "", memory.ended_by or "ended")


def ended_text(memory: MemoryRecord, now: float) -> str:
    """Why and since when it is in the Trash. Empty while it is active."""
    return (
        "" if memory.valid_until is None else f"{ended_reason(memory)} {local_date(memory.valid_until, now)}"
    )


def withheld_from_text(detail: MemoryDetail) -> Iterator[LabelledLine]:
    """The agents that do not get it."""
    if detail.withheld_from:
        yield LabelledLine("not for", ((", ".join(detail.withheld_from), "warning"),))


def open_card_text(detail: MemoryDetail) -> Iterator[LabelledLine]:
    """That an open card of Review is about it."""
    if detail.asked:
        yield LabelledLine("review", (("a card in Review asks whether this still holds", "warning"),))


def state_lines(memory: MemoryRecord, fades: float | None, now: float) -> Iterator[LabelledLine]:
    """Its state: confidence, confirmed, pinned, in the Trash or fading; its topic, date and tags."""
    yield LabelledLine("confidence", ((confidence_left(memory), "text"),))
    if text := confirmed_since(memory, now):
        yield LabelledLine("kept", ((text, "success"),))
    if text := pinned_since(memory, now):
        yield LabelledLine("pinned", ((text, "text"),))
    if text := ended_text(memory, now):
        yield LabelledLine("trash", ((text, "warning"),))
    if text := fading_text(memory, fades, now):
        yield LabelledLine("fading", ((text, "text"),))
    if memory.topic:
        yield LabelledLine("topic", ((memory.topic, "text"),))
    if text := date_note(memory, now):
        yield LabelledLine("date", ((text, "warning" if is_past_plan(memory, now) else "text"),))
    if memory.tags:
        yield LabelledLine("tags", (("  ".join(memory.tags), "text"),))


def entities_by_type(entities: Sequence[Entity]) -> dict[str, list[Entity]]:
    """The entities in its text, by type: ``people``, ``places``, ``about`` for the rest."""
    by_type: dict[str, list[Entity]] = {}
    for entity in entities:
        by_type.setdefault(_TYPE_LABELS.get(entity.type, "about"), []).append(entity)
    return by_type


def enrichment_text(read: Enrichment, now: float, *, most: int, between: str = ", ") -> Line:
    """When a model looked for more names in it, and the first names that it found."""
    day = local_date(read.at, now)
    names = between.join(one.canonical_name for one in read.added[:most])
    if not names:
        return ((f"{day}, no more names found", "dim"),)
    return (f"{day}, found ", "dim"), (names, "entity")


def version_differences(old: MemoryRecord, new: MemoryRecord) -> list[ColumnChange]:
    """The differences between two versions of a memory, without the text."""
    changes = map(ColumnChange, _SIDES, _compared_values(old), _compared_values(new))
    return [one for one in changes if one.was != one.now]


def _compared_values(memory: MemoryRecord) -> tuple[str, ...]:
    """The values of ``_SIDES``, in that order."""
    return (
        ended_reason(memory) if memory.ended_by else "no",
        confidence_text(memory.confidence),
        "yes" if memory.protected else "no",
        ", ".join(memory.tags) or "none",
        kind_label(memory),
        memory.project or "none",
        memory.topic or "none",
        "none" if memory.happens_at is None else local_date(memory.happens_at),
    )
