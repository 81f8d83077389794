"""Ingest: store what the formats yield, as one named operation over many short transactions.

Every record takes one way: a format reads it, what is there already is sorted out, the rest is stored and counted.
What differs between turns, notes and rows says a ``RecordKind``. What is already there is recognised by its
``source_key``, so importing again adds nothing, and an import that was killed or cancelled is simply run again. A dry run
takes the same way up to the write and counts the same. Neither a file nor the list of its sessions is ever held in memory.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from memtui.engine.clock import Clock
from memtui.engine.errors import MemtuiError
from memtui.engine.memories import validation
from memtui.engine.records import ImportProgress, ImportReport, Operation, Options, Turn
from memtui.engine.store import tombstones
from memtui.engine.store.connections import Connections
from memtui.engine.store.export_rows import AnyLine, Line, MemoryLine
from memtui.engine.store.import_rows import OtherIds
from memtui.engine.store.sql import json_text

from . import base, lock, note_validation, report
from .base import ConsolidatedSession, Item, NamedEntity, Note, PadEntry, SessionTitle
from .counters import DistinctCounter
from .detect import DetectionResult, find_sources
from .export_rows import PendingLines, RowImporter
from .formats import claude_code, claude_history, claude_mem, claude_memory
from .note_storage import NoteImporter
from .reader import ReadTally, read_all
from .registry import get_format
from .report import ImportCounts, ImportOperation, RecordKind
from .turns import PAUSED, UNWANTED, TurnImporter

_MOST_WAITING = 10_000


class SessionTitles:
    """The titles met so far. ``given``: how many sessions got one."""

    def __init__(self, shared: ImportCounts) -> None:
        self._shared = shared
        self._pending_titles: dict[str, str] = {}
        self.given = 0

    def add(self, titles: Iterable[SessionTitle]) -> None:
        for one in titles:
            if len(self._pending_titles) >= _MOST_WAITING:
                self._pending_titles.clear()
            self._pending_titles[one.source_key] = one.title

    def assign_titles(self) -> None:
        """Give a session without a title the one whose turn it holds. What the memory does not hold is forgotten."""
        pending, self._pending_titles = self._pending_titles, {}
        if not pending or self._shared.dry_run:
            return
        with self._shared.connections.read() as connection:
            rows = connection.execute(
                """
                SELECT m.source_key, m.session_id FROM memories m JOIN sessions_consolidations s USING (session_id)
                WHERE m.source_key IN (SELECT value FROM json_each(?)) AND m.kind = 'episode' AND s.title IS NULL
                """,
                (json_text(sorted(pending)),),
            ).fetchall()
            titles = {str(session): validation.without_secrets(pending[str(key)]) for key, session in rows}
            wanted = {
                session: title
                for session, title in titles.items()
                if not tombstones.erased_among(connection, [tombstones.title_key(session, title)])
            }
        if not wanted:
            return
        with self._shared.operation.transaction() as connection:
            connection.executemany(
                "UPDATE sessions_consolidations SET title = ? WHERE session_id = ? AND title IS NULL",
                [(title, session) for session, title in wanted.items()],
            )
        self.given += len(wanted)


_TURNS_PER_BATCH = 500
_CHARACTERS_PER_BATCH = 2_000_000
_WITH_CONTENT = (Turn, Note, MemoryLine)
# Where nothing else is left out, an import that brings nothing is no error: the person wanted it so.
_EXPECTED_SKIPS = {
    base.HISTORY,
    claude_memory.INDEX,
    report.ERASED,
    note_validation.KEY_IN_USE,
    note_validation.EDITED,
    PAUSED,
    UNWANTED,
}


def import_paths(
    connections: Connections,
    paths: Sequence[Path],
    *,
    format: str | None = None,
    dry_run: bool = False,
    actor: str,
    clock: Clock,
    options: Options,
    progress: Callable[[ImportProgress], None] | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    before_write: Callable[[], None] = lambda: None,
    ordering: Callable[[str], bool] = lambda text: True,
) -> ImportReport:
    """Import every conversation, and what other memories hold, in files, folders and archives.

    ``ordering`` tells whether a text talks to the assistant: such a one is not taken for confirmed.
    ``before_write`` is called once, when there is something new to store (a backup, for instance).
    ``progress`` is called in this thread after each batch; ``cancelled`` is asked between batches: what was
    imported until then stays, as an operation that can be undone. Raises InputError if no path holds anything to
    import (see ``find_sources``), StoreError if the memory cannot be written or another import is running.
    """
    detected = find_sources(paths, format, own=connections.path)
    labels = format_names(tuple(dict.fromkeys(recognised.format for recognised in detected.sources)))
    with ExitStack() as stack:
        if not dry_run:
            stack.enter_context(lock.only_import(connections))
        operation = ImportOperation(connections, clock, actor, lock.running_label(labels), before_write)
        run = ImportRun(
            connections, detected, stack.enter_context(DistinctCounter()), stack.enter_context(OtherIds()),
            stack.enter_context(PendingLines()), operation,
            dry_run=dry_run, actor=actor, clock=clock, options=options, ordering=ordering,
        )  # fmt: skip
        return run.run(progress, cancelled)


def format_names(formats: Sequence[str]) -> str:
    """Formats as people call them."""
    return lock.join_names([get_format(name).label for name in formats])


class ImportRun:
    """One import under way: its account, and what takes which kind of record."""

    def __init__(
        self, connections: Connections, detected: DetectionResult, met: DistinctCounter, others: OtherIds, pending: PendingLines,
        operation: ImportOperation, *,
        dry_run: bool, actor: str, clock: Clock, options: Options, ordering: Callable[[str], bool],
    ) -> None:  # fmt: skip
        self.found = detected
        self.operation = operation
        self.formats = tuple(dict.fromkeys(recognised.format for recognised in detected.sources))
        self.tally = ReadTally(detected, logged=not dry_run)
        self.account = ImportCounts(
            connections,
            self.tally,
            met,
            operation,
            dry_run=dry_run,
            actor=actor,
            clock=clock,
            options=options,
        )
        same_words = {claude_code.FORMAT.name, claude_history.FORMAT.name, claude_mem.FORMAT.name}
        cross_source = len(same_words.intersection(self.formats)) > 1
        notes = NoteImporter(self.account, ordering)
        # In this order: how far a session was read is known once its turns are there.
        self._kinds: tuple[tuple[Any, RecordKind], ...] = (
            (Turn, TurnImporter(self.account, cross_source=cross_source)),
            (Note | PadEntry | NamedEntity, notes),
            (ConsolidatedSession, notes),
            (Line, rows := RowImporter(self.account, others, pending)),
        )
        self._rows = rows
        self._titles = SessionTitles(self.account)
        self._started = time.monotonic()

    def run(
        self, progress: Callable[[ImportProgress], None] | None, cancelled: Callable[[], bool]
    ) -> ImportReport:
        stopped = False
        try:
            for batch in in_batches(read_all(self.found, self.tally)):
                if stopped := cancelled():
                    break
                self.import_batch(batch)
                if progress:
                    progress(self._make_progress())
            if not stopped:
                self._rows.apply_deferred()
                self.give_titles()
        except BaseException:
            # What is committed stays; it must be possible to undo it. The first error is the one to tell.
            with suppress(MemtuiError):
                self._finish_operation(" (interrupted)")
            raise
        operation = self._finish_operation(" (cancelled)" if stopped else "")
        nothing = not (
            stopped
            or self.account.imported
            or self.account.decisions
            or self.account.already_there
            or self._titles.given
        )
        if nothing and (error := self.tally.error_if_nothing(_EXPECTED_SKIPS)):
            raise error
        return self._make_report(operation, stopped)

    def import_batch(self, batch: list[Turn | Item | AnyLine]) -> None:
        """Bring in what of a batch is new."""
        for types, kind in self._kinds:
            if records := [record for record in batch if isinstance(record, types)]:
                self._store_records(kind, records)
        self._titles.add(record for record in batch if isinstance(record, SessionTitle))

    def give_titles(self) -> None:
        """Give sessions the titles that were met in other files."""
        self._titles.assign_titles()

    def _store_records(self, kind: RecordKind, records: list[Any]) -> None:
        account = self.account
        with account.connections.read() as connection:
            new = kind.select_new(connection, records)
        if account.dry_run:
            fresh = [record for record in new if all(map(account.met.add_new, kind.identities(record)))]
            account.already_there += len(new) - len(fresh)
            account.repeated += len(new) - len(fresh)
            self._count_records(kind, fresh)
            return
        while new:
            with account.operation.transaction() as connection:
                processed, added = kind.store_some(connection, new)
            self._count_records(kind, added)
            new = new[processed:]

    def _count_records(self, kind: RecordKind, added: list[Any]) -> None:
        for record in added:
            self.account.count(kind.counted_record(record))

    def _finish_operation(self, label_suffix: str) -> Operation | None:
        account = self.account
        label = lock.imported_label(account.kinds, format_names(self.formats), account.decisions)
        operation = self.operation.finish_operation(label + label_suffix)
        return operation if account.imported or account.decisions or self._titles.given else None

    def _make_progress(self) -> ImportProgress:
        account = self.account
        skipped = self.tally.reasons.total()
        looked_at = account.imported + account.already_there + skipped
        return ImportProgress(
            bytes_done=min(self.tally.bytes_done, self.found.size),
            bytes_total=self.found.size,
            files_done=self.tally.files_done,
            files=len(self.found.sources),
            imported=account.imported,
            already_there=account.already_there,
            skipped=skipped,
            rate=looked_at / max(time.monotonic() - self._started, 1e-6),
            place=self.tally.place,
            dry_run=account.dry_run,
        )

    def _make_report(self, operation: Operation | None, stopped: bool) -> ImportReport:
        account = self.account
        return ImportReport(
            imported=account.imported,
            already_there=account.already_there,
            skipped=self.tally.reasons.total(),
            sessions=account.sessions,
            files=self.tally.files_done,
            seconds=time.monotonic() - self._started,
            dry_run=account.dry_run,
            formats=self.formats,
            kinds=dict(account.kinds),
            decisions=dict(account.decisions),
            reasons=dict(self.tally.reasons.most_common()),
            redacted=account.secrets,
            repeated=account.repeated,
            warnings=self.tally.warnings(),
            left_out=self.found.left_out,
            refused=(*self.found.refused, *self.tally.empty),
            skips=tuple(self.tally.named),
            cancelled=stopped,
            operation=operation,
        )


def in_batches(records: Iterator[Turn | Item | AnyLine | None]) -> Iterator[list[Turn | Item | AnyLine]]:
    """Batches bounded in number and in characters; an empty one where there were only skips for a while."""
    batch: list[Turn | Item | AnyLine] = []
    characters = 0
    for item in records:
        if item is None:
            if not batch:
                yield []
            continue
        batch.append(item)
        characters += _count_characters(item)
        if len(batch) >= _TURNS_PER_BATCH or characters >= _CHARACTERS_PER_BATCH:
            yield batch
            batch, characters = [], 0
    yield batch


def _count_characters(item: Turn | Item | AnyLine) -> int:
    if isinstance(item, _WITH_CONTENT):
        return len(item.content)
    return len(item.value) if isinstance(item, PadEntry) else 0
