"""Remember, correct, confirm, forget, restore, tag: each on rows inside the caller's operation.

Every function returns the rid it concerns and raises before it writes, so that an operation
over many rows is whole or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

import apsw

from memtui.engine.days import day_of_fact
from memtui.engine.errors import InputError, ProtectedError
from memtui.engine.records import (
    CORRECTED_BY,
    EXPLICIT,
    TOPIC_SAID,
    TRUST_ORDER,
    WITHHELD,
    WITHHELD_FROM,
    MemoryRecord,
    Options,
    Record,
    Topic,
    Trust,
)
from memtui.engine.store import memories, replacements, withheld
from memtui.engine.store.tokens import fold_text

from . import predecessors, validation

_CONFIRMED_AGAIN_AFTER = 30 * 86_400
_ASKED_FIRST: tuple[Topic, ...] = ("health", "rule")


class TopicAndDay(Record):
    """What somebody says of a fact; what is None stays. ``topic`` "none", ``happens_at`` 0: it has none."""

    topic: Topic | Literal["none"] | None = None
    happens_at: int | None = None


NOTHING = TopicAndDay()


def remember(
    connection: apsw.Connection,
    content: str,
    *,
    actor: str,
    confidence: float,
    tags: Iterable[str],
    source: str | None,
    options: Options,
    now: int,
    project: str | None = None,
    topic: Topic | None = None,
    guess: Topic | None = None,
    happens_at: int | None = None,
    within: Callable[[int], bool] = lambda rid: True,
) -> int:
    """Store a fact. What the person states is theirs: protected from decay. An equal active fact is reinforced instead,
    if it is ``within`` what the writer may see. ``guess``: the topic of a new one where none is said."""
    accepted = validation.check_text(
        content.strip() if isinstance(content, str) else content, "fact", options.secrets
    )
    trust = validation.actor_trust(actor)
    wanted_tags = validation.normalise_tags(tags)
    value = validation.check_confidence(confidence)
    confirmed_at = now if actor == "person" else None
    for same in memories.alike_notes(connection, accepted.content, now):
        if same.kind == "fact" and within(same.rid):
            if actor != "person" and replacements.is_replaced(connection, same):
                return same.rid  # to say the old value again makes it no surer
            _strengthen_duplicate(connection, same, value, wanted_tags, confirmed_at, trust)
            decided = is_up_to_the_person(same) if actor.startswith("agent:") else same.protected
            if topic is not None and (not decided or (confirmed_at and not _has_topic_of_person(same))):
                (again,) = memories.by_rid(connection, [same.rid], now)
                classify(connection, again, TopicAndDay(topic=topic), actor=actor, options=options)
            return same.rid
    rid = memories.insert(
        connection,
        kind="fact",
        content=accepted.content,
        event_time=now,
        created_at=now,
        trust=trust,
        source=validation.check_name(source, "source") if source is not None else EXPLICIT,
        project=None if project is None else validation.check_name(project, "project"),
        confidence=value,
        decay_rate=0.0 if confirmed_at else options.rate_of(topic or guess),
        confirmed_at=confirmed_at,
        tags=wanted_tags,
        attributes={**accepted.attributes, **({TOPIC_SAID: True} if topic and confirmed_at else {})},
        topic=topic or guess,
        happens_at=happens_at,
    )
    assert rid is not None  # it has no source key that could be there already
    keep_from_vectors(connection, rid, accepted)
    return rid


def _strengthen_duplicate(
    connection: apsw.Connection,
    same: MemoryRecord,
    confidence: float,
    tags: tuple[str, ...],
    confirmed_at: int | None,
    trust: Trust,
) -> None:
    """Said again: as sure as the surer of both, and protected if the person says it.

    Only the person changes what is protected.
    """
    merged = validation.normalise_tags((*same.tags, *tags))
    if confirmed_at and not same.protected:
        memories.update(
            connection, same.rid, confidence=max(same.confidence, confidence), confirmed_at=confirmed_at,
            decay_rate=0.0, tags=merged, trust=min(trust, same.trust, key=TRUST_ORDER.index),
        )  # fmt: skip
    elif (confirmed_at or not same.protected) and (merged != same.tags or confidence > same.confidence):
        memories.update(connection, same.rid, confidence=max(same.confidence, confidence), tags=merged)


def keep_from_vectors(connection: apsw.Connection, rid: int, accepted: validation.CheckedText) -> None:
    if accepted.quarantined:
        connection.execute("UPDATE index_queue SET vector = 0 WHERE rid = ?", (rid,))


def add_reflection(
    connection: apsw.Connection, accepted: validation.CheckedText, *, sources: Sequence[str], tags: Sequence[str], trust: Trust,
    now: int, id: str | None = None,
) -> int:  # fmt: skip
    """Store a reflection; ``sources`` are ids of memories. ``id``: of one that a job makes on whichever device."""
    rid = memories.insert(
        connection, id=id, kind="reflection", content=accepted.content, event_time=now, created_at=now,
        trust=trust, source="reflection", source_ids=sources, tags=tags, attributes=accepted.attributes,
    )  # fmt: skip
    assert rid is not None  # it has no source key
    keep_from_vectors(connection, rid, accepted)
    return rid


def correct(
    connection: apsw.Connection,
    old: MemoryRecord,
    new_content: str,
    *,
    actor: str,
    options: Options,
    now: int,
) -> int:
    """Replace a note by a new one: tags, sources and protection go with it, both stay, linked both ways."""
    if old.kind == "episode":
        raise InputError(
            "This is a turn of a conversation: it stays as it was said.",
            "Correct the fact that was drawn from it, or remember the right one.",
        )
    if not old.active:
        raise InputError(
            f"{old.id} is in the Trash ({old.ended_by}).", "Restore it first, or correct its successor."
        )
    require_wording_allowed(old, actor)
    text = new_content.strip() if isinstance(new_content, str) else new_content
    accepted = validation.check_text(text, old.kind, options.secrets)
    if accepted.content == old.content:
        raise InputError("The new text is the same as the old one.", "Nothing was changed.")
    states = actor == "person"
    attributes = {
        key: value
        for key, value in old.attributes.items()
        if key not in ("supersedes", "conflict_reason", "was", "secrets", "redacted", CORRECTED_BY)
    }
    if actor.startswith("agent:"):  # whose words these are, whatever the old ones were drawn from
        attributes[CORRECTED_BY] = actor.removeprefix("agent:")
    rid = memories.insert(
        connection,
        kind=old.kind,
        category=old.category,
        content=accepted.content,
        event_time=now if CORRECTED_BY in attributes else old.event_time,
        created_at=now,
        trust="user" if states else max(old.trust, validation.actor_trust(actor), key=TRUST_ORDER.index),
        session_id=old.session_id,
        source_role=old.source_role,
        source=old.source,
        project=old.project,
        confidence=1.0 if states else old.confidence,
        decay_rate=0.0 if states or old.protected or old.kind != "fact" else old.decay_rate,
        confirmed_at=old.confirmed_at or (now if states and old.kind == "fact" else None),
        source_ids=old.source_ids,
        tags=old.tags,
        attributes={**attributes, **accepted.attributes, "supersedes": old.id},
        topic=old.topic,
        happens_at=_day_of_corrected(old, accepted.content, now) if old.kind == "fact" else None,
    )
    assert rid is not None
    keep_from_vectors(connection, rid, accepted)
    memories.update(connection, old.rid, valid_until=now, ended_by="superseded")
    return rid


def _day_of_corrected(old: MemoryRecord, content: str, now: int) -> int | None:
    """The day that the new text names; one that somebody set stays where no text names one."""
    before = day_of_fact(old.content, old.event_time, old.topic)
    as_before = day_of_fact(content, old.event_time, old.topic)
    if as_before == before:
        return old.happens_at  # the words of the day are the same, and so is when they were said
    return day_of_fact(content, now, old.topic)


def confirm(connection: apsw.Connection, memory: MemoryRecord, *, actor: str, now: int) -> int:
    """The person confirms it: full confidence, no decay, no job and no model may touch it.

    An agent's word makes it sure and keeps it from fading, but protects nothing: that is the person's.
    """
    if memory.kind == "episode":
        raise InputError(
            f"{memory.id} is a turn of a conversation: there is nothing to confirm.", "Confirm facts instead."
        )
    if not memory.active:
        raise InputError(f"{memory.id} is in the Trash ({memory.ended_by}).", "Restore it first.")
    if actor != "person":
        _require_change_allowed(memory, actor)
        if not (memory.confidence == 1.0 and memory.decay_rate == 0.0):
            memories.update(connection, memory.rid, confidence=1.0, decay_rate=0.0)
    elif not (
        memory.confirmed_at is not None
        and memory.confirmed_at > now - _CONFIRMED_AGAIN_AFTER  # that it still holds is news after a while
        and memory.confidence == 1.0
        and memory.decay_rate == 0.0
    ):
        memories.update(
            connection, memory.rid, confidence=1.0, decay_rate=0.0, confirmed_at=now, reviewed_at=now
        )
    return memory.rid


def pin(connection: apsw.Connection, memory: MemoryRecord, *, actor: str, now: int) -> int:
    """Tell this fact in every context block. Pinning is the person's: an agent would speak in every prompt."""
    if actor != "person":
        raise ProtectedError("Only the person can pin a fact.", "Ask them to.")
    if memory.kind != "fact":
        raise InputError(
            f"{memory.id} is not a fact: only facts can be pinned.", "Remember it as a fact, then pin that."
        )
    if not memory.active:
        raise InputError(f"{memory.id} is in the Trash ({memory.ended_by}).", "Restore it first.")
    if not memory.pinned:
        memories.update(connection, memory.rid, attributes={**memory.attributes, "pinned_at": now})
    return memory.rid


