"""Dialogs with a text to write: Enter saves, another key makes a line, and the last line of the dialog says so."""

from __future__ import annotations

import pytest
from memtui.ui.app import MemtuiApp
from memtui.ui.dialogs.edit import AddDialog, AddObservation, CorrectDialog, NoteDialog
from memtui.ui.dialogs.merge import FactMergeDialog
from memtui.ui.state import UiState
from textual.widgets import Input, TextArea
from ui_story import Story, memories, running, screen_text, settle, there, until

# The pane, the keys that lead to the dialog, and the dialog.
_DIALOGS = (
    ("memories", ("a",), AddDialog),
    ("memories", ("e",), CorrectDialog),
    ("memories", ("space", "space", "m"), FactMergeDialog),
    ("observations", ("a",), AddObservation),
    ("observations", ("P", "a"), NoteDialog),
)


def app_at(story: Story, pane: str) -> MemtuiApp:
    state = UiState(None)
    state.pane = pane
    return story.app(state=state)


def contents(story: Story) -> list[str]:
    with story.open() as memory:
        notes = [memory.scratchpad.get(key).value for key in memory.scratchpad.keys("")]
        return [one.content for one in memory.view.page()] + notes


@pytest.mark.parametrize(("pane", "keys", "dialog"), _DIALOGS, ids=lambda one: getattr(one, "__name__", ""))
async def test_enter_saves_and_another_key_makes_a_line(
    story: Story, pane: str, keys: tuple[str, ...], dialog: type
) -> None:
    app = app_at(story, pane)
    async with running(app) as pilot:
        await pilot.press(*keys)
        await until(lambda: there(app, dialog))
        assert "ctrl+j new line" in screen_text(app)
        if dialog is NoteDialog:
            await pilot.press(*"plan")
            assert app.focused is app.screen.query_one(Input)
            await pilot.press("enter")
        app.screen.query_one(TextArea).text = ""
        await pilot.press(*"one", "ctrl+j", *"two", "shift+enter", "alt+enter", *"three", "enter")
        await until(lambda: app.screen is app.main)
        await until(lambda: "one\ntwo\n\nthree" in contents(story))


async def test_enter_on_nothing_saves_nothing_and_says_so(story: Story) -> None:
    app = app_at(story, "memories")
    async with running(app) as pilot:
        await pilot.press("a")
        await until(lambda: there(app, AddDialog))
        await pilot.press("enter")
        await until(lambda: "There is nothing to save yet." in screen_text(app))
        assert app.screen.query_one(TextArea).text == ""


@pytest.mark.parametrize(
    ("pane", "keys", "longest"),
    [
        ("memories", ("a",), 20_000),
        ("memories", ("e",), 20_000),
        ("observations", ("P", "a", *"plan", "enter"), 100_000),
    ],
)
async def test_a_text_that_is_too_long_stays_in_the_dialog(
    story: Story, pane: str, keys: tuple[str, ...], longest: int
) -> None:
    app = app_at(story, pane)
    async with running(app) as pilot:
        await pilot.press(*keys)
        await until(lambda: app.screen is not app.main and app.screen.query(TextArea))
        area = app.screen.query_one(TextArea)
        area.text = "long " * (longest // 5 + 1)
        area.focus()
        await pilot.press("enter")
        await until(lambda: f"! The text has {longest + 4:,} characters" in screen_text(app))
        area.text = "short"
        await pilot.press("enter")
        await until(lambda: app.screen is app.main)
        await until(lambda: "short" in contents(story))


async def test_a_merge_of_unlike_texts_warns_and_one_key_keeps_what_both_say(story: Story) -> None:
    with story.open() as memory:
        parcels = memory.remember("Parcels go to the pick-up point")
        van = memory.remember("The van is for books and Rhubarb.")
    app = app_at(story, "memories")
    async with running(app, (80, 24)) as pilot:
        memories(app).table.set_marks({parcels.rid, van.rid})
        await settle(app)
        await pilot.press("m")
        await until(lambda: there(app, FactMergeDialog))
        await until(lambda: "what the second says is lost" in screen_text(app))
        assert "ctrl+t both" in screen_text(app)
        await pilot.press("ctrl+t", "ctrl+t")
        await until(lambda: "is lost" not in screen_text(app))
        assert app.screen.query_one(TextArea).text == f"{van.content} {parcels.content}"
        await pilot.press("enter")
        await until(lambda: app.screen is app.main)
        await until(lambda: f"{van.content} {parcels.content}" in contents(story))


async def test_ctrl_u_clears_the_whole_text_also_where_it_is_wrapped(story: Story) -> None:
    app = app_at(story, "memories")
    async with running(app, (80, 24)) as pilot:
        await pilot.press("e")
        await until(lambda: there(app, CorrectDialog))
        assert "ctrl+u clear" in screen_text(app)
        area = app.screen.query_one(TextArea)
        area.text = "first line\n" + "many words of one long sentence " * 6
        area.move_cursor((1, 100))
        await pilot.press("ctrl+u")
        await until(lambda: area.text == "first line\n")
        await pilot.press("ctrl+u", "ctrl+u", "ctrl+u")
        await until(lambda: area.text == "")
        await pilot.press("ctrl+z")
        await until(lambda: area.text != "")


async def test_a_long_text_leaves_room_for_what_changes_the_warning_and_the_keys(story: Story) -> None:
    text = " and ".join(f"clause number {number} is kept by the tenant" for number in range(30))
    with story.open() as memory:
        turn = memory.record_turn("lease", "user", f"Note this: {text}.")
        await memory.consolidate("lease")
        long = memory.remember(text)
        with memory._core.change("test", "Drew") as op:
            op.connection.execute(
                "UPDATE memories SET source_ids = json_array(?) WHERE id = ?", (turn.id, long.id)
            )
    app = story.app()
    async with running(app, (80, 24)) as pilot:
        memories(app).table.select_key(long.rid)
        await settle(app)
        await pilot.press("e")
        await until(lambda: there(app, CorrectDialog))
        await pilot.press(*" signed")
        await pilot.press("escape")
        await until(lambda: "Esc again throws it away" in screen_text(app))
        shown = screen_text(app)
        assert "where it comes from" in shown and "Enter save the correction" in shown
        assert "tenant signed" in shown.partition("what changes")[2]
