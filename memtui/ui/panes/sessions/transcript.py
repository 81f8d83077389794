"""A conversation of any length on screen. Turns are read page by page, and only visible lines are drawn.

A conversation may have ten thousand turns of any length. Their heights are measured once, in a thread,
and kept as numbers. Only the texts of the pages around the view are kept.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar

from rich.segment import Segment
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from memtui.present.glyphs import Glyphs
from memtui.present.text import VisibleText, one_line
from memtui.ui.action_dispatch import perform_action, perform_chord, start_worker
from memtui.ui.actions import Action, ActionContext
from memtui.ui.keymap import bindings_at
from memtui.ui.messages import message_type
from memtui.ui.safe import segment
from memtui.ui.widgets.columns import StyledText
from memtui.ui.widgets.line_view import PagedView, State

from .turn_lines import Line, TurnLayout

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import MemoryRecord


T = TypeVar("T")

PAGE = 100
KEPT = 12


def read_page(memory: Memory, session_id: str, filter: str, offset: int) -> list[MemoryRecord]:
    """Turns from ``offset`` on, forgotten ones included; with ``filter`` those that pass it. Blocks."""
    if not filter:
        return memory.view.transcript(session_id, offset=offset, limit=PAGE)
    return memory.view.page(
        f"session:{_quoted_filter_value(session_id)} kind:episode is:active,trash {filter}",
        sort="time", descending=False, offset=offset, limit=PAGE,
    )  # fmt: skip


def _quoted_filter_value(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


class MeasuredPage:
    """A page of turns with its heights, made in a thread."""

    def __init__(self, turns: Sequence[MemoryRecord], view: TurnLayout, whole: frozenset[int]) -> None:
        self.turns = turns
        self.heights = [view.height(turn, whole=turn.rid in whole) for turn in turns]


class LoadedTranscript:
    """The turns read so far. Lines count from 0 at the first turn. Belongs to the event loop."""

    def __init__(self, view: TurnLayout) -> None:
        self.view = view
        self.whole: set[int] = set()
        self.rids = array("q")
        # The first line of each turn, and the end of the last.
        self._starts = array("q", [0])
        self._texts: OrderedDict[int, Sequence[MemoryRecord]] = OrderedDict()
        self._drawn: OrderedDict[int, list[Line]] = OrderedDict()

    @property
    def line_count(self) -> int:
        return self._starts[-1]

    def __len__(self) -> int:
        return len(self.rids)

    def append_page(self, page: MeasuredPage) -> None:
        """Append the next turns; only the last page may have fewer than ``PAGE``."""
        number = len(self.rids) // PAGE
        if number < KEPT:
            self._store_turns(number, page.turns)
        for turn, height in zip(page.turns, page.heights, strict=True):
            self.rids.append(turn.rid)
            self._starts.append(self._starts[-1] + height)

    def add_texts(self, number: int, turns: Sequence[MemoryRecord]) -> None:
        """The texts of a page that ``missing`` asked for."""
        by_rid = {turn.rid: turn for turn in turns}
        rids = self.rids[number * PAGE : (number + 1) * PAGE]
        if all(rid in by_rid for rid in rids):
            self._store_turns(number, [by_rid[rid] for rid in rids])

    def turn_at(self, line: int) -> int:
        """The number of the turn that has this line."""
        return max(min(bisect_right(self._starts, line), len(self.rids)) - 1, 0)

    def lines_of_turn(self, number: int) -> tuple[int, int]:
        """The lines of a turn: the first, and the one after its last."""
        return self._starts[number], self._starts[number + 1]

    def loaded_turn(self, number: int) -> MemoryRecord | None:
        """A turn, or None if its text is not loaded."""
        page = self._texts.get(number // PAGE)
        if page is None:
            return None
        self._texts.move_to_end(number // PAGE)
        return page[number % PAGE] if number % PAGE < len(page) else None

    def locate_line(self, line: int) -> tuple[int, Line | None]:
        """The turn that has a line, and the line. None if its text is not loaded."""
        number = self.turn_at(line)
        turn_lines = self._drawn.get(number)
        if turn_lines is None:
            turn = self.loaded_turn(number)
            if turn is None:
                return number, None
            turn_lines = self._drawn[number] = self.view.lines(turn, whole=turn.rid in self.whole)
            while len(self._drawn) > 2 * PAGE:
                self._drawn.popitem(last=False)
        at = line - self._starts[number]
        return number, turn_lines[at] if at < len(turn_lines) else []

    def toggle_fold(self, number: int) -> None:
        """Unfold or fold a turn. Its text must be loaded."""
        turn = self.loaded_turn(number)
        if turn is None:
            return
        self.whole ^= {turn.rid}
        self._drawn.pop(number, None)
        height = self.view.height(turn, whole=turn.rid in self.whole)
        by = height - (self._starts[number + 1] - self._starts[number])
        for at in range(number + 1, len(self._starts)):
            self._starts[at] += by

    def turn_number(self, rid: int) -> int | None:
        """The number of the turn with this rid."""
        try:
            return self.rids.index(rid)
        except ValueError:
            return None

    def page_rids(self, number: int) -> array[int]:
        return self.rids[number * PAGE : (number + 1) * PAGE]

    def _store_turns(self, number: int, turns: Sequence[MemoryRecord]) -> None:
        self._texts[number] = turns
        self._texts.move_to_end(number)
        while len(self._texts) > KEPT:
            self._texts.popitem(last=False)


class AskFunction(Protocol):
    """``Pane.ask``: runs a call on the memory in a thread."""

    def __call__(self, call: Callable[[Memory], T], /) -> Awaitable[T]: ...


class TranscriptReader:
    """Reads the turns of one session that pass a filter."""

    def __init__(self, ask: AskFunction, session_id: str, filter: str = "") -> None:
        self.session_id = session_id
        self.filter = filter
        self._ask = ask

    async def page(self, offset: int, view: TurnLayout, whole: frozenset[int]) -> MeasuredPage:
        """The turns from ``offset`` on, measured. Fewer than ``PAGE`` means the last page."""

        def read_measured_page(memory: Memory) -> MeasuredPage:
            turns = read_page(memory, self.session_id, self.filter, offset)
            if view.cautions is not None:
                cautions = memory.view.cautions([turn.id for turn in turns])
                view.cautions.update({turn.rid: cautions[turn.id] for turn in turns if turn.id in cautions})
            if view.drawn is not None:
                facts = memory.view.drawn([turn.id for turn in turns])
                view.drawn.update({turn.rid: facts[turn.id] for turn in turns if turn.id in facts})
            return MeasuredPage(turns, view, whole)

        return await self._ask(read_measured_page)

    async def texts(self, rids: Sequence[int]) -> list[MemoryRecord]:
        return await self._ask(lambda memory: memory.view.rows(rids))


Head = Callable[[int], Sequence[Line]]

# The bar of the cursor and a blank.
GUTTER = 2
# Longer lines are hard to read.
WIDEST = 100


class TranscriptView(PagedView, can_focus=True, inherit_bindings=False):
    """``show`` displays a session. The cursor stays on its turn when turns are added or removed."""

    BINDINGS = [*bindings_at("transcript")]
    ALLOW_SELECT = False
    part: ClassVar[ActionContext] = "transcript"
    action_perform, action_chord = perform_action, perform_chord

    @message_type
    class Counted(Message):
        """How many turns pass the filter (so far, if not ``whole``)."""

        turns: int
        whole: bool

    @message_type
    class Failed(Message):
        """The turns could not be read."""

        error: Exception

    def __init__(self, glyphs: Glyphs, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.glyphs = glyphs
        self.cursor = 0
        self._lay_out_head: Head | None = None
        self._head: Sequence[Line] = ()
        self._reader: TranscriptReader | None = None
        self._view = TurnLayout(0, 0.0, glyphs)
        self._turns = LoadedTranscript(self._view)
        self._whole = False
        self._fetching: set[int] = set()
        # The turn (rid) to put the cursor on as soon as it is there.
        self._sought: int | None = None

    # -- what is shown

    def show_head(self, head: Head | None) -> None:
        """Lines above the first turn; ``head`` lays them out for a width in cells."""
        self._lay_out_head = head
        self._head = head(self.text_width) if head is not None else ()
        self._measure_pages_again()
        self.refresh()

    def show_transcript(self, reader: TranscriptReader, view: TurnLayout, *, at: int | None = None) -> None:
        """Show the turns that ``reader`` reads; ``at``: the rid of the turn to begin with.

        The same session and filter again: the cursor stays on its turn.
        """
        old = self._reader
        again = old is not None and (old.session_id, old.filter) == (reader.session_id, reader.filter)
        if again and at is None and self.selected_rid is not None:
            at = self.selected_rid
        self._reader, self._view = reader, view._replace(width=self.text_width)
        if not again:
            self._whole = False
            self._turns = LoadedTranscript(self._view)
            self.cursor = 0
            self.scroll_to(y=0, animate=False)
            self._measure_pages_again()
            self.refresh()
        start_worker(self, partial(self._read_all_turns, at, again), "turns")

    def clear(self) -> None:
        """Show nothing."""
        self.workers.cancel_group(self, "turns")
        self._reader = None
        self._turns = LoadedTranscript(self._view)
        self.show_head(None)

    @property
    def selected_rid(self) -> int | None:
        return self._turns.rids[self.cursor] if self.cursor < len(self._turns) else None

    @property
    def selected_turn(self) -> MemoryRecord | None:
        """The turn under the cursor, if it is here."""
        return self._turns.loaded_turn(self.cursor) if len(self._turns) else None

    @property
    def text_width(self) -> int:
        """How many cells a line of the text has."""
        return max(min(self.scrollable_content_region.width - GUTTER - 1, WIDEST), 8)

    # -- reading

    async def _read_all_turns(self, at: int | None, again: bool) -> None:
        """Read all turns, page by page. Visible turns are drawn as soon as they are read."""
        reader, view = self._reader, self._view
        if reader is None:
            return
        turns = LoadedTranscript(view)
        turns.whole = set(self._turns.whole)
        shown = not again
        if shown:
            self._turns = turns
        self._sought = at
        last = False
        while not last:
            try:
                page = await reader.page(len(turns), view, frozenset(turns.whole))
            except Exception as error:
                self.post_message(self.Failed(error))
                return
            turns.append_page(page)
            last = len(page.turns) < PAGE
            if not shown and (last or at is None or turns.turn_number(at) is not None):
                self._turns, shown = turns, True
                self._whole = False
            if shown:
                self._restore_cursor(turns)
                self._measure_pages_again()
                self.refresh()
                self._whole = last
                self.post_message(self.Counted(len(turns), last))

    def _restore_cursor(self, turns: LoadedTranscript) -> None:
        """Put the cursor on the wanted turn, at its old position or in view."""
        if self._sought is None:
            self.cursor = min(self.cursor, max(len(turns) - 1, 0))
            return
        turn_number = turns.turn_number(self._sought)
        if turn_number is not None:
            self._sought = None
            self._measure_pages_again()
            self.put_cursor(turn_number)
            # The scroll range is known only after the new size was laid out.
            self.call_after_refresh(self._scroll_to_turn)

    async def _load_text(self, number: int) -> None:
        reader, turns = self._reader, self._turns
        try:
            if reader is not None:
                texts = await reader.texts(turns.page_rids(number))
                turns.add_texts(number, texts)
                self.refresh()
        finally:
            self._fetching.discard(number)

    def _request_turn(self, turn: int) -> None:
        number = turn // PAGE
        if number not in self._fetching:
            self._fetching.add(number)
            start_worker(self, partial(self._load_text, number), f"texts-{number}")

    # -- the cursor

    def put_cursor(self, number: int) -> None:
        """Go to a turn. Its heading and as much text as fits scroll into view."""
        self.cursor = max(0, min(number, len(self._turns) - 1))
        self._scroll_to_turn()

    def _scroll_to_turn(self) -> None:
        if len(self._turns):
            first, end = (line + len(self._head) for line in self._turns.lines_of_turn(self.cursor))
            top, height = self.scroll_offset.y, max(self.size.height, 1)
            if first < top or end - first > height:
                self.scroll_to(y=first if self.cursor else 0, animate=False)
            elif self.cursor and end > top + height:  # the first turn: keep the head above it in view
                self.scroll_to(y=end - height, animate=False)
        self.refresh()

    # -- drawing

    def _measure_pages_again(self) -> None:
        self.virtual_size = Size(
            self.scrollable_content_region.width, len(self._head) + self._turns.line_count
        )

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        line = self.scroll_offset.y + y
        if line < len(self._head):
            return self._render_line(self._head[line], width, "plain", bar=False)
        line -= len(self._head)
        if line >= self._turns.line_count:
            return Strip.blank(width, self._role_style("plain", "text"))
        number, pieces = self._turns.locate_line(line)
        here = number == self.cursor
        if pieces is None:
            self._request_turn(number)
            pieces = [StyledText(one_line(self.glyphs.skeleton * (self.text_width * 2 // 3), width), "faint")]
        heading = here and line == self._turns.lines_of_turn(number)[0]
        state: State = ("cursor" if self.has_focus else "cursor-blurred") if heading else "plain"
        end = self._turns.lines_of_turn(number)[1] - 1
        return self._render_line(pieces, width, state, bar=here and self.has_focus and line < end)

    def _render_line(self, pieces: Line, width: int, state: State, *, bar: bool) -> Strip:
        blank = self._role_style(state, "text")
        cursor = StyledText(one_line(self.glyphs.cursor, 1) if bar else VisibleText(" "), "accent")
        parts = [segment(cursor.text, self._role_style(state, cursor.role)), Segment(" ", blank)]
        parts += [segment(piece.text, self._role_style(state, piece.role)) for piece in pieces]
        return Strip(parts).adjust_cell_length(width, blank)

    def on_resize(self) -> None:
        self.show_head(self._lay_out_head)
        if self._reader is not None and self._view.width != self.text_width:
            self.show_transcript(self._reader, self._view)

    # -- what the person does

    def unavailable_reason(self, action: Action) -> str:
        return "" if len(self._turns) else "There is no turn here."

    def _scroll_with_cursor(self, by: int) -> None:
        """Scroll by lines, and take the cursor along."""
        self.scroll_to(y=self.scroll_offset.y + by, animate=False)
        top = self.scroll_offset.y - len(self._head)
        if not len(self._turns):
            return
        first = self._turns.turn_at(max(top, 0))
        if top > self._turns.lines_of_turn(first)[0]:
            first += 1
        last = self._turns.turn_at(max(top + self.size.height - 1, 0))
        self.cursor = max(min(self.cursor, last), min(first, last))
        self.refresh()

    def do_up(self) -> None:
        if not len(self._turns):
            return
        first = self._turns.lines_of_turn(self.cursor)[0] + len(self._head)
        if first < self.scroll_offset.y:
            self.scroll_to(y=max(first, self.scroll_offset.y - max(self.size.height // 2, 1)), animate=False)
        else:
            self.put_cursor(self.cursor - 1)

    def do_down(self) -> None:
        if not len(self._turns):
            return
        end = self._turns.lines_of_turn(self.cursor)[1] + len(self._head)
        if end > self.scroll_offset.y + self.size.height + 1:
            self.scroll_to(y=self.scroll_offset.y + max(self.size.height // 2, 1), animate=False)
        else:
            self.put_cursor(self.cursor + 1)

    def do_top(self) -> None:
        self.put_cursor(0)
        self.scroll_to(y=0, animate=False)

    def do_bottom(self) -> None:
        self.put_cursor(len(self._turns) - 1)

    def do_unfold(self) -> None:
        self._turns.toggle_fold(self.cursor)
        self._measure_pages_again()
        self.put_cursor(self.cursor)

    def on_click(self, event: events.Click) -> None:
        line = self.scroll_offset.y + event.y - len(self._head)
        if 0 <= line < self._turns.line_count:
            self.cursor = self._turns.turn_at(line)
            if event.chain == 2:
                self.do_unfold()
            self.refresh()
