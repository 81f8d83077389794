"""Enrichment: memories in which the quick rules found few names are read again by a model.

spaCy, a language model, or both; without either there is nothing better than the rules, and the job says so.
What is found is derived, like every automatic link: it is not history, and the person's decisions win.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence

from memtui.engine.clock import Clock
from memtui.engine.errors import DegradedError
from memtui.engine.models.ner import Span, llm_names, readable, spacy_names
from memtui.engine.models.spending import BudgetError, Spending
from memtui.engine.records import Kind, MemoryRecord, Options
from memtui.engine.store import enrichments, entities, memories
from memtui.engine.store.connection import Connections

from .extract_llm import may_be_told
from .jobs import JobReport, Task

MOST_ENTITIES = 2
BATCH = 50
_PER_CALL = 10

Mentions = Callable[[str, Iterable[Span]], tuple[entities.Mention, ...]]
"""The entities of a text by the rules and further spans."""


class Enricher:
    """``mentions`` brings the spans of all providers together."""

    def __init__(self, connections: Connections, clock: Clock, options: Options, mentions: Mentions) -> None:
        self._connections = connections
        self._clock = clock
        self._options = options
        self._mentions = mentions

    def unavailable(self) -> str:
        """Why nothing better than the rules can be had; "" when it can."""
        if self._options.llm.configured:
            return ""
        reason = spacy_names.unavailable()
        return f"{reason}, and no language model is configured" if reason else ""

    def waiting(
        self,
        kinds: Sequence[Kind] = enrichments.KINDS,
        most_entities: int = MOST_ENTITIES,
        limit: int = BATCH,
    ) -> list[MemoryRecord]:
        """What would be read next, the newest first."""
        with self._connections.read() as connection:
            return enrichments.waiting(
                connection, self._clock(), kinds=kinds, most_entities=most_entities, limit=limit
            )

    async def enrich(self, some: Sequence[MemoryRecord], spending: Spending | None = None) -> int:
        """Read memories again and link what they name; returns the links gained.

        One transaction; a memory that changed meanwhile is left for another time. Raises DegradedError when no
        model can be used (BudgetError when ``spending`` has too little left).
        """
        reason = self.unavailable()
        if reason:
            raise DegradedError(f"Names cannot be found better than by rules: {reason}.", spacy_names.REMEDY)
        texts = [readable(memory.content) for memory in some]
        found = await self._find(some, texts, spending)
        return await asyncio.to_thread(self._link, some, found)

    def run(self, task: Task) -> JobReport:
        """At most 50 memories."""
        reason = self.unavailable()
        if reason:
            return JobReport(summary="nothing to read with", skipped=reason)
        some = self.waiting()
        if task.dry_run:
            return JobReport(
                summary=f"would read {_memories(len(some))} again", ids=tuple(memory.id for memory in some)
            )
        gained = read = 0
        notes: tuple[str, ...] = ()
        while read < len(some) and not task.cancelled():
            batch = some[read : read + _PER_CALL]
            try:
                gained += asyncio.run(self.enrich(batch, task.spending))
            except BudgetError as error:
                notes = (error.message,)
                break
            read += len(batch)
            task.progress(read, len(some))
        return JobReport(
            summary=f"read {_memories(read)} again and found {gained:,} more link{'' if gained == 1 else 's'}",
            counts={"memories": read, "links": gained},
            notes=notes,
            ids=tuple(memory.id for memory in some[:read]),
        )

    async def _find(
        self, some: Sequence[MemoryRecord], texts: Sequence[str], spending: Spending | None
    ) -> list[list[Span]]:
        found: list[list[Span]] = [[] for _ in texts]
        if self._options.llm.configured:
            # What carries a secret goes to no model; spaCy runs here.
            open_ = [place for place, memory in enumerate(some) if may_be_told(memory)]
            if open_:
                told = await llm_names.find(self._options.llm, [texts[place] for place in open_], spending)
                for place, spans in zip(open_, told, strict=True):
                    found[place] += spans
        if not spacy_names.unavailable():
            for place, spans in enumerate(await asyncio.to_thread(spacy_names.find, texts)):
                found[place] += spans
        return found

    def _link(self, some: Sequence[MemoryRecord], found: Sequence[Sequence[Span]]) -> int:
        now = int(self._clock())
        mentioned = [self._mentions(memory.content, spans) for memory, spans in zip(some, found, strict=True)]
        gained = 0
        with self._connections.write() as connection:
            current = {
                memory.rid: memory
                for memory in memories.by_rid(connection, [memory.rid for memory in some], now)
            }
            for memory, mentions in zip(some, mentioned, strict=True):
                there = current.get(memory.rid)
                if there is not None and there.content == memory.content:
                    links = entities.link(connection, memory.rid, mentions, now)
                    enrichments.stamp(connection, memory.rid, now, links)
                    gained += links
        return gained


def _memories(count: int) -> str:
    return f"{count:,} memor{'y' if count == 1 else 'ies'}"
