"""Import the lines of an export (``export_rows.py``): existing rows stay as they are, missing ones are added.

A row exists if its id does. A turn also exists if its key at the source does, and a name if an entity has it. Other ids
of existing rows are remembered, so that later lines find them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import apsw
import msgspec
from msgspec import Raw
from msgspec.structs import astuple, replace

from memtui.engine.errors import InputError
from memtui.engine.records import ID_PREFIX, Stamp

from . import stamps
from .entities import entity_key
from .export_rows import (
    MEMORY_FIELDS,
    AnyLine,
    ConsolidatedLine,
    DecisionLine,
    DeletedKeyLine,
    EntityLine,
    MemoryLine,
    ProfileLine,
    ProposalLine,
    QuestionLine,
    ScratchpadLine,
    SessionLine,
)
from .memories import content_hash, memory_exists
from .sql import TemporaryTable, json_text, scalar

_strings = msgspec.json.Decoder(list[str]).decode
_object = msgspec.json.Decoder(dict[str, Any]).decode
# The tables whose rows have a key of their own, and that key.
_KEYED: dict[type[AnyLine], tuple[str, str, str]] = {
    SessionLine: ("sessions_consolidations", "session_id", "session_id"),
    ScratchpadLine: ("scratchpad", "key", "key"),
    ProposalLine: ("proposals", "id", "id"),
    QuestionLine: ("saved_queries", "name", "name"),
    ProfileLine: ("profiles", "name", "name"),
}

# What is counted beside memories, and how it is called. Sessions come with their turns.
KINDS: dict[type[AnyLine], str] = {
    EntityLine: "entity", DecisionLine: "naming decision", ScratchpadLine: "scratchpad entry",
    ProposalLine: "review card", QuestionLine: "saved question", ProfileLine: "profile",
}  # fmt: skip


class OtherIds(TemporaryTable):
    """The ids of rows that are there under another one, however many they are."""

    def __init__(self) -> None:
        super().__init__("other(id TEXT PRIMARY KEY, here TEXT) WITHOUT ROWID")
        self._database.execute("CREATE INDEX other_here ON other(here)")
        self._any = False

    def note_local_id(self, id: str, here: str) -> None:
        self._database.execute("INSERT INTO other VALUES (?, ?) ON CONFLICT DO NOTHING", (id, here))
        self._any = True

    def has_local_id(self, here: str) -> bool:
        """Whether a line is known to be about this row."""
        return scalar(self._database, "SELECT 1 FROM other WHERE here = ?", (here,)) is not None

    def local_id(self, id: str | None) -> str | None:
        """The id that the row has here."""
        if id is None or not self._any:
            return id
        return scalar(self._database, "SELECT here FROM other WHERE id = ?", (id,)) or id

    def local_ids_json(self, ids: Raw) -> str:
        """A JSON list of ids, as the text of one."""
        if not self._any or bytes(ids) == b"[]":
            return _raw_text(ids)
        return json_text([self.local_id(id) for id in _strings(ids)])


def erased_keys(line: AnyLine) -> list[str]:
    """What it may be known by once it was erased for good."""
    match line:
        case MemoryLine():
            return [line.id, line.source_key] if line.source_key else [line.id]
        case SessionLine():
            return [f"session:{line.session_id}"]
        case DecisionLine():
            named = [f"entity:{id}" for id in (line.entity, line.other) if id]
            return [line.memory, *named] if line.memory else named
        case EntityLine():
            return [f"entity:{line.id}", f"entity:{entity_key(line.canonical_name)}"]
        case ScratchpadLine() | DeletedKeyLine():
            return [f"scratchpad:{line.key}"]
        case ProposalLine():
            return [f"card:{line.id}", *memory_ids(line.payload)]
        case QuestionLine():
            return [f"question:{line.name}"]
        case _:
            return []


def memory_ids(json: Raw) -> list[str]:
    """The ids of memories that stand as strings in a JSON value."""
    return [id.decode() for id in _find_ids(bytes(json))]


_find_ids = re.compile(rb'(?<=")(?:%s)[0-9a-f]{12}(?=")' % "|".join(ID_PREFIX.values()).encode()).findall


def is_there(connection: apsw.Connection, line: AnyLine, others: OtherIds, op_id: int | None) -> bool:
    """Whether the file has what the line is about. ``op_id``: the import; what it added is a row of its own."""
    match line:
        case MemoryLine():
            if memory_exists(connection, line.id):
                if line.kind != "episode":
                    others.note_local_id(line.id, line.id)
                return True
            here = line.source_key and scalar(
                connection, "SELECT id FROM memories WHERE source_key = ?", (line.source_key,)
            )
            here = here or _find_same_note(connection, line, others, op_id)
            if here:
                others.note_local_id(line.id, here)
            return bool(here)
        case EntityLine():
            if scalar(connection, "SELECT 1 FROM entities WHERE id = ?", (line.id,)):
                return True
            here = _find_same_entity(connection, line, op_id)
            if here:
                others.note_local_id(line.id, here)
            return here is not None
        case DecisionLine():
            return _insert_decision(connection, line, others)
        case ConsolidatedLine():
            # Of a session that was here before, only what is here tells how far it was read.
            return not scalar(
                connection,
                """
                SELECT 1 FROM sessions_consolidations s JOIN changes c ON c.tbl = 'sessions_consolidations'
                AND c.act = 'insert' AND c.op_id = ? AND s.sid BETWEEN c.lo AND c.hi
                WHERE s.session_id = ? AND s.consolidated_through IS NULL
                """,
                (op_id, line.session_id),
            )
    table, column, field = _KEYED[type(line)]
    value = getattr(line, field)
    return scalar(connection, f"SELECT 1 FROM {table} WHERE {column} = ?", (value,)) is not None


def add(connection: apsw.Connection, line: AnyLine, others: OtherIds) -> bool:
    """Add the row of any line but a memory's in the caller's operation; False if it was there.

    Raises InputError if the file refuses it.
    """
    with _all_or_nothing(connection):
        return _add_line(connection, line, others)


def add_memories(
    connection: apsw.Connection, lines: Sequence[MemoryLine], others: OtherIds
) -> list[MemoryLine]:
    """Add memories by one statement (see ``memories.insert_all``); those that were not there, in their order.

    None is added, and InputError raised, if the file refuses one of them.
    """
    with _all_or_nothing(connection):
        rows = [_memory_row(line, others) for line in lines]
        made: dict[str, int] = dict(
            connection.execute(_insert_sql(len(rows)), [value for row in rows for value in row])
        )
        added = []
        for line in lines:
            if (rid := made.pop(line.id, None)) is None:
                continue
            added.append(line)
            _insert_stamps(connection, line.id, line.decided, others)
            attributes = _object(line.attributes)
            if "secrets" in attributes and "redacted" not in attributes:
                # A secret gets no vector.
                connection.execute("UPDATE index_queue SET vector = 0 WHERE rid = ?", (rid,))
        return added


@contextmanager
def _all_or_nothing(connection: apsw.Connection) -> Iterator[None]:
    """What is done within is done whole or not at all. Raises InputError for what the file refuses."""
    try:
        with connection:
            yield
    except (apsw.ConstraintError, apsw.MismatchError, msgspec.MsgspecError, OverflowError) as error:
        raise InputError(f"A line cannot be stored: {error}.") from None


def session_covers(connection: apsw.Connection, line: SessionLine) -> bool:
    """Whether the session, which is there, covers the time of the line's."""
    return bool(
        scalar(
            connection,
            "SELECT first_seen_at <= ? AND last_seen_at >= ? FROM sessions_consolidations WHERE session_id = ?",
            (line.first_seen_at, line.last_seen_at, line.session_id),
        )
    )


