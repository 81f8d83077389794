"""How an agent starts memtui: the command line of the server and that of the hook, written and read."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from memtui import operating_system
from memtui.engine.records import Record


class LaunchCommand(Record):
    """How an agent starts memtui: ``program`` (a path, or Python and ``-m memtui``) and the options of the command.

    ``server_options``: those that the hook does not have. ``hooked``: hooks record the conversation, so the server
    needs no tool for it.
    """

    program: tuple[str, ...]
    options: tuple[str, ...]
    configuration: Path
    server_options: tuple[str, ...] = ()
    hooked: bool = False

    def server_command(self) -> tuple[str, tuple[str, ...]]:
        """The command of the MCP server and its arguments."""
        recording = ("--no-recording",) if self.hooked else ()
        return self.program[0], (*self.program[1:], "mcp", *self.options, *self.server_options, *recording)

    def hook_line(self, client: str) -> str:
        """The shell line of the hook."""
        words = [*self.program, "hook", client, *self.options]
        if not any(word.startswith("--config=") for word in words):
            words.append(f"--config={self.configuration}")  # finding the path is a tenth of the start
        return operating_system.command_line(words)


class RemoteServer(Record):
    """A memtui that runs somewhere else, over HTTP. The token says who the agent is and what it sees."""

    url: str
    token: str

    @property
    def authorization(self) -> str:
        return f"Bearer {self.token}"


class Launched(Record):
    """What an entry in a configuration says: who signs, what it sees, and which program is started.

    ``url``: of a memtui somewhere else; then there is no program, and the rest is in its token.
    """

    program: str
    url: str | None = None
    agent: str | None = None
    memory: str | None = None
    project: str | None = None
    filter: str | None = None
    tools: str | None = None
    readonly: bool = False


def own_program(script: str | None = None) -> tuple[str, ...]:
    """How to start this memtui from any folder: its script, or Python with ``-m`` (``-P``: not from the agent's
    folder).
    """
    python = Path(script or sys.executable)
    installed = python.with_name(operating_system.executable_name("memtui"))
    return (str(installed),) if installed.is_file() else (str(python), "-P", "-m", "memtui")


def parse(words: Sequence[str]) -> Launched:
    """Read the command line of a server, whoever wrote it: ``--name=value`` and ``--name value``."""
    options: dict[str, str] = {}
    name = ""
    for word in words[1:]:
        if word.startswith("--"):
            name, sign, value = word.partition("=")
            options[name] = value
            name = "" if sign else name
        elif name:
            options[name], name = word, ""
    return Launched(
        program=words[0] if words else "",
        agent=options.get("--agent"),
        memory=options.get("--db"),
        project=options.get("--project"),
        filter=options.get("--filter"),
        tools=options.get("--tools"),
        readonly="--readonly" in options,
    )
