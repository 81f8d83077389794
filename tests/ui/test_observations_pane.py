"""Observations: three lists and what is recalled; the scratchpad: what is written, by whom, and taken back."""

from __future__ import annotations

from pathlib import Path

import pytest
from memtui.engine.records import MemoryRecord
from memtui.present.text import without_control_characters
from memtui.ui.app import MemtuiApp
from memtui.ui.dialogs.edit import AddObservation, CorrectDialog, NoteDialog
from memtui.ui.panes.observations.columns import ObservationColumns
from memtui.ui.panes.observations.pane import ObservationsPane
from memtui.ui.panes.observations.scratchpad import ScratchpadTab
from memtui.ui.state import UiState
from memtui.ui.widgets.bars import KeyBar
from memtui.ui.widgets.row_table import RowTable
from textual.widgets import Input, TextArea
from ui_story import DAY, NOW, Story, running, screen_text, settle, still, there, until

FINDINGS = ["The API rate limit is 100 a minute", "Ada owns the billing service", "PostgreSQL is at 15.2"]
INSIGHTS = ["REST is simpler than GraphQL for this API"]
LESSONS = ["Check the rate limit before a bulk import", "Drop indexes before a migration"]


@pytest.fixture
def noted(story: Story) -> Story:
    story.now = NOW - DAY
    with story.open(actor="agent:scout") as agent:
        agent.observations.remember(FINDINGS, INSIGHTS, LESSONS, source="GOAL:probe")
        agent.scratchpad.set("api.limit", "100 a minute")
        story.now = NOW - 60
        agent.scratchpad.set("task", "first ask Ada\nthen change the entry")
    story.now = NOW
    return story


def app_at(story: Story, **given: object) -> MemtuiApp:
    state = UiState(None)
    state.pane = "observations"
    return story.app(state=state, **given)


def pane(app: MemtuiApp) -> ObservationsPane:
    shown = app.main.pane
    assert isinstance(shown, ObservationsPane)
    return shown


def columns(app: MemtuiApp) -> ObservationColumns:
    return pane(app).columns


def pad(app: MemtuiApp) -> ScratchpadTab:
    return pane(app).scratchpad


async def rest(app: MemtuiApp) -> None:
    await until(
        lambda: all(
            table._pages and table._pages.keys is not None and not table._next
            for table in columns(app).query(RowTable)
        )
    )
    await settle(app)


def observations(story: Story, filter: str = "") -> dict[str, MemoryRecord]:
    with story.open(readonly=True) as memory:
        return {one.content: one for one in memory.view.page(f"kind:observation {filter}")}


async def test_each_category_has_a_list_with_its_count_and_the_tab_counts_all(noted: Story) -> None:
    app = app_at(noted)
    async with running(app, (150, 40)):  # the tabs have room for counts of what does not wait
        await rest(app)
        text = screen_text(app)
        line = next(line for line in text.splitlines() if "findings" in line)
        assert line.index("findings 3") < line.index("insights 1") < line.index("lessons 2")
        row = text.splitlines()[text.splitlines().index(line) + 1]
        assert "PostgreSQL is" in row and "REST is simpler" in row and "Drop indexes" in row
        assert "6 Observations 6" in text and "6 observations" in text
        assert "finding · from an agent · 1d · GOAL:probe" in text  # the preview


async def test_left_and_right_go_through_the_lists_and_on_to_the_preview(noted: Story) -> None:
    app = app_at(noted)
    async with running(app) as pilot:
        await rest(app)
        await pilot.press("l")
        await until(lambda: "REST is simpler than GraphQL for this API" in screen_text(app))
        await pilot.press("l", "j")
        await rest(app)
        current = columns(app).current
        assert current is not None and current.content == LESSONS[0]
        await pilot.press("l")
        assert columns(app).preview.has_focus
        await pilot.press("h")
        assert columns(app).list_of_category("lesson").has_focus
        await pilot.press("h", "h", "h")
        assert columns(app).list_of_category("finding").has_focus


async def test_a_query_ranks_each_list_and_shows_every_score(noted: Story) -> None:
    app = app_at(noted)
    async with running(app) as pilot:
        await rest(app)
        await pilot.press("slash", *"rate limit")
        await until(lambda: "findings 1" in screen_text(app) and "insights 0" in screen_text(app))
        await pilot.press("enter")
        await rest(app)
        with noted.open(readonly=True) as memory:
            hits = memory.observations.recall("rate limit")
        text = screen_text(app)
        for hit in hits:
            assert f"{hit.score:.2f}"[1:] in text
        assert f"score {hits[0].score:.3f}" in text and "rate, limit" in text
        focused = columns(app).current
        assert focused is not None and focused.id == hits[0].memory.id  # the best of all
        await pilot.press("escape")
        await until(lambda: "findings 3" in screen_text(app))
        assert "score" not in screen_text(app)


