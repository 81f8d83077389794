"""Maintenance: jobs that run, dry-run, stop and are taken back; plots; health; findings that open their rows."""

from __future__ import annotations

import dataclasses
import threading
from pathlib import Path

import pytest
from memtui import config
from memtui.engine.jobs.job import JobReport, Task
from memtui.engine.jobs.scheduler import Scheduler
from memtui.engine.jobs.timetable import JOBS
from memtui.engine.memory import Memory
from memtui.engine.namespaces.files import Files
from memtui.engine.records import CheckReport, EmbeddingOptions, Finding, Options, RowsOf
from memtui.engine.records.jobs import JobRun, JobStatus
from memtui.present.glyphs import ASCII, UNICODE
from memtui.present.job import run_outcome_line, run_result_role, run_trigger_text
from memtui.ui.app import MemtuiApp
from memtui.ui.dialogs.choice import Question
from memtui.ui.panes.maintenance.pane import MaintenancePane
from memtui.ui.panes.maintenance.rows import MaintenanceRow, maintenance_columns
from memtui.ui.presenters.plots import PlotBar, bar_chart, column_chart, resample_values
from memtui.ui.state import UiState
from memtui.ui.widgets.bars import KeyBar, StatusLine
from memtui.ui.widgets.row_table import RowTable
from memtui.ui.widgets.work_strip import WorkStrip
from textual.app import App, ComposeResult
from ui_story import DAY, NOW, Story, memories, running, screen_text, settle, there, until

from endpoint import Endpoint, embed

HOSTILE = "\x1b]52;c;aGk=\x07 [/] [@click=app.quit]x[/] \u202eevil"


def pane(app: MemtuiApp) -> MaintenancePane:
    assert isinstance(app.main.pane, MaintenancePane)
    return app.main.pane


def at_maintenance(story: Story, **given: object) -> MemtuiApp:
    state = UiState(None)
    state.pane = "maintenance"
    return story.app(state=state, **given)


def said(app: MemtuiApp) -> str:
    return app.main.query_one(StatusLine).said


async def ready(app: MemtuiApp) -> None:
    await until(lambda: pane(app).jobs.state is not None)
    await settle(app)


async def go_to(app: MemtuiApp, name: str) -> None:
    """Put the cursor on the row with this name."""
    await ready(app)
    rows = pane(app).source("", ("", False)).page_rows(0, 500)
    pane(app).table.select_key(next(row.key for row in rows if row.name_cell.strip() == name))
    await settle(app)


async def test_a_filter_says_how_many_lines_of_how_many_it_leaves(story: Story) -> None:
    app = at_maintenance(story)
    async with running(app):
        await ready(app)
        lines = pane(app).table.row_count
        jobs = f"{len(pane(app).jobs.state.status.jobs)} jobs"  # type: ignore[union-attr]
        assert jobs in screen_text(app)
        for words, left in (("nothinghasthis", 0), ("decay", 1)):
            pane(app).filter_bar.set_filter(words)
            await until(lambda: f"{left} of {lines} lines · {words}" in screen_text(app))  # noqa: B023
            assert screen_text(app).count(f"{left} of {lines}") == 2, "beside the filter too"
        pane(app)._show_running()  # as it does while a job runs
        await settle(app)
        assert f"1 of {lines} lines" in screen_text(app) and jobs not in screen_text(app)
        pane(app).filter_bar.set_filter("")
        await until(lambda: jobs in screen_text(app))


@pytest.fixture
def faded(story: Story) -> Story:
    """Two facts of an agent that faded long ago, one of them hostile."""
    story.now = NOW - 60 * DAY
    with story.open(actor="agent:other") as agent:
        agent.remember("Wanted to learn the accordion")
        agent.remember(f"Kept bees {HOSTILE}")
    story.now = NOW
    return story


def in_trash(story: Story) -> set[str]:
    with story.open(readonly=True) as memory:
        return {one.content for one in memory.view.page("is:trash") if one.ended_by == "faded"}


async def test_jobs_tell_when_they_come_and_the_preview_what_they_are_for(faded: Story) -> None:
    app = at_maintenance(faded)
    async with running(app):
        await go_to(app, "Decay")
        text = screen_text(app)
        assert "04:00" in text and "in 16h" in text
        assert "Moves facts that have faded" in text and "it has not run yet" in text


