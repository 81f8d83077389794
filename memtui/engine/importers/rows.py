"""Rows of memtui's own export on their way into the memory: what of a batch is new, and storing it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence

import apsw

from memtui.engine.curate import intake
from memtui.engine.errors import InputError
from memtui.engine.store import erased, full_text, portable_rows
from memtui.engine.store.portable import AnyLine, MemoryLine, ReadLine, SessionLine

from . import account, line_secrets
from .account import CHARACTERS_AT_ONCE, MERGED_PAGES, ROWS_AT_ONCE, Account, Counted
from .turns import TOO_LONG


class Rows:
    """``others`` remembers, for the whole import, the ids of rows that are there under another one."""

    def __init__(self, shared: Account, others: portable_rows.OtherIds) -> None:
        self._shared = shared
        self._others = others

    def sort_out(self, connection: apsw.Connection, lines: Sequence[AnyLine]) -> list[AnyLine]:
        shared, op_id = self._shared, self._shared.operation.op_id
        lines = self._checked(lines)
        keys = {id(line): portable_rows.erased_keys(line) for line in lines}
        gone = erased.erased(connection, [key for some in keys.values() for key in some])
        new: list[AnyLine] = []
        for line in lines:
            if isinstance(line, MemoryLine) and len(line.content) > intake.MAX_EPISODE:
                shared.skip(TOO_LONG, line.id)
            elif isinstance(line, ReadLine):
                new.append(line)  # of a session that may be in this batch
            elif portable_rows.is_there(connection, line, self._others, op_id):
                shared.already_there += 1
                if isinstance(line, SessionLine) and not portable_rows.spans(connection, line):
                    new.append(line)
            elif gone.intersection(keys[id(line)]):
                shared.skip(account.ERASED)
            else:
                new.append(line)
        if all(isinstance(line, ReadLine) for line in new):
            new = [line for line in new if not portable_rows.is_there(connection, line, self._others, op_id)]
        return new

    def _checked(self, lines: Iterable[AnyLine]) -> list[AnyLine]:
        """The lines without secrets; those that cannot be without are skipped."""
        found = []
        for line in lines:
            try:
                found.append(line_secrets.without_secrets(line, self._shared.options))
            except InputError as error:
                self._shared.skip(account.REFUSED, error.message)
        return found

    def identities(self, line: AnyLine) -> tuple[str, ...]:
        return (f"line {line}",)

    def store_some(self, connection: apsw.Connection, new: Sequence[AnyLine]) -> tuple[int, list[AnyLine]]:
        until = time.monotonic() + account.SECONDS_PER_TRANSACTION
        op_id = self._shared.operation.begin()
        added: list[AnyLine] = []
        taken = 0
        for some in _together(new):
            added += self._store(connection, some, op_id)
            taken += len(some)
            if time.monotonic() > until:
                break
        full_text.merge(connection, MERGED_PAGES)
        return taken, added

    def counted(self, line: AnyLine) -> Counted:
        if isinstance(line, MemoryLine):
            episode = line.kind == "episode"
            return Counted(
                "turn" if episode else line.kind,
                line.session_id if episode else None,
                redacted=b'"secrets"' in bytes(line.attributes),
            )
        return Counted(portable_rows.KINDS.get(type(line)))

    def _store(self, connection: apsw.Connection, lines: Sequence[AnyLine], op_id: int) -> list[AnyLine]:
        """Of lines that share a statement, those that were added. One that is refused keeps no other out."""
        try:
            return self._add(connection, lines, op_id)
        except InputError as error:
            if len(lines) == 1:
                self._shared.skip(account.REFUSED, error.message)
                return []
        return [added for line in lines for added in self._store(connection, [line], op_id)]

    def _add(self, connection: apsw.Connection, lines: Sequence[AnyLine], op_id: int) -> list[AnyLine]:
        memories = [line for line in lines if isinstance(line, MemoryLine)]
        if memories:
            return list(portable_rows.add_memories(connection, memories, self._others))
        (line,) = lines
        if isinstance(line, ReadLine) and portable_rows.is_there(connection, line, self._others, op_id):
            return []
        if portable_rows.add(connection, line, self._others):
            return [line]
        if isinstance(line, SessionLine):
            portable_rows.widen(connection, line)
        return []


def _together(lines: Iterable[AnyLine]) -> Iterator[list[AnyLine]]:
    """Memories that follow each other share a statement; every other line has one of its own."""
    waiting: list[AnyLine] = []
    characters = 0
    for line in lines:
        if isinstance(line, MemoryLine) and len(waiting) < ROWS_AT_ONCE and characters < CHARACTERS_AT_ONCE:
            waiting.append(line)
            characters += len(line.content)
            continue
        if waiting:
            yield waiting
        waiting, characters = [], 0
        if isinstance(line, MemoryLine):
            waiting, characters = [line], len(line.content)
        else:
            yield [line]
    if waiting:
        yield waiting
