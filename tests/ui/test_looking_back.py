"""History looks back: the memory at a moment, and what became of it between two; labelled, read only, Esc comes back."""

from __future__ import annotations

import pytest
from memtui.ui.app import MemtuiApp
from memtui.ui.dialogs.line_input import PointInTimeDialog, PointsInTime
from memtui.ui.panes.history.pane import HistoryPane
from memtui.ui.state import UiState
from memtui.ui.widgets.bars import StatusLine
from textual.pilot import Pilot
from ui_story import DAY, NOW, Story, running, screen_text, settle, there, until

HOSTILE = "\x1b]52;c;aGk=\x07[@click=app.quit]x[/] \u202eevil [/"


def at_history(story: Story, **given: object) -> MemtuiApp:
    state = UiState(None)
    state.pane = "history"
    return story.app(state=state, **given)


def pane(app: MemtuiApp) -> HistoryPane:
    assert isinstance(app.main.pane, HistoryPane)
    return app.main.pane


def status(app: MemtuiApp) -> StatusLine:
    return app.main.query_one(StatusLine)


async def look(app: MemtuiApp, pilot: Pilot[None], moments: str) -> None:
    await pilot.press("W")
    await until(lambda: there(app, PointInTimeDialog))
    names = {" ": "space", ".": "full_stop", "-": "minus", ":": "colon"}
    await pilot.press(*(names.get(key, key) for key in moments), "enter")
    await until(lambda: pane(app).past.looking is not None and not there(app, PointInTimeDialog))
    await settle(app)


async def test_the_memory_as_it_was_is_listed_and_esc_leads_back(story: Story) -> None:
    app = at_history(story)
    async with running(app, (130, 40)) as pilot:
        changes = pane(app).table.row_count
        await look(app, pilot, "36h")
        text = screen_text(app)
        assert "as of 21 Nov 00:00" in text and "the past, read only" in text
        assert "Standup is at 10:00" in text and "Owns a unicycle" not in text
        await until(lambda: "6 facts, 3 turns" in screen_text(app))
        await pilot.press("slash", *"standup", "enter")
        await until(lambda: pane(app).table.row_count == 1)
        await settle(app)
        text = screen_text(app)
        assert "- Standup is at 10:00" in text and "+ Standup moved to 10:30 on Tuesdays" in text
        await pilot.press("U")
        await until(lambda: "This is the past" in status(app).said)
        await pilot.press("escape")
        await until(lambda: pane(app).table.row_count == 6)
        # What is done meanwhile does not move it.
        with story.open(actor="agent:other") as other:
            other.remember("Learned elsewhere")
        await until(lambda: app.stats is not None and app.stats.by_kind["fact"] == 7)
        await settle(app)
        assert "Learned elsewhere" not in screen_text(app)
        await pilot.press("escape")
        await until(lambda: pane(app).table.row_count == changes + 1)
        assert "as of" not in screen_text(app) and "recall log" in screen_text(app)


async def test_what_became_of_it_between_two_moments_is_a_list_of_differences(story: Story) -> None:
    with story.open() as memory:
        memory.remember(f"Kept bees {HOSTILE}")
    app = at_history(story)
    async with running(app, (130, 40)) as pilot:
        await look(app, pilot, "36h ..")
        text = screen_text(app)
        assert "21 Nov 00:00 to 22 Nov 12:00" in text
        assert "corrected" in text and "came and went" in text and "added" in text
        assert not any(sign in text for sign in "\x1b\x07\u202e")
        await pilot.press("slash", *"corrected", "enter")
        await until(lambda: pane(app).table.row_count == 1)
        await settle(app)
        text = screen_text(app)
        assert "- Standup is at 10:00" in text and "+ Standup moved to 10:30 on Tuesdays" in text
        await pilot.press("y")
        await until(lambda: "Copied" in status(app).said)
        await pilot.press("escape", "W")
        await until(lambda: there(app, PointInTimeDialog))
        assert "36h .. now" in screen_text(app)
        await pilot.press(*"soon", "enter")
        await until(lambda: "is not a time" in screen_text(app))
        await pilot.press("escape")
        await until(lambda: not there(app, PointInTimeDialog))
        await pilot.press("escape")
        await until(lambda: pane(app).past.looking is None)


async def test_nothing_then_and_a_past_that_is_not_known_exactly_say_so(story: Story) -> None:
    with story.open() as memory:
        from memtui.engine.store import history

        history.forget_old_operations(memory._core.connections, NOW + 90 * DAY - 4 * DAY)
    app = at_history(story, readonly=True)
    async with running(app, (100, 30)) as pilot:
        await look(app, pilot, "5y")
        await until(lambda: "Nothing was remembered yet" in screen_text(app))
        await pilot.press("escape")
        await look(app, pilot, "6d")
        assert "History is complete from" in screen_text(app)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("2d", ("2d", "")),
        ("2d ..", ("2d", "now")),
        ("2026-01 .. 2026-03", ("2026-01", "2026-03")),
        ("..", ("", "now")),
    ],
)
def test_two_moments_are_parted_by_dots(text: str, meant: tuple[str, str]) -> None:
    assert tuple(PointsInTime.parse(text)) == meant
