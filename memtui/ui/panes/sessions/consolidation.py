"""Consolidation in Sessions: run, preview, skip, stop; for one session, the marked ones, or all that wait."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from memtui.present.consolidation import cost_estimate
from memtui.present.format import format_count, plural
from memtui.ui.actions import Action
from memtui.ui.dialogs.choice import Question
from memtui.ui.widgets.work_strip import WorkStrip

if TYPE_CHECKING:
    from memtui.engine.consolidation.plan import Consolidation, Plan
    from memtui.engine.memory import Memory
    from memtui.engine.records import MemoryRecord
    from memtui.engine.records.lists import SessionRow
    from memtui.ui.messages import Severity
    from memtui.ui.panes.list_pane import ListPane
    from memtui.ui.progress import Work

T = TypeVar("T")

NAME = "consolidating"
# A preview of more sessions is not read line by line.
MOST_PREVIEWED = 50


class ConsolidationActions:
    """Consolidates sessions of a list."""

    def __init__(self, pane: ListPane[SessionRow]) -> None:
        self._pane = pane
        self._strip: WorkStrip | None = None

    @property
    def running_task(self) -> str:
        """What is running now, as the start of a sentence. Empty if nothing is."""
        if any(work.name == NAME for work in self._pane.shell.operations.works):
            return "A consolidation is running"
        memory = self._pane.shell.operations.memory
        job = memory.jobs.running if memory is not None else None
        if job is None or job.job != "consolidation":
            return ""
        share = f" ({format_count(job.done)} of {format_count(job.total)})" if job.total else ""
        return f"A background consolidation is running{share}"

    def unavailable_reason(self, action: Action) -> str:
        if action.id == "stop":
            return "" if self.running_task else "Nothing is running."
        if self.running_task:
            return f"{self.running_task}: {self._pane.shell.keymap_shown('stop')} stops it."
        if action.id == "run_all":
            stats = self._pane.shell.stats
            return "No session waits." if stats is not None and not stats.pending_sessions else ""
        if self._pane.table.marks:
            return ""
        row = self._pane.table.selected
        if row is None:
            return "There is no session here."
        if action.id == "again":
            read = row.session.consolidated_at is not None
            return "" if read else "It was not read before: run draws facts from it."
        key = self._pane.shell.keymap_shown("again")
        return (
            ""
            if row.pending
            else f"This one is consolidated already: it waits for new turns; {key} reads it again."
        )

    # -- running

    async def do_run(self) -> None:
        await self._consolidate_sessions(await self._sessions_to_run())

    async def do_by_rules(self) -> None:
        await self._consolidate_sessions(await self._sessions_to_run(), rules=True)

    async def do_again(self) -> None:
        """Read sessions again, always with a preview: the person decides about the differences."""
        await self._preview_sessions(await self._sessions_to_run(again=True), again=True)

    async def do_run_all(self) -> None:
        waiting = await self._pane.ask(lambda memory: memory.sessions.pending())
        await self._consolidate_sessions([session.session_id for session in waiting])

    async def do_dry_run(self) -> None:
        await self._preview_sessions(await self._sessions_to_run())

    async def preview_sessions(self, sessions: Sequence[str]) -> None:
        """Preview some sessions (by id), as many of the first as a preview can show."""
        if len(sessions) > MOST_PREVIEWED:
            self._pane.show_message(
                f"These are the first {MOST_PREVIEWED} of {format_count(len(sessions))} that wait."
            )
        await self._preview_sessions([*sessions[:MOST_PREVIEWED]])

    async def consolidate_sessions(self, sessions: Sequence[str]) -> None:
        """Draw facts from some sessions (by id)."""
        await self._consolidate_sessions([*sessions])

    async def _preview_sessions(self, chosen: list[str], *, rules: bool = False, again: bool = False) -> None:
        if len(chosen) > MOST_PREVIEWED:
            self._pane.show_message(
                f"At most {MOST_PREVIEWED} can be previewed at once: mark fewer.", "warning"
            )
            return
        if not chosen or not (rules or await self._accept_cost(chosen, again=again)):
            return
        consolidation = await self._run_in_thread(chosen, preview=True, rules=rules, again=again)
        if consolidation is None:
            return
        if await self._offer_rules(consolidation, again=again):
            await self._preview_sessions(list(consolidation.rules_could), rules=True)
        elif consolidation.plans or not consolidation.failed:
            await self._show_proposals(consolidation.plans)

    async def do_skip(self) -> None:
        chosen = await self._sessions_to_run()

        def skip_sessions(memory: Memory) -> None:
            for session_id in chosen:
                memory.sessions.skip(session_id)

        if chosen:
            await self._pane.change(skip_sessions, "skipping")
            self._pane.table.set_marks(set())

    def do_stop(self) -> None:
        mine = [work for work in self._pane.shell.operations.works if work.name == NAME]
        for work in mine:
            work.cancel()
        if not mine:
            self._pane.shell.operations.require_memory().jobs.cancel()
            self._pane.show_message("It stops soon. What it did until then is kept.")

    async def _sessions_to_run(self, *, again: bool = False) -> list[str]:
        """The marked sessions that wait (or were read before), otherwise the one under the cursor."""
        marks = sorted(self._pane.table.marks)
        if marks:
            rows = await self._pane.ask(lambda memory: memory.view.session_list.rows(marks))
            if again:
                waiting = [row.session.session_id for row in rows if row.session.consolidated_at is not None]
            else:
                waiting = [row.session.session_id for row in rows if row.pending]
            if not waiting:
                why = "was read before" if again else "waits for consolidation"
                self._pane.show_message(f"None of the marked sessions {why}.", "warning")
            return waiting
        row = self._pane.table.selected
        return [row.session.session_id] if row is not None else []

    async def _consolidate_sessions(self, chosen: list[str], *, rules: bool = False) -> None:
        if not chosen or not (rules or await self._accept_cost(chosen)):
            return
        self._pane.table.set_marks(set())
        consolidation = await self._run_in_thread(chosen, preview=False, rules=rules)
        if consolidation is not None and await self._offer_rules(consolidation):
            await self._consolidate_sessions(list(consolidation.rules_could), rules=True)

    async def _accept_cost(self, chosen: list[str], *, again: bool = False) -> bool:
        """Ask first, with the estimated cost, if a language model is used."""
        llm = self._pane.shell.operations.require_memory().options.llm
        if not llm.configured:
            return True
        cost = await self._pane.ask(lambda memory: memory.sessions.estimate(chosen, again=again))
        question = Question(
            f"Let {llm.model} read {plural(cost.sessions, 'session')}?",
            cost_estimate(cost, llm),
            yes="read",
        )
        return await self._pane.shell.show_dialog(question) is True

    async def _run_in_thread(
        self, chosen: Sequence[str], *, preview: bool, rules: bool = False, again: bool = False
    ) -> Consolidation | None:
        def consolidate(memory: Memory, work: Work) -> Consolidation | None:
            return run_until_stopped(
                work,
                memory.sessions.consolidate(
                    chosen,
                    preview=preview,
                    rules=rules,
                    again=again,
                    progress=work.progress,
                    cancelled=work.cancelled,
                ),
            )

        going = asyncio.ensure_future(self._pane.shell.operations.work(consolidate, NAME))
        await asyncio.sleep(0)
        self._show_strip()
        try:
            consolidation = await going
        finally:
            self._hide_strip()
            self._pane.reload()
        if consolidation is None:
            self._pane.show_message("Stopped. What was saved until then is kept. The rest still waits.")
        return consolidation

    def _show_strip(self) -> None:
        work = next((work for work in self._pane.shell.operations.works if work.name == NAME), None)
        if work is not None and self._strip is None:
            self._strip = WorkStrip(work, self._pane.shell.glyphs, self._pane.shell.keymap_shown("stop"))
            self._pane.query_one(".list-side").mount(self._strip)
            self._pane.shell.refresh_keys()

    def _hide_strip(self) -> None:
        if self._strip is not None:
            self._strip.remove()
            self._strip = None
            self._pane.shell.refresh_keys()

    async def _offer_rules(self, consolidation: Consolidation, *, again: bool = False) -> bool:
        """Report failures. If sessions wait because the model failed, offer to read them by rules."""
        could = consolidation.rules_could
        if not could or again or self._pane.shell.readonly:
            self._report_failures(consolidation, again=again)
            return False
        self._report_failures(consolidation, severity="warning")  # the question gives the details
        reason = next(iter(consolidation.failed), None) or next(
            one for one in consolidation.outcomes if one.error
        )
        waiting = plural(len(could), "conversation still waits", "conversations still wait")
        question = Question(
            f"The model could not read {plural(len(could), 'conversation')}",
            f"{reason.error}\n\nNothing is lost: {waiting}. Rules can read now, without the model; "
            f"what they read is marked, and {self._pane.shell.keymap_shown('again')} lets the model read it later.",
            yes="read by rules now",
        )
        return await self._pane.shell.show_dialog(question) is True

    def _report_failures(
        self, consolidation: Consolidation, *, again: bool = False, severity: Severity = "error"
    ) -> None:
        stopped = [
            outcome for outcome in consolidation.outcomes if outcome.state == "stopped" and outcome.error
        ]
        if consolidation.failed:
            what = plural(
                len(consolidation.failed), "session failed and still waits", "sessions failed and still wait"
            )
            unusable = any(outcome.unusable for outcome in consolidation.failed)
            rest = (
                f"; {plural(len(stopped), 'more was', 'more were')} not tried" if unusable and stopped else ""
            )
            headline = f"Reading again failed, nothing was changed{rest}" if again else f"{what}{rest}"
            self._pane.show_message(f"{headline}: {consolidation.failed[0].error}", severity)
        elif stopped:
            self._pane.show_message(
                f"{plural(len(stopped), 'session')} left out: {stopped[0].error}", "warning"
            )

    # -- the preview

    async def _show_proposals(self, plans: Sequence[Plan]) -> None:
        from memtui.ui.dialogs.proposals import ProposalsDialog

        if not plans:
            self._pane.show_message("There is nothing to preview.", "warning")
            return
        turns = await self._pane.ask(lambda memory: turns_of_plans(memory, plans))
        accepted = await self._pane.shell.show_dialog(ProposalsDialog(plans, turns))
        if accepted is None:
            self._pane.show_message("Discarded: no facts were written. The conversations stay.")
            return
        if self._pane.shell.readonly:
            self._pane.show_message("This memory is open for reading only.", "warning")
            return
        self._pane.table.set_marks(set())
        await self._pane.change(
            lambda memory: asyncio.run(memory.sessions.apply(accepted)), "writing it down"
        )


def turns_of_plans(memory: Memory, plans: Sequence[Plan]) -> dict[str, MemoryRecord]:
    """The turns that the lines of the plans name. Blocks."""
    ids = dict.fromkeys(source for plan in plans for line in plan.lines for source in line.sources)
    return {memory_id: memory.view.get(memory_id) for memory_id in ids}


def run_until_stopped(work: Work, call: Coroutine[Any, Any, T]) -> T | None:
    """Run a coroutine in this thread until it is done. None if it was interrupted. Blocks."""

    async def run_call() -> T | None:
        task = asyncio.ensure_future(call)
        loop = asyncio.get_running_loop()

        def interrupt_call() -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(task.cancel)

        work.interrupt = interrupt_call
        try:
            return await task
        except asyncio.CancelledError:
            return None
        finally:
            work.interrupt = None

    return asyncio.run(run_call())
