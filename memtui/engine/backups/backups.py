"""Backups in time: made when something changed, thinned out with age, restored into the live file.

A copy only gets its name after it passed its check, so a fresh backup proves the live file too; only then
are older ones deleted. Copies are read from one snapshot: writers neither wait nor make it start over.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import tzinfo
from pathlib import Path

import apsw
import msgspec

from memtui.engine.clock import Clock, local_time
from memtui.engine.errors import (
    InputError,
    MemtuiError,
    ReadOnlyError,
)
from memtui.engine.records import Finding, Operation, Record
from memtui.engine.records.backups import Backup, BackupContents, RestorePreview
from memtui.engine.records.history import RestoreGap
from memtui.engine.store import backup, file, history, locks, metadata, operations
from memtui.engine.store.check import CHECKS, CheckContext
from memtui.engine.store.connections import Connections
from memtui.engine.store.past import restore_gaps
from memtui.engine.store.sql import scalar
from memtui.engine.wording import plural

from . import carry_over, single_memories
from . import preview as restore_preview
from .reader import count_contents, describe_backup, find_backup, prepare_for_restore
from .rescue import is_damage, put_in_place

RECENT_SECONDS = 600
_MARK_KEY = "backup_mark"
_UNSOUND_KEY = "unsound_since"
# What concerns texts and decisions. What is derived from them is made anew by a repair.
_BASE_CHECKS = ("foreign keys", "schema", "links", "rows", "sessions", "jobs", "history")
_PAGES_PER_STEP = 2_000
# Seconds. Following sessions holds the lock of imports only while it brings something in.
_PATIENCE = 10.0
_ROWS_AT_ONCE = 2_000


class RestoreResult(Record):
    """``restored`` is in the live file now; what was there before is in ``before``.

    A file that could not be backed up was set aside as it was: then ``before`` is None and ``aside`` names it.
    ``operation``: its line in history, the last one of the restored file.
    """

    restored: Path
    before: Backup | None
    operation: Operation
    aside: tuple[Path, ...] = ()


class RotationResult(Record):
    """``deleted``: older backups. ``findings``: why they had to stay: the memory itself does not pass its check."""

    deleted: tuple[Path, ...]
    findings: tuple[Finding, ...] = ()


class Backups:
    """The backups of one memory file, in a folder beside it."""

    def __init__(
        self, connections: Connections, clock: Clock, zone: tzinfo | None = None, *, actor: str = "person",
        on_restore: Callable[[Operation], None] = lambda operation: None,
        on_take: Callable[[Operation], None] = lambda operation: None, wait: float = _PATIENCE,
    ) -> None:  # fmt: skip
        self._connections = connections
        self._clock = clock
        self._zone = zone
        self._actor = actor
        self._on_restore = on_restore
        self._on_take = on_take
        self._wait = wait

    def all(self) -> list[Backup]:
        """The backups that are there, the latest first."""
        return [] if self._connections.path is None else backup.find_backups(self._connections.path)

    def make(self, reason: str = "manual") -> Backup:
        """Make a verified backup now.

        Raises InputError for an in-memory memory, CorruptFileError when the copy does not pass its check,
        DiskFullError when there is no space for it.
        """
        path = self._require_path()
        with self._connections.read() as connection:
            # The first read pins the snapshot: what others write meanwhile cannot make the copy start over.
            mark = change_mark(connection)
            made = backup.back_up(connection, path, reason=reason, at=self._clock())
        with self._connections.write() as connection:
            metadata.set_value(connection, _MARK_KEY, f"{mark} {made.name}")
        return next(made_backup for made_backup in self.all() if made_backup.path == made)

    def ensure(self, reason: str) -> Backup | None:
        """A backup from before what comes now: made unless one is younger than 10 minutes or nothing changed since."""
        if self._connections.path is None:
            return None
        latest = next(iter(self.all()), None)
        if latest is not None and (
            0 <= self._clock() - latest.at < RECENT_SECONDS or not self.changed_since_latest()
        ):
            return latest
        return self.make(reason)

    def changed_since_latest(self) -> bool:
        """Whether there is something that no backup has; also when the latest one was deleted or is not ours."""
        latest = next(iter(self.all()), None)
        if latest is None:
            return True
        with self._connections.read() as connection:
            return f"{change_mark(connection)} {latest.path.name}" != metadata.get(connection, _MARK_KEY)

    def rotate(self) -> RotationResult:
        """Delete what is too much. Call it only right after a backup passed its check.

        While the file itself fails its check, those stay that were made before that was known, however many.
        Raises InputError.
        """
        path = self._require_path()
        backup.clear_leftovers(path)
        backups = self.all()
        kept = backup.backups_to_keep(backups, self._clock(), self._zone)
        used = sum(one.size for one in backups)
        free = shutil.disk_usage(path.parent / backup.FOLDER).free
        names = {one.path for one in backup.backups_within(kept, backup.backup_budget(free, used))}
        gone = [one for one in backups if one.path not in names]
        findings = self._base_findings() if gone else []
        if gone:
            unsound_since = self._note_soundness(not findings)
            gone = [one for one in gone if one.at > unsound_since]
        for old in gone:
            old.path.unlink(missing_ok=True)
        return RotationResult(deleted=tuple(one.path for one in gone), findings=tuple(findings))

    def _note_soundness(self, sound: bool) -> float:
        """Since when the file is known to fail its check; what is older may be from before. 0 while it is sound."""
        with self._connections.write() as connection:
            known = float(metadata.get(connection, _UNSOUND_KEY) or 0)
            since = 0.0 if sound else known or self._clock()
            if since != known:
                metadata.set_value(connection, _UNSOUND_KEY, str(since))
        return since

    def _base_findings(self) -> list[Finding]:
        """What is wrong with the file beyond its pages; it uses a reading connection, so no writer waits."""
        with self._connections.read() as connection:
            context = CheckContext(connection, self._connections, self._clock(), False)
            findings = [finding for name in _BASE_CHECKS for finding in CHECKS[name](context)]
        return [finding for finding in findings if finding.severity == "error" and not finding.repairable]

    def find(self, name: str | Path) -> Path:
        """The backup with this path or file name; ``latest``; a place in the list (``3``); or the last one made until
        a moment (``2026-03-03``, ``yesterday``, ``2d``: see ``search.time_expressions``). Raises NotFoundError, InputError.
        """
        return find_backup(self.all(), name, self._clock(), self._zone)

    def info(self, name: str | Path) -> Backup:
        """The backup that ``find`` finds; one that lies elsewhere has the time of its file, and the reason ``file``.

        Raises InputError.
        """
        return describe_backup(self.all(), name, self._clock(), self._zone)

    def contents(self, name: str | Path) -> BackupContents:
        """How many memories a backup holds. Raises InputError."""
        return count_contents(self.find(name))

    def preview(self, name: str | Path) -> RestorePreview:
        """What restoring a backup would bring back, change and lose; it is checked, and nothing is written.

        Raises InputError, what ``restore`` raises for a backup that cannot be used.
        """
        one, live = self.info(name), self._identify_file()
        with self.opened(one.path) as source:
            return restore_preview.preview(source, live, at=one.at, reason=one.reason, shown=one.path)

    @contextmanager
    def opened(self, name: str | Path) -> Iterator[apsw.Connection]:
        """A checked backup to read from, in today's format; raises what ``preview`` does."""
        live = self._identify_file()
        chosen = self.find(name)
        self._refuse_itself(chosen, live)
        with prepare_for_restore(chosen) as source:
            yield source

    @staticmethod
    def _refuse_itself(chosen: Path, live: Path) -> None:
        if chosen.samefile(live):
            raise InputError(
                "That is the memory itself, not a backup.", "memtui backup list shows the backups."
            )

    def before(self, op_id: int) -> Backup | None:
        """What was there before a restore, by the number of its operation; None where it is not kept any more."""
        with self._connections.read() as connection:
            names = {gap.backup for gap in restore_gaps(connection) if gap.operation == op_id}
        return next((one for one in self.all() if one.path.name in names), None)

    def restore(self, name: str | Path) -> RestoreResult:
        """Put a backup into the live file, as one commit, after a backup of what is there now.

        A live file that is damaged is set aside as it is, and the backup takes its place.

        Other programs that have the file open go on with the restored content. Its history ends with an operation of
        the actor, which says what was lost as counted when the restore began. Raises InputError, NotFoundError,
        ForeignFileError, NewerFileError or CorruptFileError for a backup that cannot be used, BusyError while an
        import, a job or an erase runs; then the live file stays as it was.
        """
        path = self._require_path()
        chosen = self.info(name)
        with (
            file.file_errors(path),
            locks.exclusive_work(path, self._wait, "Nothing was restored."),
            self.opened(chosen.path) as source,
        ):
            try:
                done = self._copy_into(source, chosen, path)
            except (MemtuiError, apsw.Error, msgspec.MsgspecError) as error:
                if not is_damage(error):
                    raise
                rescued = put_in_place(source, chosen, path, self._clock, self._actor)
                file.reopen(self._connections)
                done = RestoreResult(
                    restored=rescued.restored, before=None, aside=rescued.aside, operation=rescued.operation
                )
        self._on_restore(done.operation)
        return done

    def _copy_into(self, source: apsw.Connection, chosen: Backup, path: Path) -> RestoreResult:
        compared = restore_preview.preview(
            source, path, at=chosen.at, reason=chosen.reason, shown=chosen.path
        )
        label = carry_over.restore_label(compared, f"{local_time(chosen.at, self._zone):%Y-%m-%d %H:%M}")
        with (
            backup.private_copy(source, path, "restoring", self._clock()) as copied,
            self._connections.exclusive() as writer,
            writer.backup("main", copied, "main") as copying,
        ):
            # The first page takes the write lock: nothing can be committed between the backup and the restore.
            copying.step(1)
            with self._connections.read() as live:
                scalar(live, "SELECT 1 FROM sqlite_schema")
                before = backup.back_up(live, path, reason="restore", at=self._clock())
                gap = RestoreGap(start=chosen.at, end=int(self._clock()), backup=before.name)
                # Written by the connection that the copying reads with: so pages that were copied are copied again.
                operation = carry_over.copy_into_restored(live, copied, gap, self._actor, label)
            while not copying.done:
                copying.step(_PAGES_PER_STEP)
        earlier_backup = next(b for b in self.all() if b.path == before)
        return RestoreResult(restored=chosen.path, before=earlier_backup, operation=operation)

    def restore_memories(self, name: str | Path, ids: Sequence[str] | None = None) -> Operation | None:
        """Bring back single memories from a backup, as one operation that undo takes back; None when all are there.

        Without ``ids`` all that the backup has, and that are absent here, forgotten or faded. Raises InputError, what
        ``preview`` raises, NotFoundError for an id that is not active in the backup.
        """
        live = self._require_path()
        one = self.info(name)
        now = int(self._clock())
        label = f"Took from the backup of {local_time(one.at):%Y-%m-%d %H:%M}"
        brought = 0
        with self.opened(one.path) as source:
            rids = (
                single_memories.missing_memories(source, live)
                if ids is None
                else single_memories.row_keys_of(source, ids)
            )
            if len(rids) <= _ROWS_AT_ONCE:
                with history.operation(self._connections, self._clock, self._actor, "take", label) as op:
                    for some in single_memories.read_memories(source, rids):
                        brought += single_memories.insert_memories(op.connection, some, now)
                    op.label = f"{label}: {plural(brought, 'memory')}"
                return self._outcome_of_restore(op.op_id) if brought else None
            op_id = history.begin_long(self._connections, self._clock, self._actor, "take", label)
            try:
                for some in single_memories.read_memories(source, rids):
                    with history.continue_long(self._connections, op_id) as connection:
                        brought += single_memories.insert_memories(connection, some, now)
            finally:
                history.finish_long(self._connections, op_id, f"{label}: {plural(brought, 'memory')}")
        return self._outcome_of_restore(op_id) if brought else None

    def _outcome_of_restore(self, op_id: int) -> Operation:
        with self._connections.read() as connection:
            operation = operations.get(connection, op_id)
        self._on_take(operation)
        return operation

    def _identify_file(self) -> Path:
        if self._connections.path is None:
            raise InputError("This memory exists only in this process: it has no backups.", "Open a file.")
        return self._connections.path

    def _require_path(self) -> Path:
        path = self._identify_file()
        if self._connections.readonly:
            raise ReadOnlyError(
                "This memory is open for reading only.",
                "Open it without --readonly to back it up or restore it.",
            )
        return path


def change_mark(connection: apsw.Connection) -> str:
    """Changes with everything worth a backup. What maintenance notes about itself is not."""
    return str(
        scalar(
            connection,
            "SELECT coalesce(sum(seq), 0) FROM sqlite_sequence WHERE name NOT IN ('job_runs', 'ops')",
        )
    )
