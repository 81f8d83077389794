"""What needs a person's decision, worst first (what a decision does is in ``verdicts``).

Conflicts, quarantined texts and agents' change requests wait as proposals. Near-duplicates, suspicious and fading
facts are found when asked for, with bounded work: among the latest notes, and those that ``judged`` found earlier.
Decisions are stored, so that no card comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Literal, get_args

import apsw
from msgspec.structs import replace

from memtui.engine.confidence import EFFECTIVE_SQL
from memtui.engine.errors import InputError
from memtui.engine.records import Entity, MemoryRecord, Options, Record, is_trusted_less
from memtui.engine.search.kept_back import why_kept_back
from memtui.engine.store import memories, proposals, replacements, stamps, withheld
from memtui.engine.wording import plural

from . import agent_changes, change_requests, dependents, merge_candidates, scan
from .change_requests import ChangeRequest

ReviewKind = Literal[
    "agent_change",
    "conflict",
    "choice",
    "devices",
    "dependents",
    "change_request",
    "quarantined",
    "duplicate",
    "entities",
    "suspicious",
    "fading",
    "new",
]
Verdict = Literal["keep", "forget", "correct", "both", "merge", "replace", "snooze"]

SOON_SECONDS = 7 * 86_400
NEW_SECONDS = 30 * 86_400
_LOOKED_AT = 300
_COMPARED = 20
"""So many of the latest facts that the indexer has not compared yet are compared with facts in other words, by a model."""
_SINGLE_CARDS = 20
_SOURCES = 6
_MOST_FADING = 500
_MOST_NEW = 5_000
WHICH_CHANGED = "this sounds like a change: of what?"
THE_REST = proposals.identity("fading", "the rest")
# A known fact that was replaced, and what replaced it still stands (or was replaced in its turn).
_REPLACED = """EXISTS (
    SELECT 1 FROM memory_links l JOIN memories n ON n.id = l.from_id
    WHERE l.to_id = m.id AND l.rel = 'supersedes'
      AND (n.valid_until IS NULL OR n.ended_by IN ('superseded', 'merged')))"""
OFFERED: dict[ReviewKind, tuple[Verdict, ...]] = {
    "agent_change": ("keep", "forget", "correct", "snooze"),
    "conflict": ("keep", "forget", "correct", "both", "merge", "snooze"),
    "choice": ("replace", "both", "merge", "forget", "snooze"),
    "devices": ("keep", "forget", "both", "merge", "snooze"),
    "dependents": ("keep", "forget", "correct", "snooze"),
    "change_request": ("keep", "forget", "correct", "snooze"),
    "quarantined": ("keep", "forget", "correct", "snooze"),
    "duplicate": ("keep", "forget", "correct", "both", "merge", "snooze"),
    "entities": ("merge", "both", "snooze"),
    "suspicious": ("keep", "forget", "correct", "snooze"),
    "fading": ("keep", "forget", "correct", "snooze"),
    "new": ("keep", "forget", "correct", "snooze"),
}
# Cards that can wait until tomorrow: nothing is wrong meanwhile. The others are never behind the day's limit.
_CAN_WAIT: frozenset[ReviewKind] = frozenset({"duplicate", "entities", "fading"})
_TWO: tuple[Verdict, ...] = ("keep", "forget", "both", "snooze")
_ONE: tuple[Verdict, ...] = ("keep", "forget", "snooze")


class ReviewItem(Record):
    """One card. ``memories``: the new one before the known one (agent_change, conflict, duplicate), or before those of which
    one may have changed, the likeliest first (choice), all new ones of a session (new).

    ``text``: the quarantined text, or the wording that an agent proposes (change_request). ``sources``: turns that say it,
    as evidence. ``id`` names it in ``proposals``. ``change_request``: what the agent asks for.
    ``replaced``: known facts that a run took these for the successors of, without asking (new).
    ``entities``: two that may be one, the fuller name first (entities); ``keep`` names the one that stands. Those whose
    summary is asked about (dependents). ``sources`` of dependents: what no longer holds.
    ``named``: ids of those that were not drawn from anything, but have a name that a correction took away (dependents).
    ``turns_served``: agents get a turn that says the text, though it is no fact yet (quarantined).
    ``proposed``: the verdict to show first. ``left_over``: what the known fact says beyond what the new one replaces.
    ``said_again``: the person corrected one side of it, and somebody said it again (conflict, choice).
    """

    id: str
    kind: ReviewKind
    reason: str
    memories: tuple[MemoryRecord, ...] = ()
    sources: tuple[MemoryRecord, ...] = ()
    text: str = ""
    session_id: str | None = None
    offered: tuple[Verdict, ...] = ()
    change_request: ChangeRequest | None = None
    replaced: tuple[MemoryRecord, ...] = ()
    entities: tuple[Entity, ...] = ()
    named: tuple[str, ...] = ()
    turns_served: bool = False
    proposed: Verdict = "keep"
    left_over: str = ""
    said_again: bool = False

    @property
    def dangerous(self) -> bool:
        """It may be somebody else's word against the person's, or an order to assistants: decided first."""
        if self.kind in ("conflict", "choice"):
            by_agents = (one.trust in ("agent", "tool") and not one.protected for one in self.memories)
            return self.said_again or any(by_agents)
        return self.kind in ("agent_change", "change_request", "quarantined", "suspicious")

    @property
    def several(self) -> bool:
        """It stands for several facts that are decided together: no single card."""
        if self.kind == "dependents":
            return len(self.parts) > 1
        return self.kind == "new" or (self.kind == "fading" and len(self.memories) > 1)

    @property
    def old_lasts(self) -> bool:
        """Whether the known side of a conflict keeps its confidence once the new one is kept (``apply.weaken_replaced``)."""
        known = self.memories[1]
        return known.decay_rate == 0.0 or known.topic == "health" or self.left_over != ""

    @property
    def only_named(self) -> bool:
        """Dependents: nothing of it was drawn from what no longer holds; it has a name of that."""
        return len(self.named) == len(self.parts) > 0

    @property
    def parts(self) -> tuple[MemoryRecord | Entity, ...]:
        """Dependents: what can be decided one by one."""
        return (*self.memories, *self.entities)

    def part(self, id: str) -> ReviewItem:
        """A card that is decided part by part, narrowed to one of them (itself, if it has no other). Raises InputError."""
        dependents = self.kind == "dependents"
        narrow = replace(
            self,
            memories=tuple(one for one in self.memories if one.id == id),
            entities=tuple(one for one in self.entities if one.id == id),
            named=tuple(one for one in self.named if one == id),
        )
        if not (narrow.parts if dependents else narrow.memories):
            raise InputError(f"{id} is not on this card.", "memtui review lists what is.")
        if dependents or len(self.memories) == 1:
            return narrow
        return replace(narrow, id=proposals.identity(self.kind, id), sources=())


class Inbox(Record):
    """A day's share of what waits. ``later``: cards beyond it, which can wait; ``settled``: cards decided since midnight."""

    items: tuple[ReviewItem, ...]
    later: int
    settled: int

    @property
    def total(self) -> int:
        """All cards that wait, today's and later ones."""
        return len(self.items) + self.later


