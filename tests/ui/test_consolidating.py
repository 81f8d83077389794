"""Consolidation in the Sessions pane: run, preview line by line, skip, stop, what it would cost."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from memtui.engine.consolidation.extract.rules import KeywordExtractor
from memtui.engine.jobs.scheduler import Scheduler
from memtui.engine.memory import Memory
from memtui.engine.records import LlmOptions, Options
from memtui.engine.records.jobs import RunningJob
from memtui.ui.app import MemtuiApp
from memtui.ui.dialogs.choice import Question
from memtui.ui.dialogs.proposals import EditProposal, ProposalsDialog, ProposalTable
from memtui.ui.panes.sessions.pane import SessionsPane
from memtui.ui.panes.sessions.transcript import TranscriptView
from memtui.ui.state import UiState
from memtui.ui.theme import Appearance
from memtui.ui.widgets.bars import StatusLine
from memtui.ui.widgets.work_strip import WorkStrip
from textual.widgets import TextArea
from ui_story import DAY, NOW, Story, running, screen_text, settle, there, until

HOSTILE = "\x1b]52;c;aGk=\x07 [/] [@click=app.quit]x[/] \u202eevil"


@pytest.fixture
def talks(story: Story) -> Story:
    """Two more conversations that wait, the latest with three facts and a summary."""
    with story.open() as memory:
        story.now = NOW - 3 * DAY
        memory.record_turn("garden", "user", "I like gooseberries.")
        story.now = NOW - 2 * DAY
        memory.record_turn(
            "family",
            "user",
            "My sister is called Nadia. I am vegetarian. I work with Koos.\nCan you plan a family evening of games?",
        )
        memory.record_turn(
            "family", "assistant", f"{HOSTILE} We spoke of your family today, and of much else. " * 3
        )
    story.now = NOW
    return story


def at_sessions(story: Story, **given: Any) -> MemtuiApp:
    state = UiState(None)
    state.pane = "sessions"
    return story.app(state=state, **given)


def pane(app: MemtuiApp) -> SessionsPane:
    assert isinstance(app.main.pane, SessionsPane)
    return app.main.pane


def said(app: MemtuiApp) -> str:
    return app.main.query_one(StatusLine).said


def contents(story: Story, filter: str = "kind:fact") -> set[str]:
    with story.open(readonly=True) as memory:
        return {one.content for one in memory.view.page(filter)}


def pending(story: Story) -> set[str]:
    with story.open(readonly=True) as memory:
        return {session.session_id for session in memory.sessions.pending()}


async def previewed(app: MemtuiApp) -> ProposalsDialog:
    await until(lambda: there(app, ProposalsDialog))
    dialog = app.screen
    assert isinstance(dialog, ProposalsDialog)
    await until(lambda: dialog.query_one(ProposalTable).row_count > 0)
    return dialog


async def test_one_key_turns_a_conversation_into_facts_and_undo_makes_it_pending(talks: Story) -> None:
    app = at_sessions(talks)
    async with running(app) as pilot:
        await pilot.press("r")
        await until(lambda: said(app).startswith("Consolidated “family”: 3 facts"))
        assert "My sister is called Nadia" in contents(talks)
        assert "family" not in pending(talks)
        await pilot.press("u")
        await until(lambda: said(app).startswith("Undid: Consolidated"))
        assert "family" in pending(talks)


async def test_after_a_run_a_low_transcript_still_begins_with_what_the_session_is(talks: Story) -> None:
    app = at_sessions(talks)
    async with running(app, (80, 24)) as pilot:
        await pilot.press("r")
        await until(lambda: said(app).startswith("Consolidated “family”: 3 facts"))
        await until(lambda: "Plan a family evening" in screen_text(app))
        await settle(app)
        assert pane(app).query_one(TranscriptView).scroll_offset.y == 0
        assert "✓ consolidated 22 Nov" in screen_text(app)


async def test_marked_sessions_and_all_are_one_operation(talks: Story) -> None:
    app = at_sessions(talks)
    async with running(app) as pilot:
        await pilot.press("space", "space", "r")
        await until(lambda: said(app).startswith("Consolidated 2 sessions"))
        assert not {"family", "garden"} & pending(talks)
        await settle(app)
        await pilot.press("A")
        await until(lambda: not pending(talks))


async def test_a_preview_writes_only_what_was_accepted_as_it_was_edited(talks: Story) -> None:
    before = contents(talks)
    app = at_sessions(talks)
    async with running(app) as pilot:
        await pilot.press("d")
        dialog = await previewed(app)
        await settle(app)
        assert contents(talks) == before
        text = screen_text(app)
        assert (
            "4 of 4 lines accepted" in text
            and "read · by rules" in text
            and "“My sister is called Nadia." in text
        )
        await pilot.press("space")
        await until(lambda: "3 of 4 lines accepted" in screen_text(app))
        await pilot.press("e")
        await until(lambda: there(app, EditProposal))
        app.screen.query_one(TextArea).text = "I am vegetarian since March"
        await pilot.press("ctrl+s")
        await until(lambda: app.screen is dialog)
        await pilot.press("enter")
        await until(lambda: said(app).startswith("Consolidated “family”: 2 facts"))
    assert contents(talks) - before == {"I am vegetarian since March", "I work with Koos"}
    assert "family" not in pending(talks)


async def test_a_preview_shows_every_fact_that_a_new_one_contradicts(story: Story) -> None:
    with story.open() as memory:
        for place, text in enumerate(("The team standup is at 9:30.", "The Monday standup is at 9:30.")):
            story.now = NOW - (5 - place) * DAY
            memory.record_turn(f"old{place}", "user", text)
            await memory.consolidate(f"old{place}")
        story.now = NOW - 2 * DAY
        memory.record_turn("new", "user", "The standup is now at 10:15.")
    story.now = NOW
    app = at_sessions(story)
    async with running(app) as pilot:
        await pilot.press("d")
        await previewed(app)
        await until(lambda: "The standup is now at 10:15" in screen_text(app))
        await until(lambda: "also against" in screen_text(app))
        shown = screen_text(app)
        assert "team standup is at 9:30" in shown and "Monday standup is at 9:30" in shown


async def test_a_preview_shows_no_secret_of_the_turns(talks: Story) -> None:
    with talks.open() as memory:
        talks.now = NOW - 2 * DAY + 60
        memory.record_turn("home", "user", "We moved to Oslo, and my wifi password is Blaukraut!77.")
    talks.now = NOW
    app = at_sessions(talks)
    async with running(app) as pilot:
        await pilot.press("d")
        await previewed(app)
        await until(lambda: "“We moved to Oslo" in screen_text(app))
        text = screen_text(app)
        assert text.count("[redacted: password]") >= 2
        assert "Blaukraut" not in text
        await pilot.press("e")
        await until(lambda: there(app, EditProposal))
        await settle(app)
        assert "Blaukraut" not in screen_text(app)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_in_ascii_a_preview_has_no_signs_of_others(talks: Story, size: tuple[int, int]) -> None:
    app = at_sessions(talks, look=Appearance(ascii=True, motion=False))
    async with running(app, size) as pilot:
        await pilot.press("d")
        await previewed(app)
        await settle(app)
        assert not set("─│╭╮╰╯·…“”✓") & set(screen_text(app))


async def test_discarding_a_preview_writes_nothing_and_asks_when_it_was_worked_on(talks: Story) -> None:
    app = at_sessions(talks)
    async with running(app) as pilot:
        await pilot.press("d")
        await previewed(app)
        await pilot.press("escape")
        await until(lambda: "Discarded" in said(app))
        await pilot.press("d")
        dialog = await previewed(app)
        await pilot.press("*", "escape")
        await until(lambda: there(app, Question))
        await pilot.press("n")
        await until(lambda: app.screen is dialog)
        await pilot.press("escape", "y")
        await until(lambda: app.screen is app.main)
    assert "family" in pending(talks)


async def test_skipping_counts_a_session_as_done_without_facts(talks: Story) -> None:
    before = contents(talks)
    app = at_sessions(talks)
    async with running(app) as pilot:
        await pilot.press("s")
        await until(lambda: "Skipped" in said(app))
        await until(lambda: "skipped: counted as done" in screen_text(app))
    assert contents(talks) == before
    assert "family" not in pending(talks)


async def test_a_session_that_is_done_says_why_it_cannot_run(talks: Story) -> None:
    with talks.open() as memory:
        await memory.consolidate("family")
    app = at_sessions(talks)
    async with running(app) as pilot:
        await pilot.press("G", "r")
        await until(lambda: "consolidated already" in said(app))


async def test_stop_ends_a_run_that_waits_for_a_model_and_the_session_stays_pending(
    talks: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def wait(*_: Any) -> None:
        await asyncio.sleep(600)

    monkeypatch.setattr(KeywordExtractor, "extract", wait)
    app = at_sessions(talks)
    async with running(app) as pilot:
        await pilot.press("r")
        await until(lambda: app.main.pane.query(WorkStrip))
        await until(lambda: "0 of 1" in screen_text(app) and "ctrl+x stop" in screen_text(app))
        await pilot.press("r")
        await until(lambda: "A consolidation is running" in said(app))
        await pilot.press("ctrl+x")
        await until(lambda: said(app).startswith("Stopped"))
        await until(lambda: not app.main.pane.query(WorkStrip))
    assert "family" in pending(talks)


async def test_while_the_job_consolidates_by_itself_it_is_said_and_can_be_stopped(
    talks: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped = []
    running_job = RunningJob(job="consolidation", started_at=NOW, done=3, total=27)
    monkeypatch.setattr(Scheduler, "running", property(lambda self: running_job))
    monkeypatch.setattr(Scheduler, "cancel", lambda self: stopped.append(True))
    app = at_sessions(talks)
    async with running(app) as pilot:
        await pilot.press("A")
        await until(lambda: "background consolidation is running (3 of 27): ctrl+x stops it" in said(app))
        await pilot.press("ctrl+x")
        await until(lambda: "It stops soon" in said(app))
    assert stopped


async def test_with_a_model_the_cost_is_asked_first_and_a_failure_is_told_and_kept(
    talks: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    llm = LlmOptions(base_url="http://127.0.0.1:9", model="tiny-1", timeout=2)
    state = UiState(None)
    state.pane = "sessions"
    app = MemtuiApp(
        lambda: Memory.open(talks.path, clock=talks.clock, options=Options(background=False, llm=llm)),
        look=Appearance(motion=False), clock=talks.clock, state=state,
    )  # fmt: skip
    async with running(app) as pilot:
        await pilot.press("r")
        await until(lambda: there(app, Question))
        await until(lambda: "Let tiny-1 read 1 session?" in screen_text(app))
        text = screen_text(app)
        assert "127.0.0.1:9" in text and "At most 200,000 tokens" in text
        await pilot.press("n")
        await until(lambda: app.screen is app.main)
        await pilot.press("r")
        await until(lambda: there(app, Question))
        await pilot.press("y")
        await until(lambda: "1 session failed and still waits" in said(app))
        await until(
            lambda: there(app, Question) and "The model could not read 1 conversation" in screen_text(app)
        )
        await pilot.press("n")
        await until(lambda: app.screen is app.main)
        await settle(app)
        await until(
            lambda: "consolidating failed (1 try)" in screen_text(app)
        )  # in the list's own words, not the toast's
        await until(lambda: "Check llm.base_url" in " ".join(screen_text(app).split()))
        await until(lambda: "b reads it by rules now" in " ".join(screen_text(app).split()))
        assert "family" in pending(talks)
        await pilot.press("b")
        await until(lambda: "family" not in pending(talks))
        await until(lambda: "by rules" in screen_text(app))
    assert "My sister is called Nadia" in contents(talks)


async def test_the_question_after_a_failure_reads_by_rules_at_once(
    talks: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    llm = LlmOptions(base_url="http://127.0.0.1:9", model="tiny-1", timeout=2)
    state = UiState(None)
    state.pane = "sessions"
    app = MemtuiApp(
        lambda: Memory.open(talks.path, clock=talks.clock, options=Options(background=False, llm=llm)),
        look=Appearance(motion=False), clock=talks.clock, state=state,
    )  # fmt: skip
    async with running(app) as pilot:
        await pilot.press("d")
        await until(lambda: there(app, Question))
        await pilot.press("y")
        await until(
            lambda: there(app, Question) and "The model could not read 1 conversation" in screen_text(app)
        )
        await pilot.press("y")
        dialog = await previewed(app)
        assert dialog is app.screen and "family" in pending(talks)
        await pilot.press("enter")
        await until(lambda: said(app).startswith("Consolidated “family”: 3 facts"))
        await until(
            lambda: "read by rules: a reads it again with tiny-1" in " ".join(screen_text(app).split())
        )


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_reading_again_shows_the_difference_and_leaves_what_was_decided(
    talks: Story, size: tuple[int, int]
) -> None:
    with talks.open() as memory:
        await memory.consolidate("family")
        drawn = {one.content: one for one in memory.view.page("kind:fact session:family")}
        sister, koos = drawn["My sister is called Nadia"], drawn["I work with Koos"]
        memory.correct(sister.id, "My sister is called Nadja")
        with memory._core.change("test", "Worded otherwise") as op:
            op.connection.execute(
                "UPDATE memories SET content = ? WHERE rid = ?", ("I work with Jan and Piet", koos.rid)
            )
            op.connection.execute("UPDATE ops SET actor = 'scheduler' WHERE op_id = ?", (op.op_id,))
    app = at_sessions(talks)
    async with running(app, size) as pilot:
        await pilot.press("/", *"family", "enter")
        await settle(app)
        await pilot.press("a")
        await previewed(app)
        await settle(app)
        text = screen_text(app)
        assert "What reading again would change of family" in text
        assert "reword" in text and "I work with Koos" in text and "unchanged" in text
        await pilot.press("enter")
        await until(lambda: said(app).startswith("Read “family” again"))
    found = contents(talks)
    assert {"My sister is called Nadja", "I work with Koos", "I am vegetarian"} <= found
    assert not {"My sister is called Nadia", "I work with Jan and Piet"} & found


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 40), (200, 60)])
async def test_hostile_proposals_are_shown_harmless_at_every_size(
    talks: Story, size: tuple[int, int]
) -> None:
    app = at_sessions(talks)
    async with running(app, size) as pilot:
        await pilot.press("d")
        await previewed(app)
        await pilot.press("G")
        await until(lambda: "summary" in screen_text(app))
        text = screen_text(app)
        assert "\x1b" not in text and "\u202e" not in text and "\x07" not in text
        assert all(len(line) <= size[0] for line in text.splitlines())
        assert "Space accept" in text


async def test_leaving_the_app_ends_a_run_that_waits_for_a_model(
    talks: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def wait(*_: Any) -> None:
        await asyncio.sleep(600)

    monkeypatch.setattr(KeywordExtractor, "extract", wait)
    app = at_sessions(talks)
    async with asyncio.timeout(50), running(app) as pilot:
        await pilot.press("r")
        await until(lambda: app.main.pane.query(WorkStrip))
    assert "family" in pending(talks)
