"""Gemini CLI sessions: ``~/.gemini/tmp/<project>/chats/session-*.jsonl``, and the ``.json`` files of earlier versions.

The first line has the session's id. Each other line is a message, which is written again when it gets more fields; or
``$rewindTo``, where the person took back a message and all after it; or ``$set`` with new fields of the session. With
``messages`` in it, that is what the model is given from then on: old messages are left out of it, and summaries put in, so
it adds nothing that was said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from memtui.engine.records import Skip, Turn

from .. import base, foreign_values, refusals
from ..base import Format, StreamHead
from ..stream import Stream

SOURCE = "import:gemini-cli"
UNDONE = "taken back in the program"
_ROLES = {"user": "user", "gemini": "assistant"}
_PROGRAM_TYPES = frozenset({"info", "error", "warning"})
_INJECTED = ("<session_context>", "<hook_context>")
_COMMAND = re.compile(r"[/?][\w:-]*\s*\Z")
# A session waits for its end, because of what is taken back: so many characters of it.
_MOST_WAITING = 64 << 20
_PROJECT_ROOT_FILE, _LARGEST_ROOT = ".project_root", 4096
_HASH = re.compile(r"[0-9a-f]{64}\Z")


class _Message(msgspec.Struct, rename="camel"):
    id: Any = None
    type: Any = None
    timestamp: Any = None
    content: Any = None
    display_content: Any = None
    tool_calls: Any = None


class _Record(_Message, rename="camel"):
    rewind_to: Any = msgspec.field(default=None, name="$rewindTo")
    set: Any = msgspec.field(default=None, name="$set")
    session_id: Any = None
    summary: Any = None
    directories: Any = None
    kind: Any = None
    messages: list[Any] | None = None


_DECODER = msgspec.json.Decoder(_Record)


def _sniff(head: StreamHead) -> bool:
    if any("sessionId" in record and "projectHash" in record for record in head.objects[:1]):
        return True
    return head.begins_with_object(b"sessionId", b"projectHash")


def read(stream: Stream) -> Iterator[Turn | Skip]:
    talk = _SessionReader(stream)
    for record in foreign_values.decode_each(_DECODER, stream.records(), stream):
        if isinstance(record, Skip):
            yield record
        else:
            yield from talk.read_record(record)
    yield from talk.waiting_turns()


FORMAT = Format("gemini-cli", "Gemini CLI", _sniff, read)


class _SessionReader:
    """One session under way."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.session = stream.source.stem
        self.title: str | None = None
        self.aside = False
        self.folder = _project_root(stream)
        self.waiting: dict[str, Turn | Skip] = {}
        self.characters = 0
        self.said = False

    def read_record(self, record: _Record) -> Iterator[Turn | Skip]:
        if isinstance(record.rewind_to, str):
            yield from self._drop_from(record.rewind_to)
        elif isinstance(record.set, dict):
            self._note_session(msgspec.convert(_without_messages(record.set), _Record))
            for message in record.set.get("messages") or ():
                if isinstance(message, dict) and str(message.get("id")) not in self.waiting:
                    yield Skip(reason=base.PROGRAM)
        elif record.session_id is not None:
            self._note_session(record)
            for message in record.messages or ():
                if isinstance(message, dict):
                    yield from self._add_message(msgspec.convert(message, _Message))
                else:
                    yield self.stream.skip(base.NOT_A_MESSAGE)
        else:
            yield from self._add_message(record)

    def waiting_turns(self) -> Iterator[Turn | Skip]:
        """What was not taken back; the title of a session is known by now."""
        for turn in self.waiting.values():
            yield (
                msgspec.structs.replace(turn, session_title=self.title) if isinstance(turn, Turn) else turn
            )
        self.waiting.clear()
        if not self.said:
            yield self.stream.skip(refusals.NO_MESSAGES)

    def _note_session(self, record: _Record) -> None:
        self.session = foreign_values.read_identifier(record.session_id) or self.session
        self.title = foreign_values.title_line(record.summary) or self.title
        self.aside = self.aside or record.kind == "subagent"
        if self.folder is None and isinstance(record.directories, list) and record.directories:
            self.folder = foreign_values.read_folder(record.directories[0])

    def _drop_from(self, id: str) -> Iterator[Skip]:
        """Without that message, everything is taken back."""
        ids = list(self.waiting)
        start = ids.index(id) if id in self.waiting else 0
        for one in ids[start:]:
            del self.waiting[one]
            yield Skip(reason=UNDONE)

    def _add_message(self, message: _Message) -> Iterator[Turn | Skip]:
        self.said = True
        foreign_id = foreign_values.read_identifier(message.id)
        if foreign_id is None:
            yield self.stream.skip(base.NOT_A_MESSAGE)
            return
        turn = self._parse_turn(foreign_id, message)
        before = self.waiting.get(foreign_id)
        if isinstance(turn, Skip) and isinstance(before, Turn):
            return  # the same message with more fields
        self.waiting[foreign_id] = turn
        self.characters += len(turn.content) if isinstance(turn, Turn) else 0
        if self.characters > _MOST_WAITING:
            self.stream.warn("long session: what was taken back late in it is imported, too")
            self.characters = 0
            yield from self.waiting.values()
            self.waiting.clear()

    def _parse_turn(self, foreign_id: str, message: _Message) -> Turn | Skip:
        role = _ROLES.get(message.type) if isinstance(message.type, str) else None
        if role is None:
            return (
                Skip(reason=base.PROGRAM)
                if message.type in _PROGRAM_TYPES
                else self.stream.skip(base.UNKNOWN)
            )
        text = (_message_text(message.display_content) if role == "user" else "") or _message_text(
            message.content
        )
        if not text:
            return Skip(
                reason=base.TOOL if message.tool_calls or _has_tool(message.content) else base.NO_TEXT
            )
        if role == "user" and (text.lstrip().startswith(_INJECTED) or _COMMAND.match(text.strip())):
            return Skip(reason=base.PROGRAM)
        return Turn(
            session_id=f"gemini-cli:{self.session}",
            role=role,
            content=text,
            source_key=f"gemini-cli:{foreign_id}",
            source=SOURCE,
            event_time=foreign_values.event_time(message.timestamp, self.stream),
            project=foreign_values.last_path_part(self.folder) or _project_name(self.stream),
            folder=self.folder,
            trust="user" if role == "user" and not self.aside else "agent",
        )