async def test_looking_and_recalling_in_the_app_is_no_recall_by_an_agent(noted: Story) -> None:
    app = app_at(noted)
    async with running(app) as pilot:
        await pilot.press("slash", *"rate", "enter")
        await rest(app)
    with noted.open(readonly=True) as memory:
        assert memory.view.recent_recalls() == []


async def test_what_nothing_answers_is_said_with_the_way_out(noted: Story) -> None:
    app = app_at(noted)
    async with running(app) as pilot:
        await pilot.press("slash", *"zebra", "enter")
        await until(lambda: "No observations have these words" in screen_text(app))
        assert "clear the query" in screen_text(app)


async def test_an_empty_memory_tells_what_will_stand_here(empty_story: Story) -> None:
    app = app_at(empty_story)
    async with running(app) as pilot:
        await until(lambda: "No observations yet" in screen_text(app))
        assert "write down a finding yourself" in screen_text(app)
        await pilot.press("P")
        await until(lambda: "The scratchpad is empty" in screen_text(app))


async def test_where_it_is_narrow_one_list_is_shown_and_names_the_others(noted: Story) -> None:
    app = app_at(noted)
    async with running(app, (80, 24)) as pilot:
        await rest(app)
        text = screen_text(app)
        assert "findings 3  insights 1  lessons 2" in text
        assert "Drop indexes" not in text
        await pilot.press("l", "l")
        await until(lambda: "Drop indexes before a migration" in screen_text(app))
        assert [table.display for table in columns(app).query(RowTable)] == [False, False, True]
        await pilot.press("slash", *"graphql", "enter")
        await until(lambda: "REST is simpler" in screen_text(app))  # goes to the list that has it


async def test_a_window_that_grows_shows_all_three(noted: Story) -> None:
    app = app_at(noted)
    async with running(app, (80, 24)) as pilot:
        await rest(app)
        await pilot.resize_terminal(130, 30)
        await until(
            lambda: all(words in screen_text(app) for words in ("PostgreSQL is", "REST is", "Drop indexes"))
        )


async def test_the_verbs_act_on_the_list_with_the_cursor(noted: Story) -> None:
    app = app_at(noted)
    async with running(app) as pilot:
        await rest(app)
        await pilot.press("l", "c")
        await until(lambda: observations(noted)[INSIGHTS[0]].protected)
        await pilot.press("l", "space", "space", "x")
        await until(lambda: not observations(noted, "category:lesson"))
        assert len(observations(noted)) == 4
        await until(lambda: "lessons 0" in screen_text(app))
        await pilot.press("u")
        await until(lambda: len(observations(noted, "category:lesson")) == 2)


async def test_a_correction_keeps_category_and_source(noted: Story) -> None:
    app = app_at(noted)
    async with running(app) as pilot:
        await rest(app)
        await pilot.press("e")
        await until(lambda: there(app, CorrectDialog))
        app.screen.query_one(TextArea).text = "PostgreSQL is at 16.1"
        await pilot.press("ctrl+s")
        await until(lambda: "PostgreSQL is at 16.1" in observations(noted))
        new = observations(noted)["PostgreSQL is at 16.1"]
        assert (new.category, new.source) == ("finding", "GOAL:probe")
        await until(lambda: (now := columns(app).current) is not None and now.id == new.id)


async def test_a_new_one_is_of_the_category_of_its_list(noted: Story) -> None:
    app = app_at(noted)
    async with running(app) as pilot:
        await rest(app)
        await pilot.press("l", "l", "a")
        await until(lambda: there(app, AddObservation))
        assert "Write down a lesson" in screen_text(app)
        app.screen.query_one(TextArea).text = "Ask before deleting"
        app.screen.query_one(Input).value = "work"
        await pilot.press("ctrl+s")
        await until(lambda: "Ask before deleting" in observations(noted, "category:lesson tag:work"))
        assert observations(noted)["Ask before deleting"].trust == "user"


