"""A program in a real pseudo-terminal, timed by what it writes."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

COLUMNS, LINES = 120, 40
# A start that is measured finds its bytecode written, as it does elsewhere.
_SURROUNDINGS = {"TERM": "xterm-256color", "NO_MOTION": "1", "PYTHONDONTWRITEBYTECODE": ""}
_CONTROL = re.compile(rb"\x1b\[[0-9;?<=>]*[a-zA-Z]")
# The cursor's mark, the signs of a memory, and the beginning of its text.
_ROW = re.compile(r"▌[^\w\r\n]*(\w[^\r\n]{14})")


class Terminal:
    """Starts the program at once; ``started`` is the monotonic time of that. Ends it on leaving."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        self._master = master
        self._row = ""
        self.started = time.perf_counter()
        self._process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, close_fds=True, start_new_session=True,
            env={**os.environ, **_SURROUNDINGS, **environment},
        )  # fmt: skip
        os.close(slave)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._master)

    def read_until(self, text: str, seconds: float = 60.0) -> float:
        """The monotonic time at which ``text`` had been written. Raises TimeoutError."""
        seen, wanted, end = b"", text.encode(), time.perf_counter() + seconds
        while time.perf_counter() < end:
            if select.select([self._master], [], [], 0.05)[0]:
                seen = (seen + os.read(self._master, 65_536))[-200_000:]
                if wanted in seen:
                    return time.perf_counter()
        raise TimeoutError(f"{text!r} did not appear in {seconds:.0f} s")

    def settle(self, quiet: float = 0.25, seconds: float = 30.0) -> None:
        """Read until nothing was written for ``quiet`` seconds."""
        end = time.perf_counter() + seconds
        while time.perf_counter() < end and select.select([self._master], [], [], quiet)[0]:
            os.read(self._master, 65_536)

    def first_row(self, seconds: float = 60.0) -> float:
        """The monotonic time at which the list showed its first row: the one that the cursor is on."""
        return self._cursor_moves(b"", seconds)

    def move(self, keys: str, seconds: float = 10.0) -> float:
        """Seconds from a key to the moment at which the cursor is on another row and its text can be read.

        What else is painted meanwhile (a preview, the progress of a job) does not count.
        """
        while select.select([self._master], [], [], 0)[0]:
            self._cursor_moves(os.read(self._master, 65_536), 0.0)
        begun = time.perf_counter()
        self.write(keys)
        return self._cursor_moves(b"", seconds) - begun

    def fill(self, keys: str, seconds: float = 10.0) -> float:
        """Seconds from a key to the moment at which an empty list has a row under the cursor."""
        self._row = ""
        begun = time.perf_counter()
        self.write(keys)
        return self._cursor_moves(b"", seconds) - begun

    def write(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def _cursor_moves(self, seen: bytes, seconds: float) -> float:
        """When the cursor came to another row; ``seconds`` 0 only looks at what was ``seen``."""
        end = time.perf_counter() + seconds
        while True:
            rows = _ROW.findall(_CONTROL.sub(b"", seen).decode(errors="replace"))
            if rows and rows[-1] != self._row:
                self._row = rows[-1]
                return time.perf_counter()
            if time.perf_counter() >= end:
                if seconds:
                    raise TimeoutError(f"the cursor stayed on {self._row!r} for {seconds:.0f} s")
                return end
            if select.select([self._master], [], [], 0.05)[0]:
                seen = (seen + os.read(self._master, 65_536))[-100_000:]

    def resident_megabytes(self) -> float:
        status = Path(f"/proc/{self._process.pid}/status").read_text(encoding="ascii")
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1024
