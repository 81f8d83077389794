"""The agents that memtui can be connected to: where each keeps its configuration, and what goes into it."""

from __future__ import annotations

import json
import os
import shlex
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from memtui import paths
from memtui.config import toml_text
from memtui.engine.errors import InputError
from memtui.engine.records import Record

from . import json_text

ClientName = Literal["claude-code", "claude-desktop", "codex"]
CLIENTS: tuple[ClientName, ...] = ("claude-code", "claude-desktop", "codex")
LABELS: Mapping[ClientName, str] = {
    "claude-code": "Claude Code",
    "claude-desktop": "Claude Desktop",
    "codex": "Codex",
}
SERVER = "memtui"
# After so many seconds Claude Code goes on without the hook. The hook takes a fraction of one.
HOOK_TIMEOUT = 5
HOOK_EVENTS = ("SessionStart", "PreCompact", "UserPromptSubmit", "Stop")
_MOST_BYTES = 64 << 20
_BYTE_ORDER_MARK = "\ufeff"


class LaunchCommand(Record):
    """How an agent starts memtui: ``program`` (a path, or Python and ``-m memtui``) and the options of the command.

    ``hooked``: hooks record the conversation, so the server needs no tool for it.
    """

    program: tuple[str, ...]
    options: tuple[str, ...]
    configuration: Path
    hooked: bool = False

    def server(self) -> tuple[str, tuple[str, ...]]:
        """The command of the MCP server and its arguments."""
        recording = ("--no-recording",) if self.hooked else ()
        return self.program[0], (*self.program[1:], "mcp", *self.options, *recording)

    def hook(self) -> str:
        """The shell line of the hook."""
        words = [*self.program, "hook", "claude-code", *self.options]
        if not any(word.startswith("--config=") for word in words):
            words.append(f"--config={self.configuration}")  # finding the path is a tenth of the start
        return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)


class Edit(Record):
    """A file with its text before and after. ``before`` is None if there is no file yet."""

    path: Path
    before: str | None
    after: str

    @property
    def changes(self) -> bool:
        return self.after != (self.before or "")


def program(script: str | None = None) -> tuple[str, ...]:
    """How to start this memtui from any folder: its script, or Python with ``-m`` (``-P``: not from the agent's
    folder).
    """
    python = Path(script or sys.executable)
    installed = python.with_name("memtui.exe" if sys.platform == "win32" else "memtui")
    return (str(installed),) if installed.is_file() else (str(python), "-P", "-m", "memtui")


def configuration(client: ClientName, home: Path, environ: Mapping[str, str]) -> Path:
    """The configuration file of an agent for MCP servers."""
    match client:
        case "claude-code":
            folder = environ.get("CLAUDE_CONFIG_DIR")
            return (Path(folder) if folder else home) / ".claude.json"
        case "claude-desktop":
            return _desktop_folder(home, environ) / "claude_desktop_config.json"
        case "codex":
            return Path(environ.get("CODEX_HOME") or home / ".codex") / "config.toml"


def hook_settings(home: Path, environ: Mapping[str, str]) -> Path:
    """The settings file of Claude Code for hooks."""
    return Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "settings.json"


def server_edit(client: ClientName, path: Path, call: LaunchCommand) -> Edit:
    """Put the MCP server into the configuration. Other keys of an existing entry are kept.

    Raises InputError for a file that cannot be read or changed.
    """
    command, arguments = call.server()
    entry: dict[str, Any] = {"command": command, "args": list(arguments)}
    if client == "codex":
        return _edit(path, lambda text: toml_text.set_values(text, ("mcp_servers", SERVER), entry))
    if client == "claude-code":
        entry = {"type": "stdio", **entry}
    return _edit(path, lambda text: _with_server(text, entry))


def hook_edit(path: Path, call: LaunchCommand) -> Edit:
    """Put the hooks into Claude Code's settings, once. Raises InputError as ``server_edit`` does."""
    return _edit(path, lambda text: _with_hooks(text, call.hook()))


def _edit(path: Path, change: Callable[[str], str]) -> Edit:
    """The edit that ``change`` makes. A link is followed; a byte order mark and line ends are kept."""
    path = _target(path)
    before = read(path)
    text = (before or "").removeprefix(_BYTE_ORDER_MARK)
    windows = "\r\n" in text and text.count("\n") == text.count("\r\n")
    try:
        after = change(text.replace("\r\n", "\n") if windows else text)
    except (ValueError, RecursionError) as error:
        raise _cannot_change(path, error) from error
    if windows:
        after = after.replace("\n", "\r\n")
    if before is not None and before.startswith(_BYTE_ORDER_MARK):
        after = _BYTE_ORDER_MARK + after
    return Edit(path=path, before=before, after=after)


def _target(path: Path) -> Path:
    """The file itself, if ``path`` is a link to it. Raises InputError for a circle of links."""
    if not path.is_symlink():
        return path
    try:
        return path.resolve()
    except (OSError, RuntimeError) as error:
        raise InputError(f"{path} is a symbolic link that leads nowhere.", "Correct the link.") from error