async def test_at_leads_to_everything_about_the_people_in_it(noted: Story) -> None:
    app = app_at(noted)
    async with running(app) as pilot:
        await rest(app)
        await pilot.press("j")
        await until(lambda: (row := columns(app).table.selected) is not None and row.entities)
        await pilot.press("at")
        await until(lambda: app.main.active == "entities")
        await until(lambda: "Ada · person" in screen_text(app))
        await until(lambda: "Ada is allergic to walnuts" in screen_text(app))
        await pilot.press("escape")
        await until(lambda: app.main.active == "observations" and columns(app).table.has_focus)


async def test_what_an_agent_notes_meanwhile_appears_and_the_cursor_stays(noted: Story) -> None:
    app = app_at(noted)
    async with running(app) as pilot:
        await rest(app)
        await pilot.press("j")
        before = columns(app).current
        with noted.open(actor="agent:scout") as agent:
            agent.observations.remember(["A new finding comes in"])
            agent.scratchpad.set("news", "x")
        await until(lambda: "A new finding" in screen_text(app))
        await rest(app)
        after = columns(app).current
        assert before is not None and after is not None and before.id == after.id
        await pilot.press("P")
        await until(lambda: "news" in screen_text(app))


# -- the scratchpad


async def test_the_second_tab_lists_keys_and_tells_who_wrote_what(noted: Story) -> None:
    app = app_at(noted)
    async with running(app) as pilot:
        await rest(app)
        await pilot.press("P")
        await until(lambda: "written by agent:scout" in screen_text(app))
        text = screen_text(app)
        assert text.index("task") < text.index("api.limit")  # the last written first
        assert "then change the entry" in text and "2 keys" in text
        labels = {key.label for key in app.main.query_one(KeyBar).keys}
        assert {"change", "delete", "add"} <= labels and not labels & {"correct", "confirm", "forget"}
        await pilot.press("P")
        await until(lambda: "6 observations" in screen_text(app))
        assert columns(app).table.has_focus


async def test_a_search_looks_in_keys_and_texts(noted: Story) -> None:
    app = app_at(noted)
    async with running(app) as pilot:
        await pilot.press("P")
        await until(lambda: pad(app).table.selected is not None)
        await pilot.press("slash", *"MINUTE", "enter")
        await until(lambda: pad(app).table.row_count == 1)
        assert "api.limit" in screen_text(app)
        await pilot.press("slash", *"zzz")
        await until(lambda: "No key or text has this in it" in screen_text(app))
        await pilot.press("escape", "escape")
        await until(lambda: pad(app).table.row_count == 2)


def value(story: Story, key: str) -> str | None:
    with story.open(readonly=True) as memory:
        found = [note.value for note in memory.scratchpad.search() if note.key == key]
        return found[0] if found else None


async def test_a_text_is_changed_in_place_and_the_change_undone(noted: Story) -> None:
    app = app_at(noted)
    async with running(app) as pilot:
        await pilot.press("P")
        await until(lambda: pad(app).table.selected is not None)
        await pilot.press("e")
        await until(lambda: there(app, NoteDialog))
        area = app.screen.query_one(TextArea)
        assert area.text == "first ask Ada\nthen change the entry"
        area.text = "ask Ben"
        await pilot.press("escape")
        await until(lambda: "Esc again throws it away" in screen_text(app))
        await pilot.press("ctrl+s")
        await until(lambda: value(noted, "task") == "ask Ben")
        await until(lambda: "written by you" in screen_text(app))
        await pilot.press("u")
        await until(lambda: value(noted, "task") == "first ask Ada\nthen change the entry")


async def test_a_key_is_added_and_deleted(noted: Story) -> None:
    app = app_at(noted)
    async with running(app) as pilot:
        await pilot.press("P")
        await until(lambda: pad(app).table.selected is not None)
        await pilot.press("a")
        await until(lambda: there(app, NoteDialog))
        await pilot.press("ctrl+s")
        await until(lambda: "Give it a key first" in screen_text(app))
        await pilot.press(*"plan", "enter", *"walk", "ctrl+s")
        await until(lambda: value(noted, "plan") == "walk")
        await until(lambda: (row := pad(app).table.selected) is not None and row.key == "plan")
        await pilot.press("x")
        await until(lambda: value(noted, "plan") is None)
        await until(lambda: "Deleted “plan”" in screen_text(app))
        await pilot.press("u")
        await until(lambda: value(noted, "plan") == "walk")


