"""``memory.view``: lists, details, provenance and history for people. Nothing here writes or counts as a recall."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec.structs import replace

from memtui.engine.clock import EARLIEST, LATEST, Clock
from memtui.engine.confidence import fades_at
from memtui.engine.errors import InputError, NotFoundError
from memtui.engine.memories import predecessors
from memtui.engine.records import (
    Caution,
    Dependents,
    Enrichment,
    Entity,
    LastServed,
    MemoryDetail,
    MemoryRecord,
    Neighbourhood,
    Operation,
    Options,
    Portrait,
    Recall,
    Replacement,
    RowChange,
    Session,
    Status,
    TopicFacts,
)
from memtui.engine.records.jobs import FadingForecast
from memtui.engine.records.lists import SessionRow
from memtui.engine.records.status import Growth
from memtui.engine.records.timeline import LAYERS, Layer, RowsBy, Timeline, Unit
from memtui.engine.search import listing
from memtui.engine.search.filters import compiler, dates
from memtui.engine.store import (
    entities,
    entity_lists,
    fading,
    history,
    lists,
    memories,
    operations,
    proposals,
    recalls,
    replacements,
    sessions,
    stamps,
    stats,
    withheld,
)
from memtui.engine.store.connections import Connections

if TYPE_CHECKING:
    from memtui.engine.jobs import decay
    from memtui.engine.search.open_changes import OpenChanges

_DAY = 86_400
# Facts have no transcript of their own: what was learned within that many days is around them.
_AROUND_DAYS = 3
_AROUND_EACH = 3
_AROUND_READ = 400
# What was told last: of so many answers to agents.
_RECALLS_READ = 200
_MOST_OF_TOPIC = 100
_MOST_NEIGHBOURS = 200


class ReadQueries:
    """What a memory holds, as lists and details. Reached as ``Memory.view``; safe to call from any thread.

    Filters are expressions of the filter language (``search/filters.py``); a bad one raises FilterError.
    """

    def __init__(self, connections: Connections, clock: Clock, options: Options) -> None:
        self._connections = connections
        self._clock = clock
        self._options = options
        self.session_list = lists.session_list(connections, self._span_of)
        self.operation_list = lists.operation_list(connections, self._span_of)
        self.recall_list = lists.recall_list(connections, self._span_of)
        self.entity_list = entity_lists.EntityList(connections)

    def _span_of(self, text: str) -> dates.Period | None:
        return dates.parse_bounds(text, self._clock())

    def _compile_filter(self, filter: str) -> compiler.CompiledFilter:
        return compiler.compile_filter(filter, self._clock(), fade_threshold=self._options.fade_threshold)

    # Lists

    def count(self, filter: str = "") -> int:
        """How many memories pass a filter. Raises FilterError."""
        compiled = self._compile_filter(filter)
        with self._connections.read() as connection:
            return listing.count(connection, compiled)

    def page(
        self,
        filter: str = "",
        *,
        sort: listing.SortKey = "time",
        descending: bool = True,
        offset: int = 0,
        limit: int = 128,
    ) -> list[MemoryRecord]:
        """``limit`` memories from ``offset`` on; the order is total, so pages fit together."""
        compiled = self._compile_filter(filter)
        with self._connections.read() as connection:
            return listing.page(
                connection,
                compiled,
                sort=sort,
                descending=descending,
                offset=offset,
                limit=limit,
                now=self._clock(),
            )

    def withholds(self) -> bool:
        """Whether the person may keep turns from agents (``is:withheld``)."""
        with self._connections.read() as connection:
            return withheld.any_withheld(connection)

    def less_withheld(self, agent: str, filter: str) -> str:
        """The filter without what the person keeps from an agent."""
        from memtui.engine.search.access_scope import less_withheld

        with self._connections.read() as connection:
            return less_withheld(connection, agent, filter)

    def withheld_agents(self) -> list[str]:
        """The agents from which the person keeps something, by name."""
        with self._connections.read() as connection:
            return withheld.withheld_agents(connection)

    def rids(
        self, filter: str = "", *, sort: listing.SortKey = "time", descending: bool = True
    ) -> Iterator[array[int]]:
        """The keys of all memories that pass the filter, in the order of ``page``, in arrays of at most 8,192.

        One consistent snapshot; stop iterating (and close) to cancel.
        """
        compiled = self._compile_filter(filter)
        with self._connections.read() as connection:
            yield from listing.rids(connection, compiled, sort=sort, descending=descending, now=self._clock())

    def rows(self, rids: Sequence[int]) -> list[MemoryRecord]:
        """Memories by key, in the order asked; those that are gone are left out."""
        with self._connections.read() as connection:
            return memories.by_rid(connection, rids, self._clock())

    def tag_counts(self, rids: Iterable[int]) -> dict[str, int]:
        """The tags of these memories, each with how many of them have it, the most frequent first."""
        with self._connections.read() as connection:
            return memories.tag_counts(connection, rids)

    def entity_names(self, rids: Sequence[int]) -> dict[int, tuple[str, ...]]:
        """For each of the memories (by rid) that has any, the names of its entities."""
        with self._connections.read() as connection:
            return entities.names_of(connection, rids)

    def emptied_by(self, filter: str) -> compiler.EmptyingTerm | None:
        """The term of a filter that leaves nothing; None when the filter still finds something. Raises FilterError."""
        compiled = self._compile_filter(filter)
        with self._connections.read() as connection:
            return compiler.which_term_removes_all(connection, compiled)

    def status(self) -> Status:
        """How many asked cards wait in Review, and what agents were served since local midnight."""
        from memtui.engine.review.status_line import status

        with self._connections.read() as connection:
            return status(connection, self._clock())

    # At a glance

    def portrait(
        self, filter: str = "", *, each: int = 8, since: str = "7d", months: bool = True
    ) -> Portrait:
        """What is known about the person by topic, with the ``each`` strongest facts of each; and what goes on around it.

        ``filter``: only facts that pass it. People are named without one only. ``since``: from when on a fact is new, a date
        of the filter language. ``months``: with what happened in the latest months. Raises FilterError.
        """
        from memtui.engine.overview.portrait import make_portrait
        from memtui.engine.review.status_line import status

        now = self._clock()
        with self._connections.read() as connection:
            return make_portrait(
                connection, filter, self._options, now, status(connection, now), _asked_for(each), since,
                months=months,
            )  # fmt: skip

    def topics(self, filter: str = "", *, each: int = 8) -> tuple[TopicFacts, ...]:
        """The topics of the facts that pass a filter, each with its counts and its ``each`` strongest facts.

        Suspicious ones are left out until the person has decided.
        """
        from memtui.engine.overview.portrait import list_topic_facts, trusted_facts_filter

        compiled = self._compile_filter(filter)
        with self._connections.read() as connection:
            known = trusted_facts_filter(connection, compiled, self._clock())
            return list_topic_facts(connection, known, self._clock(), _asked_for(each))

    def neighbourhood(
        self, name_or_id: str, filter: str = "", *, type: str | None = None, limit: int = 24, on: str = ""
    ) -> Neighbourhood:
        """Whom or what an entity is seen with: the ``limit`` entities that most memories mention together with it.

        ``filter``: only memories that pass it count. ``type``: only entities of this type. ``on``: only memories of this
        date or span, as behind ``on:`` in a filter. Raises NotFoundError,
        InputError for a name of several entities, FilterError.
        """
        from memtui.engine.overview.neighbourhood import load_neighbourhood
        from memtui.engine.store.entity_names import find_entity

        if not 0 <= limit <= _MOST_NEIGHBOURS:
            raise InputError(f"A neighbourhood has 0 to {_MOST_NEIGHBOURS} entities.", "For example 24.")
        known_type = None if type is None else entity_lists.check_type(type)
        within, now = self._compile_filter(f"{filter} on:{on}" if on else filter), self._clock()
        period = (dates.parse_bounds(on, now) if on else None) or (EARLIEST, LATEST)
        with self._connections.read() as connection:
            entity = find_entity(connection, name_or_id)
            return load_neighbourhood(
                connection, entity, within, now, limit=limit, type=known_type, period=period
            )

    # Over time

    def timeline(
        self,
        filter: str = "",
        *,
        by: RowsBy = "topic",
        unit: Unit | None = None,
        middle: float | None = None,
        most: int = 60,
        rows: int = 40,
        layers: Sequence[Layer] = LAYERS,
    ) -> Timeline:
        """How many memories that pass a filter there are in each row and period: at most ``most`` periods.

        ``by``: what a row is. ``unit`` None: the finest of which all periods fit. ``middle``: a time in the middle of them;
        None: the latest ones. Raises InputError for numbers that are too large.
        """
        from memtui.engine.overview import timeline

        if not (1 <= most <= timeline.MOST_PERIODS and 1 <= rows <= timeline.MOST_ROWS):
            raise InputError(
                f"A timeline has 1 to {timeline.MOST_PERIODS:,} periods and 1 to {timeline.MOST_ROWS} rows.",
                "For example 60 periods and 40 rows.",
            )
        with self._connections.read() as connection:
            return timeline.make_timeline(
                connection, filter, self._options, self._clock(),
                by=by, unit=unit, middle=middle, most=most, rows=rows, layers=layers,
            )  # fmt: skip

    def growth(self, steps: int = 60) -> Growth:
        """How many notes and turns there were, at even steps from the first one until now."""
        with self._connections.read() as connection:
            return stats.growth_over_time(connection, self._clock(), steps)

    def forecast(self, days: int = 30) -> FadingForecast:
        """Which facts fade on each of the next local dates if they are not recalled or confirmed; and the confidence of all."""
        if not 1 <= days <= 3_660:
            raise InputError("A forecast covers 1 to 3,660 days.", "For example 30.")
        from memtui.engine.jobs import decay

        with self._connections.read() as connection:
            return decay.forecast_fading(connection, self._options, self._clock(), days)

    def fading(self) -> decay.FadingPlan:
        """What decay would move to the Trash now, and what waits because it is beyond the day's share."""
        from memtui.engine.jobs import decay

        with self._connections.read() as connection:
            return decay.plan_fading(connection, self._options, self._clock())

    # One memory

    def fade_times(self, rids: Sequence[int]) -> dict[int, float]:
        """When the memories (by rid) fade, in Unix seconds, those that did already included; others are left out."""
        with self._connections.read() as connection:
            return fading.fade_times(connection, rids, self._options.fade_threshold)

    def get(self, id: str) -> MemoryRecord:
        """A memory by id, or by a beginning of an id that is unique. Raises NotFoundError."""
        with self._connections.read() as connection:
            return memories.get(connection, id, self._clock())

    def detail(self, id: str) -> MemoryDetail:
        """Everything about a memory: sources, versions, what is around it, who changed it, which agents were served it.

        Raises NotFoundError.
        """
        one, threshold = self.get(id), self._options.fade_threshold
        sources = self.sources(one.id)
        versions, merged_into = self.versions(one.id), self.merged(one.id, into=True)
        with self._connections.read() as connection:
            kept_from = withheld.agents_kept_from(connection, one.rid)
            in_review = one.active and proposals.is_conflict_open(connection, one.id, self._clock())
            replaced = replacements.chain(connection, one, self._clock())
            decided, device = (
                tuple(stamps.read_stamps(connection, one.id).values()),
                stamps.device(connection),
            )
            device_names = stamps.device_names(connection, [stamp.device for stamp in decided])
        sessions = {}
        for session_id in {m.session_id for m in (one, *sources) if m.session_id is not None}:
            try:
                sessions[session_id] = self.session(session_id)
            except NotFoundError:
                continue
        return MemoryDetail(
            memory=one,
            fades=fades_at(
                one.confidence, one.decay_rate, one.recall_days,
                one.created_at, one.last_accessed, one.confirmed_at, one.happens_at, threshold,
            ),
            threshold=threshold,
            sources=tuple(sources),
            derived=tuple(self.derived(one.id)),
            versions=tuple(versions),
            merged=tuple(self.merged(one.id)),
            merged_into=tuple(merged_into),
            successor=_find_successor(one, versions, merged_into),
            around=tuple(self._surrounding_memories(one, sources)),
            entities=tuple(self.entities_of(one.id)),
            enrichment=self.enrichment_of(one.id),
            history=tuple(self.history_of(one.id)),
            recalls=tuple(self.recalls_of(one.id)),
            sessions=sessions,
            cautions=self.cautions([one.id]).get(one.id, ()),
            decided=decided,
            device=device,
            device_names=device_names,
            withheld_from=kept_from,
            asked=in_review,
            replacements=replaced,
        )  # fmt: skip

    def _surrounding_memories(
        self, one: MemoryRecord, sources: Sequence[MemoryRecord]
    ) -> Sequence[MemoryRecord]:
        if one.kind == "episode":
            return self.neighbours(one.id)
        if sources and sources[0].kind == "episode":
            return self.neighbours(sources[0].id)
        near = self.page(_days_around(one.event_time), sort="time", descending=False, limit=_AROUND_READ)
        here = next((index for index, other in enumerate(near) if other.rid == one.rid), None)
        return near[max(here - _AROUND_EACH, 0) : here + _AROUND_EACH + 1] if here is not None else []

    def successor(self, id: str) -> MemoryRecord | None:
        """What is in the place of a memory: its latest text, or what it was merged into; None for one that stands itself.

        Raises NotFoundError.
        """
        one = self.get(id)
        return _find_successor(one, self.versions(one.id), self.merged(one.id, into=True))

    def sources(self, id: str) -> list[MemoryRecord]:
        """The memories that this one was derived from, oldest first."""
        with self._connections.read() as connection:
            return memories.linked(connection, id, "source", self._clock())

    def derived(self, id: str) -> list[MemoryRecord]:
        """The memories that were derived from this one."""
        with self._connections.read() as connection:
            return memories.linked(connection, id, "source", self._clock(), incoming=True)

    def drawn(self, ids: Sequence[str]) -> dict[str, tuple[MemoryRecord, ...]]:
        """The facts that were drawn from each of some turns (by id), also those in the Trash; turns without one are left out."""
        with self._connections.read() as connection:
            return memories.drawn_from(connection, ids, self._clock())

    def merged(self, id: str, *, into: bool = False) -> list[MemoryRecord]:
        """The memories that were merged into this one; with ``into`` the one that it was merged into."""
        with self._connections.read() as connection:
            return memories.linked(connection, id, "merged", self._clock(), incoming=into)

    def versions(self, id: str) -> list[MemoryRecord]:
        """The chain of corrections that this memory belongs to, the oldest text first. Raises NotFoundError."""
        with self._connections.read() as connection:
            now = self._clock()
            chain = [memories.get(connection, id, now)]
            seen = {chain[0].id}
            for incoming in (False, True):
                while True:
                    end = chain[-1] if incoming else chain[0]
                    step = [
                        m
                        for m in memories.linked(connection, end.id, "supersedes", now, incoming=incoming)
                        if m.id not in seen
                    ]
                    if not step:
                        break
                    seen.add(step[-1].id)
                    chain = [*chain, step[-1]] if incoming else [step[-1], *chain]
            return chain

    def replacements(self, ids: Sequence[str]) -> dict[str, tuple[Replacement, ...]]:
        """What each of some memories (by id) took the place of, and what took its place; those without are left out."""
        with self._connections.read() as connection:
            return replacements.find_replacements(connection, ids, self._clock())

    def chain(self, id: str) -> tuple[Replacement, ...]:
        """The replacements that lead to a memory and on from it, the earliest first. Raises NotFoundError."""
        with self._connections.read() as connection:
            now = self._clock()
            return replacements.chain(connection, memories.get(connection, id, now), now)

    def cautions(self, ids: Sequence[str], *, within: str = "") -> dict[str, tuple[Caution, ...]]:
        """What some memories (by id) tell that was corrected or forgotten since; those without a caution are left out.

        ``within``: the filter outside of which there is nothing for whoever asks.
        """
        from memtui.engine.search import cautions

        now = self._clock()
        known = cautions.visible_scope(within, now, fade_threshold=self._options.fade_threshold)
        with self._connections.read() as connection:
            return cautions.find_cautions(connection, ids, now, known=known)

    def open_changes(self, memories: Sequence[MemoryRecord], *, within: str = "") -> OpenChanges:
        """The changes of some memories that the person has not decided. ``within``: as for ``cautions``."""
        from memtui.engine.search import cautions, open_changes

        now = self._clock()
        known = cautions.visible_scope(within, now, fade_threshold=self._options.fade_threshold)
        with self._connections.read() as connection:
            return open_changes.find_open_changes(connection, memories, now, known)

    def confided(self, memories: Sequence[MemoryRecord], *, within: str = "") -> dict[str, str]:
        """Which of some memories were said in confidence, by id, and the words that ask for it ("" outside ``within``)."""
        from memtui.engine.search import cautions, in_confidence

        known = cautions.visible_scope(within, self._clock(), fade_threshold=self._options.fade_threshold)
        with self._connections.read() as connection:
            return in_confidence.find_confided(connection, memories, known)

    def dependents(self, ids: Sequence[str]) -> Dependents:
        """What depends on some memories (ids): to be looked at before they are corrected, forgotten, merged or erased.

        ``Dependents.after`` says what depends on them where a text takes their place. Raises NotFoundError.
        """
        from memtui.engine.review import dependents

        with self._connections.read() as connection:
            return dependents.find_dependents(connection, ids, self._clock())

    def standing_again(self, ids: Sequence[str]) -> tuple[MemoryRecord, ...]:
        """What would stand again if some memories (ids) were forgotten: what an agent, a job or a reading put them in the
        place of. Raises NotFoundError.
        """
        now = self._clock()
        with self._connections.read() as connection:
            records = [
                old for id in ids for old in predecessors.standing_again(connection, memories.get(connection, id, now), now)
            ]  # fmt: skip
        return tuple({one.id: one for one in records}.values())

    def summary_cautions(self, shown: Sequence[Entity]) -> dict[str, tuple[Caution, ...]]:
        """What the summaries of some entities (by id) tell that was corrected or forgotten, as far as a card of Review
        asks about them; those without a caution are left out.
        """
        if not any(one.summary for one in shown):
            return {}
        from memtui.engine.search import cautions

        with self._connections.read() as connection:
            return cautions.summary_cautions(connection, shown, self._clock())

    def neighbours(self, id: str, each: int = 3) -> list[MemoryRecord]:
        """The turns around one in its transcript, itself included. Raises NotFoundError."""
        with self._connections.read() as connection:
            now = self._clock()
            return memories.turns_around(connection, memories.get(connection, id, now), now, each=each)

    def entities_of(self, id: str) -> list[Entity]:
        """The entities that a memory is linked to, the most mentioned first. Raises NotFoundError."""
        with self._connections.read() as connection:
            return entities.of_memory(connection, memories.get(connection, id, self._clock()).rid)

    def enrichment_of(self, id: str) -> Enrichment | None:
        """When a model read a memory again for names, and what came of it; None if none did. Raises NotFoundError."""
        from memtui.engine.store import enrichments

        with self._connections.read() as connection:
            return enrichments.enrichment_of_memory(
                connection, memories.get(connection, id, self._clock()).rid
            )

    def enriched_in(self, eid: int) -> set[int]:
        """The memories (rids) in which only a model that read them again found an entity."""
        from memtui.engine.store import enrichments

        with self._connections.read() as connection:
            return enrichments.rids_added_to_entity(connection, eid)

    def entity_months(self, eid: int) -> list[tuple[int, int, int]]:
        """(year, month, memories) of an entity, in local time, the oldest first; months without any are left out."""
        with self._connections.read() as connection:
            return entity_lists.mentions_by_month(connection, eid)

    def history_of(self, id: str) -> list[tuple[Operation, RowChange]]:
        """Every recorded change of a memory with its operation, oldest first. Raises NotFoundError."""
        with self._connections.read() as connection:
            rid = memories.get(connection, id, self._clock()).rid
            return operations.memory_changes(connection, rid)

    def recalls_of(self, id: str, limit: int = 50) -> list[Recall]:
        """The recalls that served this memory, the latest first."""
        with self._connections.read() as connection:
            return recalls.of_memory(connection, id, limit)

    def agents(self) -> list[str]:
        """The agents that were served something, as far as the recall log goes back, by name."""
        with self._connections.read() as connection:
            return recalls.agents(connection)

    def last_served(self, limit: int = 20) -> list[LastServed]:
        """What agents were served last, by agent and session, the latest first: at most ``limit`` of them. What is gone since,
        or kept from that agent, is left out.
        """
        given: dict[tuple[str, str | None], list[Recall]] = {}
        with self._connections.read() as connection:
            for recall in recalls.page(connection, offset=0, limit=_RECALLS_READ):
                given.setdefault((recall.agent, recall.session_id), []).append(recall)
            served: list[LastServed] = []
            for (agent, session_id), answers in given.items():
                ids = dict.fromkeys(id for answer in answers for id in answer.memory_ids)
                known = memories.by_ids(connection, list(ids), self._clock())
                kept = withheld.withheld_among(connection, [one.rid for one in known], agent)
                active = tuple(one for one in known if one.active and one.rid not in kept)
                if active and len(served) < limit:
                    parts = _latest_answers(answers, {one.id for one in active})
                    served.append(
                        LastServed(
                            agent=agent,
                            at=answers[0].at,
                            memories=active,
                            session_id=session_id,
                            answers=parts,
                        )
                    )
            return served

    # Sessions

    def sessions(self, *, text: str = "", offset: int = 0, limit: int = 128) -> list[Session]:
        """A page of sessions, the latest first; with ``text`` in title, id, source or project."""
        with self._connections.read() as connection:
            return sessions.page(connection, offset=offset, limit=limit, text=text)

    def count_sessions(self, text: str = "") -> int:
        """How many sessions have ``text`` in title, id, source or project."""
        with self._connections.read() as connection:
            return sessions.count(connection, text)

    def session_name(self, session_id: str) -> str:
        """What its writer called a session. The id may have more, where others have one of that name."""
        with self._connections.read() as connection:
            return sessions.given_name(connection, session_id)

    def sessions_named(self, name: str, filter: str, *, begun_by: str) -> list[str]:
        """The ids of the sessions that their writers called so and of which something passes the filter: first those
        that ``begun_by`` began, then in the order in which they begin there.
        """
        compiled = self._compile_filter(filter)
        where, bindings = sessions.given_name_condition(name)
        with self._connections.read() as connection:
            rows = connection.execute(
                f"""
                SELECT m.session_id FROM memories m LEFT JOIN sessions_consolidations s USING (session_id)
                WHERE {where} AND {compiled.where}
                GROUP BY m.session_id ORDER BY s.begun_by IS NOT :begun_by, min(m.rid)
                """,
                {**compiled.bindings, **bindings, "begun_by": begun_by},
            ).fetchall()
            return [
                str(id)
                for (id,) in rows
                if sessions.given_name(connection, str(id)) == sessions.stable_id_part(name)
            ]

    def session(self, session_id: str) -> Session:
        """One session. Raises NotFoundError."""
        with self._connections.read() as connection:
            return sessions.get(connection, session_id)

    def session_row(self, session_id: str) -> SessionRow:
        """A session as ``session_list`` lists it. Raises NotFoundError."""
        return lists.session_row(self._connections, session_id)

    def transcript(self, session_id: str, *, offset: int = 0, limit: int = 200) -> list[MemoryRecord]:
        """The turns of a session in order, forgotten ones included."""
        with self._connections.read() as connection:
            return memories.transcript(connection, session_id, self._clock(), offset=offset, limit=limit)

    # History

    def operations(self, *, offset: int = 0, limit: int = 128, actor: str | None = None) -> list[Operation]:
        """Operations, newest first."""
        with self._connections.read() as connection:
            return operations.latest(connection, limit=limit, offset=offset, actor=actor)

    def count_operations(self) -> int:
        """How many operations history has."""
        with self._connections.read() as connection:
            return operations.count(connection)

    def operation(self, op_id: int) -> Operation:
        """One operation. Raises NotFoundError."""
        with self._connections.read() as connection:
            return operations.get(connection, op_id)

    def changes_of(self, op_id: int, limit: int = 1_000) -> list[RowChange]:
        """What an operation did, row by row, in order."""
        if limit < 1:
            raise InputError("The limit must be at least 1.", "For example 100.")
        with self._connections.read() as connection:
            return history.with_removed_ids(
                connection, operations.row_changes(connection, op_id, limit=limit)
            )

    def titles(self, changes: Sequence[RowChange]) -> list[str]:
        """What people know each changed row by: a memory's text, a session's id, a name; "" if unknown."""
        with self._connections.read() as connection:
            return [history.title_of_change(connection, change) for change in changes]

    def recent_recalls(self, *, offset: int = 0, limit: int = 128) -> list[Recall]:
        """The recalls of all agents, the latest first."""
        with self._connections.read() as connection:
            return recalls.page(connection, offset=offset, limit=limit)


