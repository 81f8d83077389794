"""An input for a path, with completions from the disk."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from textual.binding import Binding
from textual.message import Message
from textual.suggester import Suggester
from textual.widgets import Input

from memtui.present.text import visible_text
from memtui.ui.messages import message_type

# A folder with more names is not searched.
_MOST_NAMES = 5_000


class PathSuggester(Suggester):
    """Suggests the first name, in order, that begins with the text. A folder ends with a slash."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)

    async def get_suggestion(self, value: str) -> str | None:
        return await asyncio.to_thread(complete_path, value)


def complete_path(text: str) -> str | None:
    """``~/Down`` -> ``~/Downloads/``. None if nothing matches. Hidden names need their dot."""
    if text in ("", "~"):
        return "~/" if text else None
    folder, slash, begin = text.rpartition("/")
    if not slash:
        folder = "."
    completion = None
    try:
        with os.scandir(Path(f"{folder}{slash}").expanduser()) as names:
            for index, entry in enumerate(names):
                if index >= _MOST_NAMES:
                    break
                name = entry.name
                goes_on = name.startswith(begin) and (begin or not name.startswith("."))
                if goes_on and (completion is None or name < completion.name):
                    completion = entry
        if completion is None:
            return None
        end = "/" if completion.is_dir() else ""
    except (OSError, RuntimeError, ValueError):
        return None
    parent = f"{folder}{slash}" if slash else ""
    completed = f"{parent}{completion.name}{end}"
    return completed if completed != text else None


class PathInput(Input):
    """Tab accepts the shown completion. Without one it goes to the next part."""

    BINDINGS = [
        Binding("tab", "complete_or_leave", show=False),
        Binding("down", "leave", show=False),
    ]

    @message_type
    class TypingEnded(Message):
        """The focus should go to the next widget."""

    def __init__(self, value: str = "", *, placeholder: str = "") -> None:
        super().__init__(
            value,
            placeholder=visible_text(placeholder),
            compact=True,
            suggester=PathSuggester(),
            select_on_focus=False,
        )

    def propose_path(self, path: str) -> None:
        """Insert a path and select it, so that typing replaces it."""
        self.value = path
        # Move the cursor behind the value.
        self.call_later(self.select_all)

    def action_complete_or_leave(self) -> None:
        if self._suggestion and self._suggestion != self.value:
            self.value = self._suggestion
            self.cursor_position = len(self.value)
        else:
            self.action_leave()

    def action_leave(self) -> None:
        self.post_message(self.TypingEnded())
