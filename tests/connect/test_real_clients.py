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
    "claude-code": ("claude", ["mcp", "list"], r"memtui: .* Connected"),
    "codex": ("codex", ["mcp", "list"], r"memtui +.*enabled"),
    "gemini-cli": ("gemini", ["mcp", "list"], r"memtui: .*Connected"),
    "opencode": ("opencode", ["mcp", "list"], r"memtui .*connected"),
}
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def environment(folder: Path) -> dict[str, str]:
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    return {"HOME": str(folder / "home"), "PATH": path, "TERM": "dumb"}


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., str]:
    """Runs a program in a folder of a new home; returns all that it prints."""
    project = tmp_path / "home" / "project"
    project.mkdir(parents=True)

    def call(*words: str) -> str:
        done = subprocess.run(
            words,
            cwd=project,
            env=environment(tmp_path),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return _COLOURS.sub("", done.stdout + done.stderr)

    return call


@pytest.fixture
def trusting(tmp_path: Path) -> None:
    """Gemini CLI starts servers only in folders that the person trusts."""
    trusted = tmp_path / "home" / ".gemini" / "trustedFolders.json"
    trusted.parent.mkdir(parents=True)
    trusted.write_text(json.dumps({str(tmp_path / "home" / "project"): "TRUST_FOLDER"}))


def installed(name: str) -> tuple[str, list[str], str]:
    if shutil.which(PROGRAMS[name][0]) is None:
        pytest.skip(f"{PROGRAMS[name][0]} is not installed")
    return PROGRAMS[name]


@pytest.mark.usefixtures("trusting")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_client_lists_and_starts_what_connect_wrote(name: str, run: Callable[..., str]) -> None:
    program, listed, connected = installed(name)
    run("memtui", "connect", name, "--yes")
    assert re.search(connected, run(program, *listed))
    run("memtui", "disconnect", name, "--yes")
    assert not re.search(connected, run(program, *listed))


@pytest.mark.usefixtures("trusting")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_client_reaches_a_memtui_somewhere_else(name: str, run: Callable[..., str], tmp_path: Path) -> None:
    program, listed, connected = installed(name)
    found = re.search(r"memtui_[\w-]+", run("memtui", "tokens", "add", "laptop"))
    assert found is not None
    (tmp_path / "token").write_text(found[0])
    server = subprocess.Popen(
        ["memtui", "mcp", "--http", "--port", "0"],
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        run("memtui", "connect", name, "--url", url, "--token-file", str(tmp_path / "token"), "--yes")
        assert re.search(connected, run(program, *listed))
    finally:
        server.terminate()
        server.communicate(timeout=60)
    # Codex lists what is configured, and calls nobody.
    assert name == "codex" or "never used" not in run("memtui", "tokens", "list")
