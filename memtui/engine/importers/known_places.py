"""Find the session files and exports of other programs on this machine, and when they will be deleted.

Claude Code deletes transcripts after ``cleanupPeriodDays`` (30 unless its settings say otherwise), so
importing is rescue: the first thing to tell is how many will be gone within a week. Session files are not opened, only
settings are, and the tables of contents of downloaded archives (``downloads.py``). ``probe.py`` reads the contents.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from memtui.engine.clock import Clock, system_clock
from memtui.engine.errors import InputError
from memtui.engine.records import Record
from memtui.engine.records.exchange import WARNING_DAYS, KnownSource

from .compression import SUFFIX
from .known_stores import store_files

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
# Where the reference server keeps it by default: beside itself, wherever npx put it.
_BESIDE_SERVER = ".npm/_npx/*/node_modules/@modelcontextprotocol/server-memory/dist/memory.json*"


def find_exports(folder: Path) -> Iterator[tuple[str, Path]]:
    """The format and path of each export, newest first. What is not whole, or something else, is passed over."""
    from .detect import find_sources

    for path in _newest_mtime(folder):
        if path.suffix.lower() == ".zip" and not _has_conversations(path):
            continue
        try:
            detected = find_sources([path])
        except InputError:
            continue
        format = detected.sources[0].format
        if format in LABELS:
            yield format, path


def mcp_graphs(home: Path, environ: Mapping[str, str]) -> list[Path]:
    """The files that memory servers are configured to use, each once."""
    named = [environ[_VARIABLE]] if environ.get(_VARIABLE) else []
    for settings in _SETTINGS:
        named += _memory_files(home / settings)
    beside = [str(path) for path in home.glob(_BESIDE_SERVER)]
    paths = [Path(name).expanduser() for name in (*named, *beside)]
    return [path for path in dict.fromkeys(paths) if path.is_file()]


def note_folders(home: Path, environ: Mapping[str, str]) -> list[Path]:
    """The folders of basic-memory's projects, each once; its first one, without settings."""
    settings = environ.get("BASIC_MEMORY_CONFIG_DIR") or str(home / ".basic-memory")
    value = _read_settings(Path(settings).expanduser() / "config.json")
    projects = [
        _get_key(one, "path") if isinstance(one, dict) else one
        for one in _dict_values(_get_key(value, "projects"))
    ]
    named = [one for one in projects if isinstance(one, str) and one]
    first = environ.get("BASIC_MEMORY_HOME") or str(home / "basic-memory")
    folders = dict.fromkeys(Path(name).expanduser() for name in (named or [first]))
    # A folder with everything of the person in it would be walked for minutes.
    return [folder for folder in folders if folder not in (home, *home.parents)]


