"""The tool that tells what is known about the person, for the beginning of a conversation."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import msgspec
from msgspec import Meta

from memtui.engine.records import MemoryRecord, Record, Topic

from .agent import Agent
from .base import Arguments, Tool
from .recall import ServedMemory, served_all

OTHER = "other"
# As many facts more are read, because some may be kept back.
_SPARE = 10
_QUERY = "what is known about the user"


class AboutArguments(Arguments):
    topic: Annotated[Topic | None, Meta(description="Only facts about this.")] = None
    limit: Annotated[int, Meta(ge=1, le=50, description="At most this many facts of each topic.")] = 3


class KnownFact(ServedMemory, omit_defaults=True, kw_only=True):
    """A fact. ``day``: the date that it names; left out where it names none."""

    day: str = ""


class KnownTopic(Record, omit_defaults=True):
    """A topic, ``other`` for facts without one. ``total``: how many facts there are. ``facts``: confirmed ones first,
    then the surest; plans by their day, without those that are over.
    """

    topic: str
    total: int
    facts: tuple[KnownFact, ...]


class About(Record, omit_defaults=True):
    """``left_out``: which facts were left out, and why."""

    topics: tuple[KnownTopic, ...]
    left_out: str = ""


def about_user(agent: Agent, arguments: AboutArguments) -> About:
    filter = f"kind:fact topic:{arguments.topic}" if arguments.topic else "kind:fact"
    known = agent.memory.view.topics(agent.narrowed(filter), each=arguments.limit + _SPARE)
    open_ones, left_out = agent.servable(fact for one in known for fact in one.facts)
    ids = {fact.id for fact in open_ones}
    chosen = [[fact for fact in one.facts if fact.id in ids][: arguments.limit] for one in known]
    every = [fact for facts in chosen for fact in facts]
    agent.log_recall(_QUERY if arguments.topic is None else f"{_QUERY}: {arguments.topic}", every)
    served = {one.id: one for one in served_all(agent, every)}
    return About(
        topics=tuple(
            KnownTopic(
                topic=one.topic or OTHER, total=one.total,
                facts=tuple(_known(served[fact.id], fact) for fact in facts),
            )
            for one, facts in zip(known, chosen, strict=True)
        ),
        left_out=left_out,
    )  # fmt: skip


def _known(served: ServedMemory, fact: MemoryRecord) -> KnownFact:
    day = "" if fact.happens_at is None else datetime.fromtimestamp(fact.happens_at).date().isoformat()
    return KnownFact(**msgspec.structs.asdict(served), day=day)


TOOLS = (
    Tool(
        name="about_user", group="memory", arguments=AboutArguments, returns=About, run=about_user,
        description="Get what is known about the person, by topic: the surest facts of health, people, home, work, plans "
        "and so on. Use it once when a conversation begins, or when they ask what you know about them. To answer a "
        "question search_memory finds more.",
    ),
)  # fmt: skip
