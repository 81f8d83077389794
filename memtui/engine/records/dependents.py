"""What depends on memories: what else was drawn from the same words or from them, and who was told them."""

from __future__ import annotations

from .base import Record
from .entities import Entity
from .memories import MemoryRecord


class PinnedQuestion(Record):
    """A question of the person that should find a memory."""

    query_id: int
    query: str


class ServedAgent(Record):
    """An agent that got the memory: how often, and when first and last (Unix seconds)."""

    agent: str
    times: int
    first: int
    last: int


class Dependents(Record):
    """What is to be known before ``of`` is corrected, forgotten, merged or erased. All of it is in use now.

    ``same_turns``: other facts that were drawn from the same turns; they may be wrong as well. ``drawn``: what was drawn
    from these memories, or from an earlier wording. ``summaries``: entities whose summary says the same. ``questions``:
    pinned questions that should find one of them. ``told``: the agents that were told one of them, the latest first.
    """

    of: tuple[MemoryRecord, ...]
    same_turns: tuple[MemoryRecord, ...] = ()
    drawn: tuple[MemoryRecord, ...] = ()
    summaries: tuple[Entity, ...] = ()
    questions: tuple[PinnedQuestion, ...] = ()
    told: tuple[ServedAgent, ...] = ()

    @property
    def any(self) -> bool:
        return bool(self.same_turns or self.drawn or self.summaries or self.questions or self.told)

    @property
    def stand_on_it(self) -> bool:
        """Whether something would go on saying it, or would no longer be found."""
        return bool(self.drawn or self.summaries or self.questions)
