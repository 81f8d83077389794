"""Claude.ai exports: a JSON array of conversations, each with its messages in order.

What the person pasted or attached is a turn of its own, after the message: they gave it, but somebody else may have
written it, so it is quoted. Thinking and tool use, which are blocks of other kinds, are left out. Some exports say
``messages``, ``role`` and ``title`` for ``chat_messages``, ``sender`` and ``name``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from memtui.engine.records import Skip, Turn

from .. import base, foreign_values, refusals
from ..base import Format, StreamHead
from ..message_content import text_blocks
from ..stream import Stream

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


def _sniff(head: StreamHead) -> bool:
    if head.objects:
        return any(
            "uuid" in item and isinstance(item.get("chat_messages", item.get("messages")), list)
            for item in head.objects
        )
    return head.begins_with_object(b"uuid") and _MESSAGES.search(head.raw) is not None


def read(stream: Stream) -> Iterator[Turn | Skip]:
    for conversation in foreign_values.decode_each(_CONVERSATION, stream.items(), stream):
        if isinstance(conversation, Skip):
            yield conversation
        else:
            yield from _parse_turns(conversation, stream)


FORMAT = Format("claude-ai", "Claude.ai", _sniff, read)


def _parse_turns(conversation: _Conversation, stream: Stream) -> Iterator[Turn | Skip]:
    messages = conversation.chat_messages or conversation.messages
    if not messages:
        yield stream.skip(refusals.NO_MESSAGES)
        return
    name = foreign_values.read_identifier(conversation.uuid)
    if name is None:
        # Its first message is a name that a later export gives it again.
        name = foreign_values.hash_parts(bytes(messages[0]).decode(errors="replace"))
    time = foreign_values.event_time(conversation.created_at, stream)
    for message in foreign_values.decode_each(_MESSAGE, map(bytes, messages), stream):
        if isinstance(message, Skip):
            yield message
            continue
        sender = foreign_values.title_line(message.sender) or foreign_values.title_line(message.role)
        if sender is None:
            yield stream.skip(base.NO_ROLE)
            continue
        role = _ROLES.get(sender.casefold())
        if role is None:
            yield Skip(reason=base.HIDDEN)
            continue
        text = _message_text(message)
        attached = list(_attachment_texts(message))
        if not (text or attached):
            yield Skip(reason=base.NO_TEXT)
        # A message without a time follows the one before it.
        time = foreign_values.event_time(message.created_at, stream) or time
        foreign_id = foreign_values.read_identifier(message.uuid) or foreign_values.hash_parts(
            role, text or repr(attached) if attached else text, message.created_at
        )
        turn = Turn(
            session_id=f"claude-ai:{name}",
            role=role,
            content=text,
            source_key=f"claude-ai:{name}:{foreign_id}",
            source="import:claude-ai",
            event_time=time,
            session_title=foreign_values.title_line(conversation.name)
            or foreign_values.title_line(conversation.title),
            trust="user" if role == "user" else "agent",
        )
        if text:
            yield turn
        for number, document in enumerate(attached):
            yield document if isinstance(document, Skip) else msgspec.structs.replace(
                turn, role=ATTACHMENT, content=document, trust="tool",
                source_key=f"{turn.source_key}:attachment:{number}",
            )  # fmt: skip


def _attachment_texts(message: _Message) -> Iterator[str | Skip]:
    """The texts that came with a message, each under the name of its file; files whose text is not in the export."""
    for attachment in message.attachments if isinstance(message.attachments, list) else ():
        text = attachment.get("extracted_content") if isinstance(attachment, dict) else None
        if not isinstance(text, str) or not text.strip():
            yield Skip(reason=NO_CONTENT)
            continue
        name = foreign_values.title_line(attachment.get("file_name"))
        yield f"{name}:\n\n{text}" if name else text
    for _ in message.files if isinstance(message.files, list) else ():
        yield Skip(reason=NO_CONTENT)


def _message_text(message: _Message) -> str:
    """The text blocks; newer exports repeat them in ``text``, with notes about the other blocks between them."""
    return base.join_blocks(base.block_texts(text_blocks(message.content))) or base.join_blocks(
        base.block_texts(message.text)
    )
