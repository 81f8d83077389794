"""A memory that cannot be opened, and one whose file was replaced while it was open: the way on is one key away."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from memtui.engine.memory import Memory
from memtui.ui.dialogs.choice import PickDialog, Question
from textual.widgets import TextArea
from ui_story import OPTIONS, Story, running, screen_text, there, until


@pytest.fixture
def damaged(story: Story) -> Story:
    with story.open() as memory:
        memory.backups.make()
        memory.remember("Said after the backup")
    story.path.write_bytes(b"This is no database at all. " * 500)
    return story


async def test_a_backup_takes_the_place_of_a_memory_that_cannot_be_opened(damaged: Story) -> None:
    app = damaged.app(memory_path=damaged.path)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(lambda: there(app, PickDialog) and "facts" in screen_text(app))
        shown = " ".join(screen_text(app).replace("│", " ").split())
        assert "is not a memory file" in shown
        assert "The present file is kept under another name" in shown
        await pilot.press("enter")
        await until(lambda: app.operations.memory is not None and "Restored" in screen_text(app))
        assert app.operations.require_memory().files.check().ok
    assert app.return_code in (None, 0)
    (aside,) = damaged.path.parent.glob("memory.set-aside-*.db")
    assert aside.read_bytes().startswith(b"This is no database")


async def test_who_leaves_the_list_of_backups_leaves_the_file_alone(damaged: Story) -> None:
    before = damaged.path.read_bytes()
    app = damaged.app(memory_path=damaged.path)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(lambda: there(app, PickDialog))
        await pilot.press("escape")
        await until(lambda: app.return_code is not None)
    assert app.return_code == 4
    assert damaged.path.read_bytes() == before


def put_another_in_its_place(story: Story) -> None:
    other = story.path.with_name("other.db")
    with Memory.open(other, clock=story.clock, options=OPTIONS) as memory:
        memory.remember("From the file that came later")
    for suffix in ("-wal", "-shm"):
        Path(f"{story.path}{suffix}").unlink()
    other.replace(story.path)


async def test_a_replaced_file_is_told_and_opened_with_a_key(story: Story) -> None:
    app = story.app()
    async with running(app, size=(100, 30)) as pilot:
        put_another_in_its_place(story)
        await until(lambda: there(app, Question))
        assert "was replaced by another file" in screen_text(app)
        await pilot.press("y")
        await until(lambda: "From the file that came later" in screen_text(app))


async def test_what_was_typed_is_written_to_the_file_that_is_there_then(story: Story) -> None:
    app = story.app()
    async with running(app, size=(100, 30)) as pilot:
        await until(lambda: "train" in screen_text(app))
        app.recovery._declined = True  # the poll says nothing: the person is asked when it matters
        put_another_in_its_place(story)
        await pilot.press("a")
        await until(lambda: app.screen.query(TextArea))
        app.screen.query_one(TextArea).text = "Typed while the file was replaced"
        await pilot.press("ctrl+s")
        await until(lambda: there(app, Question))
        await pilot.press("y")
        await until(lambda: "Typed while the file was replaced" in screen_text(app))
    with story.open() as memory:
        texts = {one.content for one in memory.view.page()}
    assert texts == {"From the file that came later", "Typed while the file was replaced"}


async def test_who_leaves_a_replaced_file_alone_is_asked_again_when_something_is_written(
    story: Story,
) -> None:
    app = story.app()
    async with running(app, size=(100, 30)) as pilot:
        put_another_in_its_place(story)
        await until(lambda: there(app, Question))
        await pilot.press("n")
        await until(lambda: not there(app, Question) and "nothing can be written" in screen_text(app))


async def test_a_reopening_that_fails_in_any_way_lets_nobody_wait(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = story.app()
    async with running(app, size=(100, 30)):
        recovery = app.recovery

        async def failing() -> None:
            raise OSError("the disk is gone")

        monkeypatch.setattr(app.operations, "go_on_with_current_file", failing)
        asked = asyncio.get_running_loop().create_future()
        recovery._asked = asked
        with pytest.raises(OSError, match="the disk is gone"):
            await recovery._reopen_file()
        assert asked.done() and asked.result() is False
        assert recovery._asked is None
