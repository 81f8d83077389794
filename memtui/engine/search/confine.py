"""What confines an agent to a part of the memory: its filter and its project, as one expression."""

from __future__ import annotations

import msgspec

from memtui.engine.records import Profile

from .filter_terms import Value


def expression(filter: str, project: str | None) -> str:
    """The filter within which an agent may look; "" for all of the memory."""
    narrowed = " ".join(filter.split("\n")).strip()
    return f"{narrowed} project:{quoted(project)}".strip() if project else narrowed


def quoted(text: str) -> str:
    """A value as the filter language takes it, whatever it holds."""
    return str(Value(text=text, quoted=True))


def without_names(profile: Profile) -> Profile:
    """For one that is confined: names of entities are learned from all memories, so it does not search by them."""
    return msgspec.structs.replace(profile, entity=0.0)
