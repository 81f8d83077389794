"""Sessions as rows of a list: their source and their columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from memtui.present.format import format_count, relative_time
from memtui.present.session import consolidation_failure, consolidation_status, session_facts, session_state
from memtui.present.text import VisibleText, one_line, visible_text
from memtui.ui.presenters.text_layout import wrap_text
from memtui.ui.widgets.columns import Column, Order, StyledText

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records.lists import SessionRow
    from memtui.present.glyphs import Glyphs

    from .turn_lines import Line

ORDERS = (
    Order("pending", True, "waiting first", "waiting last"),
    Order("time", True, "latest first", "oldest first"),
    Order("title", False, "by title, Z to A", "by title, A to Z"),
)
_SUMMARY = 600


class SessionSource:
    """The sessions that contain some words, in an order (see ``row_source``)."""

    def __init__(self, memory: Memory, words: str, order: tuple[str, bool]) -> None:
        self._list = memory.view.session_list
        self._words = words
        self._order, self._falling = order

    def count(self) -> int:
        return self._list.count(self._words)

    def page_rows(self, offset: int, limit: int) -> Sequence[SessionRow]:
        return self._list.page(
            self._words, order=self._order, falling=self._falling, offset=offset, limit=limit
        )

    def row_keys(self) -> Iterator[Sequence[int]]:
        return self._list.keys(self._words, order=self._order, falling=self._falling)

    def rows_by_key(self, keys: Sequence[int]) -> Sequence[SessionRow]:
        return self._list.rows(keys)

    def row_key(self, row: SessionRow) -> int:
        return row.sid


def session_columns(
    glyphs: Glyphs, now: Callable[[], float], model: Callable[[], str]
) -> list[Column[SessionRow]]:
    """Mark, title, source, project, turns, span, state, age. ``model``: the language model that is configured, or ""."""

    def state_sign_cell(row: SessionRow, width: int) -> Iterable[StyledText]:
        _, role = session_state(row)
        yield StyledText(visible_text(_sign_of_row(row, glyphs)), role)

    def title_cell(row: SessionRow, width: int) -> Iterable[StyledText]:
        yield StyledText(one_line(row.session.name, width))

    def source_cell(row: SessionRow, width: int) -> Iterable[StyledText]:
        yield StyledText(one_line((row.session.source or "").removeprefix("import:"), width), "dim")

    def project_cell(row: SessionRow, width: int) -> Iterable[StyledText]:
        yield StyledText(one_line(row.session.project or "", width), "dim")

    def turn_count_cell(row: SessionRow, width: int) -> Iterable[StyledText]:
        yield StyledText(format_count(row.session.turns))

    def span_cell(row: SessionRow, width: int) -> Iterable[StyledText]:
        seconds = row.session.last_seen_at - row.session.first_seen_at
        yield StyledText(relative_time(0, seconds) if seconds >= 60 else VisibleText("<1m"), "dim")

    def state_cell(row: SessionRow, width: int) -> Iterable[StyledText]:
        word, role = session_state(row, model())
        yield StyledText(visible_text(word), role)

    def age_cell(row: SessionRow, width: int) -> Iterable[StyledText]:
        yield StyledText(relative_time(row.session.last_seen_at, now()), "dim")

    return [
        Column("mark", "", state_sign_cell, width=1),
        Column("title", "session", title_cell, least=30, gap=1, sort="title"),
        Column("source", "source", source_cell, width=11, drop=2),
        Column("project", "project", project_cell, width=11, drop=3),
        Column("turns", "turns", turn_count_cell, width=6, right=True),
        Column("span", "span", span_cell, width=4, right=True, drop=4),
        Column("state", "state", state_cell, width=9, drop=1, sort="pending"),
        Column("age", "age", age_cell, width=4, right=True, sort="time"),
    ]


def session_head(
    row: SessionRow, width: int, now: float, glyphs: Glyphs, model: str, keys: Callable[[str], str]
) -> list[Line]:
    """The head above the first turn: source, state of consolidation, errors.

    ``model``: the language model that is configured, or ""; ``keys``: the key of an action.
    """
    session = row.session
    text = f" {glyphs.dot} ".join(session_facts(session, now))
    lines: list[Line] = [[StyledText(line, "dim")] for line in wrap_text(visible_text(text), width)]
    text, role = consolidation_status(row, now)
    lines += [
        [StyledText(line, role)]
        for line in wrap_text(visible_text(f"{_sign_of_row(row, glyphs)} {text}"), width)
    ]
    if error := consolidation_failure(row):
        lines += [[StyledText(line, "error")] for line in wrap_text(visible_text(error, _SUMMARY), width)]
        offer = f"{keys('by_rules')} reads it by rules now; {keys('run')} tries again"
        lines += [[StyledText(line, "accent")] for line in wrap_text(visible_text(offer), width)]
    elif model and session.by_rules:
        offer = f"read by rules: {keys('again')} reads it again with {model}"
        lines += [[StyledText(line, "context")] for line in wrap_text(visible_text(offer), width)]
    if session.summary:
        lines.append([])
        lines += [
            [StyledText(line)]
            for line in wrap_text(visible_text(session.summary, _SUMMARY, newlines=True), width)
        ]
    lines += [[StyledText(visible_text(glyphs.rule * width), "faint")], []]
    return lines


def _sign_of_row(row: SessionRow, glyphs: Glyphs) -> str:
    signs = {"failed": glyphs.conflict, "done": glyphs.done, "skipped": glyphs.dot}
    return signs.get(row.state, glyphs.pending)
