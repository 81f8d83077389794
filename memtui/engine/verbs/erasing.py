"""Erasing for good: the plan that shows everything, the erase, and the proof. The one act that no undo takes back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from memtui.engine.records import Changes
from memtui.engine.store import metadata
from memtui.engine.store.erased import UNFINISHED
from memtui.engine.store.tables import COVERED
from memtui.engine.verbs.base import Base

if TYPE_CHECKING:
    from memtui.engine.maintain.erase.erasing import Eraser
    from memtui.engine.maintain.erase.records import (
        EraseProgress,
        ErasurePlan,
        ErasureProof,
        UnfinishedErase,
    )


class Erasing(Base):
    """What lets go of memories so that nothing of them is left in any file of this memory."""

    def plan_erase(
        self, ids: Sequence[str] = (), *, session_id: str | None = None, also: Sequence[str] = (),
        keep: Sequence[str] = (),
    ) -> ErasurePlan:  # fmt: skip
        """Everything that carries the texts of these memories, or of a whole session; nothing is changed.

        ``also``, ``keep``: keys of carriers of an earlier plan that are to go as well, or to stay. Raises
        NotFoundError for unknown ones, InputError when nothing is named.
        """
        from memtui.engine.maintain.erase.records import Request

        request = Request(ids=tuple(ids), session_id=session_id, also=tuple(also), keep=tuple(keep))
        return self._eraser().plan(request)

    def erase(
        self, plan: ErasurePlan, *, delete_damaged: bool = False,
        progress: Callable[[EraseProgress], None] = lambda progress: None,
    ) -> ErasureProof:  # fmt: skip
        """Erase what the plan lists from the file, its log, its history and every backup, and prove it.

        Nobody can take it back. ``delete_damaged``: delete the backups that cannot be opened, which may hold it.
        ``progress`` is called in this thread. Raises InputError when the memory has changed since the plan, and for
        anybody but the person; ReadOnlyError; StoreError while an import or a job runs; DiskFullError.
        A proof that is not ``complete`` says what is left to do: ``resume_erase`` does it.
        """
        return self._told(self._eraser().run(plan, delete_damaged=delete_damaged, tell=progress))

    def unfinished_erase(self) -> UnfinishedErase | None:
        """An erase that was interrupted, by whatever process; ``resume_erase`` finishes it."""
        with self._connections.read() as connection:
            if metadata.get(connection, UNFINISHED) is None:  # as a rule, and the rest takes time to load
                return None
        return self._eraser().unfinished()

    def resume_erase(
        self, *, delete_damaged: bool = False,
        progress: Callable[[EraseProgress], None] = lambda progress: None,
    ) -> ErasureProof | None:  # fmt: skip
        """Finish an erase that was interrupted, and prove it; None when there is none. Raises as ``erase`` does."""
        proof = self._eraser().resume(delete_damaged=delete_damaged, tell=progress)
        return None if proof is None else self._told(proof)

    def _eraser(self) -> Eraser:
        from memtui.engine.maintain.erase.erasing import Eraser

        return Eraser(self._connections, self._clock, self.actor, on_erased=self._forget_erased)

    def _forget_erased(self) -> None:
        """Nothing that this process holds in memory may keep it."""
        self._indexer.forget_names()
        self._vector_copy.forget()

    def _told(self, proof: ErasureProof) -> ErasureProof:
        self._call("changed", Changes(tables=frozenset((*COVERED, "ops")), operation=proof.operation))
        self._wake_indexer()
        return proof
