"""Pinned questions of Search: they are asked again, and can expect certain memories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from textual.content import Content

from memtui.present.question import question_scope_rows
from memtui.ui.presenters.hit import AGENTS_SEE
from memtui.ui.presenters.pinned_questions import question_outcome
from memtui.ui.safe import assemble

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records.saved import QuestionResult, SavedQuery
    from memtui.ui.presenters.hit import SearchRow
    from memtui.ui.shell import Shell
    from memtui.ui.widgets.row_table import RowTable
    from memtui.ui.widgets.text_view import TextView

    from .ranking import Tuning


class QuestionSource(Protocol):
    """What pinned questions need of the Search pane."""

    @property
    def shell(self) -> Shell: ...
    @property
    def question(self) -> str: ...
    @property
    def whole_filter(self) -> str: ...
    @property
    def tuning(self) -> Tuning | None: ...
    @property
    def table(self) -> RowTable[SearchRow]: ...
    @property
    def preview(self) -> TextView: ...
    async def change(self, call: Callable[[Memory], object], name: str) -> object: ...


class PinnedQuestions:
    """Actions on pinned questions."""

    def __init__(self, pane: QuestionSource) -> None:
        self._pane = pane
        self.pinned: Sequence[SavedQuery] = ()
        # The last result of each, by its key.
        self.outcomes: dict[int, QuestionResult] = {}

    @property
    def chosen(self) -> SavedQuery | None:
        """The pinned question under the cursor."""
        row = self._pane.table.selected
        return None if row is None else row.saved

    def pinned_as(self, query: str, filter: str) -> SavedQuery | None:
        """The pinned question that asks this."""
        words = " ".join(query.split())
        return next((one for one in self.pinned if (one.query, one.filter) == (words, filter)), None)

    def text(self, saved: SavedQuery, result: QuestionResult | None) -> Content:
        key = self._pane.shell.keymap_shown
        parts: list[Content | str | tuple[str, str]] = [(saved.query, "bold"), "\n\n"]
        for label, value in question_scope_rows(saved):
            parts += [(f"{label}  ", "$text-muted"), value, "\n"]
        for line in question_outcome(saved, result, self._pane.shell.glyphs, self._pane.preview.text_width):
            parts += [line, "\n"]
        parts += [
            "\n",
            (key("open"), "bold $accent"),
            "  ask it\n",
            (key("pin"), "bold $accent"),
            "  unpin it",
        ]
        return assemble(*parts)

    async def do_pin(self) -> None:
        saved = self.chosen
        question, filter = self._pane.question, self._pane.whole_filter
        if saved is None:
            saved = self.pinned_as(question, filter)
        if saved is not None:
            query_id = saved.query_id
            await self._pane.change(lambda memory: memory.questions.unpin(query_id), "unpinning")
            return
        profile = self._pane.tuning.base.name if self._pane.tuning is not None else None
        await self._pane.change(
            lambda memory: memory.questions.pin(question, filter=filter, profile=profile), "pinning"
        )

    async def do_expect(self) -> None:
        row = self._pane.table.selected
        if row is None or row.hit is None:
            return
        question, filter, memory_id = self._pane.question, self._pane.whole_filter, row.hit.memory.id
        saved = self.pinned_as(question, filter)
        if saved is not None and memory_id in saved.expected:
            query_id = saved.query_id
            await self._pane.change(
                lambda memory: memory.questions.expect_no_more(query_id, memory_id), "expecting"
            )
            return
        profile = self._pane.tuning.base.name if self._pane.tuning is not None else None
        # An agent gets ten hits. A lower hit is expected at its rank, rounded up to tens.
        top = max(AGENTS_SEE, -(-row.hit.rank // 10) * 10, saved.top if saved is not None else 0)
        await self._pane.change(
            lambda memory: memory.questions.expect(
                question, memory_id, filter=filter, profile=profile, top=top
            ),
            "expecting",
        )
