"""Search: a question in any words, what answers it, and why each hit stands where it stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from memtui.ui.actions import Action
from memtui.ui.keymap import bindings_at
from memtui.ui.late_styles import use_styles
from memtui.ui.panes.pane import Command
from memtui.ui.presenters.hit_rows import SearchRow, search_columns
from memtui.ui.safe import assemble
from memtui.ui.widgets.columns import Column
from memtui.ui.widgets.filter_bar import FilterBar
from memtui.ui.widgets.row_table import RowTable
from memtui.ui.widgets.text_view import TextView

from .agents import AgentsProfile
from .knobs import Knobs
from .ranking import Tuning

if TYPE_CHECKING:
    from memtui.ui.presenters.hit_text import HitText


class SearchPane(AgentsProfile):
    """Question and hits at the left; the breakdown and the controls of the ranking at the right."""

    place: ClassVar = "search"
    BINDINGS = [*bindings_at("search")]
    placeholder = "ask in any words: what does Ada eat?"

    def compose(self) -> ComposeResult:
        use_styles(self.app, "panes.tcss")
        with Vertical(classes="list-side"):
            yield FilterBar(self.placeholder, id="search-filter")
            bar = FilterBar(
                'only in: kind:fact tag:work after:7d -lisbon "exact words"', sign="f", id="hit-filter"
            )
            bar.display = False
            yield bar
            yield Static(classes="search-notes")
            table = RowTable(self.columns(), id="search-rows", glyphs=self.shell.glyphs)
            table.painter.ruled = lambda row: row.ruled
            yield table
        with Vertical(classes="why-side"):
            yield TextView(id="search-preview")
            yield Knobs(self.shell.glyphs)

    def columns(self) -> Sequence[Column[SearchRow]]:
        return search_columns(self.shell.glyphs, self.shell.clock)

    def legend(self) -> Sequence[tuple[str, str]]:
        return [
            (
                "less likely",
                "Below this line stands what has less than a quarter of the best score, or less than half of it and no"
                " word and no name in common with the question.",
            ),
            *super().legend(),
        ]

    # -- parts

    def parts(self) -> list[Widget]:
        return [part for part in (self.table, self.preview, self.knobs) if part.display]

    # -- the breakdown

    def _text(self) -> HitText:
        from memtui.ui.presenters.hit_text import HitText

        return HitText(
            self.preview.text_width, self.shell.clock(), self.shell.glyphs, self.shell.keymap_shown
        )

    def preview_title(self, row: SearchRow) -> Content:
        if row.hit is None:
            return assemble(" a pinned question ")
        sign = self.shell.glyphs.kinds[row.hit.memory.kind]
        return assemble(
            f" why #{row.hit.rank} ", (f"{sign} ", "$accent"), (f"{row.hit.memory.kind} ", "$text-muted")
        )

    def glance(self, row: SearchRow) -> Content:
        if row.hit is not None and row.result is not None:
            return self._text().hit(row.hit, row.result)
        return self.about_question(row.saved, row.fared) if row.saved is not None else assemble("")

    async def details(self, row: SearchRow) -> Content:
        from memtui.ui.presenters.memory_detail import gather

        hit, result = row.hit, row.result
        if hit is None or result is None:
            return self.glance(row)
        identity = hit.memory.id
        detail = await self.ask(lambda memory: gather(memory, identity))
        return self._text().hit(hit, result, detail)

    # -- actions

    def back(self) -> bool:
        if self.has_class("-tuning") and self.knobs.has_focus:
            self.remove_class("-tuning")
            self.table.focus()
            return True
        if self.table.has_focus and not self.table.marks and self.hit_filter.value.strip():
            self.hit_filter.set_value("")
            self.hit_filter.display = False
            return True
        return super().back()

    def why_not(self, action: Action) -> str:
        saved = self.chosen_question
        if action.id == "pin":
            return "" if saved is not None or self.asked else "There is no question to pin: type one first."
        if action.id == "expect" and self.current is None:
            return "Ask something first, then choose the hit that should stay among the first."
        if action.id in ("context", "why_not") and not self.asked:
            return "Nothing is asked yet."
        if action.id == "save_profile":
            changed = self.tuning is not None and self.tuning.changed
            return (
                ""
                if changed
                else f"The profile is as it was saved. {self.shell.keymap_shown('tune')} changes it."
            )
        if action.id == "agents_profile":
            return self.no_agents_profile()
        if saved is not None and action.id in (
            "correct",
            "confirm",
            "forget",
            "erase",
            "restore",
            "tag",
            "editor",
            "about",
        ):
            return f"This is a pinned question: {self.shell.keymap_shown('open')} asks it."
        return super().why_not(action)

    def do_query(self) -> None:
        self.filter_bar.edit()

    def do_filter_hits(self) -> None:
        self.hit_filter.display = True
        self.hit_filter.edit()

    def do_tune(self) -> None:
        self.add_class("-tuning")
        self.knobs.focus()

    def do_focus_list(self) -> None:
        self.remove_class("-tuning")
        super().do_focus_list()

    async def do_save_profile(self) -> None:
        from memtui.ui.dialogs.name import NameDialog

        tuning = self.tuning
        if tuning is None:
            return
        taken = [profile.name for profile in self._profiles]
        name = await self.shell.ask_person(NameDialog("Save this way of ranking as", taken, tuning.base.name))
        if name is None:
            self.say("No profile was saved.")
            return
        import msgspec

        profile = msgspec.structs.replace(tuning.profile, name=name)
        await self.change(lambda memory: memory.questions.save_profile(profile), "saving the profile")
        self.tuning = Tuning(profile, profile, tuning.kinds)
        self.reload()

    async def do_context(self) -> None:
        from memtui.ui.dialogs.context import ContextDialog

        asked, filter = self.asked, self.whole_filter
        profile = self.tuning.profile if self.tuning is not None else None
        told = await self.ask(lambda memory: memory.context(asked, filter=filter, profile=profile))
        self.app.push_screen(ContextDialog(told, asked))

    async def do_why_not(self) -> None:
        from memtui.ui.dialogs.why_not import WhyNotDialog

        if self.tuning is not None:
            best = self.result.hits[0].score if self.result is not None and self.result.hits else 0.0
            base = self.tuning.base.name
            self.app.push_screen(
                WhyNotDialog(self.asked, self.whole_filter, self.tuning.profile, best, saved_profile=base)
            )

    def commands(self) -> Iterator[Command]:
        for saved in self._pinned:
            yield Command(
                f"Question: {saved.query}", "Ask this pinned question.", partial(self.ask_again, saved)
            )
