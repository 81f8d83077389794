"""Before something is corrected, forgotten, merged or erased the app shows what depends on it; Review asks afterwards."""

from __future__ import annotations

import pytest
from memtui.engine.records import MemoryRecord
from memtui.engine.store import memories as rows
from memtui.ui.dialogs.choice import PickDialog, Question
from memtui.ui.dialogs.edit import CorrectDialog
from memtui.ui.dialogs.erase import EraseDialog
from memtui.ui.dialogs.merge import FactMergeDialog
from memtui.ui.dialogs.wrong_answers import WrongAnswersDialog
from memtui.ui.panes.review.pane import ReviewPane
from memtui.ui.state import UiState
from textual.widgets import TextArea
from ui_story import Story, memories, running, screen_text, settle, there, until

WEEK, ASK = "The week was about the job at Initech.", "Ask about Initech on Fridays."
SIZES = [(80, 24), (120, 40)]


@pytest.fixture
def fact(story: Story) -> MemoryRecord:
    """A fact; a reflection and an observation were drawn from it, an agent was told it."""
    with story.open() as memory:
        fact = memory.remember("Works at Initech")
        other = memory.remember("Employed by Initech")
        with memory._core.change("test", "Drew") as op:
            for kind, text in (("reflection", WEEK), ("observation", ASK)):
                rows.insert(
                    op.connection, kind=kind, content=text, event_time=fact.event_time, created_at=fact.created_at,
                    trust="model", category="insight" if kind == "observation" else None, source_ids=[fact.id],
                )  # fmt: skip
        memory.actor = "agent:claude"
        memory.note_recall("work", [fact, other])
    return fact


@pytest.mark.parametrize("size", SIZES)
async def test_the_dialogs_show_it(story: Story, fact: MemoryRecord, size: tuple[int, int]) -> None:
    app = story.app()
    async with running(app, size) as pilot:
        memories(app).table.select_key(fact.rid)
        await settle(app)
        for key, dialog in (("e", CorrectDialog), ("x", Question), ("E", EraseDialog)):
            await pilot.press(key)
            await until(lambda dialog=dialog: there(app, dialog))
            await until(lambda: WEEK[:20] in screen_text(app))
            if dialog is not EraseDialog:
                assert "2 drawn from it" in screen_text(app)
            if dialog is Question:
                assert "“Works at Initech”" in screen_text(app)
                assert "to the Trash: u takes that back" in screen_text(app)
                assert any(word in screen_text(app) for word in ("save the correction", "leave it"))
            await pilot.press("n" if dialog is Question else "escape")
            await until(lambda dialog=dialog: not there(app, dialog))
    with story.open(readonly=True) as memory:
        assert memory.get(fact.id).active


@pytest.mark.parametrize("size", SIZES)
async def test_facts_with_the_old_name_are_shown_once_it_is_gone(story: Story, size: tuple[int, int]) -> None:
    with story.open() as memory:
        alone = memory.remember("I work at Initech")
        memory.remember("My bus goes to Initech")
    app = story.app()
    async with running(app, size) as pilot:
        memories(app).table.select_key(alone.rid)
        await settle(app)
        await pilot.press("e")
        await until(lambda: there(app, CorrectDialog))
        assert "old name" not in screen_text(app)
        app.screen.query_one(TextArea).text = "I work at Globex"
        await until(lambda: "1 fact with the old name" in screen_text(app))
        assert "My bus goes to" in screen_text(app)
        app.screen.query_one(TextArea).text = "I work at Initech, in Leeds"
        await until(lambda: "old name" not in screen_text(app))


@pytest.mark.parametrize("size", SIZES)
async def test_merging_shows_it(story: Story, fact: MemoryRecord, size: tuple[int, int]) -> None:
    with story.open(readonly=True) as memory:
        (other,) = [one for one in memory.view.page("kind:fact") if one.content == "Employed by Initech"]
    app = story.app()
    async with running(app, size) as pilot:
        memories(app).table.set_marks({fact.rid, other.rid})
        await pilot.press("m")
        await until(lambda: there(app, FactMergeDialog))
        await until(lambda: "2 drawn from them" in screen_text(app))
        assert "Enter merge" in screen_text(app)


async def test_an_erase_tells_whom_it_was_told_to(story: Story, fact: MemoryRecord) -> None:
    app = story.app()
    async with running(app, (120, 40)) as pilot:
        memories(app).table.select_key(fact.rid)
        await settle(app)
        await pilot.press("E")
        await until(lambda: "knows it" in screen_text(app))
        assert "claude" in screen_text(app)


