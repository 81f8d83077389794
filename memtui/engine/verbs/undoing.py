"""Undo and redo of an actor's own operations, and of any operation by its number."""

from __future__ import annotations

from collections.abc import Callable

import apsw

from memtui.engine.records import Operation, Undone
from memtui.engine.store import history, operations, undo
from memtui.engine.verbs.base import Base


class Undoing(Base):
    """Taking back and doing again."""

    def undo(self, op_id: int | None = None) -> Undone | None:
        """Take back this actor's latest operation (or the one given); None when there is nothing to undo.

        Rows that somebody changed since stay as they are and are reported in ``conflicts``. Raises
        InputError when nothing of the operation can be taken back, or it is taken back already.
        """
        return self._take_back(op_id, undo.latest_undoable)

    def redo(self) -> Undone | None:
        """Do again what this actor's latest undo took back; None when there is nothing to redo."""
        return self._take_back(None, undo.latest_redoable)

    def next_undo(self) -> Operation | None:
        """What a plain undo would take back."""
        with self._connections.read() as connection:
            op_id = undo.latest_undoable(connection, self.actor)
            return None if op_id is None else operations.get(connection, op_id)

    def next_redo(self) -> Operation | None:
        """The undo that a redo would take back."""
        with self._connections.read() as connection:
            op_id = undo.latest_redoable(connection, self.actor)
            return None if op_id is None else operations.get(connection, op_id)

    def _take_back(
        self, op_id: int | None, latest: Callable[[apsw.Connection, str], int | None]
    ) -> Undone | None:
        self._must_write("change it")
        history.end_unfinished(self._connections)
        if op_id is None:
            with self._connections.read() as connection:
                op_id = latest(connection, self.actor)
            if op_id is None:
                return None
        done = undo.undo(self._connections, self._clock, self.actor, op_id)
        self._tell(done.by.op_id)
        return done
