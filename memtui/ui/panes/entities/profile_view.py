"""Shows a profile. Left of its first column is the list."""

from __future__ import annotations

from typing import ClassVar

from textual.message import Message

from memtui.ui.actions import Place
from memtui.ui.keymap import bindings_at
from memtui.ui.messages import message_type
from memtui.ui.widgets.stop_view import StopView

from .profile import Stop


class ProfileView(StopView[Stop]):
    """The profile of an entity."""

    BINDINGS = [*bindings_at("profile")]
    part: ClassVar[Place] = "profile"

    @message_type
    class ListRequested(Message):
        """The person goes to the list."""

    def do_focus_list(self) -> None:
        """To the left column, then to the list."""
        if not self.across(-1):
            self.post_message(self.ListRequested())

    def do_focus_preview(self) -> None:
        self.across(1)
