"""``memory.review``: cards, decisions, change requests, and the health of the memories."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, get_args

import apsw

from memtui.engine.clock import local_midnight
from memtui.engine.core import Core
from memtui.engine.errors import InputError
from memtui.engine.memories import predecessors, validation
from memtui.engine.records import MemoryRecord, Operation
from memtui.engine.review import cards, change_requests
from memtui.engine.review import groups as review_groups
from memtui.engine.review.cards import Inbox, ReviewItem, ReviewKind, Verdict
from memtui.engine.review.change_requests import RequestVerb
from memtui.engine.review.groups import ReviewGroup
from memtui.engine.store import entity_names, memories, replacements
from memtui.engine.store.proposals import MAX_PROPOSALS, Proposal
from memtui.engine.wording import quote_beginning

if TYPE_CHECKING:
    from memtui.engine.review.health import HealthReport


class Review:
    """Every decision is one undoable operation."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._health: tuple[str, HealthReport] | None = None

    def items(self, *, limit: int = MAX_PROPOSALS, kinds: Collection[ReviewKind] = ()) -> list[ReviewItem]:
        """What needs the person, what is dangerous first; empty: all clear.

        ``kinds``: look for these cards alone, which is quicker.
        """
        only = kinds or get_args(ReviewKind)
        with self._core.connections.read() as connection:
            return cards.review(connection, self._core.clock(), self._core.options, limit=limit, kinds=only)

    def inbox(self, *, all: bool = False) -> Inbox:
        """The same as a day's share: of what can wait only as many as fill up 20 cards a local date, unless ``all`` is wanted."""
        now = self._core.clock()
        with self._core.connections.read() as connection:
            return cards.inbox(connection, now, local_midnight(now), self._core.options, all=all)

    def entity_cards(self) -> list[ReviewItem]:
        """The cards of ``items`` about entities that may be one; ``decide`` settles them: merge, both, snooze."""
        with self._core.connections.read() as connection:
            return cards.entity_cards(connection, self._core.clock(), self._core.options)

    def decide(
        self, item: ReviewItem, verdict: Verdict, *, text: str = "", keep: str | None = None
    ) -> Operation | None:
        """Settle an item of ``items``: one operation; None when there was nothing left to change.

        ``keep``: the id that stands, for conflicts and duplicates (default: the new one); of a choice the fact that the new
        one replaces (default: the likeliest); of the others the memory (or entity) on the card that the verdict is about
        (default: all of them). ``text``: the new wording, for ``correct`` and ``merge``. Raises InputError for a verdict that
        the item does not offer.
        """
        # Its patterns, a seventh of a second, are not needed to look at cards.
        from memtui.engine.review import decisions

        now = int(self._core.clock())
        with self._core.change("review", decisions.label(item, verdict, keep)) as op:
            replaced = {
                one.rid: predecessors.standing_again(op.connection, one, now) for one in item.memories
            }
            decisions.decide(
                op.connection, item, verdict, text=text, keep=keep, actor=self._core.actor, options=self._core.options,
                now=now,
            )  # fmt: skip
            if verdict != "correct":
                op.label += self._again_note(op.connection, replaced, now)
            self._ask_about_dependents(op.connection, [decisions.narrowed(item, keep)], verdict)
        return self._core.finished_operation(op)

    def _again_note(
        self, connection: apsw.Connection, replaced: dict[int, tuple[MemoryRecord, ...]], now: int
    ) -> str:
        """``replaced``: by rid what would stand again without a memory, as it was before the verdict."""
        gone = [
            one.rid
            for one in memories.by_rid(connection, list(replaced), now)
            if one.ended_by in ("forgotten", "superseded")
        ]
        return predecessors.again_note([old for rid in gone for old in replaced[rid]])

    def ask_about_contradiction(self, id: str, *, within: str = "") -> MemoryRecord | None:
        """Ask the person in Review about the known fact that a fact of an agent contradicts most; None where none is found.

        ``within``: a filter; what does not pass it is not looked at. Raises NotFoundError.
        """
        from memtui.engine.consolidation import apply
        from memtui.engine.consolidation.compare import conflicts, duplicates
        from memtui.engine.search.cautions import visible_scope
        from memtui.engine.search.scope import rids_in_scope

        now = int(self._core.clock())
        inside = visible_scope(within, now, fade_threshold=self._core.options.fade_threshold)
        with self._core.connections.read() as connection:
            fact = memories.get(connection, id, now)
            known: duplicates.Within = (
                set if inside is None else lambda rids: set(rids_in_scope(connection, inside, rids))
            )
            found = [
                (relation.score, relation.reason, other)
                for other in duplicates.find_candidates(connection, fact.content, now, within=known)
                if other.id != fact.id
                for relation in [conflicts.relation_between(fact.content, other.content)]
                if relation.kind == "conflict"
            ]
        if not found:
            return None
        _, reason, other = max(found, key=lambda one: one[0])
        agent = self._core.actor.removeprefix("agent:")
        reason_text = f"{agent} says otherwise: {reason}"
        with self._core.change("review", "Asked", project=self._core.project_of_memory(id)) as op:
            apply.open_conflict(op.connection, fact.id, other.id, reason_text, now)
            op.label = f"Asked the person about a conflict: {quote_beginning(validation.open_text(fact))}"
        return other

    def _ask_about_dependents(
        self, connection: apsw.Connection, items: Sequence[ReviewItem], verdict: Verdict
    ) -> None:
        decided = [memory.id for item in items for memory in item.memories]
        self._core.ask_about_dependents(connection, decided, "forgot" if verdict == "forget" else "corrected")

    def request_change(self, verb: RequestVerb, id: str, *, text: str = "", why: str = "") -> Proposal:
        """Ask the person to forget, correct or confirm a memory: it waits in Review and changes nothing.

        The same request is one row, however often it is made. Its ``state`` says what the person decided. Raises
        NotFoundError, InputError for what could not be granted or when 20 of this agent wait.
        """
        now = int(self._core.clock())
        with self._core.change("change_request", "Asked", project=self._core.project_of_memory(id)) as op:
            memory = memories.get(op.connection, id, now)
            agent = self._core.actor.removeprefix("agent:")
            proposal = change_requests.open_request(
                op.connection,
                verb,
                memory,
                agent=agent,
                text=text,
                why=why,
                options=self._core.options,
                now=now,
            )
            op.label = f"{agent} asked to {verb} “{validation.open_text(memory)[:60]}”"
        return proposal

    def group(self, *, session: str | None = None, about: str | None = None) -> ReviewGroup:
        """The cards of one conversation, or those that mention an entity (its name or id), for ``decide_group``.

        Raises InputError unless exactly one of both is given, NotFoundError for what is not there.
        """
        if (session is None) == (about is None):
            raise InputError("A group of cards belongs to a session or to an entity.", "Give one of the two.")
        now, options = self._core.clock(), self._core.options
        with self._core.connections.read() as connection:
            if session is not None:
                return review_groups.group_of_session(connection, now, options, session)
            entity = entity_names.find_entity(connection, about or "")
            return review_groups.group_about_entity(connection, now, options, entity)

    def groups(self, item: ReviewItem) -> tuple[ReviewGroup, ...]:
        """The groups that a card belongs to: its conversation first, then whom and what it mentions."""
        with self._core.connections.read() as connection:
            return review_groups.groups_of_card(connection, self._core.clock(), self._core.options, item)

    def decide_group(self, group: ReviewGroup, verdict: Verdict) -> Operation | None:
        """One verdict (keep, forget, snooze) on a group: one operation; None when there was nothing to decide.

        What ``group.items_for(verdict)`` leaves out stays, to be decided by itself.
        """
        if verdict not in ("keep", "forget", "snooze"):
            raise InputError(f"{verdict!r} is for one card.", "A group takes keep, forget or snooze.")
        return self.decide_all(group.items_for(verdict), verdict, label=group.label(verdict))

    def decide_all(
        self, items: Sequence[ReviewItem], verdict: Verdict, *, label: str = ""
    ) -> Operation | None:
        """One verdict on several items: one operation. Those that it does not settle (any more) are left as they are."""
        from memtui.engine.review import decisions

        settled, now = 0, int(self._core.clock())
        with self._core.change("review", "Reviewed") as op:
            before = {one.rid: one for item in items for one in item.memories}
            replaced = {
                rid: predecessors.standing_again(op.connection, one, now) for rid, one in before.items()
            }
            for item in items:
                with suppress(InputError), op.connection:
                    decisions.decide(
                        op.connection, item, verdict, text="", keep=None, actor=self._core.actor, options=self._core.options,
                        now=now,
                    )  # fmt: skip
                    settled += 1
            self._ask_about_dependents(op.connection, items, verdict)
            op.label = label or decisions.label_of_all(verdict, settled)
            op.label += self._again_note(op.connection, replaced, now)
        return self._core.finished_operation(op)

    def is_taken_away(self, content: str, *, within: str = "") -> bool:
        """Whether the person corrected or forgot a fact that says this, and no active one says it.

        ``within``: a filter; what does not pass it is not looked at.
        """
        from memtui.engine.consolidation.compare import duplicates
        from memtui.engine.search.cautions import visible_scope
        from memtui.engine.search.scope import rids_in_scope

        now = self._core.clock()
        inside = visible_scope(within, now, fade_threshold=self._core.options.fade_threshold)
        with self._core.connections.read() as connection:
            known: duplicates.Within = (
                set if inside is None else lambda rids: set(rids_in_scope(connection, inside, rids))
            )
            gone = duplicates.same_text(connection, content, "fact", now, known)
            if gone is not None and not duplicates.is_replaced_or_forgotten(gone):
                return False
            gone = gone or duplicates.find_decided(connection, content, now, known)
            if gone is None:
                return False
            later = memories.linked(connection, gone.id, "supersedes", now, incoming=True)
            unasked = replacements.find_unasked(connection, [one.id for one in later])
            return gone.ended_by == "forgotten" or gone.id not in {one.old for one in unasked}

    def merge(self, survivor: str, others: Sequence[str], *, text: str = "") -> MemoryRecord:
        """Make one fact of several: the survivor keeps tags, sources and protection of all; the others go to the Trash.

        Linked both ways (``merged``). ``text`` replaces the survivor's wording. Returns the survivor.
        Raises NotFoundError, InputError for what cannot be merged, ProtectedError for an agent.
        """
        from memtui.engine.consolidation import resolve

        with self._core.change("merge", "Merged") as op:
            rid = resolve.merge_facts(
                op.connection, survivor, others, text=text, actor=self._core.actor, options=self._core.options,
                now=int(self._core.clock()),
            )  # fmt: skip
            (record,) = memories.by_rid(op.connection, [rid], self._core.clock())
            known = [memories.get(op.connection, id, self._core.clock()).id for id in (survivor, *others)]
            self._core.ask_about_dependents(op.connection, known, "corrected")
            op.label = f"Merged {len(others) + 1} facts into “{record.content[:60]}”"
        return record

    def health(self, *, cancelled: Callable[[], bool] = lambda: False) -> HealthReport:
        """Duplicates, repeated recalls, unsafe, stale and unused memories, with the rows. Nothing is written.

        Seconds in a large memory, so not to be waited for on the way to a frame. The answer is kept until something
        changes; what ``cancelled`` cut short is not.
        """
        # Patterns that looking at memories does not need.
        from memtui.engine.review import health

        now = self._core.clock()
        with self._core.connections.read() as connection:
            mark = health.health_watermark(connection, now)
            kept = self._health
            if kept is None or kept[0] != mark:
                kept = (mark, health.check_health(connection, now, self._core.options, cancelled))
        if not cancelled():
            self._health = kept
        return kept[1]

    def forget_health(self) -> None:
        """Drop the cached result of ``health``, because the file has changed."""
        self._health = None
