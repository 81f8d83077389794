"""Sessions of the OpenAI Agents SDK: rows of JSON in an SQLite file, in the order of their ids.

The names of the two tables are the program's to choose, so the table of messages is known by its columns. A
row that was encrypted cannot be read without the program's key. Two programs may call their sessions the
same and count from 1, so the words and the time belong to a row's identity.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from memtui.engine.records import Skip, Turn

from .. import base, databases, foreign_values, refusals
from ..base import Format, StreamHead
from ..message_content import read_message
from ..stream import Stream

# What a table of messages has.
COLUMNS = {"id", "session_id", "message_data", "created_at"}


class _Item(msgspec.Struct):
    type: Any = None
    role: Any = None
    content: Any = None
    encrypted: Any = msgspec.field(default=None, name="__enc__")


_ITEM = msgspec.json.Decoder(_Item)


def _sniff(head: StreamHead) -> bool:
    return any(COLUMNS.issubset(columns) for columns in head.tables.values())


def read(stream: Stream) -> Iterator[Turn | Skip]:
    for table, columns in stream.tables().items():
        if not COLUMNS.issubset(columns):
            continue
        rows = stream.rows(
            f"""
            SELECT id, CAST(session_id AS BLOB), CAST(created_at AS BLOB),
            CASE WHEN octet_length(message_data) <= ? THEN CAST(message_data AS BLOB) END
            FROM {databases.quote_name(table)} ORDER BY id
            """,
            (stream.limits.line,),
        )
        for row in rows:
            yield row if isinstance(row, Skip) else _parse_turn(row, stream)


FORMAT = Format("openai-agents", "OpenAI Agents SDK", _sniff, read)


def _parse_turn(row: databases.Row, stream: Stream) -> Turn | Skip:
    number, session, time, data = (
        row[0],
        foreign_values.read_text(row[1]),
        foreign_values.read_text(row[2]),
        row[3],
    )
    if not isinstance(data, bytes):
        return stream.skip("row without a message, or too long")
    try:
        item = foreign_values.decode(_ITEM, data, stream)
    except foreign_values.NotReadableError as error:
        return stream.skip(str(error))
    if item.encrypted is not None:
        return Skip(reason=refusals.ENCRYPTED)
    if item.type not in (None, "message"):
        return Skip(reason=base.TOOL)
    message = read_message(item.role, item.content, stream)
    if isinstance(message, Skip):
        return message
    role, text, trust = message
    name = foreign_values.read_identifier(session) or stream.source.stem
    return Turn(
        session_id=f"openai-agents:{name}",
        role=role,
        content=text,
        source_key=f"openai-agents:{foreign_values.hash_parts(name, number, time, role, text)}",
        source="import:openai-agents",
        event_time=foreign_values.event_time(time, stream),
        trust=trust,
    )
