"""The app of --demo and --readonly keeps to its own folder: whatever is pressed, everything else stays byte for byte."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import pytest
from memtui.cli.invocation import Invocation
from memtui.cli.open_app import make_app
from memtui.config import describe_settings
from memtui.engine.memory import Memory
from memtui.engine.records import Options
from memtui.ui.app import MemtuiApp
from memtui.ui.dialogs.dialog import Dialog
from memtui.ui.dialogs.export import ExportDialog
from memtui.ui.dialogs.settings import SettingsDialog
from memtui.ui.palette import choose_theme
from memtui.ui.widgets.path_input import PathInput
from memtui.ui.widgets.row_table import RowTable
from textual.pilot import Pilot
from ui_story import quiet, screen_text, settle, there, until

CONFIG = '# mine\n[general]\ntheme = "memtui-dark"\n'


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """All that a person has: a memory, settings, state, agents' configurations, an editor."""
    home = tmp_path / "home"
    for name in tuple(os.environ):
        if name.startswith(("MEMTUI_", "XDG_")) or name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "VISUAL"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("MEMTUI_DB", str(home / "memory.db"))
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    for name, text in {
        ".config/memtui/config.toml": CONFIG,
        ".local/state/memtui/app.json": "pane = search\n",
        ".claude.json": "{}",
        ".codex/config.toml": "",
    }.items():
        file = home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    editor = tmp_path / "editor"
    editor.write_text(f'#!/bin/sh\necho edited > "$1"\necho ran > {home}/editor-ran\n')
    editor.chmod(0o700)
    monkeypatch.setenv("EDITOR", str(editor))
    with Memory.open(home / "memory.db", options=Options(background=False)) as memory:
        for number in range(3):
            memory.record_turn("trip", "user", f"On day {number} Ada took the train to Ghent")
        memory.remember("Ada lives in Ghent")
        memory.backups.make()
    return home


def tree(home: Path) -> dict[str, bytes | None]:
    """Every file and folder, its mode and its bytes; but for the empty log and the locks that reading a memory needs."""
    found = {}
    for path in sorted(home.rglob("*")):
        if path.name == "memory.db-shm" or (path.name == "memory.db-wal" and not path.stat().st_size):
            continue
        name = f"{path.relative_to(home)} {path.stat().st_mode:o}"
        found[name] = path.read_bytes() if path.is_file() else None
    return found


@asynccontextmanager
async def opened(**options: bool) -> AsyncIterator[tuple[MemtuiApp, Pilot[None]]]:
    with ExitStack() as kept:
        app = make_app(Invocation(**options), kept, [])
        app.state.pane = "memories"
        async with app.run_test(size=(120, 40)) as pilot:
            await settle(app)
            yield app, pilot


async def through_all(app: MemtuiApp, pilot: Pilot[None]) -> None:
    """Every pane and what is asked of it, every setting, the colours, the export."""
    for pane in "12345678":
        await pilot.press(pane)
        await quiet(app)
        for key in ("o", "T", "right", "escape", "I", "d"):
            await pilot.press(key)
            await quiet(app)
            while isinstance(app.screen, Dialog):
                await pilot.press("escape")
                await quiet(app)
    await pilot.press("2", "comma")
    await until(lambda: there(app, SettingsDialog) and app.screen.query_one(RowTable).row_count > 0)
    for _ in describe_settings():
        await pilot.press("enter")
        assert isinstance(app.screen, SettingsDialog)
        await pilot.press("down")
    assert "settings are not changed" in screen_text(app)
    await pilot.press("escape")
    choose_theme(app, "memtui-light")
    await quiet(app)
    assert "The theme is not kept" in screen_text(app)
    app.state.note_checked(Path("/memory.db"), 1, 0)


async def export_nevertheless(app: MemtuiApp, pilot: Pilot[None], target: Path) -> None:
    """Where the dialog is reached round the key, it is the writing that is refused."""
    await pilot.press("I")
    await quiet(app)
    assert "nothing is exported" in screen_text(app)
    app.push_screen(ExportDialog())
    await until(lambda: there(app, ExportDialog))
    app.screen.query_one(PathInput).value = str(target)
    await pilot.press("enter")
    await until(lambda: "nothing is exported" in screen_text(app))
    await pilot.press("escape")
    await quiet(app)


@pytest.mark.parametrize(
    "options",
    [
        {"readonly": True},
        {"demo": True},
        pytest.param({"readonly": True, "demo": True}, marks=pytest.mark.long),
    ],
)
async def test_whatever_is_pressed_the_home_folder_stays_as_it_is(
    options: dict[str, bool], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tree(home)
    async with opened(**options) as (app, pilot):
        await through_all(app, pilot)
        await export_nevertheless(app, pilot, home / "export.jsonl")
    assert tree(home) == before


async def test_an_app_of_ones_own_writes_what_these_do_not(home: Path) -> None:
    """Else the test above would prove nothing."""
    before = tree(home)
    async with opened() as (app, _):
        choose_theme(app, "memtui-light")
        await quiet(app)
    changed = {name.split()[0] for name, data in tree(home).items() if before.get(name, b"-") != data}
    assert {".config/memtui/config.toml", ".local/state/memtui/app.json"} <= changed
    assert any(name.endswith("memtui.log") for name in changed)
