"""What the screens look like, at four sizes. After a wanted change: pytest tests/ui/test_screens_look.py --snapshot-update"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from memtui.ui.app import MemtuiApp
from memtui.ui.panes.registry import spec_of
from memtui.ui.theme import Appearance
from textual.pilot import Pilot
from textual.widgets import TextArea
from ui_story import Story, memories, settle, still, until

SnapCompare = Callable[..., Any]
SIZES = [(40, 12), (80, 24), (120, 40), (200, 60)]


@pytest.fixture(autouse=True)
def one_tab(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new pane changes the tabs of all screens; these pictures are about the rest."""
    monkeypatch.setattr("memtui.ui.main_screen.PANES", [spec_of("memories")])


def pressing(*keys: str) -> Callable[[Pilot[None]], Any]:
    """Wait for the rows, press keys (``...`` waits in between), wait for what they bring."""

    async def run(pilot: Pilot[None]) -> None:
        app = pilot.app
        assert isinstance(app, MemtuiApp)
        await settle(app)
        await until(lambda: app.stats is not None)
        for key in keys:
            if key == "...":
                await still(pilot.app)
                await settle(app)
            else:
                await pilot.press(key)
        await still(pilot.app)
        await until(lambda: not app.operations.running)
        for area in app.screen.query(TextArea):
            area.cursor_blink = False
        await still(pilot.app)

    return run


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_memories(story: Story, snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    assert snap_compare(story.app(), terminal_size=size, run_before=pressing("j"))


def test_memories_light(story: Story, snap_compare: SnapCompare) -> None:
    app = story.app(look=Appearance(theme="memtui-light", motion=False))
    assert snap_compare(app, terminal_size=(80, 24), run_before=pressing("space", "space"))


def test_memories_in_ascii_without_colour(
    story: Story, snap_compare: SnapCompare, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = story.app(look=Appearance(ascii=True, motion=False))
    assert snap_compare(app, terminal_size=(100, 30), run_before=pressing("j"))


def test_an_empty_memory(empty_story: Story, snap_compare: SnapCompare) -> None:
    assert snap_compare(empty_story.app(), terminal_size=(80, 24), run_before=pressing())


def test_a_mistake_in_a_filter(story: Story, snap_compare: SnapCompare) -> None:
    async def type_it(pilot: Pilot[None]) -> None:
        await pressing("slash", *"train", "...")(pilot)
        assert isinstance(pilot.app, MemtuiApp)
        memories(pilot.app).filter_bar.set_filter("train colour:blue")
        await pressing("enter")(pilot)

    assert snap_compare(story.app(), terminal_size=(80, 24), run_before=type_it)


def test_correcting(story: Story, snap_compare: SnapCompare) -> None:
    keys = ("j", "j", "e", *["backspace"] * 9, *"eight hours")
    assert snap_compare(story.app(), terminal_size=(80, 24), run_before=pressing(*keys))


def test_everything_is_still_there_after_a_resize(story: Story) -> None:
    """Not a picture: the parts follow the window."""
    import asyncio

    async def run() -> None:
        app = story.app()
        async with app.run_test(size=(120, 40)) as pilot:
            await settle(app)
            for width, height in ((50, 20), (70, 24), (160, 50), (9, 4), (120, 40)):
                await pilot.resize_terminal(width, height)
                await still(pilot.app)
            assert memories(app).table.row_count == 6
            assert memories(app).preview.display

    asyncio.run(run())
