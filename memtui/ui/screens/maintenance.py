"""Maintenance: the jobs, what they did and will do, how the memory grows and fades, its models and health."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.content import Content

from memtui.ui.keymap import bindings_at
from memtui.ui.late_styles import use_styles
from memtui.ui.maintenance_rows import (
    Row,
    maintenance_columns,
    matching,
    read_state,
    rows_of,
    topic_line,
)
from memtui.ui.perform import start
from memtui.ui.safe import assemble, line
from memtui.ui.widgets.columns import Column
from memtui.ui.widgets.list_source import ListSource
from memtui.ui.widgets.row_events import RowOpened

from .job_verbs import NAME, JobVerbs

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from memtui.engine.maintain.decay import Forecast
    from memtui.engine.memory import Memory
    from memtui.engine.records import MemoryRecord
    from memtui.engine.store.jobs import JobRun
    from memtui.ui.operation_detail import OperationDetail
    from memtui.ui.widgets.maintenance_text import MaintenanceText

LOOK_SECONDS, LOOK_WHILE_RUNNING = 5.0, 0.4
_SOON = 20
_LISTED = 12
_KEYS = ("run", "dry_run", "switch", "undo_this", "open")


class MaintenancePane(JobVerbs):
    """Jobs, topics and runs in one list; the preview tells all about the one under the cursor."""

    place: ClassVar = "maintenance"
    BINDINGS = [*bindings_at("maintenance")]
    placeholder = "filter by words: decay, failed, -backup"
    noun, noun_one = "lines", "line"
    markable = False
    tables = frozenset({"job_runs", "memories", "sessions_consolidations", "*"})

    def compose(self) -> ComposeResult:
        use_styles(self.app, "panes.tcss")
        yield from super().compose()

    def columns(self) -> Sequence[Column[Row]]:
        return maintenance_columns(self.shell.glyphs, self.shell.clock, self._topic_line)

    def source(self, filter: str, order: tuple[str, bool]) -> ListSource[Row]:
        rows = rows_of(self.state, self.check) if self.state is not None else []
        return ListSource(matching(rows, filter), lambda row: row.key)

    def _topic_line(self, row: Row) -> str:
        return "" if self.state is None else topic_line(row, self.state, self.check, self.shell.clock())

    def load(self) -> None:
        self.refresh_state()
        self.set_interval(LOOK_SECONDS, self._look)
        self.set_interval(LOOK_WHILE_RUNNING, self._look_closely)

    def reload(self) -> None:
        self.refresh_state()

    def refresh_state(self) -> None:
        start(self, self._read, "state")

    async def _read(self) -> None:
        first = self.state is None
        self.state = await self.ask(read_state)
        self._tell_running()
        self.show_rows(top=first)

    def _look(self) -> None:
        """Another program may run a job, and hours go by."""
        if self.shell.main.active == self.place:
            self.refresh_state()

    def _look_closely(self) -> None:
        """While a job runs: how far it is."""
        if self.busy and self.shell.main.active == self.place:
            start(self, self._read_progress, "progress")

    async def _read_progress(self) -> None:
        status = await self.ask(lambda memory: memory.scheduler.status())
        if self.state is not None:
            self.state = self.state._replace(status=status)
        running = status.running
        for work in self.shell.operations.works:
            if running is not None and work.name == f"{NAME} {running.job}":
                work.progress(running.done, running.total)
        self._tell_running()

    def _tell_running(self) -> None:
        running = self.state.status.running if self.state is not None else None
        parts = [] if self.state is None else [f"{len(self.state.status.jobs)} jobs"]
        if running is not None:
            share = f" {running.done:,} of {running.total:,}" if running.total else ""
            where = "" if running.here else ", in another program"
            parts.append(f"{running.job} is running{share}{where}")
        elif self.state is not None and self.state.status.clock:
            parts.append(f"{self.shell.glyphs.conflict} {self.state.status.clock}")
        self.tell(f" {self.shell.glyphs.dot} ".join(parts))

    def show_count(self, rows: int, exact: bool) -> None:
        self.filter_bar.show_count(f"{rows:,}")

    # -- preview

    def _text(self) -> MaintenanceText:
        from memtui.ui.widgets.maintenance_text import MaintenanceText

        keys = {action: self.shell.keymap_shown(action) for action in _KEYS}
        return MaintenanceText(self.preview.text_width, self.shell.clock(), self.shell.glyphs, keys)

    def preview_title(self, row: Row) -> Content:
        what = "job" if row.job is not None else "run" if row.run is not None else ""
        return assemble(
            " ",
            line(row.name.strip(), 40),
            (f" {self.shell.glyphs.dot} {what} " if what else " ", "$text-muted"),
        )

    def glance(self, row: Row) -> Content:
        state, text = self.state, self._text()
        if row.job is not None and state is not None:
            dry = self.dry.get(row.job.name)
            return text.job(row.job, self._runs(row.job.name), dry=dry, dry_memories=(), detail=None)
        if row.run is not None:
            return text.run(row.run, row.name, None)
        if row.finding is not None:
            return text.finding(row.finding)
        if row.topic == "check":
            return text.check(self.check)
        if row.topic == "confidence" and state is not None:
            return text.confidence(state.forecast)
        return line("", 0)

    async def details(self, row: Row) -> Content:
        state, text = self.state, self._text()
        if state is None:
            return line("", 0)
        if row.job is not None:
            dry, last = self.dry.get(row.job.name), row.job.last
            detail = await self.ask(lambda memory: _detail(memory, last))
            ids = dry.report.ids if dry is not None and dry.report is not None else ()
            found = await self.ask(lambda memory: _memories(memory, ids))
            return text.job(row.job, self._runs(row.job.name), dry=dry, dry_memories=found, detail=detail)
        if row.run is not None:
            run = row.run
            return text.run(run, row.name, await self.ask(lambda memory: _detail(memory, run)))
        llm = self.shell.operations.require().options.llm
        match row.topic:
            case "fading":
                forecast, now = state.forecast, self.shell.clock()
                return text.fading(forecast, await self.ask(lambda memory: _soon(memory, forecast, now)))
            case "growth":
                steps = max(self.preview.text_width, 10)
                return text.growth(await self.ask(lambda memory: memory.view.growth(steps)))
            case "models":
                from memtui.ui.health import read_health

                now = self.shell.clock()
                return text.models(await self.ask(lambda memory: read_health(memory, now)))
            case "spend":
                return text.spend(
                    state, llm.budget_tokens, f"{llm.model} at {llm.base_url}" if llm.configured else ""
                )
            case _:
                return self.glance(row)

    def _runs(self, job: str) -> list[JobRun]:
        return [run for run in self.state.runs if run.job == job] if self.state is not None else []

    async def empty_text(self, filter: str) -> Content:
        if not filter:
            return assemble("Reading…")
        key = self.shell.keymap_shown
        return assemble(
            ("Nothing here has these words.\n\n", "bold"), (key("back"), "bold $accent"), "  clear the filter"
        )

    # -- opening

    @on(RowOpened)
    def _opened(self) -> None:
        """What a row is about is listed in Memories; a job or run gets the whole window."""
        row = self.table.selected
        if row is not None and row.finding is not None and row.finding.ids:
            self._list_in_memories(f"id:{','.join(row.finding.ids)} is:active,trash")
        elif row is not None and row.topic == "fading":
            self._list_in_memories("is:fading")
        else:
            super()._opened()

    def _list_in_memories(self, filter: str) -> None:
        async def go() -> None:
            from .memories import MemoriesPane

            pane = await self.shell.main.go_to("memories")
            if isinstance(pane, MemoriesPane):
                pane.filter_bar.set_value(filter)

        start(self, go, "go")


def _detail(memory: Memory, run: JobRun | None) -> OperationDetail | None:
    from memtui.engine.errors import NotFoundError
    from memtui.ui.operation_detail import gather_operation

    if run is None or run.op_id is None:
        return None
    try:
        return gather_operation(memory, run.op_id)
    except NotFoundError:
        return None  # history does not reach back so far


def _memories(memory: Memory, ids: Sequence[str]) -> list[MemoryRecord]:
    from memtui.engine.errors import NotFoundError

    found = []
    for identity in ids[:_LISTED]:
        try:
            found.append(memory.get(identity))
        except NotFoundError:
            continue
    return found


def _soon(memory: Memory, forecast: Forecast, now: float) -> list[tuple[str, MemoryRecord]]:
    """The first facts to fade, each with its day."""
    from memtui.ui.format import local_date

    named = [("faded", rid) for rid in forecast.overdue]
    named += [
        ("today" if number == 0 else local_date(day.start, now), rid)
        for number, day in enumerate(forecast.days)
        for rid in day.rids
    ]
    rows = {row.rid: row for row in memory.view.rows([rid for _, rid in named[:_SOON]])}
    return [(day, rows[rid]) for day, rid in named[:_SOON] if rid in rows]
