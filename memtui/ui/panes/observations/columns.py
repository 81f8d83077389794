"""Findings, insights and lessons in three lists, by time. A query ranks each list."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from memtui.present.format import format_count, relative_time
from memtui.present.memory import confidence_text
from memtui.present.text import VisibleText, one_line, visible_text
from memtui.ui.action_dispatch import start_worker
from memtui.ui.actions import Action
from memtui.ui.keymap import bindings_at
from memtui.ui.messages import PaneStatus
from memtui.ui.panes.entity_links import NOBODY
from memtui.ui.panes.list_pane import ListPane
from memtui.ui.panes.memory_actions import MemoryActions, memory_legend
from memtui.ui.panes.unknown_terms import unknown_term_note
from memtui.ui.presenters.memory_rows import MemorySource
from memtui.ui.presenters.text_layout import wrap_text
from memtui.ui.row_source import ListSource
from memtui.ui.safe import assemble
from memtui.ui.widgets.columns import Column, StyledText
from memtui.ui.widgets.filter_bar import FilterBar
from memtui.ui.widgets.row_table import RowHighlighted, RowsCounted, RowTable
from memtui.ui.widgets.text_view import TextView

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import Category, MemoryRecord
    from memtui.engine.search.observations import ObservationHit
    from memtui.present.glyphs import Glyphs
    from memtui.ui.presenters.memory_text import MemoryText


CATEGORIES: tuple[Category, ...] = ("finding", "insight", "lesson")
BAR = 4
_READ = 400
_RECALLED = 1_000
_NEWEST = ("time", True)


class ObservationRow(NamedTuple):
    """An observation and the names in it; with a query, its hit and the best score of all."""

    memory: MemoryRecord
    entities: tuple[str, ...]
    hit: ObservationHit | None = None
    best: float = 1.0


class RecallResult:
    """The hits of one query, for all three lists. It is searched once, by the first thread that needs it."""

    def __init__(self, memory: Memory, query: str) -> None:
        self._memory = memory
        self._query = query
        self._lock = threading.Lock()
        self._rows: tuple[ObservationRow, ...] | None = None

    @property
    def best_category(self) -> Category | None:
        """The category of the best hit. None if nothing was searched or found."""
        return self._rows[0].memory.category if self._rows else None

    def rows(self) -> tuple[ObservationRow, ...]:
        """The best first."""
        with self._lock:
            if self._rows is None:
                hits = self._memory.observations.recall(self._query, limit=_RECALLED, preview=True)
                names = self._memory.view.entity_names([hit.memory.rid for hit in hits])
                best = hits[0].score if hits else 1.0
                self._rows = tuple(
                    ObservationRow(hit.memory, names.get(hit.memory.rid, ()), hit, best) for hit in hits
                )
            return self._rows


class ObservationSource:
    """The observations of a category: the hits of a ``recall``, or all, the newest first (see ``row_source``)."""

    def __init__(self, memory: Memory, category: Category, recall: RecallResult | None) -> None:
        self._category = category
        self._recall = recall
        self._all = MemorySource(memory, f"kind:observation category:{category}", _NEWEST)

    def count(self) -> int:
        return self._all.count() if self._recall is None else self._rows_of_recall(self._recall).count()

    def page_rows(self, offset: int, limit: int) -> Sequence[ObservationRow]:
        if self._recall is not None:
            return self._rows_of_recall(self._recall).page_rows(offset, limit)
        return [ObservationRow(row.memory, row.entities) for row in self._all.page_rows(offset, limit)]

    def row_keys(self) -> Iterator[Sequence[int]]:
        return self._all.row_keys() if self._recall is None else self._rows_of_recall(self._recall).row_keys()

    def rows_by_key(self, keys: Sequence[int]) -> Sequence[ObservationRow]:
        if self._recall is not None:
            return self._rows_of_recall(self._recall).rows_by_key(keys)
        return [ObservationRow(row.memory, row.entities) for row in self._all.rows_by_key(keys)]

    def row_key(self, row: ObservationRow) -> int:
        return row.memory.rid

    def _rows_of_recall(self, recall: RecallResult) -> ListSource[ObservationRow]:
        return ListSource(
            [row for row in recall.rows() if row.memory.category == self._category], self.row_key
        )


class ObservationLines:
    """The columns of a row: in one line, or in three if there is room.

    ``searched``: it shows its score as bar and number, otherwise its age.
    """

    def __init__(self, glyphs: Glyphs, now: Callable[[], float], *, searched: bool, tall: bool) -> None:
        self._glyphs = glyphs
        self._now = now
        last = (
            Column("score", "", self._score_cell, width=BAR + 4, right=True, gap=1)
            if searched
            else Column("age", "", self._age_cell, width=4, right=True, gap=1, drop=1)
        )
        text = Column("text", "", self._text_cell, least=16)
        source = Column("source", "", self._source_cell, width=18, drop=2)
        self._room = 0
        self.first: list[Column[ObservationRow]] = [text, last] if tall else [text, source, last]
        self.below: list[list[Column[ObservationRow]]] = (
            [[Column("rest", "", self._further_lines)], [Column("source", "", self._source_line)]]
            if tall
            else []
        )
        self._tall = tall

    def _text_cell(self, row: ObservationRow, width: int) -> Iterable[StyledText]:
        if row.memory.protected:
            yield StyledText(visible_text(f"{self._glyphs.protected} "), "success")
        self._room = width
        yield StyledText(self._wrapped_text(row)[0] if self._tall else one_line(row.memory.content, width))

    def _further_lines(self, row: ObservationRow, width: int) -> Iterable[StyledText]:
        rest = self._wrapped_text(row)[1:]
        if rest:
            yield StyledText(one_line(" ".join(rest), width))
        else:
            yield from self._source_cell(row, width)

    def _wrapped_text(self, row: ObservationRow) -> list[VisibleText]:
        """The text in lines; the first one leaves room for score or age."""
        indent = 2 if row.memory.protected else 0
        text = one_line(row.memory.content, _READ)
        return wrap_text(text, max(self._room - indent, 8)) or [VisibleText("")]

    def _source_cell(self, row: ObservationRow, width: int) -> Iterable[StyledText]:
        yield StyledText(one_line(row.memory.source or "", width), "dim")

    def _source_line(self, row: ObservationRow, width: int) -> Iterable[StyledText]:
        """The source, unless it is already beside a short text."""
        if len(self._wrapped_text(row)) > 1:
            yield from self._source_cell(row, width)

    def _age_cell(self, row: ObservationRow, width: int) -> Iterable[StyledText]:
        yield StyledText(relative_time(row.memory.event_time, self._now()), "dim")

    def _score_cell(self, row: ObservationRow, width: int) -> Iterable[StyledText]:
        if row.hit is not None:
            filled = max(1, round(BAR * row.hit.score / row.best))
            yield StyledText(visible_text(self._glyphs.bar * filled), "keyword")
            yield StyledText(visible_text(self._glyphs.empty * (BAR - filled)), "faint")
            yield StyledText(VisibleText(" "))
            yield StyledText(confidence_text(row.hit.score), "dim")


# From this width on there is room for three lists.
THREE_FROM = 100
# From this height on each row has three lines.
TALL_FROM = 30
_ID = "observations-"
_ONE = {"finding": "a finding", "insight": "an insight", "lesson": "a lesson"}


class ObservationColumns(ListPane[ObservationRow]):
    """Three lists. Actions and the preview use the one with the cursor."""

    pane_id: ClassVar = "observations"
    BINDINGS = [*bindings_at("observations")]
    placeholder = "recall by words: rate limit"
    noun, noun_one = "observations", "observation"
    header_from = 1_000  # they are named in their frames
    status = ""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.delegates = (
            MemoryActions(
                self,
                lambda: self.current,
                table=lambda: self.table,
                go_to=lambda rid: self.table.select_key(rid),
            ),
        )
        self._category: Category = "finding"
        self._counts: dict[Category, int] = dict.fromkeys(CATEGORIES, 0)
        self._counted_once: set[Category] = set()
        self._recall: RecallResult | None = None
        # Whether the cursor should go to the best hit when it is known.
        self._to_best = False
        self._fitted = Size(0, 0)

    def compose(self) -> ComposeResult:
        with Vertical(classes="list-side"):
            yield FilterBar(self.placeholder, id="observations-filter")
            with Horizontal(classes="columns"):
                for category in CATEGORIES:
                    table = RowTable(self.columns(), id=f"{_ID}{category}", glyphs=self.shell.glyphs)
                    table.set_class(category == self._category, "-here")
                    yield table
        yield TextView(id="observations-preview")

    def columns(self) -> Sequence[Column[ObservationRow]]:
        return self._row_lines(tall=False).first

    def _row_lines(self, *, tall: bool) -> ObservationLines:
        return ObservationLines(
            self.shell.glyphs, self.shell.clock, searched=self._recall is not None, tall=tall
        )

    def _update_columns(self) -> None:
        """Draw rows with one line or three, with score or age."""
        tall = self.has_class("-three") and self.app.size.height >= TALL_FROM
        for category in CATEGORIES:
            lines = self._row_lines(tall=tall)
            self.list_of_category(category).show_columns(lines.first, lines.below)

    @property
    def current(self) -> MemoryRecord | None:
        """The observation under the cursor."""
        row = self.table.selected
        return None if row is None else row.memory

    def legend(self) -> Sequence[tuple[str, str]]:
        return memory_legend(self.shell.glyphs)

    # -- three lists

    def list_of_category(self, category: Category) -> RowTable[ObservationRow]:
        return self.query_one(f"#{_ID}{category}", RowTable)

    @property
    def table(self) -> RowTable[ObservationRow]:
        return self.list_of_category(self._category)

    def focus_parts(self) -> list[Widget]:
        lists = [self.list_of_category(category) for category in CATEGORIES]
        return [part for part in (*lists, self.preview) if part.display]

    def go_to(self, category: Category) -> None:
        """Make this the current list. If only one list is shown, show this one."""
        if category == self._category:
            return
        for one in CATEGORIES:
            self.list_of_category(one).set_class(one == category, "-here")
        self._category = category
        self.show_selected()
        self._show_counts()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        category = next((one for one in CATEGORIES if event.widget is self.list_of_category(one)), None)
        if category is not None:
            self.go_to(category)
            self.shell.refresh_keys()

    def do_focus_list(self) -> None:
        """Go from the preview to the list, or from a list to the one at its left."""
        if self.table.has_focus and (at := CATEGORIES.index(self._category)):
            self.go_to(CATEGORIES[at - 1])
        super().do_focus_list()

    def do_focus_preview(self) -> None:
        """Go to the list at the right, and after the last one to the preview."""
        at = CATEGORIES.index(self._category)
        if self.table.has_focus and at + 1 < len(CATEGORIES):
            self.go_to(CATEGORIES[at + 1])
            self.table.focus()
        else:
            super().do_focus_preview()

    # -- rows

    def show_rows(self, *, top: bool) -> None:
        memory = self.shell.operations.memory
        if memory is None:
            return
        searched = self._recall is not None
        self._recall = RecallResult(memory, self.filter_text) if self.filter_text else None
        self._counted_once.clear()
        if searched != (self._recall is not None):
            self._update_columns()
        for category in CATEGORIES:
            source = ObservationSource(memory, category, self._recall)
            self.list_of_category(category).show_source(source, self.shell.operations.readers, top=top)

    @on(FilterBar.Typed)
    def _query_typed(self) -> None:
        self._to_best = True

    @on(RowHighlighted)
    def _clear_other_cursors(self, event: RowHighlighted) -> None:
        if event.table != self.table.id:
            event.prevent_default()

    @on(RowsCounted)
    def _show_list_count(self, event: RowsCounted) -> None:
        event.prevent_default()
        category = next(one for one in CATEGORIES if f"{_ID}{one}" == event.table)
        self._counts[category] = event.count
        if event.exact:
            self._counted_once.add(category)
        if self._to_best and self._recall is not None and self._recall.best_category:
            self._to_best = False
            self.go_to(self._recall.best_category)
            if isinstance(self.screen.focused, RowTable):
                self.table.focus()
        self._show_counts()

    def _show_counts(self) -> None:
        """Show the count of each list in its title, the total in the status line, and a note in empty lists."""
        self._name_lists()
        total = sum(self._counts.values())
        self.filter_bar.show_count(format_count(total))
        marks = len(self.table.marks)
        parts = [f"{format_count(marks)} marked"] if marks else []
        parts += [f"{format_count(total)} {self.noun_one if total == 1 else self.noun}", self.filter_text]
        self.show_status(f" {self.shell.glyphs.dot} ".join(part for part in parts if part))
        seen = total if self.has_class("-three") else self._counts[self._category]
        if seen == 0 and len(self._counted_once) == len(CATEGORIES):
            start_worker(self, self._explain_empty, "note")
        else:
            self.workers.cancel_group(self, "note")
            self.show_note(None)

    def show_count(self, rows: int, exact: bool) -> None:
        self._show_counts()

    def show_status(self, text: str) -> None:
        self.status = text
        if self.display:
            self.post_message(PaneStatus("observations", text))

    def _name_lists(self) -> None:
        """Title each list. If only one is shown, its title also names the others, as tabs."""
        three = self.has_class("-three")
        for category in CATEGORIES:
            names = (category,) if three else CATEGORIES
            parts: list[Content | str | tuple[str, str]] = []
            for one in names:
                here = one == self._category
                parts += [
                    (f" {one}s ", "bold $text" if here else "$text-muted"),
                    (format_count(self._counts[one]), "$accent" if here else "$text-muted"), " ",
                ]  # fmt: skip
            self.list_of_category(category).border_title = assemble(*parts)

    def on_mount(self) -> None:
        self._fit_lists()
        for category in CATEGORIES:
            self.list_of_category(category).show_header(False)

    def on_resize(self) -> None:
        self._fit_lists()

    def _fit_lists(self) -> None:
        size = self.app.size
        if size != self._fitted:
            self._fitted = size
            self.set_class(size.width >= THREE_FROM, "-three")
            self._name_lists()
            self._update_columns()

    # -- preview

    def _preview_text(self) -> MemoryText:
        from memtui.ui.presenters.memory_text import MemoryText

        return MemoryText(
            self.preview.text_width, self.shell.clock(), self.shell.glyphs, self.shell.keymap_shown
        )

    def preview_border_title(self, row: ObservationRow) -> Content:
        source = (
            f"{self.shell.glyphs.dot} {one_line(row.memory.source or '', 40)} " if row.memory.source else ""
        )
        return assemble(self._preview_text().title(row.memory), (source, "$text-muted"))

    def quick_preview(self, row: ObservationRow) -> Content:
        return assemble(self._explain_match(row), self._preview_text().quick_preview(row.memory))

    async def details(self, row: ObservationRow) -> Content:

        memory_id = row.memory.id
        detail = await self.ask(lambda memory: memory.view.detail(memory_id))
        return assemble(self._explain_match(row), self._preview_text().full_text(detail))

    def _explain_match(self, row: ObservationRow) -> Content:
        """Why it matches the query: its score, the shares of the score, the words that match."""
        hit = row.hit
        if hit is None:
            return assemble("")
        return assemble(
            ("score ", "$text-muted"), (f"{hit.score:.3f}", "bold $keyword"),
            (f"  from BM25 {hit.bm25:.2f}", "$text-muted"),
            (f"  {self.shell.glyphs.dot} ", "$text-muted"), (", ".join(hit.matched), "$keyword"), "\n\n",
        )  # fmt: skip

    # -- when there is nothing to show

    async def empty_text(self, filter: str) -> Content:
        key = self.shell.keymap_shown
        these = self.noun if self.has_class("-three") else f"{self._category}s"
        if filter:
            return assemble(
                (f"No {these} have these words.\n\n", "bold"), unknown_term_note(filter),
                (key("back"), "bold $accent"), "  clear the query\n",
                (key("pane_search"), "bold $accent"), "  search everything, by meaning too",
            )  # fmt: skip
        return assemble(
            (f"No {these} yet.\n\n", "bold"),
            "Agents note here what they learn while they work: findings (facts they discovered), insights "
            "(conclusions), lessons (advice for the next time).\n\n",
            (key("add"), "bold $accent"), f"  write down {_ONE[self._category]} yourself\n",
            (key("pane_sessions"), "bold $accent"), "  draw some from a conversation\n",
            (key("scratchpad"), "bold $accent"), "  look at the scratchpad",
        )  # fmt: skip

    # -- actions

    def unavailable_reason(self, action: Action) -> str:
        if action.id == "about" and (row := self.table.selected) is not None and not row.entities:
            return NOBODY
        return super().unavailable_reason(action)

    def do_query(self) -> None:
        self.type_into(self.filter_bar)

    async def do_add(self) -> None:
        from memtui.ui.dialogs.edit import AddObservation

        category = self._category
        written = await self.shell.show_dialog(AddObservation(category))
        if written is None:
            self.show_message("Nothing was written down.")
            return
        record = await self.change(
            lambda memory: memory.observations.remember_one(written.text, category, tags=written.tags),
            "writing it down",
        )
        self.table.select_key(record.rid)
