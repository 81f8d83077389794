"""Completion of a filter while it is typed, and saved filters."""

from __future__ import annotations

from memtui.ui.app import MemtuiApp
from memtui.ui.dialogs.line_input import NameDialog
from memtui.ui.widgets.bars import KeyBar
from memtui.ui.widgets.filter_input import LINES, CompletionList, FilterInput
from ui_story import Story, memories, running, screen_text, settle, there, until


def choices(app: MemtuiApp) -> list[str]:
    """What is offered now."""
    found = [one for one in app.screen.query(CompletionList) if one.is_open]
    return [choice.name for one in found for choice in one.choices]


def typed(app: MemtuiApp) -> str:
    assert isinstance(app.focused, FilterInput)
    return app.focused.value


def footer(app: MemtuiApp) -> list[str]:
    return [f"{key.key} {key.label}" for key in app.main.query_one(KeyBar).fitting_keys()]


async def test_tab_takes_a_key_then_a_value_and_the_list_follows(story: Story) -> None:
    app = story.app()
    async with running(app, (80, 24)) as pilot:
        await pilot.press("slash", "t", "a")
        await until(lambda: choices(app) == ["tag:"])
        assert "Tab complete" in footer(app)
        await pilot.press("tab")
        await until(lambda: "travel" in choices(app))
        assert typed(app) == "tag:"
        # Only a key is no mistake while its values are offered: the list is whole.
        await until(lambda: memories(app).table.row_count == 6)
        assert "no value after" not in screen_text(app)
        await pilot.press(*"tra", "right")
        await until(lambda: memories(app).table.row_count == 1)
        assert (typed(app), choices(app)) == ("tag:travel", [])
        await pilot.press("enter")
        assert memories(app).table.has_focus
        assert memories(app).filter_text == "tag:travel"


async def test_up_and_down_move_in_the_list_and_enter_takes_what_was_chosen(story: Story) -> None:
    app = story.app()
    async with running(app) as pilot:
        await pilot.press("slash", *"kind:")
        await until(lambda: len(choices(app)) > 2)
        shown = choices(app)
        await pilot.press("down", "down", "up", "enter")
        await until(lambda: typed(app) == f"kind:{shown[1]}")
        # Without a choice made Enter keeps what was typed, and goes to the list.
        await pilot.press("space", "t", "enter")
        assert memories(app).table.has_focus
        assert memories(app).filter_text == f"kind:{shown[1]} t"


async def test_escape_closes_the_completions_and_keeps_the_filter(story: Story) -> None:
    app = story.app()
    async with running(app) as pilot:
        await pilot.press("slash", *"tag:t")
        await until(lambda: choices(app))
        await pilot.press("escape")
        await until(lambda: not choices(app))
        assert typed(app) == "tag:t"
        await pilot.press("escape")
        assert memories(app).table.has_focus
        assert memories(app).filter_text == "tag:t"


async def test_a_key_without_a_value_is_a_mistake_once_its_values_are_closed(story: Story) -> None:
    app = story.app()
    async with running(app) as pilot:
        await pilot.press("slash", *"tag:")
        await until(lambda: choices(app))
        await pilot.press("escape")
        await until(lambda: "There is no value after tag:" in screen_text(app))


async def test_the_completions_stand_above_the_rows_and_hide_nothing(story: Story) -> None:
    for size in ((40, 12), (80, 24), (120, 40)):
        app = story.app()
        async with running(app, size) as pilot:
            table = memories(app).table
            first = screen_text(app).splitlines()[table.region.y + table.header_height].split()[1:4]
            await pilot.press("slash", *"is:")
            await until(lambda app=app: choices(app))
            [shown] = [one for one in app.screen.query(CompletionList) if one.is_open]
            bar = memories(app).filter_bar
            assert shown.region.y == bar.region.bottom
            assert 0 < shown.region.height <= LINES
            assert table.region.y == shown.region.bottom
            assert app.screen.region.contains_region(shown.region)
            assert " ".join(first) in " ".join(screen_text(app).split())
            await pilot.press("escape")
            await until(lambda app=app: not choices(app))
            assert table.region.y >= bar.region.bottom


