"""``memory.observations``: findings, insights and lessons of agents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from memtui.engine.clock import unix_seconds
from memtui.engine.core import Core, outside_scope_error
from memtui.engine.errors import InputError
from memtui.engine.memories import observations as memory_observations
from memtui.engine.memories import validation
from memtui.engine.memories.index_text import index_memory
from memtui.engine.memories.observations import ObservationDraft
from memtui.engine.records import EXPLICIT, Category, MemoryRecord, Trust
from memtui.engine.store import history, memories
from memtui.engine.wording import plural, quote_beginning

if TYPE_CHECKING:
    from memtui.engine.consolidation.extract.transcripts import RecordedTranscript, TranscriptMessage
    from memtui.engine.search.observations import ObservationHit


class Observations:
    """Observations are memories: search, correct, forget, undo and the rest apply to them."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def remember(
        self,
        findings: Sequence[str] = (),
        insights: Sequence[str] = (),
        lessons: Sequence[str] = (),
        *,
        source: str = EXPLICIT,
        trust: Trust = "user",
        tags: Iterable[str] = (),
        project: str | None = None,
        within: str = "",
    ) -> tuple[MemoryRecord, ...]:
        """Keep findings, insights and lessons, all or none, as one operation; returned in this order.

        ``trust``: of what they were drawn from. An equal active one is returned, not stored twice. ``within``:
        see ``Memory.remember``. Raises InputError when there is none, or one cannot be stored.
        """
        tags = tuple(tags)
        by_category: tuple[tuple[Category, Sequence[str]], ...] = (
            ("finding", findings), ("insight", insights), ("lesson", lessons),
        )  # fmt: skip
        for category, texts in by_category:
            if isinstance(texts, str):
                raise InputError(f"Give the {category}s as a list.", f'For example ["{texts[:40]}"].')
        items = [
            ObservationDraft(
                content=text, category=category, source=source, trust=trust, tags=tags, project=project
            )
            for category, texts in by_category
            for text in texts
        ]
        if not items:
            raise InputError(
                "There is nothing to remember.", "Give at least one of findings, insights, lessons."
            )
        now = int(self._core.clock())
        with self._core.change("observe", "Observed", project=project) as op:
            records = tuple(self._store_in_operation(op, item, now, within) for item in items)
            op.label = _operation_label(records)
        return records

    def remember_one(
        self, content: str, category: Category, *, source: str = EXPLICIT, tags: Iterable[str] = ()
    ) -> MemoryRecord:
        """Keep one finding, insight or lesson, and return it; an equal active one is not stored twice.

        Raises InputError.
        """
        item = ObservationDraft(content=content, category=category, source=source, tags=tuple(tags))
        now = int(self._core.clock())
        with self._core.change("observe", "Observed") as op:
            record = self._store_in_operation(op, item, now)
            op.label = _operation_label([record])
        return record

    def recall(
        self,
        query: str,
        *,
        category: Category | None = None,
        limit: int = 10,
        min_score: float = 0.0,
        after: float | datetime | None = None,
        before: float | datetime | None = None,
        filter: str = "",
        preview: bool = False,
        alone: bool = False,
    ) -> tuple[ObservationHit, ...]:
        """The observations that answer a query by their words, best first; each score lies between 0 and 1.

        ``after`` (included) and ``before`` (not): Unix seconds or aware datetimes. An agent's
        recall is noted as one, unless it is a ``preview``. ``alone``: see ``search``. No query raises; InputError
        for a category, limit or least score that cannot be, FilterError for a bad filter.
        """
        from memtui.engine.search import observations as search_observations

        if category is not None and category not in memory_observations.CATEGORIES:
            raise InputError(
                f"There is no category {category!r}.", f"Use {', '.join(memory_observations.CATEGORIES)}."
            )
        now = self._core.clock()
        first, last = (None if bound is None else unix_seconds(bound) for bound in (after, before))
        with self._core.connections.read() as connection:
            visible = self._core.agent_filter(connection, filter)
            within = search_observations.observations_scope(
                now, category=category, filter=visible, after=first, before=last, alone=alone
            )
            hits = search_observations.recall(
                connection, query, within, limit=limit, min_score=min_score, now=now
            )
        if not preview:
            self._core.note_recall(query, [hit.memory for hit in hits])
        return hits

    def remember_transcript(
        self, session_id: str, transcript: Sequence[TranscriptMessage | Mapping[str, Any]]
    ) -> tuple[MemoryRecord, ...]:
        """Keep the sentences of a conversation that say that they matter, and its last long answer as a summary.

        No model is asked. One undoable operation; a transcript that was read before adds nothing, a longer one
        what is new, and its summary replaces the one before. Returns what was added. Raises InputError for
        messages without role and content.
        """
        from memtui.engine.consolidation.extract import transcripts

        session_id = validation.check_name(session_id, "session id")
        drafts, summary = transcripts.draw_observations(
            session_id,
            transcripts.parse_messages(transcript),
            partial(validation.trust_of_role, actor=self._core.actor),
        )
        now = int(self._core.clock())
        with self._core.change("observe", "Observed") as op:
            turns = transcripts.recorded_turns(op.connection, session_id) if drafts or summary else []
            new = [item for item in drafts if not transcripts.is_known(op.connection, item, now)]
            added = [self._store_in_operation(op, _link_to_turn(item, turns), now) for item in new]
            if summary is not None and not transcripts.is_known(op.connection, summary, now):
                added.append(self._store_summary(op, _link_to_turn(summary, turns), now))
            op.label = f"{_operation_label(added)} from a session" if added else op.label
        return tuple(added)

    def _store_summary(self, op: history.OpenOperation, summary: ObservationDraft, now: int) -> MemoryRecord:
        """In place of the present one, unless the person confirmed that."""
        from memtui.engine.consolidation.extract import transcripts

        assert summary.session_id is not None
        old = transcripts.active_summary(op.connection, summary.session_id, now)
        if old is None or old.protected:
            return self._store_in_operation(op, summary, now)
        memories.update(op.connection, old.rid, valid_until=now, ended_by="superseded")
        return self._store_in_operation(op, replace(summary, attributes={"supersedes": old.id}), now)

    def _store_in_operation(
        self, op: history.OpenOperation, item: ObservationDraft, now: int, within: str = ""
    ) -> MemoryRecord:
        passes = self._core.passes_filter(op.connection, within)
        rid, new = memory_observations.store_observation(
            op.connection, item, actor=self._core.actor, options=self._core.options, now=now, within=passes
        )
        (record,) = memories.by_rid(op.connection, [rid], now)
        if new:
            index_memory(
                op.connection, rid, record.content, self._core.indexer.find_mentions(record.content), now
            )
            if within and not passes(rid):
                raise outside_scope_error("observation")
        return record


def _link_to_turn(item: ObservationDraft, turns: Sequence[RecordedTranscript]) -> ObservationDraft:
    """Pointing at the recorded turn that says it, if there is one, and of its project."""
    text = item.content.removesuffix("…")
    source = next((turn for turn in turns if text in turn.content), None)
    return replace(item, source_ids=(source.id,), project=source.project) if source else item


def _operation_label(records: Sequence[MemoryRecord]) -> str:
    if len(records) == 1:
        return f"Noted the {records[0].category} {quote_beginning(validation.open_text(records[0]))}"
    counts = [
        (sum(record.category == category for record in records), category)
        for category in memory_observations.CATEGORIES
    ]
    return "Noted " + ", ".join(plural(count, category) for count, category in counts if count)