def widen_session(connection: apsw.Connection, line: SessionLine) -> None:
    """A session that is there begins no later, and ends no earlier, than the line's."""
    connection.execute(
        """
        UPDATE sessions_consolidations SET first_seen_at = min(first_seen_at, ?2), last_seen_at = max(last_seen_at, ?3)
        WHERE session_id = ?1
        """,
        (line.session_id, line.first_seen_at, line.last_seen_at),
    )


def _add_line(connection: apsw.Connection, line: AnyLine, others: OtherIds) -> bool:
    match line:
        case EntityLine():
            return _add_entity(connection, line, others)
        case ConsolidatedLine():
            through = (
                _rid_of(connection, "memories", "rid", others.local_id(line.through)) if line.through else 0
            )
            if through is None:  # the turn did not come along: the session is read again
                return False
            connection.execute(
                "UPDATE sessions_consolidations SET consolidated_through = ? WHERE session_id = ?",
                (through, line.session_id),
            )
            return True
        case DecisionLine():
            entity, other, rid = _decision_rows(connection, line, others)
            missing = [
                name
                for name, row in ((line.entity, entity), (line.other, other), (line.memory, rid))
                if name is not None and row is None
            ]
            if missing:
                raise InputError(f"A decision is about {missing[0]}, which is not here.")
            _drop_opposite(connection, line, entity, rid)
            for thing, stamp in _stamps_of(line, others):
                known = stamps.seen_by(connection, thing, stamp.aspect)
                if stamp.aspect != "merged":  # that of the name comes with it
                    stamps.write_stamp(
                        connection, thing, replace(stamp, seen=stamps.join_stamps(known, stamp.seen))
                    )
            return _insert_row(
                connection, "entity_decisions", decision=line.decision, entity_id=entity, other_id=other, rid=rid,
                key=line.key, at=line.at, actor=line.actor,
            )  # fmt: skip
        case _:
            if isinstance(line, ProposalLine | ProfileLine):
                _object(line.payload if isinstance(line, ProposalLine) else line.settings)
            if isinstance(line, QuestionLine):
                _strings(line.expected)
            table = _KEYED[type(line)][0]
            values = {name: getattr(line, name) for name in line.__struct_fields__ if name != "decided"}
            if isinstance(line, ScratchpadLine):
                _insert_stamps(connection, stamps.PAD + line.key, line.decided, others)
            if isinstance(line, QuestionLine):
                values["expected"] = others.local_ids_json(line.expected)
            return _insert_row(
                connection, table,
                **{name: _raw_text(value) if isinstance(value, Raw) else value for name, value in values.items()},
            )  # fmt: skip


