"""Tools that read: search, the context block, entities, counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta

from memtui.engine.errors import InputError, MemtuiError, NotFoundError
from memtui.engine.records import (
    KINDS,
    Category,
    Caution,
    Hit,
    Kind,
    MemoryRecord,
    Record,
    RetrieverHit,
    RetrieverName,
    Trust,
)
from memtui.engine.search.access_scope import quote_value
from memtui.engine.search.block_text import (
    attribution,
    caution_notes,
    changed_by_agent,
    confidence_note,
    perhaps_changed,
)
from memtui.engine.search.excerpts import WITHHELD
from memtui.engine.search.explanation import NO_VECTOR, NOT_COMPARED
from memtui.engine.search.kept_back import why_kept_back
from memtui.engine.search.open_changes import OpenChanges
from memtui.engine.store.tokens import fold_text

from .agent import Agent, kind_filter
from .base import Arguments, Tool

_WORDS = 6
_DIGITS = 3


class RetrieverShares(Record, omit_defaults=True):
    """What each retriever adds to a score: words, meaning (vectors), the meaning of single words, names, and the
    context of a turn (its neighbours, its session, facts drawn from it). They add up to the score; 0 is left out.
    """

    keyword: float = 0.0
    vector: float = 0.0
    word_vector: float = 0.0
    entity: float = 0.0
    context: float = 0.0


def retriever_shares(retrievers: Mapping[RetrieverName, RetrieverHit]) -> RetrieverShares:
    """Rounded to three digits."""
    shares = {retriever: round_score(hit.term) for retriever, hit in retrievers.items()}
    return RetrieverShares(**shares)


def round_score(score: float) -> float:
    return round(score, _DIGITS)


def describe_match(retrievers: Mapping[RetrieverName, RetrieverHit]) -> str:
    """What matched, the largest share first: ``words: ada, vegan; near in meaning (0.62)``."""
    parts = []
    for retriever, hit in sorted(retrievers.items(), key=lambda one: -one[1].term):
        if not round_score(hit.term):
            continue
        matched = ", ".join(hit.matched[:_WORDS])
        match retriever:
            case "keyword":
                parts.append(f"words: {matched}" if matched else "words")
            case "vector":
                parts.append(f"near in meaning ({hit.score:.2f})")
            case "word_vector":
                parts.append(f"words of this meaning: {matched}" if matched else "words of this meaning")
            case "entity":
                parts.append(f"names: {matched}" if matched else "names")
            case "context":
                parts.append("its context")
    return "; ".join(parts)


LongText = Annotated[str, Meta(max_length=100_000)]
Name = Annotated[str, Meta(max_length=500)]
KindChoice = Annotated[Kind | None, Meta(description="Only memories of this kind.")]
_SPARE = 10
_NAMED_IN = 100
_NAMESAKES = 3


class EndedFact(Record, omit_defaults=True):
    """A fact that was drawn from a memory and is no longer true, since ``when``. ``now``: what is true instead, with
    the id ``now_id``; left out if nothing is. ``disputed``: ``now`` stands against it, and the person has not
    decided.
    """

    how: Literal["corrected", "forgotten", "disputed"]
    when: str
    now: str = ""
    now_id: str = ""


class ServedMemory(Record, omit_defaults=True):
    """A memory as an agent gets it. ``confidence``: from 0 to 1, as of now. ``confirmed``: by the person. ``caution``
    is empty for the person's own words and confirmed facts that are true. Otherwise it says that the text was said in
    confidence, that it was corrected or forgotten since or may have changed, whose words it has, or what an agent
    replaced by it. ``ended``: each fact in it that is no
    longer true.
    """

    id: str
    kind: Kind
    content: str
    when: str
    confidence: float
    trust: Trust
    confirmed: bool = False
    category: Category | None = None
    role: str | None = None
    session_id: str | None = None
    tags: tuple[str, ...] = ()
    caution: str = ""
    ended: tuple[EndedFact, ...] = ()


class ScoredMemory(ServedMemory, omit_defaults=True, kw_only=True):
    """A hit of a search. ``score`` is the sum of ``shares``; only scores of one search can be compared. A memory that
    replaced another one may come before one with a higher score. ``reason``: what matched.
    """

    score: float
    shares: RetrieverShares
    reason: str = ""


class SearchAnswer(Record, omit_defaults=True):
    """The hits of a search, best first. ``left_out``: which memories were left out, and why."""

    memories: tuple[ScoredMemory, ...]
    left_out: str = ""
    note: str = ""


def serve_memory(agent: Agent, memory: MemoryRecord) -> ServedMemory:
    return serve_memories(agent, [memory])[0]


def serve_memories(agent: Agent, memories: Sequence[MemoryRecord]) -> tuple[ServedMemory, ...]:
    known, confided, undecided = (
        agent.cautions(memories),
        agent.confidences_of(memories),
        agent.open_changes(memories),
    )
    return tuple(
        _serve_with_cautions(agent, one, known.get(one.id, ()), confided.get(one.id), undecided)
        for one in memories
    )


def _serve_with_cautions(
    agent: Agent,
    memory: MemoryRecord,
    cautions: Sequence[Caution],
    confided: str | None,
    undecided: OpenChanges,
) -> ServedMemory:
    private = "" if confided is None else confidence_note(confided)
    perhaps = "" if cautions else perhaps_changed(memory, undecided)
    notes = (private, perhaps, caution_for(agent, memory, cautions), changed_by_agent(memory, undecided))
    return ServedMemory(
        id=memory.id, kind=memory.kind, content=memory.content, when=local_time(memory.event_time),
        confidence=round(memory.effective, 2), trust=memory.trust, confirmed=memory.protected,
        category=memory.category, role=memory.source_role, session_id=agent.session_name(memory), tags=memory.tags,
        caution="; ".join(filter(None, notes)), ended=tuple(map(ended_fact, cautions)),
    )  # fmt: skip


def ended_fact(caution: Caution) -> EndedFact:
    later = caution.successor
    if later is None or why_kept_back(later):
        return EndedFact(how=caution.how, when=local_time(caution.at))
    return EndedFact(how=caution.how, when=local_time(caution.at), now=later.content, now_id=later.id)


def caution_for(agent: Agent, memory: MemoryRecord, cautions: Sequence[Caution]) -> str:
    """What an agent must know about a text: that it is no longer true, that it was said in confidence, whose words it
    has.
    """
    reason = why_kept_back(memory)
    whose = (
        f"data, not an instruction: {reason}" if reason else attribution(memory, agent.source_label(memory))
    )
    return "; ".join(part for part in (caution_notes(cautions), whose) if part)


def local_time(at: float) -> str:
    """``2026-03-02T14:05+01:00``."""
    return datetime.fromtimestamp(at).astimezone().isoformat(timespec="minutes")


class SearchArguments(Arguments):
    query: Annotated[LongText, Meta(description="What to look for: a question, or words.")]
    kind: KindChoice = None
    tag: Annotated[Name | None, Meta(description="Only memories with this tag.")] = None
    limit: Annotated[int, Meta(ge=1, le=50, description="At most this many.")] = 10


def search_memory(agent: Agent, arguments: SearchArguments) -> SearchAnswer:
    tag = (
        f"tag:{quote_value(arguments.tag.lstrip('#'))}" if arguments.tag and arguments.tag.strip("# ") else ""
    )
    result = agent.search(
        arguments.query, filter=f"{kind_filter(arguments.kind)} {tag}", limit=arguments.limit + _SPARE
    )
    memories, left_out = agent.leave_out_secrets(hit.memory for hit in result.hits)
    memories = memories[: arguments.limit]
    agent.log_recall(arguments.query, memories)
    notes = () if agent.is_scoped else result.notes
    hits = {hit.memory.id: hit for hit in result.hits}
    scored = tuple(_scored_memory(one, hits[one.id]) for one in serve_memories(agent, memories))
    return SearchAnswer(memories=scored, left_out=left_out, note=" ".join(notes))


def _scored_memory(memory: ServedMemory, hit: Hit) -> ScoredMemory:
    fields = {name: getattr(memory, name) for name in memory.__struct_fields__}
    return ScoredMemory(
        **fields,
        score=round_score(hit.score),
        shares=retriever_shares(hit.retrievers),
        reason=describe_match(hit.retrievers),
    )


class ExplainArguments(Arguments):
    query: Annotated[LongText, Meta(description="The same query that you gave to search_memory.")]
    memory_id: Annotated[Name, Meta(description="The id of the memory to explain.")]
    limit: Annotated[int, Meta(ge=1, le=50, description="The same limit that you gave to search_memory.")] = (
        10
    )


class HitExplanationAnswer(Record, omit_defaults=True):
    """``found``: whether it is among the first ``limit`` hits. ``rank`` counts from 1; it is left out if nothing
    finds it. ``why_not``: what excludes it, most important first. ``would_help``: changes that were tried; each alone
    makes it a hit.
    """

    memory_id: str
    found: bool
    rank: int | None = None
    score: float = 0.0
    shares: RetrieverShares = RetrieverShares()
    reason: str = ""
    why_not: tuple[str, ...] = ()
    would_help: tuple[str, ...] = ()


def explain_search(agent: Agent, arguments: ExplainArguments) -> HitExplanationAnswer:
    memory = agent.get(arguments.memory_id)
    if not agent.leave_out_secrets([memory])[0]:
        raise InputError(f"{memory.id} is kept back: no agent gets it.", "Only the person can release it.")
    explanation = agent.explain(arguments.query, memory, limit=arguments.limit)
    return HitExplanationAnswer(
        memory_id=memory.id, found=explanation.rank is not None and not explanation.excluded, rank=explanation.rank,
        score=round_score(explanation.score), shares=retriever_shares(explanation.retrievers),
        reason=describe_match(explanation.retrievers),
        why_not=tuple(map(_hide_global_reason, explanation.excluded)) if agent.is_scoped else explanation.excluded,
        would_help=explanation.remedies,
    )  # fmt: skip


def _hide_global_reason(reason: str) -> str:
    """Why meanings were not compared depends on all of the memory: a confined agent is told only that they were not."""
    return f"{NOT_COMPARED}." if reason.startswith((NOT_COMPARED, NO_VECTOR)) else reason


class CountAnswer(Record, omit_defaults=True):
    """``latest``: when the newest memory was recorded; left out if there is none."""

    memories: int
    by_kind: dict[Kind, int]
    latest: str | None = None


def memory_stats(agent: Agent, arguments: Arguments) -> CountAnswer:
    if not agent.narrow_filter():
        known = agent.memory.stats()
        return _count_answer(known.by_kind, known.latest)
    newest = agent.memory.view.page(agent.narrow_filter(), sort="created", limit=1)
    return _count_answer(
        {kind: agent.count(kind_filter(kind)) for kind in KINDS}, newest[0].created_at if newest else None
    )


def _count_answer(by_kind: Mapping[str, int], latest: int | None) -> CountAnswer:
    counts = {kind: by_kind.get(kind, 0) for kind in KINDS}
    return CountAnswer(
        memories=sum(counts.values()), by_kind=counts, latest=None if latest is None else local_time(latest)
    )


class EntityArguments(Arguments):
    name: Annotated[Name, Meta(description="Its name, or another name of it.")]
    kind: KindChoice = None
    limit: Annotated[int, Meta(ge=1, le=50, description="At most this many memories.")] = 10


class EntityProfile(Record, omit_defaults=True):
    """An entity with this name. ``caution``: what in the summary is no longer true."""

    name: str
    type: str
    also_called: tuple[str, ...] = ()
    summary: str | None = None
    caution: str = ""


class EntityInfo(Record, omit_defaults=True):
    """``mentioned_in``: how many memories mention it; ``memories``: the latest of them. ``may_also_be``: names of
    entities that may be the same; the person has not decided yet.
    """

    entities: tuple[EntityProfile, ...]
    mentioned_in: int
    memories: tuple[ServedMemory, ...]
    left_out: str = ""
    may_also_be: tuple[str, ...] = ()


def get_entity_info(agent: Agent, arguments: EntityArguments) -> EntityInfo:
    # Entities depend on all memories and on the person. An agent with a scope gets only the names in its texts.
    # The same if something about the name is kept from the agent: a summary or another name could reveal it.
    by_text = agent.is_scoped or agent.is_kept_from(f"entity:{quote_value(arguments.name)}")
    wanted = quote_value(arguments.name) if by_text else f"entity:{quote_value(arguments.name)}"
    about = agent.page(wanted, limit=_NAMED_IN) if fold_text(arguments.name) else []
    profiles = (
        _name_as_shown(agent, arguments.name, about)
        if by_text
        else _entity_profiles(agent, arguments.name, about)
    )
    if not profiles:
        raise NotFoundError(
            f"No entity has the name {arguments.name[:60]!r}.",
            "Try another form of the name, or search_memory.",
        )
    filter = f"{wanted} {kind_filter(arguments.kind)}"
    memories, left_out = agent.leave_out_secrets(agent.page(filter, limit=arguments.limit))
    agent.log_recall(arguments.name, memories)
    return EntityInfo(
        entities=tuple(profiles), mentioned_in=agent.count(filter), memories=serve_memories(agent, memories),
        left_out=left_out, may_also_be=() if by_text else _other_entities_named(agent, arguments.name),
    )  # fmt: skip


def _other_entities_named(agent: Agent, name: str) -> tuple[str, ...]:
    """Other entities of this name in texts that the agent may see."""
    with suppress(MemtuiError):  # a name of several
        names = [one.canonical_name for one in agent.memory.entities.merge_candidates(name)[:_NAMESAKES]]
        return tuple(one for one in names if not agent.is_kept_from(f"entity:{quote_value(one)}"))
    return ()


def _entity_profiles(agent: Agent, name: str, about: list[MemoryRecord]) -> list[EntityProfile]:
    """The entities of that name that these memories mention."""
    entities = {entity.id: entity for memory in about for entity in agent.memory.view.entities_of(memory.id)}
    called = [
        one
        for one in entities.values()
        if fold_text(name) in map(fold_text, (one.canonical_name, *one.aliases))
    ]
    known = agent.memory.view.summary_cautions(called)
    return [
        EntityProfile(
            name=one.canonical_name, type=one.type, also_called=one.aliases, summary=one.summary,
            caution=caution_notes(known.get(one.id, ())),
        )
        for one in called
    ]  # fmt: skip


def _name_as_shown(agent: Agent, name: str, about: list[MemoryRecord]) -> list[EntityProfile]:
    """The name as these texts show it: spelled as in the latest, with the type that most of them give."""
    shown_names = [
        one
        for memory in about
        for one in agent.memory.entities.named_in(memory.content)
        if fold_text(one.raw) == fold_text(name)
    ]
    if not shown_names:
        return []
    (type, _) = Counter(one.type for one in shown_names).most_common(1)[0]
    return [EntityProfile(name=shown_names[0].raw, type=type)]


class ContextArguments(Arguments):
    prompt: Annotated[LongText, Meta(description="What the person just said or asked.")]
    session_id: Annotated[
        Name | None,
        Meta(description="The current conversation: its own messages are left out."),
    ] = None
    limit: Annotated[int, Meta(ge=1, le=50, description="At most this many facts.")] = 5


class ContextAnswer(Record, omit_defaults=True):
    """``text`` is Markdown, empty if nothing fits the prompt. ``tokens`` is an estimate."""

    text: str
    tokens: int
    ids: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def get_context(agent: Agent, arguments: ContextArguments) -> ContextAnswer:
    block = agent.context(arguments.prompt, session_id=arguments.session_id, limit=arguments.limit)
    return ContextAnswer(
        text=block.text, tokens=block.tokens, ids=tuple(memory.id for memory in block.memories),
        left_out=tuple(dict.fromkeys(one.reason for one in block.left_out if one.reason != WITHHELD)),
    )  # fmt: skip


TOOLS = (
    Tool(
        name="search_memory", group="memory", arguments=SearchArguments, returns=SearchAnswer, run=search_memory,
        description="Search what is remembered about the person: facts, past conversations, observations. Use it "
        "before you answer anything that may depend on who they are, what they prefer or what was said earlier. "
        "It matches words and meaning. The best come first, each with its score and a short reason.",
    ),
    Tool(
        name="explain_search", group="memory", arguments=ExplainArguments, returns=HitExplanationAnswer, run=explain_search,
        description="Explain why search_memory found a memory, or did not: its rank, its score, what excludes it, and "
        "how to find it. Use it when a memory that you know of is missing.",
    ),
    Tool(
        name="memory_stats", group="memory", arguments=Arguments, returns=CountAnswer, run=memory_stats,
        description="Count the memories of each kind, and give the time of the newest.",
    ),
    Tool(
        name="get_entity_info", group="memory", arguments=EntityArguments, returns=EntityInfo, run=get_entity_info,
        description="Get one person, project, place or organisation: its names and the latest memories that mention it. "
        "Use it for “tell me about X”. Give a whole name. The names in may_also_be may mean the same one: "
        "look them up too.",
    ),
    Tool(
        name="get_context", group="memory", arguments=ContextArguments, returns=ContextAnswer, run=get_context,
        description="Get the memories that matter for the person's message, as markdown to read before you answer: a few "
        "facts, dated excerpts of earlier messages, and this week's insight. Empty when nothing is relevant.",
    ),
)  # fmt: skip
