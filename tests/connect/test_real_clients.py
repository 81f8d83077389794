"""The programs themselves, where they are installed: each lists our server after ``memtui connect``, most call it.

They are run with a home folder of their own, without a network and without an account.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

PROGRAMS = {
    # name -> program, its command, what it says of a server that it could start
    "claude-code": ("claude", ["mcp", "list"], r"memtui: .*memtui mcp .* Connected"),
    "codex": ("codex", ["mcp", "list"], r"memtui +\S*memtui +mcp .*enabled"),
    "gemini-cli": ("gemini", ["mcp", "list"], r"memtui: .*memtui mcp .*Connected"),
    "opencode": ("opencode", ["mcp", "list"], r"memtui .*connected"),
}
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., str]:
    """Runs a program in a folder of a new home; returns all that it prints."""
    project = tmp_path / "home" / "project"
    project.mkdir(parents=True)
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    environment = {"HOME": str(tmp_path / "home"), "PATH": path, "TERM": "dumb"}

    def call(*words: str) -> str:
        done = subprocess.run(
            words,
            cwd=project,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return _COLOURS.sub("", done.stdout + done.stderr)

    return call


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_client_lists_and_starts_what_connect_wrote(
    name: str, run: Callable[..., str], tmp_path: Path
) -> None:
    program, listed, connected = PROGRAMS[name]
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    run("memtui", "connect", name, "--yes")
    if name == "gemini-cli":  # it starts servers only in folders that the person trusts
        trusted = tmp_path / "home" / ".gemini" / "trustedFolders.json"
        trusted.write_text(json.dumps({str(tmp_path / "home" / "project"): "TRUST_FOLDER"}))
    assert re.search(connected, run(program, *listed))
    run("memtui", "disconnect", name, "--yes")
    assert "memtui mcp" not in run(program, *listed)