def _memory_row(line: MemoryLine, others: OtherIds) -> tuple[Any, ...]:
    """The values of a row, for ``_insert_sql``. Raises InputError for an id of another kind."""
    if not line.id.startswith(ID_PREFIX[line.kind]):
        raise InputError(f"{line.id} is not the id of a memory of the kind {line.kind}.")
    _strings(line.tags)
    _strings(line.source_ids)
    attributes, changed = _object(line.attributes), False
    for relation in ("supersedes", "merged"):
        if named := attributes.get(relation):
            attributes[relation] = (
                [others.local_id(id) for id in named] if isinstance(named, list) else others.local_id(named)
            )
            changed |= attributes[relation] != named
    text = msgspec.json.encode(attributes, order="deterministic") if changed else bytes(line.attributes)
    here = {
        "source_ids": others.local_ids_json(line.source_ids),
        "tags": _raw_text(line.tags),
        "attributes": text.decode(),
    }
    return (
        content_hash(line.content),
        *[here.get(name, value) for name, value in zip(MEMORY_FIELDS, astuple(line)[:-1], strict=True)],
    )


@lru_cache
def _insert_sql(rows: int) -> str:
    row = f"({', '.join('?' * (1 + len(MEMORY_FIELDS)))})"
    return (
        f"INSERT INTO memories(content_hash, {', '.join(MEMORY_FIELDS)}) VALUES {', '.join([row] * rows)} "
        "ON CONFLICT DO NOTHING RETURNING id, rid"
    )


def _add_entity(connection: apsw.Connection, line: EntityLine, others: OtherIds) -> bool:
    survivor = scalar(
        connection,
        "SELECT coalesce(merged_into, eid) FROM entities WHERE id = ?",
        (others.local_id(line.merged_into),),
    )
    added = _insert_row(
        connection, "entities", id=line.id, canonical_name=line.canonical_name, type=line.type, summary=line.summary,
        protected=line.protected, hidden=line.hidden, pinned=line.pinned, merged_into=survivor,
        created_at=line.created_at,
    )  # fmt: skip
    eid = _rid_of(connection, "entities", "eid", line.id)
    if added:
        _insert_stamps(connection, line.id, line.decided, others)
    for alias in line.aliases if added else ():
        _insert_row(connection, "entity_aliases", key=alias.key, entity_id=eid, alias=alias.alias)
    return added


def _insert_stamps(
    connection: apsw.Connection, thing: str, decided: Sequence[Stamp], others: OtherIds
) -> None:
    """The stamps of a row that is new here."""
    for stamp in decided:
        stamps.write_stamp(connection, thing, replace(stamp, aspect=local_aspect(stamp.aspect, others)))


def local_aspect(aspect: str, others: OtherIds) -> str:
    """The aspect as it is called here, where an entity may have another id."""
    if not aspect.startswith(stamps.ABOUT):
        return aspect
    return f"{stamps.ABOUT}{others.local_id(aspect.removeprefix(stamps.ABOUT))}"


def _insert_row(connection: apsw.Connection, table: str, **values: Any) -> bool:
    row = connection.execute(
        f"INSERT INTO {table}({', '.join(values)}) VALUES ({', '.join('?' * len(values))}) "
        "ON CONFLICT DO NOTHING RETURNING 1",
        tuple(values.values()),
    ).fetchone()
    return row is not None


