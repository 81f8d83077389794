"""Generic messages: ``{"role", "content", "session_id"?, "time"?, "id"?, "title"?, "project"?}``, one a line or in an array.

``session`` or ``sessionID`` is also read for ``session_id``, ``timestamp``, ``created_at`` or ``time.created`` for ``time``,
a list of blocks with a ``text`` for ``content``. Without a session the file is the session. An ``id`` counts in its session.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from memtui.engine.importers.counters import OccurrenceCounter
from memtui.engine.records import Skip, Turn

from .. import foreign_values
from ..base import Format, StreamHead
from ..message_content import read_message
from ..stream import Stream


class _Line(msgspec.Struct):
    role: Any = None
    content: Any = None
    session_id: Any = None
    session: Any = None
    session_id_camel: Any = msgspec.field(default=None, name="sessionID")
    time: Any = None
    timestamp: Any = None
    created_at: Any = None
    id: Any = None
    title: Any = None
    project: Any = None


_DECODER = msgspec.json.Decoder(_Line)


def _sniff_lines(head: StreamHead) -> bool:
    return not head.array and any(map(_is_message, head.objects))


def _sniff_array(head: StreamHead) -> bool:
    """The same in one JSON array, however it is laid out."""
    return head.array and any(map(_is_message, head.objects))


def read(stream: Stream) -> Iterator[Turn | Skip]:
    ordinals = OccurrenceCounter()
    for record in foreign_values.decode_each(_DECODER, stream.records(), stream):
        yield record if isinstance(record, Skip) else _parse_turn(record, stream, ordinals)


LINES = Format("jsonl", "JSONL", _sniff_lines, read)
ARRAY = Format("json", "JSON messages", _sniff_array, read)


def _is_message(record: Any) -> bool:
    return (
        isinstance(record, dict)
        and isinstance(record.get("role"), str)
        and isinstance(record.get("content"), str | list)
    )


def _parse_turn(line: _Line, stream: Stream, ordinals: OccurrenceCounter) -> Turn | Skip:
    message = read_message(line.role, line.content, stream)
    if isinstance(message, Skip):
        return message
    role, text, trust = message
    session = (
        foreign_values.read_identifier(_first_not_none(line.session_id, line.session, line.session_id_camel))
        or f"jsonl:{stream.source.stem}"
    )
    own_time = line.time.get("created", line.time) if isinstance(line.time, dict) else line.time
    time = _first_not_none(own_time, line.timestamp, line.created_at)
    foreign_id = foreign_values.read_identifier(line.id)
    if foreign_id is None:
        foreign_id = foreign_values.hash_parts(session, role, text, time)
        if ordinal := ordinals.count_before(bytes.fromhex(foreign_id)):
            foreign_id += f"#{ordinal}"
    else:
        foreign_id = f"{session}:{foreign_id}"
    return Turn(
        session_id=session,
        role=role,
        content=text,
        source_key=f"jsonl:{foreign_id}",
        source="import:jsonl",
        event_time=foreign_values.event_time(time, stream),
        project=foreign_values.title_line(line.project),
        session_title=foreign_values.title_line(line.title),
        trust=trust,
    )


def _first_not_none(*candidates: Any) -> Any:
    return next((value for value in candidates if value is not None), None)
