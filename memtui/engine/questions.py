"""What a person keeps of their searches: pinned questions and ways to rank. Reached as ``Memory.questions``."""

from __future__ import annotations

from collections.abc import Callable

from memtui.engine.clock import Clock
from memtui.engine.errors import InputError
from memtui.engine.records import Operation, Profile
from memtui.engine.search import profiles
from memtui.engine.store import history, saved_queries
from memtui.engine.store.connection import Connections
from memtui.engine.store.saved_queries import SavedQuery

_NAME = 200


class Questions:
    """Safe to call from any thread; what changes something is one undoable operation."""

    def __init__(
        self,
        connections: Connections,
        clock: Clock,
        actor: Callable[[], str],
        said: Callable[[Operation], None],
    ) -> None:
        self._connections = connections
        self._clock = clock
        self._actor = actor
        self._said = said

    def pinned(self) -> list[SavedQuery]:
        """The pinned questions, the latest first."""
        with self._connections.read() as connection:
            return saved_queries.everything(connection)

    def pin(self, query: str, *, filter: str = "", profile: str | None = None) -> Operation | None:
        """Keep a question; None when it was kept so already. Raises InputError for an empty one."""
        words = " ".join(query.split())
        if not words:
            raise InputError("There is no question to keep.", "Type one first.")
        name = f"{words} [{filter}]" if filter else words
        label = f"Pinned the question “{words[:_NAME]}”"
        with history.operation(self._connections, self._clock, self._actor(), "pin", label) as op:
            if any(
                (name, profile) == (one.name, one.profile) for one in saved_queries.everything(op.connection)
            ):
                return None
            saved_queries.save(op.connection, name, words, filter, profile, int(self._clock()))
        return self._told(op.op_id)

    def unpin(self, query_id: int) -> Operation:
        """Keep it no longer. Raises NotFoundError."""
        with history.operation(self._connections, self._clock, self._actor(), "pin", "Unpinned") as op:
            gone = saved_queries.remove(op.connection, query_id)
            op.label = f"Unpinned the question “{gone.query[:_NAME]}”"
        return self._told(op.op_id)

    def profiles(self) -> list[Profile]:
        """All ways to rank, the built-in ones first."""
        with self._connections.read() as connection:
            return [profiles.find(connection, name) for name in profiles.names(connection)]

    def save_profile(self, profile: Profile) -> Operation | None:
        """Keep a way to rank under its name; None when it was kept so already. Raises InputError for a built-in name."""
        label = f"Saved the profile “{profile.name[:_NAME]}”"
        with history.operation(self._connections, self._clock, self._actor(), "profile", label) as op:
            if profile in [profiles.find(op.connection, name) for name in profiles.names(op.connection)]:
                return None
            profiles.save(op.connection, profile)
        return self._told(op.op_id)

    def _told(self, op_id: int) -> Operation:
        with self._connections.read() as connection:
            operation = history.get_operation(connection, op_id)
        self._said(operation)
        return operation
