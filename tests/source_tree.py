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
