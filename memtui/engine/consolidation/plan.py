"""A consolidation before it is written: line by line what would change, and why.

A plan is a value. Looking at it changes nothing; accepting, rejecting and editing lines makes another
plan; ``consolidate.apply`` writes it.
"""

from __future__ import annotations

from collections import Counter
from typing import Literal

import msgspec

from memtui.engine.errors import InputError
from memtui.engine.records import Category, Operation, Record, Session, Topic, Trust
from memtui.engine.wording import plural

from .suspicious import Suspicion

_NOTES = 20
PlanAction = Literal[
    "add", "reinforce", "supersede", "conflict", "quarantine", "observation", "summary", "reword", "retire", "unchanged"
]  # fmt: skip
OPERATION = "consolidate"
"""The kind of the operation that writes plans."""
RETIRED = "retired"
"""The attribute of what went to the Trash because a later reading no longer drew it: it may be drawn again."""


class Contradicted(Record):
    """One more known fact that a line contradicts, or may contradict. ``target``: its id; None where the same plan brings it."""

    known: str
    target: str | None
    reason: str


class PlanLine(Record):
    """One change.

    ``add`` a fact; ``reinforce`` a known one (``target``); ``supersede`` the target by a new fact; add a fact in
    ``conflict`` with the target, for the person to decide; ``quarantine`` a suspicious text until the person
    has seen it; an ``observation``; the session's ``summary``. Where a session is read again: ``reword`` what was drawn
    before (``target``), ``retire`` what is no longer drawn, leave the rest ``unchanged``.
    ``sources``: ids of the turns that say it.
    ``project``: of those turns; ``claimed``: that the person said so is an agent's word.
    ``topic``: of a fact. ``reason``: why this action. ``known``: the target's text. ``edited``: the person changed the content.
    ``also``: beside the target, each for the person to decide. ``again``: the target took the place of the same words.
    ``meant``: what may have changed instead of the target; the person is asked which one it is. ``weak``: it is doubtful
    that the target changed, so only Review asks about it.
    """

    action: PlanAction
    content: str
    sources: tuple[str, ...] = ()
    reason: str = ""
    target: str | None = None
    known: str | None = None
    also: tuple[Contradicted, ...] = ()
    meant: tuple[Contradicted, ...] = ()
    weak: bool = False
    confidence: float = 0.8
    trust: Trust = "model"
    tags: tuple[str, ...] = ()
    category: Category | None = None
    topic: Topic | None = None
    project: str | None = None
    claimed: bool = False
    event_time: int = 0
    score: float = 0.0
    suspicions: tuple[Suspicion, ...] = ()
    accepted: bool = True
    edited: bool = False
    again: bool = False


class Difference(Record):
    """What reading a session again would change. ``new``: not drawn before; those that are not ``accepted`` are like
    something that the person took away. ``retired``: no longer drawn. ``reason`` of an unchanged line: why it stays."""

    new: tuple[PlanLine, ...]
    reworded: tuple[PlanLine, ...]
    retired: tuple[PlanLine, ...]
    unchanged: tuple[PlanLine, ...]


