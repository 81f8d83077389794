"""Codex CLI rollouts: one file a session, one ``{timestamp, type, payload}`` a line.

What was said stands in ``event_msg`` records. ``response_item`` records repeat it, between instructions and
context that the program put in; old files have nothing else, and the oldest have them without an envelope.
Which of the two a file has is known after its first messages, which are kept until then.
The first versions wrote one ``.json`` object a session: ``{session: {timestamp, id}, items: [...]}``; all turns have its time.
Records have no ids: a turn is known by its session, time and words, equal ones by their order.

A session that was forked from another begins with a copy of it. What is older than the fork is a turn of the session it was
said in, and there already where that was imported; what was copied with new times is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from memtui.engine.importers.counters import OccurrenceCounter
from memtui.engine.records import Skip, Turn

from .. import base, foreign_values
from ..base import Format, StreamHead
from ..stream import Stream

_ROLE_BY_EVENT_TYPE = {"user_message": "user", "agent_message": "assistant"}
# Since 0.17x: the message is an item of the event.
_ITEM_EVENT = "item_completed"
_ROLE_BY_ITEM_TYPE = {"UserMessage": "user", "AgentMessage": "assistant"}
_ROLES = ("user", "assistant")
_TYPES = {"session_meta", "response_item", "event_msg", "turn_context", "compacted"}
COPIED = "copied from the session it was forked from"
# A copy is written at once, with the header: so many seconds after it at most.
_COPYING_SECONDS = 0.5
# A program that writes events writes the first one right after the first prompt.
_ITEMS_BEFORE_AN_EVENT = 50
# What the program says in the person's name.
_INJECTED_TEXT = re.compile(
    r"\s*(?:<(?:user_instructions|environment_context|turn_aborted|skill|subagent_notification|user_shell_command"
    r"|user_action|hook_prompt|permissions instructions|collaboration_mode|personality_spec|model_switch"
    r"|realtime_conversation|apps_instructions|system-reminder|INSTRUCTIONS|ENVIRONMENT_CONTEXT)\b"
    r"|# AGENTS\.md instructions for |Warning: (?:The maximum number of unified exec|apply_patch was requested via))"
)
_COMPACTION = (
    "Another language model started to solve this problem and produced a summary",
    "You were originally given instructions from a user over one or more turns.",
    "You are performing a CONTEXT CHECKPOINT COMPACTION.",
)
_EDITOR = "# Context from my IDE setup:"
_REQUEST = "## My request for Codex:"
_SESSION_ID_AT_END = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")


class _Payload(msgspec.Struct):
    type: Any = None
    id: Any = None
    cwd: Any = None
    source: Any = None
    forked_from_id: Any = None
    message: Any = None
    role: Any = None
    content: Any = None
    item: Any = None


class _Line(msgspec.Struct):
    timestamp: Any = None
    type: Any = None
    payload: _Payload | None = None
    # The oldest files: a header, then items without an envelope.
    id: Any = None
    record_type: Any = None
    role: Any = None
    content: Any = None
    # The first versions: the whole session.
    session: Any = None
    items: list[Any] | None = None


_DECODER = msgspec.json.Decoder(_Line)
_OLD_SESSION_START = re.compile(
    rb'\A\s*\{\s*"session"\s*:\s*\{\s*"timestamp"\s*:\s*"[^"]*"\s*,\s*"id"\s*:\s*"'
)


def _sniff(head: StreamHead) -> bool:
    if _OLD_SESSION_START.match(head.raw):
        return True
    if not head.objects:
        return False
    if any(
        item.get("type") in _TYPES and isinstance(item.get("payload"), dict)
        for item in head.objects
        if isinstance(item.get("type"), str)
    ):
        return True
    first = head.objects[0]
    return "instructions" in first and "id" in first and "role" not in first and "content" not in first


def read(stream: Stream) -> Iterator[Turn | Skip]:
    return _Rollout(stream).read()


FORMAT = Format("codex", "Codex CLI", _sniff, read)


def _role_and_text(payload: _Payload) -> tuple[str, Any] | None:
    """Role and text, if the event is what somebody said."""
    if payload.type in _ROLE_BY_EVENT_TYPE:
        return _ROLE_BY_EVENT_TYPE[payload.type], payload.message
    item = payload.item
    if (
        payload.type != _ITEM_EVENT
        or not isinstance(item, dict)
        or item.get("type") not in _ROLE_BY_ITEM_TYPE
    ):
        return None
    return _ROLE_BY_ITEM_TYPE[item["type"]], base.join_blocks(base.block_texts(item.get("content")))


class _Rollout:
    """One file under way: whose session it is, and what its messages are taken from."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        stem = _SESSION_ID_AT_END.search(stream.source.stem)
        self.session = stem[0] if stem else stream.source.stem
        self.project: str | None = None
        self.folder: str | None = None
        self.aside = False
        self.known = False
        self.forked = False
        self.parent = self.session
        # Whether copies may have new times: none with an old one was met.
        self.renewed = True
        # The sessions that this file has headers of, this one first: id, and when it began.
        self.headers: list[tuple[str, float]] = []
        self.events: bool | None = None  # None: not yet known
        self.pending_turns: list[Turn] = []
        self.ordinals = OccurrenceCounter()

    def read(self) -> Iterator[Turn | Skip]:
        for line in foreign_values.decode_each(_DECODER, self.stream.records(), self.stream):
            if isinstance(line, Skip):
                yield line
            else:
                yield from self._parse_line(line)
        yield from self._take_items()

    def _parse_line(self, line: _Line) -> Iterator[Turn | Skip]:
        payload = line.payload or _Payload()
        if line.items is not None and isinstance(line.session, dict):
            yield from self._read_old_session(line.session, line.items)
        elif line.type == "event_msg" and (said := _role_and_text(payload)) is not None:
            if self.events is None:
                self.events = True
                self.pending_turns.clear()
            if self.events:
                yield self._make_turn(line, *said)
        elif line.type == "response_item":
            yield from self._parse_item(line, payload)
        elif line.payload is None and line.type == "message":
            yield from self._parse_item(line, _Payload(type="message", role=line.role, content=line.content))
        else:
            if line.type == "session_meta":
                self._note_header(payload, foreign_values.event_time(line.timestamp, self.stream))
            elif line.type is None and line.record_type is None:
                self._note_header(_Payload(id=line.id), None)
            yield Skip(reason=base.COMPACTION if line.type == "compacted" else base.NOT_A_MESSAGE)

    def _read_old_session(self, session: dict[str, Any], items: list[Any]) -> Iterator[Turn | Skip]:
        """A session in one object, written by the first versions."""
        self._note_header(_Payload(id=session.get("id")), None)
        for item in items:
            if not isinstance(item, dict):
                yield self.stream.skip("record of an unknown shape")
                continue
            line = _Line(timestamp=session.get("timestamp"))
            kind = item.get("type", "message" if "role" in item else None)
            yield from self._parse_item(
                line, _Payload(type=kind, role=item.get("role"), content=item.get("content"))
            )

    def _note_header(self, payload: _Payload, began: float | None) -> None:
        """The first one counts: a forked session goes on with those of the sessions before it."""
        session_id = foreign_values.read_identifier(payload.id)
        if self.forked and session_id and began is not None:
            self.headers.append((session_id, began))
        if self.known:
            return
        self.known = True
        self.session = session_id or self.session
        parent = foreign_values.read_identifier(payload.forked_from_id)
        if parent and began is not None:
            self.forked, self.parent = True, parent
            self.headers.append((self.session, began))
        self.project = foreign_values.last_path_part(payload.cwd)
        self.folder = foreign_values.read_folder(payload.cwd)
        self.aside = isinstance(payload.source, dict) and "subagent" in payload.source

    def _parse_item(self, line: _Line, payload: _Payload) -> Iterator[Turn | Skip]:
        if self.events:
            yield Skip(reason=base.NOT_A_MESSAGE)
            return
        if payload.type != "message":
            yield Skip(reason=base.TOOL)
        elif payload.role not in _ROLES:
            yield Skip(reason=base.HIDDEN)
        else:
            turn = self._make_turn(line, payload.role, base.join_blocks(base.block_texts(payload.content)))
            if isinstance(turn, Skip) or self.events is False:
                yield turn
                return
            self.pending_turns.append(turn)
            if len(self.pending_turns) > _ITEMS_BEFORE_AN_EVENT:
                yield from self._take_items()

    def _take_items(self) -> Iterator[Turn]:
        if self.events is None:
            self.events = False
            yield from self.pending_turns
            self.pending_turns.clear()

    def _make_turn(self, line: _Line, role: str, text: Any) -> Turn | Skip:
        if not isinstance(text, str) or not text.strip():
            return Skip(reason=base.NO_TEXT)
        if role == "user":
            if text.startswith(_COMPACTION):
                return Skip(reason=base.COMPACTION)
            if _INJECTED_TEXT.match(text):
                return Skip(reason=base.PROGRAM)
            if text.startswith(_EDITOR) and _REQUEST in text:
                text = text.partition(_REQUEST)[2].strip()
                if not text:
                    return Skip(reason=base.PROGRAM)
        time = foreign_values.event_time(line.timestamp, self.stream)
        said_in = self._session_at(time)
        if said_in is None:
            return Skip(reason=COPIED)
        session = f"codex:{said_in}"
        key = foreign_values.hash_parts(session, role, text, line.timestamp)
        if ordinal := self.ordinals.count_before(bytes.fromhex(key)):
            key += f"#{ordinal}"
        return Turn(
            session_id=session,
            role=role,
            content=text,
            source_key=f"codex:{key}",
            source="import:codex",
            event_time=time,
            project=self.project,
            folder=self.folder,
            trust="user" if role == "user" and not self.aside else "agent",
        )

    def _session_at(self, time: float | None) -> str | None:
        """The session that a turn of this time (Unix seconds) was said in; None for a copy with a new time."""
        if not self.forked or time is None:
            return self.session
        began = self.headers[0][1]
        if time >= began:
            return None if self.renewed and time <= began + _COPYING_SECONDS else self.session
        self.renewed = False
        before = self.headers[1:] or [(self.parent, time)]
        return next((session for session, began in before if time >= began), before[-1][0])
