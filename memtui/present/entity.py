"""Entities as text: what one is, its other names, where it is mentioned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from .format import format_count, local_date, plural
from .memory import without_secrets
from .text import LabelledLine, Line, Role

if TYPE_CHECKING:
    from memtui.engine.records import Companion, Entity, Neighbourhood

    from .glyphs import Glyphs

DECIDED = "as you said"
# A filter with a longer name is hard to read.
_NAME_IN_FILTER = 60
_ROLES: Mapping[str, Role] = {
    "person": "entity", "project": "project", "organization": "organization", "location": "location"
}  # fmt: skip


def mention_summary(entity: Entity, now: float) -> str:
    """``in 4 memories, 3 Mar to 5 May``."""
    number = f"in {plural(entity.mention_count, 'memory')}"
    if entity.first_seen is None or entity.last_seen is None:
        return number
    first, last = (local_date(seconds, now) for seconds in (entity.first_seen, entity.last_seen))
    return f"{number}, {first}" if first == last else f"{number}, {first} to {last}"


def entity_facts(entity: Entity, unlinked: int, now: float, *, between: str = ", ") -> Iterator[LabelledLine]:
    """Its other names and its mentions. ``unlinked``: how many memories the person took out."""
    if entity.aliases:
        yield LabelledLine("also", ((between.join(map(str.strip, entity.aliases)), "text"),))
    yield LabelledLine("mentioned", ((mention_summary(entity, now), "text"),))
    if unlinked:
        yield LabelledLine("not in", ((f"{plural(unlinked, 'memory')} that you took out", "text"),))


def unsearched_note(number: int) -> str:
    """How many texts were not searched for names yet. Empty for none."""
    return f"{plural(number, 'text waits', 'texts wait')} to be read for names" if number else ""


def type_sign(type: str, glyphs: Glyphs) -> tuple[str, Role]:
    """The sign and the colour of a type of entity."""
    return glyphs.types.get(type, glyphs.types["other"]), _ROLES.get(type, "text")


def type_legend(glyphs: Glyphs) -> list[tuple[str, str]]:
    """The signs of the types, for the help."""
    return [(glyph, f"{type.capitalize()}, in the drawing.") for type, glyph in glyphs.types.items()]


def companions_headline(neighbourhood: Neighbourhood, left_out: int, when: str = "") -> str:
    """``Ada is seen with 49 others in May 2026, 12 of them drawn``. ``when``: the period; empty for all time."""
    during = f" in {when}" if when else ""
    number = len(neighbourhood.companions) + neighbourhood.others
    name = neighbourhood.entity.canonical_name
    if not number:
        return f"{name} is seen with nobody and nothing else{during}"
    shown_text = f", {format_count(number - left_out)} of them drawn" if left_out else ""
    return f"{name} is seen with {plural(number, 'other')}{during}{shown_text}"


def companion_summary(one: Companion, now: float) -> str:
    """``Nadia (person) in 12 memories, the latest of 14 Nov``."""
    last = f", the latest of {local_date(one.last, now)}" if one.last is not None else ""
    return f"{one.entity.canonical_name} ({one.entity.type}) in {plural(one.together, 'memory')}{last}"


def companion_line(neighbourhood: Neighbourhood, one: Companion | None, now: float) -> Line:
    """``Nadia, person: 12 memories with Ada, the latest of 14 Nov``; of the entity itself without a companion."""
    if one is None:
        entity = neighbourhood.entity
        return (entity.canonical_name, "strong"), (f", {entity.type}: {mention_summary(entity, now)}", "dim")
    last = f", the latest of {local_date(one.last, now)}" if one.last is not None else ""
    with_ = f"{plural(one.together, 'memory')} with {neighbourhood.entity.canonical_name}"
    return (one.entity.canonical_name, "strong"), (f", {one.entity.type}: {with_}{last}", "dim")


def latest_line(one: Companion | None, glyphs: Glyphs) -> Line:
    """The latest memory of both, with the sign of its kind."""
    if one is None or one.latest is None:
        return ()
    return (f"{glyphs.kinds[one.latest.kind]} ", "dim"), (without_secrets(one.latest), "text")


def companions_left_out(neighbourhood: Neighbourhood, left_out: int) -> str:
    """``and 37 more``: how many are not shown, and whether only some memories were counted."""
    more = f"and {format_count(left_out)} more" if left_out else ""
    partly = "in its latest memories" if neighbourhood.partly else ""
    return ", ".join(filter(None, (more, partly)))


def filter_mentioning_all(*entities: Entity, on: str = "") -> str:
    """The filter for all memories that mention every one of these, with turns of conversations. ``on``: of that time."""
    return " ".join(
        (
            *(f"entity:{_entity_term(one)}" for one in entities),
            "kind:fact,reflection,observation,episode",
            *((f"on:{on}",) if on else ()),
        )
    )


def _entity_term(entity: Entity) -> str:
    name = entity.canonical_name
    if len(name) > _NAME_IN_FILTER or not name.isprintable():
        return entity.id
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
