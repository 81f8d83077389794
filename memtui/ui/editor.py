"""Editing a text in the person's own editor."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from pathlib import Path

from memtui.engine.errors import InputError


def edit(text: str) -> str:
    """Open ``text`` in $VISUAL or $EDITOR and return what was saved. Blocks; the terminal must be free.

    The file is in a folder for its owner only, and is gone afterwards. Raises InputError when no editor
    is set or it ends with an error.
    """
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not command:
        raise InputError("No editor is set.", "Set $EDITOR, for example: export EDITOR=nano")
    with tempfile.TemporaryDirectory(prefix="memtui-") as folder:
        path = Path(folder, "memory.txt")
        path.write_text(text, "utf-8", "surrogateescape")
        path.chmod(0o600)
        try:
            done = subprocess.run([*shlex.split(command), str(path)], check=False)
        except (OSError, ValueError) as error:
            raise InputError(f"The editor {command!r} cannot be started.", "Check $EDITOR.") from error
        if done.returncode:
            raise InputError(f"The editor ended with status {done.returncode}.", "Nothing was changed.")
        saved = path.read_text("utf-8", "replace")
    return saved if text.endswith("\n") else saved.removesuffix("\n")
