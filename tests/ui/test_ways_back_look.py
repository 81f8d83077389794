"""What export, restore and the past look like. After a wanted change: add --snapshot-update and look."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from memtui.ui.app import MemtuiApp
from memtui.ui.panes.registry import spec_of
from memtui.ui.state import UiState
from memtui.ui.theme import Appearance
from textual.pilot import Pilot
from textual.widgets import Input
from ui_story import DAY, NOW, Story, settle, still, until

SnapCompare = Callable[..., Any]
DARK, LIGHT = Appearance(motion=False), Appearance(theme="memtui-light", motion=False)


@pytest.fixture
def app_at(story: Story, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Appearance], MemtuiApp]:
    """An app that starts in a pane, which is the only one: a new pane changes the tabs of all pictures."""
    with story.open() as memory:
        story.now = NOW - 3 * DAY / 2
        memory.backups.make("scheduled")
        story.now = NOW - DAY / 2
        memory.forget(next(one.id for one in memory.view.page() if "walnuts" in one.content))
        story.now = NOW

    def make(place: str, look: Appearance) -> MemtuiApp:
        monkeypatch.setattr("memtui.ui.main_screen.PANES", [spec_of(place)])
        state = UiState(None)
        state.pane = place
        return story.app(state=state, look=look)

    return make


def pressing(*keys: str) -> Callable[[Pilot[None]], Any]:
    """Press keys; ``...`` waits for what they bring."""

    async def run(pilot: Pilot[None]) -> None:
        app = pilot.app
        assert isinstance(app, MemtuiApp)
        await until(lambda: app.main.pane.query("RowTable") and app.stats is not None)
        await until(lambda: app.main.pane.table.row_count > 0)  # type: ignore[attr-defined]
        for key in keys:
            if key == "...":
                await settle(app)
            else:
                await pilot.press(key)
        await still(pilot.app)
        for line in app.screen.query(Input):
            line.cursor_blink = False
        await settle(app)

    return run


@pytest.mark.parametrize(("size", "look"), [((80, 24), DARK), ((120, 40), LIGHT)], ids=["80x24", "light"])
def test_export(app_at: Any, snap_compare: SnapCompare, size: tuple[int, int], look: Appearance) -> None:
    keys = pressing("...", "I", "tab", "tab", "space")
    assert snap_compare(app_at("memories", look), terminal_size=size, run_before=keys)


def test_restore(app_at: Any, snap_compare: SnapCompare) -> None:
    keys = pressing("slash", *"backups", "enter", "...", "enter", "...", "j", "...", "R", "...")
    assert snap_compare(app_at("maintenance", LIGHT), terminal_size=(80, 24), run_before=keys)


def test_between_two_moments(app_at: Any, snap_compare: SnapCompare) -> None:
    keys = pressing("W", *"36h", "space", "full_stop", "full_stop", "enter", "...", "j", "...")
    assert snap_compare(app_at("history", DARK), terminal_size=(80, 24), run_before=keys)
