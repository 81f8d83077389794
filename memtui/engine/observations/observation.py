"""What a step taught (an Observation), and what is known about a question (a FilResult): by category."""

from __future__ import annotations

from memtui.engine.records import Record
from memtui.engine.search.observations import ObservationHit


class Observation(Record):
    """What was observed in one step. ``step_type``: GOAL, AGENT, RUN or another word for it.

    Findings are facts that were discovered, insights conclusions, lessons advice for the next time.
    """

    findings: tuple[str, ...] = ()
    insights: tuple[str, ...] = ()
    lessons: tuple[str, ...] = ()
    step_name: str = ""
    step_type: str = ""

    @property
    def empty(self) -> bool:
        return not (self.findings or self.insights or self.lessons)

    @property
    def source(self) -> str:
        """``TYPE:NAME``, as it is kept with each of them."""
        return f"{self.step_type.strip() or 'STEP'}:{self.step_name.strip()}"


class FilResult(Record):
    """Findings, insights and lessons that answer a query, each best first."""

    findings: tuple[ObservationHit, ...] = ()
    insights: tuple[ObservationHit, ...] = ()
    lessons: tuple[ObservationHit, ...] = ()
