"""Write a plan: inside one transaction, with every precondition looked at again.

Between reading and writing a model may have thought for a minute, and other programs may have written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import apsw

from memtui.engine.days import day_of_fact
from memtui.engine.errors import InputError
from memtui.engine.memories import operations, validation
from memtui.engine.records import Kind, MemoryRecord, Options
from memtui.engine.store import consolidations, memories, proposals, replacements, sessions

from . import reread
from .compare import conflicts, duplicates
from .compare.conflicts import left_over
from .compare.value_mentions import value_said_over
from .plan import Plan, PlanLine


class StalePlanError(InputError):
    """The session, or what the plan builds on, changed since the plan was made."""


class Counts(dict[str, int]):
    """How many lines did what."""

    def add(self, action: str) -> None:
        self[action] = self.get(action, 0) + 1


def require_current_plan(connection: apsw.Connection, plan: Plan, now: int) -> None:
    """Raise StalePlanError unless the very turns that the plan read are still pending."""
    session = sessions.get(connection, plan.session_id)
    watermark = None if plan.again else session.consolidated_through
    turns = [
        turn
        for turn in consolidations.turns_beyond(connection, plan.session_id, watermark, now)
        if turn.rid <= plan.through
    ]
    if session.consolidated_through != plan.session.consolidated_through or (
        consolidations.fingerprint_turns(turns) != plan.fingerprint
    ):
        raise StalePlanError(
            f"The session {plan.session_id!r} has changed since it was read.", "Consolidate it again."
        )


def write_plan(connection: apsw.Connection, plan: Plan, options: Options, now: int, *, seen: bool) -> Counts:
    """Write the accepted lines and move the watermark; in the caller's operation. ``seen``: the person looked at them."""
    require_current_plan(connection, plan, now)
    counts = Counts()
    summary = None
    for line in plan.lines:
        if not line.accepted:
            continue
        if line.action == "summary":
            summary = line.content
            continue
        counts.add(write_line(connection, plan, line, options, now, seen=seen))
    consolidations.mark_done(
        connection, plan.session_id, through=plan.through, at=now, read_by=plan.extractor, summary=summary,
        whole=plan.again,
    )  # fmt: skip
    return counts


def write_line(
    connection: apsw.Connection, plan: Plan, line: PlanLine, options: Options, now: int, *, seen: bool,
    within: duplicates.Within = set,
) -> str:  # fmt: skip
    """Write one line and say what it did. ``within``: what is known to whoever writes."""
    if line.action in ("unchanged", "retire", "reword"):
        return _write_again(connection, plan, line, options, now, seen=seen)
    kind = "observation" if line.action == "observation" else "fact"
    if line.claimed:
        within = duplicates.in_project(connection, within, line.project)
    same = duplicates.same_text(
        connection, line.content, "observation" if kind == "observation" else "fact", now, within
    )
    target = _find_known_fact(connection, line.target, line.known, now, within)
    if same is not None and line.again and replacements.is_replaced(connection, same):
        # It stands as it was said now; what was replaced is that statement's former wording.
        memories.update(connection, same.rid, valid_until=now, ended_by="superseded")
    elif same is not None and same.active:
        # Somebody was quicker.
        return (
            reinforce_fact(connection, same, line.sources, line.confidence, now)
            if kind == "fact"
            else "known"
        )
    if line.action == "quarantine" and not seen:
        proposals.ask(
            connection,
            proposals.identity(proposals.QUARANTINED, line.content),
            proposals.QUARANTINED,
            _quarantine_payload(plan, line),
            now,
        )
        return "quarantined"
    if target is None or line.action not in ("reinforce", "supersede", "conflict"):
        insert_line(connection, plan, line, options, now, seen=seen)
        return "observation" if kind == "observation" else "added"
    if line.action == "reinforce" and not line.edited:
        return reinforce_fact(connection, target, line.sources, line.confidence, now)
    if line.action == "supersede" and not target.protected:
        new = insert_line(connection, plan, line, options, now, seen=seen, replaces=target)
        weaken_replaced(connection, target, line.content)
        settle_replaced(connection, target, memories.get(connection, new, now), now)
        _ask_about_others(connection, line, new, now, within)
        return "superseded" if new else "known"
    new = insert_line(connection, plan, line, options, now, seen=seen)
    meant = [_find_known_fact(connection, one.target, one.known, now, within) for one in line.meant]
    others = [one.id for one in meant if one is not None and one.id not in (new, target.id)]
    open_conflict(
        connection, new, target.id, line.reason, now, again=line.again, others=others, weak=line.weak
    )
    _ask_about_others(connection, line, new, now, within)
    return "conflict"


