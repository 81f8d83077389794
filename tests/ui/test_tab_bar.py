"""The tabs at the top: full names wherever they fit, with the counts that have room."""

from __future__ import annotations

import pytest
from memtui.ui.panes.registry import PANES
from memtui.ui.widgets.bars import TabBar, TabLabel
from textual.app import App, ComposeResult

# As in the demo: what waits in Review and Sessions is work, the rest are totals.
_COUNTS = {"review": 25, "memories": 1640, "entities": 126, "sessions": 2, "observations": 22}


class _Bar(App[None]):
    def compose(self) -> ComposeResult:
        yield TabBar("●")


async def drawn(width: int, counts: dict[str, int], active: str = "memories") -> str:
    app = _Bar()
    async with app.run_test(size=(width, 3)) as pilot:
        bar = app.query_one(TabBar)
        bar.tabs = tuple(
            TabLabel(spec.number, spec.pane_id, spec.label, spec.short, counts.get(spec.pane_id), spec.calls)
            for spec in PANES
        )
        bar.active = active
        await pilot.pause()
        return bar.render().plain


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (
            160,
            " 0 You   1 Review 25   2 Memories 1,640   3 Search   4 Entities 126   5 Sessions 2   6 Observations 22"
            "   7 Maintenance   8 History",
        ),
        (
            120,
            " 0 You   1 Review 25   2 Memories   3 Search   4 Entities   5 Sessions 2   6 Observations   7 Maintenance"
            "   8 History",
        ),
        (
            110,
            " 0 You  1 Review 25  2 Memories  3 Search  4 Entities  5 Sessions 2  6 Observations  7 Maintenance  8 History",
        ),
        (
            100,
            " 0 You 1 Review● 2 Memories 3 Search 4 Entities 5 Sessions● 6 Observations 7 Maintenance 8 History",
        ),
        (
            96,
            " 0 You  1 Review 25  2 Memories  3 Search  4 Entities  5 Sessions 2  6 Obs  7 Maint  8 History",
        ),
        (80, " 0 You  1 Review 25  2 Mem  3 Search  4 Ents  5 Ses 2  6 Obs  7 Maint  8 History"),
        (60, " 0You  1Rev●  2Mem  3Find  4Ents  5Ses●  6Obs  7Maint  8His"),
    ],
)
async def test_counts_go_before_blanks_and_both_before_names(width: int, expected: str) -> None:
    assert (await drawn(width, _COUNTS)).rstrip() == expected


@pytest.mark.parametrize("width", [80, 90, 96, 100, 110, 120])
async def test_no_tab_is_left_out_where_no_work_waits(width: int) -> None:
    text = await drawn(width, {"memories": 164, "review": 0})
    assert "…" not in text
    assert "4 Entities" in text and "8 History" in text


async def test_a_window_that_is_too_narrow_for_all_shows_the_active_one() -> None:
    text = await drawn(40, _COUNTS, "history")
    assert text.startswith("…") and "8His" in text
