"""Hostile texts in every place that the Memories pane shows: nothing obeys them, nothing breaks."""

from __future__ import annotations

import apsw
import pytest
from memtui.present.text import without_control_characters
from memtui.ui.app import MemtuiApp
from memtui.ui.dialogs.edit import CorrectDialog, TagDialog
from ui_story import Story, memories, running, screen_text, settle, still, there, until

PAYLOADS = [
    "\x1b]52;c;ZXZpbA==\x07 clipboard",
    "\x1b[2J\x1b[31mred\x9b0m",
    "[bold]markup[/bold] [/] [@click=app.quit]click[/]",
    "\u202egnp.txt \u2066isolate\u200b\ufeff zero",
    "nul \x00 bell \x07 del \x7f c1 \x85\x9d",
    "\U000e0041\U000e0042 tags \ufff0 \ufdd0",
    "stacked e" + "\u0301" * 50,
    "漢字かな交じり文 " * 30,
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 family " * 5,
    "$accent {x} %s \\[ ] '\" `",
    "line\r\nbreak\rand\u2028more\n\n\n",
    "word" * 3000,
]


@pytest.fixture
def hostile_story(story: Story) -> Story:
    with story.open() as memory:
        for number, payload in enumerate(PAYLOADS):
            memory.record_turn(f"s{number}", "user", f"{number} {payload}")
            memory.remember(f"{number} {payload}"[:1900].replace("\0", ""), tags=["[/]", "$accent"])
    # What no door of the engine lets in, a foreign program may have written.
    connection = apsw.Connection(str(story.path))
    for number, payload in enumerate(PAYLOADS):
        connection.execute(
            "UPDATE memories SET source = ?, project = ? WHERE session_id = ?",
            (payload, payload, f"s{number}"),
        )
        connection.execute(
            "UPDATE sessions_consolidations SET title = ? WHERE session_id = ?", (payload, f"s{number}")
        )
    connection.close()
    return story


def assert_harmless(app: MemtuiApp) -> None:
    for line in screen_text(app).split("\n"):
        assert without_control_characters(line) == line


@pytest.mark.hostile
@pytest.mark.parametrize("size", [(120, 40), (44, 14)])
async def test_hostile_memories_can_be_looked_at(hostile_story: Story, size: tuple[int, int]) -> None:
    app = hostile_story.app()
    async with running(app, size) as pilot:
        await pilot.press("K")
        await settle(app)
        rows = memories(app).table.row_count
        assert rows > 2 * len(PAYLOADS)
        for index in range(rows):
            memories(app).table.move_to(index)
            await settle(app)
            assert_harmless(app)
        assert app.screen is app.main


@pytest.mark.hostile
async def test_hostile_memories_can_be_corrected_tagged_and_told_about(hostile_story: Story) -> None:
    app = hostile_story.app()
    async with running(app) as pilot:
        for index in range(0, len(PAYLOADS), 4):
            memories(app).table.move_to(index)
            for key, dialog in (("e", CorrectDialog), ("t", TagDialog)):
                await pilot.press(key)
                await until(lambda dialog=dialog: there(app, dialog))
                await pilot.pause()
                assert_harmless(app)
                await pilot.press("escape")
                await until(lambda: app.screen is app.main)
            await pilot.press("x", "u")
            await still(pilot.app)
            assert_harmless(app)


@pytest.mark.hostile
async def test_a_hostile_filter_is_only_text(story: Story) -> None:
    app = story.app()
    async with running(app) as pilot:
        for payload in PAYLOADS:
            memories(app).filter_bar.set_filter(payload)
            await still(pilot.app)
            assert_harmless(app)
