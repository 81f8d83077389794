"""A conversation with its own filter, at the right side of a pane or in all of it."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical

from memtui.engine.errors import InputError
from memtui.present.format import count, plural
from memtui.present.glyphs import Glyphs
from memtui.ui.safe import assemble
from memtui.ui.widgets.filter_bar import FilterBar

from .transcript import AskFunction, Head, TranscriptReader, TranscriptView
from .turn_lines import TurnView


class TranscriptSide(Vertical):
    """``show_session`` displays a conversation. The filter is visible while it is used."""

    def __init__(self, glyphs: Glyphs, *, id: str | None = None) -> None:
        super().__init__(id=id, classes="side")
        self.glyphs = glyphs
        self._ask: AskFunction | None = None
        self._session_id = ""
        self._view = TurnView(0, 0.0, glyphs)

    def compose(self) -> ComposeResult:
        bar = FilterBar('words, role:user, after:7d, "exact words"', language=True)
        bar.display = False
        yield bar
        yield TranscriptView(self.glyphs)

    @property
    def turns(self) -> TranscriptView:
        return self.query_one(TranscriptView)

    @property
    def bar(self) -> FilterBar:
        return self.query_one(FilterBar)

    def show_session(
        self, ask: AskFunction, session_id: str, head: Head, view: TurnView, *, at: int | None = None
    ) -> None:
        """Show the turns of a session below a head; ``at``: the rid of the turn to go to."""
        if session_id != self._session_id or at is not None:
            self.bar.display = False
            self.bar.set_filter("")
        self._ask, self._session_id, self._view = ask, session_id, view
        self.turns.show_head(head)
        self._show(at)

    def clear(self) -> None:
        self._ask, self._session_id = None, ""
        self.turns.clear()

    def edit_filter(self) -> None:
        self.bar.display = True
        self.bar.edit()

    def drop_filter(self) -> bool:
        """Show all turns again. False if they are shown already."""
        if not self.bar.display:
            return False
        self.bar.display = False
        self.bar.set_filter("")
        self.turns.focus()
        return True

    def _show(self, at: int | None = None) -> None:
        if self._ask is None:
            return
        filter = self.bar.value.strip()
        words = tuple(
            word.strip('"').casefold() for word in filter.split() if ":" not in word and word[0] != "-"
        )
        reader = TranscriptReader(self._ask, self._session_id, filter)
        self.bar.show_error(None)
        self.turns.show(reader, self._view._replace(words=words, cautions={}, drawn={}), at=at)

    @on(FilterBar.Typed)
    def _typed(self, event: FilterBar.Typed) -> None:
        event.stop()
        self._show()

    @on(FilterBar.TypingEnded)
    def _left(self, event: FilterBar.TypingEnded) -> None:
        event.stop()
        self.turns.focus()
        if not self.bar.value.strip():
            self.bar.display = False

    @on(TranscriptView.Counted)
    def _counted(self, event: TranscriptView.Counted) -> None:
        event.stop()
        number = plural(event.turns, "turn") if event.whole else f"{count(event.turns)}+ turns"
        self.bar.show_count(number)
        self.border_subtitle = assemble((f" {number} ", "$text-muted")) if self.bar.display else ""

    @on(TranscriptView.Failed)
    def _failed(self, event: TranscriptView.Failed) -> None:
        if isinstance(event.error, InputError):
            event.stop()
            self.bar.show_error(event.error)
