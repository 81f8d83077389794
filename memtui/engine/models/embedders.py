"""The protocol of embedders, and the packaged offline one: static word vectors.

The packaged weights (wordllama, 32,000 tokens of 256 dimensions, 16 MB) are mapped, not read, and
without importing their package. A text's vector is the plain mean of its tokens; a query's is weighted
by how rare each word is in the memory, which is worth more than a better model. The weights are
English and know no word order: good beside keyword search, no judge of "likes" against "never likes".
"""

from __future__ import annotations

import mmap
import re
import struct
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from importlib.util import find_spec
from itertools import pairwise
from operator import mul
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

import msgspec

from memtui.engine.installation import command_for_dependency

from ..errors import DegradedError
from . import question_tokenizer
from .vectors import cap_threads, normalise_rows, quantise_numbers, quantise_rows
from .word_vectors import WordVectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .vectors import FloatMatrix


from typing import TYPE_CHECKING, runtime_checkable

if TYPE_CHECKING:
    from .vectors import ByteMatrix, FloatMatrix


Loaded = TypeVar("Loaded")
Read = TypeVar("Read")
WordWeight = Callable[[str], float]
"""The weight, at least 0, of a lower-case word of a query: its inverse document frequency."""

# Longer texts are judged by their start; a vector of more words says less.
MAX_CHARACTERS = 20_000
_TOKENS_AT_ONCE = 16_384
_TEXTS_AT_ONCE = 512
# For so many the sum is made in less time than numpy takes to be imported.
_TOKENS_WITHOUT_NUMPY = 1_000
_WORDS_OF_A_SEARCH = 2_500
# Texts of so few tokens are added up many at a time.
_TOKENS_OF_SHORT = 16
_WORDS_TOGETHER = 25
# Below: special tokens, and bytes of letters that the vocabulary lacks. They say nothing, nor does a blank.
_FIRST_WORD_TOKEN = 259
_BLANK_TOKEN = 29871

_word = re.compile(r"\w+")


class Embedder(Protocol):
    """What makes vectors; ``model_id`` and ``dims`` are stored beside them and never mixed."""

    @property
    def model_id(self) -> str: ...

    @property
    def dims(self) -> int: ...

    @property
    def sends_to(self) -> str:
        """The address that texts are sent to; empty where they stay on this machine."""

    def available(self) -> str | None:
        """None, or why it cannot work; without loading or sending anything."""

    def embed(self, texts: Sequence[str]) -> FloatMatrix:
        """Documents as float32 rows (n, dims) of unit length, a zero row where the model has no vector.

        ``vectors.usable_rows`` tells which rows may be stored. Raises DegradedError where the model is missing.
        """

    def embed_query(self, text: str, weight: WordWeight | None = None) -> FloatMatrix:
        """A question as one row (1, dims); ``weight`` may be ignored."""

    def at_hand(self, text: str) -> bool:
        """Whether ``embed_query`` answers without waiting for a network."""

    def interrupt(self) -> None:
        """From another thread: end a call that waits for a network, with DegradedError there."""


class LocalEmbedder(ABC, Generic[Loaded]):
    """What models of this machine share: files of packages, loaded at first use; safe to share between threads.

    ``name`` is for the message where it cannot be had.
    """

    name: ClassVar[str]
    sends_to = ""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._model: Loaded | None = None

    def available(self) -> str | None:
        """None, or why it cannot work; without loading anything."""
        try:
            self._model_files()
        except DegradedError as error:
            return error.message
        return None

    def at_hand(self, text: str) -> bool:
        """Always."""
        return True

    def interrupt(self) -> None:
        """Nothing here waits."""

    def load(self) -> None:
        """Read all of its files now, so that no later call waits for them. Raises DegradedError where they are damaged."""
        self._load_model()

    @abstractmethod
    def installation_hint(self) -> str:
        """What to do where it cannot be had."""

    @abstractmethod
    def _model_files(self) -> tuple[Path, Path]:
        """Weights and tokenizer. Raises DegradedError where they are missing."""

    @abstractmethod
    def _build_model(self, weights: Path, tokenizer: Path) -> Loaded:
        """The model; called once."""

    def _load_model(self) -> Loaded:
        with self._lock:
            if self._model is None:
                self._model = self._load_files(self._build_model)
            return self._model

    def _load_files(self, build: Callable[[Path, Path], Read]) -> Read:
        """What ``build`` makes of weights and tokenizer. Raises DegradedError where they are missing or damaged."""
        files = self._model_files()
        cap_threads()
        try:
            return build(*files)
        except Exception as error:  # tokenizers raises the bare Exception, onnxruntime many of its own
            raise DegradedError(f"{self.name} cannot be loaded: {error}", self.installation_hint()) from error

    def _are_installed(self, *files: Path) -> None:
        for file in files:
            if not file.is_file():
                raise DegradedError(f"{self.name} lacks {file}.", self.installation_hint())


