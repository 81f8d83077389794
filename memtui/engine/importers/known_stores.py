"""Where other memory programs keep their stores: one file each, unless a variable says another place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from memtui.engine.records import Record


class StorePlace(Record):
    """``folders``: below the home folder, on Linux, macOS and Windows. ``file``: a name in them, which may have a ``*``.

    ``folder_variables`` and ``file_variables`` of the environment say another folder or file: the first that is set. The
    store is ``below`` the folder of a variable. ``live``: conversations, which ``--watch`` follows.
    """

    format: str
    label: str
    folders: tuple[str, ...]
    file: str
    folder_variables: tuple[str, ...] = ()
    file_variables: tuple[str, ...] = ()
    below: str = ""
    live: bool = False


PLACES = (
    StorePlace(
        format="claude-mem", label="claude-mem", folders=(".claude-mem",), file="claude-mem.db",
        folder_variables=("CLAUDE_MEM_DATA_DIR",),
    ),
    StorePlace(
        format="engram", label="engram", folders=(".engram",), file="engram.db", folder_variables=("ENGRAM_DATA_DIR",),
    ),
    StorePlace(
        format="mcp-memory-service", label="mcp-memory-service", file="sqlite_vec.db",
        folders=(
            ".local/share/mcp-memory", "Library/Application Support/mcp-memory", "AppData/Local/mcp-memory",
        ),
        folder_variables=("MCP_MEMORY_BASE_DIR",),
        file_variables=("MCP_MEMORY_SQLITE_PATH", "MCP_MEMORY_SQLITEVEC_PATH"),
    ),
    StorePlace(
        format="mempalace", label="MemPalace", folders=(".mempalace/palace", ".config/mempalace/palace"),
        file="*.sqlite3", folder_variables=("MEMPALACE_PALACE_PATH", "MEMPALACE_PALACE", "MEMPAL_PALACE_PATH"),
    ),
    StorePlace(
        format="mempalace", label="MemPalace, its graph", folders=(".mempalace", ".config/mempalace"),
        file="knowledge_graph.sqlite3",
    ),
    StorePlace(
        format="opencode", label="opencode", folders=(".local/share/opencode",), file="opencode*.db",
        folder_variables=("XDG_DATA_HOME",), below="opencode", live=True,
    ),
)  # fmt: skip


def store_files(home: Path, environ: Mapping[str, str]) -> Iterator[tuple[StorePlace, Path]]:
    """Every store that may be there, its place as a path."""
    for place in PLACES:
        if named := _first_set(place.file_variables, environ):
            yield place, Path(named).expanduser()
            continue
        folder = _first_set(place.folder_variables, environ)
        folders = (
            [Path(folder).expanduser() / place.below] if folder else [home / one for one in place.folders]
        )
        for each in folders:
            paths = sorted(each.glob(place.file)) if "*" in place.file else [each / place.file]
            yield from ((place, path) for path in paths)


def _first_set(variables: tuple[str, ...], environ: Mapping[str, str]) -> str | None:
    return next((value for name in variables if (value := environ.get(name))), None)