def unpin(connection: apsw.Connection, memory: MemoryRecord, *, actor: str) -> int:
    """Tell it only where it bears on the prompt."""
    if actor != "person":
        raise ProtectedError("Only the person can unpin a fact.", "Ask them to.")
    if memory.pinned:
        memories.update(connection, memory.rid, attributes=without_pin(memory))
    return memory.rid


def pin_of(*facts: MemoryRecord) -> dict[str, Any]:
    """The attribute of the first that is pinned, for what takes their place; empty where none is."""
    return next(({"pinned_at": one.attributes["pinned_at"]} for one in facts if one.pinned), {})


def without_pin(memory: MemoryRecord) -> dict[str, Any]:
    """Its attributes when it is not pinned."""
    return {key: value for key, value in memory.attributes.items() if key != "pinned_at"}


def forget(
    connection: apsw.Connection, memory: MemoryRecord, *, actor: str, now: int, withhold: bool = False
) -> int:
    """Move it to the Trash. Its links and vector stay, so that restore brings all of it back.

    What an agent, a job or a reading put it in the place of stands again (``predecessors``), unless it is withheld.
    ``withhold``: and keep the turns that it was drawn from away from agents, until it is restored. Only the person can.
    """
    if withhold and actor != "person":
        raise ProtectedError("Only the person can withhold turns from agents.", "Ask them to.")
    if withhold and memory.kind == "episode":
        raise InputError(
            f"{memory.id} is a turn: when it is forgotten, no agent gets it.", "Forget it without --withhold."
        )
    if withhold and not memory.active and memory.ended_by != "forgotten":
        raise InputError(
            f"{memory.id} is in the Trash ({memory.ended_by}), not forgotten: its turns would not be withheld.",
            f"Forget what took its place with --withhold, or restore this first: memtui restore {memory.id}",
        )
    if memory.active:
        require_wording_allowed(memory, actor)
        if not withhold:
            predecessors.bring_back(connection, memory, now)
        memories.update(connection, memory.rid, valid_until=now, ended_by="forgotten")
    if withhold and not memory.withheld:
        memories.update(connection, memory.rid, attributes={**memory.attributes, WITHHELD: now})
    return memory.rid


