"""Made-up conversations of any size, and memory files that hold them.

Words follow Zipf's law over a vocabulary of made-up words, so that posting lists are as uneven as in real
text; names, places, dates and numbers are strewn in. The same seed gives the same text.
"""

# ruff: noqa: SIM905 - word lists read best as text

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import apsw
from memtui.engine.models.embedders import OfflineEmbedder
from memtui.engine.records import ID_PREFIX, Kind, NewMemory
from memtui.engine.records.embedding import VectorSpace
from memtui.engine.store import file, history, vectors
from memtui.engine.store.memories import insert_all

VOCABULARY = 30_000
NEWEST = 1_770_000_000
_COMMON = (
    "the of and to a in is it you that for on with are as at be this have from or had by not but what some we can "
    "out other were all there when up use your how said an each she which do their time if will way about many then "
    "them write would like so these her long make thing see him two has look more day could go come did number sound "
    "no most people my over know water than call first who may down side been now find any new work part take get "
    "place made live where after back little only round man year came show every good me give our under name very"
).split()
_NAMES = "Ada Grace Linus Bosse Farida Otto Ingrid Mateo Yuki Noor Pavel Selma Tomas Wren Zola Amara".split()
_PLACES = "Lisbon Turku Kyoto Oslo Valparaiso Ghent Tartu Bergen Porto Izmir".split()
_ONSETS = "b c ch d f g h l m n p r r s s sh st t t tr v w".split()
_VOWELS = "a e i o u ai ea ou".split()
_CODAS = ["", "", "", "", "n", "r", "s", "l", "t"]


class Talk(NamedTuple):
    session_id: str
    role: str
    content: str
    event_time: int


def _vocabulary(dice: random.Random) -> list[str]:
    words = dict.fromkeys(_COMMON)
    while len(words) < VOCABULARY:
        syllables = dice.choices((1, 2, 3), (1, 5, 4))[0]
        words[
            "".join(
                dice.choice(_ONSETS) + dice.choice(_VOWELS) + dice.choice(_CODAS) for _ in range(syllables)
            )
        ] = None
    return list(words)


class Writer:
    """Writes sentences. ``rare`` gives words for questions: frequent enough to occur, rare enough to mean something."""

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)
        self.words = _vocabulary(random.Random(0))  # one language for all seeds
        self._weights = list(itertools.accumulate(1 / (rank + 2.7) for rank in range(len(self.words))))

    def sentence(self) -> str:
        dice = self._dice
        words = dice.choices(self.words, cum_weights=self._weights, k=dice.randint(6, 18))
        if dice.random() < 0.3:
            words[dice.randrange(len(words))] = dice.choice(_NAMES if dice.random() < 0.6 else _PLACES)
        if dice.random() < 0.1:
            words.append(f"on {dice.randint(1, 28)} May {dice.randint(2019, 2026)}")
        words[0] = words[0].capitalize()
        return " ".join(words) + "."

    def text(self) -> str:
        """One to nine sentences, about 300 characters."""
        return " ".join(
            self.sentence() for _ in range(self._dice.choices(range(1, 10), (3, 5, 6, 5, 3, 2, 1, 1, 1))[0])
        )

    def question(self) -> str:
        """Three to six words, some of them rare."""
        common = self._dice.choices(self.words, cum_weights=self._weights, k=self._dice.randint(1, 3))
        telling = [self.words[self._dice.randint(200, 4_000)] for _ in range(self._dice.randint(2, 3))]
        return " ".join([*common, *telling])

    def talks(self, count: int) -> Iterator[Talk]:
        """Turns of sessions of twenty, a minute apart, the last one at ``NEWEST``."""
        for number in range(count):
            yield Talk(
                f"talk-{number // 20:06}",
                ("user", "assistant")[number % 2],
                self.text(),
                NEWEST - (count - number) * 60,
            )


_SESSION = """
    INSERT INTO sessions_consolidations(session_id, first_seen_at, last_seen_at) VALUES (?1, ?2, ?2)
    ON CONFLICT(session_id) DO UPDATE SET last_seen_at = ?2"""
_BATCH = 5_000
_ROWS_AT_ONCE = 100


def build(path: Path, count: int, *, facts: float = 0.1, seed: int = 1) -> Path:
    """Make a memory of ``count`` rows, a share of them facts, with its full-text index, below the facade."""
    connections = file.open_file(path, allow_unsafe=True)
    rows = _rows(Writer(seed), count, facts)
    try:
        op_id = history.begin_long(connections, lambda: NEWEST, "import", "import", "Built for a benchmark")
        while batch := list(itertools.islice(rows, _BATCH)):
            with history.continue_long(connections, op_id) as connection:
                for start in range(0, len(batch), _ROWS_AT_ONCE):
                    insert_all(connection, batch[start : start + _ROWS_AT_ONCE])
                times = [(row["session_id"], row["event_time"]) for row in batch if row["session_id"]]
                connection.executemany(_SESSION, times)
        history.finish_long(connections, op_id, f"Imported {count:,} turns")
        with connections.exclusive() as connection:
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    finally:
        connections.close()
    return path


def _rows(writer: Writer, count: int, facts: float) -> Iterator[NewMemory]:
    dice = random.Random(count)
    for number, talk in enumerate(writer.talks(count)):
        kind: Kind = "fact" if dice.random() < facts else "episode"
        turn = kind == "episode"
        yield NewMemory(
            id=f"{ID_PREFIX[kind]}{dice.getrandbits(48):012x}", kind=kind, content=talk.content,
            session_id=talk.session_id if turn else None, source_role=talk.role if turn else None,
            source="benchmark", source_key=f"benchmark:{number}" if turn else None,
            trust="user" if talk.role == "user" else "agent", event_time=talk.event_time, created_at=talk.event_time,
            confidence=1.0 if turn else 0.5 + dice.random() / 2, decay_rate=0.0 if turn else 0.1,
        )  # fmt: skip


def add_vectors(path: Path, *, seed: int = 2) -> None:
    """Give every memory a vector (random ones: how fast they are compared does not depend on what they mean)."""
    import numpy as np

    model = VectorSpace(OfflineEmbedder.model_id, OfflineEmbedder.dims)
    dice = np.random.default_rng(seed)
    connections = file.open_file(path, allow_unsafe=True)
    try:
        with connections.write() as connection:
            vectors.set_space(connection, model)
        while True:
            with connections.write() as connection:
                waiting = [rid for rid, _ in vectors.pending_texts(connection, 2**62, _BATCH)]
                made = dice.integers(-127, 128, (len(waiting), model.dims), np.int8)
                vectors.store_vectors(
                    connection, model, [(rid, row.tobytes()) for rid, row in zip(waiting, made, strict=True)]
                )
            if not waiting:
                break
        while True:
            with connections.write() as connection:
                if not vectors.sync_index(connection, _BATCH):
                    break
        with connections.exclusive() as connection:
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    finally:
        connections.close()
