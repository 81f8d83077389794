"""Hits as rows of a list, and why a hit has its rank: each retriever's rank, raw score and share, and the sum.

A bar shows each retriever's share in its colour.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content

from memtui.present.format import relative_time
from memtui.present.hit import (
    RETRIEVERS,
    explanation_lines,
    matched_text,
    rank_text,
    raw_score,
    reason_above,
    reason_absent,
    retriever_label,
    score_text,
    share_text,
    shares_by_retriever,
)
from memtui.present.text import VisibleText, max_cells, one_line, visible_text
from memtui.ui.safe import assemble, content, content_of_line
from memtui.ui.widgets.columns import Column, StyledText, fit_columns

from .memory_rows import WORDED, ended_word, memory_sign, state_word
from .memory_text import LONGEST, MemoryText
from .text_layout import wrap_text

if TYPE_CHECKING:
    from memtui.engine.records import (
        Explanation,
        Hit,
        MemoryDetail,
        RetrieverHit,
        RetrieverName,
        RetrieverReport,
        SearchResult,
    )
    from memtui.engine.records.saved import QuestionResult, SavedQuery
    from memtui.present.glyphs import Glyphs
    from memtui.present.text import LabelledLine, Role


BAR = 10
# An arrow and a number of places.
_MOVED = 5
# From so many cells on the first text below the cutoff says so. A narrower list has the line above it and dim texts only.
_LABELLED = 48
# How many hits an agent gets if it does not ask for a number.
AGENTS_SEE = 10
# How many hits are listed. An agent gets the first few of them.
MOST = 100


class SearchRow(NamedTuple):
    """A hit; or a pinned question, while no question is typed.

    ``best``: the score of row 1. ``moved``: places up (+) or down (-) compared with the saved profile; None if
    the hit was not found with that. ``result``: the search that found it. ``expected``: the question is pinned and
    expects this hit. ``outcome``: whether a pinned question passed when it was last asked. ``likely``: it is above
    the relevance cutoff (``engine.search.likely``). ``edge``: it is next to the cutoff. ``instead``: why it stands before hits
    with a higher score: ``corrects`` or ``replaces``; empty if it has the rank of its score. ``lifted``: a hit below has a
    higher score, so a number here would look out of order.
    """

    hit: Hit | None = None
    saved: SavedQuery | None = None
    best: float = 0.0
    rank_change: int | None = 0
    result: SearchResult | None = None
    expected: bool = False
    outcome: QuestionResult | None = None
    likely: bool = True
    edge: bool = False
    instead: str = ""
    lifted: bool = False

    @property
    def has_cutoff_line(self) -> bool:
        """Whether the line of the cutoff is drawn below it."""
        return self.edge and self.likely


def hit_rows(
    result: SearchResult, before: Mapping[int, int] | None, expected: Collection[str] = ()
) -> list[SearchRow]:
    """``before``: the rank of each memory (by rid) with the saved profile; None if that profile is in use.

    ``expected``: ids of the memories that the question should find.
    """
    from memtui.engine.search.relevance_cutoff import count_likely

    best = result.best
    line = count_likely(result.hits)
    edges = (line, line + 1) if line < len(result.hits) else ()
    rows = []
    instead = _lifted_hits(result.hits)
    # The highest score from each hit on.
    highest = [*accumulate((hit.score for hit in reversed(result.hits)), max)][::-1]
    for hit, most in zip(result.hits, highest, strict=True):
        rank = hit.rank if before is None else before.get(hit.memory.rid)
        moved = None if rank is None else rank - hit.rank
        rows.append(
            SearchRow(
                hit, None, best, moved, result, hit.memory.id in expected,
                likely=hit.rank <= line, edge=hit.rank in edges, instead=instead.get(hit.memory.id, ""),
                lifted=hit.score < most,
            )
        )  # fmt: skip
    return rows


def _lifted_hits(hits: Sequence[Hit]) -> dict[str, str]:
    """The hits (by id of the memory) that stand before one of a higher score, because they correct or replace it."""
    scores = {hit.memory.id: hit.score for hit in hits}
    return {
        one.successor.id: "replaces" if one.replaced else "corrects"
        for hit in hits
        for one in hit.cautions
        if one.successor is not None and scores.get(one.successor.id, hit.score) < hit.score
    }


def row_key(row: SearchRow) -> int:
    """The key of a row: the memory's rid, or a negative number for a pinned question."""
    if row.hit is not None:
        return row.hit.memory.rid
    return -row.saved.query_id if row.saved is not None else 0


