"""Dialogs with a text to write: Enter saves, another key makes a line, and the last line of the dialog says so."""

from __future__ import annotations

import pytest
from memtui.ui.app import MemtuiApp
from memtui.ui.dialogs.edit import AddDialog, AddObservation, CorrectDialog, NoteDialog
from memtui.ui.dialogs.merge import FactMergeDialog
from memtui.ui.state import UiState
from textual.widgets import Input, TextArea
from ui_story import Story, running, screen_text, there, until

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
