"""Rows of ``memories``: insert, change, read. Functions over a connection; the caller owns the transaction."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any, Unpack

import apsw
import msgspec

from memtui.engine.confidence import LASTING, effective_confidence
from memtui.engine.errors import CorruptFileError, InputError, NotFoundError
from memtui.engine.records import ID_PREFIX, Kind, MemoryRecord, NewMemory

from . import tombstones
from .sql import as_json, scalar, storable_text
from .tables import MEMORY

_EFFECTIVE = MemoryRecord.__struct_fields__.index("effective")  # worked out, not stored
FIELDS = MemoryRecord.__struct_fields__[:_EFFECTIVE] + MemoryRecord.__struct_fields__[_EFFECTIVE + 1 :]
COLUMNS = ", ".join(f"m.{name}" for name in FIELDS)
"""The columns of a record, in the order of its fields."""

_encode = msgspec.json.Encoder(order="deterministic").encode
_DECODED: Mapping[str, Callable[[str], Any]] = {
    "array": msgspec.json.Decoder(tuple[str, ...]).decode,
    "object": msgspec.json.Decoder(dict[str, Any]).decode,
}
_NOTHING: Mapping[str, Callable[[], Any]] = {"array": tuple, "object": dict}
_JSON = tuple((column.name, column.default_value, column.json) for column in MEMORY if column.json)
_READ = tuple((FIELDS.index(name), empty, _NOTHING[json], _DECODED[json]) for name, empty, json in _JSON)
_lasting: Callable[[Sequence[Any]], tuple[Any, Any, Any, Any, Any, Any, Any]] = itemgetter(
    *map(FIELDS.index, LASTING)
)
# What a writer states of a new row, but for what is worked out here.
_STATED = tuple(
    (column.name, None if column.default is msgspec.NODEFAULT else column.default)
    for column in MEMORY
    if column.inserted and not column.json and column.name not in ("id", "content_hash")
)
_INSERTED = ("id", "content_hash", *(name for name, _ in _STATED), *(name for name, _, _ in _JSON))


def memory_record(row: Sequence[Any], now: float) -> MemoryRecord:
    """The record of a row selected with ``COLUMNS``."""
    values = list(row)
    try:
        for column, empty, nothing, decoded in _READ:
            text = values[column]
            values[column] = nothing() if text == empty else decoded(text)
        values.insert(_EFFECTIVE, effective_confidence(*_lasting(row), now))
        return MemoryRecord(*values)
    except (TypeError, ValueError, msgspec.MsgspecError) as error:
        raise CorruptFileError(
            f"The row of {row[FIELDS.index('id')]} is damaged.",
            "Run memtui check, then restore a backup. The file was left as it is.",
        ) from error


def new_id(kind: Kind) -> str:
    return ID_PREFIX[kind] + os.urandom(6).hex()


def derived_id(kind: Kind, *made_of: str) -> str:
    """An id that follows from what a memory was made of, so that two devices which make it call it the same."""
    from hashlib import blake2b

    text = "\0".join((kind, *made_of))
    return ID_PREFIX[kind] + blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


_ENDS = ("", ".", "!", "…", " .", " !")


def content_hash(content: str) -> str:
    """16 hex digits that are equal for texts that differ only in case, spacing and Unicode form."""
    from hashlib import blake2b  # with OpenSSL, 2 ms that the first rows on a screen need not wait for

    folded = " ".join(unicodedata.normalize("NFKC", content).casefold().split())
    return blake2b(folded.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def insert(connection: apsw.Connection, **new: Unpack[NewMemory]) -> int | None:
    """Insert a row and return its rid; None when ``source_key`` already exists."""
    return insert_all(connection, [new])[0]


def insert_all(connection: apsw.Connection, new: Sequence[NewMemory]) -> list[int | None]:
    """Insert rows by one statement and return their rids; None where a ``source_key`` already exists.

    Between two statements SQLite has the full-text index write a segment, which costs as much as everything else that a
    row costs: so there should be a few dozen in a statement.
    """
    if not new:
        return []
    rows = _with_free_ids(connection, new, [_inserted_values(one) for one in new])
    made: dict[str, int] = dict(
        connection.execute(_insert_sql(len(rows)), [value for row in rows for value in row])
    )
    return [made.get(row[0]) for row in rows]


@lru_cache
def _insert_sql(rows: int) -> str:
    row = f"({', '.join('?' * len(_INSERTED))})"
    return (
        f"INSERT INTO memories({', '.join(_INSERTED)}) VALUES {', '.join([row] * rows)} "
        "ON CONFLICT(source_key) WHERE source_key IS NOT NULL DO NOTHING RETURNING id, rid"
    )


def _with_free_ids(
    connection: apsw.Connection, new: Sequence[NewMemory], rows: list[tuple[Any, ...]]
) -> list[tuple[Any, ...]]:
    """The rows, with an id by chance in the place of each derived one that another row has, or that was erased."""
    derived = [place for place, one in enumerate(new) if one.get("id") or one.get("source_key")]
    if not derived:
        return rows
    wanted_ids = as_json([rows[place][0] for place in derived])
    used_ids = {
        str(id)
        for (id,) in connection.execute(
            "SELECT id FROM memories WHERE id IN (SELECT value FROM json_each(?))", (wanted_ids,)
        )
    }
    # Other devices refuse the id of what was erased.
    used_ids |= tombstones.erased_among(connection, [rows[place][0] for place in derived])
    for place in derived:
        if rows[place][0] in used_ids:
            rows[place] = (new_id(new[place]["kind"]), *rows[place][1:])
        used_ids.add(rows[place][0])
    return rows


def _inserted_values(new: NewMemory) -> tuple[Any, ...]:
    """The values of ``_INSERTED``."""
    given: Mapping[str, Any] = new
    get = given.get
    return (
        get("id") or (derived_id(new["kind"], key) if (key := get("source_key")) else new_id(new["kind"])),
        content_hash(new["content"]),
        *[get(name, default) for name, default in _STATED],
        *[_as_column_value(get(name), empty, json) for name, empty, json in _JSON],
    )


def _as_column_value(value: Any, empty: str, json: str) -> str:
    if not value:
        return empty
    return _encode(tuple(value) if json == "array" else dict(value)).decode()


def update(connection: apsw.Connection, rid: int, **columns: Any) -> None:
    """Set columns of a row; tags, source_ids and attributes are given as Python values."""
    for name, _, _ in _JSON:
        if name in columns:
            columns[name] = _encode(columns[name]).decode()
    if "content" in columns:
        columns["content_hash"] = content_hash(columns["content"])
    assignments = ", ".join(f"{name} = ?" for name in columns)
    connection.execute(f"UPDATE memories SET {assignments} WHERE rid = ?", (*columns.values(), rid))


def get(connection: apsw.Connection, id: str, now: float) -> MemoryRecord:
    """A memory by its id, or by the beginning of an id that only one memory has.

    Raises NotFoundError, or InputError for what is no text and for an ambiguous beginning, whose candidates it lists.
    """
    if not isinstance(id, str):
        raise InputError(
            f"An id is text, not {type(id).__name__}.", "Give one id; change_all changes several."
        )
    id = storable_text(id)
    row = connection.execute(f"SELECT {COLUMNS} FROM memories m WHERE m.id = ?", (id,)).fetchone()
    if row is None:
        row = _find_by_prefix(connection, id)
    return memory_record(row, now)


def memory_exists(connection: apsw.Connection, id: str) -> bool:
    """Whether the file has this memory now, in use or in the Trash. ``id`` is the whole id."""
    return scalar(connection, "SELECT 1 FROM memories WHERE id = ?", (id,)) is not None


def _find_by_prefix(connection: apsw.Connection, id: str) -> Sequence[Any]:
    rows: Sequence[Sequence[Any]] = []
    if len(id) >= 4 and id.isascii():
        rows = connection.execute(
            f"SELECT {COLUMNS} FROM memories m WHERE m.id >= ?1 AND m.id < ?1 || x'7f' LIMIT 6", (id,)
        ).fetchall()
    if not rows:
        _raise_removed(connection, id)
        raise NotFoundError(f"There is no memory {id!r}.", "memtui search finds memories and their ids.")
    if len(rows) > 1:
        names = ", ".join(str(row[1]) for row in rows[:5])
        raise InputError(f"{id!r} begins several ids: {names}.", "Give more of the id.")
    return rows[0]


def _raise_removed(connection: apsw.Connection, id: str) -> None:
    """Raise with the way back, when history knows the memory."""
    from .history import operation_that_removed

    if len(id) < 4 or (gone := operation_that_removed(connection, id)) is None:
        return
    whole, operation = gone
    way = "memtui redo" if operation.undoes is not None else f"memtui undo {operation.op_id}"
    raise NotFoundError(
        f"The memory {whole!r} was taken back by operation {operation.op_id} ({operation.label}).",
        f"{way} brings it back.",
    )


def tag_counts(connection: apsw.Connection, rids: Iterable[int]) -> dict[str, int]:
    """The tags of these memories, each with how many of them have it, the most frequent first."""
    rows = connection.execute(
        """
        SELECT t.value, count(*) FROM memories m, json_each(m.tags) t
        WHERE m.rid IN (SELECT value FROM json_each(?)) GROUP BY t.value ORDER BY count(*) DESC, t.value
        """,
        (as_json(list(rids)),),
    )
    return {str(tag): int(number) for tag, number in rows}


def by_rid(connection: apsw.Connection, rids: Sequence[int], now: float) -> list[MemoryRecord]:
    """Memories in the order of ``rids``; those that are gone are left out."""
    records = {}
    for start in range(0, len(rids), 500):
        some = rids[start : start + 500]
        for row in connection.execute(
            f"SELECT {COLUMNS} FROM memories m WHERE m.rid IN ({','.join('?' * len(some))})", tuple(some)
        ):
            records[row[0]] = memory_record(row, now)
    return [records[rid] for rid in rids if rid in records]


def by_ids(connection: apsw.Connection, ids: Sequence[str], now: float) -> list[MemoryRecord]:
    """Memories by id, in the order asked; those that are gone are left out."""
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM json_each(?) asked JOIN memories m ON m.id = asked.value ORDER BY asked.key",
        (as_json(list(ids)),),
    )
    return [memory_record(row, now) for row in rows]


def notes_with_same_text(connection: apsw.Connection, content: str, now: float) -> list[MemoryRecord]:
    """Active notes (facts, reflections, observations) with the same text, the oldest first."""
    return _find_by_hashes(connection, (content_hash(content),), now)


def alike_notes(connection: apsw.Connection, content: str, now: float) -> list[MemoryRecord]:
    """The same, also where only the stop at the end differs: "I like tea" and "i like tea."."""
    bare = content.rstrip().rstrip(".!… ")
    return _find_by_hashes(connection, tuple(content_hash(bare + end) for end in _ENDS), now) if bare else []


def _find_by_hashes(connection: apsw.Connection, hashes: Sequence[str], now: float) -> list[MemoryRecord]:
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM memories m WHERE m.content_hash IN ({','.join('?' * len(hashes))}) AND m.kind <> 'episode' "
        "AND m.valid_until IS NULL ORDER BY m.rid LIMIT 50",
        tuple(hashes),
    )
    return [memory_record(row, now) for row in rows]


def linked(
    connection: apsw.Connection,
    id: str,
    relation: str,
    now: float,
    *,
    incoming: bool = False,
    limit: int = 200,
) -> list[MemoryRecord]:
    """The memories that ``id`` points at by ``relation`` (source, supersedes, merged), or that point at it."""
    here, there = ("to_id", "from_id") if incoming else ("from_id", "to_id")
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM memory_links l JOIN memories m ON m.id = l.{there} "
        f"WHERE l.{here} = ? AND l.rel = ? ORDER BY m.event_time, m.rid LIMIT ?",
        (id, relation, limit),
    )
    return [memory_record(row, now) for row in rows]


def drawn_from(
    connection: apsw.Connection, ids: Sequence[str], now: float
) -> dict[str, tuple[MemoryRecord, ...]]:
    """The facts that name each of the memories (by id) as their source, oldest first; those without one are left out."""
    records: dict[str, list[MemoryRecord]] = {}
    rows = connection.execute(
        f"SELECT l.to_id, {COLUMNS} FROM json_each(?) AS asked JOIN memory_links l ON l.to_id = asked.value AND l.rel = 'source' "
        "JOIN memories m ON m.id = l.from_id WHERE m.kind = 'fact' ORDER BY m.rid",
        (as_json(ids),),
    )
    for source, *row in rows:
        records.setdefault(str(source), []).append(memory_record(row, now))
    return {source: tuple(facts) for source, facts in records.items()}


def latest_version(connection: apsw.Connection, id: str, now: float) -> MemoryRecord:
    """What a memory became: the last one that superseded or absorbed it, or itself. Raises NotFoundError."""
    latest = get(connection, id, now)
    seen = {latest.id}
    while latest.ended_by in ("superseded", "merged"):
        relation = "supersedes" if latest.ended_by == "superseded" else "merged"
        later = [
            one for one in linked(connection, latest.id, relation, now, incoming=True) if one.id not in seen
        ]
        if not later:
            break
        latest = later[-1]
        seen.add(latest.id)
    return latest


def turns_around(
    connection: apsw.Connection, memory: MemoryRecord, now: float, *, each: int = 3
) -> list[MemoryRecord]:
    """The turns around a memory in its session (itself included), in the order of the transcript."""
    if memory.session_id is None:
        return [memory]
    here = (memory.session_id, memory.event_time, memory.rid)
    before = connection.execute(
        f"SELECT {COLUMNS} FROM memories m WHERE m.session_id = ? AND (m.event_time, m.rid) < (?, ?) "
        "AND m.kind = 'episode' ORDER BY m.event_time DESC, m.rid DESC LIMIT ?",
        (*here, each),
    ).fetchall()
    after = connection.execute(
        f"SELECT {COLUMNS} FROM memories m WHERE m.session_id = ? AND (m.event_time, m.rid) > (?, ?) "
        "AND m.kind = 'episode' ORDER BY m.event_time, m.rid LIMIT ?",
        (*here, each),
    ).fetchall()
    return [
        *(memory_record(row, now) for row in reversed(before)),
        memory,
        *(memory_record(row, now) for row in after),
    ]


def transcript(
    connection: apsw.Connection, session_id: str, now: float, *, offset: int = 0, limit: int = 200
) -> list[MemoryRecord]:
    """The episodes of a session in order, a page at a time."""
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM memories m WHERE m.session_id = ? AND m.kind = 'episode' "
        "ORDER BY m.event_time, m.rid LIMIT ? OFFSET ?",
        (session_id, limit, offset),
    )
    return [memory_record(row, now) for row in rows]


def record_access(connection: apsw.Connection, rids: Iterable[int], now: int, today_start: int) -> None:
    """An agent recalled these memories: counts, and at most one recall day per local date."""
    connection.executemany(
        """
        UPDATE memories SET access_count = access_count + 1,
               recall_days = recall_days + (coalesce(last_accessed, 0) < ?2),
               last_accessed = max(coalesce(last_accessed, 0), ?1)
        WHERE rid = ?3
        """,
        [(now, today_start, rid) for rid in rids],
    )
