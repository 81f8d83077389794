"""The saved state of the app. It has nothing of the memory and can be deleted without loss."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from memtui import operating_system

# How many memories are remembered.
_MEMORIES = 20


class LastCheck(NamedTuple):
    """When a file was checked last (Unix seconds), and how many findings there were."""

    at: int
    findings: int


class UiState:
    """When each memory was open and checked last. ``path`` None: nothing is saved. ``pane``: the one to begin with, not saved."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.pane = "you"
        self._checked: dict[str, LastCheck] = {}
        self._open: dict[str, int] = {}
        # As it was before this run.
        self._before: dict[str, int] = {}
        if path is None:
            return
        try:
            lines = path.read_text("utf-8").splitlines()
        except (OSError, ValueError):
            return
        for name, _, value in (line.partition(" = ") for line in lines):
            if name == "checked":
                self._read_checked(value)
            elif name == "open":
                self._read_open(value)
        self._before = dict(self._open)

    def _read_open(self, value: str) -> None:
        at, _, memory = value.partition(" ")
        if at.isdecimal() and memory:
            self._open[memory] = int(at)

    def _read_checked(self, value: str) -> None:
        at, _, rest = value.partition(" ")
        findings, _, memory = rest.partition(" ")
        if at.isdecimal() and findings.isdecimal() and memory:
            self._checked[memory] = LastCheck(int(at), int(findings))

    def last_open(self, memory: Path | None) -> int | None:
        """When the app was last open with that memory before this run (Unix seconds), if known."""
        return self._before.get(str(memory))

    def note_open(self, memory: Path | None, at: float) -> None:
        """It is open now. The next run knows it."""
        _put_last(self._open, memory, int(at))

    def last_check(self, memory: Path | None) -> LastCheck | None:
        """When that memory was checked last, if known."""
        return self._checked.get(str(memory))

    def note_checked(self, memory: Path | None, at: float, findings: int) -> None:
        _put_last(self._checked, memory, LastCheck(int(at), findings))
        self.save()

    def save(self) -> None:
        """Save the state. A folder that cannot be written is ignored."""
        if self._path is None:
            return
        new = self._path.with_suffix(".new")
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = operating_system.open_private(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                for memory, one in self._checked.items():
                    if memory != str(None):  # a memory in this process only
                        file.write(f"checked = {one.at} {one.findings} {memory}\n")
                for memory, at in self._open.items():
                    if memory != str(None):
                        file.write(f"open = {at} {memory}\n")
            operating_system.replace(new, self._path)
        except OSError:
            with suppress(OSError):
                new.unlink(missing_ok=True)


def _put_last(noted: dict[str, Any], memory: Path | None, value: LastCheck | int) -> None:
    """Put it last; beyond so many memories the first one goes."""
    name = str(memory)
    if not name.isprintable():
        return
    noted.pop(name, None)
    noted[name] = value
    while len(noted) > _MEMORIES:
        del noted[next(iter(noted))]
