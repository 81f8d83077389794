"""Search: a question in any words, its hits, and why each hit has its rank."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from memtui.engine.errors import FilterError
from memtui.present.format import format_count, local_date, plural
from memtui.ui.action_dispatch import start_worker
from memtui.ui.actions import Action
from memtui.ui.keymap import bindings_at
from memtui.ui.panes.list_pane import ListPane
from memtui.ui.panes.memory_actions import MemoryActions, memory_legend
from memtui.ui.panes.pane import Command, use_styles
from memtui.ui.presenters.hit import (
    MOST,
    SearchRow,
    hit_rows,
    rest_columns,
    room_for_text,
    row_key,
    search_columns,
)
from memtui.ui.row_source import ListSource
from memtui.ui.safe import assemble, content
from memtui.ui.saved_filters import SaveFilterAction
from memtui.ui.widgets.columns import Column
from memtui.ui.widgets.filter_bar import FilterBar
from memtui.ui.widgets.row_paint import GUTTER
from memtui.ui.widgets.row_table import RowOpened, RowTable
from memtui.ui.widgets.text_view import TextView

from .empty_state import empty_question_text, example_questions, no_hits_text
from .pinned_questions import PinnedQuestions
from .ranking import AgentProfile, Tuning
from .ranking_controls import RankingControls

if TYPE_CHECKING:
    from memtui.engine.records import Changes, MemoryRecord, Profile, SearchResult
    from memtui.engine.records.saved import SavedQuery
    from memtui.engine.search.briefing import ContextBlock
    from memtui.ui.presenters.hit import HitText

# How many ranks of the saved profile are known.
_BEFORE = 400
# If one line would cut a larger share of the hits, each has two.
_CUT_IN_ONE_LINE = 0.25
# A search that takes longer shows that it is running.
_SLOW = 0.3


def awaits_vector(result: SearchResult) -> bool:
    """Whether the hits are by words and names only, while the question's vector is requested over the network."""
    return any(report.state == "coming" for report in result.retrievers)


def memory_of_row(row: SearchRow) -> MemoryRecord | None:
    """The memory of a hit; None for a row that is none."""
    return row.hit.memory if row.hit is not None else None


