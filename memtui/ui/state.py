"""Where the app was left: nothing of the memory, and nothing that is missed when it is deleted."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)


class UiState:
    """The pane the app was left on. ``path`` None: nothing is kept."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.pane = "memories"
        self.fresh = True
        if path is None:
            return
        try:
            kept = dict(
                line.split(" = ", 1) for line in path.read_text("utf-8").splitlines() if " = " in line
            )
        except (OSError, ValueError):
            return
        if "pane" in kept:
            self.pane = kept["pane"]
            self.fresh = False

    def save(self) -> None:
        """Keep it; a folder that cannot be written is no reason to complain on leaving."""
        if self._path is None:
            return
        new = self._path.with_suffix(".new")
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | NOFOLLOW, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(f"pane = {self.pane}\n")
            new.replace(self._path)
        except OSError:
            with suppress(OSError):
                new.unlink(missing_ok=True)
