"""Hits as rows of a list: rank, text, how far a row moved, a bar with each retriever's share, the score."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from memtui.present.format import relative_time
from memtui.present.hit import points, shares_by_retriever
from memtui.present.text import cells, one_line, visible
from memtui.ui.widgets.columns import Column, Piece

from .arms import bar, bar_text
from .memory_rows import WORDED, ended_word, sign_of

if TYPE_CHECKING:
    from memtui.engine.records import Hit, SearchResult
    from memtui.engine.records.saved import QuestionResult, SavedQuery
    from memtui.present.glyphs import Glyphs

BAR = 10
# An arrow and a number of places.
_MOVED = 5
# How many hits an agent gets if it does not ask for a number.
AGENTS_SEE = 10
# How many hits are listed. An agent gets the first few of them.
MOST = 100


class SearchRow(NamedTuple):
    """A hit; or a pinned question, while no question is typed.

    ``best``: the score of row 1. ``moved``: places up (+) or down (-) compared with the saved profile; None if
    the hit was not found with that. ``result``: the search that found it. ``expected``: the question is pinned and
    expects this hit. ``outcome``: whether a pinned question passed when it was last asked. ``likely``: it is above
    the relevance cutoff (``engine.search.likely``). ``edge``: it is next to the cutoff.
    """

    hit: Hit | None = None
    saved: SavedQuery | None = None
    best: float = 0.0
    moved: int | None = 0
    result: SearchResult | None = None
    expected: bool = False
    outcome: QuestionResult | None = None
    likely: bool = True
    edge: bool = False

    @property
    def ruled(self) -> bool:
        """Whether the line of the cutoff is drawn below it."""
        return self.edge and self.likely


def hit_rows(
    result: SearchResult, before: Mapping[int, int] | None, expected: Collection[str] = ()
) -> list[SearchRow]:
    """``before``: the rank of each memory (by rid) with the saved profile; None if that profile is in use.

    ``expected``: ids of the memories that the question should find.
    """
    from memtui.engine.search.relevance_cutoff import likely

    best = result.best
    line = likely(result.hits)
    edges = (line, line + 1) if line < len(result.hits) else ()
    rows = []
    for hit in result.hits:
        place = hit.rank if before is None else before.get(hit.memory.rid)
        moved = None if place is None else place - hit.rank
        rows.append(
            SearchRow(
                hit, None, best, moved, result, hit.memory.id in expected,
                likely=hit.rank <= line, edge=hit.rank in edges,
            )
        )  # fmt: skip
    return rows


def row_key(row: SearchRow) -> int:
    """The key of a row: the memory's rid, or a negative number for a pinned question."""
    if row.hit is not None:
        return row.hit.memory.rid
    return -row.saved.query_id if row.saved is not None else 0


def search_columns(glyphs: Glyphs, now: Callable[[], float]) -> list[Column[SearchRow]]:
    """Rank, text and how far it moved, bar, score, age."""

    def rank(row: SearchRow, width: int) -> Iterable[Piece]:
        if row.hit is not None:
            yield Piece(visible(f"{row.hit.rank}"), "text" if row.hit.rank <= AGENTS_SEE else "dim")

    def text(row: SearchRow, width: int) -> Iterable[Piece]:
        if row.hit is not None:
            arrow = moved(row)
            room = max(width - 2 - (_MOVED if arrow else 0), 1)
            state = ended_word(row.hit.memory, room, row.hit.cautions)
            if row.edge and not row.likely and room >= WORDED:
                state = visible(f"{glyphs.rule} less likely {glyphs.rule} {state}")
            content = one_line(row.hit.memory.content, max(room - len(state), 1))
            yield sign_of(row.hit.memory, glyphs)
            yield Piece(visible("?"), "accent") if row.expected else Piece(visible(" "))
            yield Piece(state, "warning")
            yield Piece(content, "text" if row.hit.memory.active and row.likely else "dim")
            if arrow:
                yield Piece(visible(" " * (room - len(state) - cells(content) + _MOVED - cells(arrow.text))))
                yield arrow
        elif row.saved is not None:
            if row.outcome is None:
                yield Piece(visible("? "), "accent")
            elif row.outcome.passed:
                yield Piece(visible(f"{glyphs.done} "), "success")
            else:
                yield Piece(visible(f"{glyphs.conflict} "), "warning")
            yield Piece(one_line(row.saved.query, width - 2))
            yield Piece(one_line(f"{row.saved.filter}", max(width - 4 - len(row.saved.query), 0)), "dim")

    def moved(row: SearchRow) -> Piece | None:
        if row.moved is None:
            return Piece(visible("new"), "success")
        if row.moved > 0:
            return Piece(visible(f"{glyphs.rising}{row.moved}"), "success")
        return Piece(visible(f"{glyphs.falling}{-row.moved}"), "warning") if row.moved < 0 else None

    def stack(row: SearchRow, width: int) -> Iterable[Piece]:
        if row.hit is not None:
            for arm, cells in bar(shares_by_retriever(row.hit.arms), row.best, width):
                yield Piece(bar_text(arm, cells, glyphs), arm)

    def score(row: SearchRow, width: int) -> Iterable[Piece]:
        if row.hit is not None:
            yield Piece(points(row.hit.score, most=row.best), "strong" if row.hit.rank == 1 else "text")

    def age(row: SearchRow, width: int) -> Iterable[Piece]:
        if row.hit is not None:
            yield Piece(relative_time(row.hit.memory.event_time, now()), "dim")

    return [
        Column("rank", "", rank, width=3, right=True),
        Column("text", "", text, least=28, gap=1),
        Column("bar", "arms", stack, width=BAR, drop=1),
        Column("score", "score", score, width=6, right=True, gap=1),
        Column("age", "age", age, width=4, right=True, drop=2),
    ]
