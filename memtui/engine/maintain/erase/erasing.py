"""Erasing for good, from the plan to the proof. The one act that no undo takes back.

The backups come first: until the file itself is written all of it can be worked out again, so an erase that was
killed is begun anew; afterwards only pages and late backups are left, for which the ids are enough (``mark.py``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

from msgspec.structs import replace

from memtui.engine.clock import Clock
from memtui.engine.errors import InputError, MemtuiError, NotFoundError, ReadOnlyError
from memtui.engine.store import locks, operations
from memtui.engine.store.connecting import BUSY_SECONDS
from memtui.engine.store.connection import Connections
from memtui.engine.store.erased import salt_of
from memtui.engine.store.sql import scalar

from . import copies, mark, pages, planning, proving
from .cleaning import BackupCleaner, Tell
from .closure import closure
from .mark import Mark
from .records import EraseProgress, ErasurePlan, ErasureProof, Request, UnfinishedErase
from .scrub import KIND, scrub, settle_indexes
from .traces import Trace, traces_of

WAIT = BUSY_SECONDS
"""Seconds for others to end their work, or to let go of the log."""
TOO_SHORT = "What was erased is too short to be told from other bytes: looked for the memories only."


class Eraser:
    """Erases in one memory file. ``on_erased`` is called when the rows have gone."""

    def __init__(
        self, connections: Connections, clock: Clock, actor: str, *, on_erased: Callable[[], None]
    ) -> None:
        self._connections = connections
        self._clock = clock
        self._actor = actor
        self._on_erased = on_erased

    def plan(self, request: Request) -> ErasurePlan:
        """Everything that carries what is to go. Raises NotFoundError, InputError."""
        return planning.make_plan(self._connections, request)

    def unfinished(self) -> UnfinishedErase | None:
        """An erase that was interrupted, by this process or another."""
        begun = self._mark()
        if begun is None:
            return None
        return UnfinishedErase(memories=begun.memories, at=begun.at, begun=bool(begun.ids))

    def _mark(self) -> Mark | None:
        with self._connections.read() as connection:
            return mark.read(connection)

    def run(
        self, plan: ErasurePlan, *, delete_damaged: bool = False, tell: Tell = lambda progress: None
    ) -> ErasureProof:
        """Erase what the plan says, and prove it. Raises InputError when the memory has changed since it was made."""
        self._assert_may()
        with self._alone(tell):
            planning.assert_same(self._connections, plan)
            return self._erase(plan, delete_damaged, tell)

    def resume(
        self, *, delete_damaged: bool = False, tell: Tell = lambda progress: None
    ) -> ErasureProof | None:
        """Finish what was interrupted; None when nothing was."""
        self._assert_may()
        with self._alone(tell):
            begun = self._mark()
            if begun is None:
                return None
            if not begun.ids:
                try:
                    return self._erase(self.plan(begun.request), delete_damaged, tell)
                except NotFoundError:  # it went from the memory meanwhile, which says nothing of the backups
                    begun = replace(begun, ids=begun.request.ids)
            work = _Work(self._connections, self._actor, begun, begun.ids, delete_damaged, tell)
            return work.finish(begun.traces)

    def _erase(self, plan: ErasurePlan, delete_damaged: bool, tell: Tell) -> ErasureProof:
        begun = Mark(request=plan.request, memories=len(plan.ids), at=int(self._clock()))
        work = _Work(self._connections, self._actor, begun, plan.ids, delete_damaged, tell)
        work.erase()
        self._on_erased()
        return work.finish()

    def _assert_may(self) -> None:
        if self._connections.readonly:
            raise ReadOnlyError(
                "This memory is open for reading only.", "Open it without --readonly to erase in it."
            )
        if self._actor != "person":
            raise InputError(
                "Only the person erases for good.", "Ask them; you may ask to forget it (a wish)."
            )

    def _alone(self, tell: Tell) -> AbstractContextManager[None]:
        """Others would write again, or back up, what is to go."""
        path = self._connections.path
        if path is None:
            return nullcontext()
        return locks.alone(
            path, WAIT, "Nothing was erased.",
            lambda work: tell(EraseProgress(doing=f"waiting for {work} to end", done=0, total=1)),
        )  # fmt: skip


class _Work:
    """One erase of the memories ``ids``, as far as this process knows of it."""

    def __init__(
        self, connections: Connections, actor: str, begun: Mark, ids: Sequence[str], delete_damaged: bool, tell: Tell
    ) -> None:  # fmt: skip
        self._began = time.perf_counter()
        self._connections = connections
        self._actor = actor
        self._mark = begun
        self._ids = frozenset(ids)
        self._tell = tell
        self._backups = BackupCleaner(
            connections, begun.request, ids, actor=actor, at=begun.at, delete_damaged=delete_damaged, tell=tell
        )  # fmt: skip
        self._texts: list[str] = []
        """What goes, in full."""
        self._pieces: list[proving.Piece] = []

    def erase(self) -> None:
        """Let go of the rows, in the backups first. Raises InputError when the memory has changed meanwhile."""
        request = self._mark.request
        with self._connections.read() as connection:
            self._texts = list(closure(connection, request).contents)
        with self._connections.write() as connection:
            mark.put(connection, self._mark)
        try:
            self._texts += self._backups.clean(self._texts)
        except MemtuiError as error:
            error.hint = (
                f"{self._backups.written} backups are without it, the memory still holds all of it. "
                f"memtui erase --resume goes on. {error.hint}".strip()
            )
            raise
        self._tell(EraseProgress(doing="erasing in the memory", done=0, total=1))
        with self._connections.write() as connection:
            found = closure(connection, request)
            if found.ids != self._ids:
                raise planning.changed()
            self._pieces = proving.known_pieces(connection, found, self._texts)
            scrub(connection, found, actor=self._actor, now=self._mark.at, count=len(self._ids))
            settle_indexes(connection, found, vec0=not self._connections.vectors_missing)
            self._pieces += proving.rare_pieces(connection, found, self._texts)
            traces = traces_of(self._pieces, salt_of(connection))
            self._mark = replace(self._mark, ids=tuple(sorted(found.ids)), traces=traces)
            mark.put(connection, self._mark)

    def finish(self, traces: Sequence[Trace] = ()) -> ErasureProof:
        """What comes after the rows have gone: pages, the log, backups that were made meanwhile, the proof.

        ``traces``: of what an earlier process erased.
        """
        self._tell(EraseProgress(doing="writing the file anew", done=0, total=1))
        problem = pages.compact(self._connections, WAIT)
        late = proving.pieces_of(self._backups.clean(self._texts))
        pieces = [*self._pieces, *late]
        problems = [problem] if problem else []
        problems += [
            f"{one.path.name} cannot be written anew ({one.problem}): memtui erase --resume --delete-damaged deletes it"
            for one in self._backups.states()
            if one.problem
        ]
        path = self._connections.path
        if path is not None:
            problems += [f"{place.name} is being written just now" for place in copies.sweep(path)]
        self._tell(EraseProgress(doing="looking for it in every file", done=0, total=1))
        proof = proving.prove(self._connections, self._mark.ids, pieces, problems, traces)
        if path is not None and not proof.pieces:
            proof = replace(proof, notes=(*proof.notes, TOO_SHORT))
        with self._connections.write() as connection:
            if proof.complete:
                mark.remove(connection)
            elif late:
                more = traces_of(late, salt_of(connection))
                mark.put(connection, replace(self._mark, traces=(*self._mark.traces, *more)))
            op_id = scalar(connection, "SELECT max(op_id) FROM ops WHERE kind = ?", (KIND,))
            operation = None if op_id is None else operations.get(connection, op_id)
        return replace(
            proof, memories=self._mark.memories, operation=operation, backups_written=self._backups.written,
            seconds=time.perf_counter() - self._began,
        )  # fmt: skip
