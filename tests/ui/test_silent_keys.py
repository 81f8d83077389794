"""A key that does nothing where it is pressed says where it would, or where the keys are told."""

from __future__ import annotations

import pytest
from memtui.ui.dialogs.help import HelpDialog
from memtui.ui.panes.review.pane import ReviewPane
from ui_story import Story, running, screen_text, still, there, until


@pytest.mark.parametrize(
    ("pane", "key", "shown"),
    [
        ("2", "ctrl+s", "ctrl+s (save filter) works while you type a filter, not here."),
        ("2", "P", "P (scratchpad) works in Observations, not here."),
        ("6", "m", "m (merge) works in Review, Entities, Memories and Search, not here."),
        ("8", "e", "e (correct) works in Memories, Search, Observations, You and Review, not here."),
        ("8", "vertical_line", "| (split) works in Entities, not here."),
        ("2", "ctrl+n", "ctrl+n (next step) works in the tour, not here."),
        ("2", "f8", "f8 does nothing here. ? shows the keys."),
        ("2", "underscore", "All parts are shown already."),
    ],
)
async def test_a_key_that_does_nothing_here_is_answered(
    story: Story, pane: str, key: str, shown: str
) -> None:
    app = story.app()
    async with running(app) as pilot:
        await pilot.press(pane)
        await still(app)
        await pilot.press(key)
        await until(lambda: shown in screen_text(app))


async def test_a_key_that_works_or_is_typed_is_not_commented(story: Story) -> None:
    app = story.app()
    async with running(app) as pilot:
        for keys in (("j",), ("g", "g"), ("slash", "P", "|"), ("escape", "escape"), ("question_mark",)):
            await pilot.press(*keys)
            await still(app)
            assert "not here" not in screen_text(app) and "does nothing" not in screen_text(app)
        await until(lambda: there(app, HelpDialog))
        await pilot.press("f8")
        await still(app)
        assert "does nothing" not in screen_text(app)


async def test_the_help_begins_with_what_works_now(story: Story) -> None:
    app = story.app()
    async with running(app) as pilot:
        await pilot.press("1")
        await until(lambda: isinstance(app.main.pane, ReviewPane))
        await still(app)
        for keys in ((), ("/", "z", "z", "enter")):
            await pilot.press(*keys)
            await still(app)
            _, lines = app.main.help_lines()
            assert not lines[0].reason, lines[0]
            groups = list(dict.fromkeys(one.group for one in lines))
            for group in groups:
                reasons = [bool(one.reason) for one in lines if one.group == group]
                assert reasons == sorted(reasons), group
