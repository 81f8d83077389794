"""The list of tools, and ``Toolbox`` for programs that run a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

from memtui.engine.memory import Memory

from . import consolidator, observations, overview, recall, scratchpad, write
from .agent import Agent
from .base import Group, Tool, ToolAnswer, arguments_schema
from .base import call as call_tool

TOOLS: tuple[Tool, ...] = (
    *recall.TOOLS,
    *overview.TOOLS,
    *write.TOOLS,
    *consolidator.TOOLS,
    *observations.TOOLS,
    *scratchpad.TOOLS,
)
_BY_NAME = {tool.name: tool for tool in TOOLS}


def find_tool(name: str) -> Tool | None:
    return _BY_NAME.get(name)


def tools_for_agent(agent: Agent, groups: Sequence[Group]) -> list[Tool]:
    """The tools for an agent. A read-only agent gets none that writes."""
    return [tool for tool in TOOLS if tool.group in groups and not (tool.writes and agent.readonly)]


def run_tool(agent: Agent, name: str, arguments: Mapping[str, Any] | str | bytes = b"") -> ToolAnswer:
    """Run a tool by name. Never raises: see ``base.call``."""
    return call_tool(agent, find_tool(name), arguments)


class Toolbox:
    """The tools of a memory for a language model: ``function_schemas()`` for its API, ``call(name, arguments)``."""

    def __init__(self, agent: Agent, groups: Sequence[Group]) -> None:
        self.agent = agent
        self._tools = {tool.name: tool for tool in tools_for_agent(agent, groups)}

    @classmethod
    def of(
        cls, memory: Memory, groups: Sequence[Group] = ("memory", "observations", "scratchpad"), *,
        filter: str | None = None, project: str | None = None, readonly: bool = False,
    ) -> Self:  # fmt: skip
        """The tools of a memory that is open for ``agent:<name>``.

        ``filter`` and ``project`` limit this agent: it can neither read nor change what is outside, nor learn that it
        exists. ``groups`` may add ``consolidator``. Raises FilterError for a bad filter, InputError for an empty one,
        or if the memory is open for another actor.
        """
        return cls(Agent(memory, filter=filter, project=project, readonly=readonly), groups)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def function_schemas(self) -> list[dict[str, Any]]:
        """Function schemas as OpenAI's API takes them."""
        return [
            {"type": "function", "name": tool.name, "description": tool.description,
             "parameters": arguments_schema(tool), "strict": False}
            for tool in self._tools.values()
        ]  # fmt: skip

    def call(self, name: str, arguments: Mapping[str, Any] | str | bytes = b"") -> ToolAnswer:
        """Run one of these tools; its ``text`` goes back to the model. Never raises."""
        return call_tool(self.agent, self._tools.get(name), arguments)