class _EmbeddingTable(NamedTuple):
    table: NDArray[np.float16]
    tokenizer: Any


class _QuestionVectors:
    """Of the same files what the vector of a short question needs, read in a tenth of the time.

    ``words``: the vectors of words that were looked up.
    """

    def __init__(self, weights: Path, tokenizer: Path) -> None:
        self.words = WordVectors(OfflineEmbedder.dims)
        self.vocabulary = question_tokenizer.load_vocabulary(tokenizer)
        self._start, self._rows = _table_place(weights, OfflineEmbedder.dims)
        with weights.open("rb") as stream:
            self._bytes = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        self._row = struct.Struct(f"<{OfflineEmbedder.dims}e")

    @cached_property
    def word_beginnings(self) -> frozenset[int]:
        """The tokens with which a word begins; made when it is needed, as it takes 3 ms."""
        return question_tokenizer.word_beginnings(self.vocabulary or {})

    def rows(self) -> NDArray[np.float16]:
        """All of them."""
        import numpy as np

        count = self._rows * OfflineEmbedder.dims
        return np.frombuffer(self._bytes, "<f2", count, self._start).reshape(self._rows, -1)

    def weighted_sum(self, tokens: Sequence[int], weights: Sequence[float]) -> list[float]:
        """With numpy for many tokens, or where it is loaded; the sums are those of float64 either way."""
        if len(tokens) > _TOKENS_WITHOUT_NUMPY or "numpy" in sys.modules:
            import numpy as np

            total: list[float] = (np.array(weights) @ self.rows()[list(tokens)].astype(np.float64)).tolist()
            return total
        rows = [self._row.unpack_from(self._bytes, self._start + token * self._row.size) for token in tokens]
        return [sum(map(mul, column, weights)) for column in zip(*rows, strict=True)]


