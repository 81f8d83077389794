"""A view for text, which scrolls with the same keys as a list; and what depends on a memory, in such a view."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from memtui.present.dependents import dependents_headline, dependents_lines
from memtui.ui.action_dispatch import perform_action, perform_chord
from memtui.ui.actions import ActionContext
from memtui.ui.keymap import bindings_at
from memtui.ui.messages import message_type
from memtui.ui.safe import assemble, content_of_line

if TYPE_CHECKING:
    from memtui.engine.records import Dependents


# As in .text-body of lists.tcss.
GAP = 1


class TextView(VerticalScroll, can_focus=True, inherit_bindings=False):
    """``show`` displays a text from its top, or at the same position if it is about the same thing."""

    BINDINGS = [*bindings_at("text")]
    part: ClassVar[ActionContext] = "text"
    action_perform, action_chord = perform_action, perform_chord

    @message_type
    class Rewidened(Message):
        """The width has changed: the text may need another layout."""

        view: str

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._shown: object = None
        self._width = 0

    def compose(self) -> ComposeResult:
        yield Static(classes="text-body")

    @property
    def text_width(self) -> int:
        """The width of a line in cells, with one cell left free before the scroll bar.

        A hidden widget has no size; then this is its last width.
        """
        shown = self.scrollable_content_region.width
        return max(shown - GAP, 10) if shown else max(self._width, 10)

    def show_text(self, text: Content, *, subject: object = None) -> None:
        """Show a text. ``subject`` identifies its subject: a newer text about it keeps the scroll position."""
        self.query_one(".text-body", Static).update(text)
        if subject is None or subject != self._shown:
            self.scroll_home(animate=False)
        self._shown = subject

    def on_resize(self) -> None:
        if self.text_width != self._width:
            self._width = self.text_width
            self.post_message(self.Rewidened(self.id or ""))

    def do_up(self) -> None:
        self.scroll_up(animate=False)

    def do_down(self) -> None:
        self.scroll_down(animate=False)

    def do_page_up(self) -> None:
        self.scroll_page_up(animate=False)

    def do_page_down(self) -> None:
        self.scroll_page_down(animate=False)

    def do_half_up(self) -> None:
        self.scroll_relative(y=-max(self.size.height // 2, 1), animate=False)

    def do_half_down(self) -> None:
        self.scroll_relative(y=max(self.size.height // 2, 1), animate=False)

    def do_top(self) -> None:
        self.scroll_home(animate=False)

    def do_bottom(self) -> None:
        self.scroll_end(animate=False)


_LABEL = 12
_LONGEST = 300


class DependsView(Vertical):
    """``now``: Unix seconds."""

    def __init__(self, dependents: Dependents, now: float) -> None:
        super().__init__()
        self._dependents = dependents
        self._now = now

    def compose(self) -> ComposeResult:
        yield Static(classes="depends-head")
        yield TextView()

    def on_mount(self) -> None:
        self.show_dependents(self._dependents)

    def show_dependents(self, dependents: Dependents) -> None:
        """What depends now; hidden where nothing does."""
        self.display = dependents.any
        self.screen.set_class(dependents.any, "-depends")
        heading = assemble(("depends on it ", "bold $warning"), (dependents_headline(dependents), "$text"))
        self.query_one(".depends-head", Static).update(heading)
        self.query_one(TextView).show_text(depends_text(dependents, self._now))


def depends_text(dependents: Dependents, now: float) -> Content:
    """A line for each dependent."""
    rows = [
        assemble(
            (label.ljust(_LABEL), "$text-muted"),
            content_of_line(tuple((text[:_LONGEST], role) for text, role in parts)),
        )
        for label, parts in dependents_lines(dependents, now)
    ]
    return Content("\n").join(rows)