def inbox(
    connection: apsw.Connection, now: float, midnight: float, options: Options, *, all: bool = False
) -> Inbox:
    """``review``, where duplicates, names and fading facts only fill up 20 single cards for the day that began at ``midnight``.

    ``all``: without that limit.
    """
    items = review(connection, now, options)
    single = [item for item in items if not item.several]
    can_wait = [item.id for item in single if item.kind in _CAN_WAIT]
    places_used = (
        proposals.count_decided(connection, since=midnight, other_than="new") + len(single) - len(can_wait)
    )
    beyond = frozenset(() if all else can_wait[max(_SINGLE_CARDS - places_used, 0) :])
    return Inbox(
        items=tuple(item for item in items if item.id not in beyond),
        later=len(beyond),
        settled=proposals.count_decided(connection, since=midnight),
    )


def review(
    connection: apsw.Connection, now: float, options: Options, *, limit: int = proposals.MAX_PROPOSALS, every_new: bool = False,
    kinds: Collection[ReviewKind] = get_args(ReviewKind),
) -> list[ReviewItem]:  # fmt: skip
    """Everything that waits, what is ``dangerous`` first; each memory on one card only, but for change requests.

    ``every_new``: all new facts, not only those of the latest conversations. ``kinds``: look for these cards alone.
    """
    items: list[ReviewItem] = []
    shown: set[str] = set()
    put_off = proposals.snoozed_memories(connection, now)
    parts: dict[ReviewKind, Callable[[apsw.Connection, float, Options], Iterable[ReviewItem]]] = {
        "agent_change": _agent_changes, "conflict": _conflict_cards, "choice": _choice_cards, "devices": _device_cards,
        "dependents": _dependent_cards,
        "change_request": _change_requests, "quarantined": _quarantine_cards,
        "suspicious": _suspicious_cards, "duplicate": _duplicate_cards, "entities": _merge_candidates, "fading": _fading_cards,
        "new": _all_new_fact_cards if every_new else _new_fact_cards,
    }  # fmt: skip
    for kind, part in parts.items():
        for item in part(connection, now, options) if kind in kinds else ():
            ids = {memory.id for memory in item.memories}
            if item.kind == "new":
                undecided = tuple(memory for memory in item.memories if memory.id not in shown | put_off)
                if not undecided:
                    continue
                item = _make_card(
                    connection,
                    now,
                    "new",
                    item.id,
                    _new_facts_reason(undecided),
                    undecided,
                    session_id=item.session_id,
                )
            # What agents ask for is decided request by request, also beside another card about the memory.
            elif kind != "change_request" and ids and ids <= shown:
                continue
            shown |= ids
            items.append(item)
    items.sort(key=lambda item: not item.dangerous)
    return items[:limit]


