"""The drawing of who is seen with whom: its places, its lines, and what it does with hostile names."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memtui.engine.records import Companion, Entity, Neighbourhood
from memtui.present.glyphs import ASCII, UNICODE
from memtui.present.text import max_cells
from memtui.ui.panes.entities.neighbours_drawing import Drawing, draw_neighbours
from memtui.ui.panes.entities.radial_layout import (
    MOST,
    RadialLayout,
    label_capacity,
    lay_out,
    neighbour_in_direction,
)

WIDTHS, HEIGHTS = st.integers(24, 200), st.integers(1, 60)
HOSTILE = (
    "Ada\x1b[2J",
    "\u202eevil",
    "👩\u200d👩\u200d👧 family",
    "x" * 200,
    "שלום עולם",
    "",
    "名前" * 40,
    "a\nb\tc",
)


def named(name: str, eid: int = 1, type: str = "person") -> Entity:
    return Entity(eid=eid, id=f"ent_{eid}", canonical_name=name, type=type, mention_count=1)


def around(middle: str, names: list[tuple[str, int]]) -> Neighbourhood:
    companions = tuple(
        Companion(entity=named(name, eid), together=together)
        for eid, (name, together) in enumerate(sorted(names, key=lambda one: -one[1]), 2)
    )
    return Neighbourhood(entity=named(middle), companions=companions, others=0, memories=9)


def text(drawing: Drawing, width: int) -> list[str]:
    """The lines as a terminal shows them. Fails where two runs overlap, or one is outside."""
    lines = []
    for row in drawing.rows:
        line, at = "", 0
        for run in row:
            assert run.left >= at
            words = "".join(piece.text for piece in run.pieces)
            line += " " * (run.left - at) + words
            at = run.left + max_cells(words)
        assert at <= width
        lines.append(line)
    return lines


def check(layout: RadialLayout, width: int, height: int) -> None:
    """All labels are inside, none touches another one, and arrows go to each and back."""
    rows: dict[int, list[tuple[int, int]]] = {}
    frame = (layout.middle.row - 1, layout.middle.row, layout.middle.row + 1)
    for row in frame if layout.framed else frame[1:2]:
        rows.setdefault(row, []).append((layout.middle.left, layout.middle.end_column))
    for spot in layout.spots:
        rows.setdefault(spot.row, []).append((spot.left, spot.end_column))
        assert spot.width >= 3
    for row, spans in rows.items():
        assert 0 <= row < height
        spans.sort()
        assert spans[0][0] >= 0 and spans[-1][1] <= width
        assert all(before[1] < after[0] for before, after in pairwise(spans))
    reached, new = {-1}, {-1}
    while new:
        new = {
            neighbour_in_direction(layout, place, *way)
            for place in new
            for way in ((0, 1), (0, -1), (1, 0), (-1, 0))
        } - reached
        reached |= new
    assert reached == {-1, *range(len(layout.spots))}


@settings(max_examples=150, deadline=None)
@given(
    WIDTHS,
    HEIGHTS,
    st.integers(5, 70),
    st.lists(st.tuples(st.integers(5, 70), st.integers(1, 10**6)), max_size=40),
)
def test_no_label_overlaps_or_is_outside_and_arrows_reach_each(
    width: int, height: int, middle: int, wanted: list[tuple[int, int]]
) -> None:
    wanted.sort(key=lambda one: -one[1])
    labels, ties = [label for label, _ in wanted], [tie for _, tie in wanted]
    layout = lay_out(width, height, middle, labels, ties)
    check(layout, width, height)
    assert len(layout.spots) == min(len(wanted), label_capacity(width, height)) <= MOST
    assert layout == lay_out(width, height, middle, labels, ties)


def test_the_stronger_a_tie_the_nearer_it_stands() -> None:
    layout = lay_out(90, 31, 7, [12] * 12, [24, 20, 16, 12, 10, 8, 6, 4, 3, 2, 1, 1])

    def away(place: int) -> float:
        spot = layout.spots[place]
        return ((spot.near_column - 45) ** 2 + (2 * (spot.row - 15)) ** 2) ** 0.5

    sides = [[away(place) for place in range(side, 12, 2)] for side in (0, 1)]
    for distances in sides:
        for nearer, farther in zip(distances, distances[2:], strict=False):
            assert nearer < farther


def test_a_line_is_as_thick_as_the_tie_and_the_chosen_one_stands_out() -> None:
    found = around("Ada", [("Bob", 30), ("Zoë", 1)])
    lines = text(draw_neighbours(found, 60, 9, ASCII, 0), 60)
    assert "#" in next(line for line in lines if "Bob 30" in line)
    assert "." in next(line for line in lines if "1 Zoë" in line) and ":" not in "".join(lines)
    roles = {
        run.pieces[0].role
        for row in draw_neighbours(found, 60, 9, UNICODE, 0).rows
        for run in row
        if run.companion is None and run.pieces[0].text.strip()
    }
    assert roles == {"accent", "faint"}


@pytest.mark.parametrize("size", [(24, 1), (40, 8), (58, 17), (78, 31), (196, 56)])
@pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["signs", "plain"])
def test_hostile_names_stay_in_their_places(size: tuple[int, int], glyphs: object) -> None:
    width, height = size
    for middle in HOSTILE:
        found = around(middle, [(name, number) for number, name in enumerate(HOSTILE * 4, 1)])
        lines = text(draw_neighbours(found, width, height, glyphs, 3), width)  # type: ignore[arg-type]
        shown = "".join(lines)
        assert len(lines) == height
        assert not set(shown) & set("\x1b\u202e\n\t")


def test_alone_an_entity_is_just_in_the_middle() -> None:
    lines = text(draw_neighbours(around("Ada", []), 40, 11, UNICODE, -1), 40)
    assert [line.strip() for line in lines if line.strip()] == ["╭─────╮", "│ Ada │", "╰─────╯"]
