"""The guide in the app: its pages at the left, the chosen page at the right."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Markdown, OptionList  # safe-text: pages of the program, no stored text
from textual.widgets.option_list import Option

from memtui.guide import pages
from memtui.ui.safe import content

from .dialog import Dialog


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
            topics = [Option(content(page.topic), id=page.topic) for page in pages()]
            yield OptionList(*topics, id="guide-topics")  # safe-text: made above
            with VerticalScroll(id="guide-page", can_focus=False):
                yield Markdown(open_links=False)

    def on_mount(self) -> None:
        self._topics.highlighted = 0
        self._topics.focus()

    @property
    def _topics(self) -> OptionList:
        return self.query_one(OptionList)

    @on(OptionList.OptionHighlighted)
    async def _show(self, event: OptionList.OptionHighlighted) -> None:
        text = pages()[event.option_index].text
        await self.query_one(Markdown).update(text)  # safe-text: a page of the program
        self.query_one("#guide-page").scroll_home(animate=False)

    def action_turn(self, step: int) -> None:
        self._topics.highlighted = ((self._topics.highlighted or 0) + step) % len(pages())

    def action_scroll(self, where: str) -> None:
        getattr(self.query_one("#guide-page"), f"scroll_{where}")(animate=False)
