"""``memory.sessions``: pending conversations, and consolidation."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from memtui.engine.consolidation.agent_loop import AgentLoop
from memtui.engine.consolidation.extract.protocol import Extractor
from memtui.engine.consolidation.extract.rules import KeywordExtractor
from memtui.engine.consolidation.pipeline import Consolidator, Progress
from memtui.engine.consolidation.plan import Consolidation, Estimate, Plan
from memtui.engine.core import Core
from memtui.engine.models import packages
from memtui.engine.models.budget import TokenBudget
from memtui.engine.records import Session
from memtui.engine.records.jobs import JobReport, RunState
from memtui.engine.store import consolidations, jobs, sessions
from memtui.engine.wording import plural


class Sessions:
    """What changes something is one undoable operation."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def extractor(self, *, rules: bool = False) -> Extractor:
        """The one that the options ask for: a function, of a package, or a language model, else (or where wanted) rules."""
        wanted = self._core.options.extractor
        if callable(wanted) and not rules:
            from memtui.engine.consolidation.extract.function import FunctionExtractor

            return FunctionExtractor(wanted)
        if isinstance(wanted, str) and wanted and not rules:
            brought: Extractor = packages.load_from_package(packages.EXTRACTORS, wanted)
            return brought
        if rules or not self._core.options.llm.configured:
            return KeywordExtractor()
        from memtui.engine.consolidation.extract.llm import LlmExtractor

        return LlmExtractor(self._core.options.llm)

    def _make_consolidator(self, extractor: Extractor | None = None) -> Consolidator:
        return Consolidator(
            self._core.connections,
            self._core.clock,
            self._core.options,
            self._core.actor,
            extractor or self.extractor(),
            on_operation=self._core.announce_operation,
        )

    def by_agent(self, *, within: Callable[[], str] = str, tags: Sequence[str] = ()) -> AgentLoop:
        """Consolidation that an agent drives itself, step by step, within the filter that ``within`` gives."""
        return AgentLoop(
            self._core.connections, self._core.clock, self._core.options, self._core.actor, self._core.announce_operation,
            within=within, tags=tags,
        )  # fmt: skip

    def pending(self, exclude: str | None = None, *, due: bool = False) -> list[Session]:
        """Sessions with turns that are not consolidated yet, oldest first.

        ``due`` leaves out those that are still going on (30 minutes), wait after a failure, or need attention.
        """
        with self._core.connections.read() as connection:
            return consolidations.pending_sessions(connection, self._core.clock(), exclude=exclude, due=due)

    def estimate(
        self, session_id: str | Sequence[str] | None = None, *, again: bool = False, rules: bool = False
    ) -> Estimate:
        """What consolidating a session (several, all that are due) would read and cost."""
        return self._make_consolidator(self.extractor(rules=rules)).estimate(session_id, again=again)

    async def consolidate(
        self,
        session_id: str | Sequence[str] | None = None,
        *,
        preview: bool = False,
        rules: bool = False,
        again: bool = False,
        exclude: str | None = None,
        extractor: Extractor | None = None,
        progress: Progress = lambda done, total, session_id: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Consolidation:
        """Turn a session, several, or all that are due, into facts and observations: one operation for all of them.

        With ``preview`` no memory, session or operation is written and each outcome carries its plan; only what a
        language model was paid for it is noted, as a run that the scheduler does not count. A session that
        fails is among the outcomes as ``failed`` and stays pending; ``rules`` reads it without the model that is
        configured, and marks it (``Session.by_rules``).

        ``again`` reads sessions from their first turn on, without a name all that were read before. Plans are then the
        difference to what was drawn before (``Plan.difference``): what the person decided about stays, what they took
        away does not come back, what is no longer drawn goes to the Trash. Raises NotFoundError for an unknown session,
        StoreError while another consolidation runs.
        """
        began = int(self._core.clock())
        spending = TokenBudget(self._core.options.llm.budget_tokens)
        consolidation: Consolidation | None = None
        try:
            consolidation = await self._make_consolidator(extractor or self.extractor(rules=rules)).run(
                session_id, preview=preview, again=again, exclude=exclude, progress=progress, cancelled=cancelled,
                spending=spending,
            )  # fmt: skip
        finally:
            # Also when it was cancelled or broke off: it is paid for.
            if spending.calls and not self._core.connections.readonly:
                await asyncio.shield(
                    asyncio.to_thread(self._log_spend, consolidation, spending, began, preview)
                )
        return consolidation

    def _log_spend(
        self, consolidation: Consolidation | None, spending: TokenBudget, began: int, preview: bool
    ) -> None:
        """Log what a model cost as a maintenance run, whoever asked for it."""
        counts = {"calls": spending.calls, "tokens": spending.tokens}
        summary, op_id = "stopped half-way", None
        if consolidation is not None:
            done = sum(outcome.plan is not None for outcome in consolidation.outcomes)
            counts |= {
                "sessions": done,
                "facts": consolidation.total("added"),
                "failed": len(consolidation.failed),
            }
            op_id = consolidation.operation.op_id if consolidation.operation else None
            summary = f"{'previewed' if preview else 'consolidated'} {plural(done, 'session')}"
        notes = consolidation.notes if consolidation is not None else ()
        report = JobReport(summary=summary, counts=counts, notes=notes, op_id=op_id)
        period = jobs.preview_period() if preview else jobs.manual_period()
        with self._core.connections.write() as connection:
            run = jobs.start(connection, "consolidation", period, began)
            state: RunState = "done" if consolidation else "cancelled"
            jobs.finish(connection, run, state, int(self._core.clock()), report=report)

    async def apply(self, plans: Sequence[Plan]) -> Consolidation:
        """Write previewed plans, with the lines as the person left them, as one operation.

        Raises InputError (StalePlanError) where a session changed since it was read; the plans before it are written.
        """
        return await self._make_consolidator().write_plans(plans)

    def retry(self, session_id: str) -> None:
        """Forget the failures of a session, so that the next run takes it. Raises NotFoundError."""
        with self._core.change("retry", f"Will retry “{session_id}”") as op:
            sessions.get(op.connection, session_id)
            consolidations.forget_failures(op.connection, session_id)

    def skip(self, session_id: str) -> None:
        """Count a session as done without drawing anything from it; later turns make it pending again.

        Raises NotFoundError.
        """
        with self._core.change("skip", f"Skipped “{session_id}”") as op:
            sessions.get(op.connection, session_id)
            consolidations.mark_skipped(op.connection, session_id)
