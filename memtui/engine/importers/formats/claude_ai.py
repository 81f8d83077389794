"""Claude.ai exports: a JSON array of conversations, each with its messages in order.

What the person pasted or attached is a turn of its own, after the message: they gave it, but somebody else may have
written it, so it is quoted. Thinking and tool use, which are blocks of other kinds, are left out. Some exports say
``messages``, ``role`` and ``title`` for ``chat_messages``, ``sender`` and ``name``.

``memories.json`` holds what Claude keeps about the person, of all conversations and of each project: paragraphs that a
model wrote, under headings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from memtui.engine.records import Skip, Turn

from .. import base, values
from ..base import Head
from ..items import Note
from ..said import text_blocks
from ..source import Stream

ATTACHMENT = "attachment"
NO_CONTENT = "attached file without its text"
_ROLES = {"human": "user", "user": "user", "assistant": "assistant"}
_MESSAGES = re.compile(rb'"chat_messages"|"messages"\s*:\s*\[')


class _Message(msgspec.Struct):
    uuid: Any = None
    sender: Any = None
    role: Any = None
    text: Any = None
    content: Any = None
    created_at: Any = None
    attachments: Any = None
    files: Any = None


class _Conversation(msgspec.Struct):
    uuid: Any = None
    name: Any = None
    title: Any = None
    created_at: Any = None
    chat_messages: list[msgspec.Raw] | None = None
    messages: list[msgspec.Raw] | None = None


_CONVERSATION = msgspec.json.Decoder(_Conversation)
_MESSAGE = msgspec.json.Decoder(_Message)


class ClaudeAI:
    name = "claude-ai"
    label = "Claude.ai"

    def sniff(self, head: Head) -> bool:
        if head.objects:
            return any(
                "uuid" in item and isinstance(item.get("chat_messages", item.get("messages")), list)
                for item in head.objects
            )
        return head.begins_with_object(b"uuid") and _MESSAGES.search(head.raw) is not None

    def read(self, stream: Stream) -> Iterator[Turn | Skip]:
        for conversation in values.decode_each(_CONVERSATION, stream.items(), stream):
            if isinstance(conversation, Skip):
                yield conversation
            else:
                yield from _turns(conversation, stream)


def _turns(conversation: _Conversation, stream: Stream) -> Iterator[Turn | Skip]:
    messages = conversation.chat_messages or conversation.messages
    if not messages:
        yield stream.skip("conversation without messages")
        return
    name = values.identifier(conversation.uuid)
    if name is None:
        # Its first message is a name that a later export gives it again.
        name = values.digest(bytes(messages[0]).decode(errors="replace"))
    time = values.event_time(conversation.created_at, stream)
    for message in values.decode_each(_MESSAGE, map(bytes, messages), stream):
        if isinstance(message, Skip):
            yield message
            continue
        sender = values.one_line(message.sender) or values.one_line(message.role)
        if sender is None:
            yield stream.skip(base.NO_ROLE)
            continue
        role = _ROLES.get(sender.casefold())
        if role is None:
            yield Skip(reason=base.HIDDEN)
            continue
        text = _text(message)
        attached = list(_attached(message))
        if not (text or attached):
            yield Skip(reason=base.NO_TEXT)
        # A message without a time follows the one before it.
        time = values.event_time(message.created_at, stream) or time
        own = values.identifier(message.uuid) or values.digest(
            role, text or repr(attached) if attached else text, message.created_at
        )
        turn = Turn(
            session_id=f"claude-ai:{name}",
            role=role,
            content=text,
            source_key=f"claude-ai:{name}:{own}",
            source="import:claude-ai",
            event_time=time,
            session_title=values.one_line(conversation.name) or values.one_line(conversation.title),
            trust="user" if role == "user" else "agent",
        )
        if text:
            yield turn
        for number, document in enumerate(attached):
            yield document if isinstance(document, Skip) else msgspec.structs.replace(
                turn, role=ATTACHMENT, content=document, trust="tool",
                source_key=f"{turn.source_key}:attachment:{number}",
            )  # fmt: skip


def _attached(message: _Message) -> Iterator[str | Skip]:
    """The texts that came with a message, each under the name of its file; files whose text is not in the export."""
    for found in message.attachments if isinstance(message.attachments, list) else ():
        text = found.get("extracted_content") if isinstance(found, dict) else None
        if not isinstance(text, str) or not text.strip():
            yield Skip(reason=NO_CONTENT)
            continue
        name = values.one_line(found.get("file_name"))
        yield f"{name}:\n\n{text}" if name else text
    for _ in message.files if isinstance(message.files, list) else ():
        yield Skip(reason=NO_CONTENT)


def _text(message: _Message) -> str:
    """The text blocks; newer exports repeat them in ``text``, with notes about the other blocks between them."""
    return base.joined(base.block_texts(text_blocks(message.content))) or base.joined(
        base.block_texts(message.text)
    )


class _Kept(msgspec.Struct):
    conversations_memory: Any = None
    project_memories: Any = None


_KEPT = msgspec.json.Decoder(_Kept)
_HEADING = re.compile(r"(?:#{1,6} +|\*\*)(.{1,80}?)(?:\*\*:?)?\Z")
_BULLET = re.compile(r"[-*+] +")


class ClaudeAIMemories:
    name = "claude-ai-memories"
    label = "Claude.ai memories"

    def sniff(self, head: Head) -> bool:
        if head.objects:
            return any("conversations_memory" in item for item in head.objects)
        return head.begins_with_object(b"conversations_memory")

    def read(self, stream: Stream) -> Iterator[Note | Skip]:
        for kept in values.decode_each(_KEPT, stream.items(), stream):
            if isinstance(kept, Skip):
                yield kept
                continue
            told: dict[str | None, Any] = {None: kept.conversations_memory}
            if isinstance(kept.project_memories, dict):
                told |= {values.identifier(project): text for project, text in kept.project_memories.items()}
            for project, text in told.items():
                if isinstance(text, str) and text.strip():
                    yield from _facts(text, project)
                elif text:
                    yield stream.skip(base.NO_TEXT)


def _facts(text: str, project: str | None) -> Iterator[Note]:
    """A fact of each paragraph or list item, after the heading that it stands under."""
    heading = ""
    for line in text.splitlines():
        line = _BULLET.sub("", line.strip(), count=1)
        if found := _HEADING.match(line):
            heading = found[1].strip(" :*")
        elif any(character.isalnum() for character in line):
            yield Note(
                kind="fact",
                content=f"{heading}: {line}" if heading else line,
                source_key="claude-ai:memory:" + values.digest(project, heading, line),
                source="import:claude-ai",
                trust="model",
                attributes={"claude_project": project} if project else {},
            )
