"""The tools that tell what is known about the person, for the beginning of a conversation, and over time."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import msgspec
from msgspec import Meta

from memtui.engine.records import MemoryRecord, Record, Replacement, Topic
from memtui.engine.search.filters.terms import MAX_IDS

from .agent import Agent
from .base import Arguments, Tool
from .recall import ServedMemory, serve_memories

OTHER = "other"
# As many facts more are read, because some may be kept back.
_SPARE_FACTS = 10
_QUERY = "what is known about the user"
_CHANGES = "what changed over time"
# The longest date; so many periods at most; and so many facts that changed are looked at.
_DATE, _PERIODS, _LOOKED_AT = 40, 24, 1_000


class AboutArguments(Arguments):
    topic: Annotated[Topic | None, Meta(description="Only facts about this.")] = None
    limit: Annotated[int, Meta(ge=1, le=50, description="At most this many facts of each topic.")] = 3


class KnownFact(ServedMemory, omit_defaults=True, kw_only=True):
    """A fact. ``day``: the date that it names; left out where it names none."""

    day: str = ""


class KnownTopic(Record, omit_defaults=True):
    """A topic, ``other`` for facts without one. ``total``: how many facts there are. ``facts``: confirmed ones first,
    then the surest; plans by their day, without those that are over (``total`` counts them).
    """

    topic: str
    total: int
    facts: tuple[KnownFact, ...]


class AboutUser(Record, omit_defaults=True):
    """``left_out``: which facts were left out, and why."""

    topics: tuple[KnownTopic, ...]
    left_out: str = ""


class OverTimeArguments(Arguments):
    topic: Annotated[Topic | None, Meta(description="Only facts about this.")] = None
    since: Annotated[
        str, Meta(max_length=_DATE, description="Only since then: 2026-03, 2026-03-04, 30d, last-month.")
    ] = ""
    until: Annotated[str, Meta(max_length=_DATE, description="Only until the end of then.")] = ""
    limit: Annotated[int, Meta(ge=1, le=50, description="At most this many changes, the latest.")] = 10


class Learned(Record):
    """``when``: a year, quarter, month, week, day or hour. ``facts``: how many facts of each topic were learned then."""

    when: str
    facts: dict[str, int]


class Change(Record, omit_defaults=True):
    """``now`` took the place of ``was`` on a day. ``perhaps``: the person has not decided yet whether it did. ``now_day`` and
    ``was_day``: the days that they name. Without ``was`` the text of ``now`` itself says which value is over.
    """

    when: str
    now: ServedMemory
    was: ServedMemory | None = None
    now_day: str = ""
    was_day: str = ""
    perhaps: bool = False


class OverTime(Record, omit_defaults=True):
    """``learned``: the periods with anything, the earliest first. ``changes``: the latest first. ``left_out``: which facts were
    left out, and why.
    """

    learned: tuple[Learned, ...]
    changes: tuple[Change, ...]
    left_out: str = ""


def over_time(agent: Agent, arguments: OverTimeArguments) -> OverTime:
    """Raises FilterError for a date that is none."""
    about = f"kind:fact topic:{arguments.topic}" if arguments.topic else "kind:fact"
    span = "..".join("-".join(one.split()) for one in (arguments.since, arguments.until)).removesuffix("..")
    span += ".." if arguments.since and not arguments.until else ""
    learned = f"{about} on:{span}" if span else about
    timeline = agent.memory.view.timeline(agent.narrow_filter(learned), most=_PERIODS, layers=("learned",))
    rows = {row.name or OTHER: row.counts["learned"] for row in timeline.rows}
    changes, left_out = _visible_replacements(agent, f"{about} changed:{span or '*'}", arguments.limit)
    every = list({one.id: one for change in changes for one in reversed(change.sides)}.values())
    agent.log_recall(_CHANGES, every)
    served = {one.id: one for one in serve_memories(agent, every)}
    return OverTime(
        learned=tuple(
            Learned(when=when, facts=those)
            for at, when in enumerate(timeline.terms)
            if (those := {topic: numbers[at] for topic, numbers in rows.items() if numbers[at]})
        ),
        changes=tuple(
            Change(
                when=datetime.fromtimestamp(one.at).date().isoformat(),
                now=served[one.new.id], was=served[one.old.id] if one.old else None, now_day=_event_date(one.new),
                was_day=_event_date(one.old) if one.old else "", perhaps=one.how == "asked",
            )
            for one in changes
        ),
        left_out=left_out,
    )  # fmt: skip


def _visible_replacements(agent: Agent, filter: str, limit: int) -> tuple[list[Replacement], str]:
    """The latest replacements of which this agent may see both sides."""
    known = agent.page(filter, limit=_LOOKED_AT)
    new = {one.id for one in known}
    all_of = agent.memory.view.replacements([*new])
    those = {one.ids: one for replacements in all_of.values() for one in replacements if one.new.id in new}
    olds = {
        one.old.id: one.old
        for one in those.values()
        if one.old is not None and one.old.ended_by in (None, "superseded")
    }
    seen: set[str] = set()
    for start in range(0, len(olds), MAX_IDS):
        some = [*olds][start : start + MAX_IDS]
        seen.update(one.id for one in agent.page(f"is:active,trash id:{','.join(some)}", limit=MAX_IDS))
    sides = {
        side.id: side
        for one in those.values()
        if one.old is None or one.old.id in seen
        for side in reversed(one.sides)
    }
    open_ones, left_out = agent.leave_out_secrets(sides.values())
    ids = {one.id for one in open_ones}
    replacements = [one for one in those.values() if ids.issuperset(one.ids)]
    return sorted(replacements, key=lambda one: (-one.at, one.new.rid))[:limit], left_out


def about_user(agent: Agent, arguments: AboutArguments) -> AboutUser:
    filter = f"kind:fact topic:{arguments.topic}" if arguments.topic else "kind:fact"
    known = agent.memory.view.topics(agent.narrow_filter(filter), each=arguments.limit + _SPARE_FACTS)
    open_ones, left_out = agent.leave_out_secrets(fact for one in known for fact in one.facts)
    ids = {fact.id for fact in open_ones}
    chosen = [[fact for fact in one.facts if fact.id in ids][: arguments.limit] for one in known]
    every = [fact for facts in chosen for fact in facts]
    agent.log_recall(_QUERY if arguments.topic is None else f"{_QUERY}: {arguments.topic}", every)
    served = {one.id: one for one in serve_memories(agent, every)}
    return AboutUser(
        topics=tuple(
            KnownTopic(
                topic=one.topic or OTHER, total=one.total,
                facts=tuple(_known_fact(served[fact.id], fact) for fact in facts),
            )
            for one, facts in zip(known, chosen, strict=True)
        ),
        left_out=left_out,
    )  # fmt: skip


def _known_fact(served: ServedMemory, fact: MemoryRecord) -> KnownFact:
    return KnownFact(**msgspec.structs.asdict(served), day=_event_date(fact))


def _event_date(fact: MemoryRecord) -> str:
    return "" if fact.happens_at is None else datetime.fromtimestamp(fact.happens_at).date().isoformat()


TOOLS = (
    Tool(
        name="about_user", group="memory", arguments=AboutArguments, returns=AboutUser, run=about_user,
        description="Get what is known about the person, by topic: the surest facts of health, people, home, work, plans "
        "and so on. Use it once when a conversation begins, or when they ask what you know about them. To answer a "
        "question search_memory finds more.",
    ),
    Tool(
        name="over_time", group="memory", arguments=OverTimeArguments, returns=OverTime, run=over_time,
        description="Get how many facts of each topic were learned in each period, and what changed: which fact took the place "
        "of which, and when. Use it when they ask when something changed, or what went on in a time.",
    ),
)  # fmt: skip
