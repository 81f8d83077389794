"""Entities: who is listed, what a profile tells, what corrections do, and the ways from memories and back."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
from memtui.engine.memory import Memory
from memtui.engine.records import Entity
from memtui.present.text import without_control_characters
from memtui.ui.app import MemtuiApp
from memtui.ui.dialogs.choice import PickDialog, Question
from memtui.ui.dialogs.edit import CorrectDialog
from memtui.ui.dialogs.line_input import LineDialog
from memtui.ui.dialogs.merge import EntityMergeDialog
from memtui.ui.keymap import Keymap
from memtui.ui.palette import show_pictures
from memtui.ui.panes.entities.pane import EntitiesPane
from memtui.ui.panes.memories.pane import MemoriesPane
from memtui.ui.panes.sessions.pane import SessionsPane
from memtui.ui.state import UiState
from memtui.ui.widgets.bars import KeyBar, StatusLine
from textual.pilot import Pilot
from textual.widgets import Input
from ui_story import DAY, NOW, Story, memories, running, screen_text, settle, still, there, until


@pytest.fixture
def known(story: Story) -> Story:
    """The story, with Ada under two names, and everything read for names."""
    with story.open() as memory:
        story.now = NOW - 8 * DAY
        memory.record_turn("trip", "user", "We took the train to Ghent with Ada Ferreira and Nadia")
        memory.remember("Ada Ferreira lives in Ghent")
        story.now = NOW
        memory.models.index_pending()
    return story


def entities(app: MemtuiApp) -> EntitiesPane:
    pane = app.main.pane
    assert isinstance(pane, EntitiesPane)
    return pane


def at_entities(story: Story, **given: object) -> MemtuiApp:
    state = UiState(None)
    state.pane = "entities"
    return story.app(state=state, **given)


async def ready(app: MemtuiApp) -> None:
    """Let the list and its profile arrive."""
    await settle(app)
    pane = entities(app)

    def arrived() -> bool:
        one = pane._portrait
        return one is not None and one.entity.eid == pane.table.selected_key and bool(one.memories)

    await until(arrived)


async def choose(app: MemtuiApp, name: str) -> Entity:
    """Put the cursor on the entity of this name."""
    await ready(app)
    pane = entities(app)
    for index in range(pane.table.row_count):
        pane.table.move_to(index)
        await until(lambda: pane.table.selected is not None)
        entity = pane.table.selected
        assert entity is not None
        if entity.canonical_name == name:
            await ready(app)
            return entity
    raise AssertionError(f"{name} is not listed")


def names(story: Story) -> list[str]:
    with story.open(readonly=True) as memory:
        return [one.canonical_name for one in memory.entities.page()]


def said(app: MemtuiApp) -> str:
    return app.main.query_one(StatusLine).said


async def dialog(app: MemtuiApp, kind: type) -> None:
    await until(lambda: there(app, kind))


async def line(app: MemtuiApp, pilot: Pilot[None], text: str) -> None:
    """Answer the dialog that asks for a line."""
    await dialog(app, LineDialog)
    app.screen.query_one(Input).value = text
    await pilot.press("enter")
    await until(lambda: app.screen is app.main)


# -- the list


async def test_everybody_is_listed_with_type_mentions_and_when_they_were_seen(known: Story) -> None:
    app = at_entities(known)
    async with running(app):
        await choose(app, "Ada Ferreira")
        text = screen_text(app)
        assert f"4 Entities {len(names(known))}" in text
        assert f"{len(names(known))} entities" in text
        row = next(line for line in text.split("\n") if "▌" in line)
        assert "Ada Ferreira" in row and "person" in row and "8d" in row
        entities(app).filter_bar.set_filter("type:location")
        await until(lambda: entities(app).table.row_count == 2)
        await settle(app)
        assert {"Ghent", "Porto"} < set(screen_text(app).split())
        entities(app).filter_bar.set_filter("ferr")
        await until(lambda: entities(app).table.row_count == 1)


async def test_the_list_has_orders_and_a_filter_that_finds_nobody_says_so(known: Story) -> None:
    app = at_entities(known)
    async with running(app) as pilot:
        await ready(app)
        await pilot.press("greater_than_sign")
        await settle(app)
        assert "last seen first" in said(app)
        entities(app).table.sort_by("name", False)
        await settle(app)
        assert entities(app).table.selected is not None
        assert entities(app).table.selected.canonical_name == sorted(names(known))[0]
        await pilot.press("slash", *"zzz", "enter")
        await until(lambda: "No entity passes this filter" in screen_text(app))
        await pilot.press("escape")
        await until(lambda: entities(app).table.row_count > 1)
        await pilot.press("slash", *"after:2026-11-01", "enter")
        await until(lambda: "after: is about memories, not for this list" in screen_text(app))
        assert "M  on an entity: list its memories, and filter those" in screen_text(app)
        await pilot.press("escape")
        await until(lambda: entities(app).table.row_count > 1)
        await pilot.press("slash", *"type:ghost")
        await until(lambda: "is not a type" in screen_text(app))


async def test_an_empty_memory_says_how_entities_come_to_be(empty_story: Story) -> None:
    app = at_entities(empty_story)
    async with running(app):
        await until(lambda: "Nothing is remembered yet" in screen_text(app))
        assert "appear here automatically" in screen_text(app)


async def test_while_names_are_looked_up_the_list_says_how_many_texts_wait(
    empty_story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    stats = Memory.stats
    monkeypatch.setattr(Memory, "stats", lambda self: msgspec.structs.replace(stats(self), unlinked=1204))
    app = at_entities(empty_story)
    async with running(app):
        await until(lambda: "Names are being looked up" in screen_text(app))
        assert "1,204 texts still wait to be read for names" in screen_text(app)
    monkeypatch.setattr(Memory, "stats", stats)
    with empty_story.open() as memory:
        memory.remember("nothing but small words")
    app = at_entities(empty_story)
    async with running(app):
        await until(lambda: "1 memory was read, and no names were found" in screen_text(app))


# -- the profile


async def test_the_profile_tells_everything_and_follows_the_cursor(known: Story) -> None:
    app = at_entities(known)
    async with running(app) as pilot:
        await choose(app, "Ada Ferreira")
        text = screen_text(app)
        for output in ("Ada Ferreira · person", "in 2 memories", "facts 1", "Ada Ferreira lives in Ghent",
                     "seen together with", "Ghent", "also mentioned in 1"):  # fmt: skip
            assert output in text
        await pilot.press("enter")
        await pilot.pause()
        assert entities(app).has_class("-zoom-preview")
        await pilot.press("escape")
        await pilot.pause()
        assert not entities(app).has_class("-zoom-preview")


async def test_a_fact_opens_in_memories_and_escape_comes_back_to_it(known: Story) -> None:
    app = at_entities(known)
    async with running(app) as pilot:
        entity = await choose(app, "Ada Ferreira")
        await pilot.press("enter", "enter")
        await until(lambda: isinstance(app.main.pane, MemoriesPane))
        await settle(app)
        current = memories(app).current
        assert current is not None and current.content == "Ada Ferreira lives in Ghent"
        assert app.main.pane.has_class("-zoom-preview")
        await pilot.press("escape")
        await until(lambda: isinstance(app.main.pane, EntitiesPane))
        await ready(app)
        pane = entities(app)
        assert pane.table.selected_key == entity.eid
        assert pane.has_class("-zoom-preview") and pane.profile.has_focus
        assert pane.profile.stop_at_cursor is not None and pane.profile.stop_at_cursor.memory is not None


async def test_memories_is_left_as_it_was_found(known: Story) -> None:
    app = known.app()
    async with running(app) as pilot:
        memories(app).filter_bar.set_filter("key")
        await until(lambda: memories(app).table.row_count == 1)
        await pilot.press("4")
        await choose(app, "Ada Ferreira")
        await pilot.press("enter", "enter")
        await until(lambda: isinstance(app.main.pane, MemoriesPane))
        assert memories(app).filter_text == ""
        await pilot.press("escape")
        await until(lambda: isinstance(app.main.pane, EntitiesPane))
        await pilot.press("2")
        await until(lambda: isinstance(app.main.pane, MemoriesPane))
        await settle(app)
        assert memories(app).filter_text == "key" and memories(app).table.row_count == 1


async def test_a_turn_opens_in_its_conversation_and_escape_comes_back(known: Story) -> None:
    app = at_entities(known)
    async with running(app) as pilot:
        await choose(app, "Ada Ferreira")
        await pilot.press("enter")
        pane = entities(app)
        kinds = [stop.memory.kind if stop.memory else "" for stop in pane.profile._laid.stops]
        pane.profile.put_cursor(kinds.index("episode"))
        await pilot.press("enter")
        await until(lambda: isinstance(app.main.pane, SessionsPane))
        side = app.main.pane.transcript_side  # type: ignore[attr-defined]
        await until(
            lambda: (
                side.transcript_view.selected_turn is not None
                and "Nadia" in side.transcript_view.selected_turn.content
            )
        )
        await pilot.press("escape")
        await until(lambda: isinstance(app.main.pane, EntitiesPane))


async def test_a_companion_opens_and_escape_comes_back_to_the_one_before(known: Story) -> None:
    app = at_entities(known)
    async with running(app) as pilot:
        ada = await choose(app, "Ada Ferreira")
        await pilot.press("enter")
        pane = entities(app)
        places = [stop.entity.canonical_name if stop.entity else "" for stop in pane.profile._laid.stops]
        pane.profile.put_cursor(places.index("Ghent"))
        await pilot.press("enter")
        await until(lambda: pane._portrait is not None and pane._portrait.entity.canonical_name == "Ghent")
        await pilot.press("escape")
        await until(lambda: pane.table.selected_key == ada.eid)
        await ready(app)
        assert pane.profile.stop_at_cursor is not None and pane.profile.stop_at_cursor.entity is not None
        assert pane.profile.stop_at_cursor.entity.canonical_name == "Ghent"
        await pilot.press("escape")
        await pilot.pause()
        assert app.main.active == "entities" and not pane.has_class("-zoom-preview")


async def test_more_memories_than_are_listed_are_listed_in_memories(
    known: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memtui.ui.presenters.entity.LISTED", 1)
    app = at_entities(known)
    async with running(app) as pilot:
        await choose(app, "Ada Ferreira")
        assert "all 2 in Memories" in screen_text(app)
        await pilot.press("enter")
        profile = entities(app).profile
        profile.put_cursor([stop.key for stop in profile._laid.stops].index(("rest", 0)))
        await pilot.press("enter")
        await until(lambda: isinstance(app.main.pane, MemoriesPane))
        await until(lambda: memories(app).table.row_count == 2)
        await pilot.press("escape")
        await until(lambda: isinstance(app.main.pane, EntitiesPane))


async def test_the_two_columns_of_a_wide_profile_are_gone_through_sideways(known: Story) -> None:
    app = at_entities(known)
    async with running(app, (130, 40)) as pilot:
        await choose(app, "Ada Ferreira")
        await pilot.press("enter")
        profile = entities(app).profile
        await until(lambda: 1 in profile._laid.columns)
        await pilot.press("l")
        assert profile.stop_at_cursor is not None and profile.stop_at_cursor.entity is not None
        await pilot.press("h")
        assert profile.stop_at_cursor is not None and profile.stop_at_cursor.memory is not None
        await pilot.press("h")
        await until(lambda: entities(app).table.has_focus)


# -- from any memory


async def test_at_goes_from_a_memory_to_its_only_entity_and_back(known: Story) -> None:
    with known.open() as memory:
        memory.remember("Zebulon likes gooseberries")
        memory.models.index_pending()
    app = known.app()
    async with running(app) as pilot:
        memories(app).filter_bar.set_filter("gooseberries")
        await until(lambda: memories(app).table.row_count == 1)
        await settle(app)
        await pilot.press("at")
        await until(lambda: isinstance(app.main.pane, EntitiesPane))
        await ready(app)
        assert "Zebulon" in screen_text(app) and "gooseberries" in screen_text(app)
        await pilot.press("escape")
        await until(lambda: isinstance(app.main.pane, MemoriesPane))
        assert memories(app).filter_text == "gooseberries"


async def test_at_asks_when_there_are_several(known: Story) -> None:
    app = known.app()
    async with running(app) as pilot:
        memories(app).filter_bar.set_filter("lives")
        await until(lambda: memories(app).table.row_count == 1)
        await settle(app)
        await pilot.press("at")
        await dialog(app, PickDialog)
        await until(lambda: "Ada Ferreira" in screen_text(app) and "Ghent" in screen_text(app))
        await pilot.press("escape")
        await until(lambda: app.screen is app.main)
        assert app.main.active == "memories"
        await pilot.press("at")
        await dialog(app, PickDialog)
        await until(lambda: app.screen.query_one("RowTable").row_count == 2)  # type: ignore[attr-defined]
        await pilot.press("j", "enter")
        await until(lambda: isinstance(app.main.pane, EntitiesPane))


async def test_at_works_in_search_in_conversations_and_in_history(known: Story) -> None:
    app = known.app()
    async with running(app) as pilot:
        await pilot.press("3")
        await pilot.pause()
        app.main.pane.filter_bar.set_filter("Ferreira")  # type: ignore[attr-defined]
        await until(lambda: app.main.pane.table.row_count > 0)  # type: ignore[attr-defined]
        await settle(app)
        await pilot.press("enter", "at")
        await dialog(app, PickDialog)
        await pilot.press("escape")
        await pilot.press("5")
        await until(lambda: isinstance(app.main.pane, SessionsPane))
        await settle(app)
        await pilot.press("at")
        await until(lambda: "opens the conversation" in said(app))
        app.main.pane.filter_bar.set_filter("trip")  # type: ignore[attr-defined]
        await settle(app)
        await pilot.press("enter", "G")
        side = app.main.pane.transcript_side  # type: ignore[attr-defined]
        await until(lambda: side.transcript_view.selected_turn is not None and side.transcript_view._whole)
        await pilot.press("G", "at")
        await dialog(app, PickDialog)
        await pilot.press("enter")
        await until(lambda: isinstance(app.main.pane, EntitiesPane))
        await pilot.press("8")
        await until(lambda: app.main.active == "history")
        await settle(app)
        await pilot.press("at")
        await dialog(app, PickDialog)
        await until(lambda: "Ghent" in screen_text(app))


async def test_a_name_in_a_preview_can_be_clicked(known: Story) -> None:
    app = known.app()
    async with running(app) as pilot:
        memories(app).filter_bar.set_filter("lives")
        await until(lambda: memories(app).table.row_count == 1)
        await until(lambda: "people" in screen_text(app))
        rows = screen_text(app).split("\n")
        y = next(index for index, row in enumerate(rows) if "people " in row)
        await pilot.click(offset=(rows[y].index("Ada Ferreira", rows[y].index("people")) + 2, y))
        await until(lambda: isinstance(app.main.pane, EntitiesPane))
        await ready(app)
        assert "Ada Ferreira · person" in screen_text(app)


# -- corrections


async def test_renaming_keeps_the_old_name_and_can_be_undone(known: Story) -> None:
    app = at_entities(known)
    async with running(app) as pilot:
        await choose(app, "Ada Ferreira")
        await pilot.press("e")
        await line(app, pilot, "Ada F.")
        await until(lambda: "Renamed" in said(app))
        assert app.main.query_one(StatusLine).undo_hint == "u undo"
        await ready(app)
        await until(lambda: "also        Ada Ferreira" in screen_text(app))
        assert entities(app).table.selected is not None
        assert entities(app).table.selected.canonical_name == "Ada F."
        await pilot.press("u")
        await until(lambda: "Ada Ferreira" in names(known))


async def test_retyping_shows_what_it_is_now_and_sticks(known: Story) -> None:
    app = at_entities(known)
    async with running(app) as pilot:
        ghent = await choose(app, "Ghent")
        await pilot.press("T")
        await dialog(app, PickDialog)
        await until(lambda: "now" in screen_text(app))
        await pilot.press("j", "enter")
        await until(lambda: "Made" in said(app))
        await ready(app)
        await until(lambda: "as you said" in screen_text(app))
    with known.open(readonly=True) as memory:
        after = memory.entities.get(ghent.id).entity
        assert after.decided and after.type != ghent.type


async def test_names_are_added_dropped_and_split_out(known: Story) -> None:
    app = at_entities(known)
    async with running(app) as pilot:
        ada = await choose(app, "Ada Ferreira")
        await pilot.press("vertical_line")
        await until(lambda: "one name only" in said(app))
        for alias in ("Addie", "A. Ferreira"):
            await pilot.press("a")
            await line(app, pilot, alias)
            await until(lambda alias=alias: f"also called “{alias}”" in said(app))
            await ready(app)
            await until(lambda alias=alias: alias in entities(app).table.selected.aliases)
        await pilot.press("D")
        await dialog(app, PickDialog)
        await until(lambda: "Addie" in screen_text(app))
        await pilot.press("enter")
        await until(lambda: "is not called" in said(app))
        await ready(app)
        await until(lambda: len(entities(app).table.selected.aliases) == 1)
        await pilot.press("vertical_line")
        await dialog(app, PickDialog)
        await still(pilot.app)
        await pilot.press("enter")
        await until(lambda: "Split" in said(app))
    with known.open(readonly=True) as memory:
        assert memory.entities.get(ada.id).entity.aliases == ()


async def test_a_merge_shows_what_comes_of_it_before_it_is_done(known: Story) -> None:
    app = at_entities(known)
    async with running(app) as pilot:
        await choose(app, "Ada Ferreira")
        await pilot.press("m")
        await dialog(app, EntityMergeDialog)
        await until(lambda: "stays" in screen_text(app) and "goes" in screen_text(app))
        text = screen_text(app)
        assert "Ada Ferreira  person, then in 3 memories" in text
        assert "brings 1 memory" in text
        await pilot.press("ctrl+o")
        await until(lambda: "Ada Ferreira  person, brings 2 memories" in screen_text(app))
        await pilot.press("ctrl+o")
        await until(lambda: "Ada Ferreira  person, then in 3 memories" in screen_text(app))
        await pilot.press("enter")
        await until(lambda: "Merged" in said(app))
        await until(lambda: "Ada" not in names(known))
        await pilot.press("u")
        await until(lambda: "Ada" in names(known))


async def test_the_one_itself_is_no_choice_for_a_merge(known: Story) -> None:
    app = at_entities(known)
    async with running(app) as pilot:
        await choose(app, "Ada Ferreira")
        await pilot.press("m")
        await dialog(app, EntityMergeDialog)
        await until(lambda: "goes" in screen_text(app))
        app.screen.query_one("RowTable").move_to(0)  # type: ignore[attr-defined]
        await until(lambda: "This is the same entity" in screen_text(app))
        await pilot.press("enter")
        await still(pilot.app)
        assert isinstance(app.screen, EntityMergeDialog)


async def test_a_memory_is_taken_out_only_where_one_is_picked(known: Story) -> None:
    app = at_entities(known)
    async with running(app) as pilot:
        ada = await choose(app, "Ada Ferreira")
        await pilot.press("minus")
        await until(lambda: "goes to the profile" in said(app))
        await pilot.press("l", "minus")
        await until(lambda: "is not about" in said(app))
        await until(lambda: "that you took out" in screen_text(app))
        await pilot.press("u")
        await until(lambda: "that you took out" not in screen_text(app))
    with known.open(readonly=True) as memory:
        assert memory.entities.get(ada.id).total == 2


async def test_what_is_no_entity_leaves_the_list_until_undone(known: Story) -> None:
    app = at_entities(known)
    async with running(app) as pilot:
        await choose(app, "Ghent")
        before = entities(app).table.row_count
        await pilot.press("x")
        await until(lambda: "is not an entity" in said(app))
        await until(lambda: entities(app).table.row_count == before - 1)
        await pilot.press("u")
        await until(lambda: entities(app).table.row_count == before)


async def test_on_a_fact_of_a_profile_the_keys_of_facts_mean_it(known: Story) -> None:
    app = at_entities(known)
    async with running(app, (80, 24)) as pilot:
        await choose(app, "Ghent")
        await pilot.press("e")
        await until(lambda: "Rename Ghent" in screen_text(app))
        await pilot.press("escape", "enter")
        await until(lambda: entities(app).profile.has_focus)
        fact = entities(app).profile.stop_at_cursor
        assert fact is not None and fact.memory is not None
        labels = [key.label for key in app.main.query_one(KeyBar).fitting_keys()]
        assert labels[:4] == ["open", "correct", "forget", "who with whom"]
        await pilot.press("c")
        await until(lambda: "confirmed already" in said(app))
        await pilot.press("e")
        await dialog(app, CorrectDialog)
        await pilot.press("escape")
        await until(lambda: app.screen is app.main)
        await pilot.press("x")
        await until(lambda: "Forgot" in said(app))
        await until(lambda: "in 1 memory" in screen_text(app))
        await pilot.press("u")
        await until(lambda: "in 2 memories" in screen_text(app))
        assert "Ghent" in names(known)


async def test_what_many_memories_mention_or_is_open_is_taken_out_after_a_question(
    known: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = at_entities(known)
    async with running(app) as pilot:
        await choose(app, "Ghent")
        monkeypatch.setattr("memtui.ui.panes.entities.corrections.ASK_ABOVE", 1)
        await pilot.press("x")
        await until(lambda: there(app, Question))
        assert "2 memories" in screen_text(app) and "stay" in screen_text(app)
        await pilot.press("n")
        await until(lambda: "Nothing was changed" in said(app))
        monkeypatch.undo()
        await pilot.press("enter", "right")
        stop = entities(app).profile.stop_at_cursor
        assert stop is not None and stop.memory is None
        await pilot.press("x")
        await until(lambda: there(app, Question))
        await pilot.press("y")
        await until(lambda: "is not an entity" in said(app))
        await until(lambda: entities(app).table.has_focus)


async def test_pinned_ones_come_first_and_a_summary_is_shown(known: Story) -> None:
    app = at_entities(known)
    async with running(app) as pilot:
        await choose(app, "Porto")
        await pilot.press("p")
        await until(lambda: "Pinned" in said(app))
        await settle(app)
        await until(lambda: entities(app).table.cursor == 0)
        assert "★" in screen_text(app)
        await pilot.press("s")
        await line(app, pilot, "Where we may move to")
        await until(lambda: "Where we may move to" in screen_text(app))
        await pilot.press("s")
        await line(app, pilot, "")
        await until(lambda: "say in a line" in screen_text(app))
        await pilot.press("p")
        await until(lambda: "Unpinned" in said(app))


async def test_leaving_a_dialog_changes_nothing_and_says_so(known: Story) -> None:
    app = at_entities(known)
    async with running(app) as pilot:
        await choose(app, "Ghent")
        for key, kind, output in (
            ("e", LineDialog, "The name stays"),
            ("T", PickDialog, "The type stays"),
            ("a", LineDialog, "No name was added"),
            ("m", EntityMergeDialog, "Nothing was merged"),
            ("s", LineDialog, "The summary stays"),
        ):
            await pilot.press(key)
            await dialog(app, kind)
            await pilot.press("escape")
            await until(lambda output=output: output in said(app) and app.screen is app.main)
            await settle(app)
    with known.open(readonly=True) as memory:
        assert memory.view.operations()[0].kind != "entity"


async def test_a_name_that_another_one_has_is_refused_with_the_way_out(known: Story) -> None:
    app = at_entities(known)
    async with running(app) as pilot:
        await choose(app, "Porto")
        await pilot.press("e")
        await line(app, pilot, "Ghent")
        await until(lambda: app.main.query_one(StatusLine).severity == "warning")
        assert "Porto" in names(known) and "Ghent" in names(known)


async def test_a_memory_that_is_read_only_can_be_looked_at_but_not_corrected(known: Story) -> None:
    app = at_entities(known, readonly=True)
    async with running(app) as pilot:
        await choose(app, "Ada Ferreira")
        assert "say in a line" not in screen_text(app)
        for key in ("e", "T", "m", "x", "a", "s", "p"):
            await pilot.press(key)
            await until(lambda: "reading only" in said(app))
            assert app.screen is app.main


async def test_another_programs_correction_is_shown(known: Story) -> None:
    app = at_entities(known)
    async with running(app):
        await choose(app, "Ghent")
        with known.open() as other:
            other.entities.rename("Ghent", "Gent")
        await until(lambda: "Gent · location" in screen_text(app))


# -- hostile names

PAYLOADS = [
    "\x1b]52;c;aGk=\x07 X", "\u202egnp.txt", "[@click=app.quit]Bo[/]", "Z" * 200, "محمد الفارسي", "李雷 王芳",
    "$accent {x}", "Zo\u0301\u0301\u0301e\u200b",
]  # fmt: skip


@pytest.mark.hostile
@pytest.mark.parametrize("size", [(120, 40), (44, 14)], ids=["wide", "tiny"])
async def test_hostile_names_are_only_text(known: Story, size: tuple[int, int]) -> None:
    with known.open() as memory:
        for payload in PAYLOADS:
            memory.entities.add_alias("Ghent", payload)
            memory.entities.describe("Ghent", payload)
            memory.entities.link(memory.remember(f"Met somebody: {payload}").id, "Ghent")
        memory.entities.rename("Ghent", PAYLOADS[0])
        memory.models.index_pending()
    app = at_entities(known)

    def harmless() -> None:
        for shown in screen_text(app).split("\n"):
            assert without_control_characters(shown) == shown

    async with running(app, size) as pilot:
        pane = entities(app)
        for index in range(pane.table.row_count):
            pane.table.move_to(index)
            await settle(app)
            harmless()
        entities(app).filter_bar.set_filter("gnp")  # type: ignore[attr-defined]
        await until(lambda: pane.table.row_count == 1)
        await ready(app)
        await pilot.press("enter")
        await still(pilot.app)
        harmless()
        for key in ("e", "T", "m", "vertical_line", "D", "s"):
            await pilot.press(key)
            await until(lambda: app.screen is not app.main)
            await still(pilot.app)
            harmless()
            await pilot.press("escape")
            await until(lambda: app.screen is app.main)
        assert app.is_running


def test_the_keys_of_entities_are_those_of_the_other_panes() -> None:
    from memtui.ui.actions import BY_ID

    keys: Callable[[str], str] = lambda action: Keymap().key_label(BY_ID[action])  # noqa: E731
    assert keys("rename") == keys("correct")
    assert keys("not_entity") == keys("forget")
    assert keys("add_name") == keys("add")


# -- who with whom


def middle(app: MemtuiApp) -> str:
    found = entities(app)._neighbours.view.found
    return "" if found is None else found.entity.canonical_name


async def test_the_drawing_is_walked_and_the_list_follows(known: Story) -> None:
    app = at_entities(known)
    async with running(app, (120, 40)) as pilot:
        await choose(app, "Ada Ferreira")
        await pilot.press("w")
        await until(lambda: entities(app)._neighbours.shown and middle(app) == "Ada Ferreira")
        pane, view = entities(app), entities(app)._neighbours.view
        text = screen_text(app)
        assert "│ Ada Ferreira │" in text and "◈ Ghent 2" in text and "1 Nadia" in text
        assert (
            "Ghent, location: 2 memories with Ada Ferreira" in text and "Ada Ferreira lives in Ghent" in text
        )
        assert "Ada Ferreira is seen with 2 others" in text and "4 Entities" in text
        # The list is there too, and follows.
        await pilot.press("left", "left")
        assert (
            view.companion_at_cursor is not None and view.companion_at_cursor.entity.canonical_name == "Nadia"
        )
        await pilot.press("enter")
        await until(lambda: middle(app) == "Nadia")
        await until(lambda: pane.table.selected is not None and pane.table.selected.canonical_name == "Nadia")
        text = screen_text(app)
        assert (
            "Ada Ferreira > Nadia" in text
            and f"▌◈ {view.companion_at_cursor.entity.canonical_name} 1" in text
        )
        assert sum(line.startswith("│▌") for line in text.split("\n")) == 1
        await pilot.press("backspace")
        await until(lambda: middle(app) == "Ada Ferreira")
        assert view.companion_at_cursor.entity.canonical_name == "Nadia"
        await pilot.press("backspace")
        await until(lambda: "where you began" in said(app))
        # What both have in common can be corrected, and Esc comes back.
        await pilot.press("M")
        await until(lambda: app.shown_pane_id == "memories")
        await until(lambda: memories(app).table.row_count == 1)
        assert memories(app).filter_text.startswith('entity:"Ada Ferreira" entity:"Nadia"')
        await pilot.press("escape")
        await until(lambda: app.shown_pane_id == "entities" and view.companion_at_cursor is not None)
        assert (middle(app), view.companion_at_cursor.entity.canonical_name, view.has_focus) == (
            "Ada Ferreira",
            "Nadia",
            True,
        )
        await pilot.press("escape")
        await until(lambda: not pane._neighbours.shown)
        assert pane.table.has_focus and pane.profile.display


async def test_a_key_steps_through_the_months_and_the_memories_are_those_of_the_month(known: Story) -> None:
    app = at_entities(known)
    async with running(app, (120, 40)) as pilot:
        await choose(app, "Ada Ferreira")
        await pilot.press("left_square_bracket")
        await until(lambda: "shows it" in said(app))
        await pilot.press("w")
        await until(lambda: middle(app) == "Ada Ferreira")
        await pilot.press("left_square_bracket")
        await until(lambda: "Ada Ferreira · November 2025" in screen_text(app))
        assert "in November 2025" in screen_text(app)
        await pilot.press("right_square_bracket")
        await until(lambda: "nothing later" in said(app))
        await pilot.press("v")
        await until(lambda: "October to December 2025" in screen_text(app))
        await pilot.press("M")
        await until(lambda: app.shown_pane_id == "memories")
        assert memories(app).filter_text.endswith("on:2025-10..2025-12")
        await pilot.press("escape")
        await until(lambda: app.shown_pane_id == "entities")
        await pilot.press("f")
        await until(lambda: "2025" not in str(entities(app)._neighbours.path_title()))


async def test_in_a_narrow_window_it_has_the_whole_pane_and_follows_corrections(known: Story) -> None:
    app = at_entities(known)
    async with running(app, (80, 24)) as pilot:
        await choose(app, "Ghent")
        await pilot.press("w")
        await until(lambda: middle(app) == "Ghent")
        pane = entities(app)
        assert not pane.table.size.height and "│ Ghent │" in screen_text(app)
        await pilot.press("e")
        await line(app, pilot, "Gent")
        await until(lambda: middle(app) == "Gent")
        await pilot.press("escape")
        await until(lambda: pane.table.has_focus)


async def test_the_commands_for_pictures_name_this_memory_and_who_is_under_the_cursor(known: Story) -> None:
    app = at_entities(known, shell_options=("--demo",))
    async with running(app):
        await ready(app)
        await choose(app, "Ada Ferreira")
        show_pictures(app, app.main.pane.entity_name)
        await until(lambda: "Pictures" in screen_text(app))
        shown = screen_text(app)
        assert "--demo picture you me.svg" in shown
        assert (
            "--demo picture entity 'Ada Ferreira' who.svg" in shown and "Whom Ada Ferreira is seen" in shown
        )


async def test_the_memories_of_an_entity_are_one_key_away_where_dates_filter(known: Story) -> None:
    app = at_entities(known)
    async with running(app) as pilot:
        await choose(app, "Ada Ferreira")
        key = next(one for one in app.main.query_one(KeyBar).keys if one.action_id == "shared")
        assert (key.key, key.label, key.able) == ("M", "its memories", True)
        assert "There dates filter too." in " ".join(one.help for one in app.main.help_lines()[1])
        await pilot.press("M")
        await until(lambda: isinstance(app.main.pane, MemoriesPane))
        await settle(app)
        assert 'entity:"Ada Ferreira"' in memories(app).filter_text and memories(app).table.row_count > 0


async def test_the_profile_of_a_narrow_window_has_the_way_to_the_drawing(known: Story) -> None:
    app = at_entities(known)
    async with running(app, (80, 24)) as pilot:
        await choose(app, "Ada Ferreira")
        await pilot.press("enter")
        await until(lambda: entities(app).profile.has_focus)
        bar = app.main.query_one(KeyBar)
        await until(lambda: {"neighbours", "go", "help"} <= {key.action_id for key in bar.fitting_keys()})
        # The help explains the filter of this list, not that of memories.
        helps = [one.help for one in app.main.help_lines()[1]]
        assert "Filter by words of the name, type:person, -word." in helps
        assert not any("conf<0.5" in one for one in helps)
