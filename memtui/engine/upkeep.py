"""The night shift and its inbox: consolidation, review, and the decisions a person takes. Reached as ``Memory.upkeep``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress

from memtui.engine.clock import Clock, local_midnight
from memtui.engine.errors import InputError
from memtui.engine.maintain import resolve, review, verdicts, wishes
from memtui.engine.maintain.agent_loop import AgentLoop
from memtui.engine.maintain.consolidate import Consolidator, Progress
from memtui.engine.maintain.extract.drafts import Extractor
from memtui.engine.maintain.extract.keyword import KeywordExtractor
from memtui.engine.maintain.plan import Consolidation, Estimate, Plan
from memtui.engine.maintain.review import Inbox, ReviewItem, Verdict
from memtui.engine.maintain.wishes import WishVerb
from memtui.engine.models.spending import Spending
from memtui.engine.records import MemoryRecord, Operation, Options, Session
from memtui.engine.store import consolidations, history, jobs, memories, operations, sessions
from memtui.engine.store.connection import Connections
from memtui.engine.store.proposals import Proposal
from memtui.engine.wording import plural


class Upkeep:
    """Safe to call from any thread; what changes something is one undoable operation."""

    def __init__(
        self, connections: Connections, clock: Clock, options: Options, actor: Callable[[], str],
        said: Callable[[Operation], None],
    ) -> None:  # fmt: skip
        self._connections = connections
        self._clock = clock
        self._options = options
        self._actor = actor
        self._said = said

    # Consolidation

    def extractor(self) -> Extractor:
        """The one that the options ask for: a language model where one is configured, else rules."""
        if not self._options.llm.configured:
            return KeywordExtractor()
        from memtui.engine.maintain.extract.llm import LlmExtractor

        return LlmExtractor(self._options.llm)

    def _consolidator(self, extractor: Extractor | None = None) -> Consolidator:
        return Consolidator(
            self._connections,
            self._clock,
            self._options,
            self._actor(),
            extractor or self.extractor(),
            said=self._said,
        )

    def by_agent(self, *, within: str = "", tags: Sequence[str] = ()) -> AgentLoop:
        """Consolidation that an agent drives itself, step by step, within a filter."""
        return AgentLoop(
            self._connections, self._clock, self._options, self._actor(), self._said,
            within=within, tags=tags,
        )  # fmt: skip

    def pending_sessions(self, exclude: str | None = None, *, due: bool = False) -> list[Session]:
        """Sessions with turns that are not consolidated yet, oldest first.

        ``due`` leaves out those that are still going on (30 minutes), wait after a failure, or need attention.
        """
        with self._connections.read() as connection:
            return consolidations.pending(connection, self._clock(), exclude=exclude, due=due)

    def estimate(self, session_id: str | Sequence[str] | None = None) -> Estimate:
        """What consolidating a session (several, all that are due) would read and cost."""
        return self._consolidator().estimate(session_id)

    async def consolidate(
        self,
        session_id: str | Sequence[str] | None = None,
        *,
        preview: bool = False,
        exclude: str | None = None,
        extractor: Extractor | None = None,
        progress: Progress = lambda done, total, session_id: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Consolidation:
        """Turn a session, several, or all that are due, into facts and observations: one operation for all of them.

        With ``preview`` no memory, session or operation is written and each outcome carries its plan; only what a
        language model was paid for it is noted, as a run that the scheduler does not count. A session that
        fails is among the outcomes as ``failed`` and stays pending. Raises NotFoundError for an unknown session,
        StoreError while another consolidation runs.
        """
        began = int(self._clock())
        spending = Spending(self._options.llm.budget_tokens)
        found: Consolidation | None = None
        try:
            found = await self._consolidator(extractor).run(
                session_id, preview=preview, exclude=exclude, progress=progress, cancelled=cancelled,
                spending=spending,
            )  # fmt: skip
        finally:
            # Also when it was cancelled or broke off: it is paid for.
            if spending.calls and not self._connections.readonly:
                await asyncio.shield(asyncio.to_thread(self._log_spend, found, spending, began, preview))
        return found

    def _log_spend(self, found: Consolidation | None, spending: Spending, began: int, preview: bool) -> None:
        """What a model was paid for stands among the runs of maintenance, whoever asked for it."""
        counts = {"calls": spending.calls, "tokens": spending.tokens}
        summary, op_id = "stopped half-way", None
        if found is not None:
            done = sum(outcome.plan is not None for outcome in found.outcomes)
            counts |= {"sessions": done, "facts": found.total("added"), "failed": len(found.failed)}
            op_id = found.operation.op_id if found.operation else None
            summary = f"{'previewed' if preview else 'consolidated'} {plural(done, 'session')}"
        notes = found.notes if found is not None else ()
        report = jobs.JobReport(summary=summary, counts=counts, notes=notes, op_id=op_id)
        period = jobs.preview_period() if preview else jobs.manual_period()
        with self._connections.write() as connection:
            run_id = jobs.start(connection, "consolidation", period, began)
            state: jobs.State = "done" if found else "cancelled"
            jobs.finish(connection, run_id, state, int(self._clock()), report=report)

    async def apply(self, plans: Sequence[Plan]) -> Consolidation:
        """Write previewed plans, with the lines as the person left them, as one operation.

        Raises InputError (StalePlanError) where a session changed since it was read; the plans before it are written.
        """
        return await self._consolidator().write(plans)

    def retry(self, session_id: str) -> None:
        """Forget the failures of a session, so that the next run takes it."""
        with self._operation("retry", f"Will retry “{session_id}”") as op:
            sessions.get(op.connection, session_id)
            consolidations.try_again(op.connection, session_id)
        self._tell(op.op_id)

    def skip(self, session_id: str) -> None:
        """Count a session as done without drawing anything from it; later turns make it pending again."""
        with self._operation("skip", f"Skipped “{session_id}”") as op:
            sessions.get(op.connection, session_id)
            consolidations.mark_skipped(op.connection, session_id)
        self._tell(op.op_id)

    # Review

    def review(self, *, limit: int = 200) -> list[ReviewItem]:
        """What needs the person, worst first; empty: all clear."""
        with self._connections.read() as connection:
            return review.review(connection, self._clock(), self._options, limit=limit)

    def inbox(self, *, all: bool = False) -> Inbox:
        """The same as a day's share: at most 20 single cards a local date, unless ``all`` is wanted."""
        now = self._clock()
        with self._connections.read() as connection:
            return review.inbox(connection, now, local_midnight(now), self._options, all=all)

    def entity_cards(self) -> list[ReviewItem]:
        """The cards of ``review`` about entities that may be one; ``decide`` settles them: merge, both, snooze."""
        with self._connections.read() as connection:
            return review.entity_cards(connection, self._clock(), self._options)

    def decide(
        self, item: ReviewItem, verdict: Verdict, *, text: str = "", keep: str | None = None
    ) -> Operation | None:
        """Settle an item of ``review``: one operation; None when there was nothing left to change.

        ``keep``: the id that stands, for conflicts and duplicates (default: the new one). ``text``: the new wording,
        for ``correct`` and ``merge``. Raises InputError for a verdict that the item does not offer.
        """
        with self._operation("review", verdicts.label(item, verdict, keep)) as op:
            verdicts.decide(
                op.connection, item, verdict, text=text, keep=keep, actor=self._actor(), options=self._options,
                now=int(self._clock()),
            )  # fmt: skip
        return self._tell(op.op_id)

    def wish(self, verb: WishVerb, id: str, *, text: str = "", why: str = "") -> Proposal:
        """Ask the person to forget, correct or confirm a memory: it waits in Review and changes nothing.

        The same wish is one, however often it is asked; its ``state`` tells what the person decided. Raises
        NotFoundError, InputError for what could not be granted or when 50 wishes wait.
        """
        now = int(self._clock())
        with self._operation("wish", "Asked") as op:
            memory = memories.get(op.connection, id, now)
            agent = self._actor().removeprefix("agent:")
            asked = wishes.ask(
                op.connection, verb, memory, agent=agent, text=text, why=why, options=self._options, now=now
            )
            op.label = f"{agent} asked to {verb} “{memory.content[:60]}”"
        self._tell(op.op_id)
        return asked

    def decide_all(self, items: Sequence[ReviewItem], verdict: Verdict) -> Operation | None:
        """One verdict on several items: one operation. Those that it does not settle (any more) are left as they are."""
        settled = 0
        with self._operation("review", "Reviewed") as op:
            for item in items:
                with suppress(InputError), op.connection:
                    verdicts.decide(
                        op.connection, item, verdict, text="", keep=None, actor=self._actor(), options=self._options,
                        now=int(self._clock()),
                    )  # fmt: skip
                    settled += 1
            op.label = verdicts.label_of_all(verdict, settled)
        return self._tell(op.op_id)

    def merge(self, survivor: str, others: Sequence[str], *, text: str = "") -> MemoryRecord:
        """Make one fact of several: the survivor keeps tags, sources and protection of all; the others go to the Trash.

        Linked both ways (``merged``). ``text`` replaces the survivor's wording. Returns the survivor.
        """
        with self._operation("merge", "Merged") as op:
            rid = resolve.merge(
                op.connection, survivor, others, text=text, actor=self._actor(), options=self._options,
                now=int(self._clock()),
            )  # fmt: skip
            (record,) = memories.by_rid(op.connection, [rid], self._clock())
            op.label = f"Merged {len(others) + 1} facts into “{record.content[:60]}”"
        self._tell(op.op_id)
        return record

    def _operation(self, kind: str, label: str) -> AbstractContextManager[history.Op]:
        return history.operation(self._connections, self._clock, self._actor(), kind, label)

    def _tell(self, op_id: int) -> Operation | None:
        with self._connections.read() as connection:
            if not connection.execute("SELECT 1 FROM ops WHERE op_id = ?", (op_id,)).fetchone():
                return None
            operation = operations.get(connection, op_id)
        self._said(operation)
        return operation