def withhold(connection: apsw.Connection, memory: MemoryRecord, agent: str, *, actor: str) -> int:
    """Keep it from one agent, with every text that it has or had. Only the person can."""
    name = _checked_agent(agent, actor)
    if fold_text(name) not in map(fold_text, memory.withheld_from):
        _put_withheld(connection, memory, (*memory.withheld_from, name))
    return memory.rid


def allow(connection: apsw.Connection, memory: MemoryRecord, agent: str, *, actor: str, now: int) -> int:
    """Tell it that agent again, with what it took the place of and what took its place. Only the person can."""
    name = fold_text(_checked_agent(agent, actor))
    for one in memories.by_ids(connection, withheld.all_versions(connection, memory.id), now):
        withheld_from = tuple(kept for kept in one.withheld_from if fold_text(kept) != name)
        if withheld_from != one.withheld_from:
            _put_withheld(connection, one, withheld_from)
    return memory.rid


def _checked_agent(agent: str, actor: str) -> str:
    if actor != "person":
        raise ProtectedError("Only the person can choose which agents get a memory.", "Ask them to.")
    return validation.check_name(agent.removeprefix("agent:"), "agent")


def _put_withheld(connection: apsw.Connection, memory: MemoryRecord, agents: Sequence[str]) -> None:
    rest = {key: value for key, value in memory.attributes.items() if key != WITHHELD_FROM}
    memories.update(
        connection,
        memory.rid,
        attributes={**rest, WITHHELD_FROM: sorted(agents, key=fold_text)} if agents else rest,
    )


