"""Sessions: what waits first, the conversation beside the list, and the way to a turn in it."""

from __future__ import annotations

import pytest
from memtui.ui.app import MemtuiApp
from memtui.ui.panes.sessions.pane import SessionsPane
from memtui.ui.panes.sessions.transcript import TranscriptView
from memtui.ui.state import UiState
from ui_story import DAY, NOW, Story, running, screen_text, settle, until

HOSTILE = "\x1b]52;c;aGk=\x07[@click=app.quit]x[/] \u202eevil [/"


def sessions(app: MemtuiApp) -> SessionsPane:
    pane = app.main.pane
    assert isinstance(pane, SessionsPane)
    return pane


def turns(app: MemtuiApp) -> TranscriptView:
    return sessions(app).transcript_side.transcript_view


async def read(app: MemtuiApp) -> None:
    """Let the conversation arrive."""
    await settle(app)
    await until(lambda: turns(app)._whole)


def at_sessions(story: Story) -> MemtuiApp:
    state = UiState(None)
    state.pane = "sessions"
    return story.app(state=state)


def consolidate(story: Story, session: str) -> None:
    from memtui.engine.store import sessions

    with story.open() as memory, memory._core.connections.write() as connection:
        sessions.mark_consolidated(connection, session, NOW - DAY)


async def test_what_waits_is_first_and_marked_and_counted_on_the_tab(story: Story) -> None:
    consolidate(story, "work")
    app = at_sessions(story)
    async with running(app):
        await read(app)
        text = screen_text(app)
        assert text.index("trip") < text.index("work")
        assert "● trip" in text and "pending" in text
        assert "✓ work" in text and "done" in text
        assert "5 Sessions 1" in text
        assert "2 sessions" in text


async def test_the_conversation_is_beside_the_list_with_roles_and_times(story: Story) -> None:
    app = at_sessions(story)
    async with running(app) as pilot:
        await pilot.press("j")
        await read(app)
        text = screen_text(app)
        assert "you · 23 Oct 12:00" in text
        assert "assistant · 23 Oct 12:00" in text
        assert "not consolidated yet" in text


async def test_consolidated_turns_are_marked_and_new_ones_are_not(story: Story) -> None:
    consolidate(story, "work")
    with story.open() as memory:
        memory.record_turn("work", "assistant", "Moved it.")
    app = at_sessions(story)
    async with running(app, (140, 40)):
        await read(app)
        text = screen_text(app)
        assert text.count("● not consolidated") == 1
        assert "new turns since 21 Nov" in text


async def test_a_turn_shows_the_facts_that_were_drawn_from_it(story: Story) -> None:
    with story.open() as memory:
        memory.record_turn(
            "nuts", "user", "My sister Ana is allergic to walnuts. I work at Lumen.", NOW - DAY
        )
        await memory.sessions.consolidate("nuts")
        fact = next(one for one in memory.view.page("kind:fact") if "walnuts" in one.content)
        memory.forget(fact.id)
    app = at_sessions(story)
    async with running(app, (120, 40)) as pilot:
        await pilot.press("slash", *"nuts", "enter")
        await until(lambda: "◆ I work at Lumen" in screen_text(app))
        assert "forgotten My sister" in screen_text(app)
        await pilot.press("enter")
        await until(lambda: "◆ I work at Lumen" in screen_text(app))


async def test_enter_gives_it_the_window_and_a_filter_of_its_own(story: Story) -> None:
    app = at_sessions(story)
    async with running(app) as pilot:
        await pilot.press("j", "enter")
        await read(app)
        assert turns(app).has_focus and not sessions(app).query_one(".list-side").display
        await pilot.press("slash", *"under six")
        await until(lambda: len(turns(app)._turns) == 1)
        await until(lambda: "1 turn" in screen_text(app))
        await pilot.press("enter", "escape")
        await until(lambda: len(turns(app)._turns) == 2)
        await pilot.press("escape")
        assert sessions(app).table.has_focus


async def test_a_mistake_in_that_filter_is_pointed_at(story: Story) -> None:
    app = at_sessions(story)
    async with running(app) as pilot:
        await pilot.press("enter", "slash", *"knd:fact")
        await until(lambda: "There is no" in screen_text(app) or "kind" in screen_text(app))
        assert app.screen is app.main


