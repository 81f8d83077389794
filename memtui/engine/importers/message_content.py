"""Parse the role and content of a message: its text, its speaker, its trust."""

from __future__ import annotations

from typing import Any, NamedTuple

from memtui.engine.memories import validation
from memtui.engine.records import Skip, Trust

from . import base, foreign_values
from .stream import Stream

_HIDDEN = ("system", "developer")


class ContentMessage(NamedTuple):
    role: str
    text: str
    trust: Trust


def read_message(role: Any, content: Any, stream: Stream) -> ContentMessage | Skip:
    """The role, the text and how far it is trusted, or why the message is passed over."""
    speaker = foreign_values.title_line(role)
    if speaker is None:
        return stream.skip(base.NO_ROLE)
    if speaker.casefold() in _HIDDEN:
        return Skip(reason=base.HIDDEN)
    text = base.join_blocks(base.block_texts(content))
    if not text:
        return stream.skip(base.NO_TEXT)
    return ContentMessage(speaker, text, speaker_trust(speaker))


def speaker_trust(role: str) -> Trust:
    """Other roles than the known ones are names: somebody who is neither the person nor the assistant is quoted."""
    return validation.role_trust(role) or "tool"


def text_blocks(content: Any) -> Any:
    """A content without its blocks of other kinds than text."""
    if not isinstance(content, list):
        return content
    return [block for block in content if not isinstance(block, dict) or block.get("type") in (None, "text")]
