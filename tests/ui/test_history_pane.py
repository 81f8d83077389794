"""History: what each operation did, its undo whoever made it, and what agents were told."""

from __future__ import annotations

import pytest
from memtui.ui.app import MemtuiApp
from memtui.ui.dialogs.choice import Question
from memtui.ui.dialogs.undo import AgentUndoDialog, ConflictsDialog
from memtui.ui.panes.history.pane import HistoryPane
from memtui.ui.state import UiState
from memtui.ui.widgets.text_view import TextView
from textual.widgets import Input, Static
from ui_story import NOW, Story, running, screen_text, settle, there, until

HOSTILE = "\x1b]52;c;aGk=\x07[@click=app.quit]x[/] \u202eevil [/"


def history(app: MemtuiApp) -> HistoryPane:
    pane = app.main.pane
    assert isinstance(pane, HistoryPane)
    return pane


def at_history(story: Story, **given: bool) -> MemtuiApp:
    state = UiState(None)
    state.pane = "history"
    return story.app(state=state, **given)


def labels(story: Story) -> list[str]:
    with story.open(readonly=True) as memory:
        return [f"{one.state} {one.label}" for one in memory.view.operations()]


async def test_operations_are_listed_newest_first_with_who_and_how_many_rows(story: Story) -> None:
    app = at_history(story)
    async with running(app, (140, 40)):
        text = screen_text(app)
        assert (
            text.index("Forgot “Owns a unicycle”")
            < text.index("Corrected “Standup")
            < text.index("Recorded a turn")
        )
        assert "21 Nov 12:00  you " in text and "assistant" in text


async def test_the_preview_is_the_difference_row_by_row(story: Story) -> None:
    app = at_history(story)
    async with running(app, (140, 40)) as pilot:
        await settle(app)
        assert "in Trash because: none → forgotten" in screen_text(app)
        await pilot.press("j")
        await settle(app)
        assert "+ Owns a unicycle" in screen_text(app)
        await pilot.press("j")
        await settle(app)
        text = screen_text(app)
        assert "- Standup is at 10:00" in text and "+ Standup moved to 10:30 on Tuesdays" in text


async def test_words_find_operations_by_actor_and_by_what_they_did(story: Story) -> None:
    app = at_history(story)
    async with running(app) as pilot:
        await pilot.press("slash", *"you corr", "enter")
        await until(lambda: history(app).table.row_count == 1)
        await pilot.press("slash", *["backspace"] * 8, *"agent:assistant", "enter")
        await until(lambda: history(app).table.row_count == 4)
        assert "look back to a time" in str(await history(app).empty_text("7d"))
        # A filter that comes from elsewhere is shown from its beginning, and goes on at its end.
        bar = history(app).filter_bar
        bar.set_filter("porto " * 60)
        typed = bar.query_one(Input)
        assert typed.cursor_position == 0
        await pilot.press("slash")
        assert typed.cursor_position == len(typed.value)


async def test_the_persons_own_operation_is_undone_at_once_and_its_undo_undone_again(story: Story) -> None:
    app = at_history(story)
    async with running(app) as pilot:
        await pilot.press("U")
        await until(lambda: labels(story)[0] == "done Undid: Forgot “Owns a unicycle”")
        assert not isinstance(app.screen, Question)
        await until(lambda: "undone Forgot" in screen_text(app))
        await settle(app)
        assert "undone  22 Nov 12:00 by you" in screen_text(app)
        await pilot.press("U")
        await until(lambda: "It is undone already" in screen_text(app))
        await pilot.press("g", "g", "U")
        await until(lambda: labels(story)[0] == "done Redid: Forgot “Owns a unicycle”")


async def test_an_agents_operation_is_undone_after_a_question(story: Story) -> None:
    app = at_history(story)
    async with running(app) as pilot:
        await pilot.press("slash", *"porto", "enter")
        await until(lambda: history(app).table.row_count == 1)
        await settle(app)
        await pilot.press("U")
        await until(lambda: there(app, Question))
        assert "by assistant" in screen_text(app)
        assert "Enter undo" in screen_text(app)
        await pilot.press("n")
        await until(lambda: not isinstance(app.screen, Question))
        assert labels(story)[0].startswith("done Forgot")
        await pilot.press("U")
        await until(lambda: there(app, Question))
        await pilot.press("enter")  # undoing loses nothing: it can be done again
        await until(lambda: labels(story)[0] == "done Undid: Remembered “Considering a move to Porto”")


