"""ChatGPT exports: a JSON array of conversations, each a tree of messages with one current branch.

The turns are those on the way from the root to ``current_node``, found upwards through ``parent``: newer
exports leave ``children`` out. Without a usable current node the newest leaf is taken. Branches that the
person left by editing or regenerating are not the conversation. Of a kind of message that is not known here the text is
taken; images and other parts without text are counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from memtui.engine.records import Skip, Turn

from .. import base, foreign_values, refusals
from ..base import Format, StreamHead
from ..stream import Stream

_ROLES = {"user": "user", "assistant": "agent"}
# Kinds of content that the person does not see as said: thoughts, instructions, what tools gave back.
_HIDDEN_CONTENT_TYPES = (
    *("thoughts", "reasoning_recap", "user_editable_context", "model_editable_context", "system_error"),
    *("execution_output", "computer_output", "citable_code_output", "sonic_webpage", "super_widget_content"),
    *("tether_browsing_code", "tether_browsing_display", "tether_quote"),
)
_TEXT_CONTENT_TYPES = (None, "text", "multimodal_text", "code")
_HIDING_FLAGS = ("is_visually_hidden_from_conversation", "is_user_system_message")


class _Content(msgspec.Struct):
    content_type: Any = None
    parts: list[Any] | None = None
    text: Any = None


class _Author(msgspec.Struct):
    role: Any = None


class _Message(msgspec.Struct):
    id: Any = None
    author: _Author | None = None
    create_time: Any = None
    content: _Content | None = None
    metadata: dict[str, Any] | None = None
    recipient: Any = None


class _Link(msgspec.Struct):
    parent: Any = None


class _Node(_Link):
    message: _Message | None = None


class _Conversation(msgspec.Struct):
    mapping: dict[str, msgspec.Raw]
    id: Any = None
    conversation_id: Any = None
    title: Any = None
    create_time: Any = None
    update_time: Any = None
    current_node: Any = None


_CONVERSATION = msgspec.json.Decoder(_Conversation)
_NODE = msgspec.json.Decoder(_Node)
_LINK = msgspec.json.Decoder(_Link)


def _sniff(head: StreamHead) -> bool:
    if head.objects:
        return any(isinstance(item.get("mapping"), dict) for item in head.objects)
    # An array on one line, or spread over many.
    return head.begins_with_object(b"mapping", b"parent")


def read(stream: Stream) -> Iterator[Turn | Skip]:
    for conversation in foreign_values.decode_each(_CONVERSATION, stream.items(), stream):
        if isinstance(conversation, Skip):
            yield conversation
        else:
            yield from _parse_turns(conversation, stream)


FORMAT = Format("chatgpt", "ChatGPT", _sniff, read)


def _parse_turns(conversation: _Conversation, stream: Stream) -> Iterator[Turn | Skip]:
    mapping = conversation.mapping
    start = conversation.current_node
    if not isinstance(start, str) or start not in mapping:
        start = _newest_leaf(mapping, stream)
    branch = _find_branch(mapping, start, stream)
    if not branch:
        yield stream.skip(refusals.NO_MESSAGES)
        return
    ids = (conversation.id, conversation.conversation_id, branch[0][0])
    name = next(filter(None, map(foreign_values.read_identifier, ids)), "")
    time = foreign_values.event_time(conversation.create_time or conversation.update_time, stream)
    for node_id, node in branch:
        message = node.message if isinstance(node, _Node) else None
        if message is None:
            if not isinstance(node, _Node):
                yield stream.skip("record of an unknown shape")
            continue
        role = message.author.role if message.author else None
        reason, text = _message_text(message, role)
        if reason == base.UNKNOWN:
            yield stream.skip(reason)
            continue
        left_out = [] if reason else _not_text(message.content)
        yield from left_out
        if not text:
            if not left_out:
                yield Skip(reason=reason or base.NO_TEXT)
            continue
        # A message without a time follows the one before it.
        time = foreign_values.event_time(message.create_time, stream) or time
        yield Turn(
            session_id=f"chatgpt:{name}",
            role=str(role),
            content=text,
            source_key=f"chatgpt:{name}:{foreign_values.read_identifier(message.id) or foreign_values.read_identifier(node_id)}",
            source="import:chatgpt",
            event_time=time,
            session_title=foreign_values.title_line(conversation.title),
            trust="user" if role == "user" else "agent",
        )


def _message_text(message: _Message, role: Any) -> tuple[str, str]:
    """(why the message is passed over, "") or ("", what was said, if anything)."""
    if role == "tool" or message.recipient not in (None, "all"):
        return base.TOOL, ""
    if not isinstance(role, str) or role not in _ROLES:
        return base.HIDDEN, ""
    if message.metadata and any(message.metadata.get(flag) is True for flag in _HIDING_FLAGS):
        return base.HIDDEN, ""
    content = message.content
    if content is None:
        return base.NO_TEXT, ""
    if content.content_type in _HIDDEN_CONTENT_TYPES:
        return base.HIDDEN, ""
    text = base.join_blocks(base.block_texts(content.parts)) or base.join_blocks(
        base.block_texts(content.text)
    )
    if not text and content.content_type not in _TEXT_CONTENT_TYPES:
        return base.UNKNOWN, ""
    return "", text


def _not_text(content: _Content | None) -> list[Skip]:
    """A Skip for each part that is an image, a recording or else no text."""
    parts = content.parts or [] if content else []
    return [
        Skip(reason=base.NOT_TEXT)
        for part in parts
        if isinstance(part, dict) and not isinstance(part.get("text"), str)
    ]


def _find_branch(mapping: dict[str, msgspec.Raw], node_id: Any, stream: Stream) -> list[tuple[str, _Link]]:
    """The nodes from the root to ``node_id``; a node that cannot be read is a bare link."""
    branch: list[tuple[str, _Link]] = []
    seen: set[str] = set()
    while isinstance(node_id, str) and node_id in mapping and node_id not in seen:
        seen.add(node_id)
        node = _parse_node(mapping[node_id], stream)
        branch.append((node_id, node))
        node_id = node.parent
    branch.reverse()
    return branch


def _parse_node(raw: msgspec.Raw, stream: Stream) -> _Link:
    try:
        return foreign_values.decode(_NODE, bytes(raw), stream)
    except foreign_values.NotReadableError:
        pass
    try:
        return foreign_values.decode(_LINK, bytes(raw), stream)
    except foreign_values.NotReadableError:
        return _Link()


def _newest_leaf(mapping: dict[str, msgspec.Raw], stream: Stream) -> str | None:
    """The leaf with the latest message; the later one of equals."""
    nodes = {node_id: _parse_node(raw, stream) for node_id, raw in mapping.items()}
    parents = {node.parent for node in nodes.values() if isinstance(node.parent, str)}
    newest, latest = None, float("-inf")
    for node_id, node in nodes.items():
        if node_id in parents or not isinstance(node, _Node) or node.message is None:
            continue
        time = foreign_values.event_time(node.message.create_time, stream) or 0.0
        if time >= latest:
            newest, latest = node_id, time
    return newest
