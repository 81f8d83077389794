"""The store as other programs want to see it: those that run steps, and those that offer tools to a model."""

from __future__ import annotations

from collections.abc import Sequence

from memtui.engine.records import EXPLICIT
from memtui.engine.search.observations import ObservationHit

from .observation import Observation
from .store import GENERIC, PER_CATEGORY, ObservationStore


class StepObservations:
    """For a program that runs steps: keep what a step taught, ask what is known before the next one."""

    def __init__(self, store: ObservationStore) -> None:
        self._store = store

    def store_observation(self, observation: Observation) -> tuple[str, ...]:
        """Keep all of it under its step, trusted as a model's words; returns the ids, () for an empty one."""
        if observation.empty:
            return ()
        return self._store.remember_fil(
            observation.findings, observation.insights, observation.lessons, observation.source, trust="model"
        )

    def query_relevant_observations(
        self, query: str, limit: int = PER_CATEGORY
    ) -> tuple[ObservationHit, ...]:
        return self._store.recall(query, limit=limit)


class ObservationTools:
    """For a program that offers a model tools to remember and recall by itself."""

    def __init__(self, store: ObservationStore) -> None:
        self._store = store

    def remember_fil(
        self, findings: Sequence[str] = (), insights: Sequence[str] = (), lessons: Sequence[str] = (),
        source: str = EXPLICIT,
    ) -> tuple[str, ...]:  # fmt: skip
        """Raises InputError unless there is at least one of them."""
        return self._store.remember_fil(findings, insights, lessons, source)

    def recall(self, query: str, limit: int = GENERIC) -> tuple[ObservationHit, ...]:
        return self._store.recall(query, limit=limit)
