"""One table of a memory's columns, and nobody else lists them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import memtui
import msgspec
from memtui import Memory
from memtui.engine.records import MemoryRecord, NewMemory
from memtui.engine.store.tables import COVERED, MEMORY

MOST = 13
EXCEPTIONS = {
    "engine/store/tables.py",
    "engine/records/memories.py",
    "engine/store/stamps.py",  # which column is decided on with which, and which can be merged by themselves
    "engine/search/filters/sql.py",  # the filter language names what it can ask for, a term each
}
# Words that mean something else elsewhere do not tell that columns are listed.
_PLAIN = {"rid", "id", "kind", "content", "source"}


def test_the_table_is_what_the_file_has() -> None:
    with Memory.open(":memory:") as memory, memory._core.connections.read() as connection:
        for table, covered in COVERED.items():
            there = {name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")}
            assert there - set(covered.all_columns) <= {"mention_count"}, table
        found = {
            name: (stored, default if default is None else default.strip("'"))
            for _, name, stored, _, default, _ in connection.execute("PRAGMA table_info(memories)")
        }
        assert list(found) == [column.name for column in MEMORY]
        for column in MEMORY:
            stored, default = found[column.name]
            assert stored == column.stored
            if column.default not in (msgspec.NODEFAULT, None):
                assert str(column.default_value) == default, column.name


def test_the_records_have_every_column() -> None:
    fields = set(MemoryRecord.__struct_fields__) - {"effective"}
    assert fields == {column.name for column in MEMORY} - {"content_hash"}
    stated = {column.name for column in MEMORY if column.inserted} - {"content_hash"}
    assert set(NewMemory.__annotations__) == stated


def test_nobody_else_lists_the_columns() -> None:
    names = {column.name for column in MEMORY} - _PLAIN
    root = Path(memtui.__file__).parent
    told = {}
    for path in root.rglob("*.py"):
        place = path.relative_to(root).as_posix()
        named = names.intersection(_words(ast.parse(path.read_text(encoding="utf-8"))))
        if len(named) > MOST and place not in EXCEPTIONS:
            told[place] = sorted(named)
    assert not told, "take the columns from store/tables.py"


def _words(tree: ast.AST) -> Iterator[str]:
    """The words of SQL and other texts (not of docstrings), and the names of variables and fields."""
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield from re.findall(r"\w+", node.value)