async def test_words_that_are_in_no_row_say_so(faded: Story) -> None:
    app = at_maintenance(faded)
    async with running(app) as pilot:
        await ready(app)
        await pilot.press("slash", *"zzz")
        await until(lambda: "Nothing here has these words." in screen_text(app))
        assert "Reading" not in screen_text(app)


async def test_a_dry_run_names_what_would_fade_and_changes_nothing(faded: Story) -> None:
    app = at_maintenance(faded)
    async with running(app) as pilot:
        await go_to(app, "Decay")
        await pilot.press("d")
        await until(lambda: "would fade 2 facts" in screen_text(app))
        await until(lambda: "Wanted to learn the accordion" in screen_text(app))
        assert said(app) == "Decay, dry run: would fade 2 facts"
    assert not in_trash(faded)


async def test_a_run_is_listed_and_taken_back_as_a_whole(faded: Story) -> None:
    app = at_maintenance(faded)
    async with running(app) as pilot:
        await go_to(app, "Decay")
        await pilot.press("r")
        await until(lambda: said(app) == "Decay: faded 2 facts")
        assert len(in_trash(faded)) == 2
        await until(lambda: pane(app).jobs.state is not None and len(pane(app).jobs.state.runs) == 1)
        await until(lambda: "2 rows; U takes all of it back" in screen_text(app))
        await pilot.press("U")
        await until(lambda: there(app, Question))
        await pilot.press("y")
        await until(lambda: not in_trash(faded))
        await until(lambda: "all of it was taken back by you" in screen_text(app))


async def test_a_job_is_switched_off_and_on(faded: Story) -> None:
    app = at_maintenance(faded)
    async with running(app) as pilot:
        await go_to(app, "Decay")
        await pilot.press("s")
        await until(lambda: "switched off" in screen_text(app))
        with faded.open(readonly=True) as memory:
            assert [job.name for job in memory.jobs.status().jobs if not job.enabled] == [
                "decay",
                "retention",
            ]
        await pilot.press("s")
        await until(lambda: "Decay is on" in said(app))


async def test_a_long_run_shows_how_far_it_is_and_can_be_stopped(
    faded: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = threading.Event()

    def slowly(task: Task) -> JobReport:
        task.progress(3, 12)
        begun.set()
        while not task.cancelled():
            threading.Event().wait(0.01)
        return JobReport(summary="did 3 of 12")

    jobs = tuple(dataclasses.replace(job, run=slowly) if job.name == "decay" else job for job in JOBS)
    monkeypatch.setitem(Scheduler.__init__.__kwdefaults__, "timetable", jobs)
    app = at_maintenance(faded)
    async with running(app) as pilot:
        await go_to(app, "Decay")
        await pilot.press("r")
        await until(begun.is_set)
        await until(lambda: "3 of 12" in screen_text(app) and app.main.pane.query(WorkStrip))
        await pilot.press("r")
        await until(lambda: "is running" in said(app))
        await pilot.press("ctrl+x")
        await until(lambda: said(app) == "Decay: did 3 of 12")
        await until(
            lambda: pane(app).jobs.state is not None and pane(app).jobs.state.runs[0].state == "cancelled"
        )


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Fading", "2 facts faded already"),
        ("Over time", "turns of conversations"),
        ("Confidence", "confirmed: they do not fade"),
        ("Models", "found by rules"),
        ("Problems", "look"),
        ("File check", "checks it now"),
        ("Tokens", "0 tokens in 30 days"),
    ],
)
async def test_what_is_known_about_the_memory_is_drawn(faded: Story, name: str, shown: str) -> None:
    app = at_maintenance(faded)
    async with running(app):
        await go_to(app, name)
        await until(lambda: shown in screen_text(app))


