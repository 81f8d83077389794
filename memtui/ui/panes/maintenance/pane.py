"""Maintenance: jobs and their runs, growth and fading, models, health and backups."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual import on
from textual.content import Content

from memtui.present.job import run_outcome_line
from memtui.ui.action_dispatch import start_worker
from memtui.ui.actions import Action
from memtui.ui.keymap import bindings_at
from memtui.ui.panes.clock_banner import ClockBanner
from memtui.ui.panes.list_pane import ListPane
from memtui.ui.panes.pane import use_styles
from memtui.ui.panes.unknown_terms import unknown_term_note
from memtui.ui.row_source import ListSource
from memtui.ui.safe import assemble, line
from memtui.ui.widgets.columns import Column
from memtui.ui.widgets.row_table import RowOpened

from .backups import Backups, BackupText
from .detail import JobText, Labelled, existing_memories, finding_texts, operation_of_run, soon_to_fade
from .health import read_health
from .jobs import NAME, Jobs
from .rows import (
    FIRST_JOB,
    PLACES,
    MaintenanceRow,
    filter_of_finding,
    first_finding_under_topic,
    first_key_of_group,
    maintenance_columns,
    maintenance_rows,
    read_state,
    rows_matching,
    rows_of_group,
    topic_line,
)
from .topic_text import TopicText

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from memtui.engine.records import Finding
    from memtui.engine.records.jobs import JobRun

Text = TypeVar("Text", bound=Labelled)

LOOK_SECONDS, LOOK_WHILE_RUNNING = 5.0, 0.4
# While agents write, the health of a large memory is not computed all the time.
HEALTH_SECONDS = 30
_KEYS = ("run", "dry_run", "switch", "undo_this", "open", "expect", "restore_backup")


class MaintenancePane(ListPane[MaintenanceRow]):
    """Lists jobs, topics and runs. The preview shows the details."""

    footer_if_able = frozenset({"undo_this", "restore_backup"})
    pane_id: ClassVar = "maintenance"
    BINDINGS = [*bindings_at("maintenance")]
    placeholder = "filter by words: decay, failed, -backup"
    noun, noun_one = "lines", "line"
    markable = False
    tables = frozenset(
        {"job_runs", "memories", "sessions_consolidations", "question_results", "embeddings", "*"}
    )

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.jobs = Jobs(self, self.refresh_state)
        self.backups = Backups(self, self.jobs, lambda: self.make_text(BackupText), self.refresh_state)
        self._banner = ClockBanner(self)
        self.delegates = (self.jobs, self.backups, self._banner)
        self._health_due = False

    def compose(self) -> ComposeResult:
        use_styles(self.app, "panes.tcss")
        yield from super().compose()

    def columns(self) -> Sequence[Column[MaintenanceRow]]:
        return maintenance_columns(self.shell.glyphs, self.shell.clock, self._topic_line)

    def source(self, filter: str, order: tuple[str, bool]) -> ListSource[MaintenanceRow]:
        return ListSource(self.current_rows(filter), lambda row: row.key)

    def current_rows(self, filter: str) -> list[MaintenanceRow]:
        contents = self.backups.contents if self.backups.unfolded else None
        if self.jobs.state is None:
            return []
        rows = maintenance_rows(
            self.jobs.state, self.jobs.check, self.jobs.health, contents, self.shell.clock()
        )
        return rows_matching(rows, filter)

    def _topic_line(self, row: MaintenanceRow) -> str:
        return (
            ""
            if self.jobs.state is None
            else topic_line(
                row,
                self.jobs.state,
                self.jobs.check,
                self.shell.clock(),
                self.jobs.health,
                self.jobs.last_check,
            )
        )

    def _row_line(self, row: MaintenanceRow) -> str:
        if row.job is None:
            return self._topic_line(row)
        return run_outcome_line(row.job.last) or "it has not run yet"

    def load(self) -> None:
        self.refresh_state()
        self.set_interval(LOOK_SECONDS, self._refresh_rows)
        self.set_interval(LOOK_WHILE_RUNNING, self._refresh_often)

    def open_at(self, key: int) -> None:
        """Put the cursor on the row with this key, also if the rows are not read yet."""
        if self.filter_text:
            self.filter_bar.set_filter("")
        self.table.select_key(key)

    def reload(self) -> None:
        self.backups.compared.clear()
        self.refresh_state()
        self._health_due = True

    def refresh_state(self) -> None:
        start_worker(self, self._read_state, "state")

    async def _read_state(self) -> None:
        first = self.jobs.state is None
        self.jobs.state = await self.ask(read_state)
        await self.backups.read_backups()
        self._show_running()
        self._banner.show(self.jobs.state.status.clock)
        if first and self.table.selected_key is None:
            self.table.select_key(FIRST_JOB)  # the groups are above it
        self.show_rows(top=False)
        if first:  # not beside it: the list is what the person waits for
            start_worker(self, self.jobs.look_at_health, "health")

    def _refresh_rows(self) -> None:
        """Update the list: another program may have run a job, and times change."""
        if self.shell.shown_pane_id == self.pane_id and self.shell.operations.memory is not None:
            start_worker(self, self._read_status, "progress")
            if (
                self._health_due
                and self.jobs.health is not None
                and self.shell.clock() >= self.jobs.health.at + HEALTH_SECONDS
            ):
                self._health_due = False
                start_worker(self, self.jobs.look_at_health, "health")

    def _refresh_often(self) -> None:
        if self.jobs.running_task:
            self._refresh_rows()

    async def _read_status(self) -> None:
        """Read the progress of a job. The rest is read again only when a run begins or ends."""
        status = await self.ask(lambda memory: memory.jobs.status())
        if self.jobs.state is None:
            return
        before = self.jobs.state.status
        self.jobs.state = self.jobs.state._replace(status=status)
        running = status.running
        for work in self.shell.operations.works:
            if running is not None and work.name == f"{NAME} {running.job}":
                work.progress(running.done, running.total)
        self._show_running()
        self._banner.show(status.clock)
        if [job.last for job in before.jobs] != [job.last for job in status.jobs]:
            self.refresh_state()
        else:
            self.table.refresh()

    def _show_running(self) -> None:
        running = self.jobs.state.status.running if self.jobs.state is not None else None
        parts = [] if self.jobs.state is None else [f"{len(self.jobs.state.status.jobs)} jobs"]
        if parts and self.rows_filter:
            parts = [*self.count_text(self._number_of_rows(self.table.row_count), len(self.current_rows("")))]
        if running is not None:
            share = f" {running.done:,} of {running.total:,}" if running.total else ""
            where = "" if running.here else ", in another program"
            parts.append(f"{running.job} is running{share}{where}")
        self.show_status(f" {self.shell.glyphs.dot} ".join(parts))

    def show_count(self, rows: int, exact: bool) -> None:
        self.filter_bar.show_count(self._number_of_rows(rows))
        self._show_running()

    def _number_of_rows(self, rows: int) -> str:
        """``4``; with a filter ``4 of 32``."""
        return f"{rows:,} of {len(self.current_rows('')):,}" if self.rows_filter else f"{rows:,}"

    # -- preview

    def make_text(self, kind: type[Text]) -> Text:
        keys = {action: self.shell.keymap_shown(action) for action in _KEYS}
        view = self.preview
        return kind(view.text_width, view.size.height, self.shell.clock(), self.shell.glyphs, keys)

    def preview_border_title(self, row: MaintenanceRow) -> Content:
        what = next((name for name in ("job", "run", "backup") if getattr(row, name) is not None), "")
        return assemble(
            " ",
            line(row.name_cell.strip(), 40),
            (f" {self.shell.glyphs.dot} {what} " if what else " ", "$text-muted"),
        )

    def quick_preview(self, row: MaintenanceRow) -> Content:
        state, jobs, text = self.jobs.state, self.make_text(JobText), self.make_text(TopicText)
        if row.job is not None and state is not None:
            dry = self.jobs.dry.get(row.job.name)
            return jobs.job_text(
                row.job, self._list_runs(row.job.name), dry=dry, dry_memories=(), detail=None
            )
        if row.run is not None:
            return jobs.run_text(row.run, row.name_cell, None)
        if row.group is not None:
            lines = [
                (one.name_cell, self._row_line(one))
                for one in rows_of_group(row.group, self.current_rows(""))
            ]
            return text.group_text(self._topic_line(row), lines)
        if row.finding is not None:
            return text.finding_text(row.finding)
        if row.health_finding is not None:
            return text.health_finding_text(row.health_finding, ())
        if row.topic == "health":
            return text.health_text(self.jobs.health)
        if (summary := self.backups.backup_glance(row)) is not None:
            return summary
        if row.topic == "check":
            return text.check_text(self.jobs.check, self.jobs.last_check)
        if row.topic == "devices" and state is not None:
            return text.devices_text(state.sync)
        if row.topic == "confidence" and state is not None:
            return text.confidence_text(state.forecast)
        return line("", 0)

    async def details(self, row: MaintenanceRow) -> Content:
        state, jobs, text = self.jobs.state, self.make_text(JobText), self.make_text(TopicText)
        if state is None:
            return line("", 0)
        if row.job is not None:
            dry, last = self.jobs.dry.get(row.job.name), row.job.last
            detail = await self.ask(lambda memory: operation_of_run(memory, last))
            ids = dry.report.ids if dry is not None and dry.report is not None else ()
            memories = await self.ask(lambda memory: existing_memories(memory, ids))
            return jobs.job_text(
                row.job, self._list_runs(row.job.name), dry=dry, dry_memories=memories, detail=detail
            )
        if row.run is not None:
            run = row.run
            return jobs.run_text(
                run, row.name_cell, await self.ask(lambda memory: operation_of_run(memory, run))
            )
        if row.health_finding is not None:
            health_finding = row.health_finding
            texts = await self.ask(lambda memory: finding_texts(memory, health_finding))
            return text.health_finding_text(health_finding, texts)
        if row.backup is not None:
            return await self.backups.backup_details(row.backup)
        llm = self.shell.operations.require_memory().options.llm
        match row.topic:
            case "fading":
                forecast, now = state.forecast, self.shell.clock()
                return text.fading_text(
                    forecast, await self.ask(lambda memory: soon_to_fade(memory, forecast, now))
                )
            case "growth":
                steps = max(self.preview.text_width, 10)
                return text.growth_text(await self.ask(lambda memory: memory.view.growth(steps)))
            case "models":
                now = self.shell.clock()
                health = await self.ask(lambda memory: read_health(memory, now))
                stats = state.stats
                return text.models_text(
                    health, reembed=bool(stats.vectors_wanted), better_ranking=bool(stats.better_ranking)
                )
            case "questions":
                return text.questions_text(state.questions)
            case "spend":
                return text.spending_text(
                    state, llm.budget_tokens, f"{llm.model} at {llm.base_url}" if llm.configured else ""
                )
            case _:
                return self.quick_preview(row)

    def _list_runs(self, job: str) -> list[JobRun]:
        return [run for run in self.jobs.state.runs if run.job == job] if self.jobs.state is not None else []

    async def empty_text(self, filter: str) -> Content:
        if not filter:
            return assemble("Reading…")
        key = self.shell.keymap_shown
        return assemble(
            ("Nothing here has these words.\n\n", "bold"),
            unknown_term_note(filter),
            (key("back"), "bold $accent"),
            "  clear the filter",
        )

    # -- opening

    @on(RowOpened)
    def _row_opened(self, event: RowOpened) -> None:
        """Open the memories of a row in Memories; or give a job or run the whole window."""
        event.prevent_default()  # otherwise the base class would also open the preview
        row = self.table.selected
        if row is not None and row.finding is not None and row.finding.ids:
            start_worker(self, partial(self._list_rows_of, row.finding), "go")
        elif row is not None and row.health_finding is not None:
            start_worker(
                self,
                partial(
                    self.shell.navigation.list_rows,
                    PLACES[row.health_finding.about],
                    row.health_finding.filter,
                ),
                "go",
            )
        elif row is not None and row.group is not None:
            self.open_at(first_key_of_group(row.group))
            self.show_rows(top=False)
        elif row is not None and row.topic == "backups":
            self.backups.toggle_backups()
        elif row is not None and row.topic == "fading":
            self._list_in_memories("is:fading", ("fades", False))
        elif (
            row is not None and (finding := first_finding_under_topic(row, self.current_rows(""))) is not None
        ):
            self.open_at(finding.key)
            self.show_rows(top=False)
        else:
            self.open_preview()

    async def _list_rows_of(self, finding: Finding) -> None:
        filter = await self.ask(lambda memory: filter_of_finding(memory, finding))
        await self.shell.navigation.list_rows(PLACES[finding.about], filter)

    def _list_in_memories(self, filter: str, order: tuple[str, bool] | None = None) -> None:
        start_worker(self, partial(self.shell.navigation.list_memories, filter, order), "go")

    # -- actions

    def unavailable_reason(self, action: Action) -> str:
        if action.id not in ("run", "dry_run"):
            return super().unavailable_reason(action)
        row = self.table.selected
        on_backup = row is not None and row.backup is not None
        on_backups = row is not None and row.topic == "backups"
        if not self.jobs.running_task and (on_backup or (on_backups and action.id == "run")):
            return ""
        return self.jobs.unavailable_reason(action)

    async def do_run(self) -> None:
        row = self.table.selected
        if row is not None and (row.backup is not None or row.topic == "backups"):
            await self.backups.make_backup()
        else:
            await self.jobs.run_selected()

    async def do_dry_run(self) -> None:
        backup = self.backups.selected_backup
        if backup is not None:
            await self.backups.show_comparison(backup)
        else:
            await self.jobs.dry_run_selected()