async def test_a_text_that_an_agent_changed_meanwhile_is_not_overwritten_unseen(noted: Story) -> None:
    app = app_at(noted)
    async with running(app) as pilot:
        await pilot.press("P")
        await until(lambda: pad(app).table.selected is not None)
        await pilot.press("e")
        await until(lambda: there(app, NoteDialog))
        with noted.open(actor="agent:scout") as agent:
            agent.scratchpad.set("task", "done already")
        app.screen.query_one(TextArea).text = "mine"
        await pilot.press("ctrl+s")
        await until(lambda: "“done already”" in screen_text(app))
        assert value(noted, "task") == "done already"
        assert app.screen.query_one(TextArea).text == "mine"
        await pilot.press("ctrl+s")
        await until(lambda: value(noted, "task") == "mine")


async def test_adding_a_key_that_is_there_shows_its_text_first(noted: Story) -> None:
    app = app_at(noted)
    async with running(app) as pilot:
        await pilot.press("P")
        await until(lambda: pad(app).table.selected is not None)
        await pilot.press("a")
        await until(lambda: there(app, NoteDialog))
        await pilot.press(*"task", "enter", *"x", "ctrl+s")
        await until(lambda: "first ask Ada" in screen_text(app) and there(app, NoteDialog))
        await pilot.press("escape")
        await until(lambda: "Nothing was written" in screen_text(app))
        assert value(noted, "task") == "first ask Ada\nthen change the entry"


async def test_a_text_is_changed_in_the_editor(
    noted: Story, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = tmp_path / "editor"
    script.write_text('#!/bin/sh\nprintf "from the editor" > "$1"\n')
    script.chmod(0o700)
    monkeypatch.setenv("EDITOR", str(script))
    monkeypatch.delenv("VISUAL", raising=False)
    app = app_at(noted)
    async with running(app) as pilot:
        monkeypatch.setattr(app, "suspend", lambda: _nothing())
        await pilot.press("P")
        await until(lambda: pad(app).table.selected is not None)
        await pilot.press("o")
        await until(lambda: value(noted, "task") == "from the editor")


class _nothing:  # noqa: N801
    def __enter__(self) -> None: ...
    def __exit__(self, *_: object) -> None: ...


async def test_read_only_nothing_is_offered_that_writes(noted: Story) -> None:
    app = app_at(noted, readonly=True)
    async with running(app) as pilot:
        await pilot.press("P")
        await until(lambda: pad(app).table.selected is not None)
        labels = {key.label for key in app.main.query_one(KeyBar).keys}
        assert not labels & {"change", "delete", "add"}
        await pilot.press("x")
        await until(lambda: "reading only" in screen_text(app))
        assert value(noted, "task") is not None


HOSTILE = [
    "\x1b]52;c;ZXZpbA==\x07 clipboard", "\x1b[2J\x9b31m red", "[bold]x[/bold] [/] [@click=app.quit]y[/]",
    "\u202egnp.txt \u2066iso\u200b", "\U000e0041 tags", "漢字かな交じり文 " * 30, "$accent {x} \\[ ]",
    "line\r\nbreak\n\n\nx", "word" * 3000,
]  # fmt: skip


@pytest.mark.hostile
@pytest.mark.parametrize("size", [(120, 40), (44, 14)])
async def test_hostile_observations_and_entries_are_only_text(story: Story, size: tuple[int, int]) -> None:
    with story.open() as memory:
        for number, payload in enumerate(HOSTILE):
            memory.observations.remember([payload], [payload], [payload], source=payload[:400])
            memory.scratchpad.set(f"key{number}", payload)
        with memory._core.connections.write() as connection:  # what no door lets in
            connection.execute("UPDATE scratchpad SET key = key || char(27) || '[31m[/]' || char(8238)")
    app = app_at(story)
    async with running(app, size) as pilot:
        await rest(app)
        for key in "jjjjjjjjll":
            await pilot.press(key)
            assert_harmless(app)
        await settle(app)
        assert_harmless(app)
        await pilot.press("slash", *"x[/]", "enter", "P")
        await still(app)
        assert_harmless(app)
        for _ in HOSTILE:
            await pilot.press("j")
            await still(app, 0.08)
            assert_harmless(app)
        await pilot.press("e")
        await until(lambda: there(app, NoteDialog))
        assert_harmless(app)


def assert_harmless(app: MemtuiApp) -> None:
    for line in screen_text(app).split("\n"):
        assert without_control_characters(line) == line
