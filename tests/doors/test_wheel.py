"""The wheel and the source archive: what the program reads is in them, and it runs from what is installed."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder
from mcp.client.stdio import stdio_client
from mcp_kit import ROOT, ask

from mcp import Client, StdioServerParameters


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what a wheel that is built here installs."""
    folder = tmp_path_factory.mktemp("wheel")
    wheel = next(iter(WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "installed")
    return folder / "installed"


def names(folder: Path) -> set[str]:
    """The files of the package below a folder."""
    found = (path.relative_to(folder) for path in (folder / "memtui").rglob("*") if path.is_file())
    return {path.as_posix() for path in found if "__pycache__" not in path.parts}


def environment(installed: Path, home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MEMTUI_", "XDG_"))}
    return {**kept, "PYTHONPATH": str(installed), "HOME": str(home)}


def metadata(installed: Path) -> Message:
    (file,) = installed.glob("memtui-*.dist-info/METADATA")
    return Parser().parsestr(file.read_text(encoding="utf-8"))


def test_everything_that_the_program_reads_is_in_the_wheel(installed: Path) -> None:
    packed = names(installed)
    assert packed == names(ROOT) | {"memtui/assets/demo.jsonl"}
    for kind in (
        "memtui/guide/agents.md", "memtui/ui/styles/shell.tcss", "memtui/engine/store/schema.sql",
        "memtui/engine/store/migrations/0001_initial.sql", "memtui/engine/search/prompt_need.bin",
        "memtui/engine/consolidation/compare/update_model.npz", "memtui/engine/guards/secrets/gitleaks.txt",
    ):  # fmt: skip
        assert kind in packed
    assert (installed / "memtui/assets/demo.jsonl").read_bytes() == (ROOT / "assets/demo.jsonl").read_bytes()


def test_the_server_comes_with_every_installation_and_older_commands_still_work(installed: Path) -> None:
    about = metadata(installed)
    required = about.get_all("Requires-Dist") or []
    assert [line for line in required if line.startswith("mcp")] == ["mcp<3,>=2"]
    assert {"mcp", "serve", "agents", "sql", "minilm"} <= {*(about.get_all("Provides-Extra") or [])}
    text = (installed / f"memtui-{about['Version']}.dist-info/entry_points.txt").read_text()
    assert "memtui = memtui.cli:main" in text


def test_a_wheel_of_the_source_archive_has_the_same_files(installed: Path, tmp_path: Path) -> None:
    archive = next(iter(SdistBuilder(str(ROOT)).build(directory=str(tmp_path))))
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path, filter="data")
    source = next(path for path in tmp_path.iterdir() if path.is_dir())
    wheel = next(iter(WheelBuilder(str(source)).build(directory=str(tmp_path), versions=["standard"])))
    with zipfile.ZipFile(wheel) as packed:
        assert {name for name in packed.namelist() if name.startswith("memtui/")} == names(installed)


async def test_the_program_runs_from_what_is_installed(installed: Path, tmp_path: Path) -> None:
    def run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "memtui", *arguments],
            capture_output=True, text=True, cwd=tmp_path, env=environment(installed, tmp_path), timeout=120,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    assert run("--version") == f"memtui {metadata(installed)['Version']}\n"
    assert run("guide", "agents").startswith("# Agents")
    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "memtui", "mcp", "--demo"], env=environment(installed, tmp_path)
    )
    async with Client(stdio_client(parameters), read_timeout_seconds=60) as client:
        known = await ask(client, "search_memory", query="What does Ada eat?")
    assert known["memories"]
