"""The complete export as JSON lines: a header, a line for every row, an end line with a hash.

Streamed from one snapshot of the memory; read back by importers/formats/memtui_export.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, TypeVar

import apsw
import msgspec
from msgspec.structs import replace

from memtui.engine.guards import secrets
from memtui.engine.records import ExportProgress, Record
from memtui.engine.store import export_rows
from memtui.engine.store.export_rows import Digest, Selection
from memtui.engine.store.sql import scalar
from memtui.engine.store.tables import MEMORY_COLUMNS_EXPLAINED

R = TypeVar("R", bound=Record)

# Ids and hashes look like keys, but are made by the program.
_IDENTITIES = ("id", "ids", "source_key", "decided", "seen", "hash", "line", "act")


def redact_line(line: R) -> R:
    """The line with ``[redacted: kind]`` in place of every secret."""
    changed = {}
    for name in line.__struct_fields__:
        value = getattr(line, name)
        new = _redact_raw(value) if isinstance(value, msgspec.Raw) else _collect_texts(value)
        if not _is_identity_column(name) and new != value:
            changed[name] = new
    return replace(line, **changed) if changed else line


def json_without_secrets(text: str) -> str:
    """JSON with every text in it blacked out."""
    if not secrets.find_secrets(text):
        return text
    return msgspec.json.encode(_collect_texts(msgspec.json.decode(text))).decode()


def _redact_raw(value: msgspec.Raw) -> msgspec.Raw:
    text = bytes(value).decode()
    new = json_without_secrets(text)
    return value if new == text else msgspec.Raw(new.encode())


def _collect_texts(value: object) -> object:
    if isinstance(value, str):
        return secrets.redact_secrets(value)[0]
    if isinstance(value, list):
        return [_collect_texts(item) for item in value]
    if isinstance(value, dict):
        return {
            name: item if _is_identity_column(str(name)) else _collect_texts(item)
            for name, item in value.items()
        }
    return value


def _is_identity_column(name: str) -> bool:
    return name in _IDENTITIES or name.endswith(("_id", "_ids"))


FORMAT = "memtui-export"
VERSION = 1
_LINES_PER_LOOK = 500

# What the lines say, in the file's own words.
LINES = {
    "header": "this line: what was exported, when, how many lines of each kind follow",
    "session": "a conversation: its id, when it began and ended, title, summary, project, when it was consolidated",
    "entity": "a name: whom or what it stands for (type), its written forms (aliases), the entity that it is another "
    "name of (merged_into); protected is a sum of what somebody decided: 1 name, 2 type, 4 summary, 8 type (an agent)",
    "memory": MEMORY_COLUMNS_EXPLAINED,
    "read": "up to which memory a session has been consolidated",
    "decision": "what was decided about names: link and unlink of a memory and an entity, not_entity, distinct",
    "scratchpad": "a key and its text",
    "deleted_key": "a key of the scratchpad that was taken away",
    "decided": "in a line: the latest decision about each aspect of it, who made it on which device, and which decisions "
    "of each device it knew of (seen)",
    "proposal": "what waits for a decision, or was decided, so that it is not asked again",
    "question": "a saved question, its filter, the memories that it should find among the first (top)",
    "profile": "ranking settings under a name",
    "operation": "history: who did what, when; undoes names another operation",
    "change": "history: a row changed by an operation, the columns before and after as the other file had them; "
    "rows counts inserted ones",
    "end": "the number of lines before it, and content_hash of all but history",
    "values": "times are Unix seconds; what is left out is empty, null or 0; ids are the same in every file",
}


class JsonlWriter:
    """What has been written so far."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.size = 0
        self.counts: dict[str, int] = {}
        self.content_hash = ""

    def write_line(self, kind: str, text: bytes) -> None:
        self._file.write(text + b"\n")
        self.size += len(text) + 1
        self.counts[kind] = self.counts.get(kind, 0) + 1


def write(
    connection: apsw.Connection,
    file: BinaryIO,
    selection: Selection,
    *,
    filter: str,
    history: bool,
    without_secrets: bool,
    made_at: int,
    progress: Callable[[ExportProgress], None] | None,
    cancelled: Callable[[], bool],
) -> JsonlWriter | None:
    """Write every line; None when it was cancelled. ``connection`` holds one snapshot.

    ``without_secrets`` blacks them out.
    """
    counts = export_rows.counts(connection, selection)
    if history:
        counts |= {kind: scalar(connection, f"SELECT count(*) FROM ({sql})", selection.bindings)
                   for kind, sql in _history_condition(selection).items()}  # fmt: skip
    total = sum(counts.values())
    written = JsonlWriter(file)
    header = {
        "line": "header", "format": FORMAT, "version": VERSION, "made_at": made_at,
        "filter": filter, "history": history, "counts": counts, "lines": LINES,
    }  # fmt: skip
    written.write_line("header", msgspec.json.encode(header))
    digest = Digest()
    done = 0
    for kind, text in _write_all(connection, selection, digest, history, without_secrets):
        written.write_line(kind, text)
        done += 1
        if done % _LINES_PER_LOOK == 0:
            if cancelled():
                return None
            if progress:
                progress(ExportProgress(done=done, total=total))
    written.content_hash = digest.text
    end = {"line": "end", "lines": done + 1, "content_hash": digest.text}
    written.write_line("end", msgspec.json.encode(end))
    if progress:
        progress(ExportProgress(done=total, total=total))
    return written


def _write_all(
    connection: apsw.Connection, selection: Selection, digest: Digest, history: bool, without_secrets: bool
) -> Iterator[tuple[str, bytes]]:
    for line in export_rows.rows(connection, selection, to_write=True):
        line = redact_line(line) if without_secrets else line
        digest.add(line)
        yield str(line.__struct_config__.tag), export_rows.encode(line)
    if history:
        for kind, sql in _history_condition(selection).items():
            cursor = connection.execute(sql, selection.bindings)
            names: list[str] = []
            for row in cursor:
                names = names or [name for name, _ in cursor.getdescription()]
                text = msgspec.json.encode({"line": kind, **_row_values(names, row)})
                yield kind, json_without_secrets(text.decode()).encode() if without_secrets else text


def _row_values(names: list[str], row: tuple[Any, ...]) -> dict[str, Any]:
    """The columns that are not null; images as the JSON that they are."""
    return {
        name: msgspec.Raw(value.encode()) if name in ("before", "after") else value
        for name, value in zip(names, row, strict=True)
        if value is not None
    }


def _history_condition(selection: Selection) -> dict[str, str]:
    """Of a narrowed selection only what was done to its memories."""
    changes = "true"
    operations = "true"
    if selection.narrowed:
        changes = f"c.tbl = 'memories' AND c.act <> 'insert' AND c.lo IN (SELECT m.rid FROM memories m WHERE {selection.where})"
        operations = f"o.op_id IN (SELECT c.op_id FROM changes c WHERE {changes})"
    return {
        "operation": f"""
            SELECT op_id AS operation, at, actor, kind, label, state, undoes, undone_by FROM ops o
            WHERE {operations} ORDER BY op_id""",
        "change": f"""
            SELECT op_id AS operation, tbl AS "table", act, hi - lo + 1 AS rows,
                   CASE tbl WHEN 'memories'
                       THEN coalesce((SELECT id FROM memories m WHERE m.rid = c.lo), before ->> 'id') END AS id,
                   json(before) AS before, json(after) AS after
            FROM changes c WHERE {changes} ORDER BY seq""",
    }  # fmt: skip
