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
from memtui.engine.jobs.job import ACTOR, Services
from memtui.engine.jobs.scheduler import Scheduler
from memtui.engine.models.budget import Spending
from memtui.engine.records import Changes
from memtui.engine.records.jobs import JobRun


def make_scheduler(core: Core, *, enricher: Enricher, extractor: Callable[[], Extractor]) -> Scheduler:
    """``extractor`` makes the one that the options ask for, when it is needed."""

    def consolidate(
        session_id: str | None, *, preview: bool, progress: Callable[[int, int, str], None],
        cancelled: Callable[[], bool], spending: Spending,
    ) -> Consolidation:  # fmt: skip
        # Signed by the scheduler whoever holds the memory: the person's plain undo does not find it.
        consolidator = Consolidator(core.connections, core.clock, core.options, ACTOR, extractor())
        return asyncio.run(
            consolidator.run(
                session_id, preview=preview, progress=progress, cancelled=cancelled, spending=spending
            )
        )

    def ended(run: JobRun) -> None:
        core.call("job_finished", Changes(tables=frozenset({"job_runs"})))
        core.much_changed()

    services = Services(
        index=core.indexer.run, consolidate=consolidate, enrich=enricher.run, reflect=reflection.run
    )
    return Scheduler(
        core.connections, core.clock, core.options, services, on_run=ended, on_change=core.announce_operation
    )
