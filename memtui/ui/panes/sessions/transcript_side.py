"""A conversation with its own filter, at the right side of a pane or in all of it."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical

from memtui.engine.errors import InputError
from memtui.present.format import format_count, plural
from memtui.present.glyphs import Glyphs
from memtui.ui.safe import assemble
from memtui.ui.widgets.filter_bar import FilterBar

from .transcript import AskFunction, Head, TranscriptReader, TranscriptView
from .turn_lines import TurnLayout


class TranscriptSide(Vertical):
    """``show_session`` displays a conversation. The filter is visible while it is used."""

    def __init__(self, glyphs: Glyphs, *, id: str | None = None) -> None:
        super().__init__(id=id, classes="side")
        self.glyphs = glyphs
        self._ask: AskFunction | None = None
        self._session_id = ""
        self._view = TurnLayout(0, 0.0, glyphs)

    def compose(self) -> ComposeResult:
        bar = FilterBar('words, role:user, after:7d, "exact words"', language=True)
        bar.display = False
        yield bar
        yield TranscriptView(self.glyphs)

    @property
    def transcript_view(self) -> TranscriptView:
        return self.query_one(TranscriptView)

    @property
    def filter_bar(self) -> FilterBar:
        return self.query_one(FilterBar)

    def show_session(
        self, ask: AskFunction, session_id: str, head: Head, view: TurnLayout, *, at: int | None = None
    ) -> None:
        """Show the turns of a session below a head; ``at``: the rid of the turn to go to."""
        if session_id != self._session_id or at is not None:
            self.filter_bar.display = False
            self.filter_bar.set_filter("")
        self._ask, self._session_id, self._view = ask, session_id, view
        self.transcript_view.show_head(head)
        self._show_turns(at)

    def clear(self) -> None:
        self._ask, self._session_id = None, ""
        self.transcript_view.clear()

    def edit_filter(self) -> None:
        self.filter_bar.display = True
        self.filter_bar.start_typing()

    def drop_filter(self) -> bool:
        """Show all turns again. False if they are shown already."""
        if not self.filter_bar.display:
            return False
        self.filter_bar.display = False
        self.filter_bar.set_filter("")
        self.transcript_view.focus()
        return True

    def _show_turns(self, at: int | None = None) -> None:
        if self._ask is None:
            return
        filter = self.filter_bar.value.strip()
        words = tuple(
            word.strip('"').casefold() for word in filter.split() if ":" not in word and word[0] != "-"
        )
        reader = TranscriptReader(self._ask, self._session_id, filter)
        self.filter_bar.show_error(None)
        self.transcript_view.show_transcript(
            reader, self._view._replace(words=words, cautions={}, drawn={}), at=at
        )

    @on(FilterBar.Typed)
    def _filter_typed(self, event: FilterBar.Typed) -> None:
        event.stop()
        self._show_turns()

    @on(FilterBar.TypingEnded)
    def _filter_left(self, event: FilterBar.TypingEnded) -> None:
        event.stop()
        self.transcript_view.focus()
        if not self.filter_bar.value.strip():
            self.filter_bar.display = False

    @on(TranscriptView.Counted)
    def _show_count(self, event: TranscriptView.Counted) -> None:
        event.stop()
        number = plural(event.turns, "turn") if event.whole else f"{format_count(event.turns)}+ turns"
        self.filter_bar.show_count(number)
        self.border_subtitle = assemble((f" {number} ", "$text-muted")) if self.filter_bar.display else ""

    @on(TranscriptView.Failed)
    def _show_failure(self, event: TranscriptView.Failed) -> None:
        if isinstance(event.error, InputError):
            event.stop()
            self.filter_bar.show_error(event.error)