def _conflict_cards(connection: apsw.Connection, now: float, options: Options) -> Iterable[ReviewItem]:
    for proposal, pair, others in _pending_contradictions(connection, now):
        # Its patterns take a seventh of a second.
        from memtui.engine.consolidation.compare.conflicts import both_may_be_true, left_over

        if not others:
            reason = str(proposal.payload["reason"])
            card = _make_card(connection, now, "conflict", proposal.id, reason, pair)
            more = left_over(pair[1].content, pair[0].content)
            both = both_may_be_true(*pair, reason)
            proposed: Verdict = "both" if both else "merge" if more else "keep"
            if is_trusted_less(pair[0].trust, pair[1].trust):
                proposed = "forget"  # an agent's claim is not proposed against the person's words
            yield replace(card, proposed=proposed, left_over=more, said_again=_is_said_again(proposal))


def _agent_changes(connection: apsw.Connection, now: float, options: Options) -> Iterable[ReviewItem]:
    """What is in force by an agent's word alone; what is suspicious about it is said here too."""
    for one in agent_changes.waiting_changes(connection, now):
        why = scan.why_suspicious(connection, one.new, now)
        reason = f"{one.sentence}; {why}" if why else one.sentence
        card = _make_card(connection, now, "agent_change", one.id, reason, (one.new, one.olds[0]))
        yield replace(card, session_id=one.new.session_id, proposed="forget")


def _choice_cards(connection: apsw.Connection, now: float, options: Options) -> Iterable[ReviewItem]:
    """What sounds like a change, where it is not clear what has changed."""
    for proposal, pair, others in _pending_contradictions(connection, now):
        from memtui.engine.consolidation.compare.conflicts import both_may_be_true

        if others:
            card = _make_card(connection, now, "choice", proposal.id, WHICH_CHANGED, (*pair, *others))
            both = both_may_be_true(*pair, str(proposal.payload["reason"]))
            yield replace(card, proposed="both" if both else "replace", said_again=_is_said_again(proposal))


def _is_said_again(proposal: proposals.Proposal) -> bool:
    return bool(proposal.payload.get("again"))