class OfflineEmbedder(LocalEmbedder[_EmbeddingTable]):
    """The packaged weights; loaded in 0.1 s. ``folder`` is that of the wordllama package; None finds it."""

    model_id = "wordllama-l2-supercat-256"
    dims = 256
    name = "The offline embedder"

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__()
        self._folder = folder
        self._questions: _QuestionVectors | None = None

    def installation_hint(self) -> str:
        return f"Install the packaged weights: {command_for_dependency('wordllama', 'tokenizers')}"

    def word_vectors(self, words: Sequence[str]) -> ByteMatrix:
        """Each word's own vector, the same in every text; those that were asked for last are kept."""
        return self._load_question_vectors().words.quantised(words, self._sum_word_vectors)

    def word_units(self, words: Sequence[str]) -> FloatMatrix:
        """``embed`` for lower-case words, each a text by itself."""
        return self._load_question_vectors().words.units(words, self._sum_word_vectors)

    def embed(self, texts: Sequence[str]) -> FloatMatrix:
        model = self._load_model()
        import numpy as np

        sums = np.zeros((len(texts), self.dims), np.float32)
        at = 0
        for batch in _split_into_batches(texts):
            encoded = model.tokenizer.encode_batch_fast(batch, add_special_tokens=False)
            sums[at : at + len(batch)] = _sum_texts(model.table, [one.ids for one in encoded])
            at += len(batch)
        return normalise_rows(sums)

    def embed_query(self, text: str, weight: WordWeight | None = None) -> FloatMatrix:
        mean = self._weighted_query_mean(text, weight) if weight else None
        if mean is None:
            return self.embed([text])
        import numpy as np

        return normalise_rows(np.array([mean], np.float32))

    def quantised_query(self, text: str, weight: WordWeight) -> bytes:
        """``embed_query`` as a BLOB holds it. For a short question neither numpy nor the tokenizer is loaded."""
        mean = self._weighted_query_mean(text, weight)
        return quantise_rows(self.embed([text]))[0].tobytes() if mean is None else quantise_numbers(mean)

    def _weighted_query_mean(self, text: str, weight: WordWeight) -> list[float] | None:
        """The weighted mean of a question's tokens; None where no word has a weight."""
        lowered = text[:MAX_CHARACTERS].strip().lower()
        ids, end_offsets = self._split_question(lowered)
        words = token_words(lowered, end_offsets)
        weight_of = {word: max(0.0, weight(word)) if word else 0.0 for word in dict.fromkeys(words)}
        weights = [weight_of[word] for word in words]
        if not any(weights):
            return None
        known = [
            share if token >= _FIRST_WORD_TOKEN and token != _BLANK_TOKEN else 0.0
            for token, share in zip(ids, weights, strict=True)
        ]
        return self._load_question_vectors().weighted_sum(ids, known)

    def _split_question(self, lowered: str) -> question_tokenizer.QuestionTokens:
        if self._model is None and (vocabulary := self._load_question_vectors().vocabulary):
            tokens = question_tokenizer.split_question(vocabulary, lowered)
            if tokens is not None:
                return tokens
        encoded = self._load_model().tokenizer.encode(lowered, add_special_tokens=False)
        return question_tokenizer.QuestionTokens(encoded.ids, [end for _, end in encoded.offsets])

    def _load_question_vectors(self) -> _QuestionVectors:
        with self._lock:
            if self._questions is None:
                self._questions = self._load_files(_share_question_vectors)
            return self._questions

    def _sum_word_vectors(self, words: Sequence[str]) -> FloatMatrix:
        """The direction of each word, of any length. For the few of a first search the tokenizer is not loaded."""
        return _sum_texts(self._load_question_vectors().rows(), self._split_words(words))

    def _split_words(self, words: Sequence[str]) -> list[list[int]]:
        """The tokens of each. The tokenizer is quicker, but not for the words of a first search."""
        table = self._load_question_vectors()
        if self._model is None and len(table.words) + len(words) <= _WORDS_OF_A_SEARCH:
            vocabulary = table.vocabulary
            if vocabulary and (split := question_tokenizer.split_words(vocabulary, words)):
                return split
        return self._split_by_tokenizer(words)

    def _split_by_tokenizer(self, words: Sequence[str]) -> list[list[int]]:
        return self._split_together(words) or [
            one.ids for one in self._load_model().tokenizer.encode_batch_fast(words, add_special_tokens=False)
        ]

    def _split_together(self, words: Sequence[str]) -> list[list[int]]:
        """The same, of many words at once in half the time; nothing where it is not plain which token is whose.

        A token that begins with a blank begins a word, and none reaches into the next word.
        """
        begins = self._load_question_vectors().word_beginnings
        texts = [
            " ".join(words[start : start + _WORDS_TOGETHER])
            for start in range(0, len(words), _WORDS_TOGETHER)
        ]
        encoded = self._load_model().tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        ids = [token for one in encoded for token in one.ids]
        starts = [place for place, token in enumerate(ids) if token in begins]
        if len(starts) != len(words) or starts[:1] != [0]:
            return []
        return [ids[start:end] for start, end in pairwise([*starts, len(ids)])]

    def _model_files(self) -> tuple[Path, Path]:
        folder = self._folder
        if folder is None:
            spec = find_spec("wordllama")
            if spec is None or not spec.submodule_search_locations:
                raise DegradedError(f"{self.name} is not installed.", self.installation_hint())
            folder = Path(spec.submodule_search_locations[0])
        weights = folder / "weights" / "l2_supercat_256.safetensors"
        tokenizer = folder / "tokenizers" / "l2_supercat_tokenizer_config.json"
        self._are_installed(weights, tokenizer)
        if find_spec("tokenizers") is None:
            raise DegradedError(f"{self.name} lacks the package tokenizers.", self.installation_hint())
        return weights, tokenizer

    def _build_model(self, weights: Path, tokenizer: Path) -> _EmbeddingTable:
        return _EmbeddingTable(
            _map_table(weights, self.dims), _load_tokenizer(tokenizer, tokenizer.stat().st_mtime_ns)
        )


def _sum_texts(table: NDArray[np.float16], split: Sequence[Sequence[int]]) -> FloatMatrix:
    """The sum of the tokens of each text. The same for a text whatever is beside it."""
    import numpy as np

    sums = np.zeros((len(split), table.shape[1]), np.float32)
    of_size: dict[int, list[int]] = {}
    for row, ids in enumerate(split):
        of_size.setdefault(len(ids), []).append(row)
    for size, rows in of_size.items():
        if 0 < size <= _TOKENS_OF_SHORT:
            sums[rows] = _sum_tokens(table, np.array([split[row] for row in rows], np.intp))
        else:
            for row in rows:
                for start in range(0, size, _TOKENS_AT_ONCE):
                    part = np.asarray(split[row][start : start + _TOKENS_AT_ONCE], np.intp)
                    sums[row] += _sum_tokens(table, part)
    return sums