def _newest_mtime(folder: Path) -> list[Path]:
    dated_paths: list[tuple[float, Path]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name.lower()
                ours = name.endswith(".zip") or (name.startswith("conversations") and name.endswith(".json"))
                if ours and entry.is_file():
                    dated_paths.append((entry.stat().st_mtime, Path(entry.path)))
    except OSError:
        return []
    return [path for _, path in sorted(dated_paths, reverse=True)[:_MOST_ARCHIVES]]


def _has_conversations(path: Path) -> bool:
    from . import compression
    from .limits import LIMITS

    try:
        with compression.open_archive(path, LIMITS) as archive:
            return any(
                name.rpartition("/")[2].startswith("conversations") and name.endswith(".json")
                for name in archive.namelist()
            )
    except (OSError, InputError, *compression.ARCHIVE_ERRORS):
        return False


def _memory_files(settings: Path) -> list[str]:
    """What servers named in a program's settings (also those of single projects) have as their memory file."""
    value = _read_settings(settings)
    places = [value, *_dict_values(_get_key(value, "projects"))]
    servers = [server for place in places for server in _dict_values(_get_key(place, "mcpServers"))]
    named = [_get_key(_get_key(server, "env"), _VARIABLE) for server in servers]
    return [name for name in named if isinstance(name, str) and name]


def _read_settings(path: Path) -> Any:
    """What a program's settings say; None where they cannot be read."""
    try:
        if path.stat().st_size > _LARGEST_SETTINGS:
            return None
        return msgspec.json.decode(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None


def _get_key(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _dict_values(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else []


DAY = 86_400
_DEFAULT_DAYS = 30


class SessionFile(Record):
    """One file by ``stat``: its size in bytes, its time in Unix seconds."""

    path: Path
    size: int
    modified: float


def known_sources(
    home: Path, *, environ: Mapping[str, str] = os.environ, clock: Clock = system_clock
) -> list[KnownSource]:
    """The places that exist and hold at least one file. Unreadable folders count as empty."""
    claude = Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude").expanduser()
    codex = Path(environ.get("CODEX_HOME") or home / ".codex").expanduser()
    mem0 = Path(environ.get("MEM0_DIR") or home / ".mem0").expanduser() / "history.db"
    opencode = Path(environ.get("XDG_DATA_HOME") or home / ".local" / "share").expanduser() / "opencode"
    graphs = mcp_graphs(home, environ)
    return list(
        _with_unique_names(
            [
                *_claude_code(claude, clock()),
                *_codex_sources(codex),
                *_file_source(
                    "claude-history", "claude-history", "Claude Code prompts", claude / "history.jsonl"
                ),
                *_not_live("claude-memory", "claude-memory", "Claude Code memory", claude / "projects"),
                *_folder_source("gemini-cli", "gemini-cli", "Gemini CLI", home / ".gemini" / "tmp"),
                *_not_live(
                    "opencode-files",
                    "opencode",
                    "opencode, earlier versions",
                    opencode / "storage" / "message",
                ),
                *(
                    source
                    for folder in note_folders(home, environ)
                    for source in _not_live("basic-memory", "basic-memory", "basic-memory", folder)
                ),
                *_file_source("mem0", "mem0-history", "mem0", mem0),
                *(
                    source
                    for place, path in store_files(home, environ)
                    for source in _file_source(place.format, place.format, place.label, path, live=place.live)
                ),
                *(
                    source
                    for path in graphs
                    for source in _file_source("mcp-memory", "mcp-memory", "MCP memory", path)
                ),
                *(
                    source
                    for format, path in find_exports(home / "Downloads")
                    for source in _file_source(format, format, f"{LABELS[format]} export", path)
                ),
            ]
        )
    )


def session_files(source: KnownSource) -> list[SessionFile]:
    """The files of a source, oldest first."""
    if not source.path.is_dir():
        paths = list(_stat_or_none(source.path))
    else:
        paths = _session_files(
            source.path, _SUFFIXES.get(source.format, (".jsonl",)), _WITHIN.get(source.format)
        )
    return sorted(paths, key=lambda file: (file.modified, str(file.path)))


def deletion_threshold(source: KnownSource, now: float) -> float | None:
    """The files that are older than this (Unix seconds) will be swept within ``WARNING_DAYS``."""
    return None if source.kept_days is None else now - max(0, source.kept_days - WARNING_DAYS) * DAY


_SUFFIXES = {
    "claude-code": (".jsonl",),
    "claude-memory": (".md",),
    "codex": (".jsonl", ".jsonl.zst", ".json"),
    "gemini-cli": (".jsonl", ".json"),
    "basic-memory": (".md",),
    "opencode": (".json",),
}
# Beside the folder of sessions in each project lie others of the program.
_WITHIN = {"gemini-cli": "chats"}


def _claude_code(folder: Path, now: float) -> Iterator[KnownSource]:
    days = _retention_days(folder / "settings.json")
    for source in _folder_source("claude-code", "claude-code", "Claude Code", folder / "projects"):
        kept = msgspec.structs.replace(source, kept_days=days)
        before = deletion_threshold(kept, now) or 0.0
        going = sum(file.modified < before for file in session_files(source))
        yield msgspec.structs.replace(kept, expiring=going)


def _codex_sources(folder: Path) -> Iterator[KnownSource]:
    """No program deletes them; archived ones are in a folder of their own."""
    yield from _folder_source("codex", "codex", "Codex CLI", folder / "sessions")
    yield from _not_live("codex-archived", "codex", "Codex CLI, archived", folder / "archived_sessions")


def _not_live(name: str, format: str, label: str, folder: Path) -> Iterator[KnownSource]:
    """A folder of files that are not added to a line at a time."""
    for source in _folder_source(name, format, label, folder):
        yield msgspec.structs.replace(source, live=False)


def _folder_source(name: str, format: str, label: str, folder: Path) -> Iterator[KnownSource]:
    times = [file.modified for file in _session_files(folder, _SUFFIXES[format], _WITHIN.get(format))]
    if times:
        yield KnownSource(
            name=name, format=format, label=label, path=folder, files=len(times), newest=max(times),
            oldest=min(times), live=True,
        )  # fmt: skip


def _file_source(
    name: str, format: str, label: str, path: Path, *, live: bool = False
) -> Iterator[KnownSource]:
    for file in _stat_or_none(path):
        yield KnownSource(
            name=name, format=format, label=label, path=path, files=1, newest=file.modified, oldest=file.modified,
            live=live,
        )  # fmt: skip


def _with_unique_names(sources: list[KnownSource]) -> Iterator[KnownSource]:
    """Several of a kind get numbers: chatgpt, chatgpt-2."""
    met: dict[str, int] = {}
    for source in sources:
        number = met[source.name] = met.get(source.name, 0) + 1
        yield source if number == 1 else msgspec.structs.replace(source, name=f"{source.name}-{number}")


def _session_files(folder: Path, suffixes: tuple[str, ...], within: str | None = None) -> list[SessionFile]:
    """The files with one of the suffixes; a packed copy of a file beside it does not count.

    ``within``: only those in folders of this name, and below them.
    """
    files: list[SessionFile] = []
    for place, _, names in os.walk(folder):
        if within is not None and within not in Path(place).parts:
            continue
        there = frozenset(names)
        for name in names:
            if name.endswith(suffixes) and not (name.endswith(SUFFIX) and name.removesuffix(SUFFIX) in there):
                files.extend(_stat_or_none(Path(place, name)))
    return files


def _stat_or_none(path: Path) -> Iterator[SessionFile]:
    try:
        status = path.stat()
    except (OSError, ValueError):
        return
    if status.st_size:
        yield SessionFile(path=path, size=status.st_size, modified=status.st_mtime)


def _retention_days(settings: Path) -> int:
    try:
        value: Any = msgspec.json.decode(settings.read_bytes())
    except (OSError, ValueError, RecursionError):
        return _DEFAULT_DAYS
    days = value.get("cleanupPeriodDays") if isinstance(value, dict) else None
    return days if isinstance(days, int) and not isinstance(days, bool) and days >= 0 else _DEFAULT_DAYS
