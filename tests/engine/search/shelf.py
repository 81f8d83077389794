"""A small memory to search, filled straight through the store."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import apsw
import numpy as np
from memtui.engine.models import embedders
from memtui.engine.models.embedders import QuestionWords
from memtui.engine.models.vectors import normalise_rows, quantise_rows
from memtui.engine.records import MemoryRecord
from memtui.engine.records.embedding import VectorSpace
from memtui.engine.store import entities, full_text, history, memories, sessions, vectors
from memtui.engine.store.connections import Connections
from memtui.engine.store.tokens import STOP_WORDS

NOW = 1_770_000_000  # 2 February 2026, 02:40 UTC
DAY = 86_400
LATER = ("valid_until", "ended_by", "reviewed_at", "access_count", "last_accessed")  # set after the insertion


class FakeEmbedder:
    """A bag of words: each word is a direction of its own, unless ``like`` says that it leans towards another."""

    model_id = "fake"
    dims = 64

    def __init__(self, like: Mapping[str, Mapping[str, float]] | None = None) -> None:
        self.like = like or {}
        self.known: dict[str, int] = {}

    def embed(self, texts: Iterable[str]) -> np.ndarray[Any, np.dtype[np.float32]]:
        return np.concatenate([self.embed_query(text) for text in texts])

    def embed_query(
        self, text: str, weight: Callable[[str], float] | None = None
    ) -> np.ndarray[Any, np.dtype[np.float32]]:
        row = np.zeros((1, self.dims), np.float32)
        for word in re.findall(r"[a-z]+", text.lower()):
            row[0] += (1.0 if weight is None else weight(word)) * self._direction(word)
        return normalise_rows(row)

    def _direction(self, word: str) -> np.ndarray[Any, np.dtype[np.float32]]:
        row = np.zeros(self.dims, np.float32)
        for name, part in {word: 1.0, **self.like.get(word, {})}.items():
            row[self.known.setdefault(name, len(self.known) % self.dims)] += part
        return row


class WordEmbedder(FakeEmbedder):
    """Keeps the direction of each word of a text too."""

    model_id = "fake-words"
    word_vector_dims = 64
    sends_to = ""

    def available(self) -> str | None:
        return None

    def at_hand(self, text: str) -> bool:
        return True

    def interrupt(self) -> None:
        pass

    def embed_words(self, texts: Iterable[str]) -> tuple[np.ndarray[Any, np.dtype[np.float32]], list[bytes]]:
        texts = list(texts)
        return self.embed(texts), [self._rows(self._words(text)).tobytes() for text in texts]

    def question_words(self, text: str, weight: Callable[[str], float]) -> QuestionWords:
        words = [word for word in self._words(text) if weight(word) > 0.0] or self._words(text)
        return QuestionWords(self._rows(words), tuple(weight(word) or 1.0 for word in words), tuple(words))

    def _words(self, text: str) -> list[str]:
        return [word for word in re.findall(r"[a-z]+", text.lower()) if word not in STOP_WORDS]

    def _rows(self, words: list[str]) -> np.ndarray[Any, np.dtype[np.int8]]:
        rows = [self._direction(word) for word in words]
        return quantise_rows(np.array(rows, np.float32).reshape(len(words), self.word_vector_dims))


class StaticEmbedder(FakeEmbedder):
    """Has one direction for each word, in every text."""

    model_id = "fake-static"
    sends_to = ""
    available, at_hand, interrupt = WordEmbedder.available, WordEmbedder.at_hand, WordEmbedder.interrupt

    def word_vectors(self, words: Sequence[str]) -> np.ndarray[Any, np.dtype[np.int8]]:
        return quantise_rows(np.array([self._direction(word) for word in words], np.float32))


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
        embedder: FakeEmbedder | None = None,
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
                sessions.register_session(connection, session, at, at)
            if extra:
                memories.update(connection, rid, **extra)
            entities.link(connection, rid, [entities.Mention(name, "person", name) for name in about], NOW)
            if indexed:
                full_text.index_cjk(connection, rid, content)
                connection.execute("UPDATE index_queue SET text = 0 WHERE rid = ?", (rid,))
            if embedder is not None:
                space = VectorSpace(embedder.model_id, embedder.dims)
                row, words = embedders.embed_words(embedder, [content])
                dims = embedders.word_vector_dims(embedder)
                if vectors.vector_space(connection) is None:
                    vectors.set_space(connection, space, dims)
                kept = vectors.WordRows(dims, {rid: words[0]}) if words else None
                vectors.store_vectors(connection, space, [(rid, quantise_rows(row)[0].tobytes())], kept)
        return memories.by_rid(self.connection, [rid], NOW)[0]

    def forget(self, memory: MemoryRecord, ended_by: str = "forgotten") -> None:
        with self.writing() as connection:
            memories.update(connection, memory.rid, valid_until=NOW, ended_by=ended_by)

    def read(self, memory: MemoryRecord) -> MemoryRecord:
        return memories.by_rid(self.connection, [memory.rid], NOW)[0]
