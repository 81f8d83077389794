"""The left half of Search: a question and a filter go in, hits come out, beside them what is worth knowing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual import on
from textual.content import Content
from textual.widgets import Static

from memtui.engine.errors import FilterError
from memtui.ui.format import count, plural
from memtui.ui.panes.memory_actions import MemoryVerbs
from memtui.ui.perform import start
from memtui.ui.presenters.hit_rows import SearchRow, hit_rows, row_key
from memtui.ui.safe import assemble, content
from memtui.ui.widgets.filter_bar import FilterBar
from memtui.ui.widgets.list_source import ListSource

from .empty import examples, nothing_asked, nothing_found
from .knobs import Knobs
from .ranking import Tuning

if TYPE_CHECKING:
    from memtui.engine.records import Changes, MemoryRecord, Profile, SearchResult
    from memtui.engine.store.saved_queries import QuestionResult, SavedQuery

# So many hits are listed; an agent gets the first few of them.
MOST = 100
# The ranks of the saved profile are known that far.
_BEFORE = 400
# A search that takes longer is said to be running.
_SLOW = 0.3


def is_coming(result: SearchResult) -> bool:
    """Whether these are the words and names alone, while a network is asked for the question's vector."""
    return any(arm.state == "coming" for arm in result.arms)


class Asking(MemoryVerbs[SearchRow]):
    """Searches while one types, exclusively: what a newer question overtakes is dropped."""

    noun, noun_one = "hits", "hit"
    # Asked for by keys that come before the pane is mounted.
    result: SearchResult | None = None
    tuning: Tuning | None = None
    # The last filter without a mistake that hits were found with.
    _valid_filter = ""

    def on_mount(self) -> None:
        self._profiles: Sequence[Profile] = ()
        self._pinned: Sequence[SavedQuery] = ()
        self._fared: dict[int, QuestionResult] = {}
        # The ranks with the saved profile, and what they are the ranks of.
        self._before: tuple[object, dict[int, int]] | None = None
        self.query_one(".search-notes").display = False

    # -- what is asked, and of what

    @property
    def hit_filter(self) -> FilterBar:
        return self.query_one("#hit-filter", FilterBar)

    @property
    def knobs(self) -> Knobs:
        return self.query_one(Knobs)

    @property
    def asked(self) -> str:
        return self.filter_bar.value.strip()

    @property
    def whole_filter(self) -> str:
        typed = self.hit_filter.value.strip()
        return f"{typed} {self.tuning.kind_filter if self.tuning is not None else ''}".strip()

    def memory_of(self, row: SearchRow) -> MemoryRecord:
        assert row.hit is not None
        return row.hit.memory

    @property
    def current(self) -> MemoryRecord | None:
        row = self.table.selected
        return row.hit.memory if row is not None and row.hit is not None else None

    @property
    def chosen_question(self) -> SavedQuery | None:
        """The pinned question under the cursor."""
        row = self.table.selected
        return None if row is None else row.saved

    def pinned_as(self, query: str, filter: str) -> SavedQuery | None:
        """The pinned question that asks this."""
        words = " ".join(query.split())
        return next((one for one in self._pinned if (one.query, one.filter) == (words, filter)), None)

    @property
    def agents_profile(self) -> str:
        """The name of the profile that agents rank by."""
        if self.shell.configuration is not None:
            return self.shell.configuration.settings.search.profile
        return self.shell.operations.require().options.profile

    # -- searching

    def load(self) -> None:
        start(self, self._begin, "begin")

    async def _begin(self) -> None:
        key = self.shell.keymap_shown("tune")
        self.knobs.border_title = assemble(
            " ranking ", (f"{self.shell.glyphs.dot} ", ""), (key, "$accent"), " tune "
        )
        await self._read_kept()
        self.show_rows(top=True)
        # A search that nobody sees loads the model and what is read of the file, while the first question is typed.
        await self.shell.operations.ask(
            lambda memory: memory.search("first", preview=True, wait=False), slow=True
        )

    async def _read_kept(self) -> None:
        """The profiles and the pinned questions as they are now."""
        wanted = self.shell.operations.require().options.profile
        self._profiles, self._pinned, results = await self.ask(
            lambda memory: (
                memory.questions.profiles(),
                memory.questions.pinned(),
                memory.questions.results(),
            )
        )
        self._fared = {result.question.query_id: result for result in results}
        if self.tuning is None:
            base = next((one for one in self._profiles if one.name == wanted), self._profiles[0])
            self.tuning = Tuning(base, base)
        self.knobs.show(self.tuning, self._profiles, self.agents_profile)

    def reload(self) -> None:
        self._before = None
        start(self, self._follow, "follow")

    async def _follow(self) -> None:
        await self._read_kept()
        self.show_rows(top=False)

    def concerned(self, changes: Changes) -> bool:
        return changes.tables != {"job_runs"}

    def show_rows(self, *, top: bool) -> None:
        if self.tuning is not None:
            start(self, partial(self._search, top), "search")

    async def _search(self, top: bool) -> None:
        tuning = self.tuning
        if tuning is None:
            return
        asked, filter = self.asked, self.whole_filter
        self.hit_filter.show_error(None)
        try:
            await self._search_with(asked, filter, tuning, top=top)
            if asked:
                self._valid_filter = filter
        except FilterError as error:
            self._show_filter_error(error)
            # The hits on screen go on following the memory: what is erased must go.
            if filter != self._valid_filter:
                await self._search_with(asked, self._valid_filter, tuning, top=top)

    async def _search_with(self, asked: str, filter: str, tuning: Tuning, *, top: bool) -> None:
        if not asked:
            self._show_result(None, None, top=top)
            return
        slow = self.set_timer(_SLOW, partial(self.filter_bar.show_count, "searching"))
        try:
            result = await self.ask(
                lambda memory: memory.search(
                    asked, filter=filter, limit=MOST, profile=tuning.profile, wait=False
                )
            )
            if is_coming(result):
                slow.stop()
                self._show_result(result, None, top=top)
                result = await self.ask(
                    lambda memory: memory.search(asked, filter=filter, limit=MOST, profile=tuning.profile)
                )
                top = top and self.table.cursor == 0
            before = await self._ranks_before(asked, filter, tuning.base) if tuning.changed else None
        finally:
            slow.stop()
        self._show_result(result, before, top=top)

    def _show_result(self, result: SearchResult | None, before: dict[int, int] | None, *, top: bool) -> None:
        self.result = result
        if result is not None:
            saved = self.pinned_as(self.asked, self.whole_filter)
            rows = hit_rows(result, before, saved.expected if saved is not None else ())
        else:
            rows = [SearchRow(saved=one, fared=self._fared.get(one.query_id)) for one in self._pinned]
        self.table.markable = result is not None
        self.on_resize()
        self._show_notes()
        self._show_title()
        self.table.show(ListSource(rows, row_key), self.shell.operations.readers, top=top)

    async def _ranks_before(self, asked: str, filter: str, base: Profile) -> dict[int, int]:
        wanted = (asked, filter, base)
        if self._before is None or self._before[0] != wanted:
            result = await self.ask(
                lambda memory: memory.search(asked, filter=filter, limit=_BEFORE, profile=base)
            )
            self._before = wanted, {hit.memory.rid: hit.rank for hit in result.hits}
        return self._before[1]

    def _show_filter_error(self, error: FilterError) -> None:
        self.hit_filter.display = True
        self.hit_filter.show_error(error)

    @on(Knobs.Turned)
    def _turned(self, event: Knobs.Turned) -> None:
        self.tuning = event.tuning
        self.show_rows(top=False)

    @on(FilterBar.Left)
    def _hide_empty_filter(self) -> None:
        if not self.hit_filter.value.strip():
            self.hit_filter.display = False

    # -- what is told beside the rows

    def on_resize(self) -> None:
        super().on_resize()
        if self.result is None:
            self.table.show_header(False)

    def _show_notes(self) -> None:
        notes = self.query_one(".search-notes", Static)
        told = self.result.notes if self.result is not None else ()
        notes.display = bool(told)
        notes.update(content("\n".join(f"! {note}" for note in told), "$warning"))

    def _show_title(self) -> None:
        side = self.query_one(".list-side")
        if self.result is None or self.tuning is None:
            side.border_title = assemble(" pinned questions " if self._pinned else " search ")
            return
        dot = self.shell.glyphs.dot
        kinds = "" if not self.tuning.kinds else f" {dot} {self.tuning.kind_filter.removeprefix('kind:')}"
        time = "the vector arm is coming" if is_coming(self.result) else f"{self.result.milliseconds:.0f} ms"
        side.border_title = assemble(
            (f" {self.tuning.name}", "$warning" if self.tuning.changed else "$text"), f"{kinds} {dot} {time} "
        )

    def show_count(self, rows: int, exact: bool) -> None:
        if self.result is None:
            self.filter_bar.show_count("")
            self.tell(f"{plural(rows, 'pinned question')}" if rows else "")
            return
        found = self.result.candidates
        told = f"{count(rows)} of {count(found)}" if found > rows else count(rows)
        self.filter_bar.show_count(told)
        marked = [f"{count(len(self.table.marks))} marked"] if self.table.marks else []
        name = self.tuning.name if self.tuning is not None else ""
        told = f"{told} {self.noun}" if rows != 1 else f"{told} {self.noun_one}"
        coming = "the vector arm is coming" if is_coming(self.result) else ""
        parts = [*marked, told, coming, self.whole_filter, name]
        self.tell(f" {self.shell.glyphs.dot} ".join(part for part in parts if part))

    async def empty_text(self, filter: str) -> Content:
        key = self.shell.keymap_shown
        stats = await self.ask(lambda memory: memory.stats())
        if self.result is None:
            # A low window has no room for all of it above the preview, which is empty.
            short = self.screen.has_class("-low") and stats.active > 0
            if short:
                self.preview.show(examples())
            return nothing_asked(key, stats, short=short)
        return nothing_found(key, stats, self.result, self.shell.glyphs)
