"""The offline embedder and the arithmetic on its vectors."""

from __future__ import annotations

import json
import math
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from memtui.engine.errors import DegradedError
from memtui.engine.models import embedders, question_tokenizer, word_vectors
from memtui.engine.models.embedders import MAX_CHARACTERS, OfflineEmbedder
from memtui.engine.models.vectors import normalise_rows, quantise_rows, usable_rows
from memtui.engine.models.word_vectors import WordVectors

if TYPE_CHECKING:
    from memtui.engine.models.vectors import FloatMatrix

TEXTS = [
    "Ada prefers trains over flights for anything under six hours.",
    "The standup moved to half past ten on Tuesdays.",
    "Joanna is allergic to walnuts and peanuts.",
]


@pytest.fixture(scope="module")
def embedder() -> OfflineEmbedder:
    return OfflineEmbedder()


def test_vectors_are_float32_rows_of_unit_length(embedder: OfflineEmbedder) -> None:
    matrix = embedder.embed(TEXTS)
    assert matrix.dtype == np.float32
    assert matrix.shape == (3, embedder.dims)
    assert np.allclose(np.linalg.norm(matrix, axis=1), 1, atol=1e-5)


def test_the_nearest_text_is_the_one_about_the_same(embedder: OfflineEmbedder) -> None:
    matrix = embedder.embed(TEXTS)
    for query, nearest in (("travel by rail", 0), ("when is the meeting", 1), ("nut allergy", 2)):
        assert int(np.argmax(matrix @ embedder.embed_query(query)[0])) == nearest


def test_case_does_not_matter(embedder: OfflineEmbedder) -> None:
    upper, lower = embedder.embed(["BERLIN Berlin", "berlin berlin"])
    assert np.allclose(upper, lower)


def test_a_vector_does_not_depend_on_its_batch(embedder: OfflineEmbedder) -> None:
    many = [f"{text} {number}" for number in range(400) for text in TEXTS]
    matrix = embedder.embed(many)
    assert matrix.shape == (1200, embedder.dims)
    assert np.allclose(matrix[1100], embedder.embed([many[1100]])[0], atol=1e-6)


@pytest.mark.parametrize("text", ["", "   ", "\n", "🎉🎉", "龘"])
def test_what_the_model_does_not_know_is_a_zero_row(embedder: OfflineEmbedder, text: str) -> None:
    matrix = embedder.embed(["Ada", text])
    assert list(usable_rows(matrix)) == [True, False]
    assert not embedder.embed_query(text, lambda word: 1.0).any()


def test_no_texts_make_an_empty_matrix(embedder: OfflineEmbedder) -> None:
    assert embedder.embed([]).shape == (0, embedder.dims)


def test_rare_words_pull_a_query_to_their_side(embedder: OfflineEmbedder) -> None:
    matrix = embedder.embed(TEXTS)
    weights = {"trains": 8.0}
    plain = embedder.embed_query("what is the thing about trains and the walnuts")
    weighted = embedder.embed_query(
        "what is the thing about trains and the walnuts", lambda word: weights.get(word, 0.1)
    )
    assert (matrix @ weighted[0])[0] > (matrix @ plain[0])[0]
    assert int(np.argmax(matrix @ weighted[0])) == 0


def test_a_word_weight_is_asked_for_whole_lower_case_words(embedder: OfflineEmbedder) -> None:
    asked: list[str] = []

    def weight(word: str) -> float:
        asked.append(word)
        return 1.0

    equal = embedder.embed_query("Where does Joanna’s Großmutter live?", weight)
    assert asked == ["where", "does", "joanna", "s", "großmutter", "live"]
    assert equal.shape == (1, embedder.dims)


def test_a_query_without_weight_falls_back_to_the_plain_mean(embedder: OfflineEmbedder) -> None:
    assert np.allclose(embedder.embed_query("the of", lambda word: 0.0), embedder.embed(["the of"]))


def test_a_megabyte_counts_with_its_start(embedder: OfflineEmbedder) -> None:
    text = "train " * 200_000
    assert np.allclose(embedder.embed([text]), embedder.embed([text[:MAX_CHARACTERS]]))


def test_threads_share_one_model() -> None:
    embedder = OfflineEmbedder()
    expected = OfflineEmbedder().embed(TEXTS)
    results: list[bool] = []

    def work() -> None:
        results.extend(np.allclose(embedder.embed(TEXTS), expected) for _ in range(20))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 160