def _ask_about_others(
    connection: apsw.Connection, line: PlanLine, new: str, now: int, within: duplicates.Within
) -> None:
    for one in line.also:
        other = _find_known_fact(connection, one.target, one.known, now, within)
        if other is not None and other.id != new:
            open_conflict(connection, new, other.id, one.reason, now)


def _write_again(
    connection: apsw.Connection, plan: Plan, line: PlanLine, options: Options, now: int, *, seen: bool
) -> str:
    """A line about what was drawn before. Whoever decided about that since the plan was made has the last word."""
    old = None
    if line.action != "unchanged" and line.target is not None:
        old = reread.find_removable(connection, line.target, now)
    if line.action == "reword":
        insert_line(connection, plan, line, options, now, seen=seen, replaces=old)
    elif old is None:
        return "unchanged"
    if old is None:
        return "added"
    reread.retire_note(connection, old, plan.extractor, now, replaced=line.action == "reword")
    return "reworded" if line.action == "reword" else "retired"


def _find_known_fact(
    connection: apsw.Connection, target: str | None, text: str | None, now: int, within: duplicates.Within
) -> MemoryRecord | None:
    """The known fact that a line is about, while it is active; one of the same plan is known by its text."""
    if target is not None:
        known: MemoryRecord | None = memories.get(connection, target, now)
    else:
        known = duplicates.same_text(connection, text, "fact", now, within) if text is not None else None
    return known if known is not None and known.active else None


def insert_line(
    connection: apsw.Connection,
    plan: Plan,
    line: PlanLine,
    options: Options,
    now: int,
    *,
    seen: bool,
    replaces: MemoryRecord | None = None,
) -> str:
    """Store the line as a new memory and return its id. What the person edited is theirs."""
    observation = line.action == "observation"
    accepted = validation.check_text(line.content, "observation" if observation else "fact", options.secrets)
    attributes: dict[str, Any] = {"extractor": plan.extractor, **accepted.attributes}
    if replaces is not None:
        attributes |= {"supersedes": replaces.id, "conflict_reason": validation.without_secrets(line.reason)}
        attributes |= {} if observation else operations.pin_of(replaces)
    if not observation and not accepted.attributes and (was := value_said_over(accepted.content)):
        attributes["was"] = was
    stated = line.edited and not observation
    topic = line.topic or (replaces.topic if replaces is not None else None)
    if observation:
        topic = None
    kind: Kind = "observation" if observation else "fact"
    rid = memories.insert(
        connection,
        id=memories.derived_id(kind, plan.session_id, *sorted(line.sources), accepted.content),
        kind=kind,
        category=line.category if observation else None,
        content=accepted.content, event_time=line.event_time, created_at=now,
        trust="user" if line.edited else line.trust,
        session_id=plan.session_id, source=f"session:{plan.session_id}", project=line.project,
        confidence=1.0 if stated else line.confidence,
        decay_rate=0.0 if observation or stated else options.rate_of(topic),
        confirmed_at=now if stated else None,
        source_ids=line.sources, tags=validation.normalise_tags(line.tags), attributes=attributes,
        topic=topic, happens_at=None if observation else day_of_fact(accepted.content, line.event_time, topic),
    )  # fmt: skip
    assert rid is not None  # it has no source key that could be there already
    operations.keep_from_vectors(connection, rid, accepted)
    if seen:
        memories.update(connection, rid, reviewed_at=now)
    (record,) = memories.by_rid(connection, [rid], now)
    return record.id


def reinforce_fact(
    connection: apsw.Connection, known: MemoryRecord, sources: tuple[str, ...], confidence: float, now: int
) -> str:
    """Said again: the fact was used, and has one more source. What the person protected is left as it is, and so is what
    another statement replaced."""
    if replacements.is_replaced(connection, known):
        return "known"
    connection.execute(
        "UPDATE memories SET last_accessed = max(coalesce(last_accessed, 0), ?) WHERE rid = ?",
        (now, known.rid),
    )
    merged = duplicates.without_repeats(known.source_ids, sources)
    if not known.protected and (merged != known.source_ids or confidence > known.confidence):
        memories.update(
            connection, known.rid, source_ids=merged, confidence=max(known.confidence, confidence)
        )
    return "reinforced"


def weaken_replaced(connection: apsw.Connection, old: MemoryRecord, new: str) -> None:
    """What the text ``new`` replaced stays, unsure and not pinned, and fades faster.

    A fact that does not fade (about health, a rule, confirmed) keeps its confidence and its rate, and so does one that says
    more than ``new`` does: the caution alone says that it was replaced.
    """
    if old.decay_rate == 0.0 or old.protected or old.topic == "health" or left_over(old.content, new):
        memories.update(connection, old.rid, attributes=operations.without_pin(old))
        return
    memories.update(
        connection, old.rid,
        attributes=operations.without_pin(old),
        confidence=min(old.confidence, conflicts.SUPERSEDED_CONFIDENCE),
        decay_rate=max(old.decay_rate, conflicts.SUPERSEDED_DECAY),
    )  # fmt: skip


