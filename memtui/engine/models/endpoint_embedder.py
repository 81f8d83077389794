"""Embeddings from an OpenAI-compatible endpoint. Every number of a reply is checked.

An endpoint may ignore the dimensions that it was asked for, answer for fewer texts than it was sent, in another
order, or with numbers that are none: all that is a DegradedError that says what to do. A question has a short
deadline, since the other retrievers can answer it, and after a failure questions are not sent again for a while.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from memtui.engine.errors import DegradedError
from memtui.engine.guards.secrets import find_secrets
from memtui.engine.records import EmbeddingOptions

from .embedders import WordWeight
from .endpoint import (
    RefusedError,
    TooLongError,
    check_address,
    check_endpoint,
    client_for,
    explain_error,
    http_status,
    preload_module,
    refusal_mentions,
)
from .vectors import cap_threads, normalise_rows

if TYPE_CHECKING:
    from .vectors import FloatMatrix

QUERY_SECONDS = 2.0
PAUSE_SECONDS = 30.0
# Ten times what is asked for: one that ignores the dimensions gets an error that says so, not that it sent too much.
LARGEST_REPLY = 16 << 20
_TEXTS_AT_ONCE = 64
_BYTES_AT_ONCE = 200_000
# A token has at least one byte, and models read some 8,000; others read 512 or less.
_LONGEST = (8_000, 2_000, 500)
_KEPT_QUERIES = 64
_HARMLESS = "The ferry leaves at nine."
_OTHER_MODEL = "Choose another model or endpoint (embedder.model, embedder.base_url)."
_REFUSED = "Does embedder.model make vectors, of embedder.dimensions? " + _OTHER_MODEL


class EndpointEmbedder:
    """Safe to share between threads. ``model_id`` names model and host: the same name elsewhere may be another model.

    Raises InputError for an unusable address when it is made, DegradedError for all else when it is used.
    """

    def __init__(self, options: EmbeddingOptions) -> None:
        self._options = options
        self.model_id = f"{options.model}@{check_address(options)}"
        self.dims = options.dimensions
        self.sends_to = options.base_url
        self._lock = threading.Lock()
        self._calls: set[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = set()
        self._closed = False
        self._queries: OrderedDict[str, FloatMatrix] = OrderedDict()
        self._failed = ""
        self._pause_until = 0.0

    def available(self) -> str | None:
        """None, or why it cannot work; without asking it."""
        try:
            check_endpoint(self._options)
        except DegradedError as error:
            return error.message
        return None

    def embed(self, texts: Sequence[str]) -> FloatMatrix:
        """Texts as float32 rows of unit length; a zero row for a blank one, which is not sent, and one that is refused."""
        cap_threads()
        import numpy as np

        rows = np.zeros((len(texts), self.dims), np.float32)
        for batch in _split_into_batches(texts):
            self._fill_rows(rows, texts, batch)
        return rows

    def _fill_rows(self, rows: FloatMatrix, texts: Sequence[str], batch: list[int]) -> None:
        """One text that the endpoint refuses does not hold up the others, as long as it takes any at all."""
        try:
            rows[batch] = self._embed_texts([texts[index] for index in batch], self._options.timeout)
        except (RefusedError, TooLongError):
            if len(batch) == 1:
                self._embed_texts([_HARMLESS], self._options.timeout)
                return
            middle = len(batch) // 2
            for half in (batch[:middle], batch[middle:]):
                self._fill_rows(rows, texts, half)

    def embed_query(self, text: str, weight: WordWeight | None = None) -> FloatMatrix:
        """A question as one row; ``weight`` is not used. Raises DegradedError within two seconds or so."""
        with self._lock:
            if text in self._queries:
                self._queries.move_to_end(text)
                return self._queries[text]
            if time.monotonic() < self._pause_until:
                raise DegradedError(self._failed, "It is asked again half a minute later.")
        if find_secrets(text):
            raise DegradedError(
                "the question holds what looks like a secret, which is not sent", "Leave it out."
            )
        if not text.strip():
            return self.embed([text])
        try:
            row = self._embed_texts([text], QUERY_SECONDS)
        except DegradedError as error:
            with self._lock:
                self._failed, self._pause_until = error.message, time.monotonic() + PAUSE_SECONDS
            raise
        with self._lock:
            self._queries[text] = row
            while len(self._queries) > _KEPT_QUERIES:
                self._queries.popitem(last=False)
        return row

    def at_hand(self, text: str) -> bool:
        """Whether the vector of a question, or the reason that there is none, is known without waiting."""
        with self._lock:
            return text in self._queries or not text.strip() or time.monotonic() < self._pause_until

    def interrupt(self) -> None:
        """End what waits for the endpoint, with DegradedError there; from any thread."""
        with self._lock:
            for loop, task in self._calls:
                loop.call_soon_threadsafe(task.cancel)

    def close(self) -> None:
        """Interrupt, and ask nothing any more."""
        self._closed = True
        self.interrupt()

    def _embed_texts(self, texts: list[str], seconds: float) -> FloatMatrix:
        """A text that is too long for the model is judged by its start."""
        key = check_endpoint(self._options)
        preload_module("openai.resources.embeddings")
        for most in _LONGEST:
            try:
                return _run_coroutine(
                    self._call_endpoint(key, [_cut_to_bytes(text, most) for text in texts], seconds)
                )
            except TooLongError:
                if most == _LONGEST[-1]:
                    raise
        raise AssertionError

    async def _call_endpoint(self, key: str, texts: list[str], seconds: float) -> FloatMatrix:
        call = (asyncio.get_running_loop(), asyncio.current_task())
        assert call[1] is not None
        with self._lock:
            if self._closed:
                raise DegradedError("The memory was closed.", "Open it again.")
            self._calls.add((call[0], call[1]))
        try:
            async with asyncio.timeout(seconds):
                answer = await self._request_vectors(key, texts, seconds)
        except TimeoutError as error:
            raise DegradedError(
                f"{self.model_id} did not answer within {seconds:g} seconds.",
                "Try again, or choose another model.",
            ) from error
        except asyncio.CancelledError as error:
            raise DegradedError(f"The request to {self.model_id} was cancelled.", "Try again.") from error
        except DegradedError:
            raise
        except Exception as error:  # by behaviour: some faults raise what is no OpenAIError
            raise explain_error(error, self._options, _REFUSED, LARGEST_REPLY) from error
        finally:
            with self._lock:
                self._calls.discard((call[0], call[1]))
        return self._vectors_of_reply(answer, len(texts))

    async def _request_vectors(self, key: str, texts: list[str], seconds: float) -> object:
        options = self._options
        async with client_for(options, key, seconds, LARGEST_REPLY) as client:
            try:
                return await client.embeddings.create(
                    model=options.model, input=texts, dimensions=options.dimensions, encoding_format="float"
                )
            except Exception as error:
                if http_status(error) not in (400, 422) or not refusal_mentions(error, "dimension"):
                    raise
            # Some refuse to be asked for dimensions, even for those that they make anyway.
            return await client.embeddings.create(model=options.model, input=texts, encoding_format="float")

    def _vectors_of_reply(self, answer: object, wanted: int) -> FloatMatrix:
        """The vectors of a reply in the order of the texts. Raises DegradedError unless it is whole."""
        import numpy as np

        data = getattr(answer, "data", None)
        if not isinstance(data, list):
            raise DegradedError(
                f"{self.model_id}: the reply holds no vectors.",
                "Check embedder.base_url (it usually ends in /v1).",
            )
        by_index = {getattr(one, "index", None): getattr(one, "embedding", None) for one in data}
        if len(data) != wanted or set(by_index) != set(range(wanted)):
            raise DegradedError(
                f"{self.model_id}: the reply does not hold one vector for each text.", _OTHER_MODEL
            )
        rows = np.zeros((wanted, self.dims), np.float64)
        for index in range(wanted):
            numbers = by_index[index]
            if not isinstance(numbers, list) or not all(type(one) in (float, int) for one in numbers):
                raise DegradedError(f"{self.model_id}: the reply contains no usable vectors.", _OTHER_MODEL)
            if len(numbers) != self.dims:
                raise DegradedError(
                    f"{self.model_id} makes {len(numbers):,} dimensions, not the {self.dims:,} it was asked for.",
                    f"Set embedder.dimensions to {len(numbers)}, or choose another model.",
                )
            rows[index] = numbers
        largest = np.abs(rows).max(axis=1, keepdims=True)
        if not np.isfinite(largest).all() or not largest.all():
            raise DegradedError(
                f"{self.model_id}: a vector of the reply is empty or has no numbers.", _OTHER_MODEL
            )
        return normalise_rows((rows / largest).astype(np.float32))


def _cut_to_bytes(text: str, most: int) -> str:
    """The start of it, at most so many bytes."""
    return text.encode("utf-8", "replace")[:most].decode("utf-8", "ignore")


def _split_into_batches(texts: Sequence[str]) -> Iterator[list[int]]:
    """Places of texts that go together, those that say something."""
    batch: list[int] = []
    size = 0
    for index, text in enumerate(texts):
        if not text[: _LONGEST[0]].strip():
            continue
        one = min(len(text.encode("utf-8", "replace")), _LONGEST[0])
        if batch and (len(batch) == _TEXTS_AT_ONCE or size + one > _BYTES_AT_ONCE):
            yield batch
            batch, size = [], 0
        batch.append(index)
        size += one
    if batch:
        yield batch


def _run_coroutine(call: Coroutine[Any, Any, FloatMatrix]) -> FloatMatrix:
    """To its end in this thread, or in another one where a loop runs in this one already."""
    if not _loop_runs():
        return asyncio.run(call)
    with ThreadPoolExecutor(1, "memtui-embedding") as pool:
        return pool.submit(asyncio.run, call).result()


def _loop_runs() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
