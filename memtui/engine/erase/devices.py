"""What sync is told of an erase: what goes, what was kept, and which names were covered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import apsw
import msgspec

from memtui.engine.store import metadata, stamps, sync_erased, sync_versions, tombstones
from memtui.engine.store.sql import as_json, json_text, scalar

from .closure import ErasedRows
from .columns import columns_of
from .steps import Step

_any = msgspec.json.Decoder().decode


def tell_devices(
    connection: apsw.Connection, closure: ErasedRows, steps: Sequence[Step], *, now: int, actor: str
) -> None:
    """Note for sync what goes, by its name, and forget what sync knew of it. ``steps``: those of the erase, still to be done.

    Rows that stay without words of theirs are sent as they will be, though history does not show that they change: which
    words are distinctive depends on what each device has, and a row may come after the erase. Memories and names of entities
    have their stamps by triggers, the rest gets them here. Notes, questions and tags that go are told by a hash: their names
    may tell of it.
    """
    if not columns_of(connection, "sync_erased"):  # an older backup
        return
    for table in ("sync_versions", "sync_merged"):
        for (thing,) in connection.execute(f"SELECT DISTINCT thing FROM {table}").fetchall():
            if _tells_of(str(thing), closure):
                connection.execute(f"DELETE FROM {table} WHERE thing = ?", (thing,))
    if scalar(connection, "SELECT 1 FROM memory_metadata WHERE key = 'sync_group'") is None:
        return  # no other device knows of this file
    sessions = {f"session:{id}" for id in closure.sessions}
    sessions |= {
        f"session:{id}"
        for (id,) in connection.execute(
            "SELECT session_id FROM sessions_consolidations WHERE sid IN (SELECT value FROM json_each(?))",
            (as_json(closure.sessions_losing_turns),),
        )
    }
    covered = _covered_rows(connection, steps)
    for id, aspects in covered.items():
        for aspect in aspects:
            sync_versions.decide(connection, id, aspect, now, actor)
        sync_versions.note_merged(connection, id)
    salt = tombstones.salt_of(connection)
    names = set(closure.memory_ids) | sessions | {id for id, _ in closure.entities.values()}
    names |= {sync_erased.COVERED + id for id in covered}
    for thing, key in _cleared(connection, steps):
        names.add(sync_erased.cleared_name(key, salt))
        if thing and not _tells_of(thing, closure):
            if thing.startswith("question:"):
                sync_versions.decide(connection, thing, sync_versions.VALUE, now, actor)
            sync_versions.note_merged(connection, thing)
    connection.executemany(
        "INSERT INTO sync_erased(name, sent, todo) VALUES (?, 0, 0) ON CONFLICT DO NOTHING",
        [(name,) for name in sorted(names)],
    )
    if closure.request.keep:
        kept = {name_on_devices(connection, key) for key in closure.request.keep}
        kept |= set(_any(metadata.get(connection, metadata.SYNC_KEPT) or "[]"))
        metadata.set_value(connection, metadata.SYNC_KEPT, json_text(sorted(kept)))


_COVERED = {
    "entities": "SELECT id FROM entities WHERE {} = ?",
    "entity_aliases": "SELECT e.id FROM entity_aliases a JOIN entities e ON e.eid = a.entity_id WHERE a.{} = ?",
    "sessions_consolidations": "SELECT 'session:' || session_id FROM sessions_consolidations WHERE {} = ?",
    "memories": "SELECT id FROM memories WHERE {} = ?",
}
"""The rows that stay without words of theirs, by what sync calls them."""
_ASPECT_OF_COLUMN = {
    ("entity_aliases", "alias"): sync_versions.ALIASES,
    ("sessions_consolidations", "title"): sync_versions.TITLE,
    ("sessions_consolidations", "summary"): sync_versions.READ,
    ("sessions_consolidations", "last_error"): sync_versions.READ,
    ("sessions_consolidations", "project"): sync_versions.VALUE,
    ("sessions_consolidations", "source"): sync_versions.VALUE,
}


def _covered_rows(connection: apsw.Connection, steps: Sequence[Step]) -> dict[str, set[str]]:
    """What sync calls the rows that stay, each with the aspects that are stamped here."""
    found: dict[str, set[str]] = {}
    for step in steps:
        if step.values is None or step.table not in _COVERED or "session_id" in step.values:
            continue  # a session by another name is another one to sync
        aspects = {
            _ASPECT_OF_COLUMN[step.table, one]
            for one in step.values
            if (step.table, one) in _ASPECT_OF_COLUMN
        }
        rows: list[Any] = connection.execute(
            _COVERED[step.table].format(step.key_column), (step.key,)
        ).fetchall()
        for (id,) in rows:
            found.setdefault(id, set()).update(aspects)
    return found


def _cleared(connection: apsw.Connection, steps: Sequence[Step]) -> Iterator[tuple[str, str]]:
    """Notes, questions and tags that go: what sync calls each ("" for a tag), and its key (``store.sync_erased``)."""
    for step in steps:
        if step.values is None and step.table == "scratchpad":
            name = scalar(connection, "SELECT key FROM scratchpad WHERE pad_id = ?", (step.key,))
            yield from (
                (f"{stamps.PAD}{name}", key) for key in sync_erased.notes(connection, int(step.key)).values()
            )
        elif step.values is None and step.table == "saved_queries":
            thing = name_on_devices(connection, f"question:{step.key}")
            yield from ((thing, key) for key in sync_erased.questions(connection, int(step.key)).values())
        elif step.table == "memories" and "tags" in (step.values or ()):
            assert step.values is not None
            left = set(_any(step.values["tags"]))
            for (_, tag), key in sync_erased.tags(connection, int(step.key)).items():
                if tag not in left:
                    yield "", key


_NUMBERED = {
    "scratchpad": "SELECT key FROM scratchpad WHERE pad_id = ?",
    "session": "SELECT session_id FROM sessions_consolidations WHERE sid = ?",
    "question": "SELECT name FROM saved_queries WHERE query_id = ?",
}
"""The carriers whose key is a number of this file, and what they are called."""


def name_on_devices(connection: apsw.Connection, key: str) -> str:
    """What a carrier's key (``Carrier.key``) is on every device: as it is, where it has no number of this file in it."""
    place, _, number = key.partition(":")
    sql = _NUMBERED.get(place)
    name = scalar(connection, sql, (int(number),)) if sql and number.isdecimal() else None
    return key if name is None else f"{place}:{name}"


def _tells_of(thing: str, closure: ErasedRows) -> bool:
    """Whether the name of a thing (``pad:KEY``, ``question:NAME``) has what goes, or its id."""
    texts = closure.texts
    return any(id in thing for id in closure.memory_ids) or any(
        texts.carried_by(text) or texts.has_distinctive(text) or texts.equals_short_text(text)
        for text in (thing, thing.partition(":")[2])
        if text
    )