def restore(connection: apsw.Connection, memory: MemoryRecord, *, actor: str, now: int) -> int:
    """Take it out of the Trash. It counts as used now: else one that faded would fade again the same night."""
    if not memory.active:
        _require_change_allowed(memory, actor)
        memories.update(
            connection, memory.rid, valid_until=None, ended_by=None, reviewed_at=now, last_accessed=now
        )
        # Its turns may be withheld with what took its place.
        for one in memories.by_ids(connection, withheld.all_versions(connection, memory.id), now):
            if WITHHELD in one.attributes:
                rest = {key: value for key, value in one.attributes.items() if key != WITHHELD}
                memories.update(connection, one.rid, attributes=rest)
    return memory.rid


def tag(
    connection: apsw.Connection, memory: MemoryRecord, *, add: Iterable[str], remove: Iterable[str]
) -> int:
    """Add and remove tags; a tag is the same in any case."""
    # As it stands there, and as it would be stored today.
    gone = {
        value.casefold()
        for value in (*(one.strip().lstrip("#") for one in remove), *validation.normalise_tags(remove))
    }
    kept = [value for value in memory.tags if value.casefold() not in gone]
    wanted = validation.normalise_tags((*kept, *add))
    if wanted != memory.tags:
        memories.update(connection, memory.rid, tags=wanted)
    return memory.rid


def classify(
    connection: apsw.Connection, memory: MemoryRecord, about: TopicAndDay, *, actor: str, options: Options
) -> int:
    """Set what a fact is about and the day that it names. How it fades follows its topic."""
    if memory.kind != "fact":
        raise InputError(f"{memory.id} is not a fact: only facts have a topic and a date.", "Choose a fact.")
    require_wording_allowed(memory, actor)
    topic = memory.topic if about.topic is None else None if about.topic == "none" else about.topic
    happens_at = memory.happens_at if about.happens_at is None else about.happens_at or None
    if (topic, happens_at) != (memory.topic, memory.happens_at):
        rate = memory.decay_rate
        if not memory.protected and topic != memory.topic:
            if topic in options.lasting:
                rate = 0.0
            elif memory.topic in options.lasting:
                rate = options.decay_rate
        memories.update(connection, memory.rid, topic=topic, happens_at=happens_at, decay_rate=rate)
    if actor == "person" and about.topic is not None and TOPIC_SAID not in memory.attributes:
        memories.update(connection, memory.rid, attributes={**memory.attributes, TOPIC_SAID: True})
    return memory.rid


def _has_topic_of_person(memory: MemoryRecord) -> bool:
    """Whether the person said what it is about; else its topic is a guess."""
    return memory.topic is not None and TOPIC_SAID in memory.attributes


def is_up_to_the_person(memory: MemoryRecord) -> bool:
    """Whether an agent may only ask to change it: the person has confirmed it or decided about it in Review, or said it
    of somebody's health or as a rule. An agent's mistake there is a danger, or undoes a decision.
    """
    is_personal = memory.trust == "user" and memory.topic in _ASKED_FIRST
    return memory.protected or memory.reviewed_at is not None or is_personal


def require_wording_allowed(memory: MemoryRecord, actor: str) -> None:
    """Raise ProtectedError where somebody else than the person may not say it otherwise, sort it elsewhere or take it away."""
    _require_change_allowed(memory, actor)
    if actor.startswith("agent:") and is_up_to_the_person(memory):
        raise ProtectedError(
            f"{memory.id} is up to the person: {actor} may only ask to change it.",
            "memory.review.request_change asks them; the card waits in Review.",
        )


def _require_change_allowed(memory: MemoryRecord, actor: str) -> None:
    if memory.protected and actor != "person":
        raise ProtectedError(
            f"{memory.id} is confirmed by the person: {actor} may not change it.",
            "Ask the person to correct it.",
        )
