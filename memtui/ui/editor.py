"""Edits a text in the person's own editor.

The editor gets the terminal while it runs. The app gets it back in every case: also if the editor is missing,
ends with an error, or is killed. A signal to end memtui ends the editor first.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memtui import operating_system
from memtui.engine.errors import InputError

if TYPE_CHECKING:
    from .shell import Shell

# Editors to try if $VISUAL and $EDITOR do not name one that starts.
_USUAL = ("editor", "nano", "micro", "vim", "vi", "notepad.exe")


class EditorResult(NamedTuple):
    """``note``: a message for the person, for example that another editor was opened. Empty for none."""

    text: str
    note: str


def edit_text(shell: Shell, text: str) -> str:
    """Open ``text`` in $VISUAL, $EDITOR or another editor, and return what was saved. Blocks the app.

    Raises InputError if none can be started, if it ends with an error, or if it is not permitted.
    """
    shell.permissions.require("editor")
    edited: EditorResult | Exception
    with shell.app.suspend():
        # Textual gives the terminal back to the app only if nothing is raised in here.
        try:
            edited = edit_in_program(text)
        except Exception as error:
            edited = error
    shell.app.refresh()
    if isinstance(edited, Exception):
        raise edited
    if edited.note:
        shell.show_message(edited.note, "warning")
    return edited.text


def edit_in_program(text: str) -> EditorResult:
    """As ``edit_text``, on a free terminal. The file is in a private folder and is deleted afterwards."""
    with tempfile.TemporaryDirectory(prefix="memtui-") as folder:
        path = Path(folder, "memory.txt")
        path.write_text(text, "utf-8", "surrogateescape")
        operating_system.close_to_others(path)
        wrong: list[str] = []
        for words, name in _editor_candidates(wrong):
            try:
                status = operating_system.run_in_foreground([*words, str(path)])
            except (OSError, ValueError):
                wrong.append(f"{name} cannot be started")
                continue
            if status:
                outcome = (
                    f"was ended by {operating_system.signal_name(-status)}"
                    if status < 0
                    else f"ended with status {status}"
                )
                raise InputError(f"{name} {outcome}.", "Nothing was changed.")
            break
        else:
            note = "; ".join(wrong) or "none is installed"
            raise InputError(f"No editor: {note}.", "Set $EDITOR, for example: export EDITOR=nano")
        saved = path.read_text("utf-8", "replace")
    note = f"{'; '.join(wrong)}: {name} was opened instead." if wrong else ""
    return EditorResult(saved if text.endswith("\n") else saved.removesuffix("\n"), note)


def _editor_candidates(wrong: list[str]) -> Iterator[tuple[list[str], str]]:
    """The words of each command and its name. ``wrong`` collects what is not a valid command."""
    for variable in ("VISUAL", "EDITOR"):
        command = os.environ.get(variable, "").strip()
        if not command:
            continue
        try:
            words = operating_system.split_command(command)
        except ValueError:
            words = []
        if words:
            yield words, f"{Path(words[0]).name} (${variable})"
        else:
            wrong.append(f"${variable} is no command")
    for usual in _USUAL:
        if found_path := shutil.which(usual):
            yield [found_path], usual
