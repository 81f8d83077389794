"""Letta agent files (``.af``): the blocks of an agent's memory, and the messages that the file has.

One JSON object. Either of one agent, with ``core_memory`` and ``messages`` in it; or lists of ``agents``, ``blocks`` and more. A
message of the user is wrapped in JSON, and an answer is an argument of the tool ``send_message``, where the agent's version has
one. Keys of its environment, tools and prompts stay where they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from memtui.engine.importers.counters import OccurrenceCounter
from memtui.engine.memories import validation
from memtui.engine.records import Skip, Turn

from .. import base, foreign_values
from ..base import Format, Note, StreamHead
from ..stream import Stream

SOURCE = "import:letta"
FILE, SKILL = "file of the agent", "skill of the agent"
EMPTY_BLOCK = "empty block"
_SINGLE_AGENT_KEYS = (b"agent_type", b"core_memory")
_AGENT_LIST_START = re.compile(rb'\A\s*\{\s*"agents"\s*:\s*\[\s*(?:\]|\{)')
_OF_AN_AGENT = (b'"in_context_message_ids"', b'"memory_blocks"', b'"block_ids"', b'"mcp_servers"')
_ANSWER_TOOL = "send_message"


class _Block(msgspec.Struct):
    label: Any = None
    value: Any = None
    description: Any = None
    created_at: Any = None
    updated_at: Any = None


class _Message(msgspec.Struct):
    role: Any = None
    content: Any = None
    tool_calls: Any = None
    created_at: Any = None


class _Agent(msgspec.Struct):
    name: Any = None
    messages: list[_Message] = []


class _File(_Agent):
    core_memory: list[_Block] = []
    agents: list[_Agent] | None = None
    blocks: list[_Block] = []
    files: list[Any] = []
    skills: list[Any] = []


_DECODER = msgspec.json.Decoder(_File)


def _sniff(head: StreamHead) -> bool:
    if head.begins_with_object(*_SINGLE_AGENT_KEYS) and not head.array:
        return True
    return _AGENT_LIST_START.match(head.raw) is not None and any(word in head.raw for word in _OF_AN_AGENT)


def read(stream: Stream) -> Iterator[Note | Turn | Skip]:
    for agent_file in foreign_values.decode_each(_DECODER, stream.items(), stream):
        if isinstance(agent_file, Skip):
            yield agent_file
            continue
        agents = [agent_file] if agent_file.agents is None else agent_file.agents
        name = foreign_values.title_line(agents[0].name) if len(agents) == 1 else None
        for block in (*agent_file.core_memory, *agent_file.blocks):
            yield from _parse_block(block, name, stream)
        for agent in agents:
            yield from _read_messages(agent, stream)
        for reason, some in ((FILE, agent_file.files), (SKILL, agent_file.skills)):
            yield from (Skip(reason=reason) for _ in some)


FORMAT = Format("letta", "Letta", _sniff, read)


def _parse_block(block: _Block, agent: str | None, stream: Stream) -> Iterator[Note | Skip]:
    """A long block becomes several facts: none is longer than a fact of memtui may be."""
    text = block.value if isinstance(block.value, str) else ""
    if not text.strip():
        yield Skip(reason=EMPTY_BLOCK)
        return
    label = foreign_values.title_line(block.label) or "block"
    about = foreign_values.title_line(block.description)
    for part in _split_text(text.strip()):
        yield Note(
            kind="fact",
            content=part,
            source_key=f"letta:{foreign_values.hash_parts('block', agent, label, part)}",
            source=SOURCE,
            trust="agent",
            event_time=foreign_values.event_time(block.updated_at or block.created_at, stream),
            tags=("letta-block", label),
            attributes={
                "block": label,
                **({"agent": agent} if agent else {}),
                **({"about_block": about} if about else {}),
            },
        )


def _split_text(text: str) -> Iterator[str]:
    while len(text) > validation.MAX_NOTE:
        cut = max(text.rfind("\n", 1, validation.MAX_NOTE), 0) or validation.MAX_NOTE
        yield text[:cut].strip()
        text = text[cut:].strip()
    if text:
        yield text


def _read_messages(agent: _Agent, stream: Stream) -> Iterator[Turn | Skip]:
    name = foreign_values.title_line(agent.name) or stream.source.stem
    ordinals = OccurrenceCounter()
    begun = False
    for message in agent.messages:
        role_and_text = _role_and_text(message, begun, stream)
        begun = begun or message.role == "user"
        if isinstance(role_and_text, Skip):
            yield role_and_text
            continue
        role, text = role_and_text
        key = foreign_values.hash_parts(name, role, text, message.created_at)
        if ordinal := ordinals.count_before(bytes.fromhex(key)):
            key += f"#{ordinal}"
        yield Turn(
            session_id=f"letta:{foreign_values.read_identifier(name)}",
            role=role,
            content=text,
            source_key=f"letta:{key}",
            source=SOURCE,
            event_time=foreign_values.event_time(message.created_at, stream),
            trust="user" if role == "user" else "agent",
        )


def _role_and_text(message: _Message, begun: bool, stream: Stream) -> tuple[str, str] | Skip:
    """The role and the words. ``begun``: the user, or the login of one, came before."""
    text = base.join_blocks(base.block_texts(message.content))
    if message.role == "user":
        wrapped = _parse_object(text)
        kind = wrapped.get("type")
        if isinstance(kind, str) and (kind == "user_message" or "time" in wrapped):
            said = wrapped.get("message") if kind == "user_message" else None
            return ("user", said) if isinstance(said, str) and said.strip() else Skip(reason=base.PROGRAM)
        return ("user", text) if text else stream.skip(base.NO_TEXT)
    if message.role == "assistant":
        answers = list(_spoken_answers(message.tool_calls))
        if not begun:
            return Skip(reason=base.PROGRAM)  # what starts an agent, before anybody said anything
        if answers:
            return "assistant", "\n\n".join(answers)
        if message.tool_calls:
            return Skip(reason=base.TOOL)
        return ("assistant", text) if text else Skip(reason=base.NO_TEXT)
    if message.role in ("tool", "function", "approval"):
        return Skip(reason=base.TOOL)
    if message.role == "summary":
        return Skip(reason=base.COMPACTION)
    return Skip(reason=base.HIDDEN) if message.role == "system" else stream.skip(base.UNKNOWN)


def _spoken_answers(calls: Any) -> Iterator[str]:
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict) or function.get("name") != _ANSWER_TOOL:
            continue
        arguments = function.get("arguments")
        said = _parse_object(arguments).get("message") if isinstance(arguments, str) else None
        if isinstance(said, str) and said.strip():
            yield said


def _parse_object(text: str) -> dict[str, Any]:
    try:
        value = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
