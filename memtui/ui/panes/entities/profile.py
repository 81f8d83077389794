"""The profile of an entity as lines: who it is, its memories, and the entities mentioned with it.

A *stop* is an item that can be opened: a memory, another entity, or the rest of the memories. The functions
make lines of records; ``EntityProfileView`` draws them. ``NameMarks`` finds the entity's names in a text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from memtui.present import caution, replacement
from memtui.present.entity import DECIDED, entity_facts, unsearched_note
from memtui.present.format import MONTHS, format_count, plural, relative_time
from memtui.present.text import VisibleText, max_cells, one_line, one_line_part, visible_text
from memtui.ui.presenters.memory_rows import ended_word, memory_sign
from memtui.ui.presenters.plots import resample_values
from memtui.ui.presenters.text_layout import wrap_text
from memtui.ui.widgets.columns import StyledText
from memtui.ui.widgets.stop_view import GUTTER, Line, LinePart, StopLayout

if TYPE_CHECKING:
    from memtui.engine.records import Entity, MemoryRecord, Replacement
    from memtui.present.glyphs import Glyphs
    from memtui.ui.presenters.entity import EntityPortrait, MonthCount
import re
import unicodedata
from typing import ClassVar

from textual.message import Message

from memtui.ui.actions import BY_ID, ActionContext
from memtui.ui.keymap import bindings_at
from memtui.ui.messages import message_type
from memtui.ui.widgets.stop_view import StopView

# Only the start of a longer text is searched, and only the first names of an entity with more.
_LOOKED_AT, _NAMES = 20_000, 50
# A line holds that many code points at most.
_LONGEST_NAME = 200


class NameMarks:
    """The names of one entity."""

    def __init__(self, names: Iterable[str]) -> None:
        longest_first = sorted(
            {name.strip()[:_LONGEST_NAME] for name in names} - {""}, key=len, reverse=True
        )[:_NAMES]
        self._pattern = (
            re.compile("|".join(map(_whole_word_pattern, longest_first)), re.IGNORECASE)
            if longest_first
            else None
        )

    def ranges(self, text: str) -> list[tuple[int, int]]:
        """The positions of the names, as ranges of code points."""
        if self._pattern is None:
            return []
        return [match.span() for match in self._pattern.finditer(text, 0, _LOOKED_AT)]

    def line(self, text: str, width: int) -> list[StyledText]:
        """One line of at most ``width`` cells: the start of the text, or the part with a name."""
        shown = one_line(text, width)
        ranges = self.ranges(shown)
        if not ranges and (own_ranges := self.ranges(text)):
            later = one_line(_text_around(text, own_ranges[0][0], width), width)
            if ranges := self.ranges(later):
                shown = later
        return _marked_pieces(shown, ranges)


def _text_around(text: str, start: int, width: int) -> str:
    """The text from a little before ``start``, or as much of its end as fits."""
    begin = max(min(start - width // 4, len(text) - width + 1), 0)
    blank = text.find(" ", begin, start)
    return f"…{text[blank + 1 if blank >= 0 else begin : begin + _LOOKED_AT]}"


def _marked_pieces(shown: VisibleText, ranges: Sequence[tuple[int, int]]) -> list[StyledText]:
    pieces, at = [], 0
    for start, end in ranges:
        pieces.append(StyledText(VisibleText(shown[at:start])))  # safe-text: a piece of visible text
        pieces.append(
            StyledText(VisibleText(shown[start:end]), "entity")
        )  # safe-text: a piece of visible text
        at = end
    pieces.append(StyledText(VisibleText(shown[at:])))  # safe-text: a piece of visible text
    return [piece for piece in pieces if piece.text]


def _whole_word_pattern(name: str) -> str:
    """A pattern for the name as a whole word, if its script separates words by blanks."""
    before = r"(?<!\w)" if _letter_boundary(name[0]) else ""
    after = r"(?!\w)" if _letter_boundary(name[-1]) else ""
    return f"{before}{re.escape(name)}{after}"


def _letter_boundary(letter: str) -> bool:
    return letter.isalnum() and unicodedata.east_asian_width(letter) not in "WF"


LABEL = 12
# From this width on, the entities mentioned with it are beside the memories.
WIDE, RIGHT, GAP = 96, 34, 3
# The sign of a memory in which only a language model found it.
ADDED = "+"
# With one column, this many related entities are shown between facts and turns.
_COMPANIONS = 8
_AGE, _PLACE, _PLACE_FROM = 4, 22, 64
_CHANGE_INDENT = 4
_SUMMARY, _ALIASES = 600, 400
# A sparkline needs at least this many months.
_MONTHS_LEAST = 4


class ProfileStop(NamedTuple):
    """What Enter opens: a memory, an entity, or (if both are None) the memories that are not listed here."""

    memory: MemoryRecord | None = None
    entity: Entity | None = None

    @property
    def key(self) -> tuple[str, int]:
        """The identity of the stop. It stays the same when the profile is read again."""
        if self.memory is not None:
            return "memory", self.memory.rid
        return ("entity", self.entity.eid) if self.entity is not None else ("rest", 0)


class EntityProfileText:
    """Lays out profiles ``width`` cells wide, as of ``now``. ``keys``: what to press, by action."""

    def __init__(self, width: int, now: float, glyphs: Glyphs, keys: Mapping[str, str]) -> None:
        self.width = max(width, 20)
        self.now = now
        self.glyphs = glyphs
        self.keys = keys
        self._stops: list[ProfileStop] = []

    def lay_out(self, portrait: EntityPortrait) -> StopLayout[ProfileStop]:
        self._stops = []
        lines: list[Line] = [(LinePart(pieces, self.width),) for pieces in self._heading_lines(portrait)]
        marks = NameMarks((portrait.entity.canonical_name, *portrait.entity.aliases))
        facts = [one for one in portrait.memories if one.kind == "fact"]
        others = [one for one in portrait.memories if one.kind != "fact"]
        two = self.width >= WIDE and bool(portrait.seen_with)
        left = self.width - RIGHT - GAP if two else self.width
        column: list[LinePart] = []
        column += self._memory_section("facts", facts, left, marks, portrait)
        if not two:
            column += self._companion_lines(portrait, left, _COMPANIONS)
        column += self._memory_section(
            "also mentioned in" if facts else "mentioned in", others, left, marks, portrait
        )
        column += self._more_memories_line(portrait, left)
        first_right = len(self._stops)
        if two:
            right = list(self._companion_lines(portrait, RIGHT))
            # The second column has a bar of its own for the cursor, in the gap.
            blank, between = LinePart((), left), GAP - GUTTER
            for one, other in zip_longest(column, right):
                one = one or blank
                lines.append((one._replace(width=one.width + between), other or LinePart((), RIGHT)))
        else:
            lines += [(part,) for part in column]
        rows = [0] * len(self._stops)
        for number, line in enumerate(lines):
            for part in line:
                if part.stop is not None:
                    rows[part.stop] = number
        columns = [int(number >= first_right) for number in range(len(self._stops))]
        return StopLayout(lines, tuple(self._stops), rows, columns)

    # -- who it is

    def _heading_lines(self, portrait: EntityPortrait) -> Iterable[list[StyledText]]:
        entity = portrait.entity
        if entity.summary:
            yield from (
                [StyledText(line)] for line in wrap_text(visible_text(entity.summary, _SUMMARY), self.width)
            )
            for one in portrait.cautions.get(entity.id, ())[:1]:
                ended = "".join(text for text, _ in caution.caution_line(one, self.now))
                yield [StyledText(one_line(ended, self.width), "warning")]
        elif key := self.keys.get("summary"):
            yield [
                StyledText(visible_text(key), "accent"),
                StyledText(visible_text("  say in a line who or what this is"), "dim"),
            ]
        yield []
        pieces = [StyledText(one_line(entity.type, self.width - LABEL))]
        if entity.decided:
            pieces += [
                StyledText(visible_text(f"  {self.glyphs.protected}"), "success"),
                StyledText(visible_text(f" {DECIDED}"), "dim"),
            ]
        yield from self._labelled_line("type", pieces)
        for label, parts in entity_facts(entity, portrait.unlinked, self.now, between=f" {self.glyphs.dot} "):
            yield from self._wrapped_line(label, parts[0][0])
            if label == "mentioned":
                yield from self._month_chart(portrait.months)
        if portrait.added:
            number = plural(len(portrait.added), "memory")
            yield from self._wrapped_line(
                "enriched", f"found in {number} only when a model read them again: {ADDED}"
            )
        if portrait.waiting:
            line = visible_text(f"{self.glyphs.busy} {unsearched_note(portrait.waiting)}")
            yield from self._labelled_line("reading", [StyledText(line, "accent")])
        yield []

    def _month_chart(self, months: Sequence[MonthCount]) -> Iterable[list[StyledText]]:
        if len(months) < _MONTHS_LEAST:
            return
        ends = f"  {_month_label(months[0])} to {_month_label(months[-1])}"
        chart_width = self.width - LABEL - len(ends)
        if chart_width < _MONTHS_LEAST:
            ends, chart_width = "", self.width - LABEL
        values = [month.memories for month in months]
        shown = values if len(values) <= chart_width else resample_values(values, chart_width, sum)
        top, levels = max([*shown, 1]), self.glyphs.curve
        bars = "".join(levels[(value * len(levels) - 1) // top] if value else " " for value in shown)
        yield from self._labelled_line(
            "by month", [StyledText(visible_text(bars), "entity"), StyledText(visible_text(ends), "dim")]
        )

    def _labelled_line(self, label: str, pieces: Sequence[StyledText]) -> Iterable[list[StyledText]]:
        yield [StyledText(visible_text(label.ljust(LABEL)), "dim"), *pieces]

    def _wrapped_line(self, label: str, text: str) -> Iterable[list[StyledText]]:
        for index, line in enumerate(wrap_text(visible_text(text, _ALIASES), self.width - LABEL)):
            yield from self._labelled_line("" if index else label, [StyledText(line)])

    # -- lists

    def _memory_section(
        self,
        title: str,
        shown: Sequence[MemoryRecord],
        width: int,
        marks: NameMarks,
        portrait: EntityPortrait,
    ) -> Iterable[LinePart]:
        if not shown:
            return
        yield self._section_heading(title, len(shown) if portrait.is_complete else 0, width)
        where = (
            _PLACE if width >= _PLACE_FROM and any(one.session_id in portrait.titles for one in shown) else 0
        )
        for one in shown:
            yield self._stop_line(
                ProfileStop(memory=one), self._memory_line(one, width, where, marks, portrait), width
            )
            change = replacement.latest_of(portrait.replaced.get(one.id, ()), one)
            if one.active and change is not None:
                yield LinePart(self._change_line(change, one, width), width)
        yield LinePart((), width)

    def _memory_line(
        self, one: MemoryRecord, width: int, where: int, marks: NameMarks, portrait: EntityPortrait
    ) -> list[StyledText]:
        age = relative_time(one.event_time, self.now)
        text_width = width - 2 - _AGE - 1 - (where + 2 if where else 0)
        state = ended_word(one, text_width, portrait.cautions.get(one.id, ()))
        pieces = [memory_sign(one, self.glyphs), StyledText(VisibleText(" ")), StyledText(state, "warning")]
        pieces += marks.line(one.content, text_width - len(state))
        pieces.append(_blank_cells(text_width - sum(max_cells(piece.text) for piece in pieces[2:])))
        if where:
            title = one_line(portrait.titles.get(one.session_id or "", ""), where)
            pieces += [_blank_cells(2), StyledText(title, "dim"), _blank_cells(where - max_cells(title))]
        added = ADDED if one.rid in portrait.added else " "
        return [
            *pieces,
            StyledText(visible_text(added), "context"),
            StyledText(visible_text(age.rjust(_AGE)), "dim"),
        ]

    def _change_line(self, change: Replacement, of: MemoryRecord, width: int) -> list[StyledText]:
        """What it was before: ``was 12 May, now 19 May (said on 4 May)``."""
        pieces, text_width = [_blank_cells(_CHANGE_INDENT)], width - _CHANGE_INDENT
        for text, role in replacement.line(change, self.now, of):
            shown = visible_text(text) if max_cells(text) <= text_width else one_line_part(text, text_width)
            pieces.append(StyledText(shown, role))
            text_width -= max_cells(shown)
            if text_width < 1:
                break
        return pieces

    def _more_memories_line(self, portrait: EntityPortrait, width: int) -> Iterable[LinePart]:
        if portrait.is_complete:
            return
        more = f"all {format_count(portrait.total)} in Memories"
        yield self._stop_line(
            ProfileStop(),
            [
                StyledText(visible_text(f"{self.glyphs.rule} "), "dim"),
                StyledText(visible_text(more), "accent"),
            ],
            width,
        )
        yield LinePart((), width)

    def _companion_lines(self, portrait: EntityPortrait, width: int, most: int = 0) -> Iterable[LinePart]:
        shown = portrait.seen_with[:most] if most else portrait.seen_with
        if not shown:
            return
        yield self._section_heading("seen together with", 0, width)
        kind = 12 if width >= 44 else 0
        for one in shown:
            number = visible_text(format_count(one.together).rjust(6))
            name_width = width - max_cells(number) - (kind + 1 if kind else 0)
            name = one_line(one.entity.canonical_name, name_width)
            pieces = [StyledText(name, "entity"), _blank_cells(name_width - max_cells(name))]
            if kind:
                type = one_line(one.entity.type, kind)
                pieces += [_blank_cells(1), StyledText(type, "dim"), _blank_cells(kind - max_cells(type))]
            yield self._stop_line(ProfileStop(entity=one.entity), [*pieces, StyledText(number, "dim")], width)
        yield LinePart((), width)

    def _section_heading(self, title: str, number: int, width: int) -> LinePart:
        pieces = [StyledText(one_line(title, width), "strong")]
        if number:
            pieces.append(StyledText(visible_text(f" {format_count(number)}"), "dim"))
        return LinePart(pieces, width)

    def _stop_line(self, stop: ProfileStop, pieces: Sequence[StyledText], width: int) -> LinePart:
        self._stops.append(stop)
        return LinePart(pieces, width, len(self._stops) - 1)


def _blank_cells(number: int) -> StyledText:
    return StyledText(visible_text(" " * max(number, 0)))


def _month_label(month: MonthCount) -> str:
    return f"{MONTHS[month.month - 1]} {month.year}"


class EntityProfileView(StopView[ProfileStop]):
    """The profile of an entity."""

    BINDINGS = [*bindings_at("profile", "mentions")]
    part: ClassVar[ActionContext] = "profile"

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys for a memory work while the cursor is on one."""
        if self.stop_at_cursor is not None and self.stop_at_cursor.memory is not None:
            return True
        return action not in ("perform", "chord") or "profile" in BY_ID[str(parameters[0])].where

    @message_type
    class ListRequested(Message):
        """The person goes to the list."""

    def do_focus_list(self) -> None:
        """To the left column, then to the list."""
        if not self.move_across(-1):
            self.post_message(self.ListRequested())

    def do_focus_preview(self) -> None:
        self.move_across(1)
