"""What the timeline looks like. After a wanted change: pytest tests/ui/test_timeline_look.py --snapshot-update"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from memtui.engine.records import TOPICS, NewMemory
from memtui.engine.store import entities, memories, recalls
from memtui.ui.app import MemtuiApp
from memtui.ui.panes.memories.pane import MemoriesPane
from memtui.ui.panes.registry import spec_of
from memtui.ui.theme import Appearance
from textual.pilot import Pilot
from ui_story import DAY, NOW, Story, settle, still, until

SnapCompare = Callable[..., Any]


@pytest.fixture(autouse=True)
def one_tab(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new pane changes the tabs of all screens; these pictures are about the rest."""
    monkeypatch.setattr("memtui.ui.main_screen.PANES", [spec_of("memories")])


@pytest.fixture
def years(empty_story: Story) -> Story:
    """Two and a half years of facts of ten topics: some corrected, forgotten, faded, recalled, about two persons."""
    dice = random.Random(11)
    empty_story.now = NOW
    with empty_story.open() as memory, memory._core.connections.write() as connection:
        rows: list[NewMemory] = []
        for number in range(260):
            at = NOW - int(dice.betavariate(1, 2) * 900 * DAY)
            rows.append(
                {
                    "id": f"fact_{number:012}", "kind": "fact", "content": f"Fact {number} of this picture",
                    "event_time": at, "created_at": at, "trust": "user", "topic": dice.choice([*TOPICS[:9], None]),
                }
            )  # fmt: skip
        rids = memories.insert_all(connection, rows)
        for number, rid in enumerate(rids):
            assert rid is not None
            if number % 9 == 0:
                ending = dice.choice(["superseded", "forgotten", "faded"])
                memories.update(connection, rid, valid_until=NOW - dice.randrange(300) * DAY, ended_by=ending)
            if number % 4 == 0:
                name = ("Ada", "Grace")[number % 3 == 0]
                entities.link(connection, rid, [entities.Mention(name, "person", name)], NOW)
        for _ in range(40):
            ids = [f"fact_{dice.randrange(260):012}" for _ in range(3)]
            at = NOW - dice.randrange(80) * DAY
            recalls.add(connection, at=at, agent="coach", session_id=None, query="?", memory_ids=ids)
        connection.execute("DELETE FROM index_queue")
    return empty_story


def pressing(*keys: str) -> Callable[[Pilot[None]], Any]:
    async def run(pilot: Pilot[None]) -> None:
        app = pilot.app
        assert isinstance(app, MemtuiApp)
        await settle(app)
        pane = app.main.pane
        assert isinstance(pane, MemoriesPane)
        await pilot.press("T")
        await until(lambda: pane.timeline is not None and pane.timeline.count_in_cell)
        await still(app)
        for key in keys:
            await pilot.press(key)
            await still(app)

    return run


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
def test_the_timeline(years: Story, snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    assert snap_compare(years.app(), terminal_size=size, run_before=pressing("j", "j", "p"))


def test_the_timeline_of_persons_in_the_light(years: Story, snap_compare: SnapCompare) -> None:
    app = years.app(look=Appearance(theme="memtui-light", motion=False))
    assert snap_compare(app, terminal_size=(120, 40), run_before=pressing("b", "v", "j"))


def test_the_timeline_in_ascii_without_colour(
    years: Story, snap_compare: SnapCompare, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = years.app(look=Appearance(ascii=True, motion=False))
    assert snap_compare(app, terminal_size=(60, 24), run_before=pressing("="))
