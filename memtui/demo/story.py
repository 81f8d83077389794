"""Replays the demo in the order of time: conversations, the facts drawn from them, recalls, decisions.

Every change uses the real code; only the clock is set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from itertools import pairwise
from operator import itemgetter
from typing import assert_never

from memtui.engine.consolidation.operation import RunOperation
from memtui.engine.consolidation.plan import Contradicted, Plan, PlanLine
from memtui.engine.core import Core
from memtui.engine.errors import NotFoundError
from memtui.engine.memories import turns, validation
from memtui.engine.memory import Memory
from memtui.engine.records import MemoryRecord, Options
from memtui.engine.review.cards import ReviewKind
from memtui.engine.store import consolidations, history, memories, scratchpad, sessions
from memtui.engine.store.connections import Connections
from memtui.engine.wording import plural

from .lines import (
    AnyLine,
    DecisionLine,
    NoteLine,
    ObservationLine,
    RecallLine,
    RecordedContradiction,
    RecordedLine,
    RecordedPlan,
    ReflectionLine,
    TurnLine,
)

AGENT = "agent:assistant"
_CONFLICTS: tuple[ReviewKind, ...] = ("conflict", "choice")
_NEW: tuple[ReviewKind, ...] = ("new",)
Step = tuple[int, Callable[[int], None]]


class Story:
    """Call ``write`` once, on an empty memory. ``memory`` is open on the same file, at the time of the step."""

    def __init__(
        self, connections: Connections, lines: Iterable[AnyLine], options: Options | None = None
    ) -> None:
        self._connections = connections
        self._lines = list(lines)
        self._options = options or Options(background=False, embedder="off")
        self._at = 0
        self._turns: dict[str, str] = {}
        self.talks = _split_into_talks([line for line in self._lines if isinstance(line, TurnLine)])
        self.memory = Memory(Core(connections, actor="person", clock=lambda: self._at, options=self._options))

    def write(self, also: Iterable[Step] = ()) -> None:
        """Write everything. ``also``: further steps, for ``make_demo.py``, which runs the program instead of
        replaying.
        """
        for at, do in sorted((*self._replay_steps(), *also), key=itemgetter(0)):
            self._at = at
            do(at)

    def turn_keys(self) -> dict[str, str]:
        """The keys of turns, by the ids of their memories."""
        return {id: key for key, id in self._turns.items()}

    def _replay_steps(self) -> Iterator[Step]:
        for talk in self.talks:
            yield talk[-1].time, partial(self._record_talk, talk)
        observed: dict[str, list[ObservationLine]] = {}
        for line in self._lines:
            match line:
                case TurnLine():
                    pass
                case RecordedPlan():
                    yield line.time, partial(self._replay_plan, line)
                case RecallLine():
                    yield line.time, partial(self._log_recall, line)
                case DecisionLine():
                    yield line.time, partial(self._apply_decision, line)
                case ReflectionLine():
                    yield line.time, partial(self._write_reflection, line)
                case ObservationLine():
                    observed.setdefault(line.source, []).append(line)
                case NoteLine():
                    yield line.time, partial(self._write_note, line)
                case _:
                    assert_never(line)
        for some in observed.values():
            yield some[-1].time, partial(self._write_observations, some)

    def _open_operation(
        self, actor: str, kind: str, label: str
    ) -> AbstractContextManager[history.OpenOperation]:
        return history.operation(self._connections, lambda: self._at, actor, kind, label)

    # Agents

    def _record_talk(self, talk: list[TurnLine], at: int) -> None:
        title = talk[0].title
        with self._open_operation(
            AGENT, "record", f"Recorded {plural(len(talk), 'turn')} of “{title}”"
        ) as op:
            for turn in talk:
                new = turns.NewTurn(
                    session_id=turn.session, role=turn.role, event_time=turn.time,
                    intake=validation.check_text(turn.content, "episode", self._options.secrets),
                    trust=validation.trust_of_role(turn.role, AGENT), source="demo", project=turn.project, title=title,
                )  # fmt: skip
                rid = turns.store_turn(op.connection, new, turn.time)
                assert rid is not None  # without a source key it cannot be a duplicate
                if turn.key:
                    (record,) = memories.by_rid(op.connection, [rid], at)
                    self._turns[turn.key] = record.id

    def _log_recall(self, line: RecallLine, at: int) -> None:
        self.memory.actor = AGENT
        self.memory.note_recall(
            line.content, [self._memory_with_text(text) for text in line.given], line.session
        )

    def _write_observations(self, noted: list[ObservationLine], at: int) -> None:
        label = f"Noted {plural(len(noted), 'observation')} of {noted[0].source}"
        with self._open_operation(AGENT, "observe", label) as op:
            for line in noted:
                accepted = validation.check_text(line.content, "observation", self._options.secrets)
                memories.insert(
                    op.connection, kind="observation", content=accepted.content, event_time=line.time,
                    created_at=line.time, category=line.category, trust="agent", source=line.source,
                    attributes=accepted.attributes,
                )  # fmt: skip

    def _write_note(self, note: NoteLine, at: int) -> None:
        with self._open_operation(AGENT, "scratchpad", f"Wrote “{note.pad}” on the scratchpad") as op:
            scratchpad.set_value(op.connection, note.pad, note.content, at)

    # Jobs

    def _replay_plan(self, recorded: RecordedPlan, at: int) -> None:
        """Write the stored plan of these turns, as consolidation does."""
        with self._connections.read() as connection:
            session = sessions.get(connection, recorded.session)
            read = consolidations.turns_beyond(connection, recorded.session, session.consolidated_through, at)
        turns_by_id = {turn.id: turn for turn in read}
        plan = Plan(
            session=session, through=max(turn.rid for turn in read),
            fingerprint=consolidations.fingerprint_turns(read), turns=len(read), extractor=recorded.extractor,
            lines=tuple(self._plan_line(line, turns_by_id) for line in recorded.lines),
        )  # fmt: skip
        run = RunOperation(self._connections, lambda: at, "scheduler")
        run.write(plan, self._options, seen=False)
        run.finish()

    def _plan_line(self, line: RecordedLine, turns_by_id: dict[str, MemoryRecord]) -> PlanLine:
        sources = tuple(self._turns[key] for key in line.sources)
        return PlanLine(
            action=line.action, content=line.content, sources=sources, reason=line.reason, known=line.known,
            confidence=line.confidence, trust=line.trust, tags=line.tags, category=line.category,
            topic=line.topic, project=turns_by_id[sources[-1]].project if sources else None,
            event_time=max((turns_by_id[id].event_time for id in sources), default=0),
            also=_contradictions(line.also), meant=_contradictions(line.meant), weak=line.weak,
        )  # fmt: skip

    def _write_reflection(self, line: ReflectionLine, at: int) -> None:
        facts = [self._fact_beginning_with(text).id for text in line.of]
        with self._open_operation("scheduler", "reflect", "Reflected on the week") as op:
            accepted = validation.check_text(line.content, "reflection", self._options.secrets)
            memories.insert(
                op.connection, kind="reflection", content=accepted.content, event_time=at, created_at=at,
                tags=line.tags, source_ids=facts, trust="model", source="reflection",
                attributes=accepted.attributes,
            )  # fmt: skip

    # Decisions

    def _apply_decision(self, line: DecisionLine, at: int) -> None:
        memory = self.memory
        memory.actor = line.by
        facts = [self._fact_beginning_with(text) for text in line.of]
        match line.verb:
            case "remember":
                memory.remember(line.content, tags=line.tags, topic=line.topic, project=line.project)
            case "correct":
                (fact,) = facts
                memory.correct(fact.id, line.content)
            case "confirm" | "forget" | "tag" | "classify" if len(facts) > 1:
                memory.change_all(line.verb, [one.rid for one in facts], add=line.tags, topic=line.topic)
            case "confirm":
                memory.confirm(facts[0].id)
            case "forget":
                memory.forget(facts[0].id)
            case "tag":
                memory.tag(facts[0].id, add=line.tags)
            case "classify":
                memory.classify(facts[0].id, topic=line.topic)
            case "keep" | "both":
                for fact in facts:
                    (asked,) = [
                        (card, old)
                        for card in memory.review.items(kinds=_CONFLICTS)
                        if card.memories[0].id == fact.id
                        for old in card.memories[1:]
                        if old.content.startswith(line.beside) and (line.beside or old is card.memories[1])
                    ]
                    card, old = asked
                    if card.kind == "choice" and line.verb == "keep":
                        memory.review.decide(card, "replace", keep=old.id)
                    else:
                        memory.review.decide(card, line.verb)
            case "review":
                memory.review.decide_all(memory.review.items(kinds=_NEW), "keep")
            case _:
                assert_never(line.verb)

    def _fact_beginning_with(self, beginning: str) -> MemoryRecord:
        memories = self._active_memories(
            "kind = 'fact' AND substr(content, 1, length(:text)) = :text", beginning
        )
        if len(memories) != 1:
            raise NotFoundError(
                f"{len(memories)} active facts begin with “{beginning}”.", "Name one as it was drawn."
            )
        return memories[0]

    def _memory_with_text(self, text: str) -> MemoryRecord:
        """The active memory with this text."""
        memories = self._active_memories("content = :text", text)
        if not memories:
            raise NotFoundError(f"No active memory says “{text[:60]}”.", "Run assets/make_demo.py.")
        return memories[0]

    def _active_memories(self, condition: str, text: str) -> list[MemoryRecord]:
        with self._connections.read() as connection:
            rows = connection.execute(
                f"SELECT rid FROM memories WHERE valid_until IS NULL AND {condition}", {"text": text}
            )
            rids = [int(rid) for (rid,) in rows]
            return memories.by_rid(connection, rids, self._at)


def _split_into_talks(turn_lines: list[TurnLine]) -> list[list[TurnLine]]:
    """Turns by session in time order. A session is split where the person was away longer than it stays open."""
    by_session: dict[str, list[TurnLine]] = {}
    for turn in turn_lines:
        by_session.setdefault(turn.session, []).append(turn)
    talks: list[list[TurnLine]] = []
    for session in by_session.values():
        talks.append([session[0]])
        for before, after in pairwise(session):
            if after.time - before.time > sessions.IDLE_SECONDS:
                talks.append([])
            talks[-1].append(after)
    return sorted(talks, key=lambda talk: talk[0].time)


def _contradictions(recorded: Iterable[RecordedContradiction]) -> tuple[Contradicted, ...]:
    return tuple(Contradicted(known=one.known, target=None, reason=one.reason) for one in recorded)
