"""The turns of a session, read page by page: the position of each on screen, and the texts in view.

A conversation may have ten thousand turns of any length. Their heights are measured once, in a thread,
and kept as numbers. Only the texts of the pages around the view are kept.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from .turn_lines import Line, TurnView

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
        f"session:{_quoted(session_id)} kind:episode is:active,trash {filter}",
        sort="time", descending=False, offset=offset, limit=PAGE,
    )  # fmt: skip


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


class Measured:
    """A page of turns with its heights, made in a thread."""

    def __init__(self, turns: Sequence[MemoryRecord], view: TurnView, whole: frozenset[int]) -> None:
        self.turns = turns
        self.heights = [view.height(turn, whole=turn.rid in whole) for turn in turns]


class Transcript:
    """The turns read so far. Lines count from 0 at the first turn. Belongs to the event loop."""

    def __init__(self, view: TurnView) -> None:
        self.view = view
        self.whole: set[int] = set()
        self.rids = array("q")
        # The first line of each turn, and the end of the last.
        self._starts = array("q", [0])
        self._texts: OrderedDict[int, Sequence[MemoryRecord]] = OrderedDict()
        self._drawn: OrderedDict[int, list[Line]] = OrderedDict()

    @property
    def height(self) -> int:
        return self._starts[-1]

    def __len__(self) -> int:
        return len(self.rids)

    def add(self, page: Measured) -> None:
        """Append the next turns; only the last page may have fewer than ``PAGE``."""
        number = len(self.rids) // PAGE
        if number < KEPT:
            self._keep(number, page.turns)
        for turn, height in zip(page.turns, page.heights, strict=True):
            self.rids.append(turn.rid)
            self._starts.append(self._starts[-1] + height)

    def supply(self, number: int, turns: Sequence[MemoryRecord]) -> None:
        """The texts of a page that ``missing`` asked for."""
        by_rid = {turn.rid: turn for turn in turns}
        rids = self.rids[number * PAGE : (number + 1) * PAGE]
        if all(rid in by_rid for rid in rids):
            self._keep(number, [by_rid[rid] for rid in rids])

    def turn_at(self, line: int) -> int:
        """The number of the turn that has this line."""
        return max(min(bisect_right(self._starts, line), len(self.rids)) - 1, 0)

    def span(self, number: int) -> tuple[int, int]:
        """The lines of a turn: the first, and the one after its last."""
        return self._starts[number], self._starts[number + 1]

    def turn(self, number: int) -> MemoryRecord | None:
        """A turn, or None if its text is not loaded."""
        page = self._texts.get(number // PAGE)
        if page is None:
            return None
        self._texts.move_to_end(number // PAGE)
        return page[number % PAGE] if number % PAGE < len(page) else None

    def line(self, line: int) -> tuple[int, Line | None]:
        """The turn that has a line, and the line. None if its text is not loaded."""
        number = self.turn_at(line)
        drawn = self._drawn.get(number)
        if drawn is None:
            turn = self.turn(number)
            if turn is None:
                return number, None
            drawn = self._drawn[number] = self.view.lines(turn, whole=turn.rid in self.whole)
            while len(self._drawn) > 2 * PAGE:
                self._drawn.popitem(last=False)
        at = line - self._starts[number]
        return number, drawn[at] if at < len(drawn) else []

    def fold(self, number: int) -> None:
        """Unfold or fold a turn. Its text must be loaded."""
        turn = self.turn(number)
        if turn is None:
            return
        self.whole ^= {turn.rid}
        self._drawn.pop(number, None)
        height = self.view.height(turn, whole=turn.rid in self.whole)
        by = height - (self._starts[number + 1] - self._starts[number])
        for at in range(number + 1, len(self._starts)):
            self._starts[at] += by

    def find(self, rid: int) -> int | None:
        """The number of the turn with this rid."""
        try:
            return self.rids.index(rid)
        except ValueError:
            return None

    def page_rids(self, number: int) -> array[int]:
        return self.rids[number * PAGE : (number + 1) * PAGE]

    def _keep(self, number: int, turns: Sequence[MemoryRecord]) -> None:
        self._texts[number] = turns
        self._texts.move_to_end(number)
        while len(self._texts) > KEPT:
            self._texts.popitem(last=False)


class Ask(Protocol):
    """``Pane.ask``: runs a call on the memory in a thread."""

    def __call__(self, call: Callable[[Memory], T], /) -> Awaitable[T]: ...


class TranscriptReader:
    """Reads the turns of one session that pass a filter."""

    def __init__(self, ask: Ask, session_id: str, filter: str = "") -> None:
        self.session_id = session_id
        self.filter = filter
        self._ask = ask

    async def page(self, offset: int, view: TurnView, whole: frozenset[int]) -> Measured:
        """The turns from ``offset`` on, measured. Fewer than ``PAGE`` means the last page."""

        def read(memory: Memory) -> Measured:
            turns = read_page(memory, self.session_id, self.filter, offset)
            if view.cautions is not None:
                found = memory.view.cautions([turn.id for turn in turns])
                view.cautions.update({turn.rid: found[turn.id] for turn in turns if turn.id in found})
            if view.drawn is not None:
                facts = memory.view.drawn([turn.id for turn in turns])
                view.drawn.update({turn.rid: facts[turn.id] for turn in turns if turn.id in facts})
            return Measured(turns, view, whole)

        return await self._ask(read)

    async def texts(self, rids: Sequence[int]) -> list[MemoryRecord]:
        return await self._ask(lambda memory: memory.view.rows(rids))
