"""``memory.files``: import, watch, export, check, repair and erase."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from msgspec.structs import replace

from memtui.engine.core import Core
from memtui.engine.errors import InputError
from memtui.engine.records import (
    Changes,
    CheckReport,
    ExportProgress,
    ExportReport,
    ImportProgress,
    ImportReport,
)
from memtui.engine.store import metadata
from memtui.engine.store.sql import scalar
from memtui.engine.store.tables import COVERED
from memtui.engine.store.tombstones import UNFINISHED

if TYPE_CHECKING:
    from memtui.engine.erase.eraser import Eraser
    from memtui.engine.records.erase import ErasePlan, EraseProgress, EraseProof, UnfinishedErase
    from memtui.engine.records.exchange import ExportFormat, FollowResult, KnownSource, SourceProbe


class Files:
    """An import is one operation that undo takes back; an export is whole or not there; an erase cannot be undone.

    ``back_up`` makes a backup from before what is named.
    """

    def __init__(self, core: Core, back_up: Callable[[str], object]) -> None:
        self._core = core
        self._back_up = back_up

    # Import

    def import_paths(
        self,
        paths: str | Path | Sequence[str | Path],
        *,
        format: str | None = None,
        dry_run: bool = False,
        progress: Callable[[ImportProgress], None] | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> ImportReport:
        """Import conversations and other memories from files, folders and zips as one undoable operation; see ``importers``.

        ``paths`` may be one. A text may also be the URL of a database with sessions of the OpenAI Agents SDK. What of
        several cannot be used is in the report (``refused``), and the others come in; raises InputError if none can.
        """
        if not dry_run:
            self._core.must_write("import into it")
        from memtui.engine.importers import database_urls, ingest

        with database_urls.local_copies(_as_list(paths)) as here:
            report = ingest.import_paths(
                self._core.connections, here.paths, format=format, dry_run=dry_run, actor=self._core.actor,
                clock=self._core.clock, options=self._core.options, progress=progress, cancelled=cancelled,
                before_write=self._back_up_before_import, ordering=_is_instruction,
            )  # fmt: skip
            if report.operation is not None and "memory-db" in report.formats:
                report = self._carry_vectors(report, here.paths)
            report = replace(report, refused=(*here.refused, *report.refused))
        if report.operation is not None:
            self._core.announce_by_id(report.operation.op_id)
            self._core.after_large_change()
        return report

    def follow(
        self,
        places: str | Path | Sequence[str | Path],
        stopped: threading.Event,
        on_result: Callable[[FollowResult], None] = lambda result: None,
        *,
        progress: Callable[[int, int, int], None] | None = None,
    ) -> None:
        """Bring in what programs add to their session files, a moment after they do, until ``stopped`` is set.

        The first time all that is there, later what was written since; see ``importers.watch``. Both functions are
        called in this thread. Raises StoreError if the memory cannot be written.
        """
        self._core.must_write("follow sessions into it")
        from memtui.engine.importers.watch import FileFollower

        def announce_result(result: FollowResult) -> None:
            if result.operation is not None:
                self._core.announce_by_id(result.operation.op_id)
            on_result(result)

        with FileFollower(
            self._core.connections, [Path(place) for place in _as_list(places)], clock=self._core.clock,
            options=self._core.options, before_write=self._back_up_before_import, ordering=_is_instruction,
        ) as follower:  # fmt: skip
            follower.run(stopped, announce_result, progress=progress)

    def _carry_vectors(self, report: ImportReport, paths: Sequence[Path]) -> ImportReport:
        """Keep the vectors that came along, where the model of this memory makes the same."""
        from memtui.engine.importers import detect, foreign_vectors
        from memtui.engine.importers.formats import memory_db

        try:
            sources = detect.find_sources(paths, "memory-db", own=self._core.connections.path).sources
        except InputError:
            return report
        kept = foreign_vectors.carry_over(
            self._core.connections,
            [one.source.path for one in sources],
            self._core.embedders.embedder_of_space,
        )
        if not kept:
            return report
        carried = f"{kept:,} vectors kept: this memory's model makes the same"
        warnings = tuple(one for one in report.warnings if not one.endswith(memory_db.VECTORS))
        return replace(report, warnings=(*warnings, carried))

    def _back_up_before_import(self) -> None:
        with self._core.connections.read() as connection:
            anything = scalar(connection, "SELECT 1 FROM ops LIMIT 1")
        if anything is not None:  # an empty memory needs none
            self._back_up("import")

    def probe(self, sources: Sequence[KnownSource]) -> Iterator[SourceProbe]:
        """What known places hold (``importers.known.known_sources`` finds them) and how much of it is here, one by one."""

        from memtui.engine.importers import probe

        return probe.probe_sources(self._core.connections, sources, self._core.clock)

    # Export

    def export(
        self,
        target: str | Path | BinaryIO,
        *,
        format: ExportFormat = "jsonl",
        filter: str = "",
        history: bool = False,
        without_secrets: bool = False,
        force: bool = False,
        progress: Callable[[ExportProgress], None] | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> ExportReport:
        """Write the memory to a file (whole or not at all, mode 0600) or a binary stream.

        Without a ``filter`` everything, the Trash too; ``import_paths`` of it into an empty memory gives an equal
        ``content_hash``. ``markdown`` is a folder of notes that link each other, without a filter all but the Trash;
        an export of before is renewed there, and others' files are not touched. ``force`` replaces a file.
        ``without_secrets`` blacks secrets out; notes leave the texts with secrets out.
        ``progress`` is called in this thread; ``cancelled`` ends it
        without a trace. Raises FilterError, InputError (the place cannot be used), DiskFullError.
        """
        from memtui.engine.exporters import export as exporter_export
        from memtui.engine.search.filters import compiler

        compiled = None
        if filter.strip():
            compiled = compiler.compile_filter(
                filter, self._core.clock(), fade_threshold=self._core.options.fade_threshold
            )

        return exporter_export.export(
            self._core.connections, Path(target).expanduser() if isinstance(target, str | Path) else target,
            format=format, filter=compiled, history=history,
            without_secrets=without_secrets, force=force, clock=self._core.clock, progress=progress, cancelled=cancelled,
        )  # fmt: skip

    def content_hash(self) -> str:
        """32 hex digits for all that somebody may have decided on: equal for equal memories in different files.

        Not in it: access counts, links and vectors that a program made, history.
        """
        from memtui.engine.store import export_rows

        with self._core.connections.read() as connection:
            return export_rows.content_hash(connection)

    def device(self) -> str:
        """How the stamps of what is decided here call this memory: the host's name, and a number of its own."""
        from memtui.engine.store import stamps

        with self._core.connections.read() as connection:
            return stamps.device(connection)

    def check(self, *, deep: bool = False, repair: bool = False) -> CheckReport:
        """Verify the invariants of the file; ``repair`` rebuilds indexes (after a backup), never base rows."""
        from memtui.engine.store.check import checker

        return checker.check(self._core.connections, self._core.clock, deep=deep, repair=repair)

    # Erase

    def plan_erase(
        self, ids: Sequence[str] = (), *, session_id: str | None = None, also: Sequence[str] = (),
        keep: Sequence[str] = (),
    ) -> ErasePlan:  # fmt: skip
        """Everything that carries the texts of these memories, or of a whole session; nothing is changed.

        ``also``, ``keep``: keys of carriers of an earlier plan that are to go as well, or to stay. What may say the same
        in other words is listed as ``similar`` and stays. Raises NotFoundError for unknown ones, InputError when nothing
        is named.
        """
        from memtui.engine.records.erase import EraseRequest
        from memtui.engine.review.similar_memories import find_similar

        request = EraseRequest(ids=tuple(ids), session_id=session_id, also=tuple(also), keep=tuple(keep))
        plan = self._make_eraser().plan(request)
        with self._core.connections.read() as connection:
            similar = find_similar(connection, plan, self._core.clock(), self._core.vector_cache)
        return replace(plan, similar=similar)

    def erase(
        self, plan: ErasePlan, *, delete_damaged: bool = False,
        progress: Callable[[EraseProgress], None] = lambda progress: None,
    ) -> EraseProof:  # fmt: skip
        """Erase what the plan lists from the file, its log, its history and every backup, and prove it.

        It cannot be undone. ``delete_damaged``: delete the backups that cannot be opened, which may hold it.
        ``progress`` is called in this thread. Raises InputError when the memory has changed since the plan, and for
        anybody but the person; ReadOnlyError; StoreError while an import or a job runs; DiskFullError.
        A proof that is not ``complete`` says what is left to do: ``resume_erase`` does it.
        """
        return self._announce_erase(
            self._make_eraser().run(plan, delete_damaged=delete_damaged, progress=progress)
        )

    def unfinished_erase(self) -> UnfinishedErase | None:
        """An erase that was interrupted, by whatever process; ``resume_erase`` finishes it."""
        with self._core.connections.read() as connection:
            if metadata.get(connection, UNFINISHED) is None:  # as a rule, and the rest takes time to load
                return None
        return self._make_eraser().unfinished()

    def resume_erase(
        self, *, delete_damaged: bool = False,
        progress: Callable[[EraseProgress], None] = lambda progress: None,
    ) -> EraseProof | None:  # fmt: skip
        """Finish an erase that was interrupted, and prove it; None when there is none. Raises as ``erase`` does."""
        proof = self._make_eraser().resume(delete_damaged=delete_damaged, progress=progress)
        return None if proof is None else self._announce_erase(proof)

    def _make_eraser(self) -> Eraser:
        from memtui.engine.erase.eraser import Eraser

        return Eraser(
            self._core.connections, self._core.clock, self._core.actor, on_erased=self._forget_erased
        )

    def _forget_erased(self) -> None:
        """Nothing that this process holds in memory may keep it."""
        self._core.indexer.relearn_names()
        self._core.vector_cache.forget()

    def _announce_erase(self, proof: EraseProof) -> EraseProof:
        self._core.call_subscribers(
            "changed", Changes(tables=frozenset((*COVERED, "ops")), operation=proof.operation)
        )
        self._core.wake_indexer()
        return proof


def _is_instruction(text: str) -> bool:
    """Whether a text talks to the assistant."""
    from memtui.engine.guards.instructions import find_instructions  # a tenth of a second of patterns

    return bool(find_instructions(text))


def _as_list(paths: str | Path | Sequence[str | Path]) -> Sequence[str | Path]:
    """One path as a list of one: the letters of a text are no paths."""
    return [paths] if isinstance(paths, str | Path) else paths
