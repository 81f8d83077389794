"""Validate imported notes, scratchpad entries and names, and find those that are there already.

Nothing that comes in changes what is there: a known note, key or name stays as it is. Links lead only to rows that
are there, so they resolve and have no cycle.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Sequence
from typing import NamedTuple

import apsw
import msgspec

from memtui.engine.days import day_of_fact
from memtui.engine.entities import operations
from memtui.engine.errors import InputError
from memtui.engine.memories import validation
from memtui.engine.memories.validation import CheckedText
from memtui.engine.records import Options
from memtui.engine.store import memories, scratchpad, tombstones
from memtui.engine.store.entities import entity_key
from memtui.engine.store.sql import json_text, scalar

from .base import ConsolidatedSession, NamedEntity, Note, PadEntry, Stored

KEY_IN_USE = "scratchpad key in use with another value"
EDITED = "edited outside of memtui: the memory keeps its text"
_MOST_NAMES = 50
_SHORTEST_NAME = 2
_NAMES_KEPT = 10_000
_MAX_SUMMARY = 2_000
# What the memory itself says in attributes.
_RESERVED_ATTRIBUTES = frozenset(("supersedes", "merged", "secrets", "redacted", "enriched_at"))


class NewNote(NamedTuple):
    """A note that has passed intake, ready to be stored."""

    note: Note
    intake: CheckedText
    vouched: bool


NewItem = NewNote | PadEntry | NamedEntity | ConsolidatedSession


def check_item(
    item: Stored,
    options: Options,
    ordering: Callable[[str], bool],
    names: dict[NamedEntity, NamedEntity | None],
) -> NewItem:
    """The item as it will be stored. Raises InputError for what cannot be.

    ``ordering`` tells whether a text talks to the assistant: what another file calls protected is protected here as
    well, unless it does. ``names`` remembers what became of a name (None: it cannot be one): notes repeat them.
    """
    if isinstance(item, Note):
        return _checked_note(item, options, ordering, names)
    if isinstance(item, PadEntry):
        value = validation.accept_note(item.value, options.secrets)
        return msgspec.structs.replace(item, key=validation.usable_key(item.key.strip()), value=value)
    if isinstance(item, NamedEntity):
        return _checked_name(item, options)
    return msgspec.structs.replace(item, session_id=validation.check_name(item.session_id, "session id"))


def _checked_note(
    note: Note,
    options: Options,
    ordering: Callable[[str], bool],
    names: dict[NamedEntity, NamedEntity | None],
) -> NewNote:
    episode = note.kind == "episode"
    accepted = validation.check_text(
        note.content if episode else note.content.strip(), note.kind, options.secrets
    )
    about = [
        name for named in note.about[:_MOST_NAMES] if (name := _check_name(named, options, names)) is not None
    ]
    attributes = {
        key: validation.check_text(value, "fact", options.secrets).content
        if isinstance(value, str)
        else value
        for key, value in note.attributes.items()
        if key not in _RESERVED_ATTRIBUTES and value != ""
    }
    fades = (
        note.decay_rate if note.decay_rate is not None and 0 < note.decay_rate <= 1 else options.decay_rate
    )
    fact, happens_at = note.kind == "fact", note.happens_at
    if fact and happens_at is None and note.event_time is not None:
        happens_at = day_of_fact(accepted.content, note.event_time, note.topic)
    if note.topic in options.lasting or (note.own and not options.notes_fade):
        fades = 0.0
    checked_note = msgspec.structs.replace(
        note,
        content=accepted.content,
        confidence=min(max(note.confidence, 0.0), 1.0) if math.isfinite(note.confidence) else 1.0,
        decay_rate=0.0 if note.lasting or not fact else fades,
        topic=note.topic if fact else None,
        happens_at=happens_at if fact else None,
        session_id=None if note.session_id is None else validation.check_name(note.session_id, "session id"),
        role=None if note.role is None else validation.check_name(note.role, "role"),
        project=None if note.project is None else validation.check_name(note.project, "project"),
        source=validation.without_secrets(note.source),
        tags=_usable_tags(note.tags),
        attributes=attributes,
        about=tuple(about),
    )
    vouched = note.lasting and fact and not ordering(accepted.content)
    return NewNote(checked_note, accepted, vouched)


def _usable_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Those of the tags that are words, spaces made to dashes."""
    usable: list[str] = []
    for tag in tags[:_MOST_NAMES]:
        try:
            usable.extend(validation.normalise_tags(["-".join(tag.split())]))
        except InputError:
            continue
    return validation.normalise_tags(usable)


def _check_name(
    named: NamedEntity, options: Options, names: dict[NamedEntity, NamedEntity | None]
) -> NamedEntity | None:
    if named not in names:
        if len(names) >= _NAMES_KEPT:
            names.clear()
        try:
            names[named] = _checked_name(named, options)
        except InputError:
            names[named] = None
    return names[named]


