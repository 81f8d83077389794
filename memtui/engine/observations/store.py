"""The store of observations: a protocol, its implementation on a memory, and adapters for other programs.

A memory in a file and one in ``:memory:`` are the same code; the tests of the protocol run over both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Protocol, Self

from memtui.engine.consolidation.extract.transcripts import TranscriptMessage
from memtui.engine.errors import NotFoundError
from memtui.engine.memory import Memory
from memtui.engine.records import EXPLICIT, Category, MemoryRecord, Record, Trust
from memtui.engine.records.saved import ScratchpadNote
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


PER_CATEGORY = 5
GENERIC = 10


class ObservationStore(Protocol):
    """Observations and a scratchpad. Safe to use from many threads; whatever is wrong with the input is an InputError."""

    def remember_observation(self, content: str, category: Category, source: str = EXPLICIT) -> str:
        """Keep one; returns its id. The same text in the same category is kept once."""
        ...

    def remember_fil(
        self, findings: Sequence[str] = (), insights: Sequence[str] = (), lessons: Sequence[str] = (),
        source: str = EXPLICIT, *, trust: Trust = "user",
    ) -> tuple[str, ...]:  # fmt: skip
        """Keep several, all or none; returns their ids in this order. At least one must be given.

        ``trust``: of what they were drawn from; they count for no more than their writer does.
        """
        ...

    def retrieve_by_id(self, id: str) -> MemoryRecord:
        """Raises NotFoundError."""
        ...

    def recall_by_category(
        self, query: str, category: Category, limit: int = PER_CATEGORY
    ) -> tuple[ObservationHit, ...]:
        """The best of one category."""
        ...

    def recall_fil(self, query: str, limit_per_category: int = PER_CATEGORY) -> FilResult:
        """The best of each category."""
        ...

    def recall(
        self, query: str, *, limit: int = GENERIC, min_score: float = 0.0, after: float | datetime | None = None,
        before: float | datetime | None = None,
    ) -> tuple[ObservationHit, ...]:  # fmt: skip
        """The best of all categories, by BM25 over their content; a score is between 0 and 1.

        ``after`` (included) and ``before`` (not) bound when it was observed. A query without words finds nothing.
        """
        ...

    def get(self, key: str) -> str:
        """The value of a key of the scratchpad. Raises NotFoundError for a missing one."""
        ...

    def set(self, key: str, value: str) -> None: ...

    def list(self, prefix: str = "") -> tuple[str, ...]:
        """The keys that begin with ``prefix``, in order."""
        ...

    def search(self, query: str) -> tuple[ScratchpadNote, ...]:
        """Entries with ``query`` in their key or value, in any case."""
        ...

    def consolidate_session(
        self, session_id: str, transcript: Sequence[TranscriptMessage | Mapping[str, Any]]
    ) -> tuple[str, ...]:
        """Keep what a conversation says of itself that matters; returns the ids of what is new.

        The name is that of the original memory system (``ConsolidateSession``). Elsewhere it is ``remember_transcript``: it
        draws no facts from a session, as consolidation does.
        Messages are records or mappings with ``role`` and ``content``. Raises InputError for others.
        """
        ...

    def close(self) -> None: ...


class MemoryObservations:
    """The observations of an open memory. ``owns``: ``close`` closes the memory as well."""

    def __init__(self, memory: Memory, *, owns: bool = False) -> None:
        self._memory = memory
        self._owns = owns

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        if self._owns:
            self._memory.close()

    def remember_observation(self, content: str, category: Category, source: str = EXPLICIT) -> str:
        return self._memory.observations.remember_one(content, category, source=source).id

    def remember_fil(
        self, findings: Sequence[str] = (), insights: Sequence[str] = (), lessons: Sequence[str] = (),
        source: str = EXPLICIT, *, trust: Trust = "user",
    ) -> tuple[str, ...]:  # fmt: skip
        stored = self._memory.observations.remember(findings, insights, lessons, source=source, trust=trust)
        return tuple(record.id for record in stored)

    def retrieve_by_id(self, id: str) -> MemoryRecord:
        memory = self._memory.get(id)
        if memory.kind != "observation":
            raise NotFoundError(f"{memory.id} is not an observation.", "memtui observations lists them.")
        return memory

    def recall_by_category(
        self, query: str, category: Category, limit: int = PER_CATEGORY
    ) -> tuple[ObservationHit, ...]:
        return self._memory.observations.recall(query, category=category, limit=limit)

    def recall_fil(self, query: str, limit_per_category: int = PER_CATEGORY) -> FilResult:
        return FilResult(
            findings=self.recall_by_category(query, "finding", limit_per_category),
            insights=self.recall_by_category(query, "insight", limit_per_category),
            lessons=self.recall_by_category(query, "lesson", limit_per_category),
        )

    def recall(
        self, query: str, *, limit: int = GENERIC, min_score: float = 0.0, after: float | datetime | None = None,
        before: float | datetime | None = None,
    ) -> tuple[ObservationHit, ...]:  # fmt: skip
        return self._memory.observations.recall(
            query, limit=limit, min_score=min_score, after=after, before=before
        )

    def get(self, key: str) -> str:
        return self._memory.scratchpad.get(key).value

    def set(self, key: str, value: str) -> None:
        self._memory.scratchpad.set(key, value)

    def list(self, prefix: str = "") -> tuple[str, ...]:
        return tuple(self._memory.scratchpad.keys(prefix))

    def search(self, query: str) -> tuple[ScratchpadNote, ...]:
        return tuple(self._memory.scratchpad.search(query))

    def consolidate_session(
        self, session_id: str, transcript: Sequence[TranscriptMessage | Mapping[str, Any]]
    ) -> tuple[str, ...]:
        return tuple(
            record.id for record in self._memory.observations.remember_transcript(session_id, transcript)
        )


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