async def test_the_completions_stand_below_the_mistake_that_is_pointed_at(story: Story) -> None:
    app = story.app()
    async with running(app, (80, 24)) as pilot:
        await pilot.press("slash", *"tag:", "escape")
        await until(lambda: "There is no value after tag:" in screen_text(app))
        await pilot.press("space", *"ki")
        await until(lambda: choices(app) and "! " in screen_text(app))
        [shown] = [one for one in app.screen.query(CompletionList) if one.is_open]
        lines = screen_text(app).splitlines()
        mistake = next(at for at, line in enumerate(lines) if "! " in line)
        assert mistake < shown.region.y


async def test_a_filter_is_saved_by_a_key_offered_first_and_taken_back(story: Story) -> None:
    app = story.app()
    async with running(app) as pilot:
        await pilot.press("slash", "ctrl+s")
        await until(lambda: "There is no filter to save" in screen_text(app))
        await pilot.press(*"tag:travel", "ctrl+s")
        await until(lambda: there(app, NameDialog))
        await pilot.press(*"trips", "enter")
        await until(lambda: "Saved the filter" in screen_text(app))
        await pilot.press("enter", "escape")
        await settle(app)
        await pilot.press("slash")
        await until(lambda: choices(app) == ["trips"])
        await pilot.press(*"t")
        await until(lambda: choices(app)[:2] == ["trips", "tag:"])
        await pilot.press("tab")
        await until(lambda: typed(app) == "tag:travel")
        await pilot.press("enter", "u")
        await until(lambda: "Undid" in screen_text(app) or "Took back" in screen_text(app))
        with story.open(readonly=True) as memory:
            assert memory.filters.saved() == []


async def test_a_saved_filter_is_the_first_command_of_the_palette(story: Story) -> None:
    with story.open() as memory:
        memory.filters.save("trips", "tag:travel")
    app = story.app()
    async with running(app) as pilot:
        await pilot.press("8", "ctrl+p")
        await until(lambda: "Filter: trips" in screen_text(app))
        await pilot.press("enter", "enter")
        await until(lambda: app.main.active == "memories")
        await until(lambda: memories(app).filter_text == "tag:travel")
        await pilot.press("ctrl+p", *"remove the saved filter: trips")
        await until(lambda: "Remove the saved filter: trips" in screen_text(app))
        await pilot.press("enter")
        await until(lambda: "Removed the saved filter" in screen_text(app))


async def test_search_and_a_conversation_complete_their_filters_and_other_lists_do_not(story: Story) -> None:
    app = story.app()
    async with running(app) as pilot:
        await pilot.press("3", "escape", "f", "k", "i")
        await until(lambda: choices(app) == ["kind:"])
        await pilot.press("escape", "escape", "4", "slash", "t", "a")
        await settle(app)
        assert choices(app) == []
        assert footer(app)[:2] == ["Enter to the list", "Esc back"]


async def test_a_memory_that_is_only_read_saves_no_filter(story: Story) -> None:
    app = story.app(readonly=True)
    async with running(app) as pilot:
        await pilot.press("slash", *"tag:travel")
        assert not any("save" in key for key in footer(app))
        await pilot.press("ctrl+s")
        await until(lambda: "open for reading only" in screen_text(app))


async def test_a_narrow_footer_names_marks_and_the_timeline_rather_than_the_commands(story: Story) -> None:
    app = story.app()
    async with running(app, (80, 24)) as pilot:
        assert {"/ filter", "e correct", "x forget", "T timeline", "Space mark"} < set(footer(app))
        assert footer(app)[-1] == "? help"
        await pilot.press("space", "space")
        await until(lambda: "m merge" in footer(app))
        assert "Space mark" in footer(app)
        await pilot.press("T")
        await until(lambda: "T as a list" in footer(app))
        await pilot.press("T")
        await pilot.resize_terminal(40, 12)
        await until(lambda: footer(app)[:1] == ["/ filter"])
        assert "T timeline" not in footer(app)
        await pilot.resize_terminal(120, 40)
        await until(lambda: footer(app)[-2:] == ["ctrl+p commands", "? help"])


async def test_the_footer_says_what_works_in_the_trash_and_in_full_view(story: Story) -> None:
    with story.open() as memory:
        memory.forget(memory.view.page("kind:fact")[0].id)
    app = story.app()
    async with running(app, (80, 24)) as pilot:
        await pilot.press("X")
        await settle(app)
        assert footer(app)[0] == "R restore"
        assert not any("confirm" in key or "correct" in key for key in footer(app)[:3])
        await pilot.press("enter")
        await settle(app)
        assert "Esc back" in footer(app)
        assert not any(key.endswith(" mark") for key in footer(app))
