"""Rows of memtui's own export on their way into the memory: what of a batch is new, and storing it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import NamedTuple, Self

import apsw

from memtui.engine.curate import intake
from memtui.engine.errors import InputError
from memtui.engine.records import Skip
from memtui.engine.store import erased, full_text, portable_rows
from memtui.engine.store.entities import entity_key
from memtui.engine.store.portable import (
    AnyLine,
    DecisionLine,
    EntityLine,
    MemoryLine,
    ProfileLine,
    ProposalLine,
    QuestionLine,
    ReadLine,
    ScratchpadLine,
    SessionLine,
)

from .writing import CHARACTERS_AT_ONCE, MERGED_PAGES, ROWS_AT_ONCE

# What is counted beside memories, and how it is called. Sessions come with their turns.
KINDS: dict[type[AnyLine], str] = {
    EntityLine: "entity", DecisionLine: "naming decision", ScratchpadLine: "scratchpad entry",
    ProposalLine: "review card", QuestionLine: "saved question", ProfileLine: "profile",
}  # fmt: skip
_ERASED = "erased for good"
_TOO_LONG = f"longer than {intake.MAX_EPISODE:,} characters"
_REFUSED = "cannot be stored"


class SortedOut(NamedTuple):
    """``new`` lines in their order; how many are ``there``; what is not to come in."""

    new: list[AnyLine]
    there: int
    skips: list[Skip]


class Rows:
    """The rows of one import; a context manager."""

    def __init__(self) -> None:
        self._others = portable_rows.OtherIds()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._others.__exit__(exc_type, exc, traceback)

    def sort_out(self, connection: apsw.Connection, lines: Sequence[AnyLine], op_id: int | None) -> SortedOut:
        """Tell what is new from what is there, erased or too long. ``op_id``: the import, once it has begun."""
        keys = {id(line): _keys(line) for line in lines}
        gone = erased.erased(connection, [key for some in keys.values() for key in some])
        new: list[AnyLine] = []
        there, skips = 0, []
        for line in lines:
            if isinstance(line, MemoryLine) and len(line.content) > intake.MAX_EPISODE:
                skips.append(Skip(reason=_TOO_LONG, place=line.id))
            elif isinstance(line, ReadLine):
                new.append(line)  # of a session that may be in this batch
            elif portable_rows.is_there(connection, line, self._others, op_id):
                there += 1
                if isinstance(line, SessionLine) and not portable_rows.spans(connection, line):
                    new.append(line)
            elif gone.intersection(keys[id(line)]):
                skips.append(Skip(reason=_ERASED))
            else:
                new.append(line)
        if all(isinstance(line, ReadLine) for line in new):
            new = [line for line in new if not portable_rows.is_there(connection, line, self._others, op_id)]
        return SortedOut(new, there, skips)

    def store_some(
        self, connection: apsw.Connection, lines: Sequence[AnyLine], op_id: int, *, seconds: float
    ) -> tuple[int, list[AnyLine], list[Skip]]:
        """Store lines until the time is up: how many were taken, which were added, which were refused."""
        until = time.monotonic() + seconds
        added: list[AnyLine] = []
        skips: list[Skip] = []
        taken = 0
        for some in _together(lines):
            good, bad = self._store(connection, some, op_id)
            added += good
            skips += bad
            taken += len(some)
            if time.monotonic() > until:
                break
        full_text.merge(connection, MERGED_PAGES)
        return taken, added, skips

    def _store(
        self, connection: apsw.Connection, lines: Sequence[AnyLine], op_id: int
    ) -> tuple[list[AnyLine], list[Skip]]:
        """Of lines that share a statement, those that were added and those that are refused, which keep no other out."""
        try:
            return self._add(connection, lines, op_id), []
        except InputError as error:
            if len(lines) == 1:
                return [], [Skip(reason=_REFUSED, place=error.message)]
        each = [self._store(connection, [line], op_id) for line in lines]
        return [line for good, _ in each for line in good], [skip for _, bad in each for skip in bad]

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


def _keys(line: AnyLine) -> list[str]:
    """What it may be known by once it was erased for good."""
    match line:
        case MemoryLine():
            return [line.id, line.source_key] if line.source_key else [line.id]
        case SessionLine():
            return [f"session:{line.session_id}"]
        case DecisionLine():
            named = [f"entity:{id}" for id in (line.entity, line.other) if id]
            return [line.memory, *named] if line.memory else named
        case EntityLine():
            return [f"entity:{line.id}", f"entity:{entity_key(line.canonical_name)}"]
        case ScratchpadLine():
            return [f"scratchpad:{line.key}"]
        case ProposalLine():
            return [f"card:{line.id}"]
        case QuestionLine():
            return [f"question:{line.name}"]
        case _:
            return []
