"""What tests of the night shift share: a clock to turn, a scheduler whose jobs need no model."""

from __future__ import annotations

from collections.abc import Callable
from datetime import tzinfo

from memtui import Memory
from memtui.engine.consolidation.plan import Consolidation
from memtui.engine.jobs.job import Job, JobReport, Services, Task
from memtui.engine.jobs.scheduler import Scheduler
from memtui.engine.jobs.timetable import JOBS
from memtui.engine.records.jobs import JobRun


def consolidate_nothing(session_id: str | None, **_: object) -> Consolidation:
    return Consolidation(outcomes=(), extractor="none")


def skip(task: Task) -> JobReport:
    return JobReport(summary="skipped", skipped="no model")


NO_SERVICES = Services(
    index=lambda limit: 0, consolidate=consolidate_nothing, enrich=skip, reflect=skip, sync=skip
)


def make_scheduler(
    memory: Memory, clock: Callable[[], float], zone: tzinfo | None = None, *,
    timetable: tuple[Job, ...] = JOBS, services: Services = NO_SERVICES,
    on_run: Callable[[JobRun], None] = lambda run: None, monotonic: Callable[[], float] = lambda: 0.0,
) -> Scheduler:  # fmt: skip
    return Scheduler(
        memory._core.connections,
        clock,
        memory.options,
        services,
        zone=zone,
        timetable=timetable,
        on_run=on_run,
        monotonic=monotonic,
    )
