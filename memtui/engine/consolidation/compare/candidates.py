"""What a new statement is compared with: facts that share its words, the latest ones that mean most like it, and what the same
conversation said before it.

Beside each stands what was said right before it, for "it was pushed to 2 July" says nothing alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import apsw

from memtui.engine.records import MemoryRecord
from memtui.engine.store import memories

from ..extract.joined_statements import without_date
from ..extract.sentences import split_sentences
from ..preview_facts import PreviewFacts
from . import duplicates, update_model
from .life_changes import changes_life, tells_life_change
from .pair_features import Statement
from .similarity import analyse_statement, tokens_as_written

_LATEST = 200
_NEAREST = 24


class Candidate(NamedTuple):
    """Something known. ``record`` is None for what the same plan brings; ``score``: how likely the new one replaces it."""

    statement: Statement
    record: MemoryRecord | None
    score: float | None = None


class KnownFacts:
    """The facts that one plan is compared with. ``earlier``: those that the plan itself has brought so far; ``turns``: that
    it reads; ``foreseen``: what plans before it bring that are not written."""

    def __init__(
        self, connection: apsw.Connection, now: float, turns: Iterable[MemoryRecord] = (),
        foreseen: PreviewFacts | None = None,
    ) -> None:  # fmt: skip
        self._foreseen = foreseen or PreviewFacts()
        self.turns = tuple(turns)
        self._connection = connection
        self._now = now
        self._latest: dict[duplicates.Within, list[MemoryRecord]] = {}
        self._preceding: dict[int, str] = {}
        self._judges = update_model.update_model().available()
        self.earlier: list[Statement] = []

    def candidates(
        self,
        new: Statement,
        said_at: int,
        within: duplicates.Within,
        project: str | None = None,
        *,
        claimed: bool = False,
    ) -> list[Candidate]:
        """The known facts, each once, with their scores where the model is installed; then the ``earlier`` ones."""
        planned = self._foreseen.facts(project, claimed=claimed)
        sharing = [
            *self._foreseen.facts_sharing_words(new.text, planned),
            *duplicates.find_candidates(self._connection, new.text, self._now, within=within),
        ]
        model = update_model.update_model()
        if not self._judges:
            return [Candidate(Statement(one.content), one) for one in sharing]
        latest = (
            self._foreseen.not_replaced([*self._facts_in_project(within), *planned])[:_LATEST]
            if planned
            else self._facts_in_project(within)
        )
        near = [latest[place] for place in model.most_similar(new, [one.content for one in latest], _NEAREST)]
        changed = (
            [one for one in latest if changes_life(new.text, one.content)]
            if tells_life_change(new.text)
            else []
        )
        facts = list({one.rid: one for one in (*sharing, *near, *changed)}.values())
        statements = [*(self._statement_of(one) for one in facts), *self.earlier]
        records: Sequence[MemoryRecord | None] = [*facts, *(None for _ in self.earlier)]
        scores = model.replacement_odds(new, statements)
        return [
            # What was said later is not replaced by what was said before it.
            Candidate(one, record, score if record is None or record.event_time <= said_at else None)
            for one, record, score in zip(statements, records, scores, strict=True)
        ]

    def successor_in_force(self, known: MemoryRecord) -> MemoryRecord | None:
        """The active fact that took the place of a known one; None where none did."""
        if (planned := self._foreseen.planned_successor(known)) is not None:
            return planned
        found, seen = known, {known.id}
        while later := [
            one
            for one in memories.linked(self._connection, found.id, "supersedes", self._now, incoming=True)
            if one.active and one.id not in seen
        ]:
            found = later[-1]
            seen.add(found.id)
        if found is known:
            return None
        return self._foreseen.planned_successor(found) or found

    def corrected_since(self, new: str, target: str, said_at: int) -> bool:
        """Whether the new statement, said before ``target`` was put right, says what was wrong with it then."""
        mine = set(analyse_statement(new).content)
        at, seen = memories.get(self._connection, target, self._now), {target}
        right = set(analyse_statement(at.content).content)
        while before := [
            one
            for one in memories.linked(self._connection, at.id, "supersedes", self._now)
            if one.id not in seen
        ]:
            at = before[-1]
            seen.add(at.id)
            wrong = set(analyse_statement(at.content).content) - right
            if at.ended_by == "superseded" and said_at <= (at.valid_until or 0) and wrong & mine:
                return True
        return False

    def _facts_in_project(self, within: duplicates.Within) -> list[MemoryRecord]:
        if within not in self._latest:
            self._latest[within] = duplicates.latest_facts(
                self._connection, self._now, _LATEST, within=within
            )
        return self._latest[within]

    def _statement_of(self, fact: MemoryRecord) -> Statement:
        return Statement(
            fact.content,
            self._preceding_text(fact),
            session_id=fact.session_id or "",
            said_at=fact.event_time,
        )

    def _preceding_text(self, fact: MemoryRecord) -> str:
        """What was said right before the fact, in the turn that it was drawn from."""
        if fact.rid not in self._preceding:
            if fact.id:
                turns = memories.linked(self._connection, fact.id, "source", self._now, limit=1)
            else:
                turns = [memories.get(self._connection, fact.source_ids[0], self._now)]
            self._preceding[fact.rid] = preceding_text(fact.content, turns[0].content) if turns else ""
        return self._preceding[fact.rid]


_LONGEST_PRECEDING = 200
_LONGEST_BEFORE = 150


def preceding_text(text: str, turn: str) -> str:
    """What a turn says right before the statement: in its own sentence, and in the two before."""
    words = set(tokens_as_written(text.casefold()))
    sentences = [sentence.text for sentence in split_sentences(turn[:20_000])]
    if not sentences:
        return ""
    best = max(
        range(len(sentences)),
        key=lambda place: len(words.intersection(tokens_as_written(sentences[place].casefold()))),
    )
    at = sentences[best].casefold().find(without_date(text).casefold())
    return " ".join([*sentences[max(0, best - 2) : best], sentences[best][: max(at, 0)].strip()]).strip()[
        -_LONGEST_PRECEDING:
    ]


def earlier_messages(turn: MemoryRecord, turns: Iterable[MemoryRecord]) -> str:
    """What the two messages before a turn say, of those that are at hand."""
    order = (turn.event_time, turn.rid)
    earlier = sorted(
        (one for one in turns if one.session_id == turn.session_id and (one.event_time, one.rid) < order),
        key=lambda one: (one.event_time, one.rid),
    )
    return " ".join(one.content[-_LONGEST_BEFORE:] for one in earlier[-2:])
