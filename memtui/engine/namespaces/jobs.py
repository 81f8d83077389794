"""Make ``memory.jobs``: the scheduler, with the services that its jobs need."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from memtui.engine.consolidation.extract.protocol import Extractor
from memtui.engine.consolidation.pipeline import Consolidator
from memtui.engine.consolidation.plan import Consolidation
from memtui.engine.core import Core
from memtui.engine.jobs import reflection
from memtui.engine.jobs.enrichment import Enricher
from memtui.engine.jobs.job import ACTOR, JobReport, Services
from memtui.engine.jobs.scheduler import Scheduler
from memtui.engine.models.budget import TokenBudget
from memtui.engine.records import Changes
from memtui.engine.records.jobs import JobRun
from memtui.engine.wording import plural


def make_scheduler(core: Core, *, enricher: Enricher, extractor: Callable[[], Extractor]) -> Scheduler:
    """``extractor`` makes the one that the options ask for, when it is needed."""

    def consolidate(
        session_id: str | None, *, preview: bool, progress: Callable[[int, int, str], None],
        cancelled: Callable[[], bool], spending: TokenBudget,
    ) -> Consolidation:  # fmt: skip
        # Signed by the scheduler whoever holds the memory: the person's plain undo does not find it.
        consolidator = Consolidator(core.connections, core.clock, core.options, ACTOR, extractor())
        return asyncio.run(
            consolidator.run(
                session_id, preview=preview, progress=progress, cancelled=cancelled, spending=spending
            )
        )

    def on_job_ended(run: JobRun) -> None:
        core.call_subscribers("job_finished", Changes(tables=frozenset({"job_runs"})))
        core.after_large_change()

    services = Services(
        index=core.indexer.run, consolidate=consolidate, enrich=enricher.run, reflect=reflection.run_reflection,
        sync=lambda task: _run_sync(core),
    )  # fmt: skip
    return Scheduler(
        core.connections,
        core.clock,
        core.options,
        services,
        on_run=on_job_ended,
        on_change=core.announce_operation,
    )


def _run_sync(core: Core) -> JobReport:
    from memtui.engine.namespaces.sync import Sync

    sync = Sync(core)
    if not sync.is_set_up:
        return JobReport(
            summary="not synced from here", skipped="the keys of its group are not on this machine"
        )
    report = sync.run_if_changed()
    if report is None:
        return JobReport(summary="nothing new")
    problems = tuple(f"batch {one.number} of {one.device}: {one.message}" for one in report.problems)
    return JobReport(
        summary=f"sent {plural(report.sent, 'line')}, received {plural(report.received, 'line')}",
        counts={"sent": report.sent, "received": report.received, "findings": len(problems)},
        notes=problems,
    )