class LeftQuestion(NamedTuple):
    """What is left of a card once another text has taken the place of one of its sides.

    ``known``: whether the known side went, and not the new one. ``contradicts``: the new text contradicts the other side by
    its words. ``untold``: words never told that the old text did, so they do not tell either that the question is over.
    """

    card: proposals.Proposal
    known: bool
    contradicts: bool
    untold: bool


def settle_questions(
    connection: apsw.Connection, cards: Iterable[proposals.Proposal], old: MemoryRecord, new: MemoryRecord, now: int, *,
    settled: str, goes_on: Callable[[LeftQuestion], bool],
) -> list[bool]:  # fmt: skip
    """Settle conflict cards about ``old``, whose place ``new`` has taken, with the reason; in the caller's operation.

    Where it ``goes_on``, the question is asked about ``new``. Of each that was settled: whether it was. A card whose other
    side is gone stays as it is.
    """
    found = []
    for card in cards:
        side, opposite = ("new", "old") if card.payload["new"] == old.id else ("old", "new")
        others = memories.by_ids(connection, [str(card.payload[opposite])], now)
        other = next((one for one in others if one.active), None)
        if other is None:
            continue
        relation = conflicts.relation_between(new.content, other.content)
        untold = (
            relation.kind != "duplicate"
            and conflicts.relation_between(old.content, other.content).kind != "conflict"
        )
        asked_again = goes_on(LeftQuestion(card, side == "old", relation.kind == "conflict", untold))
        proposals.update_payload(connection, card.id, {**card.payload, "settled": settled})
        proposals.decide(connection, card.id, "accepted", now)
        choices = [str(one) for one in card.payload.get("others", ())] if side == "old" else []
        if choices and (not asked_again or new.event_time > other.event_time):
            # The other facts that it may have changed instead; what was said after it is none of them.
            proposals.ask_about_rest(connection, card, other.id, choices, now)
            asked_again = True
        elif asked_again:
            id = proposals.identity(proposals.CONFLICT, new.id, other.id)
            reason = relation.reason or str(card.payload["reason"])
            sides = (other.id, new.id) if side == "old" else (new.id, other.id)
            later, earlier = proposals.later_first(connection, *sides, now)
            payload = {**card.payload, "new": later, "old": earlier, "reason": reason}
            proposals.ask(connection, id, proposals.CONFLICT, payload, now)
        found.append(asked_again)
    return found


def settle_replaced(connection: apsw.Connection, old: MemoryRecord, new: MemoryRecord, now: int) -> None:
    """Settle the questions about a fact that another statement has replaced, in the caller's operation.

    What ``old`` would have changed is not asked any more, unless ``new`` contradicts it by its words. What would change
    ``old`` is asked about ``new``, unless the words tell that only ``old`` was contradicted. A card about the two stays.
    """
    settle_questions(
        connection,
        [
            card
            for card in proposals.undecided_about(connection, proposals.CONFLICT, old.id)
            if new.id not in (card.payload["new"], card.payload["old"])
        ],
        old,
        new,
        now,
        settled=f"another statement replaced one side, now {new.id}",
        goes_on=lambda left: (
            left.contradicts or (left.known and ("others" in left.card.payload or left.untold))
        ),
    )


def open_conflict(
    connection: apsw.Connection, new: str, old: str, reason: str, now: int, *, again: bool = False,
    others: Sequence[str] = (), weak: bool = False,
) -> None:  # fmt: skip
    """``again``: the new one says what the old one took the place of; agents get both with a caution meanwhile.
    ``others``: ids of facts that may have changed instead of the old one. ``weak``: nothing is told as changed meanwhile."""
    payload: dict[str, Any] = {"new": new, "old": old, "reason": validation.without_secrets(reason)}
    payload |= {"again": True} if again else {}
    payload |= {"others": list(dict.fromkeys(others))} if others else {}
    payload |= {"weak": True} if weak else {}
    proposals.ask(
        connection, proposals.identity(proposals.CONFLICT, new, old), proposals.CONFLICT, payload, now
    )


def _quarantine_payload(plan: Plan, line: PlanLine) -> dict[str, Any]:
    return {
        "content": line.content, "sources": list(line.sources), "trust": line.trust, "tags": list(line.tags),
        "confidence": line.confidence, "event_time": line.event_time, "session_id": plan.session_id,
        "extractor": plan.extractor, "category": line.category, "topic": line.topic, "project": line.project,
        "reasons": [suspicion.detail for suspicion in line.suspicions] or [line.reason],
    }  # fmt: skip
