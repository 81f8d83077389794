"""The key o on a real terminal: whatever becomes of the editor, the app goes on and the terminal is restored."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from memtui.engine.memory import Memory
from memtui.engine.records import Options

from pty_screen import SECONDS, Screen

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder in which programs are looked for: the shell and what editors of tests need."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sh", "sleep", "printf", "kill"):
        if place := shutil.which(name):
            (folder / name).symlink_to(place)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    return folder


def program(path: Path, script: str, mode: int = 0o700) -> Path:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(mode)
    return path


@pytest.fixture
def opened(home: Path, tools: Path) -> Iterator[Screen]:
    """The app with one memory; the test sets $EDITOR before it asks for this."""
    with Memory.open(home / "memory.db", options=Options(background=False)) as memory:
        memory.remember("Ada lives in Ghent")
    screen = Screen()
    try:
        yield screen
    finally:
        screen.close()


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)


def text(home: Path) -> str:
    with Memory.open(home / "memory.db", readonly=True, options=Options(background=False)) as memory:
        return memory.search("Ada", limit=1).hits[0].memory.content


def goes_on(screen: Screen, before: list[object]) -> None:
    """The app answers keys, and leaves the terminal as it found it."""
    assert screen.leave() == 0, "the app is frozen"
    assert screen.settings() == before


@pytest.mark.parametrize(
    ("editor", "words"),
    [
        ("/nowhere/editor", b"cannot be started"),
        ("not-executable", b"cannot be started"),
        ("'", b"is no command"),
        ("ends-with-3", b"ended with status 3"),
        ("is-killed", b"was ended by SIGKILL"),
    ],
)
def test_an_editor_that_does_not_do_its_work_is_told_and_the_app_goes_on(
    editor: str, words: bytes, tools: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest,
    home: Path,
) -> None:  # fmt: skip
    program(tools / "not-executable", "exit 0", 0o600)
    program(tools / "ends-with-3", 'printf lost > "$1"; exit 3')
    program(tools / "is-killed", "kill -9 $$")
    monkeypatch.setenv("EDITOR", str(tools / editor) if (tools / editor).is_file() else editor)
    screen: Screen = request.getfixturevalue("opened")
    before = screen.settings()
    assert screen.read_until(b"Ghent")
    screen.press(b"2")
    assert screen.read_until(b"confidence")  # the preview: the cursor is on the memory
    screen.press(b"o")
    assert screen.read_until(words), screen.shown[-1500:]
    goes_on(screen, before)
    assert text(home) == "Ada lives in Ghent"


@pytest.mark.parametrize("editor", ["", "/nowhere/editor --wait"])
def test_where_the_named_editor_does_not_start_one_that_is_there_does(
    editor: str, tools: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, home: Path
) -> None:
    program(tools / "nano", 'printf "Ada lives in Porto" > "$1"')
    monkeypatch.setenv("EDITOR", editor)
    screen: Screen = request.getfixturevalue("opened")
    before = screen.settings()
    assert screen.read_until(b"Ghent")
    screen.press(b"2")
    assert screen.read_until(b"confidence")  # the preview: the cursor is on the memory
    screen.press(b"o")
    assert screen.read_until(b"Porto")
    goes_on(screen, before)
    assert text(home) == "Ada lives in Porto"


@pytest.mark.parametrize(
    ("number", "heeds"),
    [(signal.SIGTERM, True), (signal.SIGHUP, True), (signal.SIGINT, True), (signal.SIGTERM, False)],
)
def test_a_signal_ends_the_editor_and_then_the_app(
    number: signal.Signals, heeds: bool, tools: Path, monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest, home: Path, tmp_path: Path,
) -> None:  # fmt: skip
    note = tmp_path / "editor-pid"
    ignoring = "" if heeds else "trap '' TERM HUP INT; "
    program(
        tools / "slow", f"{ignoring}printf $$ > {note}.new; mv {note}.new {note}; while :; do sleep 1; done"
    )
    (tools / "mv").symlink_to(shutil.which("mv", path=os.defpath) or "/bin/mv")
    monkeypatch.setenv("EDITOR", str(tools / "slow"))
    screen: Screen = request.getfixturevalue("opened")
    before = screen.settings()
    assert screen.read_until(b"Ghent")
    screen.press(b"2")
    assert screen.read_until(b"confidence")  # the preview: the cursor is on the memory
    screen.press(b"o")
    until(lambda: note.exists() or not screen._read())  # a terminal reads what it is sent
    screen.program.send_signal(number)
    assert screen.wait() == 128 + number
    assert screen.settings() == before
    assert screen.shown.rpartition(b"\x1b[?1049l")[2].count(b"\x1b[?1049h") == 0
    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text()), 0)
    assert text(home) == "Ada lives in Ghent"


def test_ctrl_c_on_the_keyboard_is_the_editors(
    tools: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, home: Path, tmp_path: Path
) -> None:
    program(
        tools / "asks",
        'trap \'printf "Ada lives in Porto" > "$1"; exit 0\' INT; printf READY; while :; do sleep 0.1; done',
    )
    monkeypatch.setenv("EDITOR", str(tools / "asks"))
    screen: Screen = request.getfixturevalue("opened")
    before = screen.settings()
    assert screen.read_until(b"Ghent")
    screen.press(b"2")
    assert screen.read_until(b"confidence")  # the preview: the cursor is on the memory
    screen.press(b"o")
    assert screen.read_until(b"READY")
    until(lambda: screen.foreground() != screen.program.pid)
    screen.press(b"\x03")
    assert screen.read_until(b"Porto")
    goes_on(screen, before)