def _pending_contradictions(
    connection: apsw.Connection, now: float
) -> Iterable[tuple[proposals.Proposal, tuple[MemoryRecord, MemoryRecord], tuple[MemoryRecord, ...]]]:
    """What waits about two facts, with the other facts that may have changed instead of the known one."""
    for proposal in proposals.pending_proposals(connection, proposals.CONFLICT, now):
        if shown := proposals.asked_memories(connection, proposal, now):
            yield proposal, (shown[0], shown[1]), shown[2:]


def _device_cards(connection: apsw.Connection, now: float, options: Options) -> Iterable[ReviewItem]:
    """What two devices decided differently; what it shows may be in the Trash on this one."""
    for proposal in proposals.pending_proposals(connection, proposals.DEVICES, now):
        payload = proposal.payload
        shown = proposals.disputed_sides(connection, payload, now)
        if not shown:
            continue
        reason = str(payload["reason"])
        for device, name in stamps.device_names(connection, payload.get("seen", ())).items():
            reason = reason.replace(f" on {device}", f" on {name}")
        card = _make_card(connection, now, "devices", proposal.id, reason, shown)
        if payload.get("aspect", "state") != "state":
            yield replace(card, offered=("keep", "merge", "snooze"))
        else:
            yield replace(card, offered=_TWO if len(shown) > 1 else _ONE)


def _dependent_cards(connection: apsw.Connection, now: float, options: Options) -> Iterable[ReviewItem]:
    put_off = proposals.snoozed_memories(connection, now)
    for card in dependents.waiting_cards(connection, now):
        undecided = tuple(one for one in card.drawn if one.id not in put_off)
        summaries = tuple(one for one in card.summaries if one.id not in put_off)
        if undecided or summaries:
            yield ReviewItem(
                id=card.id, kind="dependents", reason=card.describe_reason([*undecided, *summaries]),
                memories=undecided, sources=card.ended,
                entities=summaries, offered=OFFERED["dependents"],
                named=tuple(one.id for one in undecided if one.id in card.named),
            )  # fmt: skip


def _change_requests(connection: apsw.Connection, now: float, options: Options) -> Iterable[ReviewItem]:
    for id, wanted, memory in change_requests.waiting_requests(connection, now):
        card = _make_card(
            connection, now, "change_request", id, wanted.sentence, (memory,), session_id=memory.session_id
        )
        yield replace(card, text=wanted.text, change_request=wanted)


def _merge_candidates(connection: apsw.Connection, now: float, options: Options) -> Iterable[ReviewItem]:
    for one in merge_candidates.pending_candidates(connection, now):
        text = " / ".join(entity.canonical_name for entity in one.pair)
        yield ReviewItem(
            id=one.id, kind="entities", reason=one.reason, text=text, sources=one.examples, entities=one.pair,
            offered=OFFERED["entities"],
        )  # fmt: skip


def entity_cards(connection: apsw.Connection, now: float, options: Options) -> list[ReviewItem]:
    """The cards about entities alone."""
    return list(_merge_candidates(connection, now, options))


def _quarantine_cards(connection: apsw.Connection, now: float, options: Options) -> Iterable[ReviewItem]:
    for proposal in proposals.pending_proposals(connection, proposals.QUARANTINED, now):
        payload = proposal.payload
        sources = _active_memories(connection, payload["sources"], now)
        kept = withheld.withheld_turns(connection) if sources else ()
        yield ReviewItem(
            id=proposal.id, kind="quarantined", reason="; ".join(payload["reasons"]), text=payload["content"],
            sources=sources, session_id=payload["session_id"],
            turns_served=any(one.rid not in kept and not why_kept_back(one) for one in sources),
            offered=OFFERED["quarantined"], proposed="correct" if "is meant by “" in str(payload["reasons"]) else "keep",
        )  # fmt: skip


def _suspicious_cards(connection: apsw.Connection, now: float, options: Options) -> Iterable[ReviewItem]:
    result = scan.stored_result(connection)
    latest = _latest_notes(
        connection, now, "m.kind <> 'episode' AND m.confirmed_at IS NULL AND m.reviewed_at IS NULL "
        f"AND m.rid > {result.through}",
    )  # fmt: skip
    cards = []
    for memory in (*latest, *_active_memories(connection, result.suspicious, now)):
        if reason := scan.why_suspicious(connection, memory, now):
            cards.append((proposals.identity("suspicious", memory.id), reason, (memory,)))
    yield from _unsettled_cards(connection, now, "suspicious", cards)


