"""``memtui entities``: list people, projects and places, show one, or correct one."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import asdict

from memtui.engine.errors import MemtuiError, UsageError
from memtui.present.entity import DECIDED, companion_summary, entity_facts, unsearched_note
from memtui.present.format import format_count, plural

from .errors import NEGATIVE, OK
from .memory_lines import memory_line, print_cautions, print_what_changed, shown_glyphs, time_ago
from .output import cut_to_terminal, err, out, paint, paint_line, print_json, row, table
from .root import Command, json_option, pass_invocation

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import Caution, Entity, EntityMerge, EntityProfile, MemoryRecord, Replacement

    from .invocation import Invocation

_TYPES = ("person", "project", "organization", "location", "email", "url", "date", "other")
_ORDERS = ("mentions", "name", "last_seen", "first_seen")
_NAMES_COMPLETED = 50

# The verb of each option.
_CORRECTIONS: dict[str, Callable[[Memory, str, Any], Entity]] = {
    "rename": lambda memory, id, name: memory.entities.rename(id, name),
    "retype": lambda memory, id, type: memory.entities.retype(id, type),
    "alias": lambda memory, id, alias: memory.entities.add_alias(id, alias),
    "remove_alias": lambda memory, id, alias: memory.entities.remove_alias(id, alias),
    "merge": lambda memory, id, other: memory.entities.merge(id, other),
    "split": lambda memory, id, alias: memory.entities.split(id, alias),
    "keep_apart": lambda memory, id, other: memory.entities.keep_apart(id, other),
    "link": lambda memory, id, memory_id: memory.entities.link(memory_id, id),
    "unlink": lambda memory, id, memory_id: memory.entities.unlink(memory_id, id),
    "not_an_entity": lambda memory, id, _: memory.entities.not_an_entity(id),
    "pin": lambda memory, id, pinned: memory.entities.pin(id, pinned),
    "describe": lambda memory, id, text: memory.entities.describe(id, text or None),
}


def _complete_name(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The names that begin like this; none when the memory cannot be read."""
    from .invocation import Invocation

    try:
        with context.ensure_object(Invocation).open_readonly() as memory:
            entities = memory.entities.page(incomplete, limit=_NAMES_COMPLETED)
    except MemtuiError:
        return []
    begun = incomplete.casefold()
    return [one.canonical_name for one in entities if one.canonical_name.casefold().startswith(begun)]


@click.command("entities", cls=Command)
@click.argument("name", required=False, shell_complete=_complete_name)
@click.option("--type", "type", type=click.Choice(_TYPES), help="List only those of a type.")
@click.option(
    "--filter", "-f", "words", default="", metavar="WORDS", help="List only those with these words in a name."
)
@click.option("--sort", "order", type=click.Choice(_ORDERS), default="mentions", show_default=True)
@click.option("--limit", "-n", type=click.IntRange(min=1), default=20, show_default=True)
@click.option("--with", "other", metavar="OTHER", help="Only the memories that mention OTHER too.")
@click.option("--since", metavar="DATE", help="Only memories since then: 2026-03, yesterday, 3mo.")
@click.option("--until", metavar="DATE", help="Only memories until the end of then.")
@click.option("--rename", metavar="NEW", help="Change the name; the old one stays as an alias.")
@click.option("--retype", type=click.Choice(_TYPES), help="Change its type.")
@click.option("--alias", metavar="ALIAS", help="Add another name.")
@click.option("--remove-alias", metavar="ALIAS", help="Remove another name.")
@click.option("--merge", metavar="OTHER", help="OTHER is the same: merge the two.")
@click.option("--split", metavar="ALIAS", help="ALIAS is somebody else: split it off.")
@click.option("--keep-apart", metavar="OTHER", help="OTHER is somebody else: do not ask again.")
@click.option("--link", metavar="ID", help="The memory ID is about it.")
@click.option("--unlink", metavar="ID", help="The memory ID is not about it.")
@click.option(
    "--not-an-entity", is_flag=True, default=None, help="Not an entity: remove it and stop detecting it."
)
@click.option("--describe", metavar="TEXT", help='Describe it in one line ("" removes the description).')
@click.option("--pin/--unpin", "pin", default=None, help="List it first.")
@click.option("--dry-run", is_flag=True, help="With --merge: only show the result.")
@json_option
@pass_invocation
def entities_command(
    invocation: Invocation, /, name: str | None, type: str | None, words: str, order: Any, limit: int, other: str | None,
    since: str | None, until: str | None, dry_run: bool, json: bool, **corrections: Any,
) -> int:  # fmt: skip
    """List the people, projects and places that memories name. With NAME show or correct one.

    NAME is a name, another name (alias) or an id.

    \b
    memtui entities "Ada" --rename "Ada Lovelace"
    memtui entities "Ada Lovelace" --with "Charles Babbage"
    memtui entities "Ada Lovelace" --since 2026-03 --until 2026-05
    memtui entities "Ada Lovelace" --merge "A. Lovelace"
    memtui undo
    """
    chosen = {verb: value for verb, value in corrections.items() if value is not None}
    if chosen and name is None:
        raise UsageError("Which entity is to be corrected?", "Give a name: memtui entities NAME --rename NEW")
    if len(chosen) > 1:
        raise UsageError("Give only one correction at a time.", "Run the command once for each.")
    if other is not None and (chosen or name is None):
        raise UsageError("--with goes with a name alone.", 'For example: memtui entities "Ada" --with "Bob"')
    on = _on_term(since, until)
    if on and (chosen or name is None):
        raise UsageError(
            "--since and --until go with a name.", 'For example: memtui entities "Ada" --since 2026-03'
        )
    if dry_run and "merge" not in chosen:
        raise UsageError("--dry-run goes with --merge.", "Other corrections can be undone.")
    if name is None:
        return _print_entities(invocation, words, type, order, limit, json)
    if dry_run:
        with invocation.open_readonly() as memory:
            preview = memory.entities.preview_merge(name, chosen["merge"])
        print_json({"merge": preview}) if json else _print_merge(preview)
        return OK
    for verb, value in chosen.items():
        with invocation.open_existing(must_write=True) as memory:
            entity = _CORRECTIONS[verb](memory, memory.entities.get(name, limit=0).entity.id, value)
            operation = memory.view.operations(limit=1)[0]
        if json:
            print_json({"entity": entity, "operation": operation})
        else:
            out(paint(operation.label, "green"))
            out(_entity_line(entity))
        return OK
    if other is not None:
        return _print_shared(invocation, name, other, limit, json, on)
    if on and name is not None:
        return _print_in_time(invocation, name, on, limit, json)
    with invocation.open_readonly() as memory:
        profile = memory.entities.get(name, limit=limit)
        merge_candidates = memory.entities.merge_candidates(profile.entity.id)
        cautions = memory.view.cautions([one.id for one in profile.memories])
        cautions |= memory.view.summary_cautions([profile.entity])
        replaced = memory.view.replacements([one.id for one in profile.memories])
    if json:
        print_json(asdict(profile) | {"cautions": cautions, "replacements": replaced})
    else:
        _print_profile(invocation, profile, merge_candidates, cautions, replaced)
    return OK


