"""Erase in history: find texts that only row images have, and take texts out of images and labels. Redo would restore them.

What is left can still be undone: a run of inserted rows stays although some of them are gone, and an image loses
only the columns that carry the text. An image that would bring a row back by half goes as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import apsw
import msgspec

from memtui.engine.store.sql import as_json, json_text, scalar
from memtui.engine.store.tables import COVERED

from .closure import (
    ErasedRows,
    FormerMemory,
    MemoryRow,
    has_erased_words,
    quoting_notes,
)
from .columns import SCHEMA
from .references import NOTHING, without_ids

_any = msgspec.json.Decoder().decode
# All images of a table at once, by its index: there is none by what is in them.


class FormerSession(NamedTuple):
    sid: int
    session_id: str
    title: str
    words: tuple[str, ...]
    """Its summary and its last error, as far as it had them."""


_MEMORIES = """
SELECT c.lo, c.before, EXISTS (SELECT 1 FROM memories m WHERE m.rid = c.lo) FROM changes c
WHERE c.tbl = 'memories' AND c.act <> 'insert' AND c.act = 'delete' AND WHERE_ ORDER BY c.seq
"""


def former_by_ids(connection: apsw.Connection, ids: Iterable[str]) -> list[FormerMemory]:
    """The memories of these ids that history has, whether or not they are back in the file."""
    return _read_former(connection, "c.before ->> 'id' IN (SELECT value FROM json_each(?))", ids)


def former_of_sessions(connection: apsw.Connection, session_ids: Iterable[str]) -> list[FormerMemory]:
    """Those of these sessions."""
    return _read_former(
        connection, "c.before ->> 'session_id' IN (SELECT value FROM json_each(?))", session_ids
    )


def former_derived(connection: apsw.Connection) -> list[FormerMemory]:
    """Those that were made from other memories, and of which the file has no row: one that went may be back under another
    key, and then it is looked at there."""
    made = (
        "c.before ->> 'source_ids' <> '[]' OR instr(c.before ->> 'attributes', '\"supersedes\"') "
        "OR instr(c.before ->> 'attributes', '\"merged\"')"
    )
    back = "EXISTS (SELECT 1 FROM memories m WHERE m.id = c.before ->> 'id')"
    return [row for row in _read_former(connection, f"({made}) AND NOT {back}", None) if not row.live]


def _read_former(connection: apsw.Connection, where: str, values: Iterable[str] | None) -> list[FormerMemory]:
    return [
        _former_memory(int(str(rid)), _any(str(image)), bool(live))
        for rid, image, live in connection.execute(
            _MEMORIES.replace("WHERE_", where), () if values is None else (as_json(values),)
        )
    ]


def _former_memory(rid: int, image: dict[str, Any], live: bool) -> FormerMemory:
    about = _any(image.get("attributes") or "{}")
    row = MemoryRow(
        rid, str(image.get("id", "")), str(image.get("kind", "")), str(image.get("content", "")),
        image.get("session_id"), image.get("source_key"), image.get("source_role"), int(image.get("event_time") or 0),
    )  # fmt: skip
    return FormerMemory(
        row,
        frozenset(_any(image.get("source_ids") or "[]")),
        frozenset(id for key in ("supersedes", "merged") for id in _parse_ids(about.get(key))),
        live,
    )


def _parse_ids(value: object) -> list[str]:
    return [str(id) for id in (value if isinstance(value, list) else [value] if value else [])]


def former_sessions(connection: apsw.Connection, session_id: str) -> Iterator[FormerSession]:
    """The rows of a session that only history still has."""
    for sid, image in connection.execute(
        """
        SELECT c.lo, c.before FROM changes c WHERE c.tbl = 'sessions_consolidations' AND c.act <> 'insert' AND c.act = 'delete'
        AND c.before ->> 'session_id' = ?
        AND NOT EXISTS (SELECT 1 FROM sessions_consolidations s WHERE s.sid = c.lo)
        """,
        (session_id,),
    ):
        value = _any(str(image))
        words = tuple(str(text) for key in ("summary", "last_error") if (text := value.get(key)))
        yield FormerSession(int(str(sid)), session_id, str(value.get("title") or ""), words)


def session_texts(connection: apsw.Connection, sid: int) -> list[str]:
    """The summaries and errors of a session that stand in its images."""
    return [
        str(text)
        for row in connection.execute(
            """
            SELECT before ->> 'summary', after ->> 'summary', before ->> 'last_error', after ->> 'last_error'
            FROM changes WHERE tbl = 'sessions_consolidations' AND act <> 'insert' AND lo = ?
            """,
            (sid,),
        )
        for text in row
        if text
    ]


_object = msgspec.json.Decoder(dict[str, Any]).decode
# Columns that name rows of other tables by their keys.
_REFERENCES = {
    ("entities", "merged_into"): "entities",
    ("entity_aliases", "entity_id"): "entities",
    ("entity_decisions", "entity_id"): "entities",
    ("entity_decisions", "other_id"): "entities",
    ("entity_decisions", "rid"): "memories",
}
_JSON = frozenset({"tags", "attributes", "source_ids", "payload", "expected", "settings"})
# Columns that may be a short text as a whole.
_LABELS = {(table, column) for table, columns in SCHEMA.items() for column in columns.labels}
_WHOLE_TEXTS = {("sessions_consolidations", "title"), ("scratchpad", "key"), ("scratchpad", "value")}
_NAMES = frozenset({"entities", "entity_aliases"})


def scrub_history(
    connection: apsw.Connection, closure: ErasedRows, deleted: Mapping[str, set[int]], op_id: int
) -> int:
    """Remove every image of the rows that are ``deleted`` (table to keys), and of the words in all others.

    ``op_id``: the operation of the erase itself, whose images go altogether. Returns how many images there were.
    """
    touched: dict[int, bool] = {}
    seen = 0
    for seq, owner, tbl, act, lo, hi, before, after in connection.execute(
        "SELECT seq, op_id, tbl, act, lo, hi, before, after FROM changes WHERE op_id <> ?", (op_id,)
    ).fetchall():
        assert isinstance(seq, int) and isinstance(owner, int) and isinstance(lo, int) and isinstance(hi, int)
        keys = deleted.get(str(tbl), set())
        if all(key in keys for key in range(lo, hi + 1)) if hi - lo < len(keys) else False:
            connection.execute("DELETE FROM changes WHERE seq = ?", (seq,))
            touched[owner] = True
            seen += act != "insert"
            continue
        touched.setdefault(owner, False)
        if act == "insert":
            continue
        old, new = _parse_image(before), _parse_image(after)
        clean_old, clean_new = _clean_images(str(tbl), str(act), old, new, closure, deleted)
        if tbl == "sessions_consolidations" and lo in closure.sessions_losing_turns:
            clean_old, clean_new = _without_summary(clean_old, closure), _without_summary(clean_new, closure)
        if (clean_old, clean_new) == (old, new):
            continue
        seen += 1
        touched[owner] = True
        if not clean_old:
            connection.execute("DELETE FROM changes WHERE seq = ?", (seq,))
        else:
            connection.execute(
                "UPDATE changes SET before = ?, after = ? WHERE seq = ?",
                (_image_text(clean_old), _image_text(clean_new), seq),
            )
    connection.execute("DELETE FROM changes WHERE op_id = ?", (op_id,))
    _clean_labels(connection, closure, {owner for owner, changed in touched.items() if changed}, op_id)
    return seen


def _parse_image(json: Any) -> dict[str, Any] | None:
    return _object(json) if json else None


def _image_text(image: dict[str, Any] | None) -> str | None:
    return None if image is None else json_text(image)


def _clean_images(
    table: str, act: str, old: dict[str, Any] | None, new: dict[str, Any] | None, closure: ErasedRows,
    deleted: Mapping[str, set[int]],
) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:  # fmt: skip
    """The images without what is to go; (None, None) when the whole change goes."""
    lost: set[str] = set()
    parts = [dict(image) if image is not None else None for image in (old, new)]
    for part in parts:
        for column, value in (part or {}).items():
            target = _REFERENCES.get((table, column))
            if target is not None and value in deleted.get(target, ()):
                return None, None
            if not isinstance(value, str) or part is None:
                continue
            if column in _JSON:
                words = msgspec.json.decode(value)
                left = (
                    without_ids(words, closure.memory_ids)
                    if column != "attributes"
                    else _clean_attributes(words, closure.memory_ids)
                )
                quotes = has_erased_words(words, closure) or (
                    column == "attributes" and quoting_notes(words, closure)
                )
                if quotes or (left is NOTHING and isinstance(words, dict)):
                    lost.add(column)
                elif left != words:
                    part[column] = _to_json("[]" if left is NOTHING else left)
            elif (table, column) in _LABELS:
                part[column] = closure.labels.get(value, value)
            elif _column_has_erased_words(table, column, value, closure):
                lost.add(column)
    if not lost:
        return parts[0], parts[1]
    if act == "delete":
        return None, None
    cleaned = [
        None if part is None else {key: value for key, value in part.items() if key not in lost}
        for part in parts
    ]
    return cleaned[0], cleaned[1]


def _without_summary(image: dict[str, Any] | None, closure: ErasedRows) -> dict[str, Any] | None:
    """The image of a session without what was made of the turns that go: summary and error."""
    if image is None:
        return None
    columns = [column for column in ("summary", "last_error") if image.get(column) in closure.derived_texts]
    return {**image, **dict.fromkeys(columns)}


def _to_json(value: Any) -> str:
    return value if isinstance(value, str) else json_text(value)


def _clean_attributes(words: dict[str, Any], ids: frozenset[str]) -> dict[str, Any]:
    return {key: left for key, value in words.items() if (left := without_ids(value, ids)) is not NOTHING}


def _column_has_erased_words(table: str, column: str, value: str, closure: ErasedRows) -> bool:
    if table in COVERED and column in (
        "id",
        "kind",
        "state",
        "trust",
        "decision",
        "actor",
        "begun_by",
        "read_by",
        "content_hash",
    ):
        return False
    if table in _NAMES:  # a name stands in texts; it is of this text only where nothing else has it
        return (
            closure.texts.mentions_any(value) if column == "summary" else closure.texts.has_distinctive(value)
        )
    if table == "memories" and column in ("content", "attributes"):
        return closure.texts.carried_by(value) or closure.texts.has_distinctive(value)
    if (table, column) in _WHOLE_TEXTS and closure.texts.equals_short_text(value):
        return True
    return closure.texts.mentions_any(value)


def _clean_labels(connection: apsw.Connection, closure: ErasedRows, touched: set[int], op_id: int) -> None:
    """No label quotes the texts; an operation of which nothing is left leaves no trace."""
    empty = connection.execute(
        "SELECT op_id FROM ops WHERE op_id IN (SELECT value FROM json_each(?)) AND state <> 'running' "
        "AND op_id NOT IN (SELECT op_id FROM changes) ORDER BY op_id DESC",
        (as_json(touched),),
    ).fetchall()
    for (one,) in empty:  # the latest first: an undo before what it took back
        if scalar(connection, "SELECT 1 FROM ops WHERE undoes = ? LIMIT 1", (one,)) is None:
            _drop_operation(connection, int(str(one)))
    for owner, label in connection.execute(
        "SELECT op_id, label FROM ops WHERE op_id <> ?", (op_id,)
    ).fetchall():
        clean = closure.texts.without_quotations(str(label), all=owner in touched)
        if clean != label:
            connection.execute("UPDATE ops SET label = ? WHERE op_id = ?", (clean, owner))


def _drop_operation(connection: apsw.Connection, op_id: int) -> None:
    """Without the undo (or redo) that it was, what it took back stands again, as if it had not been."""
    again = connection.execute(
        "SELECT t.op_id, t.undoes FROM ops t JOIN ops o ON o.undoes = t.op_id WHERE o.op_id = ?1 AND t.undone_by = ?1",
        (op_id,),
    ).fetchone()
    if again is not None:
        target, before = again
        connection.execute("UPDATE ops SET state = 'done', undone_by = NULL WHERE op_id = ?", (target,))
        connection.execute("UPDATE ops SET state = 'undone', undone_by = ? WHERE op_id = ?", (target, before))
    connection.execute("DELETE FROM ops WHERE op_id = ?", (op_id,))
    connection.execute("UPDATE job_runs SET op_id = NULL WHERE op_id = ?", (op_id,))
