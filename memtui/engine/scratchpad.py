"""The scratchpad: keys with a text each, for what is needed at hand for a while. Reached as ``Memory.scratchpad``."""

from __future__ import annotations

from collections.abc import Callable

import apsw

from memtui.engine.clock import Clock
from memtui.engine.curate import pad
from memtui.engine.errors import InputError
from memtui.engine.records import Operation, SecretPolicy
from memtui.engine.store import history, operations, scratchpad
from memtui.engine.store.connection import Connections
from memtui.engine.store.scratchpad import Note
from memtui.engine.store.sql import storable
from memtui.engine.wording import quoted

_MOST_FOUND = 1_000


class Scratchpad:
    """Safe to call from any thread; every change is one undoable operation, signed by the memory's actor."""

    def __init__(
        self,
        connections: Connections,
        clock: Clock,
        actor: Callable[[], str],
        secrets: SecretPolicy,
        said: Callable[[Operation], None],
    ) -> None:
        self._connections = connections
        self._clock = clock
        self._actor = actor
        self._secrets = secrets
        self._said = said

    def get(self, key: str) -> Note:
        """The entry of a key. Raises NotFoundError for a missing one."""
        with self._connections.read() as connection:
            return scratchpad.get(connection, _known(connection, key))

    def keys(self, prefix: str = "") -> list[str]:
        """All keys that begin with ``prefix``, in order."""
        with self._connections.read() as connection:
            return scratchpad.keys(connection, storable(prefix))

    def search(self, text: str = "", *, limit: int = _MOST_FOUND, beginning: int | None = None) -> list[Note]:
        """Entries with ``text`` in their key or value, in any case and script; the latest first, all for "".

        ``beginning``: of each value only so many characters.
        """
        with self._connections.read() as connection:
            return scratchpad.search(connection, storable(text), limit, beginning)

    def writer(self, key: str) -> str | None:
        """Who wrote an entry last; None when history does not know any more. Raises NotFoundError."""
        with self._connections.read() as connection:
            return scratchpad.writer(connection, scratchpad.get(connection, _known(connection, key)).pad_id)

    def set(self, key: str, value: str, *, expected: str | None = None) -> Note:
        """Write a value under a key. ``expected``: the value that the writer saw; "" where there was none.

        Raises InputError for an unusable key or value, and where somebody else changed it since it was seen.
        What looks like a secret is blacked out where the policy for facts says so.
        """
        with self._connections.read() as connection:
            key = _known(connection, key)
            if scratchpad.find(connection, key) is None:
                key = pad.usable_key(key)
        value = pad.accept(value, self._secrets)
        label = f"Wrote {quoted(key)} on the scratchpad"
        with history.operation(self._connections, self._clock, self._actor(), "scratchpad", label) as op:
            before = scratchpad.find(op.connection, key)
            if expected is not None and expected != (before.value if before else ""):
                raise InputError(
                    f"{key!r} was changed by somebody else meanwhile.", "Look at it again, then write."
                )
            scratchpad.put(op.connection, key, value, int(self._clock()))
            note = scratchpad.get(op.connection, key)
        if note != before:
            self._told(op.op_id)
        return note

    def delete(self, key: str) -> Note:
        """Take an entry away; undo brings it back. Returns what it was. Raises NotFoundError."""
        with self._connections.read() as connection:
            key = _known(connection, key)
        label = f"Deleted {quoted(key)} from the scratchpad"
        with history.operation(self._connections, self._clock, self._actor(), "scratchpad", label) as op:
            gone = scratchpad.get(op.connection, key)
            scratchpad.remove(op.connection, key)
        self._told(op.op_id)
        return gone

    def _told(self, op_id: int) -> None:
        with self._connections.read() as connection:
            operation = operations.get(connection, op_id)
        self._said(operation)


def _known(connection: apsw.Connection, key: str) -> str:
    """The key that is meant: as it is, where another program wrote one so, else without blanks around it."""
    if not isinstance(key, str):
        raise InputError(f"A key is text, not {type(key).__name__}.", "Pass a string.")
    key = storable(key)
    return key if scratchpad.find(connection, key) is not None else key.strip()
