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
        assert "Esc leave" in screen_text(app)
        lines = [line.strip("│▁▂▃▄▅▆▇█").rstrip() for line in screen_text(app).splitlines()]
        described = [line.strip() for line in lines if line.startswith(" " * 5)]  # keys stand further left
        assert described
        cut = [line for line in described if line.isalpha() and line.islower() and len(line) < 5]
        assert not cut, cut


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


@pytest.mark.parametrize("size", [(80, 24), (100, 30)], ids=["80x24", "100x30"])
@pytest.mark.parametrize("keys", [("question_mark",), ("comma",), ("e",), ("ctrl+p",)], ids="-".join)
async def test_no_fragments_of_the_page_are_beside_a_wide_dialog(
    story: Story, size: tuple[int, int], keys: tuple[str, ...]
) -> None:
    app = story.app()
    async with running(app, size) as pilot:
        await pilot.press(*keys)
        await until(lambda: len(app.screen_stack) > 1 and app.screen.focused is not None)
        await still(app)
        lines = screen_text(app).splitlines()
        top = next(number for number, line in enumerate(lines) if "╭" in line)
        bottom = next(number for number, line in enumerate(lines) if "╰" in line)
        for line in lines[top : bottom + 1]:
            assert line[0] in "╭│╰" and len(line) == size[0] and line[-1] in "╮│╯", line