def search_columns(
    glyphs: Glyphs, now: Callable[[], float], *, two_lines: bool = False
) -> list[Column[SearchRow]]:
    """Rank, text and how far it moved, bar, score, age.

    ``two_lines``: the text is broken at a blank, because ``rest_columns`` have the rest of it.
    """

    def rank_cell(row: SearchRow, width: int) -> Iterable[StyledText]:
        if row.hit is not None:
            yield StyledText(visible_text(f"{row.hit.rank}"), "text" if row.hit.rank <= AGENTS_SEE else "dim")

    def text_cell(row: SearchRow, width: int) -> Iterable[StyledText]:
        if row.hit is not None:
            arrow = _rank_change(row, glyphs)
            text_width, state, role = _beside_text(row, row.hit, width, now())
            content_width = max(text_width - len(state), 1)
            content = (
                _first_line(row.hit, content_width)
                if two_lines
                else one_line(row.hit.memory.content, content_width)
            )
            yield memory_sign(row.hit.memory, glyphs)
            yield StyledText(visible_text("?"), "accent") if row.expected else StyledText(visible_text(" "))
            yield StyledText(state, role)
            yield StyledText(content, "text" if row.hit.memory.active and row.likely else "dim")
            if arrow:
                yield StyledText(
                    visible_text(
                        " " * (text_width - len(state) - max_cells(content) + _MOVED - max_cells(arrow.text))
                    )
                )
                yield arrow
        elif row.saved is not None:
            if row.outcome is None:
                yield StyledText(visible_text("? "), "accent")
            elif row.outcome.passed:
                yield StyledText(visible_text(f"{glyphs.done} "), "success")
            else:
                yield StyledText(visible_text(f"{glyphs.conflict} "), "warning")
            yield StyledText(one_line(row.saved.query, width - 2))
            yield StyledText(one_line(f"{row.saved.filter}", max(width - 4 - len(row.saved.query), 0)), "dim")

    def score_bar_cell(row: SearchRow, width: int) -> Iterable[StyledText]:
        if row.hit is not None:
            for retriever, cells in stacked_bar_cells(
                shares_by_retriever(row.hit.retrievers), row.best, width
            ):
                yield StyledText(bar_text(retriever, cells, glyphs), retriever)

    def score_cell(row: SearchRow, width: int) -> Iterable[StyledText]:
        if row.hit is not None and row.lifted:
            yield StyledText(visible_text("lifted"), "accent")
        elif row.hit is not None:
            yield StyledText(
                score_text(row.hit.score, most=row.best), "strong" if row.hit.rank == 1 else "text"
            )

    def age_cell(row: SearchRow, width: int) -> Iterable[StyledText]:
        if row.hit is not None:
            yield StyledText(relative_time(row.hit.memory.event_time, now()), "dim")

    return [
        Column("rank", "", rank_cell, width=3, right=True),
        Column("text", "", text_cell, least=28, gap=1),
        Column("bar", "why", score_bar_cell, width=BAR, drop=1),
        Column("score", "score", score_cell, width=6, right=True, gap=1),
        Column("age", "age", age_cell, width=4, right=True, drop=2),
    ]