class SearchPane(ListPane[SearchRow]):
    """Question and hits at the left; the breakdown and the controls of the ranking at the right.

    It searches while typing. A newer question cancels the search of an older one.
    """

    pane_id: ClassVar = "search"
    BINDINGS = [*bindings_at("search")]
    placeholder = "ask in any words: what does Ada eat?"
    noun, noun_one = "hits", "hit"
    # Needed by keys that are pressed before the pane is mounted.
    result: SearchResult | None = None
    tuning: Tuning | None = None
    # The question and the hit at which the person was warned that a step back empties the question.
    _warned_at: tuple[str, int | None] | None = None
    # The last valid filter that was searched with.
    _valid_filter = ""
    # How many of the hits are below the relevance cutoff.
    _less_likely = 0

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.questions = PinnedQuestions(self)
        self._agents = AgentProfile(self, lambda: self.tuning)
        self.delegates = (
            self.questions, self._agents, MemoryActions(
                self, lambda: self.current, table=lambda: self.table, go_to=lambda rid: self.table.select_key(rid),
                memory_of=memory_of_row,
            ),
            SaveFilterAction(self, lambda: self.hit_filter),
        )  # fmt: skip

    def compose(self) -> ComposeResult:
        use_styles(self.app, "panes.tcss")
        with Vertical(classes="list-side"):
            yield FilterBar(self.placeholder, id="search-filter")
            bar = FilterBar(
                'only in: kind:fact tag:work after:7d -word "exact words"', sign="f", language=True,
                id="hit-filter",
            )  # fmt: skip
            bar.display = False
            yield bar
            yield Static(classes="search-notes")
            table = RowTable(self.columns(), id="search-rows", glyphs=self.shell.glyphs)
            table.painter.ruled = lambda row: row.has_cutoff_line
            yield table
        with Vertical(classes="why-side"):
            yield TextView(id="search-preview")
            yield RankingControls(self.shell.glyphs)

    def columns(self) -> Sequence[Column[SearchRow]]:
        return search_columns(self.shell.glyphs, self.shell.clock)

    def legend(self) -> Sequence[tuple[str, str]]:
        return [
            (
                "less likely",
                "Hits below the line, which are dim, have less than a quarter of the best score; or less than half of it and no"
                " word and no name in common with the question.",
            ),
            (
                "corrects",
                "It corrects or replaces what a hit below says, so it stands before that one with a lower score.",
            ),
            (
                "lifted",
                "In place of a score that is lower than one below it; the breakdown beside the hit has it.",
            ),
            *memory_legend(self.shell.glyphs),
        ]

    # -- parts

    def focus_parts(self) -> list[Widget]:
        return [part for part in (self.table, self.preview, self.ranking_controls) if part.display]

    def on_mount(self) -> None:
        self.profiles: Sequence[Profile] = ()
        # The ranks with the saved profile, and what they are the ranks of.
        self._before: tuple[object, dict[int, int]] | None = None
        self.query_one(".search-notes").display = False

    # -- what is asked, and of what

    @property
    def hit_filter(self) -> FilterBar:
        return self.query_one("#hit-filter", FilterBar)

    @property
    def ranking_controls(self) -> RankingControls:
        return self.query_one(RankingControls)

    @property
    def question(self) -> str:
        return self.filter_bar.value.strip()

    @property
    def whole_filter(self) -> str:
        typed = self.hit_filter.value.strip()
        return f"{typed} {self.tuning.kind_filter if self.tuning is not None else ''}".strip()

    @property
    def current(self) -> MemoryRecord | None:
        row = self.table.selected
        return memory_of_row(row) if row is not None else None

    # -- searching

    def load(self) -> None:
        start_worker(self, self._load_startup_state, "begin")

    async def _load_startup_state(self) -> None:
        key = self.shell.keymap_shown("tune")
        self.ranking_controls.border_title = assemble(
            " ranking ", (f"{self.shell.glyphs.dot} ", ""), (key, "$accent"), " tune "
        )
        await self._read_saved()
        self.show_rows(top=True)
        # A hidden search loads the model and parts of the file, while the first question is typed.
        await self.shell.operations.ask(
            lambda memory: memory.search("first", preview=True, wait=False), slow=True
        )

    async def _read_saved(self) -> None:
        """The profiles and the pinned questions as they are now."""
        profile_name = self.shell.operations.require_memory().options.profile
        self.profiles, self.questions.pinned, results = await self.ask(
            lambda memory: (
                memory.questions.profiles(),
                memory.questions.pinned(),
                memory.questions.results(),
            )
        )
        self.questions.outcomes = {result.question.query_id: result for result in results}
        if self.tuning is None:
            base = next((one for one in self.profiles if one.name == profile_name), self.profiles[0])
            self.tuning = Tuning(base, base)
        self.ranking_controls.show_tuning(self.tuning, self.profiles, self._agents.profile)

    def reload(self) -> None:
        self._before = None
        start_worker(self, self._result_selected, "follow")

    async def _result_selected(self) -> None:
        await self._read_saved()
        self.show_rows(top=False)

    def is_affected_by(self, changes: Changes) -> bool:
        return changes.tables != {"job_runs"}

    def show_rows(self, *, top: bool) -> None:
        if self.tuning is not None:
            start_worker(self, partial(self._start_search, top), "search")

    async def _start_search(self, top: bool) -> None:
        tuning = self.tuning
        if tuning is None:
            return
        question, filter = self.question, self.whole_filter
        self.hit_filter.show_error(None)
        try:
            await self._run_search(question, filter, tuning, top=top)
            if question:
                self._valid_filter = filter
        except FilterError as error:
            self._show_filter_error(error)
            # The hits on screen follow the memory: erased ones must disappear.
            if filter != self._valid_filter:
                await self._run_search(question, self._valid_filter, tuning, top=top)

    async def _run_search(self, question: str, filter: str, tuning: Tuning, *, top: bool) -> None:
        if not question:
            self._show_result(None, None, top=top)
            return
        slow = self.set_timer(_SLOW, partial(self.filter_bar.show_count, "searching"))
        try:
            result = await self.ask(
                lambda memory: memory.search(
                    question, filter=filter, limit=MOST, profile=tuning.profile, wait=False
                )
            )
            if awaits_vector(result):
                slow.stop()
                self._show_result(result, None, top=top)
                result = await self.ask(
                    lambda memory: memory.search(question, filter=filter, limit=MOST, profile=tuning.profile)
                )
                top = top and self.table.cursor == 0
            before = await self._ranks_before(question, filter, tuning.base) if tuning.is_changed else None
        finally:
            slow.stop()
        self._show_result(result, before, top=top)

    def _show_result(self, result: SearchResult | None, before: dict[int, int] | None, *, top: bool) -> None:
        self.result = result
        if result is not None:
            saved = self.questions.pinned_as(self.question, self.whole_filter)
            rows = hit_rows(result, before, saved.expected if saved is not None else ())
        else:
            rows = [
                SearchRow(saved=one, outcome=self.questions.outcomes.get(one.query_id))
                for one in self.questions.pinned
            ]
        self._less_likely = sum(not row.likely for row in rows)
        self.table.markable = result is not None
        self.on_resize()
        self._show_notes()
        self._show_title()
        self.table.show_source(ListSource(rows, row_key), self.shell.operations.readers, top=top)

    async def _ranks_before(self, question: str, filter: str, base: Profile) -> dict[int, int]:
        key = (question, filter, base)
        if self._before is None or self._before[0] != key:
            result = await self.ask(
                lambda memory: memory.search(question, filter=filter, limit=_BEFORE, profile=base)
            )
            self._before = key, {hit.memory.rid: hit.rank for hit in result.hits}
        return self._before[1]

    def _show_filter_error(self, error: FilterError) -> None:
        self.hit_filter.display = True
        self.hit_filter.show_error(error)

    @on(RankingControls.TuningChanged)
    def _tuning_changed(self, event: RankingControls.TuningChanged) -> None:
        self.tuning = event.tuning
        self.show_rows(top=False)

    @on(FilterBar.TypingEnded)
    def _hide_empty_filter(self) -> None:
        if not self.hit_filter.value.strip():
            self.hit_filter.display = False

    @on(RowOpened)
    def _ask_pinned(self, event: RowOpened) -> None:
        saved = self.questions.chosen
        if saved is not None:
            event.prevent_default()
            self.ask_again(saved)

    def ask_again(self, saved: SavedQuery) -> None:
        chosen = next((one for one in self.profiles if one.name == saved.profile), None)
        if chosen is not None:
            self.tuning = Tuning(chosen, chosen)
            self.ranking_controls.show_tuning(self.tuning, self.profiles, self._agents.profile)
        self.hit_filter.set_filter(saved.filter, quiet=True)
        self.hit_filter.display = bool(saved.filter)
        self.filter_bar.set_filter(saved.query)
        self.table.focus()

    # -- texts around the rows

    def on_resize(self) -> None:
        super().on_resize()
        if self.result is None:
            self.table.show_header(False)
        self._fit_lines()

    def _fit_lines(self) -> None:
        """Give the hits two lines each if one line cuts many of their texts."""
        hits = self.result.hits if self.result is not None else ()
        columns = self.columns()
        room = room_for_text(columns, max(self.table.scrollable_content_region.width - GUTTER, 1)) - 2
        cut = sum(len(hit.memory.content) > room for hit in hits)
        lines = 2 if cut > len(hits) * _CUT_IN_ONE_LINE else 1
        if lines != self.table.lines:
            first = search_columns(self.shell.glyphs, self.shell.clock, two_lines=lines == 2)
            below = [rest_columns(first, self.shell.clock)] if lines == 2 else []
            self.table.show_columns(first, below)

    def _show_notes(self) -> None:
        notes = self.query_one(".search-notes", Static)
        lines = self.result.notes if self.result is not None else ()
        notes.display = bool(lines)
        notes.update(content("\n".join(f"! {note}" for note in lines), "$warning"))

    def _show_title(self) -> None:
        side = self.query_one(".list-side")
        if self.result is None or self.tuning is None:
            side.border_title = assemble(" pinned questions " if self.questions.pinned else " search ")
            return
        dot = self.shell.glyphs.dot
        kinds = "" if not self.tuning.kinds else f" {dot} {self.tuning.kind_filter.removeprefix('kind:')}"
        time = (
            "waiting for the question's vector"
            if awaits_vector(self.result)
            else f"{self.result.milliseconds:.0f} ms"
        )
        side.border_title = assemble(
            (f" {self.tuning.name}", "$warning" if self.tuning.is_changed else "$text"),
            f"{kinds} {dot} {time} ",
        )

    def show_count(self, rows: int, exact: bool) -> None:
        if self.result is None:
            self.filter_bar.show_count("")
            self.show_status(f"{plural(rows, 'pinned question')}" if rows else "")
            return
        candidates = self.result.candidates
        number = (
            f"{format_count(rows)} of {format_count(candidates)}" if candidates > rows else format_count(rows)
        )
        self.filter_bar.show_count(number)
        marked = [f"{format_count(len(self.table.marks))} marked"] if self.table.marks else []
        name = self.tuning.name if self.tuning is not None else ""
        number = f"{number} {self.noun}" if rows != 1 else f"{number} {self.noun_one}"
        coming = "waiting for the question's vector" if awaits_vector(self.result) else ""
        unlikely = f"{format_count(self._less_likely)} less likely" if self._less_likely else ""
        parts = [*marked, number, unlikely, coming, self.whole_filter, name]
        self.show_status(f" {self.shell.glyphs.dot} ".join(part for part in parts if part))

    async def empty_text(self, filter: str) -> Content:
        key = self.shell.keymap_shown
        stats = await self.ask(lambda memory: memory.stats())
        if self.result is None:
            # A low window has no room for all of it above the empty preview.
            short = self.screen.has_class("-low") and stats.active > 0
            if short:
                self.preview.show_text(example_questions())
            return empty_question_text(key, stats, short=short)
        return no_hits_text(key, stats, self.result, self.shell.glyphs)

    # -- the breakdown

    def _hit_text(self) -> HitText:
        from memtui.ui.presenters.hit import HitText

        return HitText(
            self.preview.text_width, self.shell.clock(), self.shell.glyphs, self.shell.keymap_shown
        )

    def preview_border_title(self, row: SearchRow) -> Content:
        if row.hit is None:
            return assemble(" a pinned question ")
        glyph = self.shell.glyphs.kinds[row.hit.memory.kind]
        date = local_date(row.hit.memory.event_time, self.shell.clock())
        dot = self.shell.glyphs.dot
        unlikely = "" if row.likely else f"{dot} less likely "
        about = f"{row.hit.memory.kind} {dot} {date} {unlikely}"
        return assemble(f" why #{row.hit.rank} ", (f"{glyph} ", "$accent"), (about, "$text-muted"))

    def quick_preview(self, row: SearchRow) -> Content:
        if row.hit is not None and row.result is not None:
            return self._hit_text().explain_hit(row.hit, row.result)
        return self.questions.text(row.saved, row.outcome) if row.saved is not None else assemble("")

    async def details(self, row: SearchRow) -> Content:

        hit, result = row.hit, row.result
        if hit is None or result is None:
            return self.quick_preview(row)
        memory_id = hit.memory.id
        detail = await self.ask(lambda memory: memory.view.detail(memory_id))
        return self._hit_text().explain_hit(hit, result, detail)

    # -- actions

    @property
    def view_shown(self) -> Hashable:
        return super().view_shown, self.hit_filter.value, self.has_class("-tuning")

    def back(self) -> bool:
        if self.has_class("-tuning") and self.ranking_controls.has_focus:
            self.remove_class("-tuning")
            self.table.focus()
            return True
        if self.table.has_focus and not self.table.marks and self.hit_filter.value.strip():
            self.hit_filter.set_filter("")
            self.hit_filter.display = False
            return True
        here = self.question, self.table.selected_key
        if self._should_warn_of_emptying(here):
            self._warned_at = here
            self.show_message(f"{self.shell.keymap_shown('back')} again empties the question.")
            return True
        self._warned_at = None
        return super().back()

    def _should_warn_of_emptying(self, here: tuple[str, int | None]) -> bool:
        """Whether a step back would empty the question, and the person was not warned at this hit."""
        empties = (
            self.table.has_focus and not self.table.marks and self._zoomed is None and self.question != ""
        )
        return empties and self.result is not None and self._warned_at != here

    @property
    def in_mode(self) -> bool:
        return self.ranking_controls.has_focus or super().in_mode

    def preferred_actions(self) -> Sequence[str]:
        return (
            ("less", "more", "save_profile", "agents_profile", "back")
            if self.ranking_controls.has_focus
            else super().preferred_actions()
        )

    def unavailable_reason(self, action: Action) -> str:
        saved = self.questions.chosen
        if action.id == "pin":
            return (
                "" if saved is not None or self.question else "There is no question to pin: type one first."
            )
        if action.id == "expect" and self.current is None:
            return "Ask something first, then choose the hit that should stay among the first."
        if action.id in ("context", "why_not") and not self.question:
            return "Nothing is asked yet."
        if action.id == "save_profile":
            changed = self.tuning is not None and self.tuning.is_changed
            return (
                ""
                if changed
                else f"The profile is as it was saved. {self.shell.keymap_shown('tune')} changes it."
            )
        if saved is not None and action.id in (
            "correct",
            "confirm",
            "forget",
            "erase",
            "restore",
            "tag",
            "topic",
            "editor",
            "about",
        ):
            return f"This is a pinned question: {self.shell.keymap_shown('open')} asks it."
        return super().unavailable_reason(action)

    def do_query(self) -> None:
        self.type_into(self.filter_bar, anew=True)

    def do_filter_hits(self) -> None:
        self.hit_filter.display = True
        self.type_into(self.hit_filter)

    def do_tune(self) -> None:
        self.add_class("-tuning")
        self.ranking_controls.focus()

    def take_focus(self) -> None:
        """Without a question, focus the input, so that letters are text and not commands.

        In an empty memory nothing can be asked: there the keys that fill it work.
        """
        stats = self.shell.stats
        if self.question or (stats is not None and not stats.active):
            self.do_focus_list()
            return
        self.remove_class("-tuning")
        self.zoom_part(None)
        self.filter_bar.start_typing()

    def do_focus_list(self) -> None:
        self.remove_class("-tuning")
        super().do_focus_list()

    async def do_save_profile(self) -> None:
        from memtui.ui.dialogs.line_input import NameDialog

        tuning = self.tuning
        if tuning is None:
            return
        used_names = [profile.name for profile in self.profiles]
        name = await self.shell.show_dialog(
            NameDialog("Save this way of ranking as", used_names, tuning.base.name)
        )
        if name is None:
            self.show_message("No profile was saved.")
            return
        import msgspec

        profile = msgspec.structs.replace(tuning.profile, name=name)
        await self.change(lambda memory: memory.questions.save_profile(profile), "saving the profile")
        self.tuning = Tuning(profile, profile, tuning.kinds)
        self.reload()

    async def do_context(self) -> None:
        from memtui.ui.dialogs.context import ContextDialog

        question, filter = self.question, self.whole_filter
        profile = self.tuning.profile if self.tuning is not None else None
        block = await self.ask(lambda memory: memory.context(question, filter=filter, profile=profile))

        def leave_dialog(asks_why_not: bool | None) -> None:
            if asks_why_not:
                self._explain_missing(block)

        self.app.push_screen(ContextDialog(block, question, self.current), leave_dialog)

    async def do_why_not(self) -> None:
        self._explain_missing()

    def _explain_missing(self, block: ContextBlock | None = None) -> None:
        """Ask which memory is missed among the hits, or in a context block."""
        from memtui.ui.dialogs.why_not import WhyNotDialog

        if self.tuning is not None:
            best = self.result.best if self.result is not None else 0.0
            base = self.tuning.base.name
            self.app.push_screen(
                WhyNotDialog(
                    self.question,
                    self.whole_filter,
                    self.tuning.profile,
                    best,
                    saved_profile=base,
                    block=block,
                )
            )

    def commands(self) -> Iterator[Command]:
        for saved in self.questions.pinned:
            yield Command(
                f"Question: {saved.query}", "Ask this pinned question.", partial(self.ask_again, saved)
            )
