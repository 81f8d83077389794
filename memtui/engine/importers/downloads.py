"""Exports that lie among the downloads, and the graphs of MCP memory servers that other programs are set up to use.

Of an archive only the table of contents is read and the beginning of its conversations, of a program's settings only
where its memory server keeps its file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from memtui.engine.errors import InputError

LABELS = {"chatgpt": "ChatGPT", "claude-ai": "Claude.ai"}
# So many of the newest archives are looked into: a folder of downloads may hold thousands.
_MOST_ARCHIVES = 60
_LARGEST_SETTINGS = 32 << 20
_VARIABLE = "MEMORY_FILE_PATH"
_SETTINGS = (
    ".claude.json",
    ".config/Claude/claude_desktop_config.json",
    "Library/Application Support/Claude/claude_desktop_config.json",
    "AppData/Roaming/Claude/claude_desktop_config.json",
    ".cursor/mcp.json",
)
# Where the reference server keeps it unless told otherwise: beside itself, wherever npx put it.
_BESIDE_SERVER = ".npm/_npx/*/node_modules/@modelcontextprotocol/server-memory/dist/memory.json*"


def exports(folder: Path) -> Iterator[tuple[str, Path]]:
    """The format and path of each export, newest first. What is not whole, or something else, is passed over."""
    from .detect import find_sources

    for path in _newest(folder):
        if path.suffix.lower() == ".zip" and not _has_conversations(path):
            continue
        try:
            found = find_sources([path])
        except InputError:
            continue
        format = found.sources[0].format
        if format in LABELS:
            yield format, path


def graphs(home: Path, environ: Mapping[str, str]) -> list[Path]:
    """Files that memory servers are told to use, each once."""
    named = [environ[_VARIABLE]] if environ.get(_VARIABLE) else []
    for settings in _SETTINGS:
        named += _memory_files(home / settings)
    beside = [str(path) for path in home.glob(_BESIDE_SERVER)]
    paths = [Path(name).expanduser() for name in (*named, *beside)]
    return [path for path in dict.fromkeys(paths) if path.is_file()]


def _newest(folder: Path) -> list[Path]:
    found: list[tuple[float, Path]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name.lower()
                ours = name.endswith(".zip") or (name.startswith("conversations") and name.endswith(".json"))
                if ours and entry.is_file():
                    found.append((entry.stat().st_mtime, Path(entry.path)))
    except OSError:
        return []
    return [path for _, path in sorted(found, reverse=True)[:_MOST_ARCHIVES]]


def _has_conversations(path: Path) -> bool:
    from . import archives
    from .limits import LIMITS

    try:
        with archives.archive(path, LIMITS) as archive:
            return any(
                name.rpartition("/")[2].startswith("conversations") and name.endswith(".json")
                for name in archive.namelist()
            )
    except (OSError, InputError, *archives.ARCHIVE_ERRORS):
        return False


def _memory_files(settings: Path) -> list[str]:
    """What servers named in a program's settings (also those of single projects) have as their memory file."""
    try:
        if settings.stat().st_size > _LARGEST_SETTINGS:
            return []
        value: Any = msgspec.json.decode(settings.read_bytes())
    except (OSError, ValueError, RecursionError):
        return []
    places = [value, *_values(_get(value, "projects"))]
    servers = [server for place in places for server in _values(_get(place, "mcpServers"))]
    named = [_get(_get(server, "env"), _VARIABLE) for server in servers]
    return [name for name in named if isinstance(name, str) and name]


def _get(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _values(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else []
