"""The agents that memtui can be connected to: a table of where each keeps its configuration, and what goes into it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from memtui import operating_system
from memtui.engine.records import Record
from memtui.paths import path_exists

from .launch import RemoteServer

FormatName = Literal["json", "jsonc", "toml", "yaml"]
Platform = Literal["linux", "darwin", "win32"]
SERVER = "memtui"
"""The name of our entry in every configuration."""


class Machine(Record):
    """What decides where a configuration is. ``platform``: as ``sys.platform`` has it."""

    home: Path
    platform: str
    environ: Mapping[str, str]

    def folder_of_variable(self, name: str, default: Path) -> Path:
        """The folder that a variable names, or ``default``."""
        return Path(self.environ.get(name) or default)

    def roaming_folder(self) -> Path:
        """Where programs keep settings of the user on Windows."""
        return self.folder_of_variable("APPDATA", self.home / "AppData" / "Roaming")

    def xdg_folder(self) -> Path:
        """Where programs keep settings of the user under the rules of XDG."""
        return self.folder_of_variable("XDG_CONFIG_HOME", self.home / ".config")

    def settings_folder(self) -> Path:
        """Where desktop programs keep settings of the user on this platform."""
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        return self.roaming_folder() if self.platform == "win32" else self.xdg_folder()


class ConfigurationPlace(Record):
    """Where a file is. ``base``: a folder of Machine, "home" or a variable with its default below the home.

    ``linux``, ``darwin``, ``win32``: base and path of a platform that differs.
    """

    base: str
    path: str
    variable: str = ""
    darwin: tuple[str, str] | None = None
    win32: tuple[str, str] | None = None
    or_else: str = ""
    """Another name in the same folder, which is taken if only that is there."""

    def path_on(self, machine: Machine) -> Path:
        own = {"darwin": self.darwin, "win32": self.win32}.get(machine.platform)
        base, path = own or (self.base, self.path)
        if self.variable and machine.environ.get(self.variable):
            return Path(machine.environ[self.variable]) / Path(path).name
        folder = machine.home if base == "home" else getattr(machine, f"{base}_folder")()
        assert isinstance(folder, Path)
        file = folder / path
        if self.or_else and not path_exists(file) and path_exists(file.with_name(self.or_else)):
            return file.with_name(self.or_else)
        return file


class HookSettings(Record):
    """Where a client's file says how to call us, and at which of its events.

    ``timeout``: how long it waits, in its own unit. After that it goes on without us; the hook takes a tenth of a
    second. ``afterwards``: what the person has to do in the client.
    """

    place: ConfigurationPlace
    events: tuple[str, ...]
    timeout: int
    format: FormatName = "json"
    afterwards: str = ""


class RemoteShape(Record):
    """How an entry names a server at an address. ``address``, ``headers``: the keys; ``fixed``: what else it has."""

    address: str = "url"
    headers: str = "headers"
    fixed: Mapping[str, Any] = {}


class Client(Record):
    """An agent. ``entry``: the path of our entry in its configuration. ``fixed``: what every entry of it has.

    ``newer``: the object for entries that a newer version has; it is used where the file has it.
    ``shape``: "command" for the keys command and args, "list" for one list, "cmd" for cmd and args.
    ``remote``: how its file names a server over HTTP; None if its file cannot say so.
    ``commands``: programs by which it is known to be installed. ``lacks``: why there are no hooks.
    """

    name: str
    label: str
    place: ConfigurationPlace
    format: FormatName
    entry: tuple[str, ...]
    page: str
    newer: tuple[str, ...] = ()
    shape: Literal["command", "list", "cmd"] = "command"
    remote: RemoteShape | None = RemoteShape()
    fixed: Mapping[str, Any] = {}
    commands: tuple[str, ...] = ()
    hooks: HookSettings | None = None
    lacks: str = ""

    def configuration_file(self, machine: Machine) -> Path:
        """Its file for MCP servers of the user."""
        return self.place.path_on(machine)

    def is_installed(self, machine: Machine) -> bool:
        """Whether something of it is on this machine: its folder of settings, or its program."""
        file = self.configuration_file(machine)
        folder = file if file.parent == machine.home else file.parent
        path = machine.environ.get("PATH")
        return path_exists(folder) or any(shutil.which(command, path=path) for command in self.commands)

    def entry_values(self, command: str, arguments: tuple[str, ...]) -> dict[str, Any]:
        """What our entry says."""
        match self.shape:
            case "list":
                return {**self.fixed, "command": [command, *arguments]}
            case "cmd":
                return {**self.fixed, "cmd": command, "args": list(arguments)}
            case "command":
                return {**self.fixed, "command": command, "args": list(arguments)}

    def remote_entry_values(self, server: RemoteServer) -> dict[str, Any]:
        """What our entry says of a server somewhere else."""
        assert self.remote is not None
        headers = {"Authorization": server.authorization}
        return {**self.remote.fixed, self.remote.address: server.url, self.remote.headers: headers}

    def entry_address(self, entry: Mapping[str, Any]) -> str | None:
        """The address in an entry of a server somewhere else; None if it starts a program."""
        address = next((entry[name] for name in ADDRESSES if name in entry), None)
        return address if isinstance(address, str) else None

    def entry_command(self, entry: Mapping[str, Any]) -> tuple[str, ...]:
        """The command line of an entry, as far as it has one."""
        words = entry.get("cmd" if self.shape == "cmd" else "command")
        first = words if isinstance(words, list) else [words]
        rest = entry.get("args") if self.shape != "list" else []
        return tuple(
            word for word in (*first, *(rest if isinstance(rest, list) else [])) if isinstance(word, str)
        )


ADDRESSES = ("url", "uri", "httpUrl", "serverUrl")
_CLAUDE_EVENTS = ("SessionStart", "PreCompact", "UserPromptSubmit", "Stop")
_SERVERS = ("mcpServers", SERVER)
_NO_CONTEXT = "its hooks see the prompt, but what they answer does not reach the model"

CLIENTS: Mapping[str, Client] = {
    client.name: client
    for client in (
        Client(
            name="claude-code", label="Claude Code", commands=("claude",),
            place=ConfigurationPlace(base="home", path=".claude.json", variable="CLAUDE_CONFIG_DIR"),
            format="json", entry=_SERVERS, fixed={"type": "stdio"}, remote=RemoteShape(fixed={"type": "http"}),
            hooks=HookSettings(
                place=ConfigurationPlace(base="home", path=".claude/settings.json", variable="CLAUDE_CONFIG_DIR"),
                events=_CLAUDE_EVENTS, timeout=5,
            ),
            page="code.claude.com/docs/en/mcp, /hooks",
        ),
        Client(
            name="claude-desktop", label="Claude Desktop",
            place=ConfigurationPlace(base="settings", path="Claude/claude_desktop_config.json"),
            format="json", entry=_SERVERS, lacks="it has no hooks", remote=None,
            page="modelcontextprotocol.io/docs/develop/connect-local-servers",
        ),
        Client(
            name="codex", label="Codex", commands=("codex",),
            place=ConfigurationPlace(base="home", path=".codex/config.toml", variable="CODEX_HOME"),
            format="toml", entry=("mcp_servers", SERVER), remote=RemoteShape(headers="http_headers"),
            hooks=HookSettings(
                place=ConfigurationPlace(base="home", path=".codex/hooks.json", variable="CODEX_HOME"),
                events=_CLAUDE_EVENTS, timeout=5,
                afterwards="Codex runs a new hook only after you trusted it: type /hooks there.",
            ),
            page="developers.openai.com/codex/mcp, /codex/hooks",
        ),
        Client(
            name="cursor", label="Cursor", commands=("cursor", "cursor-agent"),
            place=ConfigurationPlace(base="home", path=".cursor/mcp.json"),
            format="jsonc", entry=_SERVERS, fixed={"type": "stdio"}, lacks=_NO_CONTEXT,
            page="cursor.com/docs/mcp, /docs/hooks",
        ),
        Client(
            name="vscode", label="VS Code", commands=("code",),
            place=ConfigurationPlace(base="settings", path="Code/User/mcp.json"),
            format="jsonc", entry=("servers", SERVER), fixed={"type": "stdio"}, lacks=_NO_CONTEXT,
            remote=RemoteShape(fixed={"type": "http"}),
            page="code.visualstudio.com/docs/agents/reference/mcp-configuration, /docs/agent-customization/hooks",
        ),
        Client(
            name="windsurf", label="Windsurf", commands=("windsurf",),
            place=ConfigurationPlace(base="home", path=".codeium/windsurf/mcp_config.json"),
            format="jsonc", entry=_SERVERS, lacks=_NO_CONTEXT, remote=RemoteShape(address="serverUrl"),
            page="docs.windsurf.com/windsurf/cascade/mcp",
        ),
        Client(
            name="gemini-cli", label="Gemini CLI", commands=("gemini",),
            place=ConfigurationPlace(base="home", path=".gemini/settings.json"),
            format="jsonc", entry=_SERVERS, remote=RemoteShape(address="httpUrl"),
            hooks=HookSettings(
                place=ConfigurationPlace(base="home", path=".gemini/settings.json"),
                # What it is given holds for one turn, so it is given everything each time.
                events=("BeforeAgent", "AfterAgent"), timeout=5_000, format="jsonc",
            ),
            page="geminicli.com/docs/tools/mcp-server, /docs/hooks/reference",
        ),
        Client(
            name="opencode", label="opencode", commands=("opencode",), shape="list",
            place=ConfigurationPlace(base="xdg", path="opencode/opencode.json", or_else="opencode.jsonc"),
            format="jsonc", entry=("mcp", SERVER), newer=("mcp", "servers"),
            fixed={"type": "local", "enabled": True}, remote=RemoteShape(fixed={"type": "remote", "enabled": True}),
            lacks="it runs plugins in JavaScript and no commands",
            page="opencode.ai/docs/mcp-servers, /docs/config, /docs/migrate-v1",
        ),
        Client(
            name="zed", label="Zed", commands=("zed", "zeditor"),
            place=ConfigurationPlace(
                base="xdg", path="zed/settings.json",
                darwin=("home", ".config/zed/settings.json"), win32=("roaming", "Zed/settings.json"),
            ),
            format="jsonc", entry=("context_servers", SERVER), fixed={"source": "custom"}, lacks="it has no hooks",
            page="zed.dev/docs/ai/mcp, /docs/configuring-zed",
        ),
        Client(
            name="goose", label="Goose", commands=("goose",), shape="cmd",
            place=ConfigurationPlace(
                base="xdg", path="goose/config.yaml", win32=("roaming", "Block/goose/config/config.yaml")
            ),
            format="yaml", entry=("extensions", SERVER),
            fixed={"enabled": True, "type": "stdio", "name": SERVER, "timeout": 300}, lacks=_NO_CONTEXT,
            remote=RemoteShape(
                address="uri",
                fixed={"enabled": True, "type": "streamable_http", "name": SERVER, "timeout": 300},
            ),
            page="block.github.io/goose/docs/guides/config-files, /managing-tools/hooks",
        ),
    )
}  # fmt: skip
"""In the order in which they are listed. ``page``: the documentation that says so."""


def this_machine() -> Machine:
    return Machine(home=Path.home(), platform=operating_system.PLATFORM, environ=os.environ)
