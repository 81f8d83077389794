"""Carry out a person's decision on a card of Review, inside the caller's operation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import apsw
from msgspec.structs import replace

from memtui.engine import reconcile
from memtui.engine.consolidation import apply, resolve
from memtui.engine.consolidation.compare.conflicts import CHANGED, left_over
from memtui.engine.days import day_of_fact
from memtui.engine.entities import operations as entity_operations
from memtui.engine.errors import InputError, ProtectedError
from memtui.engine.memories import operations, validation
from memtui.engine.memories import operations as memory_operations
from memtui.engine.memories import predecessors as memory_predecessors
from memtui.engine.records import Entity, MemoryRecord, Options
from memtui.engine.search.lexicon import content_stems
from memtui.engine.store import memories, proposals
from memtui.engine.wording import plural, quote_beginning, quoted_change

from . import change_requests, dependents, merge_candidates
from .cards import OFFERED, THE_REST, ReviewItem, ReviewKind, Verdict
from .change_requests import ChangeRequest


def accept_quarantined(
    connection: apsw.Connection, payload: Mapping[str, Any], *, text: str, options: Options, now: int
) -> int:
    """Store it as the fact or observation that it was to be, confirmed: the person has read it.

    Another ``text`` is the person's own.
    """
    corrected = text.strip() != "" and text.strip() != payload["content"]
    accepted = validation.check_text(text.strip() or payload["content"], "fact", options.secrets)
    category, topic = payload["category"], payload.get("topic")
    rid = memories.insert(
        connection,
        kind="observation" if category else "fact", category=category, content=accepted.content,
        event_time=payload["event_time"], created_at=now,
        trust="user" if corrected else payload["trust"],
        session_id=payload["session_id"], source=f"session:{payload['session_id']}",
        project=payload.get("project"),
        confidence=1.0, decay_rate=0.0, confirmed_at=now,
        source_ids=payload["sources"], tags=validation.normalise_tags(payload["tags"]),
        attributes={"extractor": payload["extractor"], **accepted.attributes}, topic=topic,
        happens_at=None if category else day_of_fact(accepted.content, payload["event_time"], topic),
    )  # fmt: skip
    assert rid is not None  # it has no source key that could be there already
    operations.keep_from_vectors(connection, rid, accepted)
    memories.update(connection, rid, reviewed_at=now)
    return rid


SNOOZE_SECONDS = 7 * 86_400
_DONE: dict[Verdict, str] = {
    "keep": "Kept", "forget": "Forgot", "correct": "Corrected", "both": "Kept both:", "merge": "Merged",
    "replace": "Replaced", "snooze": "Put off",
}  # fmt: skip


# How much of each side of a conflict is quoted, so that both stand in a line.
_SIDE = 30
# Cards whose memories do not stand against each other: a verdict is about one of them or about all.
_DECIDED_BY_PART: frozenset[ReviewKind] = frozenset(
    {"dependents", "change_request", "quarantined", "suspicious", "fading", "new"}
)


def narrowed(item: ReviewItem, keep: str | None) -> ReviewItem:
    """What a verdict is about: the card, or its part ``keep``. Raises InputError for what is not on it."""
    return item.part(keep) if keep is not None and item.kind in _DECIDED_BY_PART else item


def label(item: ReviewItem, verdict: Verdict, keep: str | None = None) -> str:
    """What an operation that settles a card is called. ``keep``: the memory on it that the verdict is about."""
    item = narrowed(item, keep)
    if item.id == THE_REST:
        return f"{_DONE[verdict]} {plural(len(item.memories), 'fading fact')}"
    if item.kind == "dependents":
        parts = item.parts
        if len(parts) > 1 and item.only_named:
            return f"{_DONE[verdict]} {plural(len(parts), 'fact')} with the old name"
        if len(parts) > 1:
            return f"{_DONE[verdict]} {plural(len(parts), 'thing')} drawn from what no longer holds"
        (part,) = parts
        text = part.summary or "" if isinstance(part, Entity) else validation.open_text(part)
        return f"{_DONE[verdict]} {quote_beginning(text)}"
    if item.kind == "entities" and len(item.entities) > 1:
        names = [quote_beginning(validation.without_secrets(one.canonical_name)) for one in item.entities[:2]]
        done = {"both": "Keep apart:", "merge": "One:", "snooze": "Put off:"}.get(verdict, _DONE[verdict])
        return f"{done} {' and '.join(names)}"
    if item.kind == "conflict" and verdict == "keep" and len(item.memories) > 1:
        return _label_of_conflict(item, keep)
    if item.kind == "agent_change" and verdict in ("keep", "forget"):
        stands: Verdict = "keep" if _accepts_change(item, verdict, keep) else "forget"
        again = () if stands == "keep" else item.memories[1:]
        return f"{_DONE[stands]} {memory_predecessors.quote_for(item.memories[0], again)}"
    if item.kind == "choice" and verdict == "replace":
        return _label_of_conflict(_chosen_pair(item, keep), None)
    if item.kind == "choice" and verdict == "merge":
        new, old = (
            quote_beginning(validation.without_secrets(one.content), _SIDE)
            for one in _chosen_pair(item, keep).memories
        )
        return f"Merged {new} with {old}"
    if item.kind == "choice" and verdict == "both":
        return f"Kept {quote_beginning(validation.without_secrets(item.memories[0].content))} beside what was known"
    about = next((one for one in item.memories if one.id == keep), next(iter(item.memories), None))
    shown = (not item.change_request and item.text) or (about.content if about else "")
    more = f" and {len(item.memories) - 1} more" if item.kind == "new" and len(item.memories) > 1 else ""
    done = "Did not remember" if item.kind == "quarantined" and verdict == "forget" else _DONE[verdict]
    return f"{done} {quote_beginning(validation.without_secrets(shown))}{more}"


def _label_of_conflict(item: ReviewItem, keep: str | None) -> str:
    """Both sides: the one that stands, and what becomes of the other one."""
    new, old = item.memories[:2]
    stands, goes = (old, new) if keep == old.id else (new, old)
    replaced = "stays, marked as replaced" if item.old_lasts else "fades out"
    what = replaced if goes is old else "goes to the Trash"
    lost, kept = quoted_change(
        validation.without_secrets(goes.content), validation.without_secrets(stands.content), _SIDE
    )
    return f"Kept {kept}; {lost} {what}"


def decide(
    connection: apsw.Connection, item: ReviewItem, verdict: Verdict, *, text: str, keep: str | None, actor: str,
    options: Options, now: int,
) -> None:  # fmt: skip
    """Settle a card in the caller's operation. Raises InputError for a verdict that it does not offer.

    Verdicts are about the memory: ``forget`` accepts a request to forget, ``keep`` declines it.
    """
    if verdict not in OFFERED[item.kind]:
        raise InputError(
            f"{verdict!r} does not settle this card.", f"Choose {', '.join(OFFERED[item.kind])}."
        )
    if verdict == "correct" and not (text.strip() or (item.change_request and item.change_request.text)):
        raise InputError("There is no text to remember.", "Give the corrected wording.")
    item = narrowed(item, keep)
    if verdict == "correct" and item.kind in _DECIDED_BY_PART and len(item.parts or item.memories) > 1:
        raise InputError(
            "This card has several parts, and a new text fits only one.",
            "Name the part that the text is for.",
        )
    if verdict == "snooze" and item.kind == "dependents":
        _put_off_dependents(connection, item, keep, now)
        return
    if verdict == "snooze":
        _record_verdict(connection, item, "snoozed", now, until=now + SNOOZE_SECONDS)
        return
    if item.kind == "devices":
        if verdict not in item.offered:
            raise InputError(f"{verdict!r} does not settle this card.", f"Choose {', '.join(item.offered)}.")
        payload = proposals.get(connection, item.id).payload
        reconcile.apply_verdict(connection, payload, verdict, keep=keep, actor=actor, now=now)
    elif item.kind == "quarantined":
        if verdict != "forget":
            payload = proposals.get(connection, item.id).payload
            accept_quarantined(connection, payload, text=text, options=options, now=now)
    elif item.change_request is not None:
        state = _settle_change_request(
            connection, item, item.change_request, verdict, text=text, actor=actor, options=options, now=now
        )
        _record_verdict(connection, item, state, now)
        return
    elif item.kind == "dependents":
        _settle_dependents(connection, item, verdict, text=text, actor=actor, options=options, now=now)
        return
    elif item.kind == "agent_change":
        _settle_agent_change(
            connection, item, verdict, text=text, keep=keep, actor=actor, options=options, now=now
        )
    elif item.kind == "entities":
        first, second = item.entities
        if verdict == "merge":
            merge_candidates.merge(connection, (first, second), keep=keep, actor=actor)
        else:
            merge_candidates.keep_apart(connection, (first, second), actor=actor, now=now)
    elif item.kind == "choice":
        _settle_choice(
            connection, item, verdict, chosen=keep, text=text, actor=actor, options=options, now=now
        )
        if verdict in ("replace", "merge"):
            return  # it may go on about the others
    elif item.kind in ("conflict", "duplicate"):
        _settle_pair(connection, item, verdict, text=text, keep=keep, actor=actor, options=options, now=now)
    else:
        for memory in item.memories:
            _settle_one(
                connection, item.kind, memory, verdict, text=text, actor=actor, options=options, now=now
            )
    if item.id != THE_REST:  # it comes again with others
        _record_verdict(connection, item, "rejected" if verdict == "forget" else "accepted", now)


def _accepts_change(item: ReviewItem, verdict: Verdict, keep: str | None) -> bool:
    """Whether what an agent put in the place of a fact is to stand. ``keep``: the side that the verdict is about. Raises
    InputError for what is not on the card."""
    new, *old = (one.id for one in item.memories)
    if keep not in (None, new, *old):
        raise InputError(f"{keep} is not on this card.", f"Choose {' or '.join((new, *old))}.")
    return (keep in (None, new)) == (verdict == "keep")


def _settle_agent_change(
    connection: apsw.Connection, item: ReviewItem, verdict: Verdict, *, text: str, keep: str | None, actor: str,
    options: Options, now: int,
) -> None:  # fmt: skip
    if actor != "person":
        raise ProtectedError("Only the person decides what an agent changed.", "It waits in their Review.")
    new = memories.get(connection, item.memories[0].id, now)
    if verdict == "correct":
        memory_operations.correct(connection, new, text, actor=actor, options=options, now=now)
    elif _accepts_change(item, verdict, keep):
        memories.update(connection, new.rid, reviewed_at=now)
    else:
        memory_operations.forget(connection, new, actor=actor, now=now)


def _settle_dependents(
    connection: apsw.Connection, item: ReviewItem, verdict: Verdict, *, text: str, actor: str, options: Options, now: int,
) -> None:  # fmt: skip
    """What is left of the card goes on waiting."""
    if actor != "person":
        raise ProtectedError(
            "Only the person can decide what depends on a correction.", "It waits in their Review."
        )
    for memory in item.memories:
        _settle_one(connection, item.kind, memory, verdict, text=text, actor=actor, options=options, now=now)
    for entity in item.entities:
        if verdict == "keep":
            dependents.note_summary_kept(connection, entity)
        else:
            entity_operations.describe(
                connection, entity, text if verdict == "correct" else None, actor=actor
            )
    if not any(card.id == item.id for card in dependents.waiting_cards(connection, now)):
        proposals.decide(connection, item.id, "rejected" if verdict == "forget" else "accepted", now)


def _put_off_dependents(connection: apsw.Connection, item: ReviewItem, keep: str | None, now: int) -> None:
    """All of the card, or one part of it by a row of its own."""
    until = now + SNOOZE_SECONDS
    if keep is None:
        proposals.decide(connection, item.id, "snoozed", now, until=until)
        return
    (part,) = item.part(keep).parts
    own = proposals.identity("put off", item.id, part.id)
    payload = {"memories": [part.id], "of": [], "summaries": {}}
    if not proposals.ask(connection, own, "put off", payload, now):
        proposals.update_payload(connection, own, payload)
    proposals.decide(connection, own, "snoozed", now, until=until)


def label_of_all(verdict: Verdict, settled: int) -> str:
    return f"{_DONE[verdict].removesuffix(':')} {plural(settled, 'card')}"


def _settle_pair(
    connection: apsw.Connection, item: ReviewItem, verdict: Verdict, *, text: str, keep: str | None, actor: str,
    options: Options, now: int,
) -> None:  # fmt: skip
    """``keep`` names the side that the verdict is about; the new one if None."""
    new, old = item.memories[0].id, item.memories[1].id
    chosen = keep or new
    if chosen not in (new, old):
        raise InputError(f"{chosen} is not on this card.", f"Choose {new} or {old}.")
    other = old if chosen == new else new
    if verdict == "forget":
        chosen, other, verdict = other, chosen, "keep"
    merge: Callable[..., int] = resolve.merge_facts
    match verdict:
        case "both":
            resolve.keep_both(connection, [new, old], now=now)
        case "merge" | "correct":
            merge(connection, chosen, [other], text=text, actor=actor, options=options, now=now)
        case "keep" if item.kind == "duplicate":
            merge(connection, chosen, [other], text="", actor=actor, options=options, now=now)
        case "keep" if chosen == new:
            resolve.keep_new(connection, new, old, item.reason, actor=actor, now=now)
        case _:
            resolve.keep_old(connection, new, old, now=now)


def _chosen_pair(item: ReviewItem, chosen: str | None) -> ReviewItem:
    """A choice as the conflict of the new fact with one of the others; the likeliest if None. Raises InputError."""
    new, *known = item.memories
    old = next((one for one in known if chosen in (None, one.id)), None)
    if old is None:
        choices = ", ".join(one.id for one in known)
        raise InputError(f"{chosen} is not what this card offers.", f"Choose {choices}.")
    return replace(item, kind="conflict", memories=(new, old), left_over=left_over(old.content, new.content))


def _settle_choice(
    connection: apsw.Connection,
    item: ReviewItem,
    verdict: Verdict,
    *,
    chosen: str | None,
    text: str,
    actor: str,
    options: Options,
    now: int,
) -> None:
    """``chosen``: the id of the fact that the new one replaces, or is merged with. ``text``: of the merged one."""
    new = item.memories[0]
    if verdict == "replace":
        old = _chosen_pair(item, chosen).memories[1]
        resolve.keep_new(connection, new.id, old.id, CHANGED, actor=actor, now=now)
        _record_verdict(connection, item, "accepted", now)
        _ask_about_rest(connection, item, new.id, old.id, now)
    elif verdict == "merge":
        old = _chosen_pair(item, chosen).memories[1]
        _record_verdict(
            connection, item, "accepted", now
        )  # first: an open question goes over to the merged fact
        rid = resolve.merge_facts(
            connection, new.id, [old.id], text=text, actor=actor, options=options, now=now
        )
        (merged,) = memories.by_rid(connection, [rid], now)
        _ask_about_rest(connection, item, merged.id, old.id, now)
    elif verdict == "forget":
        memory_operations.forget(connection, memories.get(connection, new.id, now), actor=actor, now=now)
    else:  # none of them; that the others are true was not said
        resolve.keep_both(connection, [new.id], now=now)


def _ask_about_rest(connection: apsw.Connection, item: ReviewItem, new: str, answered: str, now: int) -> None:
    """One fact that the statement has changed is named. Whether it changed others of the card too is asked about those that
    share a word with the statement or with the named one; the rest was only a guess of what was meant."""
    statement, *known = item.memories
    named = [one.content for one in known if one.id == answered]
    stems = content_stems(" ".join((statement.content, *named)))
    rest = [
        one.id for one in known if one.id != answered and not stems.isdisjoint(content_stems(one.content))
    ]
    proposals.ask_about_rest(connection, proposals.get(connection, item.id), new, rest, now)


def _settle_change_request(
    connection: apsw.Connection, item: ReviewItem, wanted: ChangeRequest, verdict: Verdict, *, text: str, actor: str,
    options: Options, now: int,
) -> proposals.State:  # fmt: skip
    """The new state of a change request: ``accepted`` when the memory is now as the agent asked."""
    if actor != "person":
        raise ProtectedError("Only the person decides about a change request.", "It waits in their Review.")
    memory = memories.get(connection, item.memories[0].id, now)
    granted = verdict == {"forget": "forget", "correct": "correct", "confirm": "keep"}[wanted.verb]
    if granted:
        change_requests.grant_request(
            connection, wanted, memory, text=text.strip(), actor=actor, options=options, now=now
        )
    else:
        _settle_one(
            connection,
            item.kind,
            memory,
            verdict,
            text=text or wanted.text,
            actor=actor,
            options=options,
            now=now,
        )
    return "accepted" if granted else "rejected"


def _settle_one(
    connection: apsw.Connection, kind: ReviewKind, memory: MemoryRecord, verdict: Verdict, *, text: str, actor: str,
    options: Options, now: int,
) -> None:  # fmt: skip
    memory = memories.get(connection, memory.id, now)
    if verdict == "forget":
        memory_operations.forget(connection, memory, actor=actor, now=now)
    elif verdict == "correct":
        rid = memory_operations.correct(connection, memory, text, actor=actor, options=options, now=now)
        if kind == "dependents":
            (new,) = memories.by_rid(connection, [rid], now)
            dependents.settle_memory(connection, new, now)
    elif memory.active:
        if kind == "dependents":
            dependents.settle_memory(connection, memory, now)
            (memory,) = memories.by_rid(connection, [memory.rid], now)
        if kind == "fading" and actor == "person":
            memory_operations.confirm(connection, memory, actor=actor, now=now)
        memories.update(connection, memory.rid, reviewed_at=now)


def _record_verdict(
    connection: apsw.Connection,
    item: ReviewItem,
    state: proposals.State,
    now: int,
    *,
    until: int | None = None,
) -> None:
    about = {
        "memories": [memory.id for memory in item.memories],
        "reason": validation.without_secrets(item.reason),
    }
    if not proposals.ask(connection, item.id, item.kind, about, now) and item.kind == "new":
        proposals.update_payload(connection, item.id, about)
    proposals.decide(connection, item.id, state, now, until=until)


def settle_corrected(
    connection: apsw.Connection, cards: Sequence[proposals.Proposal], old: MemoryRecord, new: MemoryRecord, actor: str,
    now: int,
) -> str:  # fmt: skip
    """Settle the cards that ask about ``old``, with the reason; in the caller's operation.

    The question goes on about the new text where that contradicts the other side all the same, where words alone never
    told that the two did (so neither do they tell that it is over), or where an agent corrected it. Returns what became
    of them, to end a label with.
    """
    whose = "you" if actor == "person" else actor.removeprefix("agent:")
    went_on = apply.settle_questions(
        connection, cards, old, new, now, settled=f"{whose} corrected one side, now {new.id}",
        goes_on=lambda left: left.contradicts or left.untold or actor != "person",
    )  # fmt: skip
    if any(went_on):
        return "; its card in Review goes on"
    return ", which settles its card in Review" if went_on else ""