def _without_messages(fields: dict[str, Any]) -> dict[str, Any]:
    """New fields of a session, without its messages."""
    return {name: value for name, value in fields.items() if name != "messages"}


def _as_parts(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [content]


def _message_text(content: Any) -> str:
    """The texts of a message's parts, which are one text or several; not what the model thought."""
    texts = []
    for part in _as_parts(content):
        if isinstance(part, dict):
            part = None if part.get("thought") else part.get("text")
        if isinstance(part, str):
            texts.append(part)
    joined = "".join(texts)
    return "" if joined.isspace() else joined


def _has_tool(content: Any) -> bool:
    return any(
        isinstance(part, dict) and ("functionResponse" in part or "functionCall" in part)
        for part in _as_parts(content)
    )


def _project_root(stream: Stream) -> str | None:
    """The folder that the program worked in, from the file that it keeps beside its sessions."""
    if stream.source.member is not None:
        return None
    for folder in list(stream.source.path.absolute().parents)[1:3]:
        try:
            with Path(folder, _PROJECT_ROOT_FILE).open("rb") as file:
                return foreign_values.read_folder(file.read(_LARGEST_ROOT).decode(errors="replace").strip())
        except OSError:
            continue
    return None


def _project_name(stream: Stream) -> str | None:
    """The name of the folder above ``chats``, unless it is a hash."""
    parents = [folder.name for folder in stream.source.path.parents]
    if stream.source.member is not None or "chats" not in parents[:2]:
        return None
    name = parents[parents.index("chats") + 1]
    return None if _HASH.match(name) else foreign_values.title_line(name)
