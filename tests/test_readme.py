"""The README is true: its commands are the ones that run, its tables are those of the code, its pictures exist.

After a change of keys or settings: ``python tests/test_readme.py`` writes the tables anew.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from memtui import Memory
from memtui.config import settings_table
from memtui.ui.keymap import key_table

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"


def api_table() -> str:
    """The public names of a memory, those of its namespaces each in a row."""
    with Memory.open(":memory:") as memory:
        rooms = {
            name: _names(type(getattr(memory, name)))
            for name in sorted(vars(Memory).keys() | vars(memory).keys())
            if not name.startswith("_") and type(getattr(memory, name)).__module__.startswith(NAMESPACES)
        }
    own = [name for name in _names(Memory) if name not in rooms]
    rows = [("memory", own), *((f"memory.{name}", names) for name, names in rooms.items())]
    return "\n".join(
        [
            "| object | has |",
            "|---|---|",
            *(f"| `{name}` | {' '.join(f'`{one}`' for one in names)} |" for name, names in rows),
        ]
    )


def _names(kind: type) -> list[str]:
    return [name for name in vars(kind) if not name.startswith("_")]


NAMESPACES = ("memtui.engine.namespaces.", "memtui.engine.maintain.")
TABLES = {"api": api_table, "keys": key_table, "settings": settings_table}


def _section(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<=<!-- {name} -->\n).*?(?=\n<!-- /{name} -->)", re.DOTALL)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_that_of_the_code(name: str) -> None:
    found = _section(name).search(README.read_text(encoding="utf-8"))
    assert found is not None
    assert found[0].strip() == TABLES[name]().strip(), "python tests/test_readme.py writes it anew"


def test_ci_runs_the_second_command_and_nothing_else() -> None:
    commands = re.findall(r"```sh\n(python3 -m venv .*?)\n```", README.read_text(encoding="utf-8"))
    assert len(commands) == 2
    assert commands[0].endswith(".venv/bin/memtui --demo")
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert script[-1] == commands[1]
    assert script[:-1] == [
        "#!/usr/bin/env bash",
        "# What the README's second command does, and nothing else.",
        "set -euo pipefail",
        'cd "$(dirname "$0")/.."',
    ]


def test_what_it_points_at_exists() -> None:
    text = README.read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#:]+)\)", text)
    assert len(targets) >= 5
    assert [target for target in targets if not (ROOT / target).exists()] == []


def write_tables() -> None:
    text = README.read_text(encoding="utf-8")
    for name, table in TABLES.items():
        text = _section(name).sub(lambda _, made=table: made().strip(), text)
    README.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_tables()
