"""Records as others may see them, in a picture: without facts and names that have secrets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from memtui.engine.records import Status

if TYPE_CHECKING:
    from memtui.engine.records import MemoryRecord, Neighbourhood, Portrait, Timeline


def redacted_portrait(portrait: Portrait) -> Portrait:
    """What is known, without facts that have secrets, what waits for the person, what it was before, and agents.

    The counts stay.
    """

    def facts_without_secrets(facts: Sequence[MemoryRecord]) -> tuple[MemoryRecord, ...]:
        return tuple(one for one in facts if "secrets" not in one.attributes)

    return replace(
        portrait,
        pending_sessions=0,
        status=Status(review=0),
        by_agents=0,
        from_agents=(),
        changed=0,
        changes=(),
        replaced={},
        months=(),
        topics=tuple(replace(one, facts=facts_without_secrets(one.facts)) for one in portrait.topics),
        newest=facts_without_secrets(portrait.newest),
        fading=tuple(one for one in portrait.fading if "secrets" not in one.memory.attributes),
        people=tuple(
            one for one in portrait.people if _redact_name(one.canonical_name) == one.canonical_name
        ),
    )


def redacted_neighbourhood(neighbourhood: Neighbourhood) -> Neighbourhood:
    """Whom an entity is seen with, without texts of memories."""
    kept = [
        one
        for one in neighbourhood.companions
        if _redact_name(one.entity.canonical_name) == one.entity.canonical_name
    ]
    name = _redact_name(neighbourhood.entity.canonical_name)
    return replace(
        neighbourhood,
        entity=replace(neighbourhood.entity, canonical_name=name),
        companions=tuple(replace(one, latest=None) for one in kept),
    )


def redacted_timeline(timeline: Timeline) -> Timeline:
    """The counts, without rows whose names have secrets."""
    kept = [row for row in timeline.rows if row.name is None or _redact_name(row.name) == row.name]
    return replace(timeline, rows=tuple(kept))


def _redact_name(name: str) -> str:
    from memtui.engine.guards import secrets

    return secrets.redact_secrets(name)[0]
