"""What depends on a memory before a change: a summary line, and a list to scroll."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from memtui.present.dependents import headline, lines
from memtui.ui.safe import assemble, drawn

from .text_view import TextView

if TYPE_CHECKING:
    from memtui.engine.records import Dependents

_LABEL = 12
_LONGEST = 300


class DependsView(Vertical):
    """``now``: Unix seconds."""

    def __init__(self, of: Dependents, now: float) -> None:
        super().__init__()
        self._of = of
        self._now = now

    def compose(self) -> ComposeResult:
        heading = assemble(("depends on it ", "bold $warning"), (headline(self._of), "$text"))
        yield Static(heading, classes="depends-head")
        yield TextView()

    def on_mount(self) -> None:
        self.screen.add_class("-depends")
        self.query_one(TextView).show(depends_text(self._of, self._now))


def depends_text(of: Dependents, now: float) -> Content:
    """A line for each dependent."""
    rows = [
        assemble(
            (label.ljust(_LABEL), "$text-muted"),
            drawn(tuple((text[:_LONGEST], role) for text, role in parts)),
        )
        for label, parts in lines(of, now)
    ]
    return Content("\n").join(rows)
