"""Puts ``memory.jobs`` together: the scheduler, and what its jobs need of an open memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from memtui.engine.core import Core
from memtui.engine.maintain import reflect
from memtui.engine.maintain.consolidate import Consolidator
from memtui.engine.maintain.enrich import Enricher
from memtui.engine.maintain.extract.drafts import Extractor
from memtui.engine.maintain.plan import Consolidation
from memtui.engine.maintain.schedule.jobs import ACTOR, Services
from memtui.engine.maintain.schedule.scheduler import Scheduler
from memtui.engine.models.spending import Spending
from memtui.engine.records import Changes
from memtui.engine.store.jobs import JobRun


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
        index=core.indexer.run, consolidate=consolidate, enrich=enricher.run, reflect=reflect.run
    )
    return Scheduler(
        core.connections, core.clock, core.options, services, on_run=ended, on_change=core.tell_of
    )
