"""``memtui``: open the app."""

from __future__ import annotations

import os
import sys

from memtui.engine.errors import UsageError

from .door import Door


def open_app(door: Door) -> int:
    """Open the app on the memory that ``door`` names; returns its exit code."""
    door.check()
    # In a browser (textual serve) the driver speaks through pipes.
    if "TEXTUAL_DRIVER" not in os.environ and not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(
            "The app needs a terminal to open in.",
            "In a script use the commands: memtui --help lists them.",
        )
    raise NotImplementedError