async def test_sessions_are_filtered_by_title_source_and_project(story: Story) -> None:
    app = at_sessions(story)
    async with running(app) as pilot:
        await pilot.press("slash", *"TRI", "enter")
        await until(lambda: sessions(app).table.row_count == 1)
        assert "1 of 2" in screen_text(app)
        await pilot.press("slash", *"zzz", "enter")
        await until(lambda: "No session passes this filter" in screen_text(app))


async def test_a_long_turn_unfolds_with_enter(story: Story) -> None:
    with story.open() as memory:
        memory.record_turn("work", "assistant", "\n".join(f"line {number}" for number in range(60)))
    app = at_sessions(story)
    async with running(app) as pilot:
        await pilot.press("enter", "G")
        await read(app)
        assert "… 52 more lines" in screen_text(app)
        await pilot.press("G", "enter")
        await until(lambda: "… 52 more lines" not in screen_text(app))


async def test_a_fact_leads_to_the_turn_where_it_was_said(story: Story) -> None:
    with story.open() as memory:
        for number in range(150):
            memory.record_turn("long", "user", f"this is turn {number} of a long talk", NOW - DAY + number)
    app = story.app()
    async with running(app) as pilot:
        await pilot.press("K", "slash", *'text:"turn 137"', "enter")
        await until(lambda: app.main.pane.query_one("#memories-rows").row_count == 1)  # type: ignore[attr-defined]
        await settle(app)
        await pilot.press("O")
        await until(lambda: app.main.active == "sessions" and "turn 137" in screen_text(app))
        assert turns(app).selected_turn.content == "this is turn 137 of a long talk"
        assert turns(app).has_focus


async def test_thousands_of_turns_open_at_once_and_end_at_the_last(story: Story) -> None:
    from memtui.engine.memories import turns as curate
    from memtui.engine.memories import validation
    from memtui.engine.store import history

    with story.open() as memory:
        taken = validation.check_text(
            "some words that were said\nand some more", "episode", memory.options.secrets
        )
        with history.operation(memory._core.connections, story.clock, "import", "import", "Imported") as op:
            for number in range(3_000):
                new = curate.NewTurn(
                    session_id="huge",
                    role="user",
                    intake=taken,
                    event_time=NOW - 20_000 + number,
                    trust="user",
                )
                curate.store_turn(op.connection, new, int(NOW))
    app = at_sessions(story)
    async with running(app) as pilot:
        await pilot.press("enter")
        await until(lambda: "some words" in screen_text(app))
        await until(lambda: turns(app)._whole)
        assert len(turns(app)._turns) == 3_000
        await pilot.press("G")
        assert turns(app).cursor == 2_999
        await until(lambda: f"{turns(app).glyphs.cursor}   some words" in screen_text(app))


async def test_a_turn_that_comes_in_appears_and_the_cursor_stays(story: Story) -> None:
    app = at_sessions(story)
    async with running(app) as pilot:
        await pilot.press("j", "enter", "j")
        await read(app)
        rid = turns(app).selected_rid
        memory = app.operations.require_memory()
        memory.record_turn("trip", "user", "One more thing about Ghent")
        await until(lambda: "One more thing about Ghent" in screen_text(app))
        assert turns(app).selected_rid == rid


@pytest.mark.hostile
@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 40), (200, 60)])
async def test_hostile_titles_and_turns_are_shown_and_do_nothing(story: Story, size: tuple[int, int]) -> None:
    with story.open() as memory:
        memory.record_turn(f"id {HOSTILE}", "user", HOSTILE, project=HOSTILE, source=HOSTILE)
        memory.record_turn(f"id {HOSTILE}", HOSTILE[:60], HOSTILE * 40)
    app = at_sessions(story)
    async with running(app, size) as pilot:
        await pilot.press("enter")
        await read(app)
        text = screen_text(app)
        assert "[@click" in text or size[0] == 40
        assert not any(sign in text for sign in "\x1b\x07\u202e")
        assert app.is_running


async def test_an_empty_memory_says_how_to_fill_it(empty_story: Story) -> None:
    app = at_sessions(empty_story)
    async with running(app):
        await until(lambda: "No conversations yet" in screen_text(app))
