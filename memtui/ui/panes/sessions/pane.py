"""Sessions: the conversations and their turns. Those that wait for consolidation come first."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget

from memtui.present.session import session_state
from memtui.ui.action_dispatch import start_worker
from memtui.ui.actions import Action
from memtui.ui.keymap import bindings_at
from memtui.ui.panes.entity_links import AboutAction
from memtui.ui.panes.list_pane import PREVIEW_DELAY, ListPane
from memtui.ui.panes.pane import use_styles
from memtui.ui.panes.unknown_terms import unknown_term_note
from memtui.ui.safe import assemble, line
from memtui.ui.widgets.columns import Column
from memtui.ui.widgets.filter_bar import FilterBar
from memtui.ui.widgets.row_table import RowTable

from .consolidation import ConsolidationActions
from .rows import ORDERS, SessionSource, session_columns, session_head
from .transcript import TranscriptView
from .transcript_side import TranscriptSide
from .turn_lines import TurnLayout

if TYPE_CHECKING:
    from memtui.engine.records import MemoryRecord
    from memtui.engine.records.lists import SessionRow

_TITLE = 60


class SessionsPane(ListPane["SessionRow"]):
    """The list and the conversation. Enter gives the conversation the whole window."""

    pane_id: ClassVar = "sessions"
    BINDINGS = [*bindings_at("sessions")]
    placeholder = "filter by title, source or project; after:7d, -word"
    noun, noun_one = "sessions", "session"
    orders = ORDERS
    # A failed run leaves an error in the session, but no operation.
    tables = frozenset({"sessions_consolidations", "memories", "job_runs", "*"})
    # The session (sid) to show next, and one of its turns (rid).
    _at: tuple[int, int | None] | None = None

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._consolidation = ConsolidationActions(self)
        self.delegates = (self._consolidation, AboutAction(self, self._picked_turn))

    def compose(self) -> ComposeResult:
        use_styles(self.app, "panes.tcss")
        with Vertical(classes="list-side"):
            yield FilterBar(self.placeholder, id="sessions-filter")
            yield RowTable(
                self.columns(),
                id="sessions-rows",
                orders=self.orders,
                glyphs=self.shell.glyphs,
                markable=self.markable,
            )
        yield TranscriptSide(self.shell.glyphs)

    def columns(self) -> Sequence[Column[SessionRow]]:
        return session_columns(self.shell.glyphs, self.shell.clock, self._model_name)

    def _model_name(self) -> str:
        """The language model that is configured, "" if none is."""
        memory = self.shell.operations.memory
        return memory.options.llm.model if memory is not None and memory.options.llm.configured else ""

    def source(self, filter: str, order: tuple[str, bool]) -> SessionSource:
        return SessionSource(self.shell.operations.require_memory(), filter, order)

    def total(self) -> int | None:
        return None if self.shell.stats is None else self.shell.stats.sessions

    # -- the conversation

    @property
    def transcript_side(self) -> TranscriptSide:
        return self.query_one(TranscriptSide)

    @property
    def preview_part(self) -> Widget:
        return self.transcript_side.transcript_view

    def quick_preview(self, row: SessionRow) -> Content:
        return self.preview_border_title(row)

    def preview_border_title(self, row: SessionRow) -> Content:
        word, _ = session_state(row, self._model_name())
        title = line(row.session.name, _TITLE)
        return assemble(" ", title, (f" {self.shell.glyphs.dot} {word} ", "$text-muted"))

    def show_preview(self, text: Content, key: int | None) -> None:
        """Show the frame. ``_fill_preview`` adds the turns."""
        self.transcript_side.border_title = text
        if key is None:
            self.transcript_side.clear()

    async def _fill_preview(self, row: SessionRow) -> None:
        await asyncio.sleep(PREVIEW_DELAY)
        shell, at = self.shell, None
        if self._at is not None and self._at[0] == row.sid:
            at, self._at = self._at[1], None
        session = row.session
        through = session.consolidated_through if session.consolidated_at is not None else None
        view = TurnLayout(0, shell.clock(), shell.glyphs, through)
        head = partial(
            session_head, row, now=shell.clock(), glyphs=shell.glyphs, model=self._model_name(),
            keys=shell.keymap_shown,
        )  # fmt: skip
        self.transcript_side.show_session(self.ask, session.session_id, head, view, at=at)

    async def open_at(self, session_id: str, rid: int | None) -> None:
        """Show a session in the whole window, at one of its turns."""
        row = await self.ask(lambda memory: memory.view.session_row(session_id))
        self._at = (row.sid, rid)
        self.filter_bar.set_filter("", quiet=True)
        self.table.select_key(row.sid)
        self.show_rows(top=False)
        self.zoom_part("preview")
        self.transcript_side.transcript_view.focus()

    def draw_facts(self, sessions: Sequence[str], *, preview: bool) -> None:
        """Draw facts from some sessions, or preview that. It runs in the background."""
        task = self._consolidation.preview_sessions if preview else self._consolidation.consolidate_sessions
        start_worker(self, partial(task, sessions), "drawing facts")

    @on(TranscriptView.Failed)
    def _turns_failed(self, event: TranscriptView.Failed) -> None:
        self.shell.show_error(event.error, "reading the conversation")

    # -- when there is nothing to show

    async def empty_text(self, filter: str) -> Content:
        key = self.shell.keymap_shown
        if filter:
            return assemble(
                ("No session passes this filter.\n\n", "bold"), unknown_term_note(filter, ("is",), now=self.shell.clock()),
                "Looked for in title, id, source and project. For words in the conversations use\n",
                (key("pane_search"), "bold $accent"), "  Search\n",
                (key("back"), "bold $accent"), "  clear the filter",
            )  # fmt: skip
        return assemble(
            ("No conversations yet.\n\n", "bold"),
            (key("import"), "bold $accent"), "  bring in conversations you had\n\n",
            ("Agents that record their turns here appear by themselves.", "$text-muted"),
        )  # fmt: skip

    # -- actions

    @property
    def conversation_shown(self) -> bool:
        """Whether the conversation has the focus, or the whole pane."""
        return self.transcript_side.transcript_view.has_focus or self.has_class("-zoom-preview")

    def _picked_turn(self) -> Sequence[MemoryRecord]:
        turn = self.transcript_side.transcript_view.selected_turn
        return () if turn is None else (turn,)

    @property
    def view_shown(self) -> Hashable:
        return super().view_shown, self.transcript_side.filter_bar.display

    def back(self) -> bool:
        if self.conversation_shown and self.transcript_side.drop_filter():
            return True
        return super().back()

    def do_filter(self) -> None:
        if self.conversation_shown:
            self.transcript_side.edit_filter()
        else:
            self.type_into(self.filter_bar)

    def unavailable_reason(self, action: Action) -> str:
        if action.id == "copy" and self.conversation_shown:
            return (
                ""
                if self.transcript_side.transcript_view.selected_turn is not None
                else "There is no turn here."
            )
        if action.id == "erase":
            if self.conversation_shown:
                return (
                    ""
                    if self.transcript_side.transcript_view.selected_turn is not None
                    else "There is no turn here."
                )
            if self.table.marks:
                return "This works on one at a time: unmark the others first (Esc)."
            return "" if self.table.selected is not None else "There is no session here."
        if action.id == "about" and not self.conversation_shown:
            key = self.shell.keymap_shown("open")
            return f"This is about a turn: {key} opens the conversation, to pick one there."
        return super().unavailable_reason(action)

    def do_copy(self) -> None:
        turn = self.transcript_side.transcript_view.selected_turn if self.conversation_shown else None
        text = None if turn is None else turn.content
        row = self.table.selected
        if text is None and row is not None:
            text = row.session.name
        if text is not None:
            self.app.copy_to_clipboard(text)
            self.show_message("Copied the turn." if self.conversation_shown else "Copied the title.")

    async def do_erase(self) -> None:
        from memtui.ui.dialogs.erase import EraseDialog

        turn, row = self.transcript_side.transcript_view.selected_turn, self.table.selected
        if self.conversation_shown and turn is not None:
            await self.shell.show_dialog(EraseDialog([turn.id]))
        elif row is not None:
            await self.shell.show_dialog(EraseDialog(session_id=row.session.session_id))
