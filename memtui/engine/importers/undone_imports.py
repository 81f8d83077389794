"""What an import brought in and somebody took back: following leaves it alone, only an import that is asked for brings it."""

from __future__ import annotations

from memtui.engine.store.connections import Connections
from memtui.engine.store.sql import scalar

from . import lock
from .distinct_counter import DistinctCounter


class UndoneImports(DistinctCounter):
    """The source keys of such rows, for as long as history knows them; a context manager."""

    def __init__(self, connections: Connections) -> None:
        super().__init__()
        self._connections = connections
        self._until = 0

    def look(self) -> None:
        """Take in what was undone since the last look. What was done again is in the memory, whatever this says."""
        with self._connections.read() as connection:
            latest = scalar(connection, "SELECT coalesce(max(op_id), 0) FROM ops WHERE kind = 'undo'")
            if latest == self._until:
                return
            for (key,) in connection.execute(
                """
                SELECT c.before ->> 'source_key' FROM ops u JOIN ops i ON i.op_id = u.undoes
                CROSS JOIN changes c ON c.op_id = u.op_id AND c.tbl = 'memories'
                WHERE u.kind = 'undo' AND u.state = 'done' AND u.op_id > ? AND i.kind = ?
                  AND c.act = 'delete' AND c.before ->> 'source_key' IS NOT NULL
                """,
                (self._until, lock.KIND),
            ):
                self.add(str(key))
            self._until = latest
