"""What Observations and its scratchpad look like. After a wanted change: pytest <this file> --snapshot-update"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from memtui.ui.app import MemtuiApp
from memtui.ui.panes.observations.pane import ObservationsPane
from memtui.ui.panes.registry import spec_of
from memtui.ui.state import UiState
from memtui.ui.theme import Appearance
from memtui.ui.widgets.row_table import RowTable
from textual.pilot import Pilot
from textual.widgets import Input, TextArea
from ui_story import DAY, NOW, Story, settle, still, until

SnapCompare = Callable[..., Any]
sizes = pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=lambda size: f"{size[0]}x{size[1]}")


@pytest.fixture(autouse=True)
def these_tabs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pane that is added changes the tabs of all screens; these pictures are about the rest."""
    tabs = [spec_of(place) for place in ("memories", "observations", "history")]
    monkeypatch.setattr("memtui.ui.main_screen.PANES", tabs)


@pytest.fixture
def noted(story: Story) -> Story:
    with story.open(actor="agent:scout") as agent:
        story.now = NOW - 9 * DAY
        agent.observations.remember(
            ["The API allows 100 requests a minute and key", "Ada owns the billing service"],
            ["REST is simpler here: clients need few fields"], ["Check the rate limit before a bulk import"],
            source="GOAL:probe-api",
        )  # fmt: skip
        story.now = NOW - 2 * DAY
        agent.observations.remember(
            ["The nightly build takes nine minutes, six of them in the integration tests"],
            ["Most of the deploy time goes into indexes"], ["Drop indexes before a migration, and rebuild them after"],
            source="RUN:deploy",
        )  # fmt: skip
        agent.scratchpad.set("api.limit", "100 a minute")
        story.now = NOW - 3_600
        agent.scratchpad.set("task", "1. ask Ada\n2. change the entry\n3. tell the team")
    with story.open() as memory:
        story.now = NOW - 60
        memory.scratchpad.set("odd \\ [/]", "\x1b[31m[@click=app.quit]red[/] \u202eevil")
        memory.confirm(memory.observations.recall("billing")[0].memory.id)
    story.now = NOW
    return story


def app_at(story: Story, **given: Any) -> MemtuiApp:
    state = UiState(None)
    state.pane = "observations"
    return story.app(state=state, **given)


async def rest(pilot: Pilot[None]) -> None:
    app = pilot.app
    assert isinstance(app, MemtuiApp)
    await settle(app)
    pane = app.main.pane
    assert isinstance(pane, ObservationsPane)
    for table in pane.query(RowTable):
        await until(lambda table=table: table._pages is not None and table._pages.keys is not None)
        await until(lambda table=table: table._next is None)
    await until(lambda: app.stats is not None)
    waiting = ("poll", "welcome", "edit_note")
    await until(lambda: not any(worker.is_running for worker in app.workers if worker.group not in waiting))
    for box in (*app.screen.query(Input), *app.screen.query(TextArea)):
        box.cursor_blink = False
    await still(pilot.app)


def pressing(*keys: str) -> Callable[[Pilot[None]], Any]:
    async def run(pilot: Pilot[None]) -> None:
        await rest(pilot)
        for key in keys:
            await (rest(pilot) if key == "..." else pilot.press(key))
        await rest(pilot)

    return run


@sizes
def test_three_lists(noted: Story, snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    assert snap_compare(app_at(noted), terminal_size=size, run_before=pressing("l"))


@sizes
def test_what_a_query_recalls(noted: Story, snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    run = pressing("slash", *"rate deploy", "...", "enter")
    app = app_at(noted, look=Appearance("memtui-light", motion=False))
    assert snap_compare(app, terminal_size=size, run_before=run)


@sizes
def test_the_scratchpad(noted: Story, snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    assert snap_compare(app_at(noted), terminal_size=size, run_before=pressing("P", "...", "j"))


def test_in_ascii(noted: Story, snap_compare: SnapCompare) -> None:
    app = app_at(noted, look=Appearance(ascii=True, motion=False))
    assert snap_compare(app, terminal_size=(120, 30), run_before=pressing("l", "l"))


def test_the_scratchpad_in_light(noted: Story, snap_compare: SnapCompare) -> None:
    app = app_at(noted, look=Appearance("memtui-light", motion=False))
    assert snap_compare(app, terminal_size=(100, 30), run_before=pressing("P"))


def test_changing_a_text(noted: Story, snap_compare: SnapCompare) -> None:
    run = pressing("P", "...", "j", "e")
    assert snap_compare(app_at(noted), terminal_size=(80, 24), run_before=run)


def test_nothing_noted_yet(empty_story: Story, snap_compare: SnapCompare) -> None:
    assert snap_compare(app_at(empty_story), terminal_size=(80, 24), run_before=pressing())
