"""What Search, Sessions, History and the dialogs look like. After a wanted change: pytest <this file> --snapshot-update"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from memtui import config
from memtui.engine.records import Profile
from memtui.engine.search import profiles
from memtui.ui.app import MemtuiApp
from memtui.ui.panes.registry import spec_of
from memtui.ui.panes.search.pane import SearchPane
from memtui.ui.state import UiState
from memtui.ui.theme import Appearance
from textual.pilot import Pilot
from textual.widgets import Input
from ui_story import DAY, NOW, Story, settle, still, until

SnapCompare = Callable[..., Any]
SIZES = [(40, 12), (80, 24), (120, 40), (200, 60)]
sizes = pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")


@pytest.fixture(autouse=True)
def these_tabs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pane that is added changes the tabs of all screens; these pictures are about the rest."""
    tabs = [spec_of(place) for place in ("memories", "search", "sessions", "history")]
    monkeypatch.setattr("memtui.ui.main_screen.PANES", tabs)


@pytest.fixture(autouse=True)
def one_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    """The default ranking may be tuned; these pictures are not about that."""
    fixed = Profile(keyword=1.0, vector=0.5, entity=0.1, neighbours=0.5, session=0.3, floor=0.3, depth=100)
    monkeypatch.setitem(profiles.BUILT_IN, "default", fixed)


