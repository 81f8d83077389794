"""``memory.scratchpad``: short notes, each a text under a key."""

from __future__ import annotations

from typing import Self

import apsw
from msgspec.structs import replace

from memtui.engine.core import Core
from memtui.engine.errors import InputError
from memtui.engine.memories import validation as memory_scratchpad
from memtui.engine.records.saved import ScratchpadNote
from memtui.engine.store import scratchpad
from memtui.engine.store.sql import storable_text
from memtui.engine.wording import quote_beginning

_MOST_FOUND = 1_000
_LONGEST_LABEL = 80


class Scratchpad:
    """Safe to call from any thread; every change is one undoable operation, signed by the memory's actor.

    ``prefix``: keys that begin with it are the only ones there are; it is not seen from here. ``project``: what is written
    belongs to it, and is turned away where it is never recorded.
    """

    def __init__(self, core: Core, prefix: str = "", project: str | None = None) -> None:
        self._core = core
        self._project = project
        self._prefix = prefix

    def confined(self, scope: str, *, project: str | None = None) -> Self:
        """The part of it that belongs to a scope. Its keys begin with the scope in brackets: ``[project:work] task``."""
        if not scope:
            return self
        label = scope.translate({ord(sign): "" for sign in "[]"})
        label = "".join(sign if sign.isprintable() else " " for sign in label)[:_LONGEST_LABEL]
        if label != scope:
            from hashlib import blake2b  # for few; opening a memory goes without

            label += f" {blake2b(scope.encode('utf-8', 'replace'), digest_size=6).hexdigest()}"
        return type(self)(self._core, f"[{label}] ", project)

    def get(self, key: str) -> ScratchpadNote:
        """The entry of a key. Raises NotFoundError for a missing one."""
        with self._core.connections.read() as connection:
            return self._get_note(connection, self._resolve_key(connection, key))

    def keys(self, prefix: str = "") -> list[str]:
        """All keys that begin with ``prefix``, in order."""
        with self._core.connections.read() as connection:
            own_keys = scratchpad.keys(connection, self._prefix + storable_text(prefix))
        return [key.removeprefix(self._prefix) for key in own_keys]

    def search(
        self, text: str = "", *, limit: int = _MOST_FOUND, beginning: int | None = None
    ) -> list[ScratchpadNote]:
        """Entries with ``text`` in their key or value, in any case and script; the latest first, all for "".

        ``beginning``: of each value only so many characters.
        """
        with self._core.connections.read() as connection:
            notes = scratchpad.search(connection, storable_text(text), limit, beginning, self._prefix)
        return [self._without_scope(note) for note in notes]

    def writer(self, key: str) -> str | None:
        """Who wrote an entry last; None when history does not know any more. Raises NotFoundError."""
        with self._core.connections.read() as connection:
            return scratchpad.last_writer(
                connection, self._get_note(connection, self._resolve_key(connection, key)).pad_id
            )

    def set(self, key: str, value: str, *, expected: str | None = None) -> ScratchpadNote:
        """Write a value under a key. ``expected``: the value that the writer saw; "" where there was none.

        Raises InputError for an unusable key or value, and where somebody else changed it since it was seen.
        What looks like a secret is blacked out where the policy for facts says so.
        """
        with self._core.connections.read() as connection:
            key = self._resolve_key(connection, key)
            if self._find_note(connection, key) is None:
                key = memory_scratchpad.usable_key(key)
        value = memory_scratchpad.accept_note(value, self._core.options.secrets)
        label = f"Wrote {quote_beginning(self._prefix + key)} on the scratchpad"
        with self._core.change("scratchpad", label, project=self._project) as op:
            before = self._find_note(op.connection, key)
            if expected is not None and expected != (before.value if before else ""):
                raise InputError(
                    f"{key!r} was changed by another program in the meantime.", "Read it again, then write."
                )
            scratchpad.set_value(op.connection, self._prefix + key, value, int(self._core.clock()))
            return self._get_note(op.connection, key)

    def delete(self, key: str) -> ScratchpadNote:
        """Take an entry away; undo brings it back. Returns what it was. Raises NotFoundError."""
        with self._core.connections.read() as connection:
            key = self._resolve_key(connection, key)
        label = f"Deleted {quote_beginning(self._prefix + key)} from the scratchpad"
        with self._core.change("scratchpad", label) as op:
            gone = self._get_note(op.connection, key)
            scratchpad.remove(op.connection, self._prefix + key)
        return gone

    def _resolve_key(self, connection: apsw.Connection, key: str) -> str:
        """The key that is meant: as it is, where another program wrote one so, else without blanks around it."""
        if not isinstance(key, str):
            raise InputError(f"A key is text, not {type(key).__name__}.", "Pass a string.")
        key = storable_text(key)
        return key if self._find_note(connection, key) is not None else key.strip()

    def _find_note(self, connection: apsw.Connection, key: str) -> ScratchpadNote | None:
        note = scratchpad.find(connection, self._prefix + key)
        return None if note is None else self._without_scope(note)

    def _get_note(self, connection: apsw.Connection, key: str) -> ScratchpadNote:
        note = self._find_note(connection, key)
        if note is None:
            raise scratchpad.missing_key_error(key)
        return note

    def _without_scope(self, note: ScratchpadNote) -> ScratchpadNote:
        return replace(note, key=note.key.removeprefix(self._prefix))
