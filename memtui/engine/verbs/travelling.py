"""Looking back and going back: what the memory held at a moment, and what came of it since."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from memtui.engine.search.moments import moment
from memtui.engine.verbs.keeping import Keeping

if TYPE_CHECKING:
    from memtui.engine.store.past import Past
    from memtui.engine.store.past_diff import PastDiff


class Travelling(Keeping):
    """Nothing here changes the past, and looking at it changes nothing."""

    def as_of(self, when: str | float | datetime) -> Past:
        """The memory as it was at a moment: ``counts()``, ``page()``, ``get(id)``; read-only.

        ``when``: Unix seconds, an aware datetime, or a text such as ``2026-03-03`` (its end), ``last tuesday``, ``2d``.
        ``reach`` says whether history tells it exactly. Raises InputError for a text that names no time.
        """
        from memtui.engine.store.past import Past

        return Past(self._connections, moment(when, self._clock()))

    def diff(
        self, start: str | float | datetime, end: str | float | datetime = "now", *, limit: int = 1_000
    ) -> PastDiff:
        """What became of the memories between two moments, named as in ``as_of``; all are counted, ``limit`` listed."""
        from memtui.engine.store import past_diff

        return past_diff.diff(self._connections, self.as_of(start), self.as_of(end), limit=limit)