def read(path: Path) -> str | None:
    """The text of a configuration file, None if there is none. Raises InputError if it cannot be read."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.", "Check its folder.") from error
    if len(raw) > _MOST_BYTES:
        raise InputError(f"{path} is larger than {_MOST_BYTES >> 20} MiB.", "Is it the right file?")
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise _cannot_change(path, error) from error


def _with_server(text: str, entry: dict[str, Any]) -> str:
    document = json.loads(text) if text.strip() else {}
    servers = document.get("mcpServers", {}) if isinstance(document, dict) else {}
    old = servers.get(SERVER) if isinstance(servers, dict) else None
    if old is None:
        return json_text.set_value(text, ("mcpServers", SERVER), entry)
    if not isinstance(old, dict):
        raise ValueError(f"its mcpServers.{SERVER} is not an object")
    for key, value in entry.items():
        if old.get(key) != value:
            text = json_text.set_value(text, ("mcpServers", SERVER, key), value)
    return text


def _with_hooks(text: str, line: str) -> str:
    settings = json.loads(text) if text.strip() else {}
    hooks = settings.get("hooks", {}) if isinstance(settings, dict) else None
    if not isinstance(hooks, dict):
        raise ValueError("its hooks are not an object")
    for event in HOOK_EVENTS:
        groups = hooks.get(event, [])
        updated = _with_hook(groups, line)
        if updated != groups:
            text = json_text.set_value(text, ("hooks", event), updated)
    return text


def _with_hook(groups: Any, line: str) -> list[Any]:
    """The groups of an event with our hook. An older version of our hook is replaced in its place."""
    if not isinstance(groups, list):
        raise ValueError("the hooks of an event are not a list")
    ours = {"type": "command", "command": line, "timeout": HOOK_TIMEOUT}
    found = False
    kept: list[Any] = []
    for group in groups:
        if isinstance(group, dict) and isinstance(group.get("hooks"), list):
            hooks = [{**hook, **ours} if _is_ours(hook) else hook for hook in group["hooks"]]
            found = found or any(map(_is_ours, hooks))
            kept.append({**group, "hooks": hooks})
        else:
            kept.append(group)
    return kept if found else [*kept, {"hooks": [ours]}]


def _is_ours(hook: Any) -> bool:
    line = hook.get("command") if isinstance(hook, dict) else None
    return isinstance(line, str) and "memtui" in line and " hook claude-code" in line


def _desktop_folder(home: Path, environ: Mapping[str, str]) -> Path:
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "Claude"
    if sys.platform == "win32":
        return Path(environ.get("APPDATA") or home / "AppData" / "Roaming") / "Claude"
    return Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "Claude"


def _cannot_change(path: Path, error: Exception) -> InputError:
    """The error. It quotes no text of the file, which may hold keys."""
    place = ""
    if isinstance(error, json.JSONDecodeError):
        cause = f"it is not valid JSON: {error.msg.lower()}"
        place = f", line {error.lineno}"
    elif isinstance(error, UnicodeDecodeError):
        cause = f"it is not valid UTF-8 (byte {error.start})"
    elif isinstance(error, RecursionError):
        cause = "it is nested too deeply"
    else:
        cause = str(error)
    return InputError(f"{path}{place} cannot be changed: {cause}.", "Correct the file; it was left as it is.")


def write(edit: Edit) -> Path | None:
    """Write the file. Returns where its old text is kept, None if there was none.

    The file keeps its mode; a new one is readable by its owner only. Raises InputError, and leaves the file
    unchanged, if it cannot be written or was changed after it was read.
    """
    path = edit.path
    try:
        if read(path) != edit.before:
            raise InputError(f"{path} was changed by another program just now.", "Try again.")
        paths.private_folder(path.parent)
        mode = 0o600 if edit.before is None else stat.S_IMODE(path.stat().st_mode)
        backup = None
        if edit.before is not None:
            backup = _free(path.with_name(f"{path.name}.{time.strftime('%Y%m%d-%H%M%S')}.bak"))
            _create(backup, edit.before, mode)
        draft = _free(path.with_name(f".{path.name}.memtui"))
        _create(draft, edit.after, mode)
        try:
            draft.replace(path)
        except OSError:
            draft.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise paths.no_room(error, path) or InputError(
            f"{path} cannot be written: {error.strerror}.", "Check its folder and the disk."
        ) from error
    return backup


def _create(path: Path, text: str, mode: int) -> None:
    """Create a file, complete or not at all."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    handle = os.open(path, flags, mode)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
    except OSError:
        path.unlink(missing_ok=True)
        raise


def _free(path: Path) -> Path:
    """``path``, or the first ``path-2``, ``path-3`` ... that is not there."""
    number, place = 2, path
    while os.path.lexists(place):
        place = path.with_name(f"{path.name}-{number}")
        number += 1
    return place