def _sum_tokens(table: NDArray[np.float16], tokens: NDArray[np.intp]) -> FloatMatrix:
    """(..., n) tokens give (..., dims)."""
    import numpy as np

    known = ((tokens >= _FIRST_WORD_TOKEN) & (tokens != _BLANK_TOKEN)).astype(np.float32)
    return np.asarray((known[..., None, :] @ table[tokens].astype(np.float32))[..., 0, :])


@lru_cache(maxsize=1)
def _load_tokenizer(file: Path, changed: int) -> Any:
    """Read once for all memories that a process opens one after another: it takes 60 ms. ``changed``: when, in ns."""
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(file))


def _share_question_vectors(weights: Path, tokenizer: Path) -> _QuestionVectors:
    return _read_question_vectors(
        weights, tokenizer, weights.stat().st_mtime_ns, tokenizer.stat().st_mtime_ns
    )


@lru_cache(maxsize=1)
def _read_question_vectors(weights: Path, tokenizer: Path, *changed: int) -> _QuestionVectors:
    """Read once for all embedders of a process. ``changed``: when each file was, in ns."""
    return _QuestionVectors(weights, tokenizer)


def _map_table(file: Path, dims: int) -> NDArray[np.float16]:
    """The one half-precision matrix of a safetensors file, mapped; raises ValueError when it is another."""
    import numpy as np

    start, rows = _table_place(file, dims)
    # A plain array over the mapped file: each look into a memmap makes another memmap, which takes longer than the look.
    return np.asarray(np.memmap(file, np.dtype("<f2"), "r", start, (rows, dims)))


def _table_place(file: Path, dims: int) -> tuple[int, int]:
    """Where in the file the matrix begins, and how many rows it has."""
    with file.open("rb") as stream:
        (size,) = struct.unpack("<Q", stream.read(8))
        if size > 1_000_000:
            raise ValueError(f"{file.name} has no safetensors header")
        header = msgspec.json.decode(stream.read(size))
    tensor = header["embedding.weight"]
    rows, width = tensor["shape"]
    if tensor["dtype"] != "F16" or width != dims:
        raise ValueError(f"{file.name} holds {tensor['dtype']} rows of {width}, not F16 rows of {dims}")
    return 8 + size + tensor["data_offsets"][0], rows


def _split_into_batches(texts: Sequence[str]) -> Iterator[list[str]]:
    for start in range(0, len(texts), _TEXTS_AT_ONCE):
        yield [text[:MAX_CHARACTERS].strip().lower() for text in texts[start : start + _TEXTS_AT_ONCE]]


def token_words(text: str, ends: Iterable[int]) -> list[str]:
    """For each token (where in the text it ends) the word that it is part of; empty outside words."""
    by_character = [""] * (len(text) + 1)
    for word in _word.finditer(text):
        by_character[word.start() : word.end()] = [word[0]] * len(word[0])
    # A token may begin with the blank before its word.
    return [by_character[max(end - 1, 0)] for end in ends]


class QuestionWords(NamedTuple):
    """The words of a question that count: int8 ``rows`` (n, word_vector_dims), how much each counts, which word it is part of."""

    rows: ByteMatrix
    weights: tuple[float, ...]
    words: tuple[str, ...]


@runtime_checkable
class StaticEmbedder(Embedder, Protocol):
    """An embedder for which a word has the same vector in every text: nothing of it has to be stored."""

    def word_vectors(self, words: Sequence[str]) -> ByteMatrix:
        """A row (n, dims) for each of these lower-case words."""


@runtime_checkable
class WordEmbedder(Embedder, Protocol):
    """An embedder that makes vectors of words too. It reads a turn with the name of who said it before it."""

    @property
    def word_vector_dims(self) -> int: ...

    def embed_words(self, texts: Sequence[str]) -> tuple[FloatMatrix, list[bytes]]:
        """What ``embed`` gives, and for each text the rows of its words (a whole number of ``word_vector_dims`` bytes)."""

    def question_words(self, text: str, weight: WordWeight) -> QuestionWords:
        """``weight`` is asked for whole lower-case words; where it gives none any, all count alike."""


def word_vector_dims(embedder: Embedder) -> int:
    """How many numbers it gives each word; 0 where it gives words none."""
    return embedder.word_vector_dims if isinstance(embedder, WordEmbedder) else 0


def embed_words(embedder: Embedder, texts: Sequence[str]) -> tuple[FloatMatrix, list[bytes] | None]:
    """The vectors of texts, and of their words where the model makes them."""
    if isinstance(embedder, WordEmbedder):
        return embedder.embed_words(texts)
    return embedder.embed(texts), None
