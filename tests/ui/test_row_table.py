"""The list over rows of any number: cursor, marks, reloads, hostile texts."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence

import pytest
from memtui.present.glyphs import ASCII
from memtui.present.text import VisibleText, one_line, without_control_characters
from memtui.ui.row_source import ListSource, Readers
from memtui.ui.theme import own_themes, variable_defaults
from memtui.ui.widgets.columns import Column, Order, StyledText, fit_columns
from memtui.ui.widgets.row_paint import RowPainter
from memtui.ui.widgets.row_table import (
    RowHighlighted,
    RowOpened,
    RowsCounted,
    RowsFailed,
    RowsOrdered,
    RowTable,
)
from rich.style import Style
from textual import on
from textual.app import App, ComposeResult
from ui_story import still

Pair = tuple[int, str]


class Fake:
    """Rows made up as they are asked for, so that a million of them cost nothing."""

    def __init__(self, keys: Sequence[int], text: Callable[[int], str] = "row {}".format) -> None:
        self.all = keys
        self.text = text
        self.hold = threading.Event()
        self.hold.set()
        self.error: Exception | None = None

    def count(self) -> int:
        return len(self.all)

    def page_rows(self, offset: int, limit: int) -> Sequence[Pair]:
        self.hold.wait(120)
        if self.error is not None:
            raise self.error
        return [(key, self.text(key)) for key in self.all[offset : offset + limit]]

    def row_keys(self) -> Iterator[Sequence[int]]:
        yield self.all

    def rows_by_key(self, keys: Sequence[int]) -> Sequence[Pair]:
        self.hold.wait(120)
        return [(key, self.text(key)) for key in keys]

    def row_key(self, row: Pair) -> int:
        return row[0]


def _text(row: Pair, width: int) -> Iterable[StyledText]:
    yield StyledText(one_line(row[1], width))


def _number(row: Pair, width: int) -> Iterable[StyledText]:
    yield StyledText(VisibleText(str(row[0])), "dim")


COLUMNS: list[Column[Pair]] = [
    Column("text", "text", _text, sort="text"),
    Column("key", "key", _number, width=7, right=True, sort="key", drop=1),
]
ORDERS = (
    Order("key", True, "highest first", "lowest first"),
    Order("text", False, "from Z", "from A"),
)


class ListApp(App[None]):
    CSS_PATH = "../../memtui/ui/styles/lists.tcss"

    def __init__(self) -> None:
        super().__init__()
        self.readers = Readers()
        self.table: RowTable[Pair] = RowTable(COLUMNS, id="rows", orders=ORDERS)
        self.posted: list[object] = []
        self.register_theme(own_themes()[0])
        self.theme = "memtui-dark"

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return variable_defaults(own_themes()[0])

    def compose(self) -> ComposeResult:
        yield self.table

    @on(RowHighlighted)
    @on(RowOpened)
    @on(RowsOrdered)
    @on(RowsCounted)
    @on(RowsFailed)
    def _note(self, event: object) -> None:
        self.posted.append(event)

    def on_unmount(self) -> None:
        self.readers.close()

    async def settle(self, condition: Callable[[], object] = lambda: True) -> None:
        for _ in range(6_000):
            await asyncio.sleep(0.01)
            if condition():
                break
        else:
            raise AssertionError("it never came true")
        await still(self, 0.02)

    async def show(self, source: Fake, *, top: bool = True) -> None:
        self.table.show_source(source, self.readers, top=top)
        pages = self.table._pages
        await self.settle(
            lambda: (
                self.table._pages is not pages
                and self.table._pages is not None
                and self.table._pages.keys is not None
            )
        )

    def line(self, y: int) -> str:
        return self.table.render_line(y).text


async def test_rows_are_drawn_with_header_and_cursor() -> None:
    app = ListApp()
    async with app.run_test(size=(40, 8)):
        await app.show(Fake(range(1, 4)))
        assert app.line(0).split() == ["text", "key↓"]
        assert app.line(1).startswith("▌  row 1")
        assert app.line(1).split() == ["▌", "row", "1", "1"]
        assert app.line(3).split() == ["row", "3", "3"]
        assert app.line(4).strip() == ""
        assert all(len(app.line(y)) == app.line(1).__len__() for y in range(8))


async def test_a_million_rows_can_be_walked_from_both_ends() -> None:
    app = ListApp()
    async with app.run_test(size=(40, 20)) as pilot:
        await app.show(Fake(range(1_000_000)))
        await pilot.press("G")
        await app.settle(lambda: app.table.selected)
        assert app.table.selected == (999_999, "row 999999")
        assert "row 999999" in app.line(19)
        await pilot.press("k", "pageup")
        await app.settle(lambda: app.table.selected)
        assert app.table.selected == (999_979, "row 999979")
        await pilot.press("g", "g")
        await app.settle(lambda: app.table.selected)
        assert app.table.cursor == 0


async def test_rows_on_their_way_are_skeletons_and_the_loop_goes_on() -> None:
    app = ListApp()
    async with app.run_test(size=(40, 10)) as pilot:
        source = Fake(range(100_000))
        await app.show(source)
        source.hold.clear()
        await pilot.press("end")
        assert "░░░" in app.line(9)
        assert app.table.selected is None
        await pilot.press("up")
        assert app.table.cursor == 99_998
        source.hold.set()
        await app.settle(lambda: app.table.selected)
        assert "row 99998" in app.line(8)


async def test_the_cursor_stays_on_its_row_when_rows_come_above_it() -> None:
    app = ListApp()
    async with app.run_test(size=(40, 10)) as pilot:
        await app.show(Fake(range(500, 0, -1)))
        await pilot.press(*["pagedown"] * 3)
        key, line = app.table.selected_key, app.table.cursor - app.table.scroll_offset.y
        await app.show(Fake(range(520, 0, -1)), top=False)
        assert app.table.selected_key == key
        assert app.table.cursor - app.table.scroll_offset.y == line


async def test_a_list_at_its_top_shows_what_came_in() -> None:
    app = ListApp()
    async with app.run_test(size=(40, 10)):
        await app.show(Fake(range(50, 0, -1)))
        await app.show(Fake(range(51, 0, -1)), top=False)
        assert "row 51" in app.line(1)
        assert app.table.selected_key == 50


async def test_the_cursor_stays_in_sight_unless_the_person_scrolled_away() -> None:
    app = ListApp()

    def seen() -> bool:
        return app.table._is_visible_row(app.table.cursor)

    async with app.run_test(size=(40, 10)):
        await app.show(Fake(range(50, 0, -1)))
        await app.show(Fake(range(80, 0, -1)), top=False)
        assert app.table.cursor == 30 and seen()
        # A row that was asked for before it is listed.
        app.table.select_key(90)
        await app.show(Fake([*range(60, 0, -1), 90]), top=False)
        assert app.table.selected_key == 90 and seen()
        app.table.scroll_to(y=0, animate=False)
        await app.show(Fake([*range(61, 0, -1), 90]), top=False)
        assert app.table.selected_key == 90 and not seen()


async def test_the_cursor_is_found_again_far_away_once_all_keys_are_known() -> None:
    app = ListApp()
    async with app.run_test(size=(40, 10)):
        await app.show(Fake(range(5000)))
        app.table.move_to(10)
        await app.show(Fake(range(4999, -1, -1)), top=False)
        assert app.table.selected_key == 10
        assert app.table.cursor == 4989


async def test_the_cursor_stays_in_place_when_its_row_goes() -> None:
    app = ListApp()
    async with app.run_test(size=(40, 10)):
        await app.show(Fake([1, 2, 3, 4]))
        app.table.move_to(1)
        await app.show(Fake([1, 3, 4]), top=False)
        assert (app.table.cursor, app.table.selected_key) == (1, 3)
        await app.show(Fake([]), top=False)
        assert (app.table.cursor, app.table.selected_key, app.table.selected) == (0, None, None)


async def test_marks_are_kept_by_key_and_lost_with_their_rows() -> None:
    app = ListApp()
    async with app.run_test(size=(40, 10)) as pilot:
        await app.show(Fake([1, 2, 3, 4]))
        await pilot.press("space", "space")
        assert app.table.marks == {1, 2}
        assert app.table.cursor == 2
        assert "●" in app.line(1)
        await app.show(Fake([4, 3, 2]), top=False)
        assert app.table.marks == {2}
        await pilot.press("asterisk")
        await app.settle(lambda: len(app.table.marks) == 3)
        await pilot.press("asterisk")
        await app.settle(lambda: not app.table.marks)


async def test_the_order_goes_round_and_turns_round() -> None:
    app = ListApp()
    async with app.run_test(size=(40, 10)) as pilot:
        await app.show(Fake([1, 2]))
        await pilot.press("greater_than_sign", "less_than_sign", "greater_than_sign")
        orders = [(e.sort, e.falling) for e in app.posted if isinstance(e, RowsOrdered)]
        assert orders == [("text", False), ("text", True), ("key", True)]
        await pilot.click("#rows", offset=(38, 0))
        assert app.table.order == ("key", False)


async def test_enter_and_double_click_open_a_row() -> None:
    app = ListApp()
    async with app.run_test(size=(40, 10)) as pilot:
        await app.show(Fake([7, 8, 9]))
        await pilot.press("enter")
        await pilot.double_click("#rows", offset=(10, 3))
        assert [e.key for e in app.posted if isinstance(e, RowOpened)] == [7, 9]


async def test_an_error_is_told_and_the_old_rows_stay() -> None:
    app = ListApp()
    async with app.run_test(size=(40, 10)):
        await app.show(Fake([1, 2]))
        bad = Fake([3])
        bad.error = OSError("the disk is gone")
        app.table.show_source(bad, app.readers)
        await app.settle(lambda: any(isinstance(e, RowsFailed) for e in app.posted))
        assert "row 1" in app.line(1)


async def test_a_slow_list_is_given_up_for_a_newer_one() -> None:
    app = ListApp()
    async with app.run_test(size=(40, 10)):
        slow = Fake(range(1000), "old {}".format)
        slow.hold.clear()
        app.table.show_source(slow, app.readers)
        await asyncio.sleep(0.02)
        app.table.show_source(Fake([5], "new {}".format), app.readers)
        slow.hold.set()
        await app.settle(lambda: app.table.selected)
        assert app.table.selected == (5, "new 5")
        await asyncio.sleep(0.05)
        assert app.table.row_count == 1


HOSTILE = [
    "\x1b]52;c;ZXZpbA==\x07",
    "[bold]x[/] [/] [@click=app.quit]q[/]",
    "a\x00b\u202egnp\u200bc\x9b31m",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467" * 20,
    "e" + "\u0301" * 60,
    "漢字かな交じり文" * 10,
    "\n\r\t  " * 10,
    "\udc80\ufffe",
    "",
]


@pytest.mark.hostile
async def test_rows_in_memory_are_there_at_once_and_stay_whatever_slower_ones_come() -> None:
    def rows(keys: Iterable[int]) -> ListSource[Pair]:
        return ListSource([(key, f"row {key}") for key in keys], lambda row: row[0])

    app = ListApp()
    async with app.run_test(size=(40, 10)):
        slow = Fake(range(1, 6))
        slow.hold.clear()
        app.table.show_source(slow, app.readers)
        await still(app, 0.02)
        app.table.show_source(rows(range(100, 3_000)), app.readers)
        assert (app.table.row_count, app.table.selected) == (2_900, (100, "row 100"))
        slow.hold.set()
        await still(app, 0.05)
        assert app.table.row_count == 2_900
        app.table.move_to(2_700)
        await app.settle(lambda: app.table.selected == (2_800, "row 2800"))
        app.table.set_marks({100, 2_800})
        app.table.show_source(rows(range(2_500, 3_000)), app.readers, top=False)
        assert (app.table.cursor, app.table.marks) == (300, {2_800})
        app.table.show_source(rows([]), app.readers)
        await app.settle(lambda: [e.count for e in app.posted if isinstance(e, RowsCounted)][-1:] == [0])
        assert app.table.selected is None


@pytest.mark.parametrize("size", [(40, 6), (9, 4)])
async def test_hostile_rows_are_shown_and_keep_their_width(size: tuple[int, int]) -> None:
    app = ListApp()
    async with app.run_test(size=size):
        await app.show(Fake(range(len(HOSTILE)), HOSTILE.__getitem__))
        for index in range(len(HOSTILE)):
            app.table.move_to(index)
            for y in range(size[1]):
                strip = app.table.render_line(y)
                assert strip.cell_length == app.table.scrollable_content_region.width
                assert all(without_control_characters(segment.text) == segment.text for segment in strip)


def test_columns_go_in_their_order_and_the_elastic_one_takes_the_rest() -> None:
    columns = [
        Column("a", "a", _text, least=20),
        Column("b", "b", _text, width=5, drop=2),
        Column("c", "c", _text, width=6, drop=1),
        Column("d", "d", _text, width=3),
    ]
    assert [(c.id, w) for c, w in fit_columns(columns, 60)] == [("a", 40), ("b", 5), ("c", 6), ("d", 3)]
    assert [c.id for c, _ in fit_columns(columns, 39)] == ["a", "c", "d"]
    assert [c.id for c, _ in fit_columns(columns, 30)] == ["a", "d"]
    assert sum(w for _, w in fit_columns(columns, 30)) + 2 == 30


def test_two_elastic_columns_share_the_rest_and_fill_the_room() -> None:
    columns = [Column("a", "a", _text), Column("b", "b", _text), Column("c", "c", _text, width=3)]
    gaps = sum(column.gap for column in columns[1:])
    assert [w for _, w in fit_columns(columns, 83 + gaps)] == [40, 40, 3]
    assert [w for _, w in fit_columns(columns, 84 + gaps)] == [41, 40, 3]


async def test_rows_of_three_lines_are_walked_clicked_and_kept_in_sight_as_rows() -> None:
    app = ListApp()
    below: list[list[Column[Pair]]] = [[Column("more", "", _text)], [Column("key", "", _number)]]
    async with app.run_test(size=(40, 14)) as pilot:
        await app.show(Fake(range(1, 1_001)))
        app.table.show_columns(COLUMNS[:1], below)
        await pilot.press("space")
        assert app.line(1).endswith("row 1".ljust(len(app.line(1)) - 3)) and app.line(3).split() == ["1"]
        assert app.line(5).startswith("▌  row 2") and app.line(6).startswith("▌  2")
        assert app.table.virtual_size.height == 3 * 1_000 + 1
        await pilot.click("#rows", offset=(10, 9))  # the second line of the third row
        assert app.table.cursor == 2
        await pilot.press("pagedown")
        assert app.table.cursor == 6  # four whole rows are seen
        await app.settle(lambda: app.table.scroll_offset.y == 8)
        assert "row 7" in app.line(11) and app.line(13).split()[-1] == "7"
        await pilot.press("G")
        await app.settle(lambda: app.table.selected)
        assert app.table.selected == (1_000, "row 1000")
        assert app.line(13).split()[-1] == "1000"
        await app.show(Fake(range(500, 1_001)), top=False)
        assert app.table.selected == (1_000, "row 1000")


async def test_the_line_below_a_row_is_below_the_last_of_its_lines() -> None:
    app = ListApp()
    async with app.run_test(size=(40, 14)):
        await app.show(Fake(range(1, 1_001)))
        app.table.painter.ruled = lambda row: row[0] == 2
        for below in ([], [[Column("more", "", _text)]], []):
            app.table.show_columns(COLUMNS[:1], below)
            lines = [app.table.render_line(y) for y in range(1, 7)]
            ruled = [any(part.style and part.style.underline for part in line) for line in lines]
            assert ruled == [number == (3 if below else 1) for number in range(6)]


def test_a_text_that_spills_runs_over_the_columns_that_are_empty_in_its_row_and_over_no_other() -> None:
    def cell(place: int) -> Callable[[Sequence[str], int], Iterator[StyledText]]:
        return lambda row, width: iter([StyledText(one_line(row[place], width))])

    columns = [
        Column[Sequence[str]]("what", "", cell(0), least=6, spills=True),
        Column[Sequence[str]]("when", "", cell(1), width=5),
        Column[Sequence[str]]("due", "", cell(2), width=5, right=True),
    ]
    painter = RowPainter(columns, ASCII, lambda state, role: Style())
    drawn = [
        painter.paint_row(row, 26, "plain", False).text.rstrip()
        for row in (
            ("a long text here", "", "then"),
            ("a long text here", "", ""),
            ("a long text here", "now", ""),
        )
    ]
    assert drawn == ["   a long text he…   then", "   a long text here", "   a long …  now"]
    assert not any(
        part.style and part.style.underline for part in painter.paint_row(("a", "", ""), 26, "plain", False)
    )
    painter.ruled = lambda row: row[0] == "a"
    assert all(
        part.style and part.style.underline for part in painter.paint_row(("a", "", ""), 26, "plain", False)
    )
    assert not any(
        part.style and part.style.underline for part in painter.paint_row(("b", "", ""), 26, "plain", False)
    )
