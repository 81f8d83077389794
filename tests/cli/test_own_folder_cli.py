"""The commands with --demo and --readonly write nothing but what was named on the line; everything else stays."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_kit import Cli, Program
from memtui.engine.memory import Memory
from memtui.engine.records import Options

QUIET = (
    ["search", "Ada"], ["context", "where does Ada live"], ["show", "{id}"], ["history"], ["sessions"], ["entities"],
    ["observations"], ["scratchpad"], ["stats"], ["questions"], ["review"], ["backup", "--list"], ["check"],
    ["health"], ["doctor"], ["completion", "bash"], ["import"],
)  # fmt: skip
CHANGING = (
    ["remember", "Ada moved"], ["correct", "{id}", "Ada moved"], ["confirm", "{id}"], ["forget", "{id}"],
    ["tag", "{id}", "+x"], ["undo"], ["redo"], ["consolidate"], ["maintain"], ["backup"], ["embed", "--yes"],
    ["connect", "codex", "--yes"], ["connect", "claude-code", "--hooks", "--yes"], ["check", "--repair"],
    ["scratchpad", "set", "key", "text"], ["import", "{home}/notes.md"],
)  # fmt: skip


@pytest.fixture
def world(home: Path) -> str:
    """A home with a memory, settings, and configurations of agents; the id of a fact."""
    for name, text in {
        ".config/memtui/config.toml": "# mine\n", ".claude.json": "{}", ".codex/config.toml": "# mine\n",
        "notes.md": "- Ada likes green ink\n",
    }.items():  # fmt: skip
        file = home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    with Memory.open(home / "memory.db", options=Options(background=False)) as memory:
        memory.record_turn("trip", "user", "Ada took the train to Ghent")
        return memory.remember("Ada lives in Ghent").id


def tree(home: Path) -> dict[str, bytes | None]:
    """Every file and folder, its mode and its bytes; but for the empty log and the locks that reading a memory needs."""
    found = {}
    for path in sorted(home.rglob("*")):
        if path.name == "memory.db-shm" or (path.name == "memory.db-wal" and not path.stat().st_size):
            continue
        name = f"{path.relative_to(home)} {path.stat().st_mode:o}"
        found[name] = path.read_bytes() if path.is_file() else None
    return found


def test_no_command_that_only_reads_writes_anything(cli: Cli, home: Path, world: str) -> None:
    before = tree(home)
    for line in (*QUIET, *CHANGING):
        result = cli(*(word.format(id=world, home=home) for word in line), "--readonly")
        assert tree(home) == before, line
        assert line in QUIET or result.code, line


@pytest.mark.parametrize(
    "line",
    [["search", "Ada"], ["remember", "x"], ["import", "{home}/notes.md"], ["connect", "codex", "--yes"]],
)
def test_no_command_on_the_demo_writes_outside_its_folder(
    line: list[str], cli: Cli, home: Path, world: str
) -> None:
    before = tree(home)
    cli("--demo", *(word.format(home=home) for word in line))
    assert tree(home) == before


@pytest.mark.parametrize("option", ["--readonly", "--demo"])
def test_an_export_writes_the_path_that_was_named_and_nothing_else(
    option: str, cli: Cli, home: Path, world: str
) -> None:
    before = tree(home)
    target = home / "export.jsonl"
    assert cli("export", target, option).code == 0
    target.unlink()
    assert tree(home) == before
    assert "also write PATH" in " ".join(cli("export", "--help").out.split())


def test_servers_for_agents_keep_no_log_where_they_only_read(
    program: Program, home: Path, world: str, cli: Cli
) -> None:
    before = tree(home)
    running = program("mcp", "--readonly")
    running.communicate(b"", timeout=60)
    assert tree(home) == before
    hook = program("hook", "claude-code", "--readonly")
    _, result = hook.communicate(b"{broken", timeout=60)
    assert hook.returncode == 0
    assert b"a hook did nothing" in result
    assert tree(home) == before


def test_a_fault_is_not_logged_either(
    cli: Cli, home: Path, world: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr(Memory, "stats", fails)
    before = tree(home)
    assert cli("stats", "--readonly").code == 70
    assert tree(home) == before
    assert cli("stats").code == 70
    assert tree(home) != before


def test_an_agent_that_may_only_read_is_connected_by_an_option_of_its_own(cli: Cli, home: Path) -> None:
    result = cli("connect", "codex", "--readonly", "--yes")
    assert result.code == 4
    assert "--agent-readonly" in result.err
    assert not (home / ".codex").exists()
    assert '"--readonly"' in cli("connect", "codex", "--agent-readonly", "--dry-run").out
