"""Dialogs where there is little room: nothing is cut in the middle of a word, and the way out is in sight."""

from __future__ import annotations

import pytest
from memtui.ui.dialogs.dialog import HintLine
from memtui.ui.dialogs.help import HelpDialog
from memtui.ui.dialogs.line_input import LineDialog
from memtui.ui.theme import Appearance
from textual.app import App, ComposeResult
from textual.content import Content
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


@pytest.mark.parametrize("key", ["i", "E", "a", "e", "t", "number_sign", "comma"])
async def test_the_way_out_is_in_the_last_line_of_a_dialog_in_a_narrow_window(story: Story, key: str) -> None:
    app = story.app()
    async with running(app, (40, 12)) as pilot:
        await pilot.press(key)
        await until(lambda: len(app.screen_stack) > 1 and app.screen.focused is not None)
        await still(app)
        lines = screen_text(app).splitlines()
        bottom = next(number for number, line in enumerate(lines) if "╰" in line)
        assert "Esc" in lines[bottom - 1], "\n".join(lines)


async def test_a_line_of_keys_is_broken_between_keys_only() -> None:
    hints = [("y", "restore all of it"), ("m", "take all missing"), ("Esc", "leave")]
    text = Content("   ".join(f"{key} {what}" for key, what in hints))

    class Hints(App[None]):
        CSS = "HintLine { width: 1fr; height: auto; }"

        def compose(self) -> ComposeResult:
            yield HintLine(text)

    for width, lines in ((60, 1), (45, 2), (30, 2), (20, 3)):
        app = Hints()
        async with app.run_test(size=(width, 5)) as pilot:
            await pilot.pause()
            shown = [strip.text.strip() for strip in app.screen._compositor.render_strips()]
            assert len([line for line in shown if line]) == lines
            for key, what in hints:
                assert any(f"{key} {what}" in line for line in shown), (width, shown)


async def test_without_colours_the_page_is_hidden_below_a_dialog(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = story.app()
    async with running(app, (80, 24)) as pilot:
        for key in ("t", "ctrl+p"):
            await pilot.press(key)
            await until(lambda: len(app.screen_stack) > 1 and app.screen.focused is not None)
            await still(app)
            assert "? help" not in screen_text(app)
            await pilot.press("escape")
            await until(lambda: len(app.screen_stack) == 1)


async def test_the_palette_has_a_frame_of_plain_letters_in_ascii(story: Story) -> None:
    app = story.app(look=Appearance(ascii=True, motion=False))
    async with running(app, (80, 24)) as pilot:
        await pilot.press("ctrl+p")
        await until(lambda: len(app.screen_stack) > 1 and app.screen.focused is not None)
        await still(app)
        assert screen_text(app).isascii() and "+---" in screen_text(app)
