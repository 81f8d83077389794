"""Keys that arrive faster than they can be carried out: over a slow line, or typed ahead."""

from __future__ import annotations

import asyncio

from memtui.ui.app import MemtuiApp
from memtui.ui.panes.search.pane import SearchPane
from textual.events import Event, Key, Paste
from textual.widgets import Input
from ui_story import Story, memories, running, screen_text, settle, true


def at_once(app: MemtuiApp, *keys: str) -> None:
    """As the terminal hands on what had been waiting; ``<text>`` was pasted."""
    assert app._driver is not None
    for key in keys:
        event: Event = Key(key, key if len(key) == 1 else None)
        app._driver.send_message(Paste(key[1:-1]) if key.startswith("<") else event)


async def test_the_letters_of_a_filter_are_no_commands(story: Story) -> None:
    app = story.app()
    async with running(app):
        at_once(app, "slash", *"taxi")  # t tags, a adds, x forgets, i imports
        await true(lambda: memories(app).filter_bar.value == "taxi")
        at_once(app, "escape", "slash", *"ada", "<m eve>")
        await true(lambda: memories(app).filter_bar.value.endswith("adam eve"))
        assert app.screen is app.main


async def test_a_question_may_be_typed_ahead_of_the_pane_that_takes_it(story: Story) -> None:
    app = story.app()
    async with running(app):
        at_once(app, "3", "slash", *"taxi")
        await true(lambda: isinstance(app.main.pane, SearchPane) and not app.main.opening)
        await true(lambda: isinstance(app.main.pane, SearchPane) and app.main.pane.question == "taxi")
        assert app.screen is app.main


async def test_what_a_dialog_asks_for_may_be_typed_ahead_of_it(story: Story) -> None:
    app = story.app()
    async with running(app):
        at_once(app, "t", *"exit", "enter")
        await true(lambda: "Tagged" in screen_text(app))
        await settle(app)
    with story.open(readonly=True) as memory:
        assert len(memory.view.page("tag:exit")) == 1


async def test_a_key_reaches_the_pane_when_what_had_the_focus_was_hidden(story: Story) -> None:
    app = story.app()
    async with running(app) as pilot:
        for place in ("memories", "entities", "history"):
            await app.main.go_to(place)
            await settle(app)
            app.main.set_focus(None)
            await pilot.press("slash")
            await true(lambda: isinstance(app.focused, Input))
            await pilot.press("escape")


async def test_keys_that_come_while_the_app_is_left_are_let_go(story: Story) -> None:
    app = story.app()
    async with running(app):
        while app.is_running and app.is_attached:
            at_once(app, "ctrl+q")
            await asyncio.sleep(0)
    assert app.return_code == 0
