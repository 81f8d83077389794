"""What an extractor is given and gives: turns of a session in, drafts of facts and observations out.

Extractors judge; they do not write. Whatever they return passes through deduplication, conflicts and the
caps of consolidation before anything is stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

import msgspec

from memtui.engine.models.budget import TokenBudget
from memtui.engine.records import Category, MemoryRecord, Record, Topic

CHUNK = 30
MOST_FACTS = 50
MAX_CHARACTERS = 2_000
MOST_CONFIDENCE = 0.9
SUMMARY_CHARACTERS = 2_000
# "next week" says nothing without the day it was said.
SAID = "{content} (said {date})"


class Draft(Record):
    """Something worth keeping. ``sources``: ids of the turns that say it, at least one.

    ``confidence`` is at most 0.9: only a person is surer. ``correcting``: it says that something known has changed.
    ``verbatim``: the words are those of its sources. ``topic``: of a fact; without one a tag may name it.
    ``bare``: it is only kept where it changes a known fact. ``question``: to ask the person before it is kept.
    """

    kind: Literal["fact", "observation"]
    content: str
    sources: tuple[str, ...]
    confidence: float = 0.8
    tags: tuple[str, ...] = ()
    category: Category | None = None
    correcting: bool = False
    verbatim: bool = False
    topic: Topic | None = None
    bare: bool = False
    question: str = ""


class SavedDraft(Record, omit_defaults=True):
    """What became of a draft that an agent saved. ``id`` None where nothing was stored.

    ``outcome``: ``added``; ``reinforced`` a known one; ``superseded`` one; in ``conflict`` with one, which waits for
    the person; ``held`` back until they have seen it; ``dropped``: they took it away before; ``merged`` with another of
    the batch.
    """

    content: str
    outcome: str
    id: str | None = None
    about: str | None = None
    reason: str = ""


class Extraction(Record):
    """What a chunk holds. ``updates``: worth keeping only where they change a known fact. ``cut``: turns (by id) of which only
    so many characters were read."""

    drafts: tuple[Draft, ...] = ()
    updates: tuple[Draft, ...] = ()
    summary: str | None = None
    cut: Mapping[str, int] = {}


class Context(Record):
    """What helps to read a chunk. ``people``: first names that the person introduced before.

    ``spending``: where an extractor that asks a model claims and notes what it costs.
    """

    session_id: str
    title: str | None = None
    people: frozenset[str] = frozenset()
    spending: TokenBudget = msgspec.field(default_factory=TokenBudget)


class Extractor(Protocol):
    """``name`` is noted with what it found; ``limit``: the most facts that it may give for a session."""

    @property
    def name(self) -> str: ...

    @property
    def limit(self) -> int | None: ...

    async def extract(self, turns: Sequence[MemoryRecord], context: Context) -> Extraction:
        """Read at most ``CHUNK`` turns of one session, in order.

        Raises MemtuiError when it cannot tell; it never answers "nothing" because something failed.
        """
        ...

    def estimate(self, turns: Sequence[MemoryRecord]) -> int:
        """About how many tokens reading them costs; 0 without a model."""
        ...
