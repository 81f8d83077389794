"""What Review, a preview of proposals and Maintenance look like, at four sizes and in the light.

After a wanted change: pytest tests/ui/test_upkeep_look.py --snapshot-update
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from memtui.engine.records.sync import DeviceState, SyncProblem, SyncStatus
from memtui.ui.app import MemtuiApp
from memtui.ui.dialogs.proposals import ProposalsDialog, ProposalTable
from memtui.ui.panes.registry import spec_of
from memtui.ui.state import UiState
from memtui.ui.theme import Appearance
from textual.pilot import Pilot
from ui_story import DAY, NOW, Story, settle, still, until

SnapCompare = Callable[..., Any]
SIZES = [(40, 12), (80, 24), (120, 40), (200, 60)]
at_four_sizes = pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")


@pytest.fixture
def one_tab(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], UiState]:
    """The app begins on a pane, whose tab is the only one: these pictures are not about the others."""

    def only(place: str) -> UiState:
        monkeypatch.setattr("memtui.ui.main_screen.PANES", [spec_of(place)])
        # How large an almost empty file is differs from one version of it to the next.
        monkeypatch.setattr("memtui.present.backup.file_size", lambda size: "0.4 MB")
        state = UiState(None)
        state.pane = place
        return state

    return only


@pytest.fixture
def busy_story(story: Story) -> Story:
    """A conflict, new facts, something that fades, and a conversation that waits."""
    with story.open() as memory:
        story.now = NOW - 2 * DAY
        memory.remember("I live in Bergen", tags=["home"])
        memory.record_turn("moving", "user", "We live in Oslo now, since the first of the month.")
        memory.record_turn("garden", "user", "I like gooseberries. My sister is called Nadia.")
        story.now = NOW - DAY
        asyncio.run(memory.consolidate("moving"))
        asyncio.run(memory.consolidate("garden"))
        memory.record_turn("tea", "user", "I like green tea in the morning. My dentist is Dr. Bakker.")
        memory.record_turn("tea", "user", "We live in Tromso now.")
    story.now = NOW - 26 * DAY
    with story.open(actor="agent:other") as agent:
        agent.remember("Wants to learn the accordion")
    story.now = NOW
    return story


def pressing(*keys: str) -> Callable[[Pilot[None]], Any]:
    async def run(pilot: Pilot[None]) -> None:
        app = pilot.app
        assert isinstance(app, MemtuiApp)
        await until(lambda: app.main.pane.query("RowTable") and app.stats is not None)
        await until(lambda: app.main.pane.table.row_count > 0)  # type: ignore[attr-defined]
        await settle(app)
        for key in keys:
            await pilot.press(key)
            await settle(app)
        await still(pilot.app)

    return run


@at_four_sizes
def test_a_conflict_in_review(
    busy_story: Story, snap_compare: SnapCompare, one_tab: Callable[[str], UiState], size: tuple[int, int]
) -> None:
    keys = ("enter", "right") if size[0] < 60 else ()
    assert snap_compare(
        busy_story.app(state=one_tab("review")), terminal_size=size, run_before=pressing(*keys)
    )


def test_new_facts_in_review_in_the_light(
    busy_story: Story, snap_compare: SnapCompare, one_tab: Callable[[str], UiState]
) -> None:
    look = Appearance(theme="memtui-light", motion=False)
    app = busy_story.app(state=one_tab("review"), look=look)
    assert snap_compare(app, terminal_size=(80, 24), run_before=pressing("G", "right"))


@at_four_sizes
def test_proposals(
    busy_story: Story, snap_compare: SnapCompare, one_tab: Callable[[str], UiState], size: tuple[int, int]
) -> None:
    async def preview(pilot: Pilot[None]) -> None:
        await pressing("d")(pilot)
        await until(lambda: isinstance(pilot.app.screen, ProposalsDialog))
        await until(lambda: pilot.app.screen.query_one(ProposalTable).row_count > 0)
        await pilot.press("space")
        await still(pilot.app)

    assert snap_compare(busy_story.app(state=one_tab("sessions")), terminal_size=size, run_before=preview)


def at_row(name: str) -> Callable[[Pilot[None]], Any]:
    async def run(pilot: Pilot[None]) -> None:
        await pressing()(pilot)
        pane = pilot.app.main.pane
        await until(lambda: pane.jobs.health is not None)
        for _ in range(40):
            if pane.table.selected.name_cell == name:
                break
            await pilot.press("j")
        await settle(pilot.app)

    return run


@at_four_sizes
def test_a_run_in_maintenance(
    busy_story: Story, snap_compare: SnapCompare, one_tab: Callable[[str], UiState], size: tuple[int, int]
) -> None:
    busy_story.now = NOW + 10 * DAY
    with busy_story.open() as memory:
        memory.jobs.run_now("decay")
    keys = ("j", "j", *(("enter",) if size[0] < 60 else ()))
    app = busy_story.app(state=one_tab("maintenance"))
    assert snap_compare(app, terminal_size=size, run_before=pressing(*keys))


def test_the_forecast_in_ascii(
    busy_story: Story, snap_compare: SnapCompare, one_tab: Callable[[str], UiState]
) -> None:
    app = busy_story.app(state=one_tab("maintenance"), look=Appearance(ascii=True, motion=False))
    assert snap_compare(app, terminal_size=(100, 30), run_before=at_row("Fading"))


def test_growth_in_the_light(
    busy_story: Story, snap_compare: SnapCompare, one_tab: Callable[[str], UiState]
) -> None:
    look = Appearance(theme="memtui-light", motion=False)
    app = busy_story.app(state=one_tab("maintenance"), look=look)
    assert snap_compare(app, terminal_size=(120, 40), run_before=at_row("Over time"))


@pytest.mark.parametrize(
    ("size", "theme"), [((120, 40), "memtui-dark"), ((80, 24), "memtui-light")], ids=["120x40", "light"]
)
def test_the_devices_of_a_memory(
    busy_story: Story, snap_compare: SnapCompare, one_tab: Callable[[str], UiState], size: tuple[int, int], theme: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    devices = (
        DeviceState(device="desktop-5f2c9a10", name="desktop", number=41, at=NOW - 120),
        DeviceState(device="invitation-0b1c2d3e", name="invitation", number=0, invited=True),
        DeviceState(device="laptop-1a2b3c4d", name="laptop", number=17, own=True),
        DeviceState(device="server-77aa88bb", name="server", number=8, at=NOW - 2 * DAY, waiting=2),
    )
    problem = SyncProblem(
        device="server-77aa88bb", number=9, kind="damaged", message="It cannot be decrypted: it is cut, or not for us."
    )  # fmt: skip
    status = SyncStatus(
        url="s3://memories/ada", devices=devices, pending=3, last_at=NOW - 40, problems=(problem,), facts_only=True
    )  # fmt: skip
    monkeypatch.setattr("memtui.engine.namespaces.sync.Sync.status", lambda self: status)
    monkeypatch.setattr("memtui.present.job.file_size", lambda size: "0.4 MB")
    look = Appearance(theme=theme, motion=False)
    app = busy_story.app(state=one_tab("maintenance"), look=look)

    async def show(pilot: Pilot[None]) -> None:
        await at_row("Devices")(pilot)
        if size[0] < 100:
            await pilot.press("enter")
        await still(pilot.app)

    assert snap_compare(app, terminal_size=size, run_before=show)
