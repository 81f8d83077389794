"""What comes in and goes out: imports, sessions that are followed, exports, the hash of all that is held."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from msgspec.structs import replace

from memtui.engine.errors import InputError
from memtui.engine.records import ExportProgress, ExportReport, ImportProgress, ImportReport
from memtui.engine.store.sql import scalar
from memtui.engine.verbs.keeping import Keeping

if TYPE_CHECKING:
    from memtui.engine.exports.exporting import Format
    from memtui.engine.feeds.following import Followed
    from memtui.engine.feeds.known import KnownSource
    from memtui.engine.feeds.survey import Surveyed


class Exchanging(Keeping):
    """An import is one operation that undo takes back; an export is whole or not there."""

    def import_paths(
        self,
        paths: Sequence[str | Path],
        *,
        format: str | None = None,
        dry_run: bool = False,
        progress: Callable[[ImportProgress], None] | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> ImportReport:
        """Import conversations and other memories from files, folders and zips as one undoable operation; see ``feeds``.

        A text may also be the URL of a database with sessions of the OpenAI Agents SDK. What of several cannot be used is
        in the report (``refused``), and the others come in; raises InputError if none can.
        """
        if not dry_run:
            self._must_write("import into it")
        from memtui.engine.feeds import database_urls, importer

        with database_urls.local(paths) as here:
            report = importer.import_paths(
                self._connections, here.paths, format=format, dry_run=dry_run, actor=self.actor, clock=self._clock,
                options=self._options, progress=progress, cancelled=cancelled,
                before_write=self._back_up_before_import, ordering=_is_order,
            )  # fmt: skip
            if report.operation is not None and "memory-db" in report.formats:
                report = self._carry_vectors(report, here.paths)
            report = replace(report, refused=(*here.refused, *report.refused))
        if report.operation is not None:
            self._tell(report.operation.op_id)
            self._ask_questions()
        return report

    def follow(
        self,
        places: Sequence[str | Path],
        stopped: threading.Event,
        told: Callable[[Followed], None] = lambda found: None,
        *,
        progress: Callable[[int, int, int], None] | None = None,
    ) -> None:
        """Bring in what programs add to their session files, a moment after they do, until ``stopped`` is set.

        The first time all that is there, later what was written since; see ``feeds.following``. Both functions are
        called in this thread. Raises StoreError if the memory cannot be written.
        """
        self._must_write("follow sessions into it")
        from memtui.engine.feeds.following import Follower

        def tell(found: Followed) -> None:
            if found.operation is not None:
                self._tell(found.operation.op_id)
            told(found)

        with Follower(
            self._connections, [Path(place) for place in places], clock=self._clock, options=self._options,
            before_write=self._back_up_before_import, ordering=_is_order,
        ) as follower:  # fmt: skip
            follower.run(stopped, tell, progress=progress)

    def _carry_vectors(self, report: ImportReport, paths: Sequence[Path]) -> ImportReport:
        """Keep the vectors that came along, where the model of this memory makes the same."""
        from memtui.engine.feeds import carried_vectors, detect, memory_db

        try:
            found = detect.find_sources(paths, "memory-db", own=self.path).sources
        except InputError:
            return report
        kept = carried_vectors.carry_over(
            self._connections, [one.source.path for one in found], self._embedders.serving
        )
        if not kept:
            return report
        told = f"{kept:,} vectors kept: this memory's model makes the same"
        warnings = tuple(one for one in report.warnings if not one.endswith(memory_db.VECTORS))
        return replace(report, warnings=(*warnings, told))

    def _back_up_before_import(self) -> None:
        with self._connections.read() as connection:
            anything = scalar(connection, "SELECT 1 FROM ops LIMIT 1")
        if anything is not None:  # an empty memory needs none
            self.backups.ensure("import")

    def survey(self, sources: Sequence[KnownSource]) -> Iterator[Surveyed]:
        """What known places hold (``feeds.known.known_sources`` finds them) and how much of it is here, one by one."""
        from memtui.engine.feeds import survey

        return survey.survey(self._connections, sources, self._clock)

    def export(
        self,
        target: str | Path | BinaryIO,
        *,
        format: Format = "jsonl",
        filter: str = "",
        history: bool = False,
        force: bool = False,
        progress: Callable[[ExportProgress], None] | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> ExportReport:
        """Write the memory to a file (whole or not at all, mode 0600) or a binary stream.

        Without a ``filter`` everything, the Trash too; ``import_paths`` of it into an empty memory gives an equal
        ``content_hash``. ``markdown`` is a folder of notes that link each other, without a filter all but the Trash;
        an export of before is renewed there, and others' files are not touched. ``force`` replaces a file.
        ``progress`` is called in this thread; ``cancelled`` ends it
        without a trace. Raises FilterError, InputError (the place cannot be used), DiskFullError.
        """
        from memtui.engine.exports import exporting
        from memtui.engine.search import filters

        compiled = None
        if filter.strip():
            compiled = filters.compile(filter, self._clock(), fade_threshold=self._options.fade_threshold)

        return exporting.export(
            self._connections, Path(target).expanduser() if isinstance(target, str | Path) else target,
            format=format, filter=compiled, history=history,
            force=force, clock=self._clock, progress=progress, cancelled=cancelled,
        )  # fmt: skip

    def content_hash(self) -> str:
        """32 hex digits for all that somebody may have decided on: equal for equal memories in different files.

        Not in it: access counts, links and vectors that a program made, history.
        """
        from memtui.engine.store import portable

        with self._connections.read() as connection:
            return portable.content_hash(connection)


def _is_order(text: str) -> bool:
    """Whether a text talks to the assistant."""
    from memtui.engine.guards.instructions import find_instructions  # a tenth of a second of patterns

    return bool(find_instructions(text))
