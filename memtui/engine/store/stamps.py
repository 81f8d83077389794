"""Decision stamps: a version vector for each aspect, independent of the devices' clocks.

About each aspect of a thing (a memory, an entity, ``pad:KEY``) the file keeps one stamp: the number of the last decision of
each device that it knows of, and who made the last one. A device's numbers only rise, and are no lower than its clock: where an
older copy of the file was put back in place, what is decided then has other numbers than what was lost. Numbers of two devices
are never compared. Of two stamps one knew of the other, or neither did: then both sides decided by
themselves. The triggers of ``stamp_sql`` make stamps with every change; what takes over the decisions of another device
writes theirs (``carrying_stamps``), and what changes many memories stamps them at its end (``stamp_together``).
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple

import apsw
import msgspec
from msgspec.structs import replace

from memtui.engine.records import TOPIC_SAID, WITHHELD_FROM, Stamp, device_name

from . import metadata
from .connections import Connections
from .sql import json_text, scalar
from .tables import MEMORY, TAKING_OVER

PAD = "pad:"
"""Begins the name of a thing that is a key of the scratchpad."""
TAG = "tag:"
"""Begins the aspect of a tag: whether a memory has it."""
NOT_FOR = "not-for:"
"""Begins the aspect of an agent (its name in small letters): whether a memory is kept from it."""
REST = "rest"
"""The aspect of all that has none of its own."""
ABOUT = "about:"
"""Begins the aspect of a memory and an entity (its id): whether somebody linked or unlinked them."""

_DEVICE, _PLACE = "device", "device_place"
_seen = msgspec.json.Decoder(dict[str, int]).decode
_COLUMNS = "aspect, seen, device, at, actor"

Relation = Literal["same", "older", "newer", "apart"]


def compare_stamps(ours: Mapping[str, int], theirs: Mapping[str, int]) -> Relation:
    """How ours relates to theirs: ``older`` means that theirs knew of it; ``apart`` that neither knew of the other."""
    behind = any(ours.get(device, 0) < count for device, count in theirs.items())
    ahead = any(theirs.get(device, 0) < count for device, count in ours.items())
    if ahead and behind:
        return "apart"
    return "newer" if ahead else "older" if behind else "same"


def join_stamps(ours: Mapping[str, int], theirs: Mapping[str, int]) -> dict[str, int]:
    """What somebody has seen who knows of both."""
    return {device: max(ours.get(device, 0), theirs.get(device, 0)) for device in sorted({*ours, *theirs})}


# The device


def device(connection: apsw.Connection) -> str:
    """How stamps call this file: a name, and a number of its own."""
    return metadata.get(connection, _DEVICE) or "unknown"


def device_names(connection: apsw.Connection, devices: Iterable[str]) -> dict[str, str]:
    """What people call some devices: the name of the machine; the id where this file knows another device of that name."""
    wanted = set(devices)
    known = {*wanted, device(connection), *synced_devices(connection)}
    times = Counter(map(device_name, known))
    return {one: device_name(one) if times[device_name(one)] == 1 else one for one in wanted}


def synced_devices(connection: apsw.Connection) -> list[str]:
    """The devices of which batches were read here, this one among them."""
    return [str(name) for (name,) in connection.execute("SELECT device FROM sync_devices ORDER BY device")]


def know_device(connections: Connections) -> None:
    """See that the file has a device of its own: a copy of it, here or on another machine, counts by itself."""
    location = f"{_host_name()}:{connections.path.stat().st_ino if connections.path else ''}"
    with connections.read() as connection:
        if metadata.get(connection, _PLACE) == location:
            return
    with connections.write() as connection:
        renew_device(connection)
        metadata.set_value(connection, _PLACE, location)


def renew_device(connection: apsw.Connection) -> None:
    """Count under another name from now on: what is restored may have lost decisions that others have seen."""
    name = re.sub(r"[^A-Za-z0-9_]+", "-", _host_name().partition(".")[0]).strip("-.")[:40]
    metadata.set_value(connection, _DEVICE, f"{name or 'device'}-{os.urandom(4).hex()}")


def _host_name() -> str:
    return os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")


# Stamps


def read_stamps(connection: apsw.Connection, thing: str, *, table: str = "decided") -> dict[str, Stamp]:
    """The stamps of a thing by aspect. ``table``: ``decided``, or ``sync_versions``, which has the same columns."""
    rows: Any = connection.execute(
        f"SELECT {_COLUMNS} FROM {table} WHERE thing = ? ORDER BY aspect", (thing,)
    )
    return {row[0]: _stamp_record(row) for row in rows}


def seen_by(connection: apsw.Connection, thing: str, aspect: str) -> dict[str, int]:
    """What the latest decision knew of; empty where nothing was decided."""
    seen = scalar(connection, "SELECT seen FROM decided WHERE thing = ? AND aspect = ?", (thing, aspect))
    return _seen(seen) if seen else {}


def write_stamp(connection: apsw.Connection, thing: str, stamp: Stamp, *, table: str = "decided") -> None:
    """Write a stamp in the place of the one that is there (``table``: see ``read_stamps``)."""
    connection.execute(
        f"""
        INSERT INTO {table}(thing, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT(thing, aspect) DO UPDATE SET seen = excluded.seen, device = excluded.device, at = excluded.at,
            actor = excluded.actor
        """,
        (thing, stamp.aspect, json_text(stamp.seen), stamp.device, stamp.at, stamp.actor),
    )


def carry_stamp(connection: apsw.Connection, thing: str, stamp: Stamp) -> None:
    """Give a thing a stamp that another one has. History keeps its value only as a change: undo must tell a stamp of this
    device that was carried from one that was made since."""
    write_stamp(connection, thing, replace(stamp, seen={}))
    write_stamp(connection, thing, stamp)


def note_decision(
    connection: apsw.Connection, thing: str, aspect: str, knowing: Mapping[str, int], actor: str, now: int
) -> None:
    """Note a decision that was made here ``knowing`` that of another device."""
    own = device(connection)
    seen = join_stamps(seen_by(connection, thing, aspect), knowing)
    seen[own] = max(seen.get(own, 0) + 1, now)
    write_stamp(connection, thing, Stamp(aspect=aspect, seen=seen, device=own, at=now, actor=actor))


@contextmanager
def carrying_stamps(connection: apsw.Connection) -> Iterator[None]:
    """Within it no change of the running operation is stamped: stamps are written, and history covers them."""
    before = scalar(connection, "SELECT stamping FROM current_op")
    connection.execute("UPDATE current_op SET stamping = 0")
    yield
    connection.execute("UPDATE current_op SET stamping = ?", (1 if before is None else before,))


@contextmanager
def stamp_together(connection: apsw.Connection) -> Iterator[None]:
    """Within it changed memories are stamped at the end, by a few statements: that takes a fifth of the time of triggers."""
    first = scalar(connection, "SELECT coalesce(max(seq), 0) FROM changes")
    connection.execute("UPDATE current_op SET stamping = 2")
    yield
    connection.execute("UPDATE current_op SET stamping = 1")
    _stamp_changed(connection, first)


def _stamp_changed(connection: apsw.Connection, after: int) -> None:
    """Stamp what the running operation changed of memories since a number of history, as the triggers would."""
    columns: Any = connection.execute(
        f"SELECT DISTINCT k.key FROM {_CHANGED} CROSS JOIN json_each(c.before) k", {"after": after}
    ).fetchall()
    changed = {column for (column,) in columns}
    if not changed:
        return
    [(at, actor)] = connection.execute(
        "SELECT at, actor FROM ops WHERE op_id = (SELECT op_id FROM current_op)"
    )
    own = device(connection)
    stamp = {"after": after, "seen": json_text({own: max(at, 1)}), "device": own, "at": at, "actor": actor}
    for of, aspects in _CHANGED_ASPECTS:
        if not changed.isdisjoint(of):
            connection.execute(_STAMP_CHANGED.format(aspects=aspects), stamp)


def carried_stamps(connection: apsw.Connection, op_id: int) -> bool:
    """Whether an operation wrote the stamps of another device: to undo it is no decision of its own."""
    return (
        scalar(connection, "SELECT 1 FROM changes WHERE op_id = ? AND tbl = 'decided' LIMIT 1", (op_id,))
        is not None
    )


def _stamp_record(row: Any) -> Stamp:
    return Stamp(aspect=row[0], seen=_seen(row[1]), device=row[2], at=row[3], actor=row[4])


# Triggers
# They run with every row of a bulk change: one for each aspect, which looks at nothing but its columns, and VALUES, because
# SQLite keeps the rows of a SELECT aside before it inserts them.

_STAMPING = f"NOT {TAKING_OVER} AND (SELECT op_id FROM current_op) IS NOT 0"
_STAMPING_EACH = (
    "coalesce((SELECT stamping FROM current_op), 1) = 1 AND (SELECT op_id FROM current_op) IS NOT 0"
)
"""The same of memories, which an operation may stamp together."""
_DEVICE_HERE = f"coalesce((SELECT value FROM memory_metadata WHERE key = '{_DEVICE}'), 'unknown')"
_OP = "(SELECT {column} FROM ops WHERE op_id = (SELECT op_id FROM current_op))"
_AT = f"coalesce({_OP.format(column='at')}, unixepoch())"
_WHEN_AND_WHO = f"{_AT}, coalesce({_OP.format(column='actor')}, 'external')"
_FIRST = f"json_object({_DEVICE_HERE}, max({_AT}, 1))"
_OWN = "'$.\"' || excluded.device || '\"'"
_NEXT = f"""
        ON CONFLICT(thing, aspect) DO UPDATE SET
            seen = json_set(seen, {_OWN}, max(1 + coalesce(seen ->> ({_OWN}), 0), excluded.at)),
            device = excluded.device, at = excluded.at, actor = excluded.actor;"""
_INTO = "INSERT INTO decided(thing, aspect, seen, device, at, actor)"
_MEMORY: dict[str, tuple[str, ...]] = {
    "state": ("ended_by", "confirmed_at", "confidence"),
    "text": ("content",),
    "topic": ("topic",),
    "date": ("happens_at",),
    "sources": ("source_ids",),
    "rate": ("decay_rate",),
    "reviewed": ("reviewed_at",),
}  # fmt: skip
_ELSEWHERE = {
    "id", "kind", "content_hash", "valid_until", "tags", "attributes", *(name for names in _MEMORY.values() for name in names),
}  # fmt: skip
REST_COLUMNS: tuple[str, ...] = tuple(
    column.name for column in MEMORY if column.history and column.name not in _ELSEWHERE
)
_MEMORY[REST] = REST_COLUMNS
COLUMNS: Mapping[str, tuple[str, ...]] = {**_MEMORY, "state": ("valid_until", *_MEMORY["state"])}
"""The aspects of a memory, and the columns whose change is a decision about it; its tags have one each."""
_ATTRIBUTES = {
    "pin": ("pinned_at",), "withheld": ("withheld",), "links": ("supersedes", "merged", "conflict_reason"),
    "topic": (TOPIC_SAID,),
}  # fmt: skip
"""The aspects that are in the attributes of a memory; every other attribute belongs to the rest."""
OWN_ATTRIBUTES = frozenset((*(key for keys in _ATTRIBUTES.values() for key in keys), WITHHELD_FROM))
"""The attributes that have an aspect."""
_KEPT_FROM = f"json_each({{of}}, '$.{WITHHELD_FROM}')"
"""SQL: the agents that a memory is kept from."""
_ENTITY = {
    "name": ("canonical_name",), "type": ("type",), "summary": ("summary",), "hidden": ("hidden",),
    "pinned": ("pinned",), "merged": ("merged_into",),
}  # fmt: skip


_PAD_OF = f"'{PAD}' || {{row}}.key"


def _insert_stamp_sql(thing: str, aspect: str) -> str:
    """SQL that stamps one aspect of a thing."""
    return f"""
    {_INTO} VALUES ({thing}, '{aspect}', {_FIRST}, {_DEVICE_HERE}, {_WHEN_AND_WHO}){_NEXT}"""


def _insert_all(aspects: str) -> str:
    """SQL that stamps the rows (thing, aspect) that a SELECT gives."""
    return f"""
    {_INTO} SELECT a.thing, a.aspect, {_FIRST}, {_DEVICE_HERE}, {_WHEN_AND_WHO} FROM ({aspects}) a WHERE true{_NEXT}"""


def _columns_differ_sql(columns: Iterable[str]) -> str:
    return " OR ".join(f"old.{column} IS NOT new.{column}" for column in columns)


def _on_update(table: str, aspects: Mapping[str, tuple[str, ...]], stamping: str) -> list[str]:
    return [
        f"CREATE TRIGGER stamps_{table}_{aspect} AFTER UPDATE OF {', '.join(columns)} ON {table} "
        f"WHEN ({_columns_differ_sql(columns)}) AND {stamping} BEGIN{_insert_stamp_sql('new.id', aspect)}\nEND"
        for aspect, columns in aspects.items()
    ]


class _ChangedRowSql(NamedTuple):
    """SQL that reads a changed memory: in a trigger, or in history. ``column`` takes a name in place of ``{column}``."""

    thing: str
    old: str
    new: str
    source: str = ""
    """Where it stands, to begin a FROM with."""


_IN_TRIGGER = _ChangedRowSql("new.id", "old.{column}", "new.{column}")
_CHANGED = (
    "(SELECT lo, before, after FROM changes WHERE op_id = (SELECT op_id FROM current_op) AND tbl = 'memories' "
    "AND act = 'update' AND seq > :after) c"
)
_IN_HISTORY = _ChangedRowSql(
    "c.lo", "c.before ->> '$.{column}'", "c.after ->> '$.{column}'", f"{_CHANGED} CROSS JOIN "
)


_IN_PAIRS = _ChangedRowSql("pair.thing", "pair.old", "pair.new", "pair CROSS JOIN ")


def _entries_that_differ(
    rows: _ChangedRowSql, aspect: str, entries: str, column: str, value: str = "value"
) -> str:
    """SQL that gives an aspect for each entry that only the old or only the new row has. ``entries``: a table with ``value``."""
    old, new = (entries.format(of=side.format(column=column)) for side in (rows.old, rows.new))
    return " UNION ALL ".join(
        f"SELECT {rows.thing} AS thing, '{aspect}' || {value} AS aspect FROM {rows.source}{here} "
        f"WHERE {value} NOT IN (SELECT {value} FROM {there} WHERE value IS NOT NULL)"
        for here, there in ((old, new), (new, old))
    )


def _of_tags(rows: _ChangedRowSql) -> str:
    # Another program may have written what is no JSON: that is for the check to say.
    return _entries_that_differ(
        rows, TAG, "json_each(CASE json_valid({of}) WHEN 1 THEN {of} ELSE '[]' END)", "tags"
    )


def _of_attributes(rows: _ChangedRowSql) -> str:
    old, new = (side.format(column="attributes") for side in (rows.old, rows.new))
    source = f"FROM {rows.source.removesuffix(' CROSS JOIN ')} " if rows.source else ""
    parts = [
        f"SELECT {rows.thing} AS thing, '{aspect}' AS aspect {source}WHERE "
        + " OR ".join(f"({old}) ->> '$.{key}' IS NOT ({new}) ->> '$.{key}'" for key in keys)
        for aspect, keys in _ATTRIBUTES.items()
    ]
    others = ", ".join(f"'$.{key}'" for key in sorted(OWN_ATTRIBUTES))
    parts.append(
        f"SELECT {rows.thing} AS thing, '{REST}' AS aspect {source}"
        f"WHERE json_remove({old}, {others}) IS NOT json_remove({new}, {others})"
    )
    return " UNION ALL ".join(
        [*parts, _entries_that_differ(rows, NOT_FOR, _KEPT_FROM, "attributes", "lower(value)")]
    )


def stamp_sql() -> list[str]:
    """The triggers that stamp what is decided here."""
    about = (
        f"SELECT m.id AS thing, '{ABOUT}' || e.id AS aspect FROM memories m, entities e "
        "WHERE m.rid = {row}.rid AND e.eid = {row}.entity_id AND {row}.decision IN ('link', 'unlink') "
        "UNION ALL SELECT e.id, 'merged' FROM entities e "
        "WHERE e.eid IN ({row}.entity_id, {row}.other_id) AND {row}.decision = 'distinct'"
    )
    return [
        *_on_update("memories", _MEMORY, _STAMPING_EACH),
        *(
            f"CREATE TRIGGER stamps_memories_{column} AFTER UPDATE OF {column} ON memories "
            f"WHEN old.{column} IS NOT new.{column} AND {_STAMPING_EACH} BEGIN{_insert_all(sql)}\nEND"
            for column, sql in (("tags", _of_tags(_IN_TRIGGER)), ("attributes", _of_attributes(_IN_TRIGGER)))
        ),
        *_on_update("entities", _ENTITY, _STAMPING),
        *(
            f"CREATE TRIGGER stamps_entity_decisions_{event.lower()} AFTER {event} ON entity_decisions WHEN {_STAMPING} "
            f"BEGIN{_insert_all(about.format(row=row))}\nEND"
            for event, row in (("INSERT", "new"), ("DELETE", "old"))
        ),
        *(
            f"CREATE TRIGGER stamps_scratchpad_{name} AFTER {event} ON scratchpad WHEN {_STAMPING} "
            f"BEGIN{_insert_stamp_sql(_PAD_OF.format(row=row), 'value')}\nEND"
            for name, event, row in (
                ("insert", "INSERT", "new"), ("update", "UPDATE OF value", "new"), ("delete", "DELETE", "old"),
            )
        ),
    ]  # fmt: skip


# Stamping together

_STAMP_CHANGED = f"""
    {_INTO} SELECT m.id, a.aspect, :seen, :device, :at, :actor
    FROM ({{aspects}}) a CROSS JOIN memories m ON m.rid = a.thing WHERE true{_NEXT}
"""


def _of_columns(aspect: str, columns: Iterable[str]) -> str:
    # A quote within a value has a backslash, so this is a key.
    had = " OR ".join(f"instr(c.before, '\"{column}\":') > 0" for column in columns)
    return f"SELECT c.lo AS thing, '{aspect}' AS aspect FROM {_CHANGED} WHERE {had}"


# Rows that are tagged together had the same few lists of tags: what differs is looked for once for each pair of lists.
_OF_MANY_TAGS = f"""
    WITH row(thing, old, new) AS MATERIALIZED (
        SELECT c.lo, c.before ->> '$.tags', c.after ->> '$.tags' FROM {_CHANGED} WHERE instr(c.before, '"tags":') > 0),
    pair(thing, old, new) AS MATERIALIZED (SELECT min(thing), old, new FROM row GROUP BY old, new),
    differs(aspect, old, new) AS MATERIALIZED (
        SELECT d.aspect, pair.old, pair.new FROM pair JOIN ({_of_tags(_IN_PAIRS)}) d ON d.thing = pair.thing)
    SELECT row.thing, differs.aspect FROM row JOIN differs ON differs.old IS row.old AND differs.new IS row.new
"""

_CHANGED_ASPECTS = (
    *((columns, _of_columns(aspect, columns)) for aspect, columns in _MEMORY.items()),
    (("tags",), _OF_MANY_TAGS),
    (("attributes",), _of_attributes(_IN_HISTORY)),
)
"""The columns of a memory, and SQL for the aspects (``thing``: a rid) that a change of them decides."""