def test_missing_or_foreign_weights_are_named_with_the_remedy(tmp_path: Path) -> None:
    missing = OfflineEmbedder(tmp_path)
    assert "l2_supercat_256" in (missing.available() or "")
    with pytest.raises(DegradedError) as caught:
        missing.embed(TEXTS)
    assert "pip install" in caught.value.hint

    for folder in ("weights", "tokenizers"):
        (tmp_path / folder).mkdir()
    (tmp_path / "tokenizers" / "l2_supercat_tokenizer_config.json").write_text("{}")
    header = json.dumps(
        {"embedding.weight": {"dtype": "F32", "shape": [2, 4], "data_offsets": [0, 32]}}
    ).encode()
    for content in (b"", b"\xff" * 64, struct.pack("<Q", len(header)) + header + bytes(32)):
        (tmp_path / "weights" / "l2_supercat_256.safetensors").write_bytes(content)
        with pytest.raises(DegradedError):
            OfflineEmbedder(tmp_path).embed(TEXTS)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memtui.engine.models.embedders.find_spec", lambda name: None)
    assert OfflineEmbedder().available() == "The offline embedder is not installed."


def test_importing_the_module_loads_neither_numpy_nor_the_packages() -> None:
    code = """
import sys, memtui.engine.models.embedders as e
assert not {"numpy", "tokenizers", "wordllama"} & set(sys.modules)
assert e.OfflineEmbedder().available() is None
assert not {"numpy", "tokenizers", "wordllama"} & set(sys.modules)
e.OfflineEmbedder().embed(["x"])
import os
assert "wordllama" not in sys.modules and os.environ["OMP_NUM_THREADS"] == "1"
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.fixture(scope="module")
def tokens_of(embedder: OfflineEmbedder) -> Callable[[str], tuple[list[int], list[int]]]:
    tokenizer = embedder._load_model().tokenizer

    def split(text: str) -> tuple[list[int], list[int]]:
        encoded = tokenizer.encode(text, add_special_tokens=False)
        return list(encoded.ids), [end for _, end in encoded.offsets]

    return split


@pytest.fixture(scope="module")
def vocabulary(embedder: OfflineEmbedder) -> dict[str, int]:
    found = question_tokenizer.load_vocabulary(embedder._model_files()[1])
    assert found is not None, "the packaged tokenizer has changed: compare it with question_tokenizer anew"
    return found


TOKENS = (
    "in", "the", "er", "on", "train", "flug", "schön", "walnut", "naïve", "ing", "tion", "ss", "s", "a", "aa", "ab", "ba",
    "7", "'", ".", "?",
)  # fmt: skip
words_of_tokens = st.lists(st.sampled_from(TOKENS))
letters_and_blanks = st.text(st.sampled_from("aabbcdeeinorst äöéßжα中0129.,?'-–  <▁"), max_size=70)


@given(
    st.lists(words_of_tokens.map("".join), max_size=6).map(" ".join)
    | letters_and_blanks
    | st.text(max_size=20)
)
def test_a_question_has_the_tokens_that_the_tokenizer_gives(
    vocabulary: dict[str, int], tokens_of: Callable[[str], tuple[list[int], list[int]]], text: str
) -> None:
    lowered = text.strip().lower()
    found = question_tokenizer.split_question(vocabulary, lowered)
    if found is not None:
        assert (found.ids, found.end_offsets) == tokens_of(lowered)


@given(st.lists(words_of_tokens.map("".join) | st.from_regex(r"\w{1,9}", fullmatch=True), max_size=20))
def test_words_have_the_tokens_that_the_tokenizer_gives_each(
    vocabulary: dict[str, int], tokens_of: Callable[[str], tuple[list[int], list[int]]], words: list[str]
) -> None:
    words = [word for word in map(str.lower, words) if word.strip()]
    found = question_tokenizer.split_words(vocabulary, words)
    if found is not None:
        assert found == [tokens_of(word)[0] for word in words]
    assert (
        question_tokenizer.split_words(vocabulary, [*words, "trains", "rails"]) is not None or found is None
    )


def test_everyday_questions_need_no_tokenizer_and_odd_ones_do(vocabulary: dict[str, int]) -> None:
    for text in ("where does joanna’s großmutter live?", "when is the flight to são paulo", "a"):
        assert question_tokenizer.split_question(vocabulary, text) is not None
    for text in ("what is </s> for", "two  blanks", "🎉", "a" * 61, "▁a"):
        assert question_tokenizer.split_question(vocabulary, text) is None


def test_a_word_that_is_a_token_is_joined_to_it(vocabulary: dict[str, int]) -> None:
    tokens = [
        one for one in vocabulary if one[0] == "▁" and "▁" not in one[1:] and vocabulary.keys() >= set(one)
    ]
    assert len(tokens) > 10_000
    assert [one for one in tokens if question_tokenizer.join_tokens(vocabulary, list(one)) != [one]] == []


def test_another_tokenizer_has_no_known_vocabulary(tmp_path: Path) -> None:
    other = tmp_path / "tokenizer.json"
    other.write_text('{"model": {"vocab": {"a": 1}, "merges": []}}')
    assert question_tokenizer.load_vocabulary(other) is None


@pytest.mark.parametrize(
    "text",
    ["travel by rail", "Where does Joanna’s Großmutter live?", "🎉 walnuts", "the of", "word " * 90, "", "?"],
)
def test_a_quantised_question_is_the_question_as_a_blob_holds_it(text: str) -> None:
    def weight(word: str) -> float:
        return 0.0 if word in ("the", "of") else 1.0 + len(word)

    expected = quantise_rows(OfflineEmbedder().embed_query(text, weight))[0]
    found = np.frombuffer(OfflineEmbedder().quantised_query(text, weight), np.int8)
    assert (
        np.abs(found.astype(int) - expected).max() <= 1
    )  # one is rounded from a float32, one from a float64
    assert found.any() == expected.any()


@pytest.fixture
def forgetful() -> Iterator[None]:
    """What other tests have looked up is forgotten."""
    embedders._read_question_vectors.cache_clear()
    yield
    embedders._read_question_vectors.cache_clear()


def test_words_have_the_same_vectors_with_and_without_the_tokenizer(forgetful: None) -> None:
    words = ["train", "rails", "großmutter", "turku", "karhunen", "7"]
    without = OfflineEmbedder()
    rows = without.word_vectors(words)
    assert without._model is None and rows.shape == (len(words), OfflineEmbedder.dims)
    embedders._read_question_vectors.cache_clear()
    loaded = OfflineEmbedder()
    loaded._load_model()
    assert (rows == loaded.word_vectors(words)).all()
    for word, row in zip(words, rows, strict=True):
        assert (normalise_rows(row.astype(np.float32)[None]) @ loaded.embed([word]).T)[0, 0] > 0.999
    assert (without.word_vectors(["train"]) == rows[:1]).all() and without._model is None
    assert (loaded.word_vectors(["吃饭", "train"])[1] == rows[0]).all()
    without.word_vectors(["吃饭"])
    assert without._model is not None, "an odd word takes the tokenizer"


def test_the_words_that_are_asked_for_again_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_vectors, "MOST_KEPT", 4)
    monkeypatch.setattr(word_vectors, "_AT_ONCE", 3)
    made: list[str] = []

    def numbers(words: Sequence[str]) -> FloatMatrix:
        made.extend(words)
        return np.array([[1.0, 1 + int(word.removeprefix("word") or 0)] for word in words], np.float32)

    kept = WordVectors(2)
    for number in range(40):
        units = kept.units(["word", f"word{number}", "word"], numbers)
        assert (units[0] == units[2]).all() and units[1] == pytest.approx(
            normalise_rows(numbers([f"word{number}"]))[0]
        )
        made.remove(f"word{number}")
        assert len(kept) <= 4 + 2
    assert made.count("word") == 1
    kept.units(["word0"], numbers)
    assert made.count("word0") == 2, "it was long not asked for"
    many = [f"word{number}" for number in range(30)]
    assert (kept.quantised(many, numbers) == quantise_rows(numbers(many))).all(), (
        "more than there was room for"
    )


def test_words_are_looked_up_by_several_threads() -> None:
    words = [f"word{number}" for number in range(2_000)]

    def numbers(asked: Sequence[str]) -> FloatMatrix:
        return np.array([[1.0, int(word[4:])] for word in asked], np.float32)

    kept, expected = WordVectors(2), normalise_rows(numbers(words))
    wrong: list[int] = []

    def look(start: int) -> None:
        for at in range(start, start + 1_000, 50):
            if (kept.units(words[at : at + 100], numbers) != expected[at : at + 100]).any():
                wrong.append(at)

    threads = [threading.Thread(target=look, args=(start,)) for start in (0, 300, 600, 900)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


ODD_WORDS = [
    "großmutter",
    "吃饭",
    "naïve",
    "🎉",
    "x" * 70,
    "a▁b",
    "ﬁ",
    "नमस्ते",
    "1984",
    "é",
    "trains",
    "İ",
    "a b",
]


def test_words_alone_have_the_vectors_of_texts_of_one_word(embedder: OfflineEmbedder) -> None:
    """To the last bit: a search compares them by the same numbers whichever way they were made."""
    words = [*ODD_WORDS, *(f"wor{number}thy" for number in range(200))]
    words = [word.lower() for word in words]
    assert (embedder.word_units(words) == embedder.embed(words)).all()
    for word in words[:20]:
        assert (embedder.word_units([word]) == embedder.embed([word])).all()


@given(
    st.lists(st.one_of(st.sampled_from(ODD_WORDS), st.from_regex(r"\w{1,12}", fullmatch=True)), max_size=60)
)
def test_words_are_split_together_as_each_alone(embedder: OfflineEmbedder, words: list[str]) -> None:
    tokenizer = embedder._load_model().tokenizer
    alone = [tokenizer.encode(word, add_special_tokens=False).ids for word in words]
    assert [list(ids) for ids in embedder._split_words(words)] == alone
    together = embedder._split_together(words)
    assert together in ([], alone)


def test_a_word_is_looked_up_once_for_all_embedders(forgetful: None, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = OfflineEmbedder(), OfflineEmbedder()
    expected = one.word_units(["walnutty", "trainish"])
    asked: list[str] = []
    split = other._split_words

    def noting(new: Sequence[str]) -> list[list[int]]:
        asked.extend(new)
        return split(new)

    monkeypatch.setattr(other, "_split_words", noting)
    found = other.word_units(["trainish", "harbourly", "walnutty"])
    assert asked == ["harbourly"]
    assert (found[[2, 0]] == expected).all()


def test_ordinary_words_are_split_together(embedder: OfflineEmbedder) -> None:
    embedder._load_model()
    assert (
        len(embedder._split_together(["train", "großmutter", *(f"wor{one}thy" for one in range(99))])) == 101
    )


def test_a_text_has_the_same_vector_whatever_is_beside_it(embedder: OfflineEmbedder) -> None:
    texts = ["", "walnuts", "a train to Turku", "word " * 90, "walnuts and more " * 4, "?"]
    together = embedder.embed(texts)
    for row, text in zip(together, texts, strict=True):
        assert (embedder.embed([text])[0] == row).all()


@given(st.lists(st.tuples(st.integers(0, 31_999), st.floats(0, 20)), min_size=1, max_size=40))
def test_tokens_are_added_up_alike_with_numpy_and_without(
    embedder: OfflineEmbedder, found: list[tuple[int, float]]
) -> None:
    table = embedder._load_question_vectors()
    tokens, weights = zip(*found, strict=True)
    quick = table.weighted_sum(tokens, weights)
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(sys.modules, "numpy")
        plain = table.weighted_sum(tokens, weights)
    assert plain == pytest.approx(quick, abs=1e-9)


def test_a_first_short_question_loads_no_tokenizer_and_numpy_only_to_compare_words(tmp_path: Path) -> None:
    code = f"""
