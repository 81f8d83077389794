"""Pausing in the app: a key, the title, and the way back."""

from __future__ import annotations

from memtui.ui.dialogs.choice import Question
from memtui.ui.widgets.bars import StatusLine, TitleBar
from ui_story import Story, screen_text, there, until


async def test_a_key_pauses_the_title_says_so_and_the_key_ends_it(story: Story) -> None:
    app = story.app()
    async with app.run_test(size=(80, 24)) as pilot:
        await until(lambda: app.operations.memory is not None and app.stats is not None)
        title = app.main.query_one(TitleBar)
        await pilot.press("Z")
        await until(lambda: len(app.screen_stack) > 1)
        await pilot.press("enter")
        await until(lambda: any("not recording until 13:00" in fact for fact in title.facts))
        assert "not recording until 13:00" in screen_text(app)
        memory = app.operations.require_memory()
        assert memory.recording.state().pause is not None
        await until(lambda: "no conversation is recorded" in app.main.query_one(StatusLine).said)
        await pilot.press("Z")
        await until(lambda: there(app, Question))
        assert "Record again?" in screen_text(app) and "Paused until 13:00" in screen_text(app)
        await pilot.press("escape")
        await until(lambda: "stays paused" in app.main.query_one(StatusLine).said)
        assert memory.recording.state().pause is not None
        await pilot.press("Z")
        await until(lambda: there(app, Question))
        await pilot.press("y")
        await until(lambda: not any("not recording" in fact for fact in title.facts))
        assert memory.recording.state().pause is None


async def test_what_names_no_time_is_said_and_another_program_is_followed(story: Story) -> None:
    app = story.app()
    async with app.run_test(size=(80, 24)) as pilot:
        await until(lambda: app.operations.memory is not None and app.stats is not None)
        await pilot.press("Z")
        await until(lambda: len(app.screen_stack) > 1)
        await pilot.press("end", *["backspace"] * 2, "s", "o", "o", "n", "enter")
        warning = app.screen.query_one(".dialog-warning")
        await until(lambda: "is not a time in the future" in str(warning.render()))
        await pilot.press("escape")
        with story.open() as other:
            assert other.recording.state().pause is None
            other.recording.never("client", "codex")
            other.recording.pause()
        title = app.main.query_one(TitleBar)
        await until(lambda: any(fact.endswith("not recording") for fact in title.facts))
        assert "1 never recorded" in title.facts
        with story.open() as other:
            other.recording.resume()
        await until(lambda: not any(fact.endswith("not recording") for fact in title.facts))
        await pilot.press("Z")
        await until(lambda: "never recorded: client codex" in screen_text(app))
        await pilot.press("escape")
        await until(lambda: app.screen is app.main)
        await pilot.press("B")
        await until(lambda: "never recorded: client codex" in screen_text(app))
        await pilot.press(*"bank account", "enter")
        await until(lambda: "“bank account” is never recorded" in app.main.query_one(StatusLine).said)
        await until(lambda: "2 never recorded" in title.facts)


async def test_it_cannot_be_paused_where_nothing_may_change(story: Story) -> None:
    app = story.app(readonly=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(lambda: app.operations.memory is not None)
        await pilot.press("Z")
        await until(lambda: "for reading only" in app.main.query_one(StatusLine).said)
