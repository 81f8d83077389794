"""Generic messages: ``{"role", "content", "session_id"?, "time"?, "id"?, "title"?, "project"?}``, one a line or in an array.

``session`` is also read for ``session_id``, ``timestamp`` or ``created_at`` for ``time``, a list of blocks
with a ``text`` for ``content``. Without a session the file is the session. An ``id`` counts in its session.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from ..curate import intake
from ..records import Skip, Turn
from . import base, json_items, values
from .base import Head
from .limits import LIMITS
from .ordinals import Ordinals
from .source import Stream

_HIDDEN = ("system", "developer")


class _Line(msgspec.Struct):
    role: Any = None
    content: Any = None
    session_id: Any = None
    session: Any = None
    time: Any = None
    timestamp: Any = None
    created_at: Any = None
    id: Any = None
    title: Any = None
    project: Any = None


_DECODER = msgspec.json.Decoder(_Line)


class Generic:
    name = "jsonl"
    label = "JSONL"

    def sniff(self, head: Head) -> bool:
        return any(map(_is_message, head.objects))

    def read(self, stream: Stream) -> Iterator[Turn | Skip]:
        ordinals = Ordinals()
        for line in values.decode_each(_DECODER, stream.lines(), stream):
            yield line if isinstance(line, Skip) else _turn(line, stream, ordinals)


class GenericArray:
    """The same in one JSON array, however it is laid out."""

    name = "json"
    label = "JSON messages"

    def sniff(self, head: Head) -> bool:
        if not head.raw.lstrip().startswith(b"["):
            return False
        first = next(json_items.split([head.raw], LIMITS), None)
        try:
            return isinstance(first, bytes) and _is_message(msgspec.json.decode(first))
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
            return False

    def read(self, stream: Stream) -> Iterator[Turn | Skip]:
        ordinals = Ordinals()
        for item in values.decode_each(_DECODER, stream.items(), stream):
            yield item if isinstance(item, Skip) else _turn(item, stream, ordinals)


def _is_message(record: Any) -> bool:
    return (
        isinstance(record, dict)
        and isinstance(record.get("role"), str)
        and isinstance(record.get("content"), str | list)
    )


def _turn(line: _Line, stream: Stream, ordinals: Ordinals) -> Turn | Skip:
    role = values.one_line(line.role)
    if role is None:
        return stream.skip(base.NO_ROLE)
    if role.casefold() in _HIDDEN:
        return Skip(reason=base.HIDDEN)
    text = base.joined(base.block_texts(line.content))
    if not text:
        return stream.skip(base.NO_TEXT)
    session = values.identifier(_first(line.session_id, line.session)) or f"jsonl:{stream.source.stem}"
    time = _first(line.time, line.timestamp, line.created_at)
    own = values.identifier(line.id)
    if own is None:
        own = values.digest(session, role, text, time)
        if ordinal := ordinals.next(bytes.fromhex(own)):
            own += f"#{ordinal}"
    else:
        own = f"{session}:{own}"
    return Turn(
        session_id=session,
        role=role,
        content=text,
        source_key=f"jsonl:{own}",
        source="import:jsonl",
        event_time=values.event_time(time, stream),
        project=values.one_line(line.project),
        session_title=values.one_line(line.title),
        # Other roles are names: somebody who is neither the person nor the assistant is quoted.
        trust=intake.role_trust(role) or "tool",
    )


def _first(*candidates: Any) -> Any:
    return next((value for value in candidates if value is not None), None)
