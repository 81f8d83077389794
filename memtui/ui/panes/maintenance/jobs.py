"""Actions on jobs: run, dry run, stop, switch on and off, undo a run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from memtui.engine.errors import InputError
from memtui.present.consolidation import cost_estimate
from memtui.present.format import plural
from memtui.present.health import health_line
from memtui.present.job import run_outcome_line
from memtui.present.question import results_line
from memtui.present.reembedding import plan_rows, reembed_result
from memtui.present.sync import sync_report_line
from memtui.ui.actions import Action
from memtui.ui.dialogs.choice import Question
from memtui.ui.dialogs.undo import undo_operation
from memtui.ui.panes import agent_ranking
from memtui.ui.widgets.work_strip import WorkStrip

from .rows import MaintenanceRow, State

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import CheckReport, Finding
    from memtui.engine.records.embedding import ReembedResult
    from memtui.engine.records.jobs import JobRun
    from memtui.engine.review.health import HealthReport
    from memtui.ui.panes.list_pane import ListPane
    from memtui.ui.progress import Work
    from memtui.ui.state import LastCheck

T = TypeVar("T")

NAME = "maintenance"
_BETTER = (
    "It compares each word of a question with each word of a text by meaning. It finds most with this model. The "
    "setting search.profile holds it, for searches and for agents. You can change it there or in Search."
)
# Jobs that may send texts to a language model.
_PAID = frozenset({"enrichment", "consolidation", "reflection"})


def run_reembedding(memory: Memory, work: Work) -> ReembedResult:
    """Blocks."""
    job = memory.models.reembedding
    work.interrupt = job.interrupt
    return job.run(work.progress, work.cancelled)


class Jobs:
    """Actions on the jobs, topics and runs of a list. ``refresh`` reads them again."""

    def __init__(self, pane: ListPane[MaintenanceRow], refresh: Callable[[], None]) -> None:
        self._pane = pane
        self._refresh = refresh
        self.state: State | None = None
        self.check: CheckReport | None = None
        self.health: HealthReport | None = None
        # The latest dry run of each job.
        self.dry: dict[str, JobRun] = {}

    @property
    def running_task(self) -> str:
        """What is running, in a word. Empty if nothing is."""
        mine = next((work for work in self._pane.shell.operations.works if work.name.startswith(NAME)), None)
        if mine is not None:
            return mine.name.removeprefix(NAME).strip()
        running = self.state.status.running if self.state is not None else None
        return running.job if running is not None else ""

    def unavailable_reason(self, action: Action) -> str:
        row = self._pane.table.selected
        match action.id:
            case "stop":
                return "" if self.running_task else "Nothing is running."
            case "run" | "dry_run" if self.running_task:
                return f"{self.running_task} is running: {self._pane.shell.keymap_shown('stop')} stops it."
            case "run":
                if row is not None and row.topic == "models" and self.state is not None:
                    stats = self.state.stats
                    if stats.better_ranking and not stats.vectors_wanted:
                        return agent_ranking.why_profile_fixed(self._pane.shell)
                    other_model = stats.vectors_wanted
                    return "" if other_model else "The vectors are already from the model in the settings."
                if row is not None and row.finding is not None:
                    return self._why_no_repair(row.finding)
                runs = row is not None and (
                    row.job is not None
                    or row.topic in ("health", "check", "questions")
                    or (row.topic == "devices" and self.state is not None and self.state.sync is not None)
                )
                return "" if runs else "There is nothing to run here: go to a job."
            case "dry_run" | "switch":
                return "" if row is not None and row.job is not None else "This works on a job."
            case "undo_this":
                return self._why_no_undo(row)
            case _:
                return ""

    def _why_no_undo(self, row: MaintenanceRow | None) -> str:
        run = self._run_of_row(row)
        if run is None:
            return "This works on a run, or on the last run of a job."
        return "" if run.op_id is not None else "This run changed nothing that could be taken back."

    @staticmethod
    def _run_of_row(row: MaintenanceRow | None) -> JobRun | None:
        if row is None:
            return None
        return row.run or (row.job.last if row.job is not None else None)

    # -- verbs

    async def run_selected(self) -> None:
        row = self._pane.table.selected
        if row is not None and row.topic == "check":
            await self._check_file()
        elif row is not None and row.finding is not None:
            await self._repair_file()
        elif row is not None and row.topic == "health":
            await self.look_at_health()
            self._pane.show_message(f"Health: {health_line(self.health)}.")
        elif row is not None and row.topic == "devices":
            report = await self.work_with_progress(lambda memory, work: memory.sync.run(), "sync")
            self._pane.show_message(
                f"Sync: {sync_report_line(report)}.", "error" if report.problems else "information"
            )
            self._refresh()
        elif row is not None and row.topic == "models":
            if self.state is not None and self.state.stats.vectors_wanted:
                await self._change_embedder()
            await self._offer_ranking()
        elif row is not None and row.topic == "questions":
            results = await self.work_with_progress(lambda memory, work: memory.questions.run(), "questions")
            self._pane.show_message(
                f"Questions: {results_line(results)}.",
                "information" if all(one.passed for one in results) else "warning",
            )
            self._refresh()
        elif row is not None and row.job is not None and await self._cost_is_fine(row.job.name):
            run = await self._run_job(row.job.name, dry=False)
            self.dry.pop(row.job.name, None)
            self._report_run(row.job.label, run)

    async def dry_run_selected(self) -> None:
        row = self._pane.table.selected
        if row is not None and row.job is not None and await self._cost_is_fine(row.job.name):
            self.dry[row.job.name] = run = await self._run_job(row.job.name, dry=True)
            self._report_run(f"{row.job.label}, dry run", run)
            self._pane.show_selected()

    def do_stop(self) -> None:
        memory = self._pane.shell.operations.require_memory()
        memory.jobs.cancel()
        for work in self._pane.shell.operations.works:
            if work.name.startswith(NAME):
                work.cancel()
        self._pane.show_message("It stops soon. What it did until then is kept.")

    async def do_switch(self) -> None:
        row = self._pane.table.selected
        if row is None or row.job is None:
            return
        if row.job.off:
            self._pane.show_message(
                f"{row.job.label} is off: {row.job.off}. Change that in the settings.", "warning"
            )
            return
        name, on = row.job.name, not row.job.enabled
        await self._pane.change(lambda memory: memory.jobs.enable(name, on), "switching")
        self._pane.show_message(
            f"{row.job.label} is {'on' if on else 'off: it runs only when you ask for it'}."
        )
        self._refresh()

    async def do_undo_this(self) -> None:
        run = self._run_of_row(self._pane.table.selected)
        if run is None or run.op_id is None:
            return
        op_id = run.op_id
        await undo_operation(
            self._pane.shell, await self._pane.ask(lambda memory: memory.view.operation(op_id))
        )
        self._refresh()

    # -- work

    async def _run_job(self, name: str, *, dry: bool) -> JobRun:
        def run_now(memory: Memory, work: Work) -> JobRun:
            return memory.jobs.run_now(name, dry_run=dry)

        try:
            return await self.work_with_progress(run_now, name)
        finally:
            self._refresh()

    @property
    def last_check(self) -> LastCheck | None:
        """When this file was checked last, also before the app was started."""
        return self._pane.shell.state.last_check(self._pane.shell.operations.require_memory().path)

    def _note_check(self, report: CheckReport) -> None:
        self.check = report
        path = self._pane.shell.operations.require_memory().path
        self._pane.shell.state.note_checked(path, self._pane.shell.clock(), len(report.findings))

    async def _check_file(self) -> None:
        self._note_check(await self.work_with_progress(lambda memory, work: memory.files.check(), "check"))
        assert self.check is not None
        self._pane.show_message("The file is sound." if self.check.ok else "The file is not sound: see the findings.",
                 "information" if self.check.ok else "error")  # fmt: skip
        self._refresh()

    def _why_no_repair(self, finding: Finding) -> str:
        return "" if finding.repairable else f"This cannot be repaired. {finding.remedy}"

    async def _repair_file(self) -> None:
        """Repair everything that can be repaired."""
        text = "Indexes, counts and links are rebuilt, after a backup. Texts are not changed."
        if await self._pane.shell.show_dialog(Question("Repair the file?", text, yes="repair")) is not True:
            return
        report = await self.work_with_progress(lambda memory, work: memory.files.check(repair=True), "repair")
        self._note_check(report)
        left = (
            "The file is sound."
            if report.ok
            else f"{plural(len(report.findings), 'finding is', 'findings are')} left."
        )
        self._pane.show_message(
            f"Mended: {plural(len(report.repaired), 'thing')}. {left}",
            "information" if report.ok else "error",
        )
        self._refresh()

    async def look_at_health(self) -> None:
        """Compute the health. Takes seconds in a large memory, and no time if nothing has changed."""
        self.health = await self._pane.shell.operations.work(
            lambda memory, work: memory.review.health(cancelled=work.cancelled), "health"
        )
        self._pane.show_rows(top=False)

    async def _change_embedder(self) -> None:
        """Change to the embedding model in the settings, after a preview of the cost."""
        self._pane.show_message("Estimating the cost.")
        plan = await self.work_with_progress(lambda memory, work: memory.models.reembedding.plan(), "preview")
        a_million = self._pane.shell.operations.require_memory().options.endpoint.price
        text = "\n".join(f"{label:<8} {text}" for label, text in plan_rows(plan, a_million))
        if (
            await self._pane.shell.show_dialog(Question("Re-embed the memory?", text, yes="re-embed"))
            is not True
        ):
            return
        try:
            done = await self.work_with_progress(run_reembedding, "re-embedding")
        finally:
            self._refresh()
        self._pane.show_message(
            reembed_result(done, plan.after.model_id), "information" if done.switched else "warning"
        )

    async def _offer_ranking(self) -> None:
        """Offer a better ranking, if the model makes one possible."""
        stats = await self._pane.ask(lambda memory: memory.stats())
        if stats.ranking_note:
            self._pane.show_message(stats.ranking_note, "warning")
        if not (name := stats.better_ranking) or agent_ranking.why_profile_fixed(self._pane.shell):
            return
        question = Question(f"Rank by “{name}” from now on?", _BETTER, yes=f"rank by {name}")
        if await self._pane.shell.show_dialog(question) is not True:
            return
        try:
            agent_ranking.choose_profile(self._pane.shell, name)
        except InputError as error:
            self._pane.show_message(f"{error.message} {error.hint}", "warning")
            return
        self._pane.show_message(f"Searches rank by {name} now, agents from their next start on.")
        self._refresh()

    async def work_with_progress(self, call: Callable[[Memory, Work], T], name: str) -> T:
        """Run a call in its own thread, with a progress line."""
        going = asyncio.ensure_future(self._pane.shell.operations.work(call, f"{NAME} {name}"))
        await asyncio.sleep(0)
        work = next((one for one in self._pane.shell.operations.works if one.name == f"{NAME} {name}"), None)
        if work is not None:
            strip = WorkStrip(work, self._pane.shell.glyphs, self._pane.shell.keymap_shown("stop"))
            self._pane.query_one(".list-side").mount(strip)
            self._pane.shell.refresh_keys()
            try:
                return await going
            finally:
                strip.remove()
                self._pane.shell.refresh_keys()
        return await going

    async def _cost_is_fine(self, name: str) -> bool:
        """Ask first, with the estimated cost, if a language model is used."""
        llm = self._pane.shell.operations.require_memory().options.llm
        if not llm.configured or name not in _PAID:
            return True
        if name == "consolidation":
            text = cost_estimate(await self._pane.ask(lambda memory: memory.sessions.estimate()), llm)
        else:
            text = f"Texts go to {llm.base_url}. At most {llm.budget_tokens:,} tokens are spent in one run."
        return await self._pane.shell.show_dialog(Question(f"Let {llm.model} read?", text, yes="run")) is True

    def _report_run(self, label: str, run: JobRun) -> None:
        failed = run.state == "failed"
        self._pane.show_message(f"{label}: {run_outcome_line(run)}", "error" if failed else "information")