def _print_entities(
    invocation: Invocation, words: str, type: str | None, order: Any, limit: int, json: bool
) -> int:
    with invocation.open_readonly() as memory:
        entities = memory.entities.page(words, type=type, order=order, limit=limit)
        total = memory.view.entity_list.count(f"{words} type:{type}" if type else words)
        unread = memory.stats().unlinked
    if json:
        print_json({"entities": entities, "total": total, "waiting": unread})
        return OK if entities else NEGATIVE
    for line in table([_entity_cells(one) for one in entities], right=(2, 3)) if entities else ():
        out(line)
    if len(entities) < total:
        err(
            f"{format_count(len(entities))} of {format_count(total)}: --limit shows more, --filter finds them"
        )
    if not entities:
        err("no entities" + (" with these words" if words or type else ""))
    if text := unsearched_note(unread):
        err(text)
    return OK if entities else NEGATIVE


def _entity_cells(entity: Entity) -> tuple[str, ...]:
    seen = time_ago(entity.last_seen) if entity.last_seen is not None else ""
    name = paint(entity.canonical_name, "bold") if entity.pinned else entity.canonical_name
    return (
        name,
        entity.type,
        format_count(entity.mention_count),
        seen,
        paint(entity.id, "dim"),
        cut_to_terminal(", ".join(entity.aliases), 60),
    )


def _entity_line(entity: Entity) -> str:
    also = f"also {', '.join(entity.aliases)}" if entity.aliases else ""
    memories = plural(entity.mention_count, "memory")
    return row(paint(entity.canonical_name, "bold"), entity.type, memories, paint(entity.id, "dim"), also)


def _print_merge(merge: EntityMerge) -> None:
    out(
        row(
            "would be one:",
            paint(merge.survivor.canonical_name, "bold"),
            merge.type,
            paint(merge.survivor.id, "dim"),
        )
    )
    whole = plural(merge.memories_after, "memory")
    out(f"{whole}, {format_count(merge.moved)} of them from “{merge.absorbed.canonical_name}”")
    out(f"also called {', '.join(merge.aliases)}")


def _on_term(since: str | None, until: str | None) -> str:
    """What stands behind ``on:`` in a filter; empty without either."""
    first, last = ("-".join((one or "").split()) for one in (since, until))
    return f"{first}..{last}" if first or last else ""


