"""The timeline of Memories: rows of topics, persons or projects, and time across. Enter lists what is in a cell."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.color import Color
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from memtui.engine.errors import InputError
from memtui.engine.records import LAYERS, ROWS_BY, UNITS
from memtui.present import timeline as words
from memtui.present.text import Line, Role, VisibleText, max_cells, one_line, visible_text
from memtui.ui.action_dispatch import perform_action, perform_chord, start_worker
from memtui.ui.actions import Action, ActionContext
from memtui.ui.keymap import bindings_at
from memtui.ui.messages import message_type
from memtui.ui.panes.list_pane import PREVIEW_DELAY
from memtui.ui.safe import segment
from memtui.ui.shell import Shell, shell_of
from memtui.ui.widgets.line_view import LineView, State

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import Layer, MemoryRecord, Replacement, RowsBy, Timeline, TimelineRow, Unit
    from memtui.present.timeline import DrawingPlan
    from memtui.ui.navigation import TimelineTarget

_BLANK = 1
"""The cells at the left and right of the drawing."""
# The lines below the grid before the texts: the rule, the cell in words, and where there is room the row in words.
_FEW_LINES, _WITH_ROW_FROM = 2, 6
# Bars come in so many shades, the darkest of which has so much of the colour.
_SHADES, _DARKEST = 16, 0.45
# So many texts of a cell are shown at most, where there is room.
_TEXTS = 12


class TimelinePosition(NamedTuple):
    """Where the timeline is: what can be put back as it was. ``at``: the time under the cursor."""

    by: RowsBy
    layer: Layer
    unit: Unit | None
    middle: float | None
    row: str
    at: float | None


class TimelineView(LineView, can_focus=True, inherit_bindings=False):
    """Draws the counts of what passes ``filter()``. ``show`` reads them."""

    BINDINGS = [*bindings_at("grid", "timeline")]
    part: ClassVar[ActionContext] = "grid"
    ALLOW_SELECT = False
    action_perform, action_chord = perform_action, perform_chord

    @message_type
    class Chosen(Message):
        """Enter, or a double click: list what passes ``filter``."""

        filter: str

    @message_type
    class Moved(Message):
        """The cursor or the drawing is another one."""

    def __init__(self, typed: Callable[[], str], whole: Callable[[str], str], *, id: str) -> None:
        """``typed``: the filter as it is typed; ``whole``: one with the terms that the list adds by itself."""
        super().__init__(id=id)
        self._typed = typed
        self._whole = whole
        self.spot = TimelinePosition("topic", "learned", None, None, "", None)
        self._timeline: Timeline | None = None
        # The typed filter of the counts, and the size for which they and the texts were read.
        self._counted = ""
        self._without_counts = "Counting ..."
        self._read_size = Size(0, 0)
        self._first = 0
        self._shades: dict[tuple[Role, int], Style] = {}
        self._sought: tuple[int, int] | None = None
        self._new_layer = False
        self._sought_row = ""
        self._drawn: list[Line] = []
        self._texts: tuple[str, Sequence[tuple[MemoryRecord, Sequence[Replacement]]]] = ("", ())

    @property
    def shell(self) -> Shell:
        return shell_of(self)

    # -- reading

    def show(self) -> None:
        """Read the counts again; the cursor stays at its row and time."""
        if self._counted != self._typed():  # no numbers of another filter meanwhile
            self._timeline, self._without_counts = None, "Counting ..."
            self.refresh()
        start_worker(self, self._read_timeline, "timeline")

    def seek(self, target: TimelineTarget) -> None:
        """Go to a place by months, as soon as the counts are read."""
        self._first, self._sought, self._sought_row, self._new_layer = 0, None, target.name, False
        self._timeline = None
        self.spot = TimelinePosition(target.by, target.layer, "month", target.at, "", target.at)

    async def _read_timeline(self) -> None:
        width, spot, typed = self._drawing_width, self.spot, self._typed()
        self._read_size = self.size
        if not width or self.shell.operations.memory is None:
            return  # on_resize comes here again
        try:
            filter = self._whole(typed)
            # The layer that is shown first, so that it is there at once.
            for layers in ((spot.layer,), LAYERS):
                read = partial(
                    _load_counts, filter=filter, spot=spot, most=words.grid_width(width), layers=layers
                )
                self._timeline = await self.shell.operations.ask(read, slow=layers is LAYERS)
                self._counted = typed
                self._put_cursor()
                self._cursor_changed()
        except InputError:  # the filter is being typed: the list names the mistake
            self._timeline, self._without_counts = None, "The filter has a mistake."
            self.refresh()

    def _put_cursor(self) -> None:
        """On the period of its time; at first on the last one with anything in it."""
        timeline = self._timeline
        assert timeline is not None
        named = (row.term for row in timeline.rows if self._sought_row and row.name == self._sought_row)
        self.spot = self.spot._replace(row=next(named, self.spot.row))
        self._sought_row = ""
        numbers = self._visible_rows[self.row_number].counts.get(self.spot.layer, ())
        filled = [at for at, number in enumerate(numbers) if number]
        if self.spot.at is None:
            at = filled[-1] if filled else timeline.periods - 1
        elif self._sought is not None:
            begun, end = self._sought
            at = next((one for one in filled if begun <= timeline.bounds[one] < end), self.period_number)
            self._sought = None
        else:
            at = self.period_number
        if self._new_layer and filled:
            at = min(filled, key=lambda one: abs(one - at))
        self._new_layer = False
        self.spot = self.spot._replace(at=timeline.bounds[at])

    def _cursor_changed(self) -> None:
        """The cursor or the counts are others: draw, and read the texts of the cell."""
        self._scroll_to_cursor()
        self.refresh()
        self.post_message(self.Moved())
        start_worker(self, self._read_texts, "timeline texts")

    async def _read_texts(self) -> None:
        await asyncio.sleep(PREVIEW_DELAY)
        filter, where = self.cell_filter, self._plan_drawing
        number = (
            min(where.below - _FEW_LINES - (where.below >= _WITH_ROW_FROM), _TEXTS)
            if where is not None
            else 0
        )
        if filter and number > 0 and self.count_in_cell:
            whole = self._whole(filter)
            memories = await self.shell.operations.ask(partial(_read_texts, filter=whole, most=number))
        else:
            memories = []
        if filter == self.cell_filter:
            self._texts = filter, memories
            self.refresh()

    # -- where it is

    @property
    def _drawing_width(self) -> int:
        return max(self.size.width - 2 * _BLANK, 0)

    @property
    def _plan_drawing(self) -> DrawingPlan | None:
        if self._timeline is None:
            return None
        return words.plan_drawing(self._timeline, self._drawing_width, self.size.height)

    @property
    def _visible_rows(self) -> list[TimelineRow]:
        return words.rows_in_order(self._timeline) if self._timeline is not None else []

    @property
    def row_number(self) -> int:
        """The number of the row under the cursor."""
        return next((index for index, row in enumerate(self._visible_rows) if row.term == self.spot.row), 0)

    @property
    def period_number(self) -> int:
        """The number of the period under the cursor."""
        timeline = self._timeline
        if timeline is None or self.spot.at is None:
            return 0
        return max(sum(bound <= self.spot.at for bound in timeline.bounds[:-1]) - 1, 0)

    @property
    def count_in_cell(self) -> int:
        """How many memories are in the cell under the cursor."""
        rows = self._visible_rows
        numbers = rows[self.row_number].counts.get(self.spot.layer) if rows else None
        return numbers[self.period_number] if numbers else 0

    @property
    def cell_filter(self) -> str:
        """The filter that passes what is in the cell under the cursor; empty while nothing was read."""
        timeline = self._timeline
        if timeline is None:
            return ""
        return timeline.cell_filter(
            self._typed(), self._visible_rows[self.row_number], self.spot.layer, self.period_number
        )

    @property
    def describe_cell(self) -> str:
        """What is in the cell under the cursor."""
        timeline = self._timeline
        return (
            words.cell_sentence(timeline, self._visible_rows[self.row_number], self.period_number)
            if timeline is not None
            else ""
        )

    @property
    def status_text(self) -> str:
        """What is drawn, for the status line."""
        timeline = self._timeline
        if timeline is None:
            return ""
        parts = (
            f"{self.spot.layer.capitalize()}: {words.headline(timeline).rstrip('.')}",
            words.left_out_text(timeline),
        )
        return f" {self.shell.glyphs.dot} ".join(part for part in parts if part)

    # -- moving

    def _set_cursor(self, *, row: int | None = None, at: int | None = None) -> None:
        timeline, rows = self._timeline, self._visible_rows
        if timeline is None:
            return
        if row is not None:
            self.spot = self.spot._replace(row=rows[max(min(row, len(rows) - 1), 0)].term)
        if at is not None:
            if not 0 <= at < timeline.periods:
                self._pan_window(-1 if at < 0 else 1, half=False)
                return
            self.spot = self.spot._replace(at=timeline.bounds[at])
        self._cursor_changed()

    def _scroll_to_cursor(self) -> None:
        """Scroll so that the row under the cursor is seen. Everything always is."""
        where, row = self._plan_drawing, self.row_number
        if where is not None:
            first = min(self._first, max(len(self._visible_rows) - 1 - where.shown, 0))
            self._first = min(max(first, row - where.shown), row - 1) if row else first

    def _pan_window(self, by: int, *, half: bool) -> None:
        """Move the window by half of it, with the cursor; or by a quarter, and the cursor by one period."""
        timeline = self._timeline
        if timeline is None:
            return
        if by < 0 and (timeline.earliest is None or timeline.bounds[0] <= timeline.earliest):
            self.shell.show_message("There is nothing earlier.")
            return
        if by > 0 and (timeline.latest is None or timeline.bounds[-1] > timeline.latest):
            self.shell.show_message("There is nothing later.")
            return
        first, last = timeline.bounds[0], timeline.bounds[-1]
        if half:
            middle = first if by < 0 else last
            at = (self.spot.at or first) + by * (last - first) // 2
        else:
            middle = timeline.bounds[timeline.periods // 4 if by < 0 else timeline.periods * 3 // 4]
            at = first - 1 if by < 0 else last
            self._new_layer = self.spot.layer == "changed"
        self.spot = self.spot._replace(unit=timeline.unit, middle=middle, at=at)
        self.show()

    def do_period_before(self) -> None:
        self._step_in_time(-1)

    def do_period_after(self) -> None:
        self._step_in_time(1)

    def _step_in_time(self, by: int) -> None:
        """To the next period. Changes are rare: in their layer to the next period with any."""
        at = self.period_number + by
        if self.spot.layer == "changed" and self._timeline is not None:
            beyond = -1 if by < 0 else self._timeline.periods
            at = next(iter(self._filled_beyond(by)[::by]), beyond)
        self._set_cursor(at=at)

    def do_filled_before(self) -> None:
        self._move_to_filled(-1)

    def do_filled_after(self) -> None:
        self._move_to_filled(1)

    def _filled_beyond(self, by: int) -> list[int]:
        """The periods before (-1) or after (1) the cursor in which its row has anything, as far as it is shown."""
        rows = self._visible_rows
        numbers = rows[self.row_number].counts.get(self.spot.layer, ()) if rows else ()
        return [at for at, number in enumerate(numbers) if number and (at - self.period_number) * by > 0]

    def _move_to_filled(self, by: int) -> None:
        if filled := self._filled_beyond(by):
            self._set_cursor(at=filled[-1 if by < 0 else 0])
        else:
            self.shell.show_message("This row has nothing beyond, as far as it is shown.")

    def do_up(self) -> None:
        self._set_cursor(row=self.row_number - 1)

    def do_down(self) -> None:
        self._set_cursor(row=self.row_number + 1)

    def do_page_up(self) -> None:
        self._set_cursor(
            row=self.row_number - (self._plan_drawing.shown if self._plan_drawing is not None else 1)
        )

    def do_page_down(self) -> None:
        self._set_cursor(
            row=self.row_number + (self._plan_drawing.shown if self._plan_drawing is not None else 1)
        )

    do_half_up, do_half_down = do_page_up, do_page_down

    def do_earliest(self) -> None:
        self._move_to_time(lambda timeline: timeline.earliest)

    def do_latest(self) -> None:
        self._move_to_time(lambda timeline: timeline.latest)

    def _move_to_time(self, time: Callable[[Timeline], int | None]) -> None:
        timeline = self._timeline
        if timeline is not None and (to := time(timeline)) is not None:
            self.spot = self.spot._replace(at=to, middle=to)
            self.show()

    def do_pan_left(self) -> None:
        self._pan_window(-1, half=True)

    def do_pan_right(self) -> None:
        self._pan_window(1, half=True)

    # -- zoom, layers, rows

    def _zoom_window(self, by: int) -> None:
        timeline = self._timeline
        if timeline is None:
            return
        index = UNITS.index(timeline.unit) + by
        if not 0 <= index < len(UNITS):
            self.shell.show_message(
                f"{'Hours are' if by > 0 else 'Years are'} the {'finest' if by > 0 else 'coarsest'}."
            )
            return
        unit = UNITS[index]
        begun, end = timeline.bounds[self.period_number], timeline.bounds[self.period_number + 1]
        # The cursor goes to the first finer period with anything in it.
        self._sought = (begun, end) if by > 0 else None
        self.spot = self.spot._replace(unit=unit, middle=(begun + end) / 2, at=begun)
        self.show()

    def do_zoom_in(self) -> None:
        self._zoom_window(1)

    def do_zoom_out(self) -> None:
        self._zoom_window(-1)

    def do_fit_all_time(self) -> None:
        self.spot = self.spot._replace(unit=None, middle=None)
        self.show()

    def next_label(self, action: Action) -> str:
        """What the footer calls the key for the next layer, or for other rows."""
        return f"next: {self._next_layer}" if action.id == "layer" else f"by {self._next_rows}"

    @property
    def _next_layer(self) -> Layer:
        return LAYERS[(LAYERS.index(self.spot.layer) + 1) % len(LAYERS)]

    @property
    def _next_rows(self) -> RowsBy:
        return ROWS_BY[(ROWS_BY.index(self.spot.by) + 1) % len(ROWS_BY)]

    def do_layer(self) -> None:
        self._show_layer(self._next_layer)

    def _show_layer(self, layer: Layer) -> None:
        """Show a layer; the cursor goes to the nearest period in which its row has anything."""
        self.spot = self.spot._replace(layer=layer)
        timeline = self._timeline
        if timeline is None or layer not in timeline.all.counts:
            self._new_layer = True
            self.show()
            return
        at, numbers = self.period_number, self._visible_rows[self.row_number].counts[layer]
        near = min(
            (one for one, number in enumerate(numbers) if number), key=lambda one: abs(one - at), default=at
        )
        self._set_cursor(at=near)

    def do_rows_by(self) -> None:
        by = self._next_rows
        self.spot = self.spot._replace(by=by, row="")
        self._first = 0
        self.shell.show_message(f"A row for each {by}.")
        self.show()

    # -- opening

    def unavailable_reason(self, action: Action) -> str:
        if action.id == "list_cell" and not self.count_in_cell:
            return "Nothing is in this cell."
        return ""

    def do_list_cell(self) -> None:
        if self.count_in_cell:
            self.post_message(self.Chosen(self.cell_filter))

    def do_copy(self) -> None:
        if self._timeline is not None:
            self.app.copy_to_clipboard(
                words.row_sentence(self._timeline, self._visible_rows[self.row_number])
            )
            self.shell.show_message("Copied the row as a sentence.")

    # -- the mouse

    def _cursor_to_mouse(self, event: events.MouseEvent) -> bool:
        """Put the cursor where the mouse is; False outside of the grid."""
        where, timeline = self._plan_drawing, self._timeline
        cell = where.cell_at(event.x - _BLANK, event.y) if where is not None else None
        if cell is None or timeline is None:
            return False
        self._set_cursor(row=cell[0] and self._first + cell[0], at=cell[1])
        return True

    def on_click(self, event: events.Click) -> None:
        if self._cursor_to_mouse(event):
            if event.chain == 2:
                perform_action(self, "list_cell")
        elif event.y == 0 and self._timeline is not None:
            left = _BLANK
            parts = list(
                words.head_layers(self._timeline, self.spot.layer, self._drawing_width, self.shell.glyphs)
            )
            for sign, text in zip(parts[::2], parts[1::2], strict=True):
                right = left + max_cells(sign[0]) + max_cells(text[0])
                if left <= event.x < right:
                    self._show_layer(next(one for one in LAYERS if text[0].startswith(one)))
                left = right

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._wheel_turned(event, 1)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._wheel_turned(event, -1)

    def on_mouse_scroll_left(self, event: events.MouseScrollLeft) -> None:
        self._pan_window(-1, half=True)

    def on_mouse_scroll_right(self, event: events.MouseScrollRight) -> None:
        self._pan_window(1, half=True)

    def _wheel_turned(self, event: events.MouseEvent, by: int) -> None:
        event.stop()
        if event.shift:
            self._pan_window(-by, half=True)
        else:
            self._cursor_to_mouse(event)
            self._zoom_window(by)

    # -- drawing

    def on_resize(self) -> None:
        # While it is hidden it has no width, and after that the same as before.
        if self._drawing_width and self.size != self._read_size:
            self._read_size = self.size
            self.show()

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def _draw_lines(self) -> list[Line]:
        timeline, where = self._timeline, self._plan_drawing
        if timeline is None or where is None:
            return [((self._without_counts, "dim"),)]
        drawing = words.draw_timeline(
            timeline,
            self.spot.layer,
            where,
            self.shell.glyphs,
            cursor=(self.row_number, self.period_number),
            first=self._first,
        )
        if where.below > 1:
            drawing.append(((self.describe_cell, "strong"),))
        if where.below >= _WITH_ROW_FROM:
            drawing.append(((words.row_sentence(timeline, self._visible_rows[self.row_number]), "dim"),))
        if why := words.without_rows(timeline):
            drawing.append(((why, "dim"),))
        cell, texts = self._texts
        if cell == self.cell_filter:
            glyphs, now = self.shell.glyphs, self.shell.clock()
            drawing += [words.text_line(one, glyphs, now, replaced) for one, replaced in texts]
        return drawing

    def render_lines(self, crop: object) -> list[Strip]:
        self._drawn = self._draw_lines()
        return super().render_lines(crop)  # type: ignore[arg-type]

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        blank = self._role_style("plain", "text")
        if y >= len(self._drawn):
            return Strip.blank(width, blank)
        width_left = width - 2 * _BLANK
        segments = [Segment(" " * _BLANK, blank)]
        where = self._plan_drawing
        row = where.row_at(y) if where is not None else None
        grid = width_left - where.left if row is not None and where is not None else -1
        for text, role in self._drawn[y]:
            shown = one_line(text, width_left) if max_cells(text) > width_left else visible_text(text)
            if width_left == grid:  # what Textual measures of a name may be less
                segments = [*Strip(segments).adjust_cell_length(width - _BLANK - grid, blank)]
            if where is not None and width_left <= grid and role == words.ROLES[self.spot.layer]:
                segments += self._draw_bars(shown, role, *where.height_at(y))
            else:
                segments.append(segment(shown, self._role_style("plain", role)))
            width_left -= max_cells(shown)
        return self._with_cursor(Strip(segments).adjust_cell_length(width, blank), y)

    def _draw_bars(self, text: VisibleText, role: Role, below: int, lines: int) -> Iterator[Segment]:
        """The bars in a line, brighter the higher they are. ``below``: so many of the row's ``lines``."""
        signs = self.shell.glyphs.bars
        for sign, same in groupby(text):
            height = (below + (signs.find(sign) + 1) / len(signs)) / lines
            yield segment("".join(same), self._shaded_color(role, round(height * _SHADES)))

    def _shaded_color(self, role: Role, shade: int) -> Style:
        """The colour of a role, mixed with the ground; as it is where the terminal's own colours are used."""
        full = self._role_style("plain", role)
        if (role, shade) not in self._shades:
            color, ground = full.color, full.bgcolor
            if color is None or ground is None or color.triplet is None or ground.triplet is None:
                self._shades[role, shade] = full
            else:
                mixed = Color(*ground.triplet).blend(
                    Color(*color.triplet), _DARKEST + (1 - _DARKEST) * shade / _SHADES
                )
                self._shades[role, shade] = full + Style(color=mixed.rich_color)
        return self._shades[role, shade]

    def notify_style_update(self) -> None:
        self._shades.clear()
        super().notify_style_update()

    def _with_cursor(self, strip: Strip, y: int) -> Strip:
        """The column and the row of the cursor on other grounds."""
        where = self._plan_drawing
        if where is None or not 1 <= y < where.line_below_grid:
            return strip
        row = where.row_at(y)
        here = row is not None and (row and self._first + row) == self.row_number
        left, right = (
            _BLANK + where.left + where.edges[at] for at in (self.period_number, self.period_number + 1)
        )
        right -= where.bar_gap
        parts = strip.divide([left, right, strip.cell_length])
        states: tuple[State | None, State | None, State | None] = (
            ("cursor-blurred", "cursor", "cursor-blurred") if here else (None, "cursor-blurred", None)
        )
        grounds = [None if state is None else self._cursor_background(state) for state in states]
        return Strip.join(
            part if ground is None else _with_background(part, ground)
            for part, ground in zip(parts, grounds, strict=True)
        )

    def _cursor_background(self, state: State) -> Style:
        return Style(bgcolor=self._role_style(state, "text").bgcolor)


def _load_counts(
    memory: Memory, *, filter: str, spot: TimelinePosition, most: int, layers: Sequence[Layer]
) -> Timeline:
    return memory.view.timeline(
        filter, by=spot.by, unit=spot.unit, middle=spot.middle, most=most, layers=layers
    )


def _read_texts(
    memory: Memory, *, filter: str, most: int
) -> list[tuple[MemoryRecord, Sequence[Replacement]]]:
    memories = memory.view.page(filter, limit=most)
    replaced = memory.view.replacements([one.id for one in memories])
    return [(one, replaced.get(one.id, ())) for one in memories]


def _with_background(strip: Strip, ground: Style) -> Strip:
    """The strip on another ground."""
    return Strip(
        [
            Segment(text, (style or Style()) + ground)  # safe-text: it was drawn before
            for text, style, _ in strip
        ],
        strip.cell_length,
    )
