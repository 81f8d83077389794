"""Puts the night shift together: the scheduler and what its jobs need of an open memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from memtui.engine.clock import Clock
from memtui.engine.maintain import reflect
from memtui.engine.maintain.consolidate import Consolidator
from memtui.engine.maintain.enrich import Enricher
from memtui.engine.maintain.extract.drafts import Extractor
from memtui.engine.maintain.plan import Consolidation
from memtui.engine.maintain.schedule.jobs import ACTOR, Services
from memtui.engine.maintain.schedule.scheduler import Scheduler
from memtui.engine.models.spending import Spending
from memtui.engine.records import Operation, Options
from memtui.engine.store.connection import Connections
from memtui.engine.store.jobs import JobRun


def make_scheduler(
    connections: Connections, clock: Clock, options: Options, *, index: Callable[[int], int], enricher: Enricher,
    extractor: Callable[[], Extractor], on_run: Callable[[JobRun], None], on_change: Callable[[Operation], None],
) -> Scheduler:  # fmt: skip
    """``extractor`` makes the one that the options ask for, when it is needed."""

    def consolidate(
        session_id: str | None, *, preview: bool, progress: Callable[[int, int, str], None],
        cancelled: Callable[[], bool], spending: Spending,
    ) -> Consolidation:  # fmt: skip
        # Signed by the scheduler whoever holds the memory: the person's plain undo does not find it.
        consolidator = Consolidator(connections, clock, options, ACTOR, extractor())
        return asyncio.run(
            consolidator.run(
                session_id, preview=preview, progress=progress, cancelled=cancelled, spending=spending
            )
        )

    services = Services(index=index, consolidate=consolidate, enrich=enricher.run, reflect=reflect.run)
    return Scheduler(connections, clock, options, services, on_run=on_run, on_change=on_change)