async def test_findings_of_a_check_open_the_rows_they_are_about(
    faded: Story, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with faded.open(readonly=True) as memory:
        one = memory.view.page("kind:fact")[0]
    finding = Finding(
        check="links", severity="error", message=f"broken {HOSTILE}", repairable=True, ids=(one.id,), total=1,
        about="memories", remedy="mend it",
    )  # fmt: skip
    report = CheckReport(ok=False, checks=("links",), findings=(finding,))
    monkeypatch.setattr(Files, "check", lambda self: report)
    state = UiState(tmp_path / "state")
    state.pane = "maintenance"
    app = faded.app(state=state)
    async with running(app) as pilot:
        await go_to(app, "File check")
        assert "never checked here" in screen_text(app)
        await pilot.press("r")
        await until(lambda: "not sound" in said(app))
        await until(lambda: "1 finding, checked just now" in screen_text(app))
        await settle(app)
        await pilot.press("enter")
        await until(
            lambda: pane(app).table.selected is not None and pane(app).table.selected.finding == finding
        )
        assert "\x1b" not in screen_text(app)
        await pilot.press("enter")
        await until(lambda: app.main.active == "memories")
        await until(lambda: memories(app).table.row_count == 1)
        assert memories(app).filter_text.startswith(f"id:{one.id}")
    # The next start knows when it was, and how many there were.
    faded.now += 3 * DAY
    kept = UiState(tmp_path / "state")
    kept.pane = "maintenance"
    app = faded.app(state=kept)
    async with running(app):
        await go_to(app, "File check")
        assert "1 finding, checked 3d ago" in screen_text(app)


async def test_reading_only_looks_and_runs_nothing(faded: Story) -> None:
    app = at_maintenance(faded, readonly=True)
    async with running(app) as pilot:
        await go_to(app, "Decay")
        for key in ("r", "s", "U"):
            await pilot.press(key)
            await until(lambda: "reading only" in said(app) or "works on a run" in said(app))
        await pilot.press("d")
        await until(lambda: "would fade 2 facts" in screen_text(app))


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 40), (200, 60)])
async def test_every_line_is_harmless_and_fits_at_every_size(faded: Story, size: tuple[int, int]) -> None:
    with faded.open() as memory:
        memory.jobs.run_now("decay")
    app = at_maintenance(faded)
    async with running(app, size) as pilot:
        await ready(app)
        for _ in range(14):
            await pilot.press("j")
            await settle(app)
            text = screen_text(app)
            assert "\x1b" not in text and "\u202e" not in text
            assert all(len(line) <= size[0] for line in text.splitlines())


# -- plots


def test_values_are_stretched_and_gathered_without_losing_the_highest() -> None:
    assert resample_values([1, 2], 4) == [1, 1, 2, 2]
    assert resample_values([1, 9, 2, 3], 2) == [9, 3]
    assert resample_values([1, 2, 3], 2, sum) == [1, 5]
    assert resample_values([], 5) == []


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII])
def test_plots_keep_to_their_width_whatever_the_numbers(glyphs: object) -> None:
    for values in ([], [0], [0, 0, 0], [10**9, 1], list(range(300))):
        lines = column_chart(values, 30, 4, glyphs, "$accent", ends=("1 January 2025", "today"))  # type: ignore[arg-type]
        assert len(lines) == 5
        assert all(line.cell_length <= 30 for line in lines)
    drawn = bar_chart([PlotBar("a", 1, 10**9), PlotBar("bc", 0, 0)], 30, glyphs, ("$accent", "$text"))  # type: ignore[arg-type]
    assert drawn[1].plain.strip() == "bc"


def test_a_run_in_which_sessions_failed_says_so() -> None:
    report = JobReport(
        summary="consolidated 0 sessions", counts={"sessions": 0, "failed": 2}, notes=("no key",)
    )
    run = JobRun(
        run_id=1, job="consolidation", period="slot:29921967", state="done", started_at=NOW, report=report
    )
    assert (run_outcome_line(run), run_result_role(run), run_trigger_text(run)) == (
        "2 sessions failed",
        "warning",
        "by itself",
    )
    job = JobStatus(
        name="consolidation", label="", about="", schedule="", enabled=True, next_due=None, last=run
    )
    sign = maintenance_columns(UNICODE, lambda: NOW, lambda row: "")[0]
    for row in (MaintenanceRow(1, run=run), MaintenanceRow(2, job=job)):
        assert [(piece.text, piece.role) for piece in sign.cell(row, 1)] == [("!", "warning")]


async def test_what_was_just_said_is_read_also_beside_work_that_goes_on() -> None:
    class Alone(App[None]):
        def compose(self) -> ComposeResult:
            yield StatusLine()

    app = Alone()
    async with app.run_test(size=(80, 3)):
        line = app.query_one(StatusLine)
        line.position_text, line.running = "7 jobs · consolidation is running 533 of 2,761", ("maintenance",)
        assert "533 of 2,761" in line.render().plain and "maintenance" in line.render().plain
        line.said, line.severity = "Consolidation is running: ctrl+x stops it.", "warning"
        assert "! Consolidation is running: ctrl+x stops it." in line.render().plain
        assert line.render().cell_length <= 80


