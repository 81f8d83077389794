"""Agents in the app: connected and disconnected with the changes shown, tokens revoked."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from memtui.access.tokens import TokenFile
from memtui.ui.action_dispatch import start_worker
from memtui.ui.app import MemtuiApp
from memtui.ui.dialogs.agents import ChangesQuestion
from memtui.ui.dialogs.choice import PickDialog, Question
from memtui.ui.palette import show_connecting
from memtui.ui.widgets.bars import StatusLine
from ui_story import Story, running, screen_text, there, until


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder in which Cursor and Claude Code are, and nobody else."""
    home = tmp_path / "home"
    (home / ".cursor").mkdir(parents=True)
    (home / ".claude.json").write_text('{"theme": "dark", "token": "of-somebody"}\n')
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", "/nowhere")
    return home


def show(app: MemtuiApp) -> None:
    start_worker(app, partial(show_connecting, app), "go")


def said(app: MemtuiApp) -> str:
    return app.main.query_one(StatusLine).said


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_an_agent_is_connected_and_disconnected_after_the_changes_were_shown(
    story: Story, home: Path, size: tuple[int, int]
) -> None:
    app = story.app()
    async with running(app, size) as pilot:
        show(app)
        await until(lambda: "Cursor: found, not connected" in screen_text(app))
        assert "Zed: not found" in screen_text(app)
        await pilot.press("j", "enter")
        await until(lambda: there(app, ChangesQuestion) and "y write it" in screen_text(app))
        shown = screen_text(app)
        assert (
            "y write it" in shown and "Connect Cursor" in shown and "mcpServers" in shown and "stdio" in shown
        )
        file = home / ".cursor" / "mcp.json"
        assert not file.exists()
        await pilot.press("escape")
        await until(lambda: there(app, PickDialog))
        assert not file.exists()
        await pilot.press("enter")
        await until(lambda: there(app, ChangesQuestion))
        await pilot.press("y")
        await until(lambda: "Cursor: connected as cursor" in screen_text(app))
        entry = json.loads(file.read_text())["mcpServers"]["memtui"]
        assert f"--db={story.path}" in entry["args"]
        await pilot.press("enter")
        await until(lambda: there(app, ChangesQuestion) and "Disconnect Cursor" in screen_text(app))
        await pilot.press("y")
        await until(lambda: "Cursor: found, not connected" in screen_text(app))
        assert not file.exists()
        await until(lambda: "Disconnected Cursor. Restart it." in said(app))
        await pilot.press("escape")
        await until(lambda: app.screen is app.main)


async def test_hooks_are_a_choice_and_no_secret_of_the_file_is_shown(story: Story, home: Path) -> None:
    app = story.app()
    async with running(app) as pilot:
        show(app)
        await until(lambda: "Claude Code: found, not connected" in screen_text(app))
        await pilot.press("enter")
        await until(lambda: "record every turn by its hooks" in screen_text(app))
        await pilot.press("j", "enter")
        await until(lambda: there(app, ChangesQuestion))
        assert "of-somebody" not in screen_text(app)
        await pilot.press("y")
        await until(lambda: "Claude Code: connected as claude-code" in screen_text(app))
        assert "hooks on" in screen_text(app)
        assert "of-somebody" in (home / ".claude.json").read_text()
        assert "UserPromptSubmit" in (home / ".claude" / "settings.json").read_text()


async def test_a_file_that_cannot_be_changed_is_named_and_left(story: Story, home: Path) -> None:
    file = home / ".cursor" / "mcp.json"
    file.write_text("{broken")
    app = story.app()
    async with running(app) as pilot:
        show(app)
        await until(lambda: "Cursor: " in screen_text(app))
        await pilot.press("j", "enter")
        await until(lambda: "cannot be changed" in said(app))
        assert file.read_text() == "{broken"


async def test_a_token_is_shown_with_its_scope_and_revoked_after_a_question(story: Story, home: Path) -> None:
    tokens = TokenFile()
    tokens.add_token("laptop", story.path, project="boat", readonly=True)
    app = story.app()
    async with running(app) as pilot:
        show(app)
        await until(lambda: "token laptop" in screen_text(app))
        shown = screen_text(app)
        assert "boat" in shown and "never used" in shown
        await pilot.press("end", "enter")
        await until(lambda: there(app, Question) and "Revoke the token laptop" in screen_text(app))
        await pilot.press("n")
        await until(lambda: there(app, PickDialog))
        assert [one.revoked_at for one in tokens.list_tokens(story.path)] == [None]
        await pilot.press("enter")
        await until(lambda: there(app, Question))
        await pilot.press("y")
        await until(lambda: there(app, PickDialog) and "token laptop:" not in screen_text(app))
        assert tokens.list_tokens(story.path)[0].revoked_at is not None
