"""Decisions of other devices as text: ``forgotten on laptop, 3 Nov, by you``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .format import local_date
from .memory import ended_reason
from .operation import actor_name
from .text import LabelledLine

if TYPE_CHECKING:
    from memtui.engine.records import MemoryDetail, Stamp

LABEL = "elsewhere"
_MOST = 8
_ASPECTS = {
    "pin": "pin", "topic": "topic", "date": "date", "text": "wording", "withheld": "withheld turns",
}  # fmt: skip


def _foreign_decisions(detail: MemoryDetail) -> Iterator[tuple[Stamp, str]]:
    """Each decision that was made on another device, and its label."""
    memory = detail.memory
    for stamp in detail.decided:
        if stamp.device == detail.device:
            continue
        if stamp.aspect == "state":
            kept = "confirmed" if memory.protected else "kept"
            yield stamp, kept if memory.active else ended_reason(memory)
        elif stamp.aspect.startswith("tag:"):
            yield stamp, f"tag {stamp.aspect.removeprefix('tag:')}"
        elif stamp.aspect.startswith("not-for:"):
            yield (
                stamp,
                f"{'not for' if _agent_of_stamp(detail, stamp) else 'again for'} {stamp.aspect.removeprefix('not-for:')}",
            )
        elif label := _ASPECTS.get(stamp.aspect):
            yield stamp, label


def _agent_of_stamp(detail: MemoryDetail, stamp: Stamp) -> bool:
    return stamp.aspect.removeprefix("not-for:") in (name.lower() for name in detail.memory.withheld_from)


def other_devices(detail: MemoryDetail, now: float) -> Iterator[LabelledLine]:
    """Who decided what, on which device, at the time of its clock. The first has the label."""
    for index, (stamp, label) in enumerate(list(_foreign_decisions(detail))[:_MOST]):
        device = detail.device_names.get(stamp.device, stamp.device)
        where = f"{label} on {device}, {local_date(stamp.at, now)}, by {actor_name(stamp.actor)}"
        yield LabelledLine("" if index else LABEL, ((where, "text"),))
