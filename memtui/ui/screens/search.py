"""Search: a question in any words, what answers it, and why each hit stands where it stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from memtui.engine.errors import FilterError
from memtui.ui.actions import Action
from memtui.ui.format import count, plural
from memtui.ui.keymap import bindings_at
from memtui.ui.late_styles import use_styles
from memtui.ui.perform import start
from memtui.ui.ranking_knobs import Tuning
from memtui.ui.safe import assemble, content
from memtui.ui.search_rows import RowsInHand, SearchRow, hit_rows, search_columns
from memtui.ui.widgets.columns import Column
from memtui.ui.widgets.filter_bar import FilterBar
from memtui.ui.widgets.knobs import Knobs
from memtui.ui.widgets.row_events import RowOpened
from memtui.ui.widgets.row_table import RowTable
from memtui.ui.widgets.text_view import TextView

from .list_pane import HEADER_FROM
from .memory_verbs import MemoryVerbs
from .pane import Command
from .search_empty import nothing_asked, nothing_found

if TYPE_CHECKING:
    from memtui.engine.records import Changes, MemoryRecord, Profile, SearchResult
    from memtui.engine.store.saved_queries import SavedQuery
    from memtui.ui.widgets.hit_view import HitText

# So many hits are listed; an agent gets the first few of them.
MOST = 100
# The ranks of the saved profile are known that far.
_BEFORE = 400
# A search that takes longer is said to be running.
_SLOW = 0.3


class SearchPane(MemoryVerbs[SearchRow]):
    """Question and hits at the left; the breakdown and the controls of the ranking at the right."""

    place: ClassVar = "search"
    BINDINGS = [*bindings_at("search")]
    placeholder = "ask in any words: what does Ada eat?"
    noun, noun_one = "hits", "hit"

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
            yield RowTable(self.columns(), id="search-rows", glyphs=self.shell.glyphs)
        with Vertical(classes="why-side"):
            yield TextView(id="search-preview")
            yield Knobs(self.shell.glyphs)

    def on_mount(self) -> None:
        self.result: SearchResult | None = None
        self.tuning: Tuning | None = None
        self._profiles: Sequence[Profile] = ()
        self._pinned: Sequence[SavedQuery] = ()
        # The ranks with the saved profile, and what they are the ranks of.
        self._before: tuple[object, dict[int, int]] | None = None
        self.query_one(".search-notes").display = False

    def columns(self) -> Sequence[Column[SearchRow]]:
        return search_columns(self.shell.glyphs, self.shell.clock)

    # -- parts

    @property
    def hit_filter(self) -> FilterBar:
        return self.query_one("#hit-filter", FilterBar)

    @property
    def knobs(self) -> Knobs:
        return self.query_one(Knobs)

    @property
    def asked(self) -> str:
        return self.filter_bar.value.strip()

    def parts(self) -> list[Widget]:
        return [part for part in (self.table, self.preview, self.knobs) if part.display]

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

    @property
    def whole_filter(self) -> str:
        typed = self.hit_filter.value.strip()
        return f"{typed} {self.tuning.kind_filter if self.tuning is not None else ''}".strip()

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

    async def _read_kept(self) -> None:
        """The profiles and the pinned questions as they are now."""
        wanted = self.shell.operations.require().options.profile
        self._profiles = await self.ask(lambda memory: memory.questions.profiles())
        self._pinned = await self.ask(lambda memory: memory.questions.pinned())
        if self.tuning is None:
            base = next((one for one in self._profiles if one.name == wanted), self._profiles[0])
            self.tuning = Tuning(base, base)
        self.knobs.show(self.tuning, self._profiles)

    def reload(self) -> None:
        self._before = None
        start(self, self._follow, "follow")

    async def _follow(self) -> None:
        await self._read_kept()
        self.show_rows(top=False)

    def show_rows(self, *, top: bool) -> None:
        if self.tuning is not None:
            start(self, partial(self._search, top), "search")

    async def _search(self, top: bool) -> None:
        tuning = self.tuning
        if tuning is None:
            return
        asked, filter = self.asked, self.whole_filter
        self.hit_filter.show_error(None)
        result = None
        before = None
        if asked:
            slow = self.set_timer(_SLOW, partial(self.filter_bar.show_count, "searching"))
            try:
                result = await self.ask(
                    lambda memory: memory.search(asked, filter=filter, limit=MOST, profile=tuning.profile)
                )
                if tuning.changed:
                    before = await self._ranks_before(asked, filter, tuning.base)
            except FilterError as error:
                self._show_filter_error(error)
                return
            finally:
                slow.stop()
        self.result = result
        rows = (
            hit_rows(result, before) if result is not None else [SearchRow(saved=one) for one in self._pinned]
        )
        self.table.markable = result is not None
        self.on_resize()
        self._show_notes()
        self._show_title()
        self.table.show(RowsInHand(rows), self.shell.operations.readers, top=top)

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

    def concerned(self, changes: Changes) -> bool:
        return changes.tables != {"job_runs"}

    def on_resize(self) -> None:
        hits = self.result is not None
        self.table.show_header(hits and self.table.size.height >= HEADER_FROM)

    # -- what is told beside the rows

    def _show_notes(self) -> None:
        notes = self.query_one(".search-notes", Static)
        told = self.result.notes if self.result is not None else ()
        notes.display = bool(told)
        notes.update(content("\n".join(f"! {note}" for note in told), "$warning"))

    def _show_title(self) -> None:
        side = self.query_one(".list-side")
        if self.result is None or self.tuning is None:
            side.border_title = assemble(" pinned questions " if self._pinned else " ")
            return
        dot = self.shell.glyphs.dot
        kinds = "" if not self.tuning.kinds else f" {dot} {self.tuning.kind_filter.removeprefix('kind:')}"
        time = f"{self.result.milliseconds:.0f} ms"
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
        parts = [*marked, told, self.whole_filter, name]
        self.tell(f" {self.shell.glyphs.dot} ".join(part for part in parts if part))

    async def empty_text(self, filter: str) -> Content:
        key = self.shell.keymap_shown
        stats = await self.ask(lambda memory: memory.stats())
        if self.result is None:
            return nothing_asked(key, stats)
        return nothing_found(key, stats, self.result, self.shell.glyphs)

    # -- the breakdown

    def _text(self) -> HitText:
        from memtui.ui.widgets.hit_view import HitText

        return HitText(self.preview.text_width, self.shell.clock(), self.shell.glyphs)

    def preview_title(self, row: SearchRow) -> Content:
        if row.hit is None:
            return assemble(" a pinned question ")
        sign = self.shell.glyphs.kinds[row.hit.memory.kind]
        return assemble(
            f" why #{row.hit.rank} ", (f"{sign} ", "$accent"), (f"{row.hit.memory.kind} ", "$text-muted")
        )

    def glance(self, row: SearchRow) -> Content:
        if row.hit is not None and self.result is not None:
            return self._text().hit(row.hit, self.result)
        return self._about_question(row.saved) if row.saved is not None else assemble("")

    async def details(self, row: SearchRow) -> Content:
        from memtui.ui.detail import gather

        hit, result = row.hit, self.result
        if hit is None or result is None:
            return self.glance(row)
        identity = hit.memory.id
        detail = await self.ask(lambda memory: gather(memory, identity))
        return self._text().hit(hit, result, detail)

    def _about_question(self, saved: SavedQuery) -> Content:
        key = self.shell.keymap_shown
        parts: list[Content | str | tuple[str, str]] = [(saved.query, "bold"), "\n\n"]
        if saved.filter:
            parts += [("only in  ", "$text-muted"), saved.filter, "\n"]
        if saved.profile:
            parts += [("profile  ", "$text-muted"), saved.profile, "\n"]
        parts += [
            "\n",
            (key("open"), "bold $accent"),
            "  ask it\n",
            (key("pin"), "bold $accent"),
            "  keep it no longer",
        ]
        return assemble(*parts)

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
        if action.id in ("context", "why_not") and not self.asked:
            return "Nothing is asked yet."
        if action.id == "save_profile":
            changed = self.tuning is not None and self.tuning.changed
            return (
                ""
                if changed
                else f"The profile is as it was saved. {self.shell.keymap_shown('tune')} changes it."
            )
        if saved is not None and action.id in (
            "correct",
            "confirm",
            "forget",
            "restore",
            "tag",
            "editor",
            "about",
        ):
            return f"This is a pinned question: {self.shell.keymap_shown('open')} asks it."
        return super().why_not(action)

    @on(RowOpened)
    def _ask_pinned(self, event: RowOpened) -> None:
        saved = self.chosen_question
        if saved is not None:
            event.prevent_default()
            self._ask_again(saved)

    def _ask_again(self, saved: SavedQuery) -> None:
        chosen = next((one for one in self._profiles if one.name == saved.profile), None)
        if chosen is not None:
            self.tuning = Tuning(chosen, chosen)
            self.knobs.show(self.tuning, self._profiles)
        self.hit_filter.set_value(saved.filter, quiet=True)
        self.hit_filter.display = bool(saved.filter)
        self.filter_bar.set_value(saved.query)
        self.table.focus()

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

    async def do_pin(self) -> None:
        saved = self.chosen_question
        asked, filter = self.asked, self.whole_filter
        if saved is None:
            saved = next((one for one in self._pinned if (one.query, one.filter) == (asked, filter)), None)
        if saved is not None:
            query_id = saved.query_id
            await self.change(lambda memory: memory.questions.unpin(query_id), "unpinning")
            return
        profile = self.tuning.base.name if self.tuning is not None else None
        await self.change(
            lambda memory: memory.questions.pin(asked, filter=filter, profile=profile), "pinning"
        )

    async def do_save_profile(self) -> None:
        from .name import NameDialog

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
        from .context import ContextDialog

        asked, filter = self.asked, self.whole_filter
        profile = self.tuning.profile if self.tuning is not None else None
        told = await self.ask(lambda memory: memory.context(asked, filter=filter, profile=profile))
        self.app.push_screen(ContextDialog(told, asked))

    async def do_why_not(self) -> None:
        from .why_not import WhyNotDialog

        if self.tuning is not None:
            best = self.result.hits[0].score if self.result is not None and self.result.hits else 0.0
            self.app.push_screen(WhyNotDialog(self.asked, self.whole_filter, self.tuning.profile, best))

    async def do_about(self) -> None:
        memory = self.current
        if memory is None:
            return
        identity = memory.id
        names = [
            one.canonical_name for one in await self.ask(lambda engine: engine.view.entities_of(identity))
        ]
        if not names:
            self.say("No person or thing is known in this one.", "warning")
            return
        await self.shell.show_about(names)

    def commands(self) -> Iterator[Command]:
        for saved in self._pinned:
            yield Command(
                f"Question: {saved.query}", "Ask this pinned question.", partial(self._ask_again, saved)
            )
