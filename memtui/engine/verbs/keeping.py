"""From conversations to facts, the night shift, and the care of the file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from memtui.engine.errors import ReplacedFileError
from memtui.engine.records import (
    Changes,
    CheckReport,
    Kind,
    MemoryRecord,
    Operation,
    Session,
    Stats,
    StrategyReport,
)
from memtui.engine.store import file, history, stats
from memtui.engine.store.tables import COVERED
from memtui.engine.verbs.finding import Finding
from memtui.engine.verbs.undoing import Undoing

if TYPE_CHECKING:
    from memtui.engine.maintain.backups import Backups
    from memtui.engine.maintain.enrich import Enricher
    from memtui.engine.maintain.health import Health
    from memtui.engine.maintain.plan import Consolidation
    from memtui.engine.maintain.review import ReviewItem
    from memtui.engine.maintain.schedule.scheduler import Scheduler
    from memtui.engine.store.jobs import JobRun
    from memtui.engine.upkeep import Upkeep

T = TypeVar("T")


class Keeping(Finding, Undoing):
    """Consolidation, maintenance, state."""

    _questions_due = False
    _health: tuple[str, Health] | None = None

    def close(self) -> None:
        """Finish what runs in the background and close the file. Closing twice is fine."""
        if "scheduler" in self.__dict__:
            self.scheduler.stop()
        super().close()

    def pending_sessions(self, exclude: str | None = None) -> list[Session]:
        """Sessions with turns that no consolidation has read yet, oldest first; ``exclude`` is usually the current one."""
        return self.upkeep.pending_sessions(exclude)

    async def consolidate(self, session_id: str | None = None, *, preview: bool = False) -> Consolidation:
        """Turn a session into facts and observations; without an id all that are over and pending.

        One undoable operation. With ``preview`` nothing is written: each outcome carries its plan, which
        ``upkeep.apply`` writes. A session that fails stays pending and is reported. Raises NotFoundError
        for an unknown session. ``upkeep`` has progress, cancelling and the review of what came of it.
        """
        return await self.upkeep.consolidate(session_id, preview=preview)

    @cached_property
    def upkeep(self) -> Upkeep:
        """Consolidation, the review, and what a person decides there."""
        # A tenth of a second of patterns, which looking at memories does not need.
        from memtui.engine.upkeep import Upkeep

        return Upkeep(self._connections, self._clock, self._options, lambda: self.actor, self._tell_of)

    def entity_suggestions(self) -> list[ReviewItem]:
        """Entities that may be one, as cards of the review; ``upkeep.decide`` settles one: merge, both, snooze."""
        return self.upkeep.entity_cards()

    @cached_property
    def scheduler(self) -> Scheduler:
        """The maintenance jobs. They run by themselves once it is started (``scheduler.start()``)."""
        from memtui.engine.night import make_scheduler

        return make_scheduler(
            self._connections, self._clock, self._options, index=self._indexer.run, enricher=self._enricher,
            extractor=self.upkeep.extractor, on_change=self._tell_of,
            on_run=self._job_ended,
        )  # fmt: skip

    def _job_ended(self, run: JobRun) -> None:
        self._call("job_finished", Changes(tables=frozenset({"job_runs"})))
        self._ask_questions()

    def _ask_questions(self) -> None:
        """Much has changed: see whether the pinned questions still find what they should, links and vectors first."""
        self._questions_due = True
        if self._options.background and not self.readonly:
            self._wake_indexer()
        else:
            self._settled()

    def _settled(self) -> None:
        super()._settled()
        if self._questions_due:
            self._questions_due = False
            if self.questions.run():
                self._call("changed", Changes(tables=frozenset({"question_results"})))

    @cached_property
    def backups(self) -> Backups:
        """Backups of the file, and the way back to one of them."""
        from memtui.engine.maintain.backups import Backups

        return Backups(self._connections, self._clock, on_restore=self._restored)

    def reopen(self) -> None:
        """Go on with the file that is at the path now, after a ReplacedFileError; subscribers hear that all changed.

        Raises StoreError and its kin for a file that cannot be used: then it may be tried again. What waits here to
        be written is the caller's to keep.
        """
        file.reopen(self._connections)
        if not self.readonly:
            history.close_dead(self._connections)
        self._reopened()

    def on_current_file(self, work: Callable[[], T]) -> T:
        """Run ``work`` on the file that is at the path: one that was replaced meanwhile is opened first.

        Work that met a ReplacedFileError is done again, once. Raises what ``reopen`` raises.
        """
        if self._connections.replaced:
            self.reopen()
        try:
            return work()
        except ReplacedFileError:
            self.reopen()
            return work()

    def _restored(self, operation: Operation) -> None:
        """The file holds something else now: nothing that was known about it counts."""
        self._reopened(operation)

    def _reopened(self, operation: Operation | None = None) -> None:
        self._indexer.forget_names()
        self._health = None
        self._call("changed", Changes(tables=frozenset({*COVERED, "*"}), operation=operation))
        self._wake_indexer()

    @cached_property
    def _enricher(self) -> Enricher:
        from memtui.engine.maintain.enrich import Enricher

        return Enricher(
            self._connections, self._clock, self._recogniser, self._options.enrichment, self._indexer.mentions
        )

    @property
    def accurate_ner_available(self) -> bool:
        """Whether spaCy or a language model can find the names that the quick rules miss."""
        return not self._enricher.unavailable()

    def compare_strategies(self, limit: int = 50) -> tuple[StrategyReport, ...]:
        """What each strategy for finding names finds in the newest memories, and how long it takes.

        Nothing is written, and no language model is asked.
        """
        newest = self.view.page(limit=limit)
        return asyncio.run(self._recogniser.compare([memory.content for memory in newest]))

    def memories_for_enrichment(
        self, kinds: Sequence[Kind] = ("fact", "episode"), *, max_entities: int = 2, limit: int = 50
    ) -> list[MemoryRecord]:
        """Active memories with at most so many entities that no model has read for names yet, the newest first."""
        return self._enricher.waiting(kinds, max_entities, limit)

    async def enrich(self, id: str) -> int:
        """Read a memory again for the names in it, as accurately as can be; returns the links gained.

        Raises DegradedError when there is neither spaCy nor a language model.
        """
        self._must_write("enrich it")
        return await self._enricher.enrich([self.get(id)])

    def stats(self) -> Stats:
        """Counts of what is remembered and of what is still being prepared; sizes in bytes, times in Unix seconds."""
        unavailable = self._connections.vectors_missing or self._indexer.degraded
        switched_off = self._options.embedder == "off"
        with self._connections.read() as connection:
            found = stats.stats(
                connection, self.path, unavailable="switched off" if switched_off else unavailable
            )
        # Nothing waits for what will not be made.
        return replace(found, unembedded=0) if switched_off else found

    def index_pending(self, limit: int | None = None, *, wait_for_network: bool = True) -> int:
        """Make the links and vectors that are still missing, now; returns how many vectors were made.

        Without ``wait_for_network`` those that an endpoint would make are left to later.
        """
        self._must_write("index it")
        return self._indexer.run(limit, embed=wait_for_network or self._options.embedder != "endpoint")

    def health(self, *, cancelled: Callable[[], bool] = lambda: False) -> Health:
        """Duplicates, echoes, dangers, what is stale or of no use among the memories, with the rows; nothing is written.

        Seconds in a large memory, so not to be waited for on the way to a frame. The answer is kept until something
        changes; what ``cancelled`` cut short is not.
        """
        # Patterns that looking at memories does not need.
        from memtui.engine.maintain import health

        now = self._clock()
        with self._connections.read() as connection:
            mark = health.mark(connection, now)
            kept = self._health
            if kept is None or kept[0] != mark:
                kept = (mark, health.health(connection, now, self._options, cancelled))
        if not cancelled():
            self._health = kept
        return kept[1]

    def check(self, *, deep: bool = False, repair: bool = False) -> CheckReport:
        """Verify the invariants of the file; ``repair`` rebuilds indexes (after a backup), never base rows."""
        from memtui.engine.store import check

        return check.check(self._connections, self._clock, deep=deep, repair=repair)
