"""Dialogs where there is little room: nothing is cut in the middle of a word, and the way out is in sight."""

from __future__ import annotations

import pytest
from memtui.ui.dialogs.help import HelpDialog
from memtui.ui.dialogs.line_input import LineDialog
from ui_story import Story, running, screen_text, still, there, until


async def test_the_help_reads_in_whole_lines_where_the_window_is_narrow(story: Story) -> None:
    app = story.app()
    async with running(app, (40, 12)) as pilot:
        await pilot.press("question_mark")
        await until(lambda: there(app, HelpDialog))
        await still(app)
        lines = [line.strip("│ ▁▂▃▄▅▆▇█") for line in screen_text(app).splitlines()]
        assert "Esc leave" in screen_text(app)
        described = [
            line for line in lines if line and line[0].islower() and " " not in line and len(line) < 5
        ]
        assert not described, described


async def test_what_a_dialog_is_for_and_the_way_out_are_in_sight_where_it_is_narrow(story: Story) -> None:
    app = story.app()
    async with running(app, (40, 12)) as pilot:
        await pilot.press("e")
        await still(app)
        assert "Enter save" in screen_text(app) and "Esc" in screen_text(app)


@pytest.mark.parametrize(("key", "begins"), [("B", "Name a subject"), ("Z", "No conversation")])
async def test_a_line_to_type_and_its_keys_are_in_sight_below_a_long_text(
    story: Story, key: str, begins: str
) -> None:
    app = story.app()
    async with running(app, (40, 12)) as pilot:
        await pilot.press(key)
        await until(lambda: isinstance(app.screen, LineDialog) and there(app, LineDialog))
        await pilot.press(*"typed")
        await still(app)
        shown = screen_text(app)
        assert begins in shown and "typed" in shown and "Enter " in shown and "Esc leave" in shown
