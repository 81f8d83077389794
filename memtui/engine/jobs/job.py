"""A maintenance job, and the services that it gets when it runs.

A job does its work in short transactions, asks ``cancelled`` between them, and returns a report. Where its
effect is history, it commits the last of it together with the end of the run (``Task.finish``): then a run
that was killed at any moment is either done, or did not happen and comes again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any, Protocol

import apsw
from msgspec.structs import replace

from memtui.engine.clock import Clock
from memtui.engine.models.budget import Spending
from memtui.engine.records import Options
from memtui.engine.records.jobs import JobReport
from memtui.engine.store.connections import Connections

from .calendar import Schedule

__all__ = ["ACTOR", "ConsolidateFunction", "Job", "JobReport", "Services", "Task"]

ACTOR = "scheduler"


class ConsolidateFunction(Protocol):
    """Consolidates one session, or all that are due, as the scheduler; returns a ``Consolidation``."""

    def __call__(
        self, session_id: str | None, *, preview: bool, progress: Callable[[int, int, str], None],
        cancelled: Callable[[], bool], spending: Spending,
    ) -> Any: ...  # fmt: skip


@dataclass(frozen=True)
class Services:
    """What jobs need of the memory beyond its file.

    ``index`` makes at most so many missing links and vectors and returns how many vectors it made.
    """

    index: Callable[[int], int]
    consolidate: ConsolidateFunction
    enrich: Callable[[Task], JobReport]
    reflect: Callable[[Task], JobReport]


@dataclass(frozen=True)
class Task:
    """One run under way. ``now`` is when it began, ``period`` what it stands for; ``actor`` signs what it changes.

    ``spending``: the account of the run, for whatever asks a language model.
    """

    connections: Connections
    clock: Clock
    options: Options
    services: Services
    spending: Spending
    now: float
    period: str = ""
    dry_run: bool = False
    zone: tzinfo | None = None
    actor: str = ACTOR
    cancelled: Callable[[], bool] = lambda: False
    progress: Callable[[int, int], None] = lambda done, total: None
    on_finish: Callable[[apsw.Connection, JobReport], None] = lambda connection, report: None

    def with_spending(self, report: JobReport) -> JobReport:
        """The report with what the run cost, if a language model was asked."""
        if not self.spending.calls:
            return report
        cost = {"calls": self.spending.calls, "tokens": self.spending.tokens}
        return replace(report, counts=report.counts | cost)

    def finish(self, connection: apsw.Connection, report: JobReport) -> None:
        """The run is done with the transaction of ``connection``: call it inside."""
        self.on_finish(connection, report)


@dataclass(frozen=True)
class Job:
    """A row of the timetable.

    ``schedule`` None: the job runs whenever ``needed`` names a period. ``backed_up``: a backup is made
    before. ``by_the_clock``: it takes something away because of the time, so the clock must be believable.
    ``logged``: its scheduled runs are kept as rows; a continuous job would flood them. ``off``: the setting that switches
    it off; "" while it is on.
    """

    name: str
    label: str
    about: str
    run: Callable[[Task], JobReport]
    schedule: Schedule | None = None
    needed: Callable[[Task], str | None] = lambda task: None
    backed_up: bool = False
    by_the_clock: bool = False
    logged: bool = True
    off: Callable[[Options], str] = lambda options: ""
