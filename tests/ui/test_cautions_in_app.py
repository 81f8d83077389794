"""In the app a turn says what of it was corrected or forgotten since, and a key withholds it from agents."""

from __future__ import annotations

import pytest
from memtui.engine.records import MemoryRecord
from memtui.engine.store import memories as rows
from memtui.ui.dialogs.choice import PickDialog, Question
from memtui.ui.dialogs.edit import CorrectDialog
from memtui.ui.dialogs.merge import FactMergeDialog
from memtui.ui.presenters.memory_rows import ended_word
from memtui.ui.state import UiState
from textual.widgets import TextArea
from ui_story import Story, memories, running, screen_text, settle, there, until

OLD, NEW = "Works at Initech", "Works at Globex"


@pytest.fixture
def fact(story: Story) -> MemoryRecord:
    """A fact that was drawn from a turn."""
    with story.open() as memory:
        turn = memory.record_turn("job", "user", "I work at Initech near the station.")
        fact = memory.remember(OLD)
        with memory._core.change("test", "Linked") as op:
            rows.update(op.connection, fact.rid, source_ids=[turn.id])
    return fact


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_list_search_and_reading_view_tell_it(
    story: Story, fact: MemoryRecord, size: tuple[int, int]
) -> None:
    with story.open() as memory:
        memory.correct(fact.id, NEW)
    app = story.app()
    async with running(app, size) as pilot:
        await pilot.press("K")
        await until(lambda: "corrected  I work" in screen_text(app))
        await pilot.press("3", "slash", *"works", "space", *"Initech")
        await until(lambda: "corrected  I work" in screen_text(app))
        text = screen_text(app)
        assert text.index(NEW) < text.index("corrected  I work")
        # Its own score is lower: the number would look out of order.
        assert "lifted" in text and text.index("lifted") < text.index("corrected  I work")
    state = UiState(None)
    state.pane = "sessions"
    app = story.app(state=state)
    async with running(app, size) as pilot:
        await pilot.press("slash", *"job", "enter", "enter")
        await until(lambda: f"corrected on 22 Nov: {NEW}" in screen_text(app))
    with story.open() as memory:
        memory.undo()
    async with running(story.app(), size) as pilot:
        await pilot.press("K")
        await settle(pilot.app)  # type: ignore[arg-type]
        assert "corrected  I work" not in screen_text(pilot.app)  # type: ignore[arg-type]


async def test_a_key_forgets_and_withholds_after_a_question(story: Story, fact: MemoryRecord) -> None:
    app = story.app()
    async with running(app) as pilot:
        memories(app).table.select_key(fact.rid)
        await settle(app)
        await pilot.press("z")
        await until(lambda: there(app, Question))
        assert "1 turn" in screen_text(app)
        await pilot.press("n")
        await settle(app)
        await pilot.press("z")
        await until(lambda: there(app, Question))
        await pilot.press("y")
        await settle(app)
        await pilot.press("K")
        await until(lambda: "withheld   I work" in screen_text(app))
    with story.open(readonly=True) as memory:
        assert memory.get(fact.id).withheld


def test_of_a_turn_only_a_statement_was_forgotten(story: Story, fact: MemoryRecord) -> None:
    with story.open() as memory:
        memory.forget(fact.id)
        (turn,) = memory.view.sources(fact.id)
        (caution,) = memory.view.cautions([turn.id])[turn.id]
    assert ended_word(turn, 80, [caution]).startswith("part forgotten  ")


def replaced(story: Story, fact: MemoryRecord) -> MemoryRecord:
    """A later statement in the place of ``fact``, which stays active."""
    with story.open() as memory:
        new = memory.remember(NEW)
        with memory._core.change("test", "Replaced") as op:
            rows.update(op.connection, fact.rid, confirmed_at=None, decay_rate=0.1)
            rows.update(
                op.connection,
                new.rid,
                attributes={"supersedes": fact.id, "conflict_reason": "a different employer"},
            )
    return new


async def test_who_corrects_what_was_replaced_is_asked_which_of_the_two(
    story: Story, fact: MemoryRecord
) -> None:
    new = replaced(story, fact)
    app = story.app()
    async with running(app, (80, 24)) as pilot:
        memories(app).table.select_key(fact.rid)
        await settle(app)
        await pilot.press("e")
        await until(lambda: there(app, PickDialog))
        assert "This one was replaced on 22 Nov" in screen_text(app)
        await pilot.press("escape")
        await until(lambda: "Nothing was corrected" in screen_text(app))
        for choice, text in (("enter", NEW), ("j", OLD)):
            await pilot.press("e")
            await until(lambda: there(app, PickDialog))
            await pilot.press(choice, *(["enter"] if choice == "j" else []))
            await until(lambda: there(app, CorrectDialog))
            assert app.screen.query_one(TextArea).text == text
            await pilot.press("escape")
            await until(lambda: app.screen is app.main)
        memories(app).table.select_key(new.rid)
        await settle(app)
        await pilot.press("e")
        await until(lambda: there(app, CorrectDialog))


async def test_what_was_replaced_is_not_offered_as_one_of_two_to_merge(
    story: Story, fact: MemoryRecord
) -> None:
    new = replaced(story, fact)
    app = story.app()
    async with running(app, (120, 40)) as pilot:
        memories(app).table.set_marks({fact.rid, new.rid})
        await pilot.press("m")
        await until(lambda: f"“{OLD}” was replaced: {NEW}" in screen_text(app))
        assert not there(app, FactMergeDialog)
