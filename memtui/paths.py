"""Where memtui keeps its files, and which places are no good for a memory.

Folders are the platform's own and are created for their owner only. A memory is a SQLite file in
WAL mode: it needs locks and shared mappings that work, and no other program that rewrites it. Network,
FUSE and 9p file systems and folders that a cloud client mirrors lose commits or come back as
"conflicted copy", so they are refused.
"""

from __future__ import annotations

import errno
import os
import re
from itertools import pairwise
from pathlib import Path

from . import operating_system
from .engine.errors import DiskFullError, StoreError, UnsafePlaceError

# A quota and a size limit are no other matter for the person than a full disk.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
MEMORY_NAME = "memory.db"
CONFIG_NAME = "config.toml"
FOLDER_MODE = 0o700

_CLOUD_NAMES = re.compile(
    r"(dropbox|onedrive|google ?drive|nextcloud|owncloud|icloud ?drive|box sync|pcloud ?drive|megasync"
    r"|synologydrive|seafile|proton ?drive|yandex\.disk|resilio sync|tresorit)( ?[-(].*)?",
    re.IGNORECASE,
)
# A client that mirrors a folder leaves one of these at its top.
_CLOUD_MARKERS = {
    ".stfolder": "Syncthing",
    ".dropbox.cache": "Dropbox",
    ".nextcloudsync.log": "Nextcloud",
    ".owncloudsync.log": "ownCloud",
    ".tmp.drivedownload": "Google Drive",
    ".tmp.driveupload": "Google Drive",
}


def data_folder() -> Path:
    """Where the memory lives unless something else is set."""
    if known := _linux_folder("XDG_DATA_HOME", ".local/share"):
        return known
    import platformdirs

    return Path(platformdirs.user_data_dir("memtui", appauthor=False))


def config_folder() -> Path:
    if known := _linux_folder("XDG_CONFIG_HOME", ".config"):
        return known
    import platformdirs

    return Path(platformdirs.user_config_dir("memtui", appauthor=False))


def _linux_folder(variable: str, below_home: str) -> Path | None:
    """As platformdirs has it: a hook lives shorter than its import takes (20 ms). None where it has to be asked."""
    home, set_so = (Path(os.environ.get(name, "")) for name in ("HOME", variable))
    if not operating_system.is_linux() or not home.is_absolute() or "ANDROID_DATA" in os.environ:
        return None
    return (set_so if set_so.is_absolute() else home / below_home) / "memtui"


def config_file() -> Path:
    """The settings, unless the command line names others."""
    named = os.environ.get("MEMTUI_CONFIG")
    return Path(named).expanduser() if named else config_folder() / CONFIG_NAME


def state_folder() -> Path:
    """What the app remembers about itself (last pane, seen welcome): safe to delete."""
    import platformdirs

    return Path(platformdirs.user_state_dir("memtui", appauthor=False))


def log_folder() -> Path:
    import platformdirs

    return Path(platformdirs.user_log_dir("memtui", appauthor=False))


def default_memory() -> Path:
    return data_folder() / MEMORY_NAME


def make_private_folder(folder: Path) -> Path:
    """Create ``folder`` (and what is missing above it) for its owner only, and return it.

    A folder that is already there keeps its mode. Raises StoreError where it cannot be made.
    """
    missing: list[Path] = []
    ancestor = folder
    while not path_exists(ancestor):
        missing.append(ancestor)
        ancestor = ancestor.parent
    try:
        for step in reversed(missing):
            step.mkdir(mode=FOLDER_MODE, exist_ok=True)
    except OSError as error:
        raise disk_full_error(error, folder) or StoreError(
            f"The folder {folder} cannot be made: {error.strerror}.",
            "Choose another place, or create it yourself and give it to your user.",
        ) from error
    if not folder.is_dir():
        raise StoreError(f"{folder} is not a folder.", "Choose another place, or move that file away.")
    return folder


def free_space(path: Path | None) -> str:
    """Free space of the path's folder, in words."""
    if path is None:
        return "unknown free space"
    import shutil

    folder = next((ancestor for ancestor in (path.parent, *path.parents) if path_exists(ancestor)), Path())
    return f"{shutil.disk_usage(folder).free / 1e6:,.0f} MB free"


def disk_full_error(error: OSError, path: Path) -> DiskFullError | None:
    """The error to raise where a file could not be written for lack of space; None for any other reason."""
    if error.errno not in _FULL:
        return None
    return DiskFullError(
        f"No space left to write {path} ({free_space(path)}).",
        "Nothing was left behind. Free some space, or choose another place, and try again.",
    )


def check_memory_place(path: Path, *, allow_unsafe: bool = False) -> None:
    """Raise UnsafePlaceError when ``path`` is in a place that would lose a memory's writes.

    ``path`` need not exist: the deepest folder that does is looked at, symbolic links resolved.
    """
    if allow_unsafe:
        return
    reason = why_unsafe_place(path)
    if reason:
        raise UnsafePlaceError(
            f"{path} is {reason}: a memory there loses writes when two programs use it.",
            "Keep it on a local disk (--db PATH), put only backups there, or insist with --allow-unsafe-fs.",
        )


def why_unsafe_place(path: Path) -> str:
    """Why ``path`` is no place for a memory ("on a network file system (nfs4)"), or ""."""
    given = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would hide a link's own name
    real = Path(os.path.realpath(path))
    for location in dict.fromkeys((real, given)):
        reason = _why_cloud_folder(location)
        if reason:
            return reason
    kind = filesystem_of(real)
    if operating_system.NETWORK_TYPES.fullmatch(kind.split(".", 1)[0]):
        return f"on a network or user-space file system ({kind})"
    return ""


def filesystem_of(path: Path) -> str:
    """The type of the file system that holds ``path`` ("ext4", "nfs4"), or "" where it is not known."""
    ancestor = path
    while not path_exists(ancestor) and ancestor != ancestor.parent:
        ancestor = ancestor.parent
    return operating_system.filesystem_of(ancestor)


def path_exists(path: Path) -> bool:
    """Like ``Path.exists``, but False where the folder above may not be searched."""
    try:
        return path.exists()
    except OSError:
        return False


def is_surely_missing(path: Path) -> bool:
    """Whether ``path`` is surely not there; False where that may not be looked up."""
    try:
        return not path.exists()
    except OSError:
        return False


def _why_cloud_folder(path: Path) -> str:
    parts = path.parts
    for name in parts[:-1]:
        if _CLOUD_NAMES.fullmatch(name):
            return f"in a folder that a cloud client mirrors ({name})"
    for first, second in pairwise(parts):
        if first == "Library" and second in ("Mobile Documents", "CloudStorage"):
            return "in a folder that a cloud client mirrors (iCloud)"
    for folder in path.parents:
        for marker, client in _CLOUD_MARKERS.items():
            if os.path.lexists(folder / marker):
                return f"in a folder that {client} mirrors ({folder} holds {marker})"
    return ""
