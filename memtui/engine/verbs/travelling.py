"""Looking back and going back: what the memory held at a moment, and what came of it since."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from memtui.engine.clock import local_time
from memtui.engine.records import Operation
from memtui.engine.store import history
from memtui.engine.verbs.keeping import Keeping
from memtui.engine.wording import plural

if TYPE_CHECKING:
    from pathlib import Path

    from memtui.engine.maintain.backups import Restored
    from memtui.engine.maintain.restore.preview import RestorePreview
    from memtui.engine.store.past import Past
    from memtui.engine.store.past_diff import PastDiff

_ROWS_AT_ONCE = 2_000


class Travelling(Keeping):
    """Nothing here changes the past, and looking at it changes nothing."""

    def as_of(self, when: str | float | datetime) -> Past:
        """The memory as it was at a moment: ``counts()``, ``page()``, ``get(id)``; read-only.

        ``when``: Unix seconds, an aware datetime, or a text such as ``2026-03-03`` (its end), ``last tuesday``, ``2d``.
        ``reach`` says whether history tells it exactly. Raises InputError for a text that names no time.
        """
        from memtui.engine.search.moments import moment
        from memtui.engine.store.past import Past

        return Past(self._connections, moment(when, self._clock()))

    def diff(
        self, start: str | float | datetime, end: str | float | datetime = "now", *, limit: int = 1_000
    ) -> PastDiff:
        """What became of the memories between two moments, named as in ``as_of``; all are counted, ``limit`` listed."""
        from memtui.engine.store import past_diff

        return past_diff.diff(self._connections, self.as_of(start), self.as_of(end), limit=limit)

    def restore_preview(self, which: str | Path) -> RestorePreview:
        """What restoring a backup would bring back, change and lose: counts, and the texts of the latest.

        ``which``: a path or file name, ``latest``, a place in ``backups.all()`` (``1`` is the latest), or a moment:
        the last backup made until then. Raises NotFoundError, CorruptFileError, ForeignFileError, NewerFileError.
        """
        return self.backups.preview(which)

    def restore_backup(self, which: str | Path) -> Restored:
        """Put a backup into the file, after a backup of what is there. Other programs notice and read it anew.

        An operation in history says so, which ``undo`` does not take back: ``backups.before`` has what was there.
        """
        return self.backups.restore(which, actor=self.actor)

    def take_from_backup(self, which: str | Path, ids: Sequence[str] | None = None) -> Operation | None:
        """Bring back single memories from a backup, as one operation that undo takes back; None when all are there.

        Without ``ids`` all that the backup has, and that are absent here, forgotten or faded. Raises what
        ``restore_preview`` raises, NotFoundError for an id that is not active in the backup.
        """
        self._must_write("change it")
        from memtui.engine.maintain.restore import taking

        live = self.path
        one = self.backups.info(which)
        now = int(self._clock())
        label = f"Took from the backup of {local_time(one.at):%Y-%m-%d %H:%M}"
        brought = 0
        with self.backups.opened(one.path) as source:
            assert live is not None  # else it has no backups
            rids = taking.missing(source, live) if ids is None else taking.keys_of(source, ids)
            if len(rids) <= _ROWS_AT_ONCE:
                with self._operation("take", label) as op:
                    for some in taking.images(source, rids):
                        brought += taking.put(op.connection, some, now)
                    op.label = f"{label}: {plural(brought, 'memory')}"
                return self._tell(op.op_id) if brought else None
            op_id = history.begin(self._connections, self._clock, self.actor, "take", label)
            try:
                for some in taking.images(source, rids):
                    with history.part(self._connections, op_id) as connection:
                        brought += taking.put(connection, some, now)
            finally:
                history.finish(self._connections, op_id, f"{label}: {plural(brought, 'memory')}")
        return self._tell(op_id) if brought else None
