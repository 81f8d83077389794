"""The export dialog: from the palette, narrowed to what is shown, written, refused, stopped."""

from __future__ import annotations

import json
from pathlib import Path

from memtui.ui.app import MemtuiApp
from memtui.ui.dialogs.export import ExportDialog, ToggleOption
from memtui.ui.widgets.path_input import PathInput
from textual.widgets import Input
from ui_story import Story, running, screen_text, until


def stage(app: MemtuiApp) -> str:
    return app.screen._stage if isinstance(app.screen, ExportDialog) else ""


def kept(story: Story) -> None:
    with story.open() as memory:
        memory.remember("Prefers trains over flights", tags=["weekend"])
        memory.remember("Owns a blue car")


async def test_what_is_shown_goes_to_a_file_and_a_file_that_is_there_is_kept(
    story: Story, tmp_path: Path
) -> None:
    kept(story)
    target = tmp_path / "out.jsonl"
    app = story.app()
    async with running(app) as pilot:
        await pilot.press("I")
        await until(lambda: isinstance(app.focused, PathInput))
        dialog = app.screen
        assert isinstance(dialog, ExportDialog)
        # The path is filled in, not only hinted at; without one it says what is missing.
        assert dialog.query_one(PathInput).value == "~/memory.jsonl"
        dialog.query_one(PathInput).value = ""
        await pilot.press("enter")
        await until(lambda: "Name a file or a folder first" in screen_text(app))
        dialog.query_one(PathInput).value = str(target)
        dialog.query_one(".export-filter", Input).value = "tag:weekend"
        await pilot.press("enter")
        await until(lambda: stage(app) == "done")
        await until(lambda: "1 memory exported" in screen_text(app))
        assert "0.0 MB" not in screen_text(app)
        lines = [json.loads(line) for line in target.read_text().splitlines()]
        assert [line["content"] for line in lines if line["line"] == "memory"] == [
            "Prefers trains over flights"
        ]
        before = target.read_bytes()
        await pilot.press("enter")
        await pilot.press("I")
        await until(lambda: isinstance(app.focused, PathInput))
        app.screen.query_one(PathInput).value = str(target)
        await pilot.press("enter")
        await until(lambda: stage(app) == "failed")
        await until(lambda: "already exists" in " ".join(screen_text(app).replace("│", " ").split()))
        assert target.read_bytes() == before
        await pilot.press("enter")
        assert stage(app) == "choose"
        await pilot.press("tab", "tab", "space", "enter")  # its history is another matter
        await until(lambda: stage(app) == "failed")
        assert target.read_bytes() == before
        # Asked to, it is replaced, here with its history.
        await pilot.press("b", "tab", "tab", "tab", "space")
        assert [toggle.on for toggle in app.screen.query(ToggleOption)] == [True, True, False]
        await pilot.press("enter")
        await until(lambda: stage(app) == "done")
        kinds = {json.loads(line)["line"] for line in target.read_text().splitlines()}
        assert {"operation", "change"} <= kinds
        assert target.read_bytes() != before


async def test_secrets_are_counted_and_can_be_blacked_out(story: Story, tmp_path: Path) -> None:
    with story.open() as memory:
        memory.record_turn("s", "user", "the wifi password is Kx9-tulip-Quartz77")
    app = story.app()
    async with running(app) as pilot:
        for name, wanted in (("with.jsonl", False), ("without.jsonl", True)):
            await pilot.press("I")
            await until(lambda: isinstance(app.focused, PathInput))
            app.screen.query_one(PathInput).value = str(tmp_path / name)
            app.screen.query_one("#export-secrets", ToggleOption).on = wanted
            await pilot.press("enter")
            await until(lambda: stage(app) == "done")
            await until(lambda: "exported" in screen_text(app))
            assert ("1 text with a secret" in screen_text(app)) is not wanted
            assert ("Quartz77" in (tmp_path / name).read_text()) is not wanted
            await pilot.press("enter")
            await until(lambda: not stage(app))


async def test_a_name_without_the_ending_of_a_file_is_a_folder_of_notes(story: Story, tmp_path: Path) -> None:
    kept(story)
    app = story.app()
    async with running(app) as pilot:
        await pilot.press("I")
        await until(lambda: isinstance(app.focused, PathInput))
        app.screen.query_one(PathInput).value = str(tmp_path / "vault")
        await pilot.press("enter")
        await until(lambda: stage(app) == "done")
        await until(lambda: " notes exported" in screen_text(app))
        assert (tmp_path / "vault" / "Index.md").is_file()


async def test_a_filter_that_is_a_mistake_is_refused_and_can_be_mended(story: Story, tmp_path: Path) -> None:
    app = story.app()
    async with running(app) as pilot:
        await pilot.press("slash", *"kind:fact", "enter", "I")
        await until(lambda: isinstance(app.focused, PathInput))
        assert app.screen.query_one(".export-filter", Input).value == "kind:fact"
        app.screen.query_one(PathInput).value = str(tmp_path / "out.jsonl")
        app.screen.query_one(".export-filter", Input).value = "kind:opinion"
        await pilot.press("enter")
        await until(lambda: stage(app) == "failed")
        await pilot.press("b")
        assert app.screen.query_one(".export-filter", Input).value == "kind:opinion"
        assert not (tmp_path / "out.jsonl").exists()
