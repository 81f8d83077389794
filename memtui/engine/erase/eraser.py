"""The eraser: plan, removal and proof. No undo takes an erase back.

The backups come first: until the file itself is written all of it can be worked out again, so an erase that was
killed is begun anew; afterwards only pages and late backups are left, for which the ids are enough (``PendingErase``).
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

import apsw
from msgspec.structs import replace

from memtui.engine.clock import Clock
from memtui.engine.errors import InputError, MemtuiError, NotFoundError, ReadOnlyError
from memtui.engine.records.erase import (
    Carrier,
    ErasePlan,
    EraseProgress,
    EraseProof,
    EraseRequest,
    UnfinishedErase,
)
from memtui.engine.store import full_text, locks, operations
from memtui.engine.store.connection import BUSY_SECONDS, reset_lock_wait
from memtui.engine.store.connections import Connections
from memtui.engine.store.sql import scalar
from memtui.engine.store.tombstones import salt_of

from . import backups, proof
from .backups import BackupCleaner, ProgressCallback, backups_of
from .closure import ErasedRows, title_of
from .proof import PendingErase, PieceHash, traces_of
from .rows import KIND, delete_closure, planned_steps, settle_indexes
from .selection import select_erased_rows
from .steps import Step

DEVICE = "device:"
"""Begins the actor of what another device decided: there it was the person."""
EXPORTS = "Exports and copies elsewhere are not looked at: delete those yourself."


def make_plan(connections: Connections, request: EraseRequest) -> ErasePlan:
    """Everything that carries what is to go. Raises NotFoundError, InputError."""
    with connections.read() as connection:
        erased_rows = select_erased_rows(connection, request)
        steps = planned_steps(connection, erased_rows)
    carriers = _list_carriers(erased_rows, steps)
    counts: Counter[str] = Counter(
        one.place for one in carriers if one.place != "memory" and one.outcome != "kept"
    )
    backups = backups_of(connections, erased_rows.memory_ids)
    path = connections.path
    size = path.stat().st_size if path is not None and path.exists() else 0
    return ErasePlan(
        request=request, memories=len(erased_rows.memory_ids), carriers=carriers, counts=dict(counts), backups=backups,
        ids=tuple(sorted(erased_rows.memory_ids)),
        notes=(*_not_listed(len(erased_rows.unlisted)), *(() if path is None else (EXPORTS,))),
        bytes=size + sum(one.size for one in backups),
    )  # fmt: skip


def assert_plan_unchanged(connections: Connections, plan: ErasePlan) -> None:
    """Raise InputError when the memory has changed since the plan was made."""
    now = make_plan(connections, plan.request)
    if now.ids != plan.ids or _collect_fates(now) != _collect_fates(plan):
        raise list_changed_error()


def list_changed_error() -> MemtuiError:
    return InputError(
        "The memory has changed since this list was shown: other rows contain the text now.",
        "Nothing was erased from the memory. Look at the list again.",
    )


def _collect_fates(plan: ErasePlan) -> list[tuple[str, str]]:
    return [(carrier.key, carrier.outcome) for carrier in plan.carriers]


def _not_listed(count: int) -> tuple[str, ...]:
    """What is said of offers beyond those that are listed."""
    if not count:
        return ()
    more = (
        "1 more memory that would stay is" if count == 1 else f"{count:,} more memories that would stay are"
    )
    return (f"{more} not listed. A search for the words finds them.",)


def _list_carriers(erased_rows: ErasedRows, steps: Sequence[Step]) -> tuple[Carrier, ...]:
    """What is chosen first, then what goes with it, then what stays and could go."""
    listed = [
        Carrier(
            key=row.id, place="memory", title=title_of(row.content), why=row.why, outcome="erased", kind=row.kind,
            choice=not row.chosen, chosen=row.chosen,
        )
        for row in sorted(erased_rows.rows.values(), key=lambda row: (not row.chosen, row.rid))
    ]  # fmt: skip
    listed += [
        Carrier(
            key=row.id, place="history", title=title_of(row.content), why=row.why, outcome="erased", choice=not row.chosen,
            chosen=row.chosen,
        )
        for row in sorted(erased_rows.taken_back.values(), key=lambda row: (not row.chosen, row.rid))
        if row.id not in erased_rows.rows
    ]  # fmt: skip
    listed += [
        Carrier(
            key=f"session:{session}", place="session", title=title_of(title or session), why="nothing is left of it",
            outcome="erased",
        )
        for session, title in sorted(erased_rows.sessions.items())
    ]  # fmt: skip
    listed += [
        Carrier(key=f"entity:{id}", place="entity", title=title_of(name), why="named nowhere else", outcome="erased", choice=True)
        for id, name in sorted(erased_rows.entities.values(), key=lambda entity: entity[1])
    ]  # fmt: skip
    listed += [step.carrier for step in steps if step.carrier is not None]
    return (*listed, *erased_rows.optional_carriers.values())


# A larger file is written anew by way of the disk, not of memory.
_IN_MEMORY_BYTES = 256_000_000
# A smaller file is written anew in a fraction of a second: others may wait for that.
_AT_ONCE_BYTES = 50_000_000
_QUIET_SECONDS = 1.0
_LOOK_SECONDS = 0.05
_PAGES_PER_STEP = 256
"""Pages of a full-text index that are merged in one transaction: some hundredths of a second."""
_NOT_QUIET = (
    "others write all the time, and the file cannot be written anew without keeping them waiting: "
    "the text is deleted, but parts of it may stand in unused places of the file until then"
)
_STILL_READ = "another program still reads the memory as it was, which keeps the old pages in its log"


class Compaction(NamedTuple):
    """What came of writing a file anew. ``problem``: why it is not done, ""; ``seconds``: how long others could not write."""

    problem: str = ""
    seconds: float = 0.0


def compact_file(
    connections: Connections, wait: float, waiting: Callable[[], None] = lambda: None
) -> Compaction:
    """Write the file anew and empty its log, for which nobody else can write.

    A large file is written anew when nobody has written for a second; ``waiting`` is called before that is waited for.
    A program that still reads the state of before keeps it in the file for as long. ``wait``: seconds to be patient
    with either.
    """
    if connections.path is None:
        return Compaction()
    if not _is_quiet(connections, wait, waiting):
        return Compaction(problem=_NOT_QUIET)
    with connections.exclusive() as connection:
        large = _bytes_of(connection) > _IN_MEMORY_BYTES
        if large:
            connection.pragma("temp_store", 1)
        begun = time.monotonic()
        try:
            connection.execute("VACUUM")
        finally:
            if large:
                connection.pragma("temp_store", 2)
        seconds = time.monotonic() - begun
        # Nobody waits for this: only what others write meanwhile is left to the checkpoint that they wait for.
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        connection.set_busy_handler(_lock_wait(wait))
        try:
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except apsw.BusyError:
            return Compaction(problem=_STILL_READ, seconds=seconds)
        finally:
            reset_lock_wait(connection)
    return Compaction(seconds=seconds)


def _is_quiet(connections: Connections, wait: float, waiting: Callable[[], None]) -> bool:
    """Whether nobody writes, in this process or another: known after a second, or at once of a small file.

    ``wait``: seconds to wait for that.
    """
    with connections.exclusive() as connection:
        if _bytes_of(connection) <= _AT_ONCE_BYTES:
            return True
        seen = _change_counters(connection)
    waiting()
    now = quiet_since = time.monotonic()
    until = now + max(wait, _QUIET_SECONDS)
    while now - quiet_since < _QUIET_SECONDS:
        if now > until:
            return False
        time.sleep(_LOOK_SECONDS)
        now = time.monotonic()
        with connections.exclusive() as connection:
            if (counters := _change_counters(connection)) != seen:
                seen, quiet_since = counters, now
    return True


def _change_counters(connection: apsw.Connection) -> tuple[int, int]:
    """Two numbers one of which changes with whatever another connection or this one writes."""
    return int(connection.pragma("data_version")), connection.total_changes()


def _bytes_of(connection: apsw.Connection) -> int:
    return int(connection.pragma("page_count")) * int(connection.pragma("page_size"))


def _lock_wait(seconds: float) -> Callable[[int], bool]:
    until = time.monotonic() + seconds

    def ask_again(attempts: int) -> bool:
        time.sleep(random.uniform(0.002, 0.02))
        return time.monotonic() < until

    return ask_again


WAIT = BUSY_SECONDS
"""Seconds to wait for others to end their work, to pause in writing, or to release the log."""
LONG_SECONDS = 1.0
"""Others were kept from writing for so long that the proof says so."""
TOO_SHORT = "What was erased is too short to be distinguished from other bytes: looked for the memories only."


class Eraser:
    """Erases in one memory file. ``on_erased`` is called when the rows have gone."""

    def __init__(
        self, connections: Connections, clock: Clock, actor: str, *, on_erased: Callable[[], None]
    ) -> None:
        self._connections = connections
        self._clock = clock
        self._actor = actor
        self._on_erased = on_erased

    def plan(self, request: EraseRequest) -> ErasePlan:
        """Everything that carries what is to go. Raises NotFoundError, InputError."""
        return make_plan(self._connections, request)

    def unfinished(self) -> UnfinishedErase | None:
        """An erase that was interrupted, by this process or another."""
        begun = self._read_pending_mark()
        if begun is None:
            return None
        return UnfinishedErase(memories=begun.memories, at=begun.at, begun=bool(begun.ids))

    def _read_pending_mark(self) -> PendingErase | None:
        with self._connections.read() as connection:
            return proof.read_pending_erase(connection)

    def run(
        self, plan: ErasePlan, *, delete_damaged: bool = False, progress: ProgressCallback = lambda _: None
    ) -> EraseProof:
        """Erase what the plan says, and prove it. Raises InputError when the memory has changed since it was made."""
        self._require_erase_allowed()
        with self._exclusive_access(progress):
            assert_plan_unchanged(self._connections, plan)
            return self._run_erase(plan, delete_damaged, progress)

    def resume(
        self, *, delete_damaged: bool = False, progress: ProgressCallback = lambda _: None
    ) -> EraseProof | None:
        """Finish what was interrupted; None when nothing was."""
        self._require_erase_allowed()
        with self._exclusive_access(progress):
            begun = self._read_pending_mark()
            if begun is None:
                return None
            if not begun.ids:
                try:
                    return self._run_erase(self.plan(begun.request), delete_damaged, progress)
                except NotFoundError:  # it went from the memory meanwhile, which says nothing of the backups
                    begun = replace(begun, ids=begun.request.ids)
            work = _EraseRun(self._connections, self._actor, begun, begun.ids, delete_damaged, progress)
            return work.finish_after_rows(begun.traces)

    def _run_erase(self, plan: ErasePlan, delete_damaged: bool, progress: ProgressCallback) -> EraseProof:
        begun = PendingErase(request=plan.request, memories=len(plan.ids), at=int(self._clock()))
        work = _EraseRun(self._connections, self._actor, begun, plan.ids, delete_damaged, progress)
        work.erase()
        self._on_erased()
        return work.finish_after_rows()

    def _require_erase_allowed(self) -> None:
        if self._connections.readonly:
            raise ReadOnlyError(
                "This memory is open for reading only.", "Open it without --readonly to erase in it."
            )
        if self._actor != "person" and not self._actor.startswith(DEVICE):
            raise InputError(
                "Only the person can erase for good.",
                "Ask them; you may ask to forget it (a change request).",
            )

    def _exclusive_access(self, progress: ProgressCallback) -> AbstractContextManager[None]:
        """Others would write again, or back up, what is to go."""
        path = self._connections.path
        if path is None:
            return nullcontext()
        return locks.exclusive_work(
            path, WAIT, "Nothing was erased.",
            lambda work: progress(EraseProgress(doing=f"waiting for {work} to end", done=0, total=1)),
        )  # fmt: skip


class _EraseRun:
    """One erase of the memories ``ids``, as far as this process knows of it."""

    def __init__(
        self, connections: Connections, actor: str, begun: PendingErase, ids: Sequence[str], delete_damaged: bool,
        progress: ProgressCallback,
    ) -> None:  # fmt: skip
        self._began = time.perf_counter()
        self._connections = connections
        self._actor = actor
        self._read_pending_mark = begun
        self._ids = frozenset(ids)
        self._progress = progress
        self._backups = BackupCleaner(
            connections, begun.request, ids, actor=actor, at=begun.at, delete_damaged=delete_damaged, progress=progress
        )  # fmt: skip
        self._texts: list[str] = []
        """What goes, in full."""
        self._pieces: list[proof.Piece] = []

    def erase(self) -> None:
        """Delete the rows, in the backups first. Raises InputError when the memory has changed in the meantime."""
        request = self._read_pending_mark.request
        with self._connections.read() as connection:
            self._texts = list(select_erased_rows(connection, request).contents)
        with self._connections.write() as connection:
            proof.put_pending_erase(connection, self._read_pending_mark)
        try:
            self._texts += self._backups.clean(self._texts)
        except MemtuiError as error:
            error.hint = (
                f"{self._backups.written} backups are without it, the memory still holds all of it. "
                f"memtui erase --resume goes on. {error.hint}".strip()
            )
            raise
        self._progress(EraseProgress(doing="erasing in the memory", done=0, total=1))
        # What is to go is worked out beside others who write, and again only if one of them wrote meanwhile.
        with self._connections.read() as reader:
            erased_rows, steps = self._worked_out(reader)
            seen = reader.pragma("data_version")
            with self._connections.write() as connection:
                if reader is not connection:
                    reader.execute("ROLLBACK")
                    if reader.pragma("data_version") != seen:
                        erased_rows, steps = self._worked_out(connection)
                self._delete_rows(connection, erased_rows, steps)

    def _worked_out(self, connection: apsw.Connection) -> tuple[ErasedRows, list[Step]]:
        """What goes, and what is to be done to other rows. Raises InputError when the memory has changed."""
        erased_rows = select_erased_rows(connection, self._read_pending_mark.request)
        if erased_rows.memory_ids != self._ids:
            raise list_changed_error()
        return erased_rows, planned_steps(connection, erased_rows)

    def _delete_rows(
        self, connection: apsw.Connection, erased_rows: ErasedRows, steps: Sequence[Step]
    ) -> None:
        self._pieces = proof.known_pieces(connection, erased_rows, self._texts)
        delete_closure(
            connection,
            erased_rows,
            steps,
            actor=self._actor,
            now=self._read_pending_mark.at,
            count=len(self._ids),
        )
        settle_indexes(connection, erased_rows, vec0=not self._connections.vectors_missing)
        self._pieces += proof.rare_pieces(connection, erased_rows, self._texts)
        traces = traces_of(self._pieces, salt_of(connection))
        self._read_pending_mark = replace(
            self._read_pending_mark, ids=tuple(sorted(erased_rows.memory_ids)), traces=traces
        )
        proof.put_pending_erase(connection, self._read_pending_mark)

    def _forget_words(self) -> None:
        """Merge the full-text indexes, which only mark what is deleted, in steps between which others write."""
        self._progress(EraseProgress(doing="cleaning the index of words", done=0, total=1))
        for table in full_text.TABLES:
            forgetting, more = full_text.DeletedRowPurge(table, _PAGES_PER_STEP), True
            while more:
                with self._connections.write_in_turn() as connection:
                    more = forgetting.step(connection)
        self._progress(EraseProgress(doing="writing the file anew", done=0, total=1))

    def _wait_for_others(self) -> None:
        doing = "waiting for a moment in which nobody writes, to write the file anew"
        self._progress(EraseProgress(doing=doing, done=0, total=1))

    def finish_after_rows(self, traces: Sequence[PieceHash] = ()) -> EraseProof:
        """What comes after the rows have gone: pages, the log, backups that were made meanwhile, the proof.

        ``traces``: of what an earlier process erased.
        """
        self._forget_words()
        compaction = compact_file(self._connections, WAIT, self._wait_for_others)
        late = proof.pieces_of(self._backups.clean(self._texts))
        pieces = [*self._pieces, *late]
        problems = [compaction.problem] if compaction.problem else []
        problems += [
            f"{one.path.name} cannot be written anew ({one.problem}): memtui erase --resume --delete-damaged deletes it"
            for one in self._backups.current_states()
            if one.problem
        ]
        path = self._connections.path
        if path is not None:
            problems += [f"{file.name} is being written just now" for file in backups.delete_leftovers(path)]
        self._progress(EraseProgress(doing="looking for it in every file", done=0, total=1))
        proven = proof.prove_erased(self._connections, self._read_pending_mark.ids, pieces, problems, traces)
        if path is not None and not proven.pieces:
            proven = replace(proven, notes=(*proven.notes, TOO_SHORT))
        if compaction.seconds >= LONG_SECONDS:
            kept = f"While the file was written anew, others could not write for {compaction.seconds:.1f} s."
            proven = replace(proven, notes=(*proven.notes, kept))
        with self._connections.write() as connection:
            if proven.complete:
                proof.remove_pending_erase(connection)
            elif late:
                more = traces_of(late, salt_of(connection))
                proof.put_pending_erase(
                    connection,
                    replace(self._read_pending_mark, traces=(*self._read_pending_mark.traces, *more)),
                )
            op_id = scalar(connection, "SELECT max(op_id) FROM ops WHERE kind = ?", (KIND,))
            operation = None if op_id is None else operations.get(connection, op_id)
        return replace(
            proven, memories=self._read_pending_mark.memories, operation=operation, backups_written=self._backups.written,
            seconds=time.perf_counter() - self._began,
        )  # fmt: skip
