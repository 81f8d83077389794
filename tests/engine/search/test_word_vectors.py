"""Vectors of words come and go with those of their texts: made, resumed, mended, erased, given up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest
from memtui import Memory
from memtui.engine.errors import DegradedError
from memtui.engine.jobs import reembedding
from memtui.engine.models import minilm
from memtui.engine.records import Options, SearchResult
from memtui.present.reembedding import plan_rows, reembed_result
from shelf import WordEmbedder

TURN = "I bought walnuts at a shop by the harbour"
NAMED = f"Caroline: {TURN}"


class MiniLm(WordEmbedder):
    """Stands in for the model. ``heard``: every text that it was given; it fails on ``choking``."""

    heard: list[str] = []
    choking = ""

    def __init__(self) -> None:
        super().__init__({"store": {"shop": 1.0}})
        # The same direction for a word in every process and run.
        self.known = {
            chr(97 + one) + chr(97 + other): 26 * one + other for one in range(26) for other in range(26)
        }

    def _direction(self, word: str) -> np.ndarray[Any, np.dtype[np.float32]]:
        """The same in every process and run; "store" has that of "shop"."""
        word = {"store": "shop"}.get(word, word)
        return np.random.default_rng(list(word.encode())).standard_normal(self.dims).astype(np.float32)

    def embed_words(self, texts: Sequence[str]) -> tuple[np.ndarray[Any, np.dtype[np.float32]], list[bytes]]:
        if self.choking and any(self.choking in text for text in texts):
            raise DegradedError("It choked.", "Try again.")
        self.heard.extend(texts)
        return super().embed_words(texts)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(reembedding, "BATCH", 2)
    monkeypatch.setattr(minilm, "MiniLmEmbedder", MiniLm)
    monkeypatch.setattr(MiniLm, "heard", [])
    place = tmp_path / "memory.db"
    with Memory.open(place, options=Options(background=False)) as memory:
        for text in ("Ada keeps bees", "Cole sings in a choir", "The ferry leaves at nine"):
            memory.remember(text)
        memory.record_turn("talk", "Caroline", TURN)
        memory.models.index_pending()
    yield place


def opened(place: Path, kind: Any = "minilm", profile: str = "default") -> Memory:
    return Memory.open(place, options=Options(background=False, embedder=kind, profile=profile))


def rows(memory: Memory, sql: str = "SELECT count(*) FROM word_vectors") -> list[Any]:
    with memory._core.connections.read() as connection:
        return connection.execute(sql).fetchall()


def execute(memory: Memory, *statements: str) -> None:
    with memory._core.connections.write() as connection:
        for statement in statements:
            connection.execute(statement)


def vector_notes(result: SearchResult) -> list[str]:
    return [note for note in result.notes if "vector" in note]


def test_a_memory_goes_over_to_them_and_back(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(place) as memory:
        assert memory.stats().vectors_wanted == "fake-words"
        assert not vector_notes(memory.search("store", profile="late")), "the packaged vectors are looked up"
        monkeypatch.setattr(MiniLm, "choking", "Caroline")
        with pytest.raises(DegradedError):
            memory.models.reembedding.run()
        assert rows(memory)[0][0] == 2  # what was done is kept
        monkeypatch.setattr(MiniLm, "choking", "")
        MiniLm.heard.clear()
        done = memory.models.reembedding.run()
        assert (done.switched, done.words) == (True, True) and '"late"' in reembed_result(done, "fake-words")
        assert MiniLm.heard == ["The ferry leaves at nine", NAMED]
        assert rows(memory)[0][0] == 4
        assert memory.files.check(deep=True).findings == ()
        result = memory.search("a store", profile="late")
        assert not vector_notes(result)
        assert (result.hits[0].memory.content, result.hits[0].retrievers["word_vector"].matched) == (
            TURN,
            ("store",),
        )
        told = memory.explain("a store", result.hits[0].memory.id, profile="late")
        assert told.retrievers["word_vector"] == result.hits[0].retrievers["word_vector"]
    with opened(place, "offline") as memory:
        assert memory.models.reembedding.run().switched
        assert rows(memory)[0][0] == 0
        assert memory.files.check(deep=True).findings == ()


def test_the_ranking_that_needs_them_is_offered_and_gives_way_when_they_go(place: Path) -> None:
    def ranking(memory: Memory) -> str:
        return dict(plan_rows(memory.models.reembedding.plan(), 0.0)).get("ranking", "")

    with opened(place) as memory:
        assert (memory.stats().better_ranking, "possible" in ranking(memory)) == ("", True)
        memory.models.reembedding.run()
        assert (memory.stats().better_ranking, ranking(memory)) == ("late", "")
    with opened(place, profile="rrf") as memory:
        assert memory.stats().better_ranking == "", "somebody chose that"
    with opened(place, profile="late") as memory:
        found, stats = memory.search("a store"), memory.stats()
        assert (found.profile.name, vector_notes(found), stats.better_ranking, stats.ranking_note) == (
            "late",
            [],
            "",
            "",
        )
    with opened(place, "offline", "late") as memory:
        assert "cannot work" in ranking(memory)
        memory.models.reembedding.run()
        found, stats = memory.search("a store"), memory.stats()
        assert (found.profile.name, vector_notes(found)) == ("default", [stats.ranking_note])
        assert stats.ranking_note.startswith('The ranking "late" needs vectors of words')
        assert memory.context("a store").result.profile.name == "default"


def test_a_text_that_changes_or_comes_has_its_own(place: Path) -> None:
    with opened(place) as memory:
        memory.models.reembedding.run()
        [bees] = [hit.memory for hit in memory.search("bees").hits[:1]]
        execute(memory, f"UPDATE memories SET content = 'Ada keeps goats and hens' WHERE rid = {bees.rid}")
        assert rows(memory)[0][0] == 3  # those of the old text go at once
        memory.record_turn("talk", "Mel", "Which shop?")
        MiniLm.heard.clear()
        memory.models.index_pending()
        assert sorted(MiniLm.heard) == ["Ada keeps goats and hens", "Mel: Which shop?"]
        [(length,)] = rows(memory, f"SELECT length(vectors) FROM word_vectors WHERE rid = {bees.rid}")
        assert length == 4 * 64
        assert rows(memory)[0][0] == 5


def test_a_program_that_leaves_foreign_keys_off_leaves_none_behind(place: Path) -> None:
    with opened(place) as memory:
        memory.models.reembedding.run()
    with closing(apsw.Connection(str(place))) as other:
        other.execute("DELETE FROM memories WHERE rid = 2; UPDATE memories SET content = 'Ada' WHERE rid = 1")
        assert other.execute("SELECT rid FROM word_vectors ORDER BY 1").fetchall() == [(3,), (4,)]


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM word_vectors WHERE rid = 1",
        "UPDATE word_vectors SET vectors = x'0102' WHERE rid = 1",
        "UPDATE word_vectors SET dims = 32 WHERE rid = 1",
        "DROP TABLE word_vectors",
    ],
)
def test_damage_is_found_and_they_are_made_anew(place: Path, damage: str) -> None:
    with opened(place) as memory:
        memory.models.reembedding.run()
        before = rows(memory, "SELECT * FROM word_vectors ORDER BY rid")
        execute(memory, damage)
        found = memory.files.check()
        assert {"embeddings", "schema"} & {finding.check for finding in found.findings}
        assert all(finding.repairable for finding in found.findings)
        memory.files.check(deep=True, repair=True)
        memory.models.index_pending()
        assert memory.files.check(deep=True).findings == ()
        assert rows(memory, "SELECT * FROM word_vectors ORDER BY rid") == before


def test_erasing_a_memory_leaves_none_of_its_bytes(place: Path) -> None:
    with opened(place) as memory:
        memory.models.reembedding.run()
        [bees] = [hit.memory for hit in memory.search("bees").hits[:1]]
        [(words,)] = rows(memory, f"SELECT vectors FROM word_vectors WHERE rid = {bees.rid}")
        assert any(words[:48] in file.read_bytes() for file in place.parent.glob("memory.db*"))
        proof = memory.files.erase(memory.files.plan_erase([bees.id]))
        assert (proof.complete, proof.found, proof.problems) == (True, 0, ())
    files = [file for file in place.parent.rglob("*") if file.is_file()]
    assert files and not any(words[:48] in file.read_bytes() for file in files)