def rest_columns(first: Sequence[Column[SearchRow]], now: Callable[[], float]) -> list[Column[SearchRow]]:
    """The second line of a hit: what its first line (the ``search_columns`` for two lines) left of the text."""
    rank = first[0].width + first[1].gap

    def rest_cell(row: SearchRow, width: int) -> Iterable[StyledText]:
        if row.hit is None:
            return
        text_width, state, _ = _beside_text(row, row.hit, room_for_text(first, width + rank), now())
        begun = len(_first_line(row.hit, max(text_width - len(state), 1)))
        text = one_line(row.hit.memory.content, text_width + 2 * width)
        if rest := one_line(text[begun:], width - 2):
            yield StyledText(visible_text("  "))
            yield StyledText(rest, "text" if row.hit.memory.active and row.likely else "dim")

    return [
        Column("rank", "", lambda row, width: (), width=first[0].width),
        Column("rest", "", rest_cell, gap=first[1].gap),
    ]


def room_for_text(columns: Sequence[Column[SearchRow]], width: int) -> int:
    """The width of the column of the text in a list whose cells have ``width`` together."""
    return next(cells for column, cells in fit_columns(columns, width) if column.id == "text")


def _beside_text(row: SearchRow, hit: Hit, width: int, now: float) -> tuple[int, VisibleText, Role]:
    """The width that the text of a hit has after its sign, and the word before it, with its role."""
    text_width = max(width - 2 - (_MOVED if row.rank_change != 0 else 0), 1)
    state = ended_word(hit.memory, text_width, hit.cautions, now)
    if row.edge and not row.likely and text_width >= _LABELLED:
        state = visible_text(f"less likely  {state}")
    if row.instead and not state and text_width >= WORDED:
        return text_width, state_word(row.instead), "accent"
    return text_width, state, "warning"


def _first_line(hit: Hit, width: int) -> VisibleText:
    """As many words of a text as fit."""
    return wrap_text(one_line(hit.memory.content, 2 * width), width)[0]


def _rank_change(row: SearchRow, glyphs: Glyphs) -> StyledText | None:
    if row.rank_change is None:
        return StyledText(visible_text("new"), "success")
    if row.rank_change > 0:
        return StyledText(visible_text(f"{glyphs.rising}{row.rank_change}"), "success")
    return (
        StyledText(visible_text(f"{glyphs.falling}{-row.rank_change}"), "warning")
        if row.rank_change < 0
        else None
    )


Range = tuple[int, int, str]


def stacked_bar_cells(
    terms: Mapping[RetrieverName, float], most: float, cells: int
) -> list[tuple[RetrieverName, int]]:
    """How many cells of a bar belong to each retriever. ``most``: the score that fills the whole bar.

    The bar is as long as the sum of the scores says, however each is rounded.
    """
    if most <= 0.0:
        return []
    total = sum(terms.values())
    bar_width = max(min(round(total / most * cells), cells), 1 if total > 0.0 else 0)
    exact = {retriever: term / total * bar_width for retriever, term in terms.items()} if total > 0.0 else {}
    shares = {retriever: int(value) for retriever, value in exact.items()}
    for retriever in sorted(exact, key=lambda retriever: shares[retriever] - exact[retriever])[
        : bar_width - sum(shares.values())
    ]:
        shares[retriever] += 1
    return [(retriever, shares[retriever]) for retriever in RETRIEVERS if shares.get(retriever)]


def bar_text(retriever: RetrieverName, cells: int, glyphs: Glyphs) -> VisibleText:
    return visible_text(glyphs.retrievers[retriever] * cells)


def match_ranges(text: str, retrievers: Mapping[RetrieverName, RetrieverHit]) -> list[Range]:
    """The code points of ``text`` that matched, with their retriever: words, and names where no word matched."""
    ranges: list[Range] = []
    if "keyword" in retrievers:
        ranges += _word_ranges(text, retrievers["keyword"].matched)
    if "entity" in retrievers:
        for name in retrievers["entity"].matched:
            for hit in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE):
                start, end = hit.span()
                if all(end <= other or start >= stop for other, stop, _ in ranges):
                    ranges.append((start, end, "entity"))
    return sorted(ranges)


