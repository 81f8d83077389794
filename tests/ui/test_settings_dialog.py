"""Settings: each with its state, saved one by one, the file's comments kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from memtui import config
from memtui.engine.errors import StoreError
from memtui.engine.memory import Memory
from memtui.ui.app import MemtuiApp
from memtui.ui.dialogs.settings import SettingsDialog, setting_rows
from memtui.ui.widgets.bars import StatusLine
from memtui.ui.widgets.row_table import RowTable
from textual.widgets import Static
from ui_story import Story, memories, running, screen_text, still, there, until


def app_with(story: Story, file: Path, environ: dict[str, str] | None = None) -> MemtuiApp:
    if not file.exists():
        file.write_text("# mine\n", "utf-8")
    return story.app(configuration=config.load(file, environ or {}))


def text_of(app: MemtuiApp) -> str:
    return " ".join(screen_text(app).split())


async def at(app: MemtuiApp, name: str) -> SettingsDialog:
    """Open the settings with the cursor on one."""
    app.action_perform("settings")
    await until(lambda: there(app, SettingsDialog))
    await until(lambda: bool(app.screen.query(RowTable)) and app.screen.query_one(RowTable).row_count > 0)
    dialog = app.screen
    assert isinstance(dialog, SettingsDialog)
    names = [setting.name for setting in config.describe_settings()]
    dialog.table.move_to(names.index(name))
    return dialog


async def at_next(app: MemtuiApp, name: str) -> None:
    """Go on to another one."""
    dialog = app.screen
    assert isinstance(dialog, SettingsDialog)
    dialog.table.move_to([setting.name for setting in config.describe_settings()].index(name))
    await until(lambda: dialog.table.selected is not None and dialog.table.selected.setting.name == name)


async def test_every_setting_is_there_with_value_meaning_and_state(story: Story, tmp_path: Path) -> None:
    app = app_with(story, tmp_path / "config.toml")
    async with running(app):
        dialog = await at(app, "embedder.kind")
        assert dialog.table.row_count == len(config.describe_settings())
        # Grouped under plain words; what the file calls it stands below the list.
        assert "Vectors made by offline" in text_of(app)
        await until(lambda: "Vectors: made by embedder.kind" in text_of(app))
        await until(lambda: "waiting" in text_of(app))
        await until(lambda: "one of offline, minilm, endpoint, package, off" in text_of(app))
        await until(lambda: "at the next start" in text_of(app))
        dialog.table.move_to(1)
        await until(lambda: "takes effect now" in text_of(app))


async def test_a_theme_chosen_in_the_palette_is_kept(story: Story, tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    app = app_with(story, file)
    async with running(app) as pilot:
        await pilot.press("ctrl+p")
        await pilot.press(*"nord")
        await until(lambda: "Theme: nord" in text_of(app))
        await pilot.press("enter")
        await until(lambda: app.theme == "nord")
        assert config.load(file, {}).settings.general.theme == "nord"
        assert file.read_text("utf-8").startswith("# mine")


async def test_a_choice_goes_round_is_saved_and_keeps_the_comments(story: Story, tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('# my own words\n[secrets]\nfacts = "redact"  # careful\n', "utf-8")
    app = app_with(story, file)
    async with running(app) as pilot:
        await at(app, "secrets.facts")
        await pilot.press("enter")
        await until(lambda: "Saved in" in text_of(app))
        assert file.read_text("utf-8") == '# my own words\n[secrets]\nfacts = "quarantine"  # careful\n'
        await until(lambda: "line 3" in text_of(app))
        assert config.load(file, {}).settings.secrets.facts == "quarantine"


async def test_the_theme_changes_at_once_and_is_kept(story: Story, tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    app = app_with(story, file)
    async with running(app) as pilot:
        await at(app, "general.theme")
        before = app.theme
        await pilot.press("enter")
        await until(lambda: app.theme != before)
        assert config.load(file, {}).settings.general.theme == app.theme


async def test_a_number_is_typed_and_checked(story: Story, tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    app = app_with(story, file)
    async with running(app) as pilot:
        await at(app, "decay.threshold")
        await pilot.press("enter", *["backspace"] * 4, *"2", "enter")
        await until(lambda: "a number from 0 to 1" in text_of(app) and "cannot be" in text_of(app))
        await pilot.press("backspace", *"0.1", "enter")
        await until(lambda: "Saved in" in text_of(app))
        assert config.load(file, {}).settings.decay.threshold == pytest.approx(0.1)
        await pilot.press("escape")
        assert app.screen is app.main


async def test_settings_of_the_engine_count_at_once(story: Story, tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("# mine\n", "utf-8")

    def reopen(settings: config.Settings) -> Memory:
        options = settings.options(background=False)
        return Memory.open(story.path, clock=story.clock, options=options)

    app = story.app(configuration=config.load(file, {}), reopen=reopen)
    async with running(app) as pilot:
        before = app.operations.require_memory()
        await pilot.press("j", "j")
        chosen = memories(app).table.selected_key
        await at(app, "decay.threshold")
        await until(lambda: "takes effect now" in text_of(app))
        await pilot.press("enter", *["backspace"] * 4, *"0.3", "enter")
        await until(lambda: "it takes effect now" in text_of(app))
        await until(lambda: app.operations.require_memory().options.fade_threshold == 0.3)
        await at_next(app, "embedder.kind")
        await pilot.press("enter")
        await until(lambda: app.operations.require_memory().options.embedder == "minilm")
        await at_next(app, "general.ascii")
        await pilot.press("enter")
        await until(lambda: "it takes effect at the next start" in text_of(app))
        await pilot.press("escape")
        assert memories(app).table.selected_key == chosen
        await pilot.press("x")
        await until(lambda: app.main.query_one(StatusLine).said.startswith("Forgot"))
        await pilot.press("u")
        await until(lambda: app.main.query_one(StatusLine).said.startswith("Undid"))
        await until(lambda: not app.operations._earlier)
        with pytest.raises(StoreError):
            before.stats()


async def test_what_the_environment_decides_is_said_to_be_so(story: Story, tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    app = app_with(story, file, {"MEMTUI_EMBEDDER_KIND": "off"})
    async with running(app) as pilot:
        await at(app, "embedder.kind")
        await pilot.press("enter")
        await until(lambda: "MEMTUI_EMBEDDER_KIND in the environment sets" in text_of(app))
        assert file.read_text("utf-8") == "# mine\n"


async def test_a_file_that_cannot_be_written_is_told(story: Story, tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    app = app_with(story, file)
    target = tmp_path / "elsewhere.toml"
    file.rename(target)
    file.symlink_to(target)
    async with running(app) as pilot:
        await at(app, "general.ascii")
        await pilot.press("enter")
        await until(lambda: "symbolic link" in str(app.screen.query_one(".dialog-warning", Static).content))


async def test_the_embedder_is_tried(story: Story, tmp_path: Path) -> None:
    app = app_with(story, tmp_path / "config.toml")
    async with running(app) as pilot:
        await at(app, "embedder.kind")
        await pilot.press("t")
        await until(lambda: "wordllama-l2-supercat-256 works" in text_of(app))


async def test_the_model_is_asked_and_what_is_wrong_is_told(
    story: Story, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    file = tmp_path / "config.toml"
    app = app_with(story, file)
    async with running(app) as pilot:
        await at(app, "llm.model")
        await pilot.press("t")
        await until(lambda: "set llm.base_url and llm.model" in text_of(app))
        config.write_setting(file, "llm.base_url", "http://127.0.0.1:9")
        config.write_setting(file, "llm.model", "tiny")
        app.configuration = config.load(file, {})
        await pilot.press("t")
        await until(lambda: "127.0.0.1 cannot be reached" in text_of(app))


async def test_without_a_configuration_it_says_so(story: Story) -> None:
    app = story.app()
    async with running(app):
        app.action_perform("settings")
        await until(lambda: "opened without a configuration" in text_of(app))


@pytest.mark.hostile
@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 40), (200, 60)])
async def test_hostile_values_do_nothing(story: Story, tmp_path: Path, size: tuple[int, int]) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[general]\ntheme = "\\u001b]52;c;aGk=\\u0007[@click=app.quit]x[/]\\u202e"\n', "utf-8")
    app = app_with(story, file)
    async with running(app, size) as pilot:
        await at(app, "general.theme")
        await still(pilot.app)
        assert not any(sign in screen_text(app) for sign in "\x1b\x07\u202e")
        assert app.is_running


def test_what_decides_nothing_as_the_others_stand_says_so(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("")

    def idle() -> set[str]:
        return {row.setting.name for row in setting_rows(config.load(file, {})) if row.idle}

    assert {"embedder.base_url", "embedder.dimensions", "llm.model"} <= idle()
    assert not {"embedder.kind", "llm.base_url", "general.theme"} & idle()
    file.write_text('[embedder]\nkind = "endpoint"\n[llm]\nbase_url = "https://example.org/v1"\n')
    assert idle() == {"embedder.package"}


async def test_what_a_switch_can_be_is_written_as_in_the_file(story: Story, tmp_path: Path) -> None:
    app = app_with(story, tmp_path / "config.toml")
    async with running(app):
        await at(app, "general.ascii")
        await until(lambda: "true or false; false if not set" in text_of(app))
