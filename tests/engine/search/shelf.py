"""A small memory to search, filled straight through the store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import apsw
from memtui.engine.records import MemoryRecord
from memtui.engine.store import cjk, entities, history, memories, sessions
from memtui.engine.store.connection import Connections

NOW = 1_770_000_000  # 2 February 2026, 02:40 UTC
DAY = 86_400
LATER = ("valid_until", "ended_by", "reviewed_at", "access_count", "last_accessed")  # set after the insertion


class Book:
    """The file under test, with short ways to write into it."""

    def __init__(self, connections: Connections) -> None:
        self.connections = connections
        with connections.write() as connection:
            self.connection: apsw.Connection = connection

    @contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        with history.operation(self.connections, lambda: NOW, "person", "test", "test") as operation:
            yield operation.connection

    def add(
        self,
        content: str,
        kind: Any = "fact",
        *,
        at: int = NOW,
        session: str | None = None,
        role: str | None = None,
        about: Iterable[str] = (),
        indexed: bool = True,
        **columns: Any,
    ) -> MemoryRecord:
        trust = columns.pop("trust", "user")
        with self.writing() as connection:
            extra = {name: columns.pop(name) for name in LATER if name in columns}
            created = columns.pop("created_at", at)
            rid = memories.insert(
                connection, kind=kind, content=content, event_time=at, created_at=created, trust=trust,
                session_id=session, source_role=role, **columns,
            )  # fmt: skip
            assert rid is not None
            if session is not None:
                sessions.seen(connection, session, at, at)
            if extra:
                memories.update(connection, rid, **extra)
            entities.link(connection, rid, [entities.Mention(name, "person", name) for name in about], NOW)
            if indexed:
                cjk.index(connection, rid, content)
                connection.execute("UPDATE index_queue SET text = 0 WHERE rid = ?", (rid,))
        return memories.by_rid(self.connection, [rid], NOW)[0]

    def forget(self, memory: MemoryRecord, ended_by: str = "forgotten") -> None:
        with self.writing() as connection:
            memories.update(connection, memory.rid, valid_until=NOW, ended_by=ended_by)