def _duplicate_cards(connection: apsw.Connection, now: float, options: Options) -> Iterable[ReviewItem]:
    result = scan.stored_result(connection)
    latest = _latest_notes(connection, now, f"m.kind = 'fact' AND m.rid > {result.through}")
    pairs = [(memory, other) for memory in latest for other in scan.duplicates_of(connection, memory, now)]
    pairs += [pair for ids in result.duplicates if (pair := _still_the_same(connection, ids, now))]
    cards = {}
    for pair in pairs:
        if any(replacements.is_replaced(connection, one) for one in pair):
            continue  # what took its place is another text, and it fades
        newer, older = sorted(pair, key=lambda memory: memory.rid, reverse=True)
        key = proposals.identity("duplicate", newer.id, older.id)
        cards[key] = (key, "they say the same", (newer, older))
    for newer, older in _paraphrase_pairs(connection, latest[:_COMPARED], result.paraphrases, now):
        key = proposals.identity("duplicate", newer.id, older.id)
        cards.setdefault(key, (key, "these may say the same in other words", (newer, older)))
    yield from _unsettled_cards(connection, now, "duplicate", list(cards.values()))


def _paraphrase_pairs(
    connection: apsw.Connection,
    latest: Sequence[MemoryRecord],
    scanned: Sequence[tuple[str, str]],
    now: float,
) -> Iterable[tuple[MemoryRecord, MemoryRecord]]:
    """``latest``: facts that were not scanned yet; ``scanned``: pairs of ids that the scan found."""
    for fact in latest:
        other = scan.paraphrase_of(connection, fact, now)
        if other is not None:
            yield fact, other
    for ids in scanned:
        pair = _active_memories(connection, ids, now)
        if len(pair) == 2 and not scan.is_decided(connection, *pair, now):
            yield pair[0], pair[1]


def _still_the_same(
    connection: apsw.Connection, ids: Sequence[str], now: float
) -> tuple[MemoryRecord, MemoryRecord] | None:
    from memtui.engine.consolidation.compare.similarity import compare_statements

    pair = _active_memories(connection, ids, now)
    if len(pair) < 2 or compare_statements(pair[0].content, pair[1].content).kind != "duplicate":
        return None
    return pair[0], pair[1]


def _fading_cards(connection: apsw.Connection, now: float, options: Options) -> Iterable[ReviewItem]:
    """One card each for the strongest, one for all that are left: on the day after an import that may be hundreds."""
    rows = connection.execute(
        f"""
        SELECT {memories.COLUMNS} FROM memories m INDEXED BY notes_by_time
        WHERE m.kind <> 'episode' AND m.kind = 'fact' AND m.valid_until IS NULL AND m.decay_rate > 0
          AND {EFFECTIVE_SQL} < :threshold
          -- What was replaced is meant to fade.
          AND NOT {_REPLACED}
        ORDER BY {EFFECTIVE_SQL} DESC, m.rid DESC LIMIT :limit
        """,
        {"now": now + SOON_SECONDS, "threshold": options.fade_threshold, "limit": _MOST_FADING},
    ).fetchall()
    records = [memories.memory_record(row, now) for row in rows]
    pending = {memory.id: proposals.identity("fading", memory.id) for memory in records}
    settled = proposals.settled_ids(connection, [*pending.values(), THE_REST], now)
    records = [memory for memory in records if pending[memory.id] not in settled]
    for memory in records[:_SINGLE_CARDS]:
        reason = f"{memory.effective:.0%} left, gone within a week"
        yield _make_card(
            connection, now, "fading", pending[memory.id], reason, (memory,), session_id=memory.session_id
        )
    rest = tuple(records[_SINGLE_CARDS:])
    if rest and THE_REST not in settled:
        yield _make_card(
            connection, now, "fading", THE_REST, f"{len(rest):,} more are gone within a week", rest
        )