def _print_in_time(invocation: Invocation, name: str, on: str, limit: int, json: bool) -> int:
    """Whom it is seen with in a time, and the memories of that time that mention it, the latest first."""
    with invocation.open_readonly() as memory:
        neighbourhood = memory.view.neighbourhood(name, on=on, limit=limit)
        filter = f"entity:{neighbourhood.entity.id} on:{on}"
        shown, total = memory.view.page(filter, limit=limit), memory.view.count(filter)
        ids = [one.id for one in shown]
        cautions, replaced = memory.view.cautions(ids), memory.view.replacements(ids)
    if json:
        print_json(
            {
                "neighbourhood": neighbourhood,
                "memories": shown,
                "total": total,
                "cautions": cautions,
                "replacements": replaced,
            }
        )
        return OK if total else NEGATIVE
    if not total:
        err(f"no memory of that time mentions {neighbourhood.entity.canonical_name}")
        return NEGATIVE
    first, _, last = on.partition("..")
    when = f"{first} until {last}" if first and last else f"since {first}" if first else f"until {last}"
    out(row(paint(neighbourhood.entity.canonical_name, "bold"), paint(when, "dim")))
    now = time.time()
    rows = [
        ("" if index else "seen with", companion_summary(one, now))
        for index, one in enumerate(neighbourhood.companions)
    ]
    if neighbourhood.others:
        rows.append(("", f"and {format_count(neighbourhood.others)} more"))
    for line in table(rows or [("seen with", "nobody and nothing else")]):
        out(line)
    out()
    _print_memories(invocation, shown, cautions, replaced, total)
    return OK


def _print_memories(
    invocation: Invocation,
    shown: Sequence[MemoryRecord],
    cautions: Mapping[str, Sequence[Caution]],
    replaced: Mapping[str, Sequence[Replacement]],
    total: int,
) -> None:
    signs = shown_glyphs(invocation)
    for one in shown:
        out(memory_line(one, signs, time_ago(one.event_time).rjust(4)))
        print_what_changed(one, cautions.get(one.id, ()), replaced.get(one.id, ()))
    if len(shown) < total:
        err(f"{format_count(len(shown))} of {format_count(total)}: --limit shows more")


def _print_shared(invocation: Invocation, name: str, other: str, limit: int, json: bool, on: str = "") -> int:
    """The memories that mention both, the latest first."""
    with invocation.open_readonly() as memory:
        both = [memory.entities.get(one, limit=0).entity for one in (name, other)]
        filter = " ".join((*(f"entity:{one.id}" for one in both), *((f"on:{on}",) if on else ())))
        memories, total = memory.view.page(filter, limit=limit), memory.view.count(filter)
        ids = [one.id for one in memories]
        cautions, replaced = memory.view.cautions(ids), memory.view.replacements(ids)
    if json:
        print_json(
            {
                "entities": both,
                "memories": memories,
                "total": total,
                "cautions": cautions,
                "replacements": replaced,
            }
        )
        return OK if memories else NEGATIVE
    first, second = (one.canonical_name for one in both)
    if not memories:
        err(f"no memory{' of that time' if on else ''} mentions both {first} and {second}")
        return NEGATIVE
    out(row(paint(first, "bold"), paint("and", "dim"), paint(second, "bold"), gap=" "))
    _print_memories(invocation, memories, cautions, replaced, total)
    return OK


def _print_profile(
    invocation: Invocation,
    profile: EntityProfile,
    merge_candidates: list[Entity],
    cautions: Mapping[str, Sequence[Caution]],
    replaced: Mapping[str, Sequence[Replacement]],
) -> None:
    entity = profile.entity
    out(row(paint(entity.canonical_name, "bold"), paint(entity.id, "dim")))
    if entity.summary:
        out(entity.summary)
        print_cautions(cautions.get(entity.id, ()))
    decided = f" ({DECIDED})" if entity.decided else ""
    rows: list[tuple[str, str]] = [("type", f"{entity.type}{decided}")]
    rows += [(label, paint_line(line)) for label, line in entity_facts(entity, profile.unlinked, time.time())]
    now = time.time()
    rows += [
        ("" if index else "seen with", companion_summary(one, now))
        for index, one in enumerate(profile.seen_with)
    ]
    if profile.others:
        rows.append(("", f"and {format_count(profile.others)} more"))
    if merge_candidates:
        names = ", ".join(
            f"{one.canonical_name} ({format_count(one.mention_count)})" for one in merge_candidates
        )
        rows.append(("may be", f"{names}: --merge makes one of both, --keep-apart says no"))
    for line in table(rows):
        out(line)
    if profile.memories:
        out()
    signs = shown_glyphs(invocation)
    for memory in profile.memories:
        out(memory_line(memory, signs, time_ago(memory.event_time).rjust(4)))
        print_what_changed(memory, cautions.get(memory.id, ()), replaced.get(memory.id, ()))
    if len(profile.memories) < profile.total:
        err(f"{format_count(len(profile.memories))} of {format_count(profile.total)}: --limit shows more")
    if text := unsearched_note(profile.waiting):
        err(text)
