"""Backups in Maintenance: listed with what they hold, compared with what is there, restored whole or in part."""

from __future__ import annotations

import pytest
from memtui.ui.app import MemtuiApp
from memtui.ui.dialogs.restore import RestoreDialog
from memtui.ui.panes.maintenance.pane import MaintenancePane
from memtui.ui.state import UiState
from memtui.ui.widgets.bars import StatusLine
from textual.pilot import Pilot
from ui_story import DAY, NOW, Story, running, screen_text, settle, there, until

HOSTILE = "\x1b]52;c;aGk=\x07 [/] [@click=app.quit]x[/] \u202eevil"


@pytest.fixture
def kept(story: Story) -> Story:
    """Two backups; since the later one a fact was corrected, one forgotten, one added."""
    story.now = NOW - 3 * DAY
    with story.open() as memory:
        memory.backups.make("scheduled")
        story.now = NOW - DAY
        memory.remember(f"Kept bees {HOSTILE}")
        memory.backups.make("import")
        story.now = NOW - DAY / 2
        facts = {one.content.split()[0]: one for one in memory.view.page("kind:fact")}
        memory.forget(facts["Ada"].id)
        memory.correct(facts["Considering"].id, "No longer considering a move to Porto")
        memory.remember("Plays the oboe")
    story.now = NOW
    return story


def pane(app: MemtuiApp) -> MaintenancePane:
    assert isinstance(app.main.pane, MaintenancePane)
    return app.main.pane


def at_maintenance(story: Story, **given: object) -> MemtuiApp:
    state = UiState(None)
    state.pane = "maintenance"
    return story.app(state=state, **given)


def said(app: MemtuiApp) -> str:
    return app.main.query_one(StatusLine).said


def facts(story: Story) -> set[str]:
    with story.open(readonly=True) as memory:
        return {one.content for one in memory.view.page("kind:fact")}


async def unfold(app: MemtuiApp, pilot: Pilot[None], place: int) -> None:
    """List the backups, and go to one of them."""
    await until(lambda: pane(app).jobs.state is not None)
    await pilot.press("slash", *"backups", "enter")
    await until(lambda: pane(app).table.row_count == 1)
    await pilot.press("enter")
    await until(lambda: pane(app).table.row_count == 3)
    await pilot.press(*["j"] * place)
    await settle(app)


async def test_backups_are_listed_and_the_preview_is_the_difference(kept: Story) -> None:
    app = at_maintenance(kept)
    async with running(app, (140, 40)) as pilot:
        await unfold(app, pilot, 0)
        text = screen_text(app)
        assert "2 backups, the latest 1d ago" in text
        assert "by itself" in text and "import" in text
        assert "Enter  hides them again" in text
        await pilot.press("R")
        await until(lambda: "This works on a backup" in said(app))
        await pilot.press("j")
        await until(lambda: "restoring it would" in screen_text(app))
        text = screen_text(app)
        assert "before an import" in text and "1 would come back" in text and "1 would be as it was" in text
        assert "+ ◆ Ada is allergic to walnuts" in text and "- ◆ Plays the oboe" in text
        assert not any(sign in text for sign in "\x1b\x07\u202e")
        await pilot.press("r")
        await until(lambda: "Backed up, and verified" in said(app))
        await until(lambda: pane(app).table.row_count == 4)
        await pilot.press("g", "g", "enter")
        await until(lambda: pane(app).table.row_count == 1)


async def test_a_backup_is_restored_after_a_look_and_a_yes(kept: Story) -> None:
    before = facts(kept)
    app = at_maintenance(kept)
    async with running(app) as pilot:
        await unfold(app, pilot, 1)
        await pilot.press("R")
        await until(lambda: there(app, RestoreDialog))
        await until(lambda: "comes back" in screen_text(app))
        text = screen_text(app)
        assert "1 would come back, 1 would be as it was, 1 would be lost" in text
        assert "facts: 1 back 1 changed 1 lost" in text
        assert "The present memory is backed up first" in text
        await pilot.press("escape")
        await until(lambda: said(app) == "Nothing was restored.")
        assert facts(kept) == before
        await settle(app)
        await pilot.press("R")
        await until(lambda: there(app, RestoreDialog))
        await pilot.press("y")
        await until(lambda: said(app).startswith("Restored 2025-11-21"))
        after = facts(kept)
        assert "Ada is allergic to walnuts" in after and "Plays the oboe" not in after
        # Another pane shows it at once.
        await until(lambda: pane(app).table.row_count == 4)
        await pilot.press("2")
        await until(lambda: "Ada is allergic" in screen_text(app))
        assert "oboe" not in screen_text(app)
        # It is a line of History, and the way back is one key away there; a plain undo goes the same way.
        await pilot.press("8")
        await until(lambda: "U  goes back to the state" in screen_text(app))
        assert "lost 1 fact" in screen_text(app) and "-restore.db" in screen_text(app)
        await pilot.press("u")
        await until(lambda: there(app, RestoreDialog))
        await pilot.press("escape")
        await until(lambda: said(app) == "Nothing was restored.")
        await pilot.press("U")
        await until(lambda: there(app, RestoreDialog))
        await pilot.press("y")
        await until(lambda: facts(kept) == before)


async def test_single_memories_are_taken_and_undone(kept: Story) -> None:
    app = at_maintenance(kept)
    async with running(app) as pilot:
        await unfold(app, pilot, 1)
        await pilot.press("R")
        await until(lambda: there(app, RestoreDialog))
        await until(lambda: "comes back" in screen_text(app))
        await pilot.press("G", "t")
        await until(lambda: "This is not in the backup" in screen_text(app))
        await pilot.press("g", "g", "t")
        await until(lambda: "Ada is allergic to walnuts" in facts(kept))
        assert "Plays the oboe" in facts(kept)
        await until(lambda: "1 memory" in said(app))
        await pilot.press("u")
        await until(lambda: "Ada is allergic to walnuts" not in facts(kept))
        await settle(app)
        await pilot.press("R")
        await until(lambda: there(app, RestoreDialog))
        await pilot.press("m")
        await until(lambda: "Ada is allergic to walnuts" in facts(kept))


async def test_a_damaged_backup_says_so_and_reading_only_restores_nothing(kept: Story) -> None:
    with kept.open() as memory:
        latest = memory.backups.all()[0].path
    latest.write_bytes(b"no database, although it has the name of one")
    app = at_maintenance(kept, readonly=True)
    async with running(app) as pilot:
        await unfold(app, pilot, 1)
        await until(lambda: "It cannot be used" in screen_text(app))
        await pilot.press("j", "R")
        await until(lambda: "open for reading only" in said(app))
