"""``memtui status``: what waits and what was told today, the same on a line that is made without click."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_kit import Cli
from memtui import Memory
from memtui.engine.records import Options

OPTIONS = Options(background=False, embedder="off")


@pytest.fixture
def result(cli: Cli, home: Path) -> Path:
    """A conflict waits; two agents were told something today, one yesterday."""
    now = [time.time() - 2 * 86_400]
    with Memory.open(home / "memory.db", clock=lambda: now[0], options=OPTIONS) as memory:
        first, second = memory.remember("Ada likes tea"), memory.remember("Ada likes walnuts")
        memory.forget(memory.remember("Ada likes tin cans").id)
        memory.actor = "agent:old"
        memory.note_recall("Ada", [first])
        now[0] = time.time()
        for agent, facts in (("claude", [first, second]), ("claude", [first]), ("codex", [second])):
            memory.actor = f"agent:{agent}"
            memory.note_recall("Ada", facts)
        memory.review.request_change("forget", first.id, why="it is old")
    return home / "memory.db"


def program(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from memtui.cli import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=dict(os.environ), check=False)


def test_a_line_tells_what_waits_and_what_was_told(cli: Cli, result: Path) -> None:
    assert cli("status", "--line").out == "1 to review, 2 memories told today\n"
    whole = cli("status").out
    assert "1 to decide" in whole and "claude: 2 memories, 2 times" in whole and "old:" not in whole
    found = cli("status", "--json").json
    assert found["review"] == len(cli("review", "--json").json["items"]) == 1
    assert [(one["agent"], one["times"], one["memories"]) for one in found["served"]] == [
        ("claude", 2, 2),
        ("codex", 1, 1),
    ]


def test_the_quick_way_says_the_same(cli: Cli, result: Path) -> None:
    assert program("status", "--line").stdout == cli("status", "--line").out
    assert json.loads(program("status", "--line", "--json").stdout) == cli("status", "--json").json
    assert program("status", "--line", f"--db={result}").stdout == cli("status", "--line").out


def test_the_quick_way_loads_neither_click_nor_the_app(result: Path) -> None:
    code = (
        "import os, sys\n"
        "os._exit = lambda code: print(*[one for one in ('click', 'textual', 'numpy', 'typing_extensions', 'spacy',"
        " 'platformdirs', 'tempfile', 'memtui.config')"
        " if one in sys.modules], 'loaded')\n"
        "from memtui.hook.status import run_fast\nrun_fast(['--line'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "loaded"


def test_it_says_that_recording_is_paused(cli: Cli, result: Path) -> None:
    assert cli("pause").code == 0
    assert cli("status", "--line").out.endswith(", recording paused\n")


def test_without_a_memory_it_says_so(home: Path) -> None:
    done = program("status", "--line")
    assert (done.returncode, done.stdout) == (4, "")
    assert "memory" in done.stderr


def test_it_changes_nothing(result: Path) -> None:
    before = sorted(
        (one.name, one.stat().st_mtime_ns) for one in result.parent.iterdir() if one.suffix == ".db"
    )
    assert program("status", "--line").returncode == 0
    assert (
        sorted((one.name, one.stat().st_mtime_ns) for one in result.parent.iterdir() if one.suffix == ".db")
        == before
    )


def test_status_counts_what_waits_beyond_the_share_of_the_day(cli: Cli, home: Path) -> None:
    with Memory.open(home / "memory.db", options=OPTIONS) as memory:
        for number in range(25):
            memory.actor = f"agent:{number % 2}"
            memory.review.request_change("forget", memory.remember(f"Shelf {number} has cups").id, why="old")
    assert cli("status", "--line").out.startswith("25 to review")
    inbox = cli("review", "--json").json
    whole = len(cli("review", "--all", "--json").json["items"])
    assert len(inbox["items"]) + inbox["later"] == whole
    more = f", and {whole - 25} more" if whole > 25 else ""
    assert f"25 to decide{more}" in cli("status").out
