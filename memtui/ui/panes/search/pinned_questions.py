"""The questions of Search that the person keeps: asked again, and expected to find what they should."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.content import Content

from memtui.ui.presenters.hit_rows import AGENTS_SEE
from memtui.ui.presenters.pinned_questions import fared
from memtui.ui.safe import assemble
from memtui.ui.widgets.row_events import RowOpened

from .query import Asking
from .ranking import Tuning

if TYPE_CHECKING:
    from memtui.engine.store.saved_queries import QuestionResult, SavedQuery


class Pinning(Asking):
    """What can be done with a pinned question."""

    def about_question(self, saved: SavedQuery, result: QuestionResult | None) -> Content:
        key = self.shell.keymap_shown
        parts: list[Content | str | tuple[str, str]] = [(saved.query, "bold"), "\n\n"]
        if saved.filter:
            parts += [("only in  ", "$text-muted"), saved.filter, "\n"]
        if saved.profile:
            parts += [("profile  ", "$text-muted"), saved.profile, "\n"]
        for told in fared(saved, result, self.shell.glyphs, self.preview.text_width):
            parts += [told, "\n"]
        parts += [
            "\n",
            (key("open"), "bold $accent"),
            "  ask it\n",
            (key("pin"), "bold $accent"),
            "  keep it no longer",
        ]
        return assemble(*parts)

    @on(RowOpened)
    def _ask_pinned(self, event: RowOpened) -> None:
        saved = self.chosen_question
        if saved is not None:
            event.prevent_default()
            self.ask_again(saved)

    def ask_again(self, saved: SavedQuery) -> None:
        chosen = next((one for one in self._profiles if one.name == saved.profile), None)
        if chosen is not None:
            self.tuning = Tuning(chosen, chosen)
            self.knobs.show(self.tuning, self._profiles, self.agents_profile)
        self.hit_filter.set_value(saved.filter, quiet=True)
        self.hit_filter.display = bool(saved.filter)
        self.filter_bar.set_value(saved.query)
        self.table.focus()

    async def do_pin(self) -> None:
        saved = self.chosen_question
        asked, filter = self.asked, self.whole_filter
        if saved is None:
            saved = self.pinned_as(asked, filter)
        if saved is not None:
            query_id = saved.query_id
            await self.change(lambda memory: memory.questions.unpin(query_id), "unpinning")
            return
        profile = self.tuning.base.name if self.tuning is not None else None
        await self.change(
            lambda memory: memory.questions.pin(asked, filter=filter, profile=profile), "pinning"
        )

    async def do_expect(self) -> None:
        row = self.table.selected
        if row is None or row.hit is None:
            return
        asked, filter, identity = self.asked, self.whole_filter, row.hit.memory.id
        saved = self.pinned_as(asked, filter)
        if saved is not None and identity in saved.expected:
            query_id = saved.query_id
            await self.change(lambda memory: memory.questions.expect_no_more(query_id, identity), "expecting")
            return
        profile = self.tuning.base.name if self.tuning is not None else None
        # Ten are what an agent gets; what stands lower is expected where it stands, in tens.
        top = max(AGENTS_SEE, -(-row.hit.rank // 10) * 10, saved.top if saved is not None else 0)
        await self.change(
            lambda memory: memory.questions.expect(asked, identity, filter=filter, profile=profile, top=top),
            "expecting",
        )