def _find_successor(
    one: MemoryRecord, versions: Sequence[MemoryRecord], merged_into: Sequence[MemoryRecord]
) -> MemoryRecord | None:
    if one.ended_by == "merged" and merged_into:
        return merged_into[-1]
    later = versions[-1] if one.ended_by == "superseded" and versions else one
    return None if later.id == one.id else later


def _asked_for(each: int) -> int:
    if not 0 <= each <= _MOST_OF_TOPIC:
        raise InputError(f"A portrait has 0 to {_MOST_OF_TOPIC} facts of a topic.", "For example 8.")
    return each


def _days_around(moment: int) -> str:
    def day(seconds: float) -> str:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")

    near = f"{day(moment - _AROUND_DAYS * _DAY)}..{day(moment + _AROUND_DAYS * _DAY)}"
    return f"kind:fact,reflection,observation {near}"


def _latest_answers(answers: Sequence[Recall], active: set[str]) -> tuple[Recall, ...]:
    """The answers with only those memories (ids) that no later answer of them has; those without any are left out."""
    left, parts = set(active), []
    for answer in answers:
        ids = tuple(id for id in answer.memory_ids if id in left)
        left.difference_update(ids)
        if ids:
            parts.append(replace(answer, memory_ids=ids))
    return tuple(parts)
