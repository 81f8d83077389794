"""What Entities looks like. After a wanted change: pytest tests/ui/test_entities_look.py --snapshot-update"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from memtui.ui.app import MemtuiApp
from memtui.ui.panes.registry import spec_of
from memtui.ui.state import UiState
from memtui.ui.theme import Appearance
from textual.pilot import Pilot
from ui_story import DAY, NOW, Story, settle, still, until

SnapCompare = Callable[..., Any]


@pytest.fixture(autouse=True)
def one_tab(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new pane changes the tabs of all screens; these pictures are about the rest."""
    monkeypatch.setattr("memtui.ui.main_screen.PANES", [spec_of("entities")])


@pytest.fixture
def crowd(story: Story, monkeypatch: pytest.MonkeyPatch) -> Story:
    """Ada with aliases, a summary and half a year of memories; somebody pinned."""
    numbers = itertools.count(1)
    monkeypatch.setattr("secrets.token_hex", lambda size: f"{next(numbers):0{2 * size}x}")
    with story.open() as memory:
        memory.models.index_pending()
        for month in range(6, 0, -1):
            story.now = NOW - month * 29 * DAY
            for number in range(month % 4 + 1):
                text = f"Ada and Nadia went to Ghent for the {number + month}th time"
                memory.record_turn(f"s{month}", "user", text)
        memory.remember("Ada restores stained glass in Ghent")
        story.now = NOW
        memory.models.index_pending()
        memory.entities.add_alias("Ada", "A. Ferreira")
        memory.entities.retype("Ada", "person")
        memory.entities.describe("Ada", "The sister who restores stained glass, and is allergic to walnuts.")
        memory.entities.pin("Porto")
    return story


def app_at(story: Story, **given: Any) -> MemtuiApp:
    state = UiState(None)
    state.pane = "entities"
    return story.app(state=state, **given)


def pressing(*keys: str) -> Callable[[Pilot[None]], Any]:
    """Wait for the list and its profile, press keys, wait for what they bring."""

    async def run(pilot: Pilot[None]) -> None:
        app = pilot.app
        assert isinstance(app, MemtuiApp)
        await settle(app)
        await until(lambda: app.stats is not None)
        for key in keys:
            await pilot.press(key)
            await settle(app)
        await still(pilot.app)

    return run


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
def test_entities(crowd: Story, snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    assert snap_compare(app_at(crowd), terminal_size=size, run_before=pressing("j"))


def test_a_profile_in_full(crowd: Story, snap_compare: SnapCompare) -> None:
    assert snap_compare(app_at(crowd), terminal_size=(120, 40), run_before=pressing("j", "enter", "j", "l"))


def test_a_profile_in_the_light(crowd: Story, snap_compare: SnapCompare) -> None:
    app = app_at(crowd, look=Appearance(theme="memtui-light", motion=False))
    assert snap_compare(app, terminal_size=(80, 24), run_before=pressing("j", "enter", "j"))


def test_a_merge_in_ascii(crowd: Story, snap_compare: SnapCompare) -> None:
    app = app_at(crowd, look=Appearance(ascii=True, motion=False))
    assert snap_compare(app, terminal_size=(100, 30), run_before=pressing("j", "m"))


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
def test_who_with_whom(crowd: Story, snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    with crowd.open() as memory:
        for number, other in enumerate(("Olga", "Samir Haddad", "Yuki", "Zoë", "Kwame", "Rui"), 1):
            for _ in range(number):
                memory.record_turn("party", "user", f"Ada met {other} in Porto, who lives in Turku")
        memory.models.index_pending()
    assert snap_compare(app_at(crowd), terminal_size=size, run_before=pressing("j", "w", "down"))