class Plan(Record):
    """What consolidating a session would do. ``through``: the last turn read; ``fingerprint``: of the turns read.

    ``notes``: what was not read, and why. ``again``: the session is read from its first turn on, and the lines are the
    ``difference`` to what was drawn from it before.
    """

    session: Session
    through: int
    fingerprint: str
    turns: int
    lines: tuple[PlanLine, ...]
    extractor: str
    calls: int = 0
    tokens: int = 0
    notes: tuple[str, ...] = ()
    again: bool = False

    @property
    def difference(self) -> Difference:
        """The lines of a session that is read again, set against what was drawn before."""

        def lines_with(*actions: PlanAction) -> tuple[PlanLine, ...]:
            return tuple(line for line in self.lines if line.action in actions)

        known = ("reword", "retire", "unchanged")
        return Difference(
            new=tuple(line for line in self.lines if line.action not in known),
            reworded=lines_with("reword"), retired=lines_with("retire"), unchanged=lines_with("unchanged"),
        )  # fmt: skip

    @property
    def session_id(self) -> str:
        return self.session.session_id

    def count(self, *actions: PlanAction) -> int:
        """How many accepted lines have one of these actions."""
        return sum(line.accepted and line.action in actions for line in self.lines)

    def with_line(self, index: int, *, accepted: bool | None = None, content: str | None = None) -> Plan:
        """The plan with a line accepted, rejected or edited. Raises InputError for a line that is not there."""
        if not 0 <= index < len(self.lines):
            raise InputError(f"The plan has no line {index}.", f"It has {len(self.lines)}, counted from 0.")
        line = self.lines[index]
        if content is not None and content.strip() != line.content:
            if not content.strip():
                raise InputError("There is no text to remember.", "Reject the line instead.")
            line = msgspec.structs.replace(line, content=content.strip(), edited=True, accepted=True)
        if accepted is not None:
            line = msgspec.structs.replace(line, accepted=accepted)
        return msgspec.structs.replace(self, lines=(*self.lines[:index], line, *self.lines[index + 1 :]))


class SessionOutcome(Record):
    """What became of one session: ``done``, ``preview`` (nothing written), ``nothing`` to do, ``failed``, or
    ``stopped`` before it was its turn (cancelled, the budget is spent, or the endpoint cannot be used).
    ``unusable``: it failed because of the endpoint as a whole, not because of this session. ``rules_could``: a model
    failed, or may spend no more; rules can read it."""

    session_id: str
    state: Literal["done", "preview", "nothing", "failed", "stopped"]
    plan: Plan | None = None
    added: int = 0
    reinforced: int = 0
    superseded: int = 0
    conflicts: int = 0
    quarantined: int = 0
    observations: int = 0
    reworded: int = 0
    retired: int = 0
    unchanged: int = 0
    error: str = ""
    unusable: bool = False
    rules_could: bool = False


class Consolidation(Record):
    """The outcome of a run. ``operation``: undo it to take the run back; None when nothing changed.

    ``calls`` and ``tokens`` are those of the whole run, also of sessions that failed and of answers that were of no use.
    """

    outcomes: tuple[SessionOutcome, ...]
    extractor: str
    operation: Operation | None = None
    calls: int = 0
    tokens: int = 0

    @property
    def failed(self) -> tuple[SessionOutcome, ...]:
        return tuple(outcome for outcome in self.outcomes if outcome.state == "failed")

    @property
    def rules_could(self) -> tuple[str, ...]:
        """Sessions that wait because of a model: rules can read them now."""
        return tuple(one.session_id for one in self.outcomes if one.rules_could)

    @property
    def left_waiting(self) -> dict[str, int]:
        """Why sessions were not read, and how many for each reason."""
        return Counter(one.error for one in self.outcomes if one.state == "stopped" and one.error)

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know of each session; of those that were left waiting, one line for each reason. A few of them."""
        left_waiting = [
            f"{plural(count, 'session')} left waiting: {why}" for why, count in self.left_waiting.items()
        ]
        of_each = [
            f"{one.session_id}: {note}"
            for one in self.outcomes
            for note in (*(one.plan.notes if one.plan else ()), "" if one.state == "stopped" else one.error)
            if note
        ]
        return (*left_waiting, *of_each)[:_NOTES]

    @property
    def plans(self) -> tuple[Plan, ...]:
        return tuple(outcome.plan for outcome in self.outcomes if outcome.plan is not None)

    def total(
        self,
        what: Literal[
            "added",
            "reinforced",
            "superseded",
            "conflicts",
            "quarantined",
            "observations",
            "reworded",
            "retired",
            "unchanged",
        ],
    ) -> int:
        return sum(getattr(outcome, what) for outcome in self.outcomes)


class Estimate(Record):
    """What a run would cost before it starts. ``tokens`` is a guess; 0 without a model."""

    sessions: int
    turns: int
    calls: int
    tokens: int
