"""Memories that share words with the typed text, the best match first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from memtui.ui.presenters.memory_rows import MemoryRow, MemorySource

if TYPE_CHECKING:
    from memtui.engine.memory import Memory

_MOST = 100


class SharingSource(MemorySource):
    """The first hundred memories with some of the ``words`` that pass the filter (see ``row_source``)."""

    def __init__(self, memory: Memory, filter: str, words: str) -> None:
        super().__init__(memory, filter, ("time", True), episodes=True)
        self._words = words

    @cached_property
    def _best(self) -> Sequence[int]:
        """Ranked by words only; rare words count more."""
        from memtui.engine.records import Profile

        profile = Profile(name="words", vector=0.0, entity=0.0, neighbours=0.0, session=0.0, facts=0.0)
        found = self._memory.search(
            self._words, filter=self.whole_filter(), limit=_MOST, profile=profile, preview=True
        )
        best = [hit.memory.rid for hit in found.hits]
        # Words that the index ignores find nothing.
        return best or [one.memory.rid for one in super().page(0, _MOST)]

    def count(self) -> int:
        return len(self._best)

    def page(self, offset: int, limit: int) -> Sequence[MemoryRow]:
        return self.rows(self._best[offset : offset + limit])

    def keys(self) -> Iterator[Sequence[int]]:
        yield self._best
