"""Tools that write. An agent adds and corrects memories; to change what the person confirmed, it can only ask."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from memtui.engine.memories.operations import is_up_to_the_person
from memtui.engine.memories.validation import MAX_EPISODE, MAX_NOTE
from memtui.engine.records import MemoryRecord, Record
from memtui.engine.review.change_requests import RequestVerb
from memtui.engine.store.proposals import Proposal

from .agent import Agent
from .base import Arguments, Tool
from .recall import Name, ServedMemory, serve_memory

NoteText = Annotated[str, Meta(max_length=MAX_NOTE)]
MemoryId = Annotated[str, Meta(max_length=200)]


class WriteAnswer(Record, omit_defaults=True):
    """``done``: ``memory`` is as it is now. ``waits``: the person decides in Review, nothing has changed yet.
    ``declined``: the person declined the same request before, or took the fact away."""

    status: Literal["done", "waits", "declined"]
    memory: ServedMemory | None = None
    note: str = ""


class RememberArguments(Arguments):
    content: Annotated[
        NoteText,
        Meta(description="One durable fact about the person, as a whole sentence that stands alone."),
    ]
    confidence: Annotated[float, Meta(ge=0.0, le=1.0, description="How sure it is, 0 to 1.")] = 1.0


def remember_fact(agent: Agent, arguments: RememberArguments) -> WriteAnswer:
    if agent.memory.review.is_taken_away(arguments.content, within=agent.compiled_scope):
        return _declined_answer()
    fact = agent.memory.remember(
        arguments.content, confidence=arguments.confidence, tags=agent.own_tags(),
        project=agent.project, within=agent.compiled_scope
    )  # fmt: skip
    if fact.trust != "user" and not fact.protected:
        agent.memory.review.ask_about_contradiction(fact.id, within=agent.compiled_scope)
    return _written_answer(agent, fact)


class CorrectArguments(Arguments):
    memory_id: Annotated[MemoryId, Meta(description="The id of the memory that is wrong or out of date.")]
    new_content: Annotated[
        NoteText, Meta(description="What is right, as a whole sentence that stands alone.")
    ]


def correct_fact(agent: Agent, arguments: CorrectArguments) -> WriteAnswer:
    memory = agent.get(arguments.memory_id)
    if agent.memory.review.is_taken_away(arguments.new_content, within=agent.compiled_scope):
        return _declined_answer()
    if is_up_to_the_person(memory):
        return _request_change(agent, "correct", memory, text=arguments.new_content)
    return _written_answer(
        agent, agent.memory.correct(memory.id, arguments.new_content, within=agent.compiled_scope)
    )


class ConfirmArguments(Arguments):
    memory_id: Annotated[MemoryId, Meta(description="The id of the memory that is true.")]


def confirm_fact(agent: Agent, arguments: ConfirmArguments) -> WriteAnswer:
    memory = agent.get(arguments.memory_id)
    if memory.protected:
        return _request_change(agent, "confirm", memory)
    return _written_answer(agent, agent.memory.confirm(memory.id))


class ForgetArguments(Arguments):
    memory_id: Annotated[MemoryId, Meta(description="The id of the memory to forget.")]
    reason: Annotated[NoteText, Meta(description="Why, in a sentence: the person reads it.")] = ""


def forget_fact(agent: Agent, arguments: ForgetArguments) -> WriteAnswer:
    return _request_change(agent, "forget", agent.get(arguments.memory_id), why=arguments.reason)


class TurnArguments(Arguments):
    session_id: Annotated[
        Name, Meta(description="The conversation it belongs to: any name, the same for all its turns.")
    ]
    role: Annotated[Literal["user", "assistant", "tool"], Meta(description="Who said it.")]
    content: Annotated[str, Meta(max_length=MAX_EPISODE, description="What was said, word for word.")]


def record_turn(agent: Agent, arguments: TurnArguments) -> WriteAnswer:
    return _written_answer(
        agent,
        agent.memory.record_turn(
            arguments.session_id,
            arguments.role,
            arguments.content,
            project=agent.project,
            within=agent.compiled_scope,
            claimed=True,
        ),
    )


def _written_answer(agent: Agent, memory: MemoryRecord) -> WriteAnswer:
    return WriteAnswer(status="done", memory=serve_memory(agent, memory))


def _declined_answer() -> WriteAnswer:
    return WriteAnswer(
        status="declined", note="The person corrected or forgot this. Only they can say it again."
    )


def _request_change(
    agent: Agent, verb: RequestVerb, memory: MemoryRecord, *, text: str = "", why: str = ""
) -> WriteAnswer:
    proposal: Proposal = agent.memory.review.request_change(verb, memory.id, text=text, why=why)
    if proposal.state in ("rejected", "accepted"):
        return WriteAnswer(
            status="declined", note="The person has decided about this before: leave it as it is."
        )
    return WriteAnswer(
        status="waits", note="Only the person can do this. It waits in their Review; nothing has changed."
    )


TOOLS = (
    Tool(
        name="remember_fact", group="memory", arguments=RememberArguments, returns=WriteAnswer, run=remember_fact, writes=True,
        description="Save one durable fact about the person: a preference, decision, project, person, date. Use it when "
        "they ask you to remember something or tell you what will matter later. Not for general knowledge, "
        "instructions to yourself, or what is only true today. A fact that is known already is not stored twice.",
    ),
    Tool(
        name="correct_fact", group="memory", arguments=CorrectArguments, returns=WriteAnswer, run=correct_fact, writes=True,
        description="Replace a fact that is wrong or out of date; the old text is kept and linked. If the person has "
        "confirmed it or decided about it before, or said it of their health or as a rule, nothing changes: your correction "
        "waits for them to decide.",
    ),
    Tool(
        name="confirm_fact", group="memory", arguments=ConfirmArguments, returns=WriteAnswer, run=confirm_fact, writes=True,
        description="Confirm that a fact is true: it no longer fades. If the person has confirmed it, nothing changes.",
    ),
    Tool(
        name="forget_fact", group="memory", arguments=ForgetArguments, returns=WriteAnswer, run=forget_fact, writes=True,
        description="Ask the person to forget a memory. Nothing is deleted: the memory stays until the person decides. "
        "To replace a wrong fact use correct_fact.",
    ),
    Tool(
        name="record_turn", group="memory", arguments=TurnArguments, returns=WriteAnswer, run=record_turn, writes=True,
        description="Record one message of the conversation, word for word. Call it for each message, the person's and "
        "yours, unless the program that runs you records them.",
    ),
)  # fmt: skip
