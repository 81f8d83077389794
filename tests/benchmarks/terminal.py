"""A program in a real pseudo-terminal, timed by what it writes."""

from __future__ import annotations

import fcntl
import os
import pty
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


class Terminal:
    """Starts the program at once; ``started`` is the monotonic time of that. Ends it on leaving."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        self._master = master
        self.started = time.perf_counter()
        self._process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, close_fds=True, start_new_session=True,
            env={**os.environ, "TERM": "xterm-256color", "NO_MOTION": "1", **environment},
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

    def press(self, keys: str, quiet: float = 0.03) -> float:
        """Seconds from a key to the last thing that it made the program write (a pause of ``quiet`` ends it)."""
        while select.select([self._master], [], [], 0)[0]:
            os.read(self._master, 65_536)
        begun = last = time.perf_counter()
        os.write(self._master, keys.encode())
        wait = 5.0
        while select.select([self._master], [], [], wait)[0]:
            os.read(self._master, 65_536)
            last, wait = time.perf_counter(), quiet
        return last - begun

    def resident_megabytes(self) -> float:
        status = Path(f"/proc/{self._process.pid}/status").read_text(encoding="ascii")
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1024
