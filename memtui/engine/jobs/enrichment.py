"""The enrichment job: a model reads memories again in which the rules found few names.

spaCy, a language model, or both; without either there is nothing better than the rules, and the job says so.
What is found is derived, like every automatic link: it is not history, and the person's decisions win; but
the new links are stored, so that they can be shown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence

from memtui.engine.clock import Clock
from memtui.engine.consolidation.extract.llm import may_reach_model
from memtui.engine.errors import DegradedError
from memtui.engine.models.budget import BudgetError, TokenBudget
from memtui.engine.models.ner import NameRecogniser, NameSpan
from memtui.engine.models.ner.spacy_names import installation_hint
from memtui.engine.records import Kind, MemoryRecord
from memtui.engine.store import enrichments, entities, memories
from memtui.engine.store.connections import Connections
from memtui.engine.wording import plural

from .job import JobReport, Task

MOST_ENTITIES = 2
BATCH = 50
_PER_CALL = 10

Mentions = Callable[[str, Iterable[NameSpan]], tuple[entities.Mention, ...]]
"""The entities of a text by the spans that a strategy found and the names that the memory knows."""


class Enricher:
    """Reads memories again with ``strategy``; ``mentions`` brings in the names that the memory knows.

    Raises InputError for an unknown strategy.
    """

    def __init__(
        self,
        connections: Connections,
        clock: Clock,
        recogniser: NameRecogniser,
        strategy: str,
        mentions: Mentions,
    ) -> None:
        self._connections = connections
        self._clock = clock
        self._recogniser = recogniser
        self._strategy = strategy
        self._mentions = mentions

    def reason_unavailable(self) -> str:
        """Why nothing better than the rules can be had; "" when it can."""
        return self._recogniser.reason_unavailable(self._strategy)

    def pending_memories(
        self,
        kinds: Sequence[Kind] = enrichments.KINDS,
        most_entities: int = MOST_ENTITIES,
        limit: int = BATCH,
    ) -> list[MemoryRecord]:
        """What would be read next, the newest first."""
        with self._connections.read() as connection:
            return enrichments.unread_memories(
                connection, self._clock(), kinds=kinds, most_entities=most_entities, limit=limit
            )

    async def enrich(self, some: Sequence[MemoryRecord], spending: TokenBudget | None = None) -> int:
        """Read memories again and link what they name; returns the links gained.

        One transaction; a memory that changed meanwhile is left for another time. Raises DegradedError when no
        model can be used (BudgetError when ``spending`` has too little left).
        """
        gained, _ = await self._read_and_link(some, spending)
        return gained

    async def _read_and_link(
        self, some: Sequence[MemoryRecord], spending: TokenBudget | None
    ) -> tuple[int, list[str]]:
        """The links gained, and which models failed, each with its reason."""
        reason = self.reason_unavailable()
        if reason:
            raise DegradedError(f"Names are found by rules only: {reason}.", installation_hint())
        extraction = await self._recogniser.find_names(
            [memory.content for memory in some], self._strategy,
            # What carries a secret goes to no model elsewhere; spaCy runs here.
            private=[at for at, memory in enumerate(some) if not may_reach_model(memory)], spending=spending,
        )  # fmt: skip
        failed = [
            f"{report.provider} was left out: {report.why}"
            for report in extraction.report.providers
            if report.failed
        ]
        return await asyncio.to_thread(self._link_entities, some, extraction.spans), failed

    def run(self, task: Task) -> JobReport:
        """At most 50 memories."""
        reason = self.reason_unavailable()
        if reason:
            return JobReport(summary="nothing to read with", skipped=reason)
        some = self.pending_memories()
        if task.dry_run:
            return JobReport(
                summary=f"would read {plural(len(some), 'memory')} again",
                ids=tuple(memory.id for memory in some),
            )
        gained = read = 0
        notes: list[str] = []
        while read < len(some) and not task.cancelled():
            batch = some[read : read + _PER_CALL]
            try:
                more, failed = asyncio.run(self._read_and_link(batch, task.spending))
            except BudgetError as error:
                notes.append(error.message)
                break
            gained += more
            notes += [one for one in failed if one not in notes]
            read += len(batch)
            task.progress(read, len(some))
        return JobReport(
            summary=f"read {plural(read, 'memory')} again and found {plural(gained, 'more link')}",
            counts={"memories": read, "links": gained},
            notes=tuple(notes),
            ids=tuple(memory.id for memory in some[:read]),
        )

    def _link_entities(
        self, some: Sequence[MemoryRecord], spans_of_texts: Sequence[Sequence[NameSpan]]
    ) -> int:
        now = int(self._clock())
        mentioned = [
            self._mentions(memory.content, spans) for memory, spans in zip(some, spans_of_texts, strict=True)
        ]
        gained = 0
        with self._connections.write() as connection:
            current = {
                memory.rid: memory
                for memory in memories.by_rid(connection, [memory.rid for memory in some], now)
            }
            for memory, mentions in zip(some, mentioned, strict=True):
                links = current.get(memory.rid)
                if links is not None and links.content == memory.content:
                    before = enrichments.linked_entities(connection, memory.rid)
                    gained += entities.link(connection, memory.rid, mentions, now)
                    new = enrichments.linked_entities(connection, memory.rid) - before
                    enrichments.mark_enriched(connection, memory.rid, now, new)
        return gained
