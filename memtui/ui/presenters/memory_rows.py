"""Memories as rows of a list: their source and their columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

from memtui.present import replacement
from memtui.present.caution import caution_label
from memtui.present.format import local_date, relative_time
from memtui.present.memory import (
    confidence_text,
    ended_reason,
    is_fading,
    is_full_confidence,
    is_past_plan,
    is_replaced,
    plan_day,
)
from memtui.present.text import Role, VisibleText, one_line, visible_text
from memtui.ui.widgets.columns import Column, Order, StyledText

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import Caution, MemoryRecord, Replacement
    from memtui.engine.search.listing import SortKey
    from memtui.present.glyphs import Glyphs

BAR = 5
# A column this wide has room for a word before the text.
WORDED = 26
# The length of the longest such word: all texts begin in the same column.
_WORD = len("forgotten")
_DATE = len("28 Oct 2025")

ORDERS = (
    Order("time", True, "newest first", "oldest first"),
    Order("confidence", True, "surest first", "least sure first"),
    Order("content", False, "by text, Z to A", "by text, A to Z"),
    Order("kind", False, "by kind, reflections before facts", "by kind, facts before reflections"),
    Order("trust", False, "least trusted first", "most trusted first"),
    Order("accessed", True, "last recalled first", "longest not recalled first"),
    Order("day", False, "last day first", "next day first"),
    Order("created", True, "last written down first", "first written down first"),
    Order("fades", False, "last to fade first", "next to fade first"),
)


class MemoryRow(NamedTuple):
    """A memory, the names of the entities in it, its cautions (what is no longer true), and what replaced what around it.

    ``fades``: when it does (Unix seconds), where the list is about that.
    """

    memory: MemoryRecord
    entities: tuple[str, ...]
    cautions: tuple[Caution, ...] = ()
    replacements: tuple[Replacement, ...] = ()
    fades: float | None = None


class MemorySource:
    """The memories that pass a filter, in an order (see ``row_source``).

    ``episodes``: whether turns of conversations are listed if the filter does not say so.
    """

    def __init__(
        self, memory: Memory, filter: str, order: tuple[str, bool], *, episodes: bool = False
    ) -> None:
        self._memory = memory
        self._filter = filter
        self._episodes = episodes
        self._sort = cast("SortKey", order[0])
        self._falling = order[1]
        self._fades = dates_shown(filter, order) == "until"

    def whole_filter(self) -> str:
        """The typed filter and the terms that the list adds by itself. Raises FilterError."""
        from memtui.engine.search.listing import without_turns

        return self._filter if self._episodes else without_turns(self._filter)

    def count(self) -> int:
        return self._memory.view.count(self.whole_filter())

    def page_rows(self, offset: int, limit: int) -> Sequence[MemoryRow]:
        return self._with_entities(
            self._memory.view.page(
                self.whole_filter(), sort=self._sort, descending=self._falling, offset=offset, limit=limit
            )
        )

    def row_keys(self) -> Iterator[Sequence[int]]:
        return self._memory.view.rids(self.whole_filter(), sort=self._sort, descending=self._falling)

    def rows_by_key(self, keys: Sequence[int]) -> Sequence[MemoryRow]:
        return self._with_entities(self._memory.view.rows(keys))

    def row_key(self, row: MemoryRow) -> int:
        return row.memory.rid

    def _with_entities(self, memories: Sequence[MemoryRecord]) -> Sequence[MemoryRow]:
        names = self._memory.view.entity_names([memory.rid for memory in memories])
        ids = [memory.id for memory in memories]
        cautions = self._memory.view.cautions(ids)
        replaced = self._memory.view.replacements(ids)
        fades = self._memory.view.fade_times([one.rid for one in memories]) if self._fades else {}
        return [
            MemoryRow(
                one, names.get(one.rid, ()), cautions.get(one.id, ()), replaced.get(one.id, ()), fades.get(one.rid)
            )
            for one in memories
        ]  # fmt: skip


Dates = Literal["age", "day", "until"]
"""What a list says of time: how long ago a memory was said, the day that it names, or when it fades."""


def dates_shown(filter: str, order: tuple[str, bool]) -> Dates:
    """What a list with this filter and order says of time."""
    if order[0] == "day":
        return "day"
    return "until" if order[0] == "fades" or "is:fading" in filter.split() else "age"


def memory_columns(glyphs: Glyphs, now: Callable[[], float], dates: Dates = "age") -> list[Column[MemoryRow]]:
    """Text, whether it is pinned and protected, confidence as bar and number, its time, entities, topic, tags."""

    def text_cell(row: MemoryRow, width: int) -> Iterable[StyledText]:
        yield memory_sign(row.memory, glyphs)
        yield StyledText(VisibleText(" "))
        ending = ended_word(row.memory, width, row.cautions)
        role: Role = "warning"
        if not ending and width >= WORDED and (changed := changed_word(row.memory, row.replacements)):
            ending, role = state_word(changed), "accent"
        elif not ending and dates != "day" and width >= WORDED and (day := plan_day(row.memory, now())):
            ending, role = state_word(day), "dim"
        yield StyledText(ending, role)
        # The mark of a pinned memory is next to the text.
        text_width = width - 2 - len(ending) - row.memory.pinned
        yield StyledText(one_line(row.memory.content, text_width), "text" if row.memory.active else "dim")

    def kept_cell(row: MemoryRow, width: int) -> Iterable[StyledText]:
        yield StyledText(visible_text(glyphs.pinned if row.memory.pinned else " "), "accent")
        yield StyledText(visible_text(glyphs.protected if row.memory.protected else ""), "success")

    def confidence_bar_cell(row: MemoryRow, width: int) -> Iterable[StyledText]:
        # Most have full confidence. A bar is drawn only if it is less.
        if is_full_confidence(row.memory.effective):
            return
        filled = min(round(max(row.memory.effective, 0.0) * BAR), BAR - 1)
        yield StyledText(visible_text(glyphs.bar * filled), _level_role(row.memory))
        yield StyledText(visible_text(glyphs.empty * (BAR - filled)), "faint")

    def confidence_cell(row: MemoryRow, width: int) -> Iterable[StyledText]:
        yield StyledText(confidence_text(row.memory.effective), _level_role(row.memory))

    def age_cell(row: MemoryRow, width: int) -> Iterable[StyledText]:
        yield StyledText(relative_time(row.memory.event_time, now()), "dim")

    def day_cell(row: MemoryRow, width: int) -> Iterable[StyledText]:
        if (day := row.memory.happens_at) is not None:
            past = is_past_plan(row.memory, now())
            yield StyledText(local_date(day, now()), "dim" if past else "accent")

    def until_cell(row: MemoryRow, width: int) -> Iterable[StyledText]:
        if row.fades is not None:
            due = row.fades <= now()
            yield StyledText(VisibleText("due") if due else local_date(row.fades, now()), "warning")

    def entities_cell(row: MemoryRow, width: int) -> Iterable[StyledText]:
        yield StyledText(one_line(", ".join(row.entities), width), "entity")

    def topic_cell(row: MemoryRow, width: int) -> Iterable[StyledText]:
        past = is_past_plan(row.memory, now())
        yield StyledText(
            visible_text("past" if past else row.memory.topic or ""), "warning" if past else "dim"
        )

    def tags_cell(row: MemoryRow, width: int) -> Iterable[StyledText]:
        yield StyledText(one_line(" ".join(row.memory.tags), width), "dim")

    time_column: dict[Dates, Column[MemoryRow]] = {
        "age": Column("age", "age", age_cell, width=4, right=True, sort="time"),
        "day": Column("day", "day", day_cell, width=_DATE, right=True, sort="day"),
        "until": Column("until", "until", until_cell, width=_DATE, right=True, sort="fades"),
    }
    return [
        Column("text", "memory", text_cell, least=40, sort="content"),
        Column("kept", "", kept_cell, width=2, gap=0),
        Column("bar", "conf", confidence_bar_cell, width=BAR, drop=1, gap=1, sort="confidence"),
        Column("number", "", confidence_cell, width=3, gap=1, sort="confidence"),
        time_column[dates],
        Column("entities", "about", entities_cell, width=18, drop=3),
        Column("topic", "topic", topic_cell, width=10, drop=2),
        Column("tags", "tags", tags_cell, width=14, drop=4),
    ]


def memory_sign(memory: MemoryRecord, glyphs: Glyphs) -> StyledText:
    """The sign before a memory: replaced, in the Trash, fading, or its kind."""
    if not memory.active:
        return StyledText(ended_sign(memory, glyphs), "warning")
    if is_fading(memory):
        return StyledText(visible_text(glyphs.fading), "warning")
    role: Role = "dim" if memory.kind == "episode" else "accent"
    return StyledText(visible_text(glyphs.kinds[memory.kind]), role)


def ended_sign(memory: MemoryRecord, glyphs: Glyphs) -> VisibleText:
    """The sign of a memory in the Trash."""
    return visible_text(glyphs.replaced if is_replaced(memory) else glyphs.ended)


def ended_word(
    memory: MemoryRecord, width: int, cautions: Sequence[Caution] = (), now: float | None = None
) -> VisibleText:
    """Why it is in the Trash or no longer true, shown before its text: ``replaced   ``, ``corrected  ``.

    ``now``: a plan whose day is over by then is ``past``. Empty if it is active and true, and in a narrow list.
    """
    past = now is not None and is_past_plan(memory, now)
    if width < WORDED or (memory.active and not cautions and not past):
        return VisibleText("")
    word = (
        ended_reason(memory)
        if not memory.active
        else caution_label(cautions[0], memory)
        if cautions
        else "past"
    )
    return state_word(word)


def state_word(word: str) -> VisibleText:
    """A word before a text, so that the texts behind such words begin in one column."""
    return visible_text(f"{word:{_WORD}}  ")


def changed_word(memory: MemoryRecord, replacements: Sequence[Replacement]) -> str:
    """``changed`` before a text that took the place of another one; ``changed?`` before both while Review asks. Else empty."""
    those = [one for one in replacements if one.new.id == memory.id or one.how == "asked"]
    return replacement.label(those[-1]) if those else ""


def _level_role(memory: MemoryRecord) -> Role:
    return "warning" if is_fading(memory) else "dim"
