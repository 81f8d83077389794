"""The timeline in words and as a drawing: a row of bars for each topic, person or project, and time across.

``draw`` makes lines of texts in roles from the counts alone, for the app, the command line and pictures.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from itertools import pairwise
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.records import LAYERS

from . import replacement
from .format import (
    MONTHS,
    WHOLE_DAYS,
    WHOLE_MONTHS,
    format_count,
    local_datetime,
    plural,
    relative_time,
    short_count,
)
from .memory import without_secrets
from .portrait import TITLES
from .text import Line, Part, Role, max_cells, one_line

if TYPE_CHECKING:
    from memtui.engine.records import Layer, MemoryRecord, Replacement, RowsBy, Timeline, TimelineRow, Unit

    from .glyphs import Glyphs

ROLES: Mapping[Layer, Role] = {
    "learned": "accent", "changed": "warning", "forgotten": "error", "faded": "vector", "recalled": "success",
}  # fmt: skip
EVERYTHING = "Everything"
_WITHOUT: Mapping[RowsBy, str] = {
    "topic": "No topic", "person": "Nobody", "project": "No project",
}  # fmt: skip
_TITLES: Mapping[str, str] = {topic: title for topic, title in TITLES.items() if topic is not None}
_MANY: Mapping[Unit, str] = {
    "year": "years", "quarter": "quarters", "month": "months", "week": "weeks", "day": "days", "hour": "hours",
}  # fmt: skip
_ON: Mapping[Unit, str] = {"week": "from", "day": "on", "hour": "on"}

# A period is at most so many cells wide, the row of everything so many lines high, and in a pipe so many.
_WIDEST, _HIGHEST_SKY, _SKY = 8, 6, 3
# The lines below the grid: the rule, what the cell says, and the first texts in it.
_LEAST_BELOW = 3
# How high the other rows may be, and how many lines below the grid there must be then.
_HEIGHTS = ((3, 9), (2, 6), (1, 5))
_NUMBER = 5
# So much of a name is in a sentence.
_NAME = 40
# The cells of a text before it was changed.
_OLD = 200


# -- words


def row_name(timeline: Timeline, row: TimelineRow) -> str:
    """The name of a row as it is shown; as stored for persons and projects."""
    if row is timeline.all:
        return EVERYTHING
    if row.name is None:
        return _WITHOUT[timeline.by]
    return _TITLES[row.name] if timeline.by == "topic" else row.name


def _short_name(timeline: Timeline, row: TimelineRow) -> str:
    return one_line(row_name(timeline, row), _NAME)


def rows_in_order(timeline: Timeline) -> list[TimelineRow]:
    """The rows as they are shown: everything first, topics in the order of the portrait."""
    those = timeline.rows
    if timeline.by == "topic":
        places = list(_TITLES)
        those = tuple(
            sorted(those, key=lambda row: len(places) if row.name is None else places.index(row.name))
        )
    return [timeline.all, *those]


def period_name(unit: Unit, start: int, zone: tzinfo | None = None) -> str:
    """``2026``, ``April to June 2026``, ``March 2026``, ``2 to 8 March 2026``, ``Monday 2 March 2026``, with the hour."""
    first = local_datetime(start, zone)
    month = f"{WHOLE_MONTHS[first.month - 1]} {first.year}"
    match unit:
        case "year":
            return str(first.year)
        case "quarter":
            return f"{WHOLE_MONTHS[first.month - 1]} to {WHOLE_MONTHS[first.month + 1]} {first.year}"
        case "month":
            return month
        case "week":
            last = first.replace(tzinfo=None) + timedelta(days=6)
            begun = (
                f"{first.day}"
                if last.month == first.month
                else f"{first.day} {WHOLE_MONTHS[first.month - 1]}"
            )
            return f"{begun} to {last.day} {WHOLE_MONTHS[last.month - 1]} {last.year}"
        case "day":
            return f"{WHOLE_DAYS[first.weekday()]} {first.day} {month}"
        case "hour":
            return (
                f"{WHOLE_DAYS[first.weekday()]} {first.day} {month}, {first.hour}:00 to {first.hour + 1}:00"
            )


def counts_text(numbers: Iterable[tuple[Layer, int]]) -> str:
    """``5 learned, 1 corrected``; ``nothing`` where all are 0."""
    return ", ".join(f"{format_count(number)} {layer}" for layer, number in numbers if number) or "nothing"


def cell_sentence(timeline: Timeline, row: TimelineRow, at: int, zone: tzinfo | None = None) -> str:
    """What is in a cell: ``People, March 2026: 5 learned, 1 corrected.``"""
    numbers = [(layer, row.counts[layer][at]) for layer in timeline.layers]
    when = period_name(timeline.unit, timeline.bounds[at], zone)
    return f"{_short_name(timeline, row)}, {when}: {counts_text(numbers)}."


def row_sentence(timeline: Timeline, row: TimelineRow, zone: tzinfo | None = None) -> str:
    """A row without its drawing: ``People: 25 learned, most in October 2026 (7); 1 corrected, in May 2026.``"""

    def period_phrase(at: int) -> str:
        return f"{_ON.get(timeline.unit, 'in')} {period_name(timeline.unit, timeline.bounds[at], zone)}"

    parts = []
    for layer in timeline.layers:
        numbers = row.counts[layer]
        filled = [at for at, number in enumerate(numbers) if number]
        if not filled:
            continue
        most = max(numbers)
        if len(filled) == 1:
            often = period_phrase(filled[0])
        elif most == 1:
            often = f"the last {period_phrase(filled[-1])}"
        else:
            often = f"most {period_phrase(numbers.index(most))} ({format_count(most)})"
        parts.append(f"{format_count(sum(numbers))} {layer}, {often}")
    return f"{_short_name(timeline, row)}: {'; '.join(parts) or 'nothing'}."


def headline(timeline: Timeline, zone: tzinfo | None = None) -> str:
    """``Memories by topic and month, April 2021 until November 2026.`` Days stand without their weekdays: it is one line."""
    first = period_name(timeline.unit, timeline.bounds[0], zone)
    last = period_name(timeline.unit, timeline.bounds[-2], zone)
    if timeline.unit in ("day", "hour"):
        first, last = (name.partition(" ")[2] for name in (first, last))
    if timeline.unit == "day" and first != last and first[-5:] == last[-5:]:
        first = first[:-5]  # the year
    return f"Memories by {timeline.by} and {timeline.unit}, {first if first == last else f'{first} until {last}'}."


def without_rows(timeline: Timeline) -> str:
    """Why there is nothing below everything; empty where there is."""
    if timeline.rows:
        return ""
    return {
        "topic": "Nothing here has a topic.", "person": "Nothing here names a person.",
        "project": "Nothing here belongs to a project.",
    }[timeline.by]  # fmt: skip


def left_out_text(timeline: Timeline) -> str:
    """``and 12 more persons``; empty if none is left out."""
    return f"and {plural(timeline.left_out, f'more {timeline.by}')}" if timeline.left_out else ""


def length_text(timeline: Timeline) -> str:
    """``68 months``."""
    periods = timeline.periods
    return f"{format_count(periods)} {timeline.unit if periods == 1 else _MANY[timeline.unit]}"


def text_line(memory: MemoryRecord, glyphs: Glyphs, now: float, replaced: Sequence[Replacement] = ()) -> Line:
    """A memory of a cell in one line: its sign, what it took the place of, its text, and how long ago it was said."""
    glyph = glyphs.kinds[memory.kind] if memory.active else glyphs.ended
    change = replacement.latest_of([one for one in replaced if one.new.id == memory.id], memory)
    before: Line = ()
    was: Line = ()
    if change is not None and (days := replacement.moved_days(change, now)):
        before = ((f"{replacement.label(change)} {days[0]} {glyphs.replaced} {days[1]}  ", "warning"),)
    elif change is not None:
        before = ((f"{replacement.label(change)}  ", "warning"),)
        was = (
            ("  ", "text"),
            (replacement.label_before(change), "warning"),
            (replacement.shown_old(change, _OLD), "dim"),
        )
    return (
        (f" {glyph} ", "accent" if memory.active else "warning"), *before, (one_line(without_secrets(memory), 200), "text"),
        (f"  {relative_time(memory.event_time, now)}", "dim"), *was,
    )  # fmt: skip


# -- the drawing


class DrawingPlan(NamedTuple):
    """Where the pieces of a drawing of ``width`` cells stand.

    The grid begins in column ``left`` and line ``top``. ``edges``: where each period begins in it, and where the last
    ends. The row of everything is ``sky`` lines high and always seen. Of the others, ``high`` lines each, ``shown`` are
    seen at once. ``below``: the lines under the grid, the first of which is the rule.
    """

    width: int
    left: int
    top: int
    edges: tuple[int, ...]
    sky: int
    high: int
    shown: int
    below: int

    @property
    def bar_gap(self) -> int:
        """The blank cells behind a bar: one where bars are wide enough."""
        return int(self.edges[-1] // (len(self.edges) - 1) > 2)

    @property
    def line_below_grid(self) -> int:
        """The line below the grid."""
        return self.top + self.sky + self.shown * self.high

    def row_at(self, y: int) -> int | None:
        """The row in a line: 0 is everything, 1 the first of the others that is seen; None outside of the grid."""
        if not self.top <= y < self.line_below_grid:
            return None
        return max((y - self.top - self.sky) // self.high + 1, 0)

    def height_at(self, y: int) -> tuple[int, int]:
        """How many lines of its row are below a line of the grid, and how many the row has."""
        if y < self.top + self.sky:
            return self.top + self.sky - 1 - y, self.sky
        return self.high - 1 - (y - self.top - self.sky) % self.high, self.high

    def cell_at(self, x: int, y: int) -> tuple[int, int] | None:
        """The row and the period at a place; None outside of the grid."""
        row, at = self.row_at(y), bisect(self.edges, x - self.left) - 1
        return (row, at) if row is not None and 0 <= at < len(self.edges) - 1 else None


def grid_width(width: int) -> int:
    """How many cells of ``width`` there are for periods."""
    return max(width - _name_width(width) - 1 - _NUMBER - 1, 4)


def plan_drawing(timeline: Timeline, width: int, height: int | None = None) -> DrawingPlan:
    """The largest drawing that fits; rows that do not fit are scrolled. Without a height: all rows, a line each."""
    number, top = len(timeline.rows), _lines_above_grid(timeline)
    grid_cells = min(grid_width(width), timeline.periods * _WIDEST)
    edges = tuple(at * grid_cells // timeline.periods for at in range(timeline.periods + 1))
    left = _name_width(width) + 1
    if height is None:
        return DrawingPlan(width, left, top, edges, _SKY, 1, number, 0)
    left_over = height - top
    for high, below in _HEIGHTS:
        spare = left_over - number * high - below
        if spare > high:
            return DrawingPlan(
                width,
                left,
                top,
                edges,
                min(spare, _HIGHEST_SKY),
                high,
                number,
                below + max(spare - _HIGHEST_SKY, 0),
            )
    below = max(min(_LEAST_BELOW, left_over - 2), 0)
    shown = max(min(number, left_over - below - 1), 0)
    return DrawingPlan(width, left, top, edges, 1, 1, shown, max(left_over - 1 - shown, 0))


def _lines_above_grid(timeline: Timeline) -> int:
    """The lines above the grid."""
    return 2 if timeline.unit == "year" else 3


def _name_width(width: int) -> int:
    return max(min(width // 6 + 2, 26), 10)


def draw_timeline(
    timeline: Timeline,
    layer: Layer,
    where: DrawingPlan,
    glyphs: Glyphs,
    *,
    cursor: tuple[int, int] | None = None,
    first: int = 0,
    zone: tzinfo | None = None,
) -> list[Line]:
    """The layers, the axis, everything, and the other rows from ``first`` on.

    ``cursor``: its row (0: everything) and period, which are marked without colours too.
    """
    lines: list[Line] = [_head_line(timeline, layer, where, glyphs), *_axis_lines(timeline, where, zone)]
    everything, *others = rows_in_order(timeline)
    most = max((max(row.counts.get(layer, (0,))) for row in others), default=0)
    seen = [(0, everything), *list(enumerate(others, 1))[first : first + where.shown]]
    for number, row in seen:
        top, high = (most, where.high) if number else (max(row.counts.get(layer, (0,))), where.sky)
        here = cursor is not None and cursor[0] == number
        lines += _row_lines(timeline, row, layer, top, high, where, glyphs, here=here)
    if where.below:
        lines.append(_rule_line(timeline, where, glyphs, None if cursor is None else cursor[1]))
    return lines


def _head_line(timeline: Timeline, layer: Layer, where: DrawingPlan, glyphs: Glyphs) -> Line:
    """Each layer with its number, the shown one strong."""
    return tuple(head_layers(timeline, layer, where.width, glyphs))


def head_layers(timeline: Timeline, layer: Layer, width: int, glyphs: Glyphs) -> Iterator[Part]:
    """The layers of the head, each a sign and a text; without room only the shown one."""
    texts = {
        one: f"{one} {short_count(timeline.all.total(one))}" if one in timeline.all.counts else one
        for one in LAYERS
    }
    if sum(max_cells(text) + 4 for text in texts.values()) > width:
        texts = {one: text if one == layer else one for one, text in texts.items()}
    if sum(max_cells(text) + 4 for text in texts.values()) > width:
        texts = {layer: texts[layer]}
    for one, text in texts.items():
        glyph = glyphs.bars[-1] if one == layer else glyphs.bars[2]
        yield f"{glyph} ", ROLES[one]
        yield f"{text}  ", "strong" if one == layer else "dim"


def _row_lines(
    timeline: Timeline,
    row: TimelineRow,
    layer: Layer,
    most: int,
    high: int,
    where: DrawingPlan,
    glyphs: Glyphs,
    *,
    here: bool,
) -> Iterator[Line]:
    """The lines of a row, the name beside the lowest."""
    numbers = row.counts.get(layer, (0,) * timeline.periods)
    steps = len(glyphs.bars)
    levels = [_bar_height(number, most, steps * high) for number in numbers]
    width = where.left - 2
    name = one_line(row_name(timeline, row), width)
    total = short_count(sum(numbers)) if any(numbers) else ""
    for line in range(high - 1, -1, -1):
        bars: list[Part] = []
        for level, (begin, end) in zip(levels, pairwise(where.edges), strict=True):
            filled = max(min(level - line * steps, steps), 0)
            if filled:
                bar, role = glyphs.bars[filled - 1] * (end - begin - where.bar_gap), ROLES[layer]
            else:
                bar, role = (glyphs.nothing if line == 0 and not level else " "), "faint"
            bars.append((bar.ljust(end - begin), role))
        grid = list(_join_parts(bars))
        if line:
            yield (" " * where.left, "text"), *grid
            continue
        glyph = glyphs.cursor if here else " "
        rest = where.width - where.left - where.edges[-1]
        label: list[Part] = [
            (glyph, "accent"), (name, "strong" if here or row is timeline.all else "text"),
            (" " * (width - max_cells(name) + 1), "text"),
        ]  # fmt: skip
        yield *label, *grid, (total.rjust(max(min(rest, _NUMBER), 0)), "strong" if here else "dim")


def _bar_height(number: int, most: int, steps: int) -> int:
    """The height of a bar; it grows with the square root, so that one beside a hundred is seen."""
    return max(round(sqrt(number / most) * steps), 1) if number and most else 0


def _join_parts(parts: Iterable[Part]) -> Iterator[Part]:
    """Neighbours of one role as one part."""
    text, role = "", None
    for one, other in parts:
        if role is not None and other != role:
            yield text, role
            text = ""
        text, role = text + one, other
    if role is not None:
        yield text, role


def _rule_line(timeline: Timeline, where: DrawingPlan, glyphs: Glyphs, at: int | None) -> Line:
    """The rule below the grid, with a mark below the period of the cursor."""
    if at is None:
        return ((glyphs.rule * where.width, "faint"),)
    before = where.left + (where.edges[at] + where.edges[at + 1] - where.bar_gap - 1) // 2
    return (
        (glyphs.rule * before, "faint"), (glyphs.rising, "accent"), (glyphs.rule * (where.width - before - 1), "faint"),
    )  # fmt: skip


class _Label(NamedTuple):
    at: int
    text: str


def _axis_lines(timeline: Timeline, where: DrawingPlan, zone: tzinfo | None) -> Iterator[Line]:
    """One or two lines of dates above the grid; those without room are left out."""
    begun = [local_datetime(start, zone) for start in timeline.bounds[:-1]]
    upper, lower = _AXES[timeline.unit](begun, where.edges[-1] / timeline.periods)
    width = where.width - where.left
    # What the rows and the columns are stands in the corner.
    corner = [f" by {timeline.by}", f" {length_text(timeline)}"]
    if timeline.unit != "year":
        yield (corner.pop(0).ljust(where.left), "dim"), (_place_labels(upper, where.edges, width), "strong")
    yield (corner.pop(0).ljust(where.left), "dim"), (_place_labels(lower, where.edges, width), "dim")


def _place_labels(labels: Sequence[_Label], edges: Sequence[int], width: int) -> str:
    line = ""
    for one, following in zip(labels, [*labels[1:], None], strict=True):
        begin = edges[one.at]
        end = begin + len(one.text)
        # The first one may be of a period that has begun before, and gives way to the next one.
        early = one.at == 0 and following is not None and end >= edges[following.at]
        if (not line or begin > len(line)) and end <= width and not early:
            line = line.ljust(begin) + one.text
    return line.ljust(width)


def _changed_places(begun: Sequence[datetime], key: str) -> list[int]:
    """The places at which a part of the date is another one than before, and the first."""
    return [
        0,
        *(
            at
            for at, (one, other) in enumerate(pairwise(begun), 1)
            if getattr(one, key) != getattr(other, key)
        ),
    ]


def _axis_of_years(begun: Sequence[datetime], cell: float) -> tuple[list[_Label], list[_Label]]:
    step = next((step for step in (1, 2, 5, 10, 20, 50, 100, 500) if step * cell > 4), 1_000)
    return [], [
        _Label(at, str(one.year)) for at, one in enumerate(begun) if one.year % step == 0 or len(begun) == 1
    ]


def _year_labels(begun: Sequence[datetime]) -> list[_Label]:
    return [_Label(at, str(begun[at].year)) for at in _changed_places(begun, "year")]


def _axis_of_quarters(begun: Sequence[datetime], cell: float) -> tuple[list[_Label], list[_Label]]:
    names = [f"{'Q' if cell > 2 else ''}{(one.month + 2) // 3}" for one in begun]
    return _year_labels(begun), [_Label(at, name) for at, name in enumerate(names) if cell > 1]


def _axis_of_months(begun: Sequence[datetime], cell: float) -> tuple[list[_Label], list[_Label]]:
    step = next((step for step in (1, 2, 3, 6) if step * cell >= 4), 6)
    return _year_labels(begun), [
        _Label(at, MONTHS[one.month - 1]) for at, one in enumerate(begun) if (one.month - 1) % step == 0
    ]


def _axis_of_weeks(begun: Sequence[datetime], cell: float) -> tuple[list[_Label], list[_Label]]:
    months = [_Label(at, MONTHS[begun[at].month - 1]) for at in _changed_places(begun, "month")]
    return _year_labels(begun), months


def _axis_of_days(begun: Sequence[datetime], cell: float) -> tuple[list[_Label], list[_Label]]:
    months = [
        _Label(at, f"{MONTHS[begun[at].month - 1]} {begun[at].year}")
        for at in _changed_places(begun, "month")
    ]
    return months, [
        _Label(at, str(one.day)) for at, one in enumerate(begun) if cell > 2 or one.weekday() == 0
    ]


def _axis_of_hours(begun: Sequence[datetime], cell: float) -> tuple[list[_Label], list[_Label]]:
    days = [
        _Label(at, f"{WHOLE_DAYS[begun[at].weekday()][:3]} {begun[at].day} {MONTHS[begun[at].month - 1]}")
        for at in _changed_places(begun, "day")
    ]
    step = next((step for step in (1, 3, 6, 12) if step * cell > 3), 12)
    return days, [_Label(at, f"{one.hour:02}") for at, one in enumerate(begun) if one.hour % step == 0]


_AXES = {
    "year": _axis_of_years,
    "quarter": _axis_of_quarters,
    "month": _axis_of_months,
    "week": _axis_of_weeks,
    "day": _axis_of_days,
    "hour": _axis_of_hours,
}
