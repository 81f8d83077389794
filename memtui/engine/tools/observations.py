"""Tools for observations: keep findings, insights and lessons, find them, and extract them from the output of a step."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated

from msgspec import Meta

from memtui.engine.observations.extractor import LONGEST, SHORTEST, best_extractor, worth_reading
from memtui.engine.observations.store import Observation
from memtui.engine.records import EXPLICIT, Category, Caution, MemoryRecord, Record, Trust
from memtui.engine.search.access_scope import quote_value

from .agent import Agent
from .base import Arguments, Tool
from .recall import EndedFact, LongText, Name, caution_for, ended_fact, local_time

_SPARE = 10
Text = Annotated[str, Meta(max_length=20_000)]
Date = Annotated[str, Meta(max_length=40)]


class ServedObservation(Record, omit_defaults=True):
    """An observation as an agent gets it. ``score``: between 0 and 1, of a search."""

    id: str
    category: Category
    content: str
    source: str
    when: str
    trust: Trust
    score: float = 0.0
    caution: str = ""
    ended: tuple[EndedFact, ...] = ()


class ExtractedObservations(Record, omit_defaults=True):
    """``note`` says why there are none, or fewer."""

    observations: tuple[ServedObservation, ...]
    note: str = ""


def serve_observation(
    agent: Agent, memory: MemoryRecord, score: float = 0.0, cautions: Sequence[Caution] = ()
) -> ServedObservation:
    return ServedObservation(
        id=memory.id, category=memory.category or "finding", content=memory.content,
        source=agent.source_label(memory) or EXPLICIT,
        when=local_time(memory.event_time), trust=memory.trust, score=round(score, 3),
        caution=caution_for(agent, memory, cautions), ended=tuple(map(ended_fact, cautions)),
    )  # fmt: skip


class RememberArguments(Arguments):
    findings: Annotated[
        list[Text], Meta(max_length=50, description="Facts you discovered, with their numbers and names.")
    ] = []
    insights: Annotated[
        list[Text], Meta(max_length=50, description="Conclusions and decisions, with their reason.")
    ] = []
    lessons: Annotated[
        list[Text], Meta(max_length=50, description="What to do, or not to do, the next time.")
    ] = []
    source: Annotated[Name, Meta(description="Where they come from: TYPE:NAME of a step, or session:ID.")] = (
        EXPLICIT
    )


def remember_observations(agent: Agent, arguments: RememberArguments) -> ExtractedObservations:
    stored = agent.memory.observations.remember(
        arguments.findings, arguments.insights, arguments.lessons, source=arguments.source, tags=agent.own_tags(),
        project=agent.project, within=agent.compiled_scope,
    )  # fmt: skip
    return ExtractedObservations(observations=tuple(serve_observation(agent, one) for one in stored))


class RecallArguments(Arguments):
    query: Annotated[LongText, Meta(description="What to look for, in any words.")]
    category: Annotated[Category | None, Meta(description="Only these.")] = None
    limit: Annotated[int, Meta(ge=1, le=50, description="At most this many.")] = 10
    min_score: Annotated[float, Meta(ge=0.0, le=1.0, description="Leave out what scores less.")] = 0.0
    after: Annotated[
        Date | None, Meta(description="Only from this day on: 2026-03-01, or 7d for seven days.")
    ] = None
    before: Annotated[Date | None, Meta(description="Only from before this day.")] = None


def recall_observations(agent: Agent, arguments: RecallArguments) -> ExtractedObservations:
    bounds = [
        f"{name}:{quote_value(value)}"
        for name, value in (("after", arguments.after), ("before", arguments.before))
        if value
    ]
    hits = agent.memory.observations.recall(
        arguments.query, category=arguments.category, limit=arguments.limit + _SPARE, min_score=arguments.min_score,
        filter=agent.narrow_filter(" ".join(bounds)), preview=True,
        alone=agent.is_scoped,
    )  # fmt: skip
    scores = {hit.memory.id: hit.score for hit in hits}
    memories, left_out = agent.leave_out_secrets(hit.memory for hit in hits)
    memories = memories[: arguments.limit]
    agent.log_recall(arguments.query, memories)
    known = agent.cautions(memories)
    return ExtractedObservations(
        observations=tuple(
            serve_observation(agent, memory, scores[memory.id], known.get(memory.id, ()))
            for memory in memories
        ),
        note=f"Left out: {left_out}." if left_out else "" if memories else "Nothing has these words.",
    )


class StepArguments(Arguments):
    step_name: Annotated[Name, Meta(description="The name of the step.")]
    output: Annotated[
        str, Meta(max_length=1_000_000, description="Its output; only the first 4,000 characters are read.")
    ]
    step_type: Annotated[Name, Meta(description="What kind of step it is: GOAL, AGENT or RUN.")] = "RUN"


def observe_step(agent: Agent, arguments: StepArguments) -> ExtractedObservations:
    if not worth_reading(arguments.output):
        return ExtractedObservations(
            observations=(), note=f"An output under {SHORTEST} characters is not read: nothing was kept."
        )
    observation = _extract_in_thread(agent, arguments)
    if observation.empty:
        return ExtractedObservations(observations=(), note="There was nothing worth keeping in it.")
    stored = agent.memory.observations.remember(
        observation.findings, observation.insights, observation.lessons, source=observation.source, trust="model",
        tags=agent.own_tags(), project=agent.project, within=agent.compiled_scope,
    )  # fmt: skip
    return ExtractedObservations(observations=tuple(serve_observation(agent, one) for one in stored))


def _extract_in_thread(agent: Agent, arguments: StepArguments) -> Observation:
    """Runs in a thread with its own event loop, because the caller's loop may be running."""
    reading = best_extractor(agent.memory.options.llm).ask(
        arguments.step_name, arguments.step_type, arguments.output
    )
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, reading).result()


TOOLS = (
    Tool(
        name="remember_observations", group="observations", arguments=RememberArguments, returns=ExtractedObservations,
        run=remember_observations,
        writes=True,
        description="Keep what you learned while you worked: findings (facts you discovered), insights (conclusions), "
        "lessons (advice for the next time). Give at least one. Each is one sentence that stands alone.",
    ),
    Tool(
        name="recall_observations", group="observations", arguments=RecallArguments, returns=ExtractedObservations,
        run=recall_observations,
        description="Find earlier findings, insights and lessons by their words. The best come first. "
        "Use it before you begin a task like an earlier one.",
    ),
    Tool(
        name="observe_step", group="observations", arguments=StepArguments,
        returns=ExtractedObservations, run=observe_step, writes=True,
        keeps_at_most=4 * LONGEST,
        description="Extract findings, insights and lessons from the output of a step, and keep them. Use it after a "
        "step whose output may be useful later.",
    ),
)  # fmt: skip
