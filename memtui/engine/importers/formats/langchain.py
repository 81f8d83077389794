"""LangChain message histories: ``{type, data: {content, ...}}``, in a JSON array or in rows of an SQLite file.

Neither holds times: the order is kept, and the file's time taken. A history in a file has no name but the
file's. The table's name is the program's to choose, so it is known by its columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from memtui.engine.importers.counters import OccurrenceCounter
from memtui.engine.records import Skip, Turn

from .. import base, databases, foreign_values
from ..base import Format, StreamHead
from ..message_content import speaker_trust, text_blocks
from ..stream import Stream

_COLUMNS = {"id", "session_id", "message"}
_ROLES = {"human": "user", "ai": "assistant", "HumanMessageChunk": "user", "AIMessageChunk": "assistant"}
_TOOL_OUTPUT_TYPES = {"tool", "function", "ToolMessageChunk", "FunctionMessageChunk"}
# Somebody with a role of their own.
_NAMED_ROLE_TYPES = {"chat", "ChatMessageChunk"}
_TYPES = {*_ROLES, *_TOOL_OUTPUT_TYPES, *_NAMED_ROLE_TYPES, "system"}
_START = re.compile(rb'\A\s*\[?\s*\{\s*"type"\s*:\s*"(\w+)"\s*,\s*"data"\s*:\s*\{')


class _Data(msgspec.Struct):
    content: Any = None
    role: Any = None
    id: Any = None


class _Message(msgspec.Struct):
    type: Any
    data: _Data


_MESSAGE = msgspec.json.Decoder(_Message)


def _sniff(head: StreamHead) -> bool:
    # Other programs have such columns too, and rows that are not such messages are passed over.
    if any(_COLUMNS.issubset(columns) for columns in head.tables.values()):
        return True
    if any(
        isinstance(kind := item.get("type"), str) and kind in _TYPES and isinstance(item.get("data"), dict)
        for item in head.objects
    ):
        return True
    start = _START.match(head.raw)
    return start is not None and start[1].decode(errors="replace") in _TYPES


def read(stream: Stream) -> Iterator[Turn | Skip]:
    return _read_rows(stream) if stream.is_database else _read_items(stream)


def _read_items(stream: Stream) -> Iterator[Turn | Skip]:
    ordinals = OccurrenceCounter()
    session = stream.source.stem
    for item in stream.items():
        if isinstance(item, Skip):
            yield item
            continue
        turn = _parse_message(item, stream)
        if isinstance(turn, Skip):
            yield turn
            continue
        role, text, foreign_id = turn
        key = foreign_values.hash_parts(session, role, text, foreign_id)
        if ordinal := ordinals.count_before(bytes.fromhex(key)):
            key += f"#{ordinal}"
        yield _make_turn(session, role, text, key)


def _read_rows(stream: Stream) -> Iterator[Turn | Skip]:
    for table, columns in stream.tables().items():
        if not _COLUMNS.issubset(columns):
            continue
        rows = stream.rows(
            f"""
            SELECT id, CAST(session_id AS BLOB),
            CASE WHEN octet_length(message) <= ? THEN CAST(message AS BLOB) END
            FROM {databases.quote_name(table)} ORDER BY id
            """,
            (stream.limits.line,),
        )
        for row in rows:
            if isinstance(row, Skip):
                yield row
                continue
            number, name, data = row
            if not isinstance(data, bytes):
                yield stream.skip("row without a message, or too long")
                continue
            turn = _parse_message(data, stream)
            if isinstance(turn, Skip):
                yield turn
                continue
            role, text, _ = turn
            session = foreign_values.read_identifier(foreign_values.read_text(name)) or stream.source.stem
            # Two programs may call their sessions the same and count from 1.
            yield _make_turn(session, role, text, foreign_values.hash_parts(session, number, role, text))


FORMAT = Format("langchain", "LangChain", _sniff, read)


def _parse_message(raw: bytes, stream: Stream) -> tuple[str, str, str | None] | Skip:
    """Role, text, and the message's own id if it has one."""
    try:
        message = foreign_values.decode(_MESSAGE, raw, stream)
    except foreign_values.NotReadableError as error:
        return stream.skip(str(error))
    kind = message.type if isinstance(message.type, str) else ""
    if kind in _TOOL_OUTPUT_TYPES:
        return Skip(reason=base.TOOL)
    role = foreign_values.title_line(message.data.role) if kind in _NAMED_ROLE_TYPES else _ROLES.get(kind)
    if role is None:
        return Skip(reason=base.HIDDEN if kind else base.NO_ROLE)
    text = base.join_blocks(base.block_texts(text_blocks(message.data.content)))
    if not text:
        return Skip(reason=base.NO_TEXT)
    return role, text, foreign_values.read_identifier(message.data.id)


def _make_turn(session: str, role: str, text: str, key: str) -> Turn:
    return Turn(
        session_id=f"langchain:{session}",
        role=role,
        content=text,
        source_key=f"langchain:{key}",
        source="import:langchain",
        trust=speaker_trust(role),
    )
