"""The focus is in the pane on screen, however and from wherever the person went there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from memtui.engine.memory import Memory
from memtui.ui.app import MemtuiApp
from memtui.ui.panes.registry import PANES, PaneSpec
from memtui.ui.panes.search.pane import SearchPane
from memtui.ui.widgets.bars import TabBar
from memtui.ui.widgets.filter_bar import FilterBar
from ui_story import Story, memories, quiet, running, screen_text, still, until


def _filters(app: MemtuiApp) -> dict[str, str]:
    """What the filter of every pane has, and the question of Search."""
    return {str(bar.id): bar.value for bar in app.main.query(FilterBar) if bar.value}


def _focus_is_in_pane_shown(app: MemtuiApp) -> bool:
    return app.focused is not None and app.main.pane in app.focused.ancestors_with_self


@pytest.mark.parametrize("visited", PANES, ids=lambda spec: spec.pane_id)
async def test_keys_go_to_the_pane_on_screen_after_every_switch(story: Story, visited: PaneSpec) -> None:
    """A visit is undone while the chosen pane takes the focus: nothing of it may come later."""
    app = story.app()
    async with running(app) as pilot:
        await app.navigation.begin_at(visited.pane_id)  # so that it is there, and what it shows is restored
        for again in (False, True):  # the pane is made, and later it is there
            for chosen in PANES:
                if chosen is visited:
                    continue
                origin = next(spec for spec in PANES if spec not in (visited, chosen))
                await app.navigation.begin_at(origin.pane_id)
                await quiet(app)
                await app.navigation.visit_pane(visited.pane_id)
                await quiet(app)
                app.main.set_focus(None)  # no question takes the number
                app.main.keep_focus()
                for key in (str(chosen.number), "slash"):
                    await pilot.press(key)
                    await quiet(app)
                    assert _focus_is_in_pane_shown(app), (chosen.pane_id, key, again, app.focused)
                await pilot.press("escape")


async def test_a_question_after_an_opened_memory_goes_into_search(story: Story) -> None:
    app = story.app()
    async with running(app, (80, 24)) as pilot:
        rid = memories(app).table.selected_key
        assert rid is not None
        await pilot.press("3", "escape", "0")
        await still(app)
        await app.navigation.open_memory(rid)
        await still(app)
        await pilot.press("3", "slash", *"walnuts")
        await until(lambda: "Ada is allergic to walnuts" in screen_text(app))
        assert isinstance(app.main.pane, SearchPane)
        assert _filters(app) == {"search-filter": "walnuts"}


async def test_a_pane_that_is_not_shown_takes_no_focus(story: Story) -> None:
    app = story.app()
    async with running(app) as pilot:
        table = memories(app).table
        await pilot.press("8")
        await still(app)
        focused = app.focused
        table.focus()
        memories_filter = app.main.query_one("#memories-filter", FilterBar)
        memories_filter.start_typing()
        await quiet(app)
        assert app.focused is focused and _focus_is_in_pane_shown(app)
        await pilot.press("2")
        await until(lambda: table.has_focus)


async def test_of_two_switches_at_once_the_later_one_holds(story: Story) -> None:
    """A tab is clicked while the pane of a key is still being made."""
    app = story.app()
    async with running(app) as pilot:
        await asyncio.gather(app.navigation.begin_at("entities"), app.navigation.begin_at("history"))
        await still(app)
        shown = [spec.pane_id for spec in PANES if (pane := app.main.pane_at(spec.pane_id)) and pane.display]
        assert shown == ["history"] == [app.main.active] == [app.main.query_one(TabBar).active]
        assert _focus_is_in_pane_shown(app)
        await pilot.press("4")
        await until(lambda: "Ada" in screen_text(app))


async def test_leaving_a_visit_that_is_still_reading_is_no_error(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The conversation is read late: the person is somewhere else by then, and stays there."""
    app, read = story.app(), asyncio.Event()
    async with running(app) as pilot:
        await app.navigation.begin_at("sessions")
        await app.navigation.begin_at("memories")
        await still(app)
        ask = app.operations.ask

        async def ask_late(call: Callable[[Memory], object], *, slow: bool = False) -> object:
            await read.wait()
            return await ask(call, slow=slow)

        monkeypatch.setattr(app.operations, "ask", ask_late)
        visit = asyncio.create_task(app.navigation.open_session("trip", 1))
        await until(lambda: app.main.active == "sessions")
        await pilot.press("8")
        await until(lambda: app.main.active == "history")
        read.set()
        await visit
        await still(app)
        assert app.main.active == "history" and _focus_is_in_pane_shown(app)


@pytest.mark.parametrize("pane", ["1", "2", "4", "5", "6", "7", "8"])
async def test_a_filter_is_in_sight_while_it_is_typed(story: Story, pane: str) -> None:
    """A row that has the whole window gives it back to the list and its filter."""
    app = story.app()
    async with running(app, (80, 24)) as pilot:
        await pilot.press(pane)
        await still(app)
        await pilot.press("tab", "plus")
        await still(app)
        await pilot.press("slash")
        await still(app)
        assert app.focused is not None and app.focused.region.area, app.focused
        await pilot.press("z")
        await still(app)
        assert app.focused.region.area


async def test_the_question_is_in_sight_when_a_hit_had_the_window(story: Story) -> None:
    app = story.app()
    async with running(app, (80, 24)) as pilot:
        await pilot.press("3", *"walnuts", "enter")
        await until(lambda: "why #1" in screen_text(app))
        for key in ("slash", "f", "3"):
            await pilot.press("enter")
            await still(app)
            assert "-zoom-preview" in app.main.pane.classes
            await pilot.press(key)
            await still(app)
            assert app.focused is not None and app.focused.region.area, (key, app.focused)
            await pilot.press("escape")
            await still(app)