async def test_questions_tell_whether_they_find_what_they_should(faded: Story) -> None:
    with faded.open() as memory:
        fact = memory.remember("Ada plays the cello")
        memory.questions.expect("what does Ada play?", fact.id)
        gone = memory.remember(f"Ada has a boat {HOSTILE}")
        memory.questions.expect("has Ada a boat?", gone.id)
        memory.forget(gone.id)
    app = at_maintenance(faded)
    async with running(app) as pilot:
        await go_to(app, "Questions")
        assert "Does search still find what it should?" in screen_text(app)
        await pilot.press("r")
        await until(lambda: "1 of 2 fail" in said(app))
        await until(lambda: "has Ada a boat?" in screen_text(app))
        await until(lambda: "It is in the Trash" in screen_text(app) and "#1" in screen_text(app))


async def test_another_embedding_model_is_previewed_and_gone_over_to(story: Story) -> None:
    with Endpoint(embed).in_thread() as endpoint:
        where = EmbeddingOptions(
            base_url=endpoint.url, model="tiny", key_env="MEMTUI_TEST_NO_KEY", dimensions=32, timeout=60.0
        )
        with story.open() as memory:
            memory.models.index_pending()
        options = Options(embedder="endpoint", endpoint=where, background=False)
        app = MemtuiApp(
            lambda: Memory.open(story.path, clock=story.clock, options=options),
            name="m",
            clock=story.clock,
            state=UiState(None),
        )
        app.state.pane = "memories"
        async with running(app) as pilot:
            await pilot.press("7")
            await until(lambda: isinstance(app.main.pane, MaintenancePane))
            await go_to(app, "Models")
            await until(lambda: "embeds them anew" in screen_text(app))
            assert "to re-embed" in screen_text(app)
            await pilot.press("r")
            await until(lambda: there(app, Question))
            text = screen_text(app)
            assert endpoint.url in text and "tiny@127.0.0.1" in text and "tokens" in text
            await pilot.press("n")
            assert all(len(set(one.texts)) == 1 for one in endpoint.requests), (
                "only sentences of memtui's own"
            )
            await pilot.press("r")
            await until(lambda: there(app, Question))
            await pilot.press("y")
            await until(lambda: said(app).startswith("Embedded"))
            await settle(app)
            await until(lambda: "to re-embed" not in screen_text(app))
            await pilot.press("r")
            await until(lambda: "already from the model in the settings" in said(app))


async def test_the_ranking_that_the_model_makes_possible_is_offered_where_the_models_are(
    story: Story, tmp_path: Path
) -> None:
    with story.open() as memory:
        memory.models.index_pending()
        with memory._core.connections.write() as connection:  # as if the model made vectors of words
            connection.execute(
                "UPDATE memory_metadata SET value = 64 WHERE key = 'embedding_word_dimensions'"
            )
    (tmp_path / "config.toml").touch()
    app = story.app(configuration=config.load(tmp_path / "config.toml", {}))
    async with running(app) as pilot:
        await pilot.press("7")
        await until(lambda: isinstance(app.main.pane, MaintenancePane))
        await go_to(app, "Models")
        await until(lambda: "chooses it" in screen_text(app))
        await pilot.press("r")
        await until(lambda: there(app, Question))
        await pilot.press("y")
        await until(lambda: "rank by late now" in said(app))
    assert config.load(tmp_path / "config.toml", {}).settings.search.profile == "late"


async def test_what_ails_the_memories_opens_exactly_these_rows(faded: Story) -> None:
    with faded.open() as memory, memory._core.connections.write() as connection:
        connection.execute(
            "INSERT INTO memories(id, kind, content, content_hash, trust, event_time, created_at) SELECT 'fact_copy' || rid, "
            "kind, content, content_hash, trust, event_time, created_at FROM memories WHERE kind = 'fact' LIMIT 1"
        )
        connection.execute(
            "INSERT INTO entities(id, canonical_name, type, created_at) VALUES ('ent_x', ?, 'other', 1)",
            (HOSTILE,),
        )
    app = at_maintenance(faded)
    async with running(app, size=(120, 40)) as pilot:
        await ready(app)
        await until(lambda: pane(app).jobs.health is not None)
        await go_to(app, "Problems")
        await until(lambda: "goes to the first of them" in screen_text(app))
        await pilot.press("enter")
        await until(
            lambda: (
                pane(app).table.selected is not None and pane(app).table.selected.health_finding is not None
            )
        )
        await go_to(app, "Duplicates")
        await until(lambda: "merge it" in screen_text(app))
        await pilot.press("enter")
        await until(lambda: app.main.active == "memories")
        await until(lambda: memories(app).table.row_count == 2)
        await pilot.press("escape")
        await until(lambda: app.main.active == "maintenance")
        await go_to(app, "Orphans")
        await until(lambda: "52;c" in screen_text(app))
        assert "\x1b" not in screen_text(app)
        await pilot.press("enter")
        await until(lambda: app.main.active == "entities")
        await until(lambda: app.main.pane.query_one(RowTable).row_count == 1)


