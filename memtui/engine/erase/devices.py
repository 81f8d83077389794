"""What sync is told of an erase: what goes, what was kept, and which names were covered."""

from __future__ import annotations

from typing import Any, NamedTuple

import apsw
import msgspec

from memtui.engine.store import metadata, sync_versions
from memtui.engine.store.sql import as_json, json_text, scalar

from .closure import ErasedRows
from .columns import columns_of


class CoveredNames(NamedTuple):
    """The rows whose names the erase covers, by key."""

    entities: frozenset[int]
    aliases: frozenset[int]


_any = msgspec.json.Decoder().decode


def tell_devices(
    connection: apsw.Connection, closure: ErasedRows, names: CoveredNames, *, now: int, actor: str
) -> None:
    """Note for sync what goes, by its name, and forget what sync knew of it.

    Covered names are sent, though history does not show that they change: which words are distinctive depends on what each
    device has, and a name may come after the erase. Names of entities have their stamps by triggers, aliases get them here.
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
            (as_json(closure.shortened_sessions),),
        )
    }
    connection.executemany(
        "INSERT INTO sync_erased(name, sent, todo) VALUES (?, 0, 0) ON CONFLICT DO NOTHING",
        [
            (name,)
            for name in sorted(closure.memory_ids | sessions | {id for id, _ in closure.entities.values()})
        ],
    )
    renamed: list[Any] = connection.execute(
        "SELECT id, 0 FROM entities WHERE eid IN (SELECT value FROM json_each(?)) UNION "
        "SELECT e.id, 1 FROM entity_aliases a JOIN entities e ON e.eid = a.entity_id "
        "WHERE a.alias_id IN (SELECT value FROM json_each(?)) ORDER BY 1",
        (as_json(names.entities), as_json(names.aliases)),
    ).fetchall()
    for id, alias in renamed:
        if alias:
            sync_versions.decide(connection, id, sync_versions.ALIASES, now, actor)
        sync_versions.note_merged(connection, id)
    if closure.request.keep:
        kept = {name_on_devices(connection, key) for key in closure.request.keep}
        kept |= set(_any(metadata.get(connection, metadata.SYNC_KEPT) or "[]"))
        metadata.set_value(connection, metadata.SYNC_KEPT, json_text(sorted(kept)))


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
