"""Help: what each key does in the focused part, why some keys do not work now, and the pages of the guide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Markdown, OptionList  # safe-text: pages of the program, no stored text
from textual.widgets.option_list import Option

from memtui.guide import guide_pages
from memtui.present.text import max_cells, visible_text
from memtui.ui.presenters.text_layout import wrap_text
from memtui.ui.safe import assemble, content
from memtui.ui.widgets.text_view import TextView

from .dialog import Dialog


@dataclass(frozen=True, slots=True)
class HelpLine:
    """A key and its description. ``reason``: why it cannot run now."""

    group: str
    keys: str
    help: str
    reason: str = ""


# The least width for a description beside the keys.
_LEAST_ROOM = 28


class HelpDialog(Dialog[None]):
    """All keys of the focused part, by group."""

    wide = True
    hints = (("j k", "scroll"), ("?", "guide"), ("ctrl+p", "all commands"))
    BINDINGS: ClassVar[list[BindingType]] = [Binding("question_mark,f1", "guide", "guide", show=False)]

    def __init__(self, title: str, lines: list[HelpLine]) -> None:
        super().__init__()
        self._title = title
        self._lines = lines

    def title_text(self) -> str:
        return self._title

    def body(self) -> ComposeResult:
        yield TextView(id="help-text")

    def on_mount(self) -> None:
        self._lay_out()
        self.query_one(TextView).focus()

    def action_guide(self) -> None:

        self.app.push_screen(GuideDialog())

    @on(TextView.Rewidened)
    def _lay_out(self) -> None:
        """Wrap the descriptions so that the column of the keys stays free."""
        parts: list[str | tuple[str, str]] = []
        group = ""
        widest = max((max_cells(visible_text(one.keys)) for one in self._lines), default=0)
        indent = widest + 4
        below = self._line_width() - indent < _LEAST_ROOM
        if below:  # too narrow for two columns: the description is below its key
            indent = 4
        hang = "\n" + " " * indent
        text_width = max(self._line_width() - indent, 16)
        for one in self._lines:
            if one.group != group:
                parts += ["\n" if group else "", (f"{one.group}\n", "bold $text-muted")]
                group = one.group
            style = "$text-disabled" if one.reason else "$text"
            gap = hang if below else " " * (widest - max_cells(visible_text(one.keys)) + 2)
            parts += [("  ", ""), (one.keys, "bold $accent"), gap]
            parts += [(hang.join(wrap_text(visible_text(one.help), text_width)), style), "\n"]
            if one.reason:
                parts += [" " * indent]
                parts += [
                    (hang.join(wrap_text(visible_text(f"not now: {one.reason}"), text_width)), "$warning"),
                    "\n",
                ]
        self.query_one(TextView).show_text(assemble(*parts), subject="help")

    def _line_width(self) -> int:
        """The width of a line in cells. Before the first layout: the width of the window."""
        view = self.query_one(TextView)
        return view.text_width if view.size.width else self.app.size.width - 12


class GuideDialog(Dialog[None]):
    """Opens with the first page."""

    wide = True
    hints = (("j k", "scroll"), ("n p", "next, previous page"))
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "scroll('down')", show=False),
        Binding("k,up", "scroll('up')", show=False),
        Binding("pagedown,space,ctrl+d", "scroll('page_down')", show=False),
        Binding("pageup,ctrl+u", "scroll('page_up')", show=False),
        Binding("g,home", "scroll('home')", show=False),
        Binding("G,end", "scroll('end')", show=False),
        Binding("n,right,l", "turn(1)", show=False),
        Binding("p,left,h", "turn(-1)", show=False),
    ]

    def title_text(self) -> str:
        return "Guide"

    def body(self) -> ComposeResult:
        with Horizontal(classes="guide-columns"):
            topics = [Option(content(page.topic), id=page.topic) for page in guide_pages()]
            yield OptionList(*topics, id="guide-topics")  # safe-text: made above
            with VerticalScroll(id="guide-page", can_focus=False):
                yield Markdown(open_links=False)

    def on_mount(self) -> None:
        self._topic_options.highlighted = 0
        self._topic_options.focus()

    @property
    def _topic_options(self) -> OptionList:
        return self.query_one(OptionList)

    @on(OptionList.OptionHighlighted)
    async def _show_topic(self, event: OptionList.OptionHighlighted) -> None:
        text = guide_pages()[event.option_index].text
        await self.query_one(Markdown).update(text)  # safe-text: a page of the program
        self.query_one("#guide-page").scroll_home(animate=False)

    def action_turn(self, step: int) -> None:
        self._topic_options.highlighted = ((self._topic_options.highlighted or 0) + step) % len(guide_pages())

    def action_scroll(self, where: str) -> None:
        getattr(self.query_one("#guide-page"), f"scroll_{where}")(animate=False)
