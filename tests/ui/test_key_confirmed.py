"""A key goes only to the host that it was set for: another address is asked about before, for both kinds of endpoint."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from memtui import config
from memtui.engine.errors import DegradedError
from memtui.engine.models.endpoint import check_endpoint, host_of
from memtui.engine.records import EmbeddingOptions, LlmOptions
from memtui.ui.dialogs.choice import Question
from memtui.ui.dialogs.settings import SettingsDialog
from memtui.ui.widgets.row_table import RowTable
from textual.widgets import Input
from ui_story import Story, quiet, running, screen_text, there, until

from endpoint import Endpoint, Exchange

KEY = "sk-0123456789abcdef"


@pytest.fixture
def evil() -> Iterator[Endpoint]:
    async def answer(exchange: Exchange) -> None:
        await exchange.reply("{}")

    with Endpoint(answer).in_thread() as endpoint:
        yield endpoint


@pytest.mark.parametrize("kind", [LlmOptions, EmbeddingOptions])
def test_a_key_is_refused_to_any_host_but_the_confirmed_one(
    kind: type[LlmOptions] | type[EmbeddingOptions],
) -> None:
    environ = {"OPENAI_API_KEY": KEY}
    there = kind(base_url="https://a.example/v1", key_confirmed="a.example")
    assert check_endpoint(there, environ) == KEY
    for url in ("https://b.example/v1", "https://a.example:8443/v1", "http://127.0.0.1:9/v1"):
        with pytest.raises(DegradedError, match="is not for"):
            check_endpoint(kind(base_url=url, key_confirmed="a.example"), environ)
    assert check_endpoint(kind(base_url="http://127.0.0.1:9", key_confirmed="a.example"), {}) == "none"


@pytest.mark.parametrize("section", ["llm", "embedder"])
async def test_another_address_gets_the_key_only_after_a_yes(
    section: str, story: Story, tmp_path: Path, evil: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    file = tmp_path / "config.toml"
    start = f'[{section}]\nbase_url = "https://a.example/v1"\nmodel = "m"\n'
    file.write_text(start)
    app = story.app(configuration=config.load(file, {}))
    async with running(app) as pilot:
        await pilot.press("comma")
        await until(lambda: there(app, SettingsDialog) and app.screen.query_one(RowTable).row_count > 0)
        names = [setting.name for setting in config.describe_settings()]
        for answer in ("n", "y"):
            app.screen.query_one(RowTable).move_to(names.index(f"{section}.base_url"))
            await quiet(app)
            if not app.screen.query_one(Input).display:
                await pilot.press("enter")
            app.screen.query_one(Input).value = evil.url
            await pilot.press("enter")
            await until(lambda: there(app, Question))
            assert "OPENAI_API_KEY" in screen_text(app)
            assert evil.requests == []
            await pilot.press(answer)
            await until(lambda: there(app, SettingsDialog))
            await quiet(app)
            if answer == "n":
                assert file.read_text() == start
    settings = getattr(config.load(file, {}).settings, section)
    assert (settings.base_url, settings.key_confirmed) == (evil.url, host_of(evil.url))