def _find_same_note(
    connection: apsw.Connection, line: MemoryLine, others: OtherIds, op_id: int | None
) -> str | None:
    """The id of a note that was here before and says the same, which both sides drew for themselves.

    One that is active, or that somebody decided about; one that another line is about is not meant.
    """
    if line.kind == "episode":
        return None
    rows: Any = connection.execute(
        """
        SELECT m.id FROM memories m WHERE m.content_hash = ?1 AND m.kind = ?2 AND m.project IS ?3 AND NOT EXISTS (
            SELECT 1 FROM changes c WHERE c.op_id = ?4 AND c.tbl = 'memories' AND c.act = 'insert'
            AND m.rid BETWEEN c.lo AND c.hi)
        AND m.kind <> 'episode' AND (m.valid_until IS NULL OR EXISTS (
            SELECT 1 FROM decided s WHERE s.thing = m.id AND s.aspect = 'state'))
        ORDER BY m.valid_until IS NOT NULL, m.rid LIMIT 20
        """,
        (content_hash(line.content), line.kind, line.project, op_id),
    )
    return next((str(id) for (id,) in rows if not others.has_local_id(str(id))), None)


def _find_same_entity(connection: apsw.Connection, line: EntityLine, op_id: int | None) -> str | None:
    """The id of a row that was here before and has one of the line's names, of the same type if there is one."""
    for alias in line.aliases:
        here: str | None = scalar(
            connection,
            """
            SELECT e.id FROM entity_aliases a JOIN entities e ON e.eid = a.entity_id
            WHERE a.key = ?1 AND NOT EXISTS (
                SELECT 1 FROM changes c WHERE c.op_id = ?3 AND c.tbl = 'entities' AND c.act = 'insert'
                AND e.eid BETWEEN c.lo AND c.hi)
            ORDER BY e.type <> ?2, e.eid LIMIT 1
            """,
            (alias.key, line.type, op_id),
        )
        if here:
            return here
    return None


_OPPOSITE = {"link": "unlink", "unlink": "link"}


def _stamps_of(line: DecisionLine, others: OtherIds) -> Iterator[tuple[str, Stamp]]:
    """The stamps of a decision as they are called here, each with what it is about."""
    for stamp in line.decided:
        about = line.memory if stamp.aspect.startswith(stamps.ABOUT) else line.entity
        if here := others.local_id(about):
            yield here, replace(stamp, aspect=local_aspect(stamp.aspect, others))


def _drop_opposite(
    connection: apsw.Connection, line: DecisionLine, entity: int | None, rid: int | None
) -> None:
    if line.decided and line.decision in _OPPOSITE:
        connection.execute(
            "DELETE FROM entity_decisions WHERE decision = ? AND entity_id IS ? AND rid IS ?",
            (_OPPOSITE[line.decision], entity, rid),
        )


def _is_outdated(connection: apsw.Connection, line: DecisionLine, others: OtherIds) -> bool:
    """Whether it was decided otherwise here, knowing of this; of two that knew nothing of each other a link stands."""
    for thing, stamp in _stamps_of(line, others):
        relation = stamps.compare_stamps(stamps.seen_by(connection, thing, stamp.aspect), stamp.seen)
        if relation == "newer" or (relation == "apart" and line.decision == "unlink"):
            return True
    return False


def _insert_decision(connection: apsw.Connection, line: DecisionLine, others: OtherIds) -> bool:
    return _is_outdated(connection, line, others) or bool(
        scalar(
            connection,
            "SELECT 1 FROM entity_decisions WHERE decision = ? AND entity_id IS ? AND other_id IS ? AND rid IS ? AND key IS ?",
            (line.decision, *_decision_rows(connection, line, others), line.key),
        )
    )


def _decision_rows(
    connection: apsw.Connection, line: DecisionLine, others: OtherIds
) -> tuple[int | None, int | None, int | None]:
    return (
        _rid_of(connection, "entities", "eid", others.local_id(line.entity)),
        _rid_of(connection, "entities", "eid", others.local_id(line.other)),
        _rid_of(connection, "memories", "rid", others.local_id(line.memory)),
    )


def _rid_of(connection: apsw.Connection, table: str, key: str, id: str | None) -> int | None:
    rid: int | None = scalar(connection, f"SELECT {key} FROM {table} WHERE id = ?", (id,))
    return rid


def _raw_text(json: Raw) -> str:
    return bytes(json).decode()
