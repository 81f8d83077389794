"""A clock that jumped or went back is told in Review and Maintenance; one key says that it is right."""

from __future__ import annotations

import pytest
from memtui.ui.app import MemtuiApp
from memtui.ui.state import UiState
from memtui.ui.widgets.bars import StatusLine
from ui_story import DAY, NOW, Story, running, screen_text, settle, until


@pytest.fixture
def maintained(story: Story) -> Story:
    """Maintenance saw the clock at noon."""
    with story.open() as memory:
        memory.jobs.run_due()
    return story


def at(story: Story, pane: str, **given: object) -> MemtuiApp:
    state = UiState(None)
    state.pane = pane
    return story.app(state=state, **given)


@pytest.mark.parametrize("pane", ["review", "maintenance"])
@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_a_jump_is_told_until_the_person_says_that_it_is_right(
    maintained: Story, pane: str, size: tuple[int, int]
) -> None:
    maintained.now = NOW + 5 * DAY
    app = at(maintained, pane)
    async with running(app, size) as pilot:
        shown = "The clock moved on by 5 days since maintenance last ran"
        await until(lambda: shown in " ".join(screen_text(app).replace("│", " ").split()))
        await settle(app)
        assert "C it is right" in " ".join(screen_text(app).replace("│", " ").split())
        await pilot.press("C")
        await until(lambda: "The clock moved" not in screen_text(app))
        await until(lambda: "The time is right" in app.main.query_one(StatusLine).said)
        await pilot.press("C")
        await until(lambda: "Nothing is wrong with the clock" in app.main.query_one(StatusLine).said)
    with maintained.open(readonly=True) as memory:
        assert memory.jobs.status().clock == ""


async def test_a_clock_that_went_back_is_told(maintained: Story) -> None:
    maintained.now = NOW - 3 * DAY
    app = at(maintained, "review")
    async with running(app):
        await until(lambda: "The clock went back by 3 days" in screen_text(app))


async def test_reading_only_tells_and_changes_nothing(maintained: Story) -> None:
    maintained.now = NOW + 5 * DAY
    app = at(maintained, "maintenance", readonly=True)
    async with running(app) as pilot:
        await until(lambda: "The clock moved on" in screen_text(app))
        await pilot.press("C")
        await until(lambda: "open for reading only" in app.main.query_one(StatusLine).said)
        assert "The clock moved on" in screen_text(app)