def _word_ranges(text: str, matched: Sequence[str]) -> Iterable[Range]:
    matched_words = set(matched)
    from memtui.engine.store.tokens import word_spans  # loads SQLite, too slow for the first paint

    for start, end, word in word_spans(text):
        if word in matched_words:
            yield start, end, "keyword"
    # Chinese, Japanese and Korean match by pairs of characters inside a run.
    for pair in matched_words:
        if not pair.isascii() and len(pair) <= 2:
            for match in re.finditer(re.escape(pair), text):
                if not _is_whole_word(text, match.start(), match.end()):
                    yield (*match.span(), "keyword")


def _is_whole_word(text: str, start: int, end: int) -> bool:
    """Whether the range is a word by itself."""
    before = start == 0 or not text[start - 1].isalnum()
    return before and (end == len(text) or not text[end].isalnum())


NAME = 12
TERM = 6
_WIDEST_BAR = 20
# Of a longer text (in code points) only a part is shown above the breakdown.
_EXCERPT_LENGTH = 600


class HitText(MemoryText):
    """Lays out a hit and the details of its memory."""

    def explain_hit(self, hit: Hit, result: SearchResult, detail: MemoryDetail | None = None) -> Content:
        """The breakdown of the score. With ``detail``, the memory and its sources below it."""
        lines = [
            *self._marked_text(hit.memory.content, hit.retrievers),
            *self._caution_lines(hit.cautions),
            assemble(""),
        ]
        lines += self._score_breakdown(hit, result)
        if detail is not None:
            lines.append(self._rule_line())
            if len(hit.memory.content) > _EXCERPT_LENGTH:
                lines += [content(hit.memory.content[:LONGEST]), assemble("")]
            lines += [
                *self._state_lines(hit.memory),
                *self._open_card_lines(detail),
                *self._successor_line(detail),
                *self._replacement_lines(detail),
            ]
            lines += self._topic_date_tags_lines(hit.memory)
            lines += self._paragraph_group(
                self._source_lines(detail), self._entity_lines(detail), self._version_lines(detail)
            )
            lines += self._paragraph_group(self._neighbour_lines(detail))
            lines += self._paragraph_group(self._identity_line(hit.memory))
        return Content("\n").join(lines)

    def explain_memory(
        self, explanation: Explanation, best: float, listed: int, served: LabelledLine | None = None
    ) -> Content:
        """Why a memory is or is not among the hits. ``best``: the score of row 1. ``listed``: the number of rows.

        ``told``: whether the context block has it, where the question is about that.
        """
        lines = [*self._marked_text(explanation.memory.content, explanation.retrievers), assemble("")]
        for label, reason in (
            *((served,) if served is not None else ()),
            *explanation_lines(explanation, listed),
        ):
            lines += self.labelled(label, content_of_line(reason))
        lines.append(assemble(""))
        lines += self._retriever_lines(explanation.retrievers, {}, max(best, explanation.score))
        for retriever in RETRIEVERS:
            if (
                retriever not in explanation.retrievers and retriever != "word_vector"
            ):  # which finds nothing by itself
                lines += self._absent_line(retriever, "does not find it")
        if explanation.retrievers:
            rank = f"  number {explanation.rank:,}" if explanation.rank is not None else ""
            lines.append(self._total_line(explanation.score, max(best, explanation.score), rank))
        return Content("\n").join(lines)

    # -- parts

    def _marked_text(self, text: str, retrievers: dict[RetrieverName, RetrieverHit]) -> Iterable[Content]:
        """The memory's text with its matches in the colour of their retriever. A long text is cut around the first match."""
        shown = text[:LONGEST]
        ranges = match_ranges(shown, retrievers)
        first = ranges[0][0] if ranges else 0
        at = (
            first - _EXCERPT_LENGTH // 6
            if first > _EXCERPT_LENGTH // 2 and len(shown) > _EXCERPT_LENGTH
            else 0
        )
        last = at + _EXCERPT_LENGTH
        parts: list[str | tuple[str, str]] = ["…" if at else ""]
        for start, end, retriever in ranges:
            if at <= start and end <= last:
                parts += [shown[at:start], (shown[start:end], f"bold ${retriever}")]
                at = end
        yield assemble(*parts, shown[at:last], "…" if last < len(text) else "")

    def _score_breakdown(self, hit: Hit, result: SearchResult) -> Iterable[Content]:
        best = result.best
        reports = {report.retriever: report for report in result.retrievers}
        yield from self._retriever_lines(hit.retrievers, reports, best)
        yield self._total_line(hit.score, best)
        yield from self._reason_above(hit, result)
        missing = [
            retriever for retriever in RETRIEVERS if retriever in reports and retriever not in hit.retrievers
        ]
        if missing:
            yield assemble("")
            for retriever in missing:
                yield from self._absent_line(retriever, reason_absent(reports.get(retriever)))

    def _retriever_lines(
        self,
        retrievers: dict[RetrieverName, RetrieverHit],
        reports: dict[RetrieverName, RetrieverReport],
        best: float,
    ) -> Iterable[Content]:
        """A line for each retriever that found it, with what matched below."""
        answering = [retriever for retriever in RETRIEVERS if retriever in retrievers]
        for short in (False, True):
            ranks = {
                retriever: rank_text(retrievers[retriever], reports.get(retriever), short=short)
                for retriever in answering
            }
            raws = {
                retriever: raw_score(retriever, retrievers[retriever], short=short) for retriever in answering
            }
            rank_width = max(map(len, ranks.values()), default=0) + 1
            raw_width = max(map(len, raws.values()), default=0) + 1
            bar_width = self.width - NAME - rank_width - raw_width - TERM
            if bar_width >= 0:
                break
        bar_width = max(bar_width, 0)
        for retriever in answering:
            hit = retrievers[retriever]
            filled = (
                stacked_bar_cells({retriever: hit.term}, best, min(bar_width, _WIDEST_BAR))
                if bar_width > 3 and hit.term
                else []
            )
            level = bar_text(retriever, filled[0][1], self.glyphs) if filled else visible_text("")
            yield assemble(
                (retriever_label(retriever).ljust(NAME), f"${retriever}"),
                ranks[retriever].ljust(rank_width),
                (raws[retriever].ljust(raw_width), "$text-muted"),
                (level, f"${retriever}"),
                " " * max(bar_width - max_cells(level), 0),
                (share_text(hit, best).rjust(TERM), "bold"),
            )
            words = matched_text(retriever, hit)
            if words:
                for part in content(words, "$text-muted", limit=400).wrap(max(self.width - NAME, 8)):
                    yield assemble(" " * NAME, part)

    def _total_line(self, score: float, best: float, rank: str = "") -> Content:
        total = str(score_text(score, most=best))
        blanks = " " * max(self.width - len("total") - 2 - len(total) - len(rank), 0)
        return assemble(blanks, ("total", "$text-muted"), "  ", (total, "bold"), (rank, "$text-muted"))

    def _reason_above(self, hit: Hit, result: SearchResult) -> Iterable[Content]:
        """Why it ranks above the next row."""
        if hit.rank >= len(result.hits):
            return
        yield assemble("")
        yield from content_of_line(reason_above(hit, result.hits[hit.rank], result.best)).wrap(self.width)

    def _absent_line(self, retriever: RetrieverName, why: str) -> Iterable[Content]:
        name = assemble((retriever_label(retriever).ljust(NAME), "$text-muted"))
        for index, part in enumerate(assemble((why, "$text-muted")).wrap(max(self.width - NAME, 8))):
            yield assemble(name if index == 0 else " " * NAME, part)

    def _rule_line(self) -> Content:
        return assemble("\n", (self.glyphs.rule * self.width, "$frame"))
