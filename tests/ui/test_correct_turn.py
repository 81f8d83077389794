"""A turn is never corrected: its key leads to the facts that were drawn from it, or says at once what can be done."""

from __future__ import annotations

import pytest
from memtui.engine.records import MemoryRecord
from memtui.engine.store import memories as rows
from memtui.ui.dialogs.choice import PickDialog
from memtui.ui.dialogs.edit import CorrectDialog
from memtui.ui.panes.memories.pane import MemoriesPane
from memtui.ui.panes.search.pane import SearchPane
from memtui.ui.widgets.bars import StatusLine
from textual.pilot import Pilot
from textual.widgets import TextArea
from ui_story import Story, at_pane, running, screen_text, settle, there, until

SAID = "I cycle to work, and my sister Zwervela plays the cello"


def tell(story: Story, *facts: str) -> tuple[MemoryRecord, list[str]]:
    """A turn, and the ids of facts that were drawn from it."""
    with story.open() as memory:
        turn = memory.record_turn("talk", "user", SAID)
        drawn = [memory.remember(fact) for fact in facts]
        with memory._core.change("test", "Linked") as op:
            for fact in drawn:
                rows.update(op.connection, fact.rid, source_ids=[turn.id])
    return turn, [fact.id for fact in drawn]


async def go_to_turn(pilot: Pilot[None], story: Story, pane_name: str) -> None:
    app = pilot.app
    pane = app.main.pane  # type: ignore[attr-defined]
    if isinstance(pane, SearchPane):
        await until(lambda: pane.tuning is not None)
        pane.hit_filter.set_filter("kind:episode")
        pane.filter_bar.set_filter("Zwervela cello")
        await until(lambda: pane.current is not None and pane.current.content == SAID)
        pane.table.focus()
    else:
        assert isinstance(pane, MemoriesPane)
        pane.filter_bar.set_filter("kind:episode Zwervela")
        await until(lambda: pane.current is not None and pane.current.content == SAID)
    await settle(app)  # type: ignore[arg-type]


@pytest.mark.parametrize("pane_name", ["search", "memories"])
async def test_the_only_fact_of_a_turn_is_corrected_in_its_place(empty_story: Story, pane_name: str) -> None:
    turn, [fact] = tell(empty_story, "Zwervela plays the cello")
    app = empty_story.app(state=at_pane(pane_name))
    async with running(app, (80, 24)) as pilot:
        await go_to_turn(pilot, empty_story, pane_name)
        await pilot.press("e")
        await until(lambda: there(app, CorrectDialog))
        assert app.screen.query_one(TextArea).text == "Zwervela plays the cello"
        assert "Correct the fact that was drawn from this turn" in screen_text(app)
        await pilot.press(*" well", "enter")
        await until(lambda: app.screen is app.main)
        await settle(app)
    with empty_story.open(readonly=True) as memory:
        assert memory.get(turn.id).content == SAID
        successor = memory.view.successor(fact)
        assert successor is not None and successor.content == "Zwervela plays the cello well"


async def test_of_several_facts_of_a_turn_the_person_chooses(empty_story: Story) -> None:
    _, ids = tell(empty_story, "I cycle to work", "Zwervela plays the cello", "Forgotten later")
    with empty_story.open() as memory:
        memory.forget(ids[-1])
    app = empty_story.app(state=at_pane("search"))
    async with running(app, (80, 24)) as pilot:
        await go_to_turn(pilot, empty_story, "search")
        await pilot.press("e")
        await until(lambda: there(app, PickDialog) and "cycle to work" in screen_text(app))
        assert "Forgotten later" not in screen_text(app)
        await pilot.press("j", "enter")
        await until(lambda: there(app, CorrectDialog))
        assert app.screen.query_one(TextArea).text == "Zwervela plays the cello"


@pytest.mark.parametrize("key", ["e", "o"])
@pytest.mark.parametrize("pane_name", ["search", "memories"])
async def test_a_turn_without_a_fact_says_at_once_what_can_be_done(
    empty_story: Story, pane_name: str, key: str
) -> None:
    turn, _ = tell(empty_story)
    app = empty_story.app(state=at_pane(pane_name))
    async with running(app, (120, 40)) as pilot:
        await go_to_turn(pilot, empty_story, pane_name)
        await pilot.press(key)
        await until(lambda: "stays as it was said" in screen_text(app))
        said = app.main.query_one(StatusLine).said
        assert "x forgets it" in said and "E erases it" in said and "a writes down a note" in said
        assert turn.id not in said and app.screen is app.main