@pytest.fixture(autouse=True)
def no_time_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search says how long it took."""
    monkeypatch.setattr("memtui.engine.search.search.time", SimpleNamespace(perf_counter=lambda: 0.0))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)


def app_at(story: Story, place: str, **given: Any) -> MemtuiApp:
    state = UiState(None)
    state.pane = place
    return story.app(state=state, **given)


async def rest(pilot: Pilot[None]) -> MemtuiApp:
    """Until nothing moves any more."""
    app = pilot.app
    assert isinstance(app, MemtuiApp)
    await settle(app)
    await until(lambda: app.stats is not None)
    waiting = ("poll", "welcome")
    await until(lambda: not any(worker.is_running for worker in app.workers if worker.group not in waiting))
    for box in app.screen.query(Input):
        box.cursor_blink = False
    await still(pilot.app)
    return app


def pressing(*keys: str, question: str = "", filter: str = "") -> Callable[[Pilot[None]], Any]:
    """Ask a question where one is given, then press keys (``...`` waits until the screen rests)."""

    async def run(pilot: Pilot[None]) -> None:
        app = await rest(pilot)
        pane = app.main.pane
        if question and isinstance(pane, SearchPane):
            await until(lambda: pane.tuning is not None)
            pane.hit_filter.set_filter(filter)
            pane.hit_filter.display = bool(filter)
            pane.filter_bar.set_filter(question)
            app.main.pane.take_focus()
            await until(lambda: pane.result is not None and pane.result.query == question)
        for key in keys:
            await (rest(pilot) if key == "..." else pilot.press(key))
        await rest(pilot)

    return run


@pytest.fixture
def talks(story: Story) -> Story:
    """The story with vectors, a consolidated session, a recall, and an undone operation."""
    from memtui.engine.store import history, sessions

    with story.open() as memory:
        memory.models.index_pending()
        memory.record_turn(
            "work", "assistant", "\n".join(f"Point {number} of the plan." for number in range(1, 15))
        )
        with history.operation(
            memory._core.connections, story.clock, "scheduler", "consolidate", "Consolidated trip"
        ) as op:
            sessions.mark_consolidated(op.connection, "trip", NOW - DAY)
        memory.confirm(memory.view.page("walnuts kind:fact")[0].id)
        memory.undo()
    with story.open(actor="agent:planner") as agent:
        agent.search("trains or flights?")
    return story


@sizes
def test_search(talks: Story, snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    run = pressing(question="is Ada allergic to walnuts on trains?")
    assert snap_compare(app_at(talks, "search"), terminal_size=size, run_before=run)


@sizes
def test_sessions(talks: Story, snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    assert snap_compare(app_at(talks, "sessions"), terminal_size=size, run_before=pressing())


@sizes
def test_history(talks: Story, snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    keys = pressing("j", "j", "j", "j")
    assert snap_compare(app_at(talks, "history"), terminal_size=size, run_before=keys)


@pytest.mark.parametrize("pane", ["search", "sessions", "history"])
def test_light(talks: Story, snap_compare: SnapCompare, pane: str) -> None:
    app = app_at(talks, pane, look=Appearance(theme="memtui-light", motion=False))
    run = pressing(question="walnuts or trains", filter="kind:fact")
    assert snap_compare(app, terminal_size=(100, 30), run_before=run)


def test_search_in_ascii(talks: Story, snap_compare: SnapCompare) -> None:
    app = app_at(talks, "search", look=Appearance(ascii=True, motion=False))
    assert snap_compare(app, terminal_size=(100, 30), run_before=pressing(question="walnuts or trains"))


def test_another_ranking(talks: Story, snap_compare: SnapCompare) -> None:
    run = pressing(
        "T", "j", "right", "j", "j", "left", "left", question="does Ada take the train on Tuesdays"
    )
    assert snap_compare(app_at(talks, "search"), terminal_size=(80, 24), run_before=run)


def test_why_a_memory_is_not_here(talks: Story, snap_compare: SnapCompare) -> None:
    run = pressing("w", "...", *"unicycle", "enter", question="walnuts")
    assert snap_compare(app_at(talks, "search"), terminal_size=(80, 24), run_before=run)


def test_the_context_block(talks: Story, snap_compare: SnapCompare) -> None:
    run = pressing("v", question="trains")
    assert snap_compare(app_at(talks, "search"), terminal_size=(80, 24), run_before=run)


def test_nothing_asked_yet(talks: Story, snap_compare: SnapCompare) -> None:
    assert snap_compare(app_at(talks, "search"), terminal_size=(80, 24), run_before=pressing())


def test_nothing_found(talks: Story, snap_compare: SnapCompare) -> None:
    run = pressing(question="xyzzyx", filter="tag:nowhere")
    assert snap_compare(app_at(talks, "search"), terminal_size=(80, 24), run_before=run)


def test_a_conversation_in_full(talks: Story, snap_compare: SnapCompare) -> None:
    run = pressing("enter", "...", "j")
    assert snap_compare(app_at(talks, "sessions"), terminal_size=(80, 24), run_before=run)


def test_the_recall_log(talks: Story, snap_compare: SnapCompare) -> None:
    assert snap_compare(app_at(talks, "history"), terminal_size=(80, 24), run_before=pressing("L"))


@pytest.mark.parametrize("size", SIZES[:2], ids=lambda size: f"{size[0]}x{size[1]}")
def test_the_welcome(
    empty_story: Story, tmp_path: Path, snap_compare: SnapCompare, size: tuple[int, int]
) -> None:
    from test_import_dialog import claude_home

    async def look(pilot: Pilot[None]) -> None:
        await still(pilot.app, 0.5)
        await rest(pilot)

    app = empty_story.app(home=claude_home(tmp_path / "home", 12, old=5))
    assert snap_compare(app, terminal_size=size, run_before=look)


@pytest.mark.parametrize("size", SIZES[:2], ids=lambda size: f"{size[0]}x{size[1]}")
def test_the_settings(story: Story, snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    file = Path("/home/ada/.config/memtui/config.toml")
    app = story.app(configuration=config.Configuration(settings=config.Settings(), file=file, exists=False))
    assert snap_compare(app, terminal_size=size, run_before=pressing("comma", "...", "j", "j", "j", "j"))


def test_choosing_what_to_import(story: Story, snap_compare: SnapCompare) -> None:
    assert snap_compare(story.app(), terminal_size=(80, 24), run_before=pressing("i"))
