"""mem0's ``history.db``: the versions of its memories, each superseded by the next, and its last messages.

A version that an export of mem0 brings too has the same key there.
"""

from __future__ import annotations

from collections.abc import Iterator

from memtui.engine.importers.base import Note
from memtui.engine.records import Skip, Turn

from .. import base, foreign_values
from ..base import Format, StreamHead
from ..databases import Row
from ..message_content import read_message
from ..stream import Stream
from .mem0 import NO_ID, SOURCE, version_key

DELETED = "deletion"
_MESSAGE_COLUMNS = frozenset(("id", "session_scope", "role", "content", "created_at"))
_COLUMNS = frozenset(("memory_id", "old_memory", "new_memory", "event"))


def _sniff(head: StreamHead) -> bool:
    return _COLUMNS.issubset(head.tables.get("history", ()))


def read(stream: Stream) -> Iterator[Note | Turn | Skip]:
    """What was said last in each scope, then each version that an event made.

    The last version of a memory is in force unless it was deleted.
    """
    tables = stream.tables()
    if _MESSAGE_COLUMNS.issubset(tables.get("messages", ())):
        yield from _read_messages(stream)
    columns = tables.get("history", ())
    created, updated = (name if name in columns else "NULL" for name in ("created_at", "updated_at"))
    time = f"CAST(coalesce({updated}, {created}) AS BLOB)"
    last: tuple[str | None, str | None] = (None, None)
    for row in stream.rows(
        f"""
        SELECT CAST(memory_id AS BLOB), CAST(event AS BLOB), CAST(new_memory AS BLOB), {time},
               lead(CAST(event AS BLOB)) OVER w, lead({time}) OVER w,
               count(*) OVER (PARTITION BY memory_id, new_memory ORDER BY rowid
                              ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING)
        FROM history WINDOW w AS (PARTITION BY memory_id ORDER BY rowid) ORDER BY memory_id, rowid
        """
    ):
        if isinstance(row, Skip):
            yield row
            continue
        version = _parse_version(row, last, stream)
        if isinstance(version, Note):
            last = (foreign_values.read_text(row[0]), version.source_key)
        yield version


FORMAT = Format("mem0-history", "mem0 history", _sniff, read)


def _read_messages(stream: Stream) -> Iterator[Turn | Skip]:
    for row in stream.rows(
        "SELECT CAST(id AS BLOB), CAST(session_scope AS BLOB), CAST(role AS BLOB), CAST(content AS BLOB), "
        "CAST(created_at AS BLOB) FROM messages ORDER BY rowid"
    ):
        if isinstance(row, Skip):
            yield row
            continue
        foreign_id, scope, role, content, time = (foreign_values.read_text(value) for value in row)
        message = read_message(role, content, stream)
        if isinstance(message, Skip):
            yield message
            continue
        speaker, text, trust = message
        session = foreign_values.read_identifier(scope) or stream.source.stem
        key = foreign_values.read_identifier(foreign_id) or foreign_values.hash_parts(
            session, speaker, text, time
        )
        yield Turn(
            session_id=f"mem0:{session}",
            role=speaker,
            content=text,
            source_key=f"mem0:said:{key}",
            source=SOURCE,
            event_time=foreign_values.event_time(time, stream),
            trust=trust,
        )


def _parse_version(row: Row, last: tuple[str | None, str | None], stream: Stream) -> Note | Skip:
    memory, event, text, time, next_event, next_time = (foreign_values.read_text(value) for value in row[:6])
    foreign_id = foreign_values.read_identifier(memory)
    if foreign_id is None:
        return stream.skip(NO_ID)
    if event == "DELETE":
        return Skip(reason=DELETED)
    if text is None or not text.strip():
        return stream.skip(base.NO_TEXT)
    at = foreign_values.event_time(time, stream)
    # A text that comes back later is in force under its key then; until then it was a version among others.
    key = version_key(foreign_id, text, row[6] or None)
    earlier = last[1] if last[0] == memory and last[1] != key else None
    ended_at = None
    if next_event is not None:
        ended_at = foreign_values.event_time(next_time, stream) or at or stream.source.modified
    return Note(
        kind="fact",
        content=text,
        source_key=key,
        source=SOURCE,
        trust="model",
        event_time=at,
        ended_at=ended_at,
        ended_by="forgotten" if next_event == "DELETE" else "superseded",
        supersedes=earlier,
    )
