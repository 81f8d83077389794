"""The app as a process on a pseudo-terminal: it opens, it is left, and its exit code tells what happened."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
SECONDS = 60.0


class Screen:
    """A terminal of 100x30 cells and the program in it; ``shown`` is all that it has written."""

    def __init__(self, *arguments: str) -> None:
        import fcntl
        import pty
        import struct
        import termios

        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        self.program = subprocess.Popen(
            [sys.executable, "-m", "memtui", *arguments],
            stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
            env={**os.environ, "TERM": "xterm-256color"}, cwd=Path(__file__).parents[2],
        )  # fmt: skip
        os.close(slave)
        self.shown = b""

    def read_until(self, words: bytes) -> bool:
        """Whether ``words`` came before the time was up or the program was gone."""
        deadline = time.monotonic() + SECONDS
        while words not in self.shown and time.monotonic() < deadline and self._read():
            pass
        return words in self.shown

    def leave(self, keys: bytes = b"\x11") -> int:
        """Type ``keys`` (ctrl+q) until the program is gone; returns its exit code."""
        deadline = time.monotonic() + SECONDS
        while self.program.poll() is None and time.monotonic() < deadline:
            os.write(self._master, keys)
            self._read()
        while self._read():
            pass
        return self.program.wait(1)

    def _read(self) -> bool:
        if select.select([self._master], [], [], 0.2)[0]:
            try:
                self.shown += os.read(self._master, 65_536)
            except OSError:
                return False
            return True
        return self.program.poll() is None

    def close(self) -> None:
        self.program.kill()
        self.program.wait()
        os.close(self._master)


def test_the_demo_opens_and_leaves_nothing_behind(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "scratch").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "scratch"))
    screen = Screen("--demo")
    try:
        assert screen.read_until(b"demo")
        assert screen.read_until(b"Ada")
        assert screen.leave() == 0
        assert b"Traceback" not in screen.shown
        # The terminal is as it was: main screen, cursor shown.
        assert b"\x1b[?1049l" in screen.shown
        assert b"\x1b[?25h" in screen.shown
    finally:
        screen.close()
    assert not list((tmp_path / "scratch").iterdir())
    assert not (home / "memory.db").exists()


def test_a_file_that_cannot_be_opened_is_told_and_is_the_exit_code(home: Path) -> None:
    (home / "memory.db").write_text("dear diary\n" * 300)
    screen = Screen()
    try:
        assert screen.read_until(b"not a memory")
        assert screen.leave() == 4
        assert b"error: " in screen.shown.rpartition(b"\x1b[?1049l")[2]
    finally:
        screen.close()
    assert (home / "memory.db").read_text().startswith("dear diary")


def test_what_is_plain_before_the_app_starts_is_told_without_it(home: Path) -> None:
    for arguments, words in ((["--db", str(home)], b"is a folder"), (["--readonly"], b"There is no memory")):
        screen = Screen(*arguments)
        try:
            assert screen.read_until(words)
            assert screen.program.wait(SECONDS) == 4
            assert b"\x1b[?1049h" not in screen.shown
        finally:
            screen.close()
