"""Why a memory is not among the hits: pick any memory, see its rank in each retriever and what excludes it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import Static

from memtui.engine.errors import InputError, NotFoundError
from memtui.ui.action_dispatch import start_worker
from memtui.ui.presenters.hit import AGENTS_SEE, MOST
from memtui.ui.presenters.memory_rows import MemoryRow, MemorySource, memory_columns
from memtui.ui.safe import assemble
from memtui.ui.widgets.filter_bar import FilterBar
from memtui.ui.widgets.row_table import RowHighlighted, RowOpened, RowsCounted, RowsFailed, RowTable
from memtui.ui.widgets.text_view import TextView

from .context import in_context_line
from .dialog import Dialog

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import Explanation, MemoryRecord, Profile
    from memtui.engine.search.briefing import ContextBlock


_MOST = 100


class SharingSource(MemorySource):
    """The first hundred memories with some of the ``words`` that pass the filter (see ``row_source``)."""

    def __init__(self, memory: Memory, filter: str, words: str) -> None:
        super().__init__(memory, filter, ("time", True), episodes=True)
        self._words = words

    @cached_property
    def _best_rids(self) -> Sequence[int]:
        """Ranked by words only; rare words count more."""
        from memtui.engine.records import Profile

        profile = Profile(name="words", vector=0.0, entity=0.0, neighbours=0.0, session=0.0, facts=0.0)
        result = self._memory.search(
            self._words, filter=self.whole_filter(), limit=_MOST, profile=profile, preview=True
        )
        best = [hit.memory.rid for hit in result.hits]
        # Words that the index ignores find nothing.
        return best or [one.memory.rid for one in super().page_rows(0, _MOST)]

    def count(self) -> int:
        return len(self._best_rids)

    def page_rows(self, offset: int, limit: int) -> Sequence[MemoryRow]:
        return self.rows_by_key(self._best_rids[offset : offset + limit])

    def row_keys(self) -> Iterator[Sequence[int]]:
        yield self._best_rids


_ID = re.compile(r"(ep|fact|ref|obs)_[0-9a-f]{1,12}")
# The cursor must rest this long before a memory is explained.
_DELAY = 0.1
_NEVER = "No memory has these words, not even in the Trash: it was never stored, or it was erased."
_NOTHING = "Nothing passes this filter, not even in the Trash: leave a part of it out."


def any_word_filter(expression: str) -> tuple[str, str]:
    """A filter for any of the words instead of all of them, and these words. Empty if there is only one."""
    from memtui.engine.search.filters.terms import parse_filter

    terms = parse_filter(expression)
    words = [term for term in terms if term.key == "text" and not term.negated]
    if len(words) < 2:
        return "", ""
    values = [str(value) for term in words for value in term.values]
    others = (str(term) for term in terms if term not in words)
    return " ".join([*others, f"text:{','.join(values)}"]), " ".join(values)


def _has_only_words(expression: str) -> bool:
    from memtui.engine.search.filters.terms import parse_filter

    return all(term.key in ("text", "id") and not term.negated for term in parse_filter(expression))


def _filter_with_trash(expression: str) -> str:
    return expression if "is:" in expression else f"is:active,trash {expression}"


class WhyNotDialog(Dialog[None]):
    """Finds any memory by words, filter or id, also in the Trash, and explains it below."""

    wide = True
    hints = (("/", "find it"), ("j k", "choose"), ("Tab", "read"), ("n", "expect it here"))
    # While words are typed, all other keys are letters.
    typing_hints = (("Enter", "choose among these"),)
    BINDINGS = [
        Binding("slash", "find", show=False),
        Binding("tab", "next", show=False),
        Binding("n", "expect", show=False),
    ]

    def __init__(
        self,
        query: str,
        filter: str,
        profile: Profile,
        best: float,
        *,
        saved_profile: str,
        block: ContextBlock | None = None,
    ) -> None:
        """``best``: the score of row 1. ``saved_profile``: the profile that ``profile`` was changed from.

        ``block``: the context block from which the person came.
        """
        super().__init__()
        self._block = block
        self._saved_profile = saved_profile
        self._query = query
        self._filter = filter
        self._profile = profile
        self._best = best
        self._typed_text = ""
        # The rows with all words; or with some of them, if no row has all.
        self._all: MemorySource | None = None
        self._some: MemorySource | None = None

    def title_text(self) -> str:
        where = "among the hits" if self._block is None else "told"
        return f"Is it {where}, and why?  {self._query}"  # it answers for those that are, too

    def body(self) -> ComposeResult:
        yield FilterBar("words of the memory you miss, or its id")
        columns = [
            one for one in memory_columns(self.shell.glyphs, self.shell.clock) if one.id in ("text", "age")
        ]
        yield Static(classes="why-some")
        yield RowTable(columns, id="why-rows", glyphs=self.shell.glyphs, markable=False)
        yield TextView(id="why-text")
        yield Static(classes="why-expected")

    def on_mount(self) -> None:
        self.query_one(RowTable).show_header(False)
        self.query_one(".why-some").display = False
        self.query_one(FilterBar).start_typing()
        self._show_message("Type some words of the memory you expected to see.")

    @property
    def table(self) -> RowTable[MemoryRow]:
        return self.query_one(RowTable)

    # -- choosing

    @on(FilterBar.Typed)
    def _filter_typed(self, event: FilterBar.Typed) -> None:
        # People who saw "/" among the keys type it here too.
        self._typed_text = text = event.text.strip().lstrip("/").lstrip()
        if not text:
            return
        self._all, self._some = self._row_source(f"id:{text}" if _ID.fullmatch(text) else text), None
        self.table.show_source(self._all, self.shell.operations.readers)

    def _row_source(self, expression: str) -> MemorySource:
        return MemorySource(
            self.shell.operations.require_memory(),
            _filter_with_trash(expression),
            ("time", True),
            episodes=True,
        )

    def on_descendant_focus(self) -> None:
        self.query_one(".dialog-hints", Static).update(self.hint_line())

    def hint_line(self) -> Content:
        typing = self.is_mounted and self.query_one(FilterBar).has_focus_within
        return (
            self.fitting_hints(self.typing_hints, "stop typing") if typing else self.fitting_hints(self.hints)
        )

    @on(FilterBar.TypingEnded)
    def _filter_left(self) -> None:
        self.table.focus()

    @on(RowsFailed)
    def _rows_failed(self, event: RowsFailed) -> None:
        if isinstance(event.error, InputError):
            self._show_message(event.error.message, warning=True)
        else:
            self.shell.show_error(event.error, "finding it")

    @on(RowsCounted)
    def _rows_counted(self, event: RowsCounted) -> None:
        self.query_one(FilterBar).show_count(f"{event.count:,}" if event.exact else f"{event.count:,}+")
        shown = self.table.source_shown
        note = self.query_one(".why-some", Static)
        note.display = event.count > 0 and shown is not None and shown is self._some
        note.update(assemble(("No memory has all of these words. These have most of them.", "$warning")))
        if event.count or not event.exact or shown is None:
            return
        some, words = any_word_filter(self._typed_text) if shown is self._all else ("", "")
        if some:
            self._some = SharingSource(
                self.shell.operations.require_memory(), _filter_with_trash(some), words
            )
            self.table.show_source(self._some, self.shell.operations.readers)
        elif shown in (self._all, self._some):
            self._show_message(_NEVER if _has_only_words(self._typed_text) else _NOTHING)

    @on(RowHighlighted)
    def _explain_selected(self) -> None:
        row = self.table.selected
        if row is not None:
            start_worker(self, partial(self._explain_memory, row.memory), "explain")

    @on(RowOpened)
    def _open_selected(self) -> None:
        self.query_one(TextView).focus()

    # -- explaining

    async def _explain_memory(self, memory: MemoryRecord) -> None:
        await asyncio.sleep(_DELAY)
        memory_id = memory.id
        try:
            explanation = await self.shell.operations.ask(
                lambda engine: engine.explain(
                    self._query, memory_id, filter=self._filter, limit=AGENTS_SEE, profile=self._profile
                )
            )
        except NotFoundError as error:
            self._show_message(error.message, warning=True)
            return
        self._show_explanation(explanation)

    def _show_explanation(self, explanation: Explanation) -> None:
        from memtui.ui.presenters.hit import HitText

        view = self.query_one(TextView)
        text = HitText(view.text_width, self.shell.clock(), self.shell.glyphs)
        memory_id = explanation.memory.id
        served = None if self._block is None else in_context_line(self._block, memory_id)
        view.show_text(text.explain_memory(explanation, self._best, MOST, served), subject=memory_id)

    def _show_message(self, text: str, *, warning: bool = False) -> None:
        self.query_one(TextView).show_text(assemble((text, "$warning" if warning else "$text-muted")))

    def action_find(self) -> None:
        self.query_one(FilterBar).start_typing()

    def action_expect(self) -> None:
        """Expect this memory: the question is pinned, and asked again after imports and maintenance."""
        row = self.table.selected
        if row is None:
            self._show_message("Choose the memory that you expect first.", warning=True)
        elif self.shell.readonly:
            self._show_message("This memory is open for reading only.", warning=True)
        else:
            start_worker(self, partial(self._pin_expected_memory, row.memory.id), "expect")

    async def _pin_expected_memory(self, memory_id: str) -> None:
        operation = await self.shell.operations.change(
            lambda engine: engine.questions.expect(
                self._query, memory_id, filter=self._filter, profile=self._saved_profile, top=AGENTS_SEE
            ),
            "expecting",
        )
        text = (
            f"Expected among the first {AGENTS_SEE} from now on."
            if operation
            else "This is expected already."
        )
        self.query_one(".why-expected", Static).update(assemble((text, "$success")))

    def action_next(self) -> None:
        (self.query_one(TextView) if self.table.has_focus else self.table).focus()
