"""Claude.ai exports: a JSON array of conversations, each with its messages in order.

What the person attached counts as no words of theirs and is left out; so are thinking and tool use, which are
blocks of other kinds. Some exports say ``messages`` and ``role`` for ``chat_messages`` and ``sender``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from ..records import Skip, Turn
from . import base, values
from .base import Head
from .source import Stream

_ROLES = {"human": "user", "user": "user", "assistant": "assistant"}
_START = re.compile(rb"\A\s*\[?\s*\{")
_MESSAGES = re.compile(rb'"(?:chat_messages|messages)"\s*:\s*\[')


class _Message(msgspec.Struct):
    uuid: Any = None
    sender: Any = None
    role: Any = None
    text: Any = None
    content: Any = None
    created_at: Any = None


class _Conversation(msgspec.Struct):
    uuid: Any = None
    name: Any = None
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
        raw = head.raw
        if _START.match(raw) is None or b'"uuid"' not in raw:
            return False
        return b'"chat_messages"' in raw or _MESSAGES.search(raw) is not None

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
        if not text:
            yield Skip(reason=base.NO_TEXT)
            continue
        # A message without a time follows the one before it.
        time = values.event_time(message.created_at, stream) or time
        own = values.identifier(message.uuid) or values.digest(role, text, message.created_at)
        yield Turn(
            session_id=f"claude-ai:{name}",
            role=role,
            content=text,
            source_key=f"claude-ai:{name}:{own}",
            source="import:claude-ai",
            event_time=time,
            session_title=values.one_line(conversation.name),
            trust="user" if role == "user" else "agent",
        )


def _text(message: _Message) -> str:
    """The text blocks; newer exports repeat them in ``text``, with notes about the other blocks between them."""
    content = message.content
    if isinstance(content, list):
        content = [
            block for block in content if not isinstance(block, dict) or block.get("type") in (None, "text")
        ]
    return base.joined(base.block_texts(content)) or base.joined(base.block_texts(message.text))