@pytest.mark.parametrize("width", [120, 80])
async def test_rows_that_somebody_changed_since_are_shown_and_left_alone(story: Story, width: int) -> None:
    with story.open() as memory:
        rids = [one.rid for one in memory.view.page("kind:fact") if one.content != "Owns a unicycle"]
        memory.change_all("tag", rids, add=["all"])
        memory.tag(memory.view.rows(rids[:1])[0].id, add=["more"])
    app = at_history(story)
    async with running(app, (width, 40)) as pilot:
        await pilot.press("j", "U")
        await until(lambda: there(app, ConflictsDialog))
        await until(lambda: "changed since by" in screen_text(app))
        text = screen_text(app)
        assert "1 row left alone" in text
        # Beside one another where there is room, else one above the other.
        beside = any("now" in row and "wanted" in row for row in text.splitlines())
        assert beside == (width == 120)
        assert "now" in text and "wanted" in text
        assert "access count" not in text  # only what the undo would have put back


@pytest.mark.parametrize("key", ["U", "u"])
async def test_when_all_of_it_was_changed_since_both_versions_are_shown_all_the_same(
    story: Story, key: str
) -> None:
    with story.open() as memory:
        fact = memory.remember("Owns a rowing boat", tags=["mine"])
        memory.tag(fact.id, add=["boat"])
    with story.open(actor="agent:coach") as agent:
        agent.tag(fact.id, add=["lake"])
    app = at_history(story)
    async with running(app) as pilot:
        await pilot.press("j", key)
        if key == "u":
            await until(lambda: there(app, Question))
            await pilot.press("y")
        await until(lambda: there(app, ConflictsDialog))
        await until(lambda: "changed since by" in screen_text(app))
        text = screen_text(app)
        assert "1 row left alone" in text and "Nothing was undone" in text
        assert "mine, boat, lake" in text and "wanted" in text
        await pilot.press("escape")
    with story.open() as memory:
        assert set(memory.get(fact.id).tags) == {"mine", "boat", "lake"}


async def test_more_than_twenty_rows_are_asked_about(story: Story) -> None:
    with story.open() as memory:
        for number in range(30):
            memory.remember(f"fact number {number}")
        memory.change_all("tag", [one.rid for one in memory.view.page("kind:fact", limit=25)], add=["many"])
    app = at_history(story)
    async with running(app) as pilot:
        await pilot.press("U")
        await until(lambda: there(app, Question))
        assert "undo 25" in screen_text(app)


async def test_the_recall_log_tells_who_was_told_what(story: Story) -> None:
    with story.open(actor="agent:planner") as agent:
        assert agent.search("trains or flights?").hits
    app = at_history(story)
    async with running(app, (140, 40)) as pilot:
        await pilot.press("L")
        await until(lambda: "1 recall" in screen_text(app))
        await settle(app)
        text = screen_text(app)
        assert "planner" in text and "“trains or flights?”" in text
        assert "Prefers trains over flights" in text
        assert "filter by agent and question" in text
        assert "L changes" in text and "L recall log" not in text
        await pilot.press("U")
        await until(lambda: "nothing was changed by it" in screen_text(app))
        await pilot.press("L")
        await until(lambda: "Forgot “Owns a unicycle”" in screen_text(app))


async def test_read_only_says_why_nothing_is_undone(story: Story) -> None:
    app = at_history(story, readonly=True)
    async with running(app) as pilot:
        await pilot.press("U")
        await until(lambda: "open for reading only" in screen_text(app))


async def test_what_another_process_does_appears(story: Story) -> None:
    app = at_history(story)
    async with running(app, (140, 40)):
        with story.open(actor="agent:other") as other:
            other.remember("Learned elsewhere")
        await until(lambda: "Remembered “Learned elsewhere”" in screen_text(app))


async def test_an_empty_history_says_what_will_stand_here(empty_story: Story) -> None:
    app = at_history(empty_story)
    async with running(app) as pilot:
        await until(lambda: "Nothing was changed yet" in screen_text(app))
        assert "i  bring in conversations you had" in screen_text(app)
        await pilot.press("L")
        await until(lambda: "No agent was told anything yet" in screen_text(app))
        assert "memtui connect" in screen_text(app)


@pytest.mark.hostile
@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 40), (200, 60)])
async def test_hostile_texts_names_and_questions_do_nothing(story: Story, size: tuple[int, int]) -> None:
    with story.open() as memory:
        first = memory.remember(f"a {HOSTILE}", tags=["x[/]"])
        memory.correct(first.id, f"b {HOSTILE}")
        memory.record_turn(HOSTILE, "user", HOSTILE)
    with story.open(actor=f"agent:{HOSTILE[:20]}") as agent:
        agent.remember("something else")
        agent.search(HOSTILE + " unicycle standup")
    app = at_history(story)
    async with running(app, size) as pilot:
        for _ in range(4):
            await settle(app)
            assert not any(sign in screen_text(app) for sign in "\x1b\x07\u202e")
            await pilot.press("j")
        await pilot.press("L")
        await settle(app)
        assert not any(sign in screen_text(app) for sign in "\x1b\x07\u202e")
        assert app.is_running


