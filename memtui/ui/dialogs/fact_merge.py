"""Merge two facts: which one stays, with which text, and what happens to the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static, TextArea

from memtui.present.format import plural
from memtui.present.text import one_line, visible
from memtui.ui.presenters.diff import old_and_new
from memtui.ui.safe import assemble, content
from memtui.ui.widgets.dependents_view import DependsView

from .dialog import Dialog

if TYPE_CHECKING:
    from memtui.engine.records import Dependents, MemoryRecord

_SHOWN = 600


class Merged(NamedTuple):
    """``survivor``: the index (0 or 1) of the one that stays. ``text``: its text."""

    survivor: int
    text: str


class MergeDialog(Dialog[Merged]):
    """Shows both, the text that stays, and what the survivor takes over from each."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", show=False, priority=True),
        Binding("ctrl+o", "other", show=False, priority=True),
    ]
    wide = True
    hints = (("ctrl+s", "merge"), ("ctrl+o", "keep the other one instead"))

    def __init__(
        self, pair: tuple[MemoryRecord, MemoryRecord], survivor: int, depends: Dependents | None = None
    ) -> None:
        super().__init__()
        self._depends = depends
        self._pair = pair
        self._survivor = survivor

    def title_text(self) -> str:
        return "Merge two facts"

    def body(self) -> ComposeResult:
        yield Static(classes="dialog-text")
        yield Static(assemble(("the one that stays says", "$text-muted")), classes="dialog-label")
        yield TextArea(soft_wrap=True, show_line_numbers=False, tab_behavior="focus", compact=True)
        yield Static(assemble(("what changes", "$text-muted")), classes="dialog-label")
        yield Static(classes="dialog-diff")
        if self._depends is not None and self._depends.any:
            yield DependsView(self._depends, self.shell.clock())
        yield Static(classes="dialog-warning")

    def on_mount(self) -> None:
        self._start_from(self._survivor)
        self.query_one(TextArea).focus()

    def _start_from(self, survivor: int) -> None:
        self._survivor = survivor
        kept, gone = self._pair[survivor], self._pair[1 - survivor]
        tags = ", ".join(dict.fromkeys((*kept.tags, *gone.tags))) or "none"
        sources = len(dict.fromkeys((*kept.source_ids, *gone.source_ids)))
        has = f"tags {visible(tags, 200)}; {plural(sources, 'source')}"
        protected = "; confirmed" if kept.protected or gone.protected else ""
        self.query_one(".dialog-text", Static).update(
            assemble(
                ("stays  ", "bold $success"), one_line(kept.content, _SHOWN), "\n",
                ("goes   ", "bold $warning"), one_line(gone.content, _SHOWN), "\n",
                ("has    ", "bold $text-muted"), (f"{has}{protected}", "$text-muted"),
            )
        )  # fmt: skip
        area = self.query_one(TextArea)
        area.text = kept.content
        area.move_cursor(area.document.end)

    @on(TextArea.Changed)
    def _show_difference(self) -> None:
        kept = self._pair[self._survivor].content
        text = self.query_one(TextArea).text
        same = content("its wording stays as it is", "$text-muted")
        self.query_one(".dialog-diff", Static).update(
            same if text.strip() == kept.strip() else old_and_new(kept, text)
        )
        self.query_one(".dialog-warning", Static).update("")

    def action_other(self) -> None:
        self._start_from(1 - self._survivor)

    def action_save(self) -> None:
        text = self.query_one(TextArea).text.strip()
        if text:
            self.dismiss(Merged(self._survivor, text))
        else:
            self.query_one(".dialog-warning", Static).update(
                assemble(("! There is no text to remember.", "$warning"))
            )
