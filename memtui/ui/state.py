"""The saved state of the app. It has nothing of the memory and can be deleted without loss."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from memtui import operating_system

# How many memories are remembered.
_MEMORIES = 20


class LastCheck(NamedTuple):
    """When a file was checked last (Unix seconds), and how many findings there were."""

    at: int
    findings: int


class UiState:
    """When each memory was checked last. ``path`` None: nothing is saved. ``pane``: the one to begin with, not saved."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.pane = "you"
        self._checked: dict[str, LastCheck] = {}
        if path is None:
            return
        try:
            lines = path.read_text("utf-8").splitlines()
        except (OSError, ValueError):
            return
        for name, _, value in (line.partition(" = ") for line in lines):
            if name == "checked":
                self._read_checked(value)

    def _read_checked(self, value: str) -> None:
        at, _, rest = value.partition(" ")
        findings, _, memory = rest.partition(" ")
        if at.isdecimal() and findings.isdecimal() and memory:
            self._checked[memory] = LastCheck(int(at), int(findings))

    def checked(self, memory: Path | None) -> LastCheck | None:
        """When that memory was checked last, if known."""
        return self._checked.get(str(memory))

    def note_checked(self, memory: Path | None, at: float, findings: int) -> None:
        if not str(memory).isprintable():
            return
        self._checked.pop(str(memory), None)
        self._checked[str(memory)] = LastCheck(int(at), findings)
        while len(self._checked) > _MEMORIES:
            del self._checked[next(iter(self._checked))]
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
            operating_system.replace(new, self._path)
        except OSError:
            with suppress(OSError):
                new.unlink(missing_ok=True)
