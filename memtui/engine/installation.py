"""How this program was installed: the command that adds a package to it, and the one that starts it again."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from memtui import operating_system

COMMANDS = (
    "import", "remember", "consolidate", "search", "list", "context", "show", "history", "sessions", "entities",
    "observations", "scratchpad", "stats", "questions", "status", "review", "wrong", "correct", "merge", "confirm",
    "pin", "unpin", "forget", "withhold", "restore", "erase", "tag", "topic", "undo", "redo", "mcp", "connect",
    "disconnect", "hook", "about", "timeline", "picture", "pause", "maintain", "embed", "export", "sync", "backup", "check",
    "health", "doctor", "tokens", "serve", "guide", "help", "completion",
)  # fmt: skip
"""What follows the program's name where a hint names a command."""
_COMMAND = re.compile(
    rf"(?<![\w/.-])(?<!uvx )(?<!pipx run )(?<!-m )memtui (?=--[a-z]|(?:{'|'.join(COMMANDS)})\b)"
)


@cache
def program_command() -> str:
    """What starts this program again from a shell: ``memtui`` wherever that is found."""
    import shutil

    folders = Path(sys.prefix).parts
    if any(part.startswith("archive-v") for part in folders):
        return "uvx memtui"
    if "pipx" in folders and "venvs" not in folders:
        return "pipx run memtui"
    script = Path(sys.argv[0] if sys.argv else "")
    found = shutil.which("memtui")
    if script.stem == "memtui" and script.parent.name and not _is_same(found, script):
        return _command_line([str(script)])
    beside = found is not None and _is_same(Path(found).parent, Path(sys.executable).parent)
    if script.parts[-2:] == ("memtui", "__main__.py") and not beside:
        return _command_line([sys.executable, "-m", "memtui"])
    return "memtui"


def _is_same(one: str | Path | None, other: Path) -> bool:
    """Whether both lead to the same file or folder; another memtui on the path is not this one."""
    try:
        return one is not None and other.samefile(one)
    except OSError:
        return False


def is_temporary() -> bool:
    """Whether this program runs from an environment of uvx or ``pipx run``, which may be removed at any time."""
    return program_command() in ("uvx memtui", "pipx run memtui")


def runnable_text(text: str) -> str:
    """The text with each command of memtui in it as it can be typed here."""
    return _COMMAND.sub(lambda match: f"{program_command()} ", text) if "memtui " in text else text


def shell_line(*words: str) -> str:
    """The line that runs this program with ``words`` from a shell, quoted where they need it."""
    return f"{program_command()} {_command_line([*words])}"


def command_for(*packages: str) -> str:
    """The command line that installs ``packages`` (requirements) where this program runs."""
    from importlib.util import find_spec

    prefix = Path(sys.prefix)
    folders = prefix.parts
    # Each leaves a file in its environment, wherever the person keeps those.
    if program_command() == "pipx run memtui":  # what it runs is gone afterwards
        return f"pipx install memtui && {_command_line(['pipx', 'inject', 'memtui', *packages])}"
    if "pipx" in folders or (prefix / "pipx_metadata.json").is_file():
        return _command_line(["pipx", "inject", "memtui", *packages])
    if _has_consecutive(folders, "uv", "tools") or (prefix / "uv-receipt.toml").is_file():
        return _command_line(["uv", "tool", "install", "memtui", *_with_options(packages)])
    if any(part.startswith("archive-v") for part in folders):
        return _command_line(["uvx", *_with_options(packages), "memtui"])
    if find_spec("pip") is None:
        return _command_line(["uv", "pip", "install", f"--python={sys.executable}", *packages])
    return _command_line([sys.executable, "-m", "pip", "install", *packages])


def command_for_extra(extra: str) -> str:
    """The same for an optional part of memtui: what it needs is named, so that it does not matter where memtui came from."""
    return command_for(*_extra_requirements(extra))


def command_for_dependency(*names: str) -> str:
    """The same for packages that memtui should have come with, in the versions that it needs."""
    return command_for(
        *(
            next(
                (one for one in _requirements_with_marker("") if re.match(re.escape(name) + r"\b(?!-)", one)),
                name,
            )
            for name in names
        )
    )


def _extra_requirements(extra: str) -> tuple[str, ...]:
    return _requirements_with_marker(f'extra == "{extra}"') or (f"memtui[{extra}]",)


@cache
def _requirements_with_marker(marker: str) -> tuple[str, ...]:
    """What memtui requires under exactly this marker."""
    from importlib import metadata

    try:
        required = metadata.requires("memtui") or []
    except metadata.PackageNotFoundError:
        return ()
    parted = (one.partition(";") for one in required)
    return tuple(name.strip() for name, _, found in parted if found.replace("'", '"').strip() == marker)


def _with_options(packages: Sequence[str]) -> list[str]:
    return [word for one in packages for word in ("--with", one)]


def _has_consecutive(folders: Sequence[str], *names: str) -> bool:
    return any(tuple(folders[at : at + len(names)]) == names for at in range(len(folders)))


def _command_line(words: list[str]) -> str:

    return operating_system.command_line(words)
