"""What the earlier sessions of a preview would bring, so that a later one is compared with it as it will be in the run.

The facts have no id yet: a plan names them by their text, as it names those of its own session.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memtui.engine.records import Kind, MemoryRecord
from memtui.engine.store import memories

from .compare.similarity import analyse_statement
from .plan import Plan

_STORED = ("add", "supersede", "conflict", "observation")


class PreviewFacts:
    """Facts and observations of plans that are not written. Their ``rid`` is below zero and their ``id`` empty."""

    def __init__(self) -> None:
        self._facts: dict[str, MemoryRecord] = {}
        self._observations: dict[str, MemoryRecord] = {}
        self._successors: dict[int, MemoryRecord] = {}
        self._stored_successors: dict[str, MemoryRecord] = {}

    def add(self, plan: Plan) -> None:
        """What the accepted lines of a plan will store, and what they will replace."""
        for line in plan.lines:
            if not line.accepted or line.action not in _STORED:
                continue
            kind: Kind = "observation" if line.action == "observation" else "fact"
            known = self._facts_of_kind(kind)
            record = MemoryRecord(
                rid=-1 - len(self._facts) - len(self._observations), id="", kind=kind, content=line.content,
                event_time=line.event_time, created_at=line.event_time, confidence=line.confidence,
                effective=line.confidence, decay_rate=0.0, trust=line.trust, session_id=plan.session_id,
                project=line.project, source_ids=line.sources, topic=line.topic,
            )  # fmt: skip
            known.setdefault(memories.content_hash(line.content), record)
            if line.action == "supersede" and line.target is not None:
                self._stored_successors[line.target] = record
            elif line.action == "supersede" and line.known is not None:
                replaced = self._facts.get(memories.content_hash(line.known))
                if replaced is not None and replaced is not record:
                    self._successors[replaced.rid] = record

    def same_text(
        self, content: str, kind: Kind, project: str | None, *, claimed: bool
    ) -> MemoryRecord | None:
        """The one with the same text but for case and spacing; what is only claimed is compared with its own project."""
        found = self._facts_of_kind(kind).get(memories.content_hash(content))
        return found if found is not None and (not claimed or found.project == project) else None

    def facts(self, project: str | None, *, claimed: bool) -> list[MemoryRecord]:
        """All facts, or those of the project, in the order in which they were planned."""
        return [one for one in self._facts.values() if not claimed or one.project == project]

    def facts_sharing_words(self, content: str, facts: Iterable[MemoryRecord]) -> list[MemoryRecord]:
        """Those of the facts that have a telling word of the text."""
        mine = set(analyse_statement(content).content)
        return [one for one in facts if not mine.isdisjoint(analyse_statement(one.content).content)]

    def planned_successor(self, known: MemoryRecord) -> MemoryRecord | None:
        """What will take the place of a fact, the last of them; None where nothing will."""
        found: MemoryRecord | None = None
        later = self._successors.get(known.rid) if known.rid < 0 else self._stored_successors.get(known.id)
        while later is not None:
            found, later = later, self._successors.get(later.rid)
        return found

    def not_replaced(self, facts: Sequence[MemoryRecord]) -> list[MemoryRecord]:
        """Those that nothing will replace, the latest first."""
        standing = [one for one in facts if self.planned_successor(one) is None]
        return sorted(standing, key=lambda one: (one.event_time, one.rid >= 0, abs(one.rid)), reverse=True)

    def _facts_of_kind(self, kind: Kind) -> dict[str, MemoryRecord]:
        return self._observations if kind == "observation" else self._facts
