"""The classes of the program, as its source has them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).parent.parent / "memtui"


class Source(NamedTuple):
    """A class: its name, where it stands, the names of its bases."""

    name: str
    path: str
    bases: tuple[str, ...]


@cache
def _trees() -> dict[str, ast.Module]:
    return {
        path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text("utf-8"))
        for path in PACKAGE.rglob("*.py")
    }


def classes() -> Iterator[Source]:
    for path, tree in _trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                yield Source(node.name, path, tuple(_name(base) for base in node.bases))


@cache
def used_names() -> frozenset[str]:
    """Every name that the program calls, as ``name(...)`` or ``module.name(...)``: classes among them have objects."""
    calls = (node for tree in _trees().values() for node in ast.walk(tree) if isinstance(node, ast.Call))
    return frozenset(_name(call.func) for call in calls)


def _name(node: ast.expr) -> str:
    """``module.Name[T]`` -> ``Name``."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


_MODULES = {"fcntl", "msvcrt", "termios", "tty", "pty", "winreg", "signal", "pwd", "resource"}
_NAMES = {
    *(
        "os.name",
        "sys.platform",
        "os.fsync",
        "os.chmod",
        "os.replace",
        "os.rename",
        "os.killpg",
    ),
    *("os.kill", "os.setsid", "os.fork", "os.getuid", "os.O_NOFOLLOW", "os.O_BINARY", "ctypes.windll"),
}
_METHODS = {"chmod", "add_signal_handler", "replace", "rename"}


def uses_of_the_platform() -> Iterator[str]:
    """``file:line`` of all that works in another way, or not at all, on another system."""
    for path, tree in _trees().items():
        for line in platform_uses(tree):
            yield f"{path}:{line}"


def platform_uses(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names) if any(one.name in _MODULES for one in names):
                yield node.lineno
            case ast.ImportFrom(module=module) if module in _MODULES:
                yield node.lineno
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if f"{owner}.{name}" in _NAMES:
                yield node.lineno
            # One argument: Path.replace. Those of texts and records have two, or names.
            case ast.Call(func=ast.Attribute(value=value, attr=name), args=[_], keywords=[]) if (
                name in _METHODS and not (isinstance(value, ast.Name) and value.id == "os")
            ):
                yield node.lineno
            case ast.keyword(arg="process_group" | "creationflags" | "start_new_session"):
                yield node.value.lineno
