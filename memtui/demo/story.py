"""The demo's life, replayed in time order: talks, what was learned from them, recalls, second thoughts.

Rows are written through the rooms that write them in earnest; only the clock is moved.
"""

from __future__ import annotations

import hashlib
import textwrap
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from datetime import datetime
from functools import partial
from itertools import pairwise
from operator import attrgetter, itemgetter
from typing import Any

import apsw
import msgspec

from memtui.engine.curate import intake, notes, turns
from memtui.engine.days import day_of_fact
from memtui.engine.records import EXPLICIT, ID_PREFIX, TRUST_ORDER, Kind, MemoryRecord, Options, Trust
from memtui.engine.store import history, memories, recalls, scratchpad, sessions
from memtui.engine.store.connection import Connections
from memtui.engine.wording import plural

from .lines import AnyLine, Fact, Line, Note, Observation, Reflection, Turn

AGENT = "agent:assistant"
_OPTIONS = Options()
_DAY = 86_400


class Story:
    """``write`` once, into an empty memory. Keys of the file are mapped to memories as they come to be."""

    def __init__(self, connections: Connections, lines: Iterable[AnyLine], now: int) -> None:
        lines = list(lines)
        self._connections = connections
        self._now = now
        self._written: dict[str, MemoryRecord] = {}
        self._sittings = _sittings([line for line in lines if isinstance(line, Turn)])
        self._said = {turn.key: turn for sitting in self._sittings for turn in sitting if turn.key}
        self._lessons = self._by_lesson([line for line in lines if isinstance(line, Fact)])
        self._facts = {fact.key: fact for lesson in self._lessons for fact in lesson}
        self._reflections = [line for line in lines if isinstance(line, Reflection)]
        self._observations = [line for line in lines if isinstance(line, Observation)]
        self._notes = [line for line in lines if isinstance(line, Note)]

    def write(self) -> None:
        for at, do in sorted(self._steps(), key=itemgetter(0)):
            do(at)

    def _steps(self) -> Iterator[tuple[int, Callable[[int], None]]]:
        for sitting in self._sittings:
            yield sitting[-1].time, partial(self._talk, sitting)
        for sitting, told in self._tellings():
            yield sitting[0].time, partial(self._tell, sitting[0], told)
        for lesson in self._lessons:
            yield lesson[0].time, partial(self._learn, lesson)
        for fact in self._facts.values():
            if fact.confirmed and fact.by != "person":
                yield fact.time + min(_DAY, (self._now - fact.time) // 2), partial(self._confirm, fact)
            if fact.forgotten:
                yield self._ends(fact), partial(self._forget, fact)
        for reflection in self._reflections:
            yield reflection.time, partial(self._reflect, reflection)
        for source in dict.fromkeys(line.source for line in self._observations):
            noted = [line for line in self._observations if line.source == source]
            yield noted[-1].time, partial(self._observe, noted)
        for note in self._notes:
            yield note.time, partial(self._note, note)

    # When

    def _talk_of(self, fact: Fact) -> Turn:
        """The last turn that a fact was drawn from."""
        return max((self._said[key] for key in fact.sources), key=attrgetter("time"))

    def _by_lesson(self, facts: Iterable[Fact]) -> list[list[Fact]]:
        """Facts that are learned at once: what one consolidation draws from a sitting, else each alone.

        Nothing is learned before the sitting is over: its turns are written together.
        """
        over = {turn.key: sitting[-1].time for sitting in self._sittings for turn in sitting}
        lessons: dict[object, list[Fact]] = {}
        for fact in facts:
            end = over[self._talk_of(fact).key]
            lessons.setdefault(end if fact.by == "consolidation" else fact.key, []).append(
                msgspec.structs.replace(fact, time=max(fact.time, end))
            )
        return [
            [msgspec.structs.replace(fact, time=max(one.time for one in lesson)) for fact in lesson]
            for lesson in lessons.values()
        ]

    def _ends(self, fact: Fact) -> int:
        """When a fact is forgotten or superseded; now, if it stands."""
        if fact.forgotten:
            return fact.time + (self._now - fact.time) * 2 // 3
        successors = (other for other in self._facts.values() if other.supersedes == fact.key)
        return min((other.time for other in successors), default=self._now)

    def _tellings(self) -> Iterator[tuple[list[Turn], list[Fact]]]:
        """What an agent is told when a talk begins: each fact in some later sittings, on different days."""
        told: dict[int, list[Fact]] = {}
        for fact in self._facts.values():
            chances = [
                place
                for place, sitting in enumerate(self._sittings)
                if fact.time < sitting[0].time < self._ends(fact)
            ]
            wanted = min(fact.recalled_days, len(chances))
            for n in range(wanted):
                told.setdefault(chances[(2 * n + 1) * len(chances) // (2 * wanted)], []).append(fact)
        return ((self._sittings[place], facts) for place, facts in told.items())

    # What

    def _operation(self, at: int, actor: str, kind: str, label: str) -> AbstractContextManager[history.Op]:
        return history.operation(self._connections, lambda: at, actor, kind, label)

    def _talk(self, sitting: list[Turn], at: int) -> None:
        title = sitting[0].title
        with self._operation(
            at, AGENT, "record", f"Recorded {plural(len(sitting), 'turn')} of “{title}”"
        ) as op:
            for turn in sitting:
                new = turns.NewTurn(
                    session_id=turn.session, role=turn.role, event_time=turn.time,
                    intake=intake.accept(turn.content, "episode", _OPTIONS.secrets),
                    trust=intake.trust(turn.role, AGENT), source="demo", project=turn.project, title=title,
                )  # fmt: skip
                rid = turns.store_turn(op.connection, new, turn.time)
                assert rid is not None  # without a source key nothing can be there already
                self._keep(op.connection, turn.key, rid, at)

    def _tell(self, turn: Turn, told: list[Fact], at: int) -> None:
        records = [self._written[fact.key] for fact in told]
        midnight = int(datetime.fromtimestamp(at).replace(hour=0, minute=0, second=0).timestamp())
        with self._connections.write() as connection:
            recalls.add(
                connection, at=at, agent=AGENT.removeprefix("agent:"), session_id=turn.session, query=turn.content,
                memory_ids=[record.id for record in records],
            )  # fmt: skip
            memories.record_access(connection, [record.rid for record in records], at, midnight)

    def _learn(self, lesson: list[Fact], at: int) -> None:
        first = lesson[0]
        session = self._talk_of(first).session
        actor, kind, label = first.by, "remember", f"Remembered {_quote(first)}"
        if first.supersedes:
            kind, label = "correct", f"Corrected {_quote(self._facts[first.supersedes])} to {_quote(first)}"
        if first.by == "consolidation":
            actor, kind = "scheduler", "consolidate"
            label = f"Consolidated “{self._talk_of(first).title}”: {plural(len(lesson), 'fact')}"
        with self._operation(at, actor, kind, label) as op:
            for fact in lesson:
                self._insert_fact(op.connection, fact, at)
            if kind == "consolidate":
                sessions.mark_consolidated(op.connection, session, at)

    def _insert_fact(self, connection: apsw.Connection, fact: Fact, at: int) -> None:
        stated = fact.by == "person"
        talk = self._talk_of(fact)
        attributes = {}
        if fact.supersedes:
            old = self._written[fact.supersedes]
            attributes = {"supersedes": old.id}
            memories.update(connection, old.rid, valid_until=at, ended_by="superseded")
        self._insert(
            connection, "fact", fact, key=fact.key, tags=fact.tags, sources=fact.sources,
            attributes=attributes, created_at=at, confidence=fact.confidence, project=talk.project,
            topic=fact.topic, happens_at=day_of_fact(fact.content, at, fact.topic),
            decay_rate=0.0 if stated else _OPTIONS.rate_of(fact.topic), confirmed_at=at if stated else None,
            trust="user" if stated else self._trust(fact),
            source=f"session:{talk.session}" if fact.by == "consolidation" else EXPLICIT,
        )  # fmt: skip

    def _confirm(self, fact: Fact, at: int) -> None:
        with self._operation(at, "person", "confirm", f"Confirmed {_quote(fact)}") as op:
            notes.confirm(op.connection, self._written[fact.key], actor="person", now=at)

    def _forget(self, fact: Fact, at: int) -> None:
        with self._operation(at, "person", "forget", f"Forgot {_quote(fact)}") as op:
            notes.forget(op.connection, self._written[fact.key], actor="person", now=at)

    def _reflect(self, line: Reflection, at: int) -> None:
        with self._operation(at, "scheduler", "reflect", "Reflected on the week") as op:
            self._insert(
                op.connection, "reflection", line, key=line.key, tags=line.tags, sources=line.sources,
                created_at=at, trust="model", source="reflection",
            )  # fmt: skip

    def _observe(self, noted: list[Observation], at: int) -> None:
        label = f"Noted {plural(len(noted), 'observation')} of {noted[0].source}"
        with self._operation(at, AGENT, "observe", label) as op:
            for line in noted:
                self._insert(
                    op.connection, "observation", line, key=None, category=line.category,
                    created_at=line.time, trust="agent", source=line.source,
                )  # fmt: skip

    def _note(self, note: Note, at: int) -> None:
        with self._operation(at, AGENT, "scratchpad", f"Wrote “{note.pad}” on the scratchpad") as op:
            scratchpad.put(op.connection, note.pad, note.content, at)

    # Rows

    def _insert(
        self, connection: apsw.Connection, kind: Kind, line: Line, *, key: str | None, created_at: int,
        sources: Iterable[str] = (), attributes: dict[str, Any] | None = None, **columns: Any,
    ) -> None:  # fmt: skip
        accepted = intake.accept(line.content, kind, _OPTIONS.secrets)
        # The same id in every demo, so that two of them look alike.
        digest = hashlib.blake2b(line.content.encode(), digest_size=6).hexdigest()
        rid = memories.insert(
            connection, id=ID_PREFIX[kind] + digest, kind=kind, content=accepted.content,
            event_time=created_at, created_at=created_at,
            source_ids=[self._written[source].id for source in sources],
            attributes={**accepted.attributes, **(attributes or {})}, **columns,
        )  # fmt: skip
        assert rid is not None
        self._keep(connection, key, rid, created_at)

    def _keep(self, connection: apsw.Connection, key: str | None, rid: int, at: int) -> None:
        if key is not None:
            (self._written[key],) = memories.by_rid(connection, [rid], at)

    def _trust(self, fact: Fact) -> Trust:
        """That of the least trusted of its sources; an agent's own words go no further than the agent."""
        found = [self._written[key].trust for key in fact.sources]
        if fact.by.startswith("agent:"):
            found.append("agent")
        return max(found, key=TRUST_ORDER.index)


def _quote(line: Line) -> str:
    return f"“{textwrap.shorten(line.content, 60, placeholder='…')}”"


def _sittings(said: list[Turn]) -> list[list[Turn]]:
    """Turns by session, cut where the person was away for longer than a session stays open; in time order."""
    by_session: dict[str, list[Turn]] = {}
    for turn in said:
        by_session.setdefault(turn.session, []).append(turn)
    found: list[list[Turn]] = []
    for session in by_session.values():
        found.append([session[0]])
        for before, after in pairwise(session):
            if after.time - before.time > sessions.IDLE_SECONDS:
                found.append([])
            found[-1].append(after)
    return sorted(found, key=lambda sitting: sitting[0].time)
