"""What is known about one memory, and what depends on it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec.structs import replace

from .base import Record
from .entities import Enrichment, Entity
from .history import Operation, RowChange, Stamp
from .memories import Caution, MemoryRecord, Replacement, Session
from .search import Recall

_word = re.compile(r"[^\W_]+")


class MemoryDetail(Record):
    """One memory and what belongs to it; ``versions`` holds the chain of corrections, oldest first.

    ``merged``: what was merged into it; ``merged_into``: what it was merged into; ``successor``: what replaced it.
    ``fades``: when its confidence reaches the threshold (Unix seconds), None when it never does. ``around``: the turns
    around it or around its first source, else what was learned in the same days. ``sessions``: its own and those of its
    sources, by id. ``cautions``: what it tells that was corrected or forgotten since. ``decided``: who decided last about each
    of its aspects, and on which device; ``device`` is this one; ``device_names``: what those of ``decided`` are called, by id.
    ``withheld_from``: the agents that are not told it, because of it or of what it belongs to. ``asked``: an open card of
    Review is about a conflict of it. ``replacements``: what took whose place in the chain that it belongs to, the earliest first.
    """

    memory: MemoryRecord
    fades: float | None
    threshold: float
    sources: tuple[MemoryRecord, ...]
    derived: tuple[MemoryRecord, ...]
    versions: tuple[MemoryRecord, ...]
    merged: tuple[MemoryRecord, ...]
    merged_into: tuple[MemoryRecord, ...]
    successor: MemoryRecord | None
    around: tuple[MemoryRecord, ...]
    entities: tuple[Entity, ...]
    enrichment: Enrichment | None
    history: tuple[tuple[Operation, RowChange], ...]
    recalls: tuple[Recall, ...]
    sessions: dict[str, Session]
    cautions: tuple[Caution, ...] = ()
    decided: tuple[Stamp, ...] = ()
    device: str = ""
    device_names: Mapping[str, str] = {}
    withheld_from: tuple[str, ...] = ()
    asked: bool = False
    replacements: tuple[Replacement, ...] = ()


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


class SharedName(Record):
    """A fact that has a name of another one. ``name``: its words in small letters.

    ``beside``: empty for a name; else ``name`` is another word or a number, and these are further words that both facts have.
    """

    memory: MemoryRecord
    name: str
    beside: tuple[str, ...] = ()


def _spaced_words(text: str) -> str:
    """The words of a text in small letters, with a blank around each."""
    return f" {' '.join(_word.findall(text.casefold()))} "


class Dependents(Record):
    """What depends on ``memories``, for a look before they are corrected, forgotten, merged or erased.

    ``same_turns``: other facts that were drawn from the same turns; they may be wrong as well. ``derived``: what was
    drawn from these memories, or from an earlier wording. ``summaries``: entities whose summary says the same.
    ``naming``: other facts of the same subject with a name of theirs; see ``after``. ``wording``: those that share another
    word of theirs and one beside it; they depend on a new text alone. ``replaced``: ``after`` was given that text.
    ``questions``: pinned questions that should find one of them. ``served``: the agents that got one of them, the latest
    first. ``standing``: what stands again if they are forgotten, because it was not the person who replaced it.
    """

    memories: tuple[MemoryRecord, ...]
    same_turns: tuple[MemoryRecord, ...] = ()
    derived: tuple[MemoryRecord, ...] = ()
    naming: tuple[SharedName, ...] = ()
    wording: tuple[SharedName, ...] = ()
    replaced: bool = False
    summaries: tuple[Entity, ...] = ()
    questions: tuple[PinnedQuestion, ...] = ()
    served: tuple[ServedAgent, ...] = ()
    standing: tuple[MemoryRecord, ...] = ()

    def after(self, text: str) -> Dependents:
        """The same, once ``text`` stands in their place: facts with a name or word that it takes away."""
        words = _spaced_words(text)
        gone = [one for one in (*self.naming, *self.wording) if _spaced_words(one.name) not in words]
        gone = [
            one for one in gone if not one.beside or any(_spaced_words(word) in words for word in one.beside)
        ]
        by_id = {one.memory.id: one for one in gone}
        return replace(self, naming=tuple(by_id.values()), wording=(), replaced=True)

    @property
    def any(self) -> bool:
        return bool(
            self.same_turns or self.derived or self.naming or self.summaries or self.questions or self.served
        )

    @property
    def is_needed(self) -> bool:
        """Whether a memory, a summary or a pinned question rests on them."""
        return bool(self.derived or self.summaries or self.questions)
