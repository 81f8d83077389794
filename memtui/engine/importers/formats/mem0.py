"""mem0: what its API or ``get_all`` gives (``results`` of memories), and its ``history.db``.

A model drew these facts. A version of a memory is known by its id and text, so that an export and the history agree
on the latest one; the history also brings the earlier ones, as Trash, each superseded by the next, and the few messages
that were said last.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from memtui.engine.records import Skip, Turn

from .. import base, values
from ..base import Head
from ..databases import Row
from ..items import Note
from ..said import said
from ..source import Stream

SOURCE = "import:mem0"
NO_ID = "no id"
DELETED = "deletion"
_START = re.compile(rb"\A\s*[\[{]")
_OWNERS = ("user_id", "agent_id", "run_id")
_SAID = frozenset(("id", "session_scope", "role", "content", "created_at"))
_COLUMNS = frozenset(("memory_id", "old_memory", "new_memory", "event"))


class _Memory(msgspec.Struct):
    id: Any = None
    memory: Any = None
    hash: Any = None
    categories: Any = None
    created_at: Any = None
    updated_at: Any = None
    user_id: Any = None
    agent_id: Any = None
    run_id: Any = None


_MEMORY = msgspec.json.Decoder(_Memory)
_RAWS = msgspec.json.Decoder(list[msgspec.Raw])
_RESULTS = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Mem0:
    name = "mem0"
    label = "mem0"

    def sniff(self, head: Head) -> bool:
        if _START.match(head.raw) is None or b'"memory"' not in head.raw or b'"id"' not in head.raw:
            return False
        return any(b'"%s"' % word in head.raw for word in (b"hash", b"user_id", b"agent_id", b"run_id"))

    def read(self, stream: Stream) -> Iterator[Note | Skip]:
        """Pages of results, an array of memories, or a memory a line."""
        for item in stream.items():
            if isinstance(item, Skip):
                yield item
                continue
            try:
                page = values.decode(_RESULTS, item, stream)
            except values.NotReadableError as error:
                yield stream.skip(str(error))
                continue
            listed = page.get("results") or page.get("memories")
            if listed is None:
                yield _read(item, stream)
                continue
            try:
                elements = values.decode(_RAWS, bytes(listed), stream)
            except values.NotReadableError as error:
                yield stream.skip(str(error))
                continue
            for raw in elements:
                yield _read(bytes(raw), stream)


def _read(raw: bytes, stream: Stream) -> Note | Skip:
    try:
        found = values.decode(_MEMORY, raw, stream)
    except values.NotReadableError as error:
        return stream.skip(str(error))
    own = values.identifier(found.id)
    if own is None:
        return stream.skip(NO_ID)
    if not isinstance(found.memory, str) or not found.memory.strip():
        return stream.skip(base.NO_TEXT)
    owners = {name: owner for name in _OWNERS if (owner := values.identifier(getattr(found, name)))}
    categories = found.categories if isinstance(found.categories, list) else []
    return Note(
        kind="fact",
        content=found.memory,
        source_key=_key(own, found.memory),
        source=SOURCE,
        trust="model",
        event_time=values.event_time(found.updated_at or found.created_at, stream),
        tags=tuple(word for word in categories if isinstance(word, str)),
        attributes=owners,
    )


class Mem0History:
    name = "mem0-history"
    label = "mem0 history"

    def sniff(self, head: Head) -> bool:
        return _COLUMNS.issubset(head.tables.get("history", ()))

    def read(self, stream: Stream) -> Iterator[Note | Turn | Skip]:
        """What was said last in each scope, then each version that an event made.

        The last version of a memory is in force unless it was deleted.
        """
        tables = stream.tables()
        if _SAID.issubset(tables.get("messages", ())):
            yield from _messages(stream)
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
            found = _version(row, last, stream)
            if isinstance(found, Note):
                last = (values.text(row[0]), found.source_key)
            yield found


def _messages(stream: Stream) -> Iterator[Turn | Skip]:
    for row in stream.rows(
        "SELECT CAST(id AS BLOB), CAST(session_scope AS BLOB), CAST(role AS BLOB), CAST(content AS BLOB), "
        "CAST(created_at AS BLOB) FROM messages ORDER BY rowid"
    ):
        if isinstance(row, Skip):
            yield row
            continue
        own, scope, role, content, time = (values.text(value) for value in row)
        found = said(role, content, stream)
        if isinstance(found, Skip):
            yield found
            continue
        speaker, text, trust = found
        session = values.identifier(scope) or stream.source.stem
        yield Turn(
            session_id=f"mem0:{session}",
            role=speaker,
            content=text,
            source_key=f"mem0:said:{values.identifier(own) or values.digest(session, speaker, text, time)}",
            source=SOURCE,
            event_time=values.event_time(time, stream),
            trust=trust,
        )


def _version(row: Row, last: tuple[str | None, str | None], stream: Stream) -> Note | Skip:
    memory, event, text, time, next_event, next_time = (values.text(value) for value in row[:6])
    own = values.identifier(memory)
    if own is None:
        return stream.skip(NO_ID)
    if event == "DELETE":
        return Skip(reason=DELETED)
    if text is None or not text.strip():
        return stream.skip(base.NO_TEXT)
    at = values.event_time(time, stream)
    # A text that comes back later is in force under its key then; until then it was a version among others.
    key = _key(own, text, row[6] or None)
    earlier = last[1] if last[0] == memory and last[1] != key else None
    ended_at = None
    if next_event is not None:
        ended_at = values.event_time(next_time, stream) or at or stream.source.modified
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


def _key(identity: str, text: str, again: object = None) -> str:
    return f"mem0:{values.digest(identity, text.strip(), again)}"
