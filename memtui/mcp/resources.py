"""Memories as resources: ``memory://<id>``, and the latest reflection under a fixed address."""

from __future__ import annotations

import mcp_types as wire

from memtui.engine.errors import InputError, NotFoundError
from memtui.engine.records import MemoryRecord
from memtui.engine.search.block_text import caution_notes, cite_memory
from memtui.engine.search.kept_back import why_kept_back
from memtui.engine.tools.agent import Agent, unknown_memory_error
from memtui.engine.tools.base import ToolAnswer
from memtui.engine.tools.recall import serve_memory

SCHEME = "memory://"
LATEST_REFLECTION = "memory://reflection/latest"
TEMPLATE = wire.ResourceTemplate(
    uri_template="memory://{id}",
    name="memory",
    title="A memory",
    description="One memory by its id: its text, where it is from, how sure it is.",
    mime_type="application/json",
)


def list_resources(agent: Agent) -> list[wire.Resource]:
    """The resources with a fixed address that exist now."""
    if _latest_reflection(agent) is None:
        return []
    return [
        wire.Resource(
            uri=LATEST_REFLECTION,
            name="latest reflection",
            title="The latest reflection",
            description="The past week in a few sentences.",
            mime_type="text/markdown",
        )
    ]


def read_resource(agent: Agent, uri: str) -> wire.TextResourceContents:
    """The content of an address. It is logged as a recall, and counts like a call of a tool.

    Raises NotFoundError, InputError for a memory that is kept back, QuotaError.
    """
    with agent.count_call(None):
        return _resource_text(agent, uri)


def _resource_text(agent: Agent, uri: str) -> wire.TextResourceContents:
    if uri == LATEST_REFLECTION:
        memory = _latest_reflection(agent)
        if memory is None:
            raise NotFoundError(
                "There is no reflection yet.", "A job writes one each week, once there are facts."
            )
        since = caution_notes(agent.cautions([memory]).get(memory.id, ()))
        text, kind = f"[{since}] {cite_memory(memory)}" if since else cite_memory(memory), "text/markdown"
    elif uri.startswith(SCHEME):
        memory = agent.get(uri.removeprefix(SCHEME))
        if reason := why_kept_back(memory):
            raise InputError(f"{memory.id} is kept back: {reason}.", "Only the person can release it.")
        text, kind = ToolAnswer(value=serve_memory(agent, memory)).text, "application/json"
    else:
        raise unknown_memory_error(uri)
    agent.log_recall(uri, [memory])
    return wire.TextResourceContents(uri=uri, text=text, mime_type=kind)


def _latest_reflection(agent: Agent) -> MemoryRecord | None:
    """The newest reflection that this agent may get."""
    reflections = agent.page("kind:reflection", limit=1)
    return reflections[0] if reflections and not why_kept_back(reflections[0]) else None