@pytest.mark.parametrize(
    ("about", "where"), [("sessions", "sessions"), ("operations", "history"), ("entities", "entities")]
)
async def test_rows_of_other_tables_are_listed_where_they_are(
    faded: Story, about: RowsOf, where: str
) -> None:
    with faded.open() as memory:
        ids = {
            "sessions": memory.view.sessions()[0].session_id,
            "operations": str(memory.view.operations()[0].op_id),
            "entities": memory.view.entity_list.page()[0].id,
        }
    finding = Finding(
        check="x", severity="error", message="m", repairable=False, about=about, ids=(ids[about],), total=1
    )
    app = at_maintenance(faded)
    async with running(app, size=(120, 40)):
        await ready(app)
        await pane(app)._list_rows_of(finding)
        await until(lambda: app.main.active == where)
        await until(lambda: app.main.pane.query_one(RowTable).row_count == 1)


async def test_a_damaged_index_is_mended_from_the_app_after_a_question(faded: Story) -> None:
    with faded.open() as memory, memory._core.connections.write() as connection:
        connection.execute("UPDATE entities SET mention_count = 99")
        connection.execute(
            "UPDATE memories SET content_hash = 'x', created_at = created_at * 1000 WHERE rid = 1"
        )
    app = at_maintenance(faded)
    async with running(app, size=(120, 40)) as pilot:
        await go_to(app, "File check")
        await pilot.press("r")
        await until(lambda: "not sound" in said(app))
        await go_to(app, "rows")
        await pilot.press("r")
        await until(lambda: "cannot be repaired" in said(app))
        await go_to(app, "entities")
        await until(lambda: "after a backup" in screen_text(app))
        await pilot.press("r")
        await until(lambda: there(app, Question))
        await pilot.press("y")
        await until(lambda: "Mended: 1 thing" in said(app))
        report = pane(app).jobs.check
        assert report is not None and {finding.check for finding in report.findings} == {"rows", "times"}
    assert len(list(faded.path.parent.glob("backups/*-repair.db"))) == 1


async def test_the_groups_stand_at_the_top_each_with_its_state_and_lead_to_what_belongs_to_them(
    faded: Story,
) -> None:
    app = at_maintenance(faded)
    async with running(app, size=(80, 24)) as pilot:
        await ready(app)
        table = pane(app).table
        assert table.selected is not None and table.selected.job is not None  # the first job: r runs it
        lines = screen_text(app).splitlines()
        tops = [next(i for i, line in enumerate(lines) if line.strip().startswith(name))
                for name in ("Jobs", "Health", "Growth", "Storage")]  # fmt: skip
        assert tops == list(range(tops[0], tops[0] + 4))
        assert "file " in lines[tops[3]] and "backup" in lines[tops[3]]
        await pilot.press("up")
        await until(lambda: "File check" in screen_text(app).partition("Storage")[2])
        await pilot.press("r")
        await until(lambda: "nothing to run here" in screen_text(app))
        await pilot.press("enter")
        await until(lambda: table.selected is not None and table.selected.topic == "check")


async def test_the_footer_of_maintenance_puts_what_cannot_run_here_last(faded: Story) -> None:
    app = at_maintenance(faded)
    async with running(app, size=(120, 40)) as pilot:
        await ready(app)
        await pilot.press("up")
        await until(
            lambda: pane(app).table.selected is not None and pane(app).table.selected.group == "Storage"
        )
        keys = app.main.query_one(KeyBar).keys
        able = [key.able for key in keys[:-2]]
        assert able == sorted(able, reverse=True) and False in able
        assert [key.action_id for key in keys[-2:]] == ["palette", "help"]
