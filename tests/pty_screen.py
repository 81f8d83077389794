"""The program on a pseudo-terminal, as a person has it."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from pathlib import Path

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
        self.terminal = slave
        # The terminal that controls the program, as a person's does.
        control = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
        self.program = subprocess.Popen(
            [sys.executable, "-c", control, sys.executable, "-m", "memtui", *arguments],
            stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
            env={**os.environ, "TERM": "xterm-256color"}, cwd=Path(__file__).parents[1],
        )  # fmt: skip
        self.shown = b""

    def press(self, keys: bytes) -> None:
        os.write(self._master, keys)

    def foreground(self) -> int:
        """The group of processes that gets what is typed."""
        return os.tcgetpgrp(self._master)

    def settings(self) -> list[object]:
        """How the terminal is set: what it was before the program, it is to be afterwards."""
        import termios

        return termios.tcgetattr(self.terminal)

    def read_until(self, words: bytes) -> bool:
        """Whether ``words`` came before the time was up or the program was gone."""
        deadline = time.monotonic() + SECONDS
        while words not in self.shown and time.monotonic() < deadline and self._read():
            pass
        return words in self.shown

    def wait(self) -> int:
        """The exit code of a program that ends by itself."""
        deadline = time.monotonic() + SECONDS
        while self.program.poll() is None and time.monotonic() < deadline:
            self._read()
        return self.program.wait(1)

    def leave(self, keys: bytes = b"\x11") -> int:
        """Type ``keys`` (ctrl+q) until the program is gone; returns its exit code."""
        deadline = time.monotonic() + SECONDS
        while self.program.poll() is None and time.monotonic() < deadline:
            self.press(keys)
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
        os.close(self.terminal)