def _new_fact_cards(connection: apsw.Connection, now: float, options: Options) -> Iterable[ReviewItem]:
    return _make_new_fact_cards(connection, now, _LOOKED_AT, _SINGLE_CARDS)


def _all_new_fact_cards(connection: apsw.Connection, now: float, options: Options) -> Iterable[ReviewItem]:
    return _make_new_fact_cards(connection, now, _MOST_NEW, _MOST_NEW)


def _make_new_fact_cards(
    connection: apsw.Connection, now: float, facts: int, conversations: int
) -> Iterable[ReviewItem]:
    by_session: dict[str, list[MemoryRecord]] = {}
    where = (
        "m.kind = 'fact' AND m.reviewed_at IS NULL AND m.confirmed_at IS NULL AND m.source LIKE 'session:%' "
        f"AND m.created_at > {int(now) - NEW_SECONDS} AND NOT {_REPLACED}"
    )
    for memory in _latest_notes(connection, now, where, facts):
        by_session.setdefault(memory.session_id or str(memory.source), []).append(memory)
    put_off = proposals.snoozed_memories(connection, now)
    cards = 0
    for session, some in by_session.items():
        undecided = tuple(fact for fact in some if fact.id not in put_off)
        if undecided and cards < conversations:
            cards += 1
            # Named by the conversation: what is decided on another card leaves it its id.
            id = proposals.identity("new", session)
            yield _make_card(
                connection,
                now,
                "new",
                id,
                _new_facts_reason(undecided),
                undecided,
                session_id=undecided[0].session_id,
            )


def _new_facts_reason(facts: Sequence[MemoryRecord]) -> str:
    return f"{plural(len(facts), 'new fact')} from this conversation"


def _unsettled_cards(
    connection: apsw.Connection,
    now: float,
    kind: ReviewKind,
    cards: Sequence[tuple[str, str, tuple[MemoryRecord, ...]]],
) -> Iterable[ReviewItem]:
    settled = proposals.settled_ids(connection, [id for id, _, _ in cards], now)
    for id, reason, sides in cards:
        if id not in settled:
            yield _make_card(connection, now, kind, id, reason, sides, session_id=sides[0].session_id)


def _make_card(
    connection: apsw.Connection, now: float, kind: ReviewKind, id: str, reason: str,
    found: tuple[MemoryRecord, ...], *, session_id: str | None = None,
) -> ReviewItem:  # fmt: skip
    sources = {
        turn.id: turn
        for memory in found[:_SOURCES]
        for turn in memories.linked(connection, memory.id, "source", now, limit=_SOURCES)
    }
    replaced = (memory.supersedes for memory in found if kind == "new" and memory.supersedes is not None)
    return ReviewItem(
        id=id, kind=kind, reason=reason, memories=found, sources=tuple(sources.values()), session_id=session_id,
        offered=OFFERED[kind], replaced=_active_memories(connection, tuple(replaced), now),
    )  # fmt: skip


def _latest_notes(
    connection: apsw.Connection, now: float, where: str, limit: int = _LOOKED_AT
) -> list[MemoryRecord]:
    rows = connection.execute(
        f"SELECT {memories.COLUMNS} FROM memories m INDEXED BY notes_by_time "
        f"WHERE m.valid_until IS NULL AND m.kind <> 'episode' AND {where} "
        "ORDER BY m.event_time DESC, m.rid DESC LIMIT ?",
        (limit,),
    )
    return [memories.memory_record(row, now) for row in rows]


def _active_memories(connection: apsw.Connection, ids: Sequence[str], now: float) -> tuple[MemoryRecord, ...]:
    return tuple(memory for memory in _existing_memories(connection, ids, now) if memory.active)


def _existing_memories(
    connection: apsw.Connection, ids: Sequence[str], now: float
) -> tuple[MemoryRecord, ...]:
    records = []
    for id in ids:
        row = connection.execute(
            f"SELECT {memories.COLUMNS} FROM memories m WHERE m.id = ?", (id,)
        ).fetchone()
        if row is not None:
            records.append(memories.memory_record(row, now))
    return tuple(records)