async def test_what_nothing_depends_on_is_forgotten_at_once(story: Story) -> None:
    with story.open() as memory:
        alone = memory.remember("Keeps bees")
    app = story.app()
    async with running(app) as pilot:
        memories(app).table.select_key(alone.rid)
        await settle(app)
        await pilot.press("x")
        await settle(app)
        assert not there(app, Question)
    with story.open(readonly=True) as memory:
        assert not memory.get(alone.id).active


@pytest.mark.parametrize("size", SIZES)
async def test_review_decides_each_or_all(story: Story, fact: MemoryRecord, size: tuple[int, int]) -> None:
    with story.open() as memory:
        memory.correct(fact.id, "Works at Globex")
    state = UiState(None)
    state.pane = "review"
    app = story.app(state=state)
    async with running(app, size) as pilot:
        pane = app.main.pane
        assert isinstance(pane, ReviewPane)
        await until(lambda: pane.decisions.deck is not None)
        (card,) = [one for one in pane.decisions.cards if one.item.kind == "dependents"]
        pane.table.select_key(card.key)
        await settle(app)
        await until(lambda: "2 things were drawn from what you corrected" in screen_text(app))
        await pilot.press("right", "x")
        await until(lambda: "1 thing was drawn from what you corrected" in screen_text(app))
        await pilot.press("e")
        await until(lambda: there(app, CorrectDialog))
        app.screen.query_one(TextArea).text = "Ask about Globex on Fridays."
        await pilot.press("ctrl+s")
        await until(lambda: not [one for one in pane.decisions.cards if one.item.kind == "dependents"])
        await settle(app)
    with story.open(readonly=True) as memory:
        shown = {one.content for one in memory.view.page("kind:reflection,observation")}
        assert WEEK not in shown and ASK not in shown and "Ask about Globex on Fridays." in shown


@pytest.mark.parametrize("size", SIZES)
async def test_that_was_wrong_goes_to_what_an_agent_was_told(
    story: Story, fact: MemoryRecord, size: tuple[int, int]
) -> None:
    state = UiState(None)
    state.pane = "history"
    app = story.app(state=state)
    async with running(app, size) as pilot:
        await pilot.press("F")
        await until(lambda: there(app, WrongAnswersDialog))
        await until(
            lambda: screen_text(app).count("Works at Initech") == 2
        )  # in the list, and in full below it
        assert "“work”" in screen_text(app) and "claude" in screen_text(app)
        await pilot.press("up", "enter")  # a question is no memory: the cursor goes on to its first one
        assert there(app, WrongAnswersDialog)
        await pilot.press("enter")
        await until(lambda: app.main.pane.pane_id == "memories")
        await settle(app)
        selected = memories(app).table.selected
        assert selected is not None and selected.memory.id == fact.id


async def test_that_was_wrong_says_what_was_corrected_since(story: Story, fact: MemoryRecord) -> None:
    with story.open() as memory:
        memory.correct(fact.id, "Works at Globex")
        memory.actor = "agent:claude"
        memory.note_recall("job", memory.view.page("kind:observation"))
    app = story.app()
    async with running(app) as pilot:
        await pilot.press("F")
        await until(lambda: there(app, WrongAnswersDialog) and "corrected on" in screen_text(app))
        assert "Works at Globex" in screen_text(app)


async def test_that_was_wrong_keeps_it_from_that_agent(story: Story, fact: MemoryRecord) -> None:
    app = story.app()
    async with running(app) as pilot:
        await pilot.press("F")
        await until(lambda: there(app, WrongAnswersDialog) and "Works at Initech" in screen_text(app))
        await pilot.press("V")
        await until(lambda: "Withheld from claude: “Works at Initech”" in screen_text(app))
        memories(app).table.select_key(fact.rid)
        await until(lambda: "not for" in screen_text(app))
        await pilot.press("V")
        await until(lambda: there(app, PickDialog) and "withheld" in screen_text(app))
        await pilot.press("enter")
        await until(lambda: not there(app, PickDialog))
        await settle(app)
    with story.open(readonly=True) as memory:
        assert memory.view.page("withheld:*") == []


async def test_a_mark_not_the_cursor_says_which_agents_see_it(story: Story, fact: MemoryRecord) -> None:
    with story.open() as memory:
        memory.withhold(fact.id, "claude")
        other = memory.remember("Keeps bees")
    app = story.app()
    async with running(app) as pilot:
        memories(app).table.select_key(other.rid)
        memories(app).table.set_marks({fact.rid})
        await settle(app)
        await pilot.press("V")
        await until(lambda: there(app, PickDialog) and "withheld" in screen_text(app))
        await pilot.press("enter")
        await until(lambda: "Allowed again for claude: “Works at Initech”" in screen_text(app))
    with story.open(readonly=True) as memory:
        assert memory.view.page("withheld:*") == []
