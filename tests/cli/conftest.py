"""Run the command line inside the test (``cli``) or as a program of its own (``program``)."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_kit import Cli, Outcome, Program
from memtui import log
from memtui.cli import run

ROOT = Path(__file__).parents[2]
# PYTHONUNBUFFERED would hide what goes wrong when the interpreter flushes at its end.
_OTHERS = ("NO_COLOR", "NO_MOTION", "PYTHONUNBUFFERED", "CLAUDE_CONFIG_DIR")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home of its own for every test, without the settings of whoever runs them."""
    place = tmp_path / "home"
    place.mkdir()
    for name in tuple(os.environ):
        if name.startswith(("MEMTUI_", "_MEMTUI", "XDG_")) or name in _OTHERS:
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(place))
    monkeypatch.setenv("MEMTUI_DB", str(place / "memory.db"))
    yield place
    log.stop()


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Cli:
    def call(*arguments: str | Path, input: bytes = b"") -> Outcome:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(input), "utf-8"))
        capfdbinary.readouterr()
        code = run([str(argument) for argument in arguments])
        out, err = capfdbinary.readouterr()
        return Outcome(code, out.decode(), err.decode())

    return call


@pytest.fixture
def program() -> Iterator[Program]:
    """Start ``memtui`` as a process with pipes; the test waits for it."""
    started: list[subprocess.Popen[bytes]] = []

    def start(*arguments: str | bytes | Path, code: str = "", **options: Any) -> subprocess.Popen[bytes]:
        command = ["-c", code] if code else ["-m", "memtui"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), **options.pop("env", {})}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        running = subprocess.Popen([sys.executable, *command, *arguments], env=environment, **pipes)
        started.append(running)
        return running

    yield start
    for running in started:
        running.kill()
        running.wait()
        for pipe in (running.stdin, running.stdout, running.stderr):
            if pipe is not None:
                pipe.close()
