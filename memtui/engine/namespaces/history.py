"""``memory.history``: the memory at an earlier moment, changes between two moments, and undo."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from memtui.engine.core import Core
from memtui.engine.records import AgentChanges, AgentUndone, Operation
from memtui.engine.store import operations, undo

if TYPE_CHECKING:
    from memtui.engine.records.history import PastDiff
    from memtui.engine.store.past import Past


class History:
    """Nothing here changes the past, and looking at it changes nothing."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def as_of(self, when: str | float | datetime) -> Past:
        """The memory as it was at a moment: ``counts()``, ``page()``, ``get(id)``; read-only.

        ``when``: Unix seconds, an aware datetime, or a text such as ``2026-03-03`` (its end), ``last tuesday``, ``2d``.
        ``coverage`` says whether history tells it exactly. Raises InputError for a text that names no time.
        """
        from memtui.engine.search.time_expressions import parse_past_time
        from memtui.engine.store.past import Past

        return Past(self._core.connections, parse_past_time(when, self._core.clock()))

    def diff(
        self, start: str | float | datetime, end: str | float | datetime = "now", *, limit: int = 1_000
    ) -> PastDiff:
        """What became of the memories between two moments, named as in ``as_of``; all are counted, ``limit`` listed.

        Raises InputError.
        """
        from memtui.engine.store import past_diff

        return past_diff.compare_moments(
            self._core.connections, self.as_of(start), self.as_of(end), limit=limit
        )

    def agent_changes(
        self, agent: str, since: str | float | datetime, *, turns: bool = False
    ) -> AgentChanges:
        """What ``undo_agent`` would take back of an agent (by its name). ``since`` as in ``as_of``. Changes nothing.

        ``turns``: also the turns of conversations that it recorded, which otherwise stay, and the consolidations that read
        nothing else. Raises InputError.
        """
        from memtui.engine.search.time_expressions import parse_past_time

        with self._core.connections.read() as connection:
            return undo.agent_changes(
                connection,
                agent.removeprefix("agent:"),
                parse_past_time(since, self._core.clock()),
                turns=turns,
            )

    def undo_agent(self, agent: str, since: str | float | datetime, *, turns: bool = False) -> AgentUndone:
        """Take back all that an agent did since a time, as one operation, which one undo takes back.

        What somebody changed since stays as it is and is reported. Raises InputError where nothing can be taken back.
        """
        from memtui.engine.search.time_expressions import parse_past_time

        self._core.must_write("change it")
        done = undo.undo_agent(
            self._core.connections, self._core.clock, self._core.actor, agent.removeprefix("agent:"),
            parse_past_time(since, self._core.clock()), turns=turns,
        )  # fmt: skip
        self._core.announce_by_id(done.by.op_id)
        return done

    def next_undo(self) -> Operation | None:
        """What a plain undo would take back."""
        with self._core.connections.read() as connection:
            op_id = undo.latest_undoable(connection, self._core.actor)
            return None if op_id is None else operations.get(connection, op_id)

    def erase_before_undo(self) -> Operation | None:
        """The erase that came after what a plain undo would take back. Nothing brings back what was erased."""
        with self._core.connections.read() as connection:
            op_id = undo.latest_undoable(connection, self._core.actor)
            erase = None if op_id is None else undo.erase_since(connection, self._core.actor, op_id)
            return None if erase is None else operations.get(connection, erase)

    def next_redo(self) -> Operation | None:
        """The undo that a redo would take back."""
        with self._core.connections.read() as connection:
            op_id = undo.latest_redoable(connection, self._core.actor)
            return None if op_id is None else operations.get(connection, op_id)