import sys
from memtui import Memory
from memtui.engine.records import Options
with Memory.open({str(tmp_path / "memory.db")!r}, options=Options(background=False)) as memory:
    memory.remember("Ada takes the train to Turku")
    memory.jobs.run_now("embedding")
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    code = f"""
import sys
from memtui import Memory
from memtui.engine.records import Profile
with Memory.open({str(tmp_path / "memory.db")!r}, readonly=True) as memory:
    result = memory.search("who travels by rail?", profile=Profile())
    assert [hit.memory.content for hit in result.hits] == ["Ada takes the train to Turku"], result
    assert "vector" in result.hits[0].retrievers
    assert not {{"numpy", "tokenizers"}} & set(sys.modules)
    assert "word_vector" in memory.search("who travels by rail?").hits[0].retrievers
assert "tokenizers" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


vectors = arrays(np.float32, st.tuples(st.integers(0, 5), st.just(16)), elements=st.floats(-4, 4, width=32))


@given(vectors)
def test_quantising_keeps_the_direction(matrix: np.ndarray) -> None:
    back = normalise_rows(quantise_rows(matrix).astype(np.float32))
    for row, again in zip(matrix, back, strict=True):
        length = math.sqrt(float((row.astype(np.float64) ** 2).sum()))
        if length > 1e-20:
            assert float(again @ (row / length)) > 0.999
        else:
            assert np.isfinite(again).all()


def test_quantised_rows_fill_the_range_and_refuse_nan() -> None:
    rows = quantise_rows(np.array([[0.5, -0.25], [0, 0]], np.float32))
    assert rows.tolist() == [[127, -64], [0, 0]]
    assert rows[0].tobytes() == bytes([127, 192])
    for bad in (math.nan, math.inf):
        with pytest.raises(ValueError, match="NaN"):
            quantise_rows(np.array([[bad, 1]], np.float32))


def test_usable_rows_are_finite_and_not_zero() -> None:
    matrix = np.array([[1, 0], [0, 0], [math.nan, 1], [math.inf, 1]], np.float32)
    assert list(usable_rows(matrix)) == [True, False, False, False]
    assert not normalise_rows(matrix[1:2]).any()
