"""A memory with two hands on it: the person's, and an agent's at the door."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
from memtui import Memory
from memtui.engine.core import Core
from memtui.engine.tools.agent import Agent
from memtui.engine.tools.base import ToolAnswer
from memtui.engine.tools.registry import run_tool

NOW = 1_763_812_800


class Door(NamedTuple):
    """``person`` and ``agent`` share one file."""

    person: Memory
    agent: Agent

    def call(self, name: str, /, **arguments: Any) -> ToolAnswer:
        return run_tool(self.agent, name, arguments)

    def ask(self, name: str, /, **arguments: Any) -> Any:
        """What the model reads, of a call that must come to something."""
        answer = self.call(name, **arguments)
        assert answer.ok, answer.text
        return msgspec.json.decode(answer.text)

    def refused(self, name: str, /, **arguments: Any) -> dict[str, str]:
        answer = self.call(name, **arguments)
        assert not answer.ok, answer.text
        error: dict[str, str] = msgspec.json.decode(answer.text)["error"]
        return error


def beside(memory: Memory, name: str = "bot", **narrowed: Any) -> Agent:
    """An agent at the same file."""
    other = Memory(
        Core(
            memory._core.connections, actor=f"agent:{name}", clock=memory._core.clock, options=memory.options
        )
    )
    return Agent(other, **narrowed)