def _checked_name(named: NamedEntity, options: Options) -> NamedEntity:
    names = [operations.clean_name(named.name)]
    for alias in named.aliases[:_MOST_NAMES]:
        try:
            names.append(operations.clean_name(alias))
        except InputError:
            continue
    if len(entity_key(names[0])) < _SHORTEST_NAME:
        raise InputError("A name of one character is in every text.", "Give a longer one.")
    summary = named.summary
    if summary and summary.strip():
        summary = validation.check_text(summary.strip()[:_MAX_SUMMARY], "fact", options.secrets).content
    aliases = tuple(name for name in names[1:] if len(entity_key(name)) >= _SHORTEST_NAME)
    return NamedEntity(name=names[0], type=named.type, aliases=aliases, summary=summary or None)


def erased_key(item: Stored) -> str | None:
    """What it is known by once it was erased for good; None for what cannot be erased by itself."""
    if isinstance(item, Note):
        return item.id or item.source_key
    if isinstance(item, PadEntry):
        return f"scratchpad:{item.key.strip()}"
    return f"entity:{entity_key(item.name)}" if isinstance(item, NamedEntity) else None


def erased_text(item: NewItem) -> str | None:
    """What a note is known by under any key once it was erased for good."""
    if not isinstance(item, NewNote) or item.note.kind == "episode":
        return None
    return tombstones.note_key(item.note.kind, item.note.content)


def item_identity(item: NewItem) -> str:
    """The identity of an item within its import."""
    if isinstance(item, NewNote):
        return f"key {item.note.source_key}"
    if isinstance(item, PadEntry):
        return f"pad {item.key}"
    return f"entity {entity_key(item.name)}" if isinstance(item, NamedEntity) else f"talk {item.session_id}"


def same_text_key(item: NewItem) -> str | None:
    """Notes that say the same, as one is enough; None for everything else."""
    if not isinstance(item, NewNote) or item.note.kind == "episode" or item.note.ended_at is not None:
        return None
    return f"text {item.note.kind} {item.note.category} {item.note.content}"


def stored_texts(connection: apsw.Connection, items: Sequence[NewItem]) -> set[str]:
    """The ``same_text_key`` of notes that say what an active memory says already."""
    hashes = {memories.content_hash(item.note.content) for item in items if isinstance(item, NewNote)}
    rows = connection.execute(
        """
        SELECT kind, category, content FROM memories
        WHERE content_hash IN (SELECT value FROM json_each(?)) AND kind <> 'episode' AND valid_until IS NULL
        """,
        (json_text(sorted(hashes)),),
    )
    return {f"text {kind} {category} {content}" for kind, category, content in rows}


def known_ids(connection: apsw.Connection, items: Sequence[Stored]) -> dict[str, str]:
    """The texts of memories that notes from memtui itself are about, by id."""
    ids = [item.id for item in items if isinstance(item, Note) and item.id is not None]
    if not ids:
        return {}
    rows = connection.execute(
        "SELECT id, content FROM memories WHERE id IN (SELECT value FROM json_each(?))",
        (json_text(ids),),
    )
    return {str(id): str(content) for id, content in rows}


def equal_except_layout(one: str, other: str) -> bool:
    """Whether texts are equal but for what a note of a vault cannot keep: line ends and control characters."""
    return _visible_text(one) == _visible_text(other)


def _visible_text(text: str) -> list[str]:
    return "".join(
        "\ufffd" if unicodedata.category(c) in ("Cc", "Cf") and c not in "\r\n\t" else c for c in text
    ).split()


def item_exists(connection: apsw.Connection, item: NewItem, stored: set[str]) -> bool:
    """Whether storing it would add nothing (source keys are looked up apart, many at a time).

    ``stored``: the texts that are there, as ``stored_texts`` gives them.
    """
    if isinstance(item, NewNote):
        return same_text_key(item) in stored
    if isinstance(item, PadEntry):
        return scratchpad.find(connection, item.key) is not None
    if isinstance(item, NamedEntity):
        return not unknown_names(connection, item)
    return not scalar(
        connection,
        "SELECT 1 FROM sessions_consolidations WHERE session_id = ? AND consolidated_through IS NULL",
        (item.session_id,),
    )


def has_other_value(connection: apsw.Connection, item: NewItem) -> bool:
    """Whether a scratchpad key is in use for something else."""
    if not isinstance(item, PadEntry):
        return False
    entry = scratchpad.find(connection, item.key)
    return entry is not None and entry.value != item.value


def unknown_names(connection: apsw.Connection, named: NamedEntity) -> list[str]:
    """Those of its names that stand for nothing yet."""
    names = {entity_key(name): name for name in (named.name, *named.aliases)}
    return [
        name
        for key, name in names.items()
        if scalar(connection, "SELECT 1 FROM entity_aliases WHERE key = ? LIMIT 1", (key,)) is None
    ]