async def test_a_row_that_was_added_and_taken_back_still_shows_its_text(story: Story) -> None:
    with story.open() as memory:
        memory.remember("Plays the oboe")
        memory.undo()
    app = at_history(story)
    async with running(app) as pilot:
        await pilot.press("j")
        await settle(app)
        assert "+ Plays the oboe  taken back since" in screen_text(app)
        assert story.now == NOW


async def test_all_that_an_agent_did_since_is_undone_after_a_look(story: Story) -> None:
    with story.open() as memory:
        memory.actor = "agent:coach"
        kept = [memory.remember(f"Runs {number} km") for number in (5, 10, 15)]
    app = at_history(story)
    async with running(app, (80, 24)) as pilot:
        await pilot.press("slash", *"coach", "enter")
        await until(lambda: history(app).table.row_count == 3)
        await pilot.press("j", "A")  # of the second one on
        await until(lambda: there(app, AgentUndoDialog))
        await until(lambda: "Runs 15 km" in screen_text(app))
        await pilot.press("y")
        await until(lambda: labels(story)[0].startswith("done Undid"))
        await settle(app)
    with story.open(readonly=True) as memory:
        left = {one.id for one in memory.view.page("kind:fact")} & {one.id for one in kept}
    assert len(left) == (0 if len({one.created_at for one in kept}) == 1 else 1)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_all_changes_of_an_agent_are_read_and_its_turns_are_taken_with_a_key(
    story: Story, size: tuple[int, int]
) -> None:
    with story.open() as memory:
        memory.actor = "agent:coach"
        for number in range(60):
            memory.remember(f"Runs {number} km")
        memory.record_turn("talk", "user", "I moved to Berlin.")
        memory.record_turn("talk", "assistant", "Noted.")
    app = at_history(story)
    async with running(app, size) as pilot:
        await pilot.press("slash", *"coach", "enter")
        await until(lambda: history(app).table.row_count == 62)
        await pilot.press("G", "A")
        await until(lambda: there(app, AgentUndoDialog))
        await until(lambda: "Undo 60 changes of coach?" in screen_text(app))
        await until(lambda: "2 turns that it recorded stay" in screen_text(app))
        text = app.screen.query_one(TextView)
        assert "Runs 0 km" in str(text.query_one(Static).render())
        await pilot.press("end")
        await until(lambda: text.scroll_offset.y == text.max_scroll_y > 0)
        await pilot.press("t")
        await until(lambda: "Undo 62 changes of coach?" in screen_text(app))
        await until(lambda: "With its 2 turns" in screen_text(app))
        await pilot.press("enter")
        await until(lambda: labels(story)[0].startswith("done Undid 62 changes"))
    with story.open(readonly=True) as memory:
        assert "I moved to Berlin." not in {one.content for one in memory.view.page()}


async def test_undoing_all_of_an_agent_is_for_its_own_changes(story: Story) -> None:
    app = at_history(story)
    async with running(app) as pilot:
        await settle(app)
        await pilot.press("A")
        await until(lambda: "Select a change of an agent" in screen_text(app))


async def test_what_is_typed_on_while_an_undo_is_asked_for_answers_nothing(story: Story) -> None:
    app = at_history(story)
    async with running(app, (80, 24)) as pilot:
        await pilot.press("slash", *"porto", "enter")
        await until(lambda: history(app).table.row_count == 1)
        await settle(app)
        await pilot.press("U")
        await until(lambda: there(app, Question))
        before = labels(story)
        assert "Answer this first" not in screen_text(app)
        for typed in (["0"], ["slash", *"nyq", "enter"], ["space"]):
            await pilot.press(*typed)
            await settle(app)
            assert isinstance(app.screen, Question) and labels(story) == before
            assert "Answer this first" in screen_text(app)
        story.now += 2  # the word is over
        await pilot.press("y")
        await until(lambda: labels(story)[0] == "done Undid: Remembered “Considering a move to Porto”")


async def test_esc_leaves_a_question_at_once_also_within_a_word(story: Story) -> None:
    app = at_history(story)
    async with running(app) as pilot:
        await pilot.press("slash", *"porto", "enter")
        await until(lambda: history(app).table.row_count == 1)
        await settle(app)
        await pilot.press("U")
        await until(lambda: there(app, Question))
        await pilot.press("0", "escape")
        await until(lambda: not isinstance(app.screen, Question))
