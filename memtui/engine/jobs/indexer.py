"""Build what is derived from texts: entity links, CJK bigrams, vectors; in batches, the most recent first.

Reading and model work happen outside transactions; each batch is one short write. A batch that finds
its row gone or changed in the meantime leaves it to the queue.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from memtui.engine.clock import Clock
from memtui.engine.errors import DegradedError, MemtuiError
from memtui.engine.memories.index_text import index_memory, pending_texts
from memtui.engine.memories.validation import role_trust
from memtui.engine.models.embedders import Embedder
from memtui.engine.models.vectors import quantise_rows, usable_rows
from memtui.engine.records.embedding import VectorSpace
from memtui.engine.store import entities, full_text, vectors
from memtui.engine.store.connections import Connections
from memtui.engine.store.vectors import WordRows

if TYPE_CHECKING:
    from memtui.engine.models.ner import KnownNames, NameRecogniser, NameSpan

BATCH = 128
# Writers wait that long for the lock; on a busy machine fewer texts are linked meanwhile.
_HOLD_SECONDS = 0.01
QUIET_SECONDS = 0.5
PATIENCE_SECONDS = 5.0
_YIELD_SECONDS = 0.0001
_TOP = 2**62


def _blank_secrets(content: str) -> str:
    """A text with blanks in the place of its secrets: no name is read out of them, and names keep their places."""
    from memtui.engine.guards import secrets  # its patterns take 40 ms

    return secrets.blank_secrets(content)


class Indexer:
    """Works off ``index_queue`` and ``vector_changes``; with ``start`` in a thread of its own.

    ``embedder`` returns the one for the vectors that the file holds, or raises DegradedError; that, and a model
    that fails, is remembered in ``degraded``, and texts go on waiting.
    ``on_done`` is called in the thread when nothing is left to do; a file opened for reading has nothing.
    """

    def __init__(
        self, connections: Connections, clock: Clock, embedder: Callable[[VectorSpace | None], Embedder | None], *,
        recogniser: Callable[[], NameRecogniser] | None = None,
        on_progress: Callable[[], None] = lambda: None, on_done: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        self._connections = connections
        self._clock = clock
        self._embedder = embedder
        self._make_recogniser = recogniser
        self._on_progress = on_progress
        self._on_done = on_done
        self._work = threading.Lock()
        self._woken = threading.Event()
        self._latest = 0.0
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._names = threading.Lock()
        self._known_names: KnownNames | None = None
        self._learned = -1
        self._names_version = 0
        # Who speaks in conversations: names by key, and the roles that were looked at.
        self._speakers: dict[str, str] = {}
        self._seen_roles: set[str] = set()
        self.degraded = ""

    def start_or_wake(self) -> None:
        """Something was written; starts the thread the first time."""
        self._latest = time.monotonic()
        if self._thread is None:
            self._thread = threading.Thread(target=self._work_loop, name="memtui-indexer", daemon=True)
            self._thread.start()
        if not self._woken.is_set():
            self._woken.set()

    def ask_to_stop(self) -> None:
        self._stop.set()
        self._woken.set()

    def stop(self) -> None:
        self.ask_to_stop()
        if self._thread is not None:
            self._thread.join()

    def is_stopping(self) -> bool:
        return self._stop.is_set()

    def _work_loop(self) -> None:
        while not self._stop.is_set():
            self._woken.wait()
            # Wait until writing pauses: then a burst is one batch and the writer keeps its lock. But not for ever.
            patience = time.monotonic() + PATIENCE_SECONDS
            while not self._stop.wait(QUIET_SECONDS / 4):
                now = time.monotonic()
                if now - self._latest >= QUIET_SECONDS or now >= patience:
                    break
            if self._stop.is_set():
                return
            self._woken.clear()
            try:
                if not self._connections.readonly:
                    self.run()
                self._on_done()
            except MemtuiError as error:
                self.degraded = error.message

    def run(self, limit: int | None = None, *, embed: bool = True) -> int:
        """Work until nothing is left, ``limit`` texts were linked and ``limit`` embedded, or ``stop``.

        Returns the vectors made; none without ``embed``.
        """
        with self._work:
            self._derive_texts(limit)
            made = self._embed_pending(limit) if embed else 0
            self._sync_index()
            if limit is None:
                self._tidy_indexes()
            return made

    def read_texts(self) -> None:
        """Link what waits to be read for names, without making vectors."""
        with self._work:
            self._derive_texts(None)

    def _derive_texts(self, limit: int | None) -> None:
        done, below = 0, _TOP
        while not self._stop.is_set() and (limit is None or done < limit):
            size = BATCH if limit is None else min(BATCH, limit - done)
            with self._connections.read() as connection:
                batch = pending_texts(connection, below, size)
            if not batch:
                return
            with self._names:
                self._load_new_names()
                self._learn_speakers(text.role for text in batch)
                derived = deque((text, self._read_in_turn(text.content)) for text in batch)
            now = int(self._clock())
            while derived and not self._stop.is_set():
                with self._connections.write_in_turn() as connection:
                    still_pending = set(pending_texts(connection, derived[0][0].rid + 1, len(derived)))
                    until = time.monotonic() + _HOLD_SECONDS
                    while derived:
                        text, mentions = derived.popleft()
                        if text in still_pending:
                            index_memory(connection, text.rid, text.content, mentions, now)
                        if time.monotonic() >= until:
                            break
            done += len(batch)
            below = batch[-1].rid
            self._on_progress()

    def find_mentions(
        self, content: str, spans: Iterable[NameSpan] | None = None, *, role: str | None = None
    ) -> tuple[entities.Mention, ...]:
        """The entities that a text names; names that the memory knows come first.

        ``spans``: what a strategy found in it; without them it is read with ``fast``. ``role``: who said it.
        """
        with self._names:
            self._load_new_names()
            self._learn_speakers((role,))
            return self._find_mentions(content, spans)

    def names_by_rules(self, content: str) -> tuple[entities.Mention, ...]:
        """What a text names by itself, whatever the memory knows: what rules recognise in it."""
        from memtui.engine.models import entity_linker

        return entity_linker.mentions_of(self._name_recogniser.find_names_by_rules(_blank_secrets(content)))

    def _read_in_turn(self, content: str) -> tuple[entities.Mention, ...]:
        """``_find_mentions``, letting a thread that records turns come in between.

        Python's own switch comes after 5 ms, and such a thread would wait for it after each statement.
        """
        if time.monotonic() - self._latest < QUIET_SECONDS:
            time.sleep(_YIELD_SECONDS)
        return self._find_mentions(content)

    # What reads names takes 40 ms to load: those who open a memory to look at it need none of it.

    @cached_property
    def _name_recogniser(self) -> NameRecogniser:
        from memtui.engine.models.ner import NameRecogniser

        return self._make_recogniser() if self._make_recogniser else NameRecogniser()

    @property
    def _loaded_names(self) -> KnownNames:
        from memtui.engine.models.ner import KnownNames

        if self._known_names is None:
            self._known_names = KnownNames()
        return self._known_names

    def _find_mentions(
        self, content: str, spans: Iterable[NameSpan] | None = None
    ) -> tuple[entities.Mention, ...]:
        from memtui.engine.models import entity_linker
        from memtui.engine.models.ner import readable_part

        plain = _blank_secrets(content)
        guessed = (
            self._name_recogniser.find_names_by_rules(plain)
            if spans is None
            else tuple(
                span for span in spans if plain[span.start : span.end] == content[span.start : span.end]
            )
        )
        known = self._loaded_names.find_names(readable_part(plain))
        return entity_linker.merge_mentions(guessed, known, self._speakers)

    def _learn_speakers(self, roles: Iterable[str | None]) -> None:
        """The speakers of a conversation are people, and their names are known."""
        for role in roles:
            if role and role not in self._seen_roles:
                self._seen_roles.add(role)
                # "customer" is a word that any text may have; a name has a capital letter, where there are any.
                if role_trust(role) is None and not role[0].islower():
                    self._speakers[entities.entity_key(role)] = role
                    self._loaded_names.add_alias(role, role, "person")

    def relearn_names(self) -> None:
        """The file has another content now: names are learned anew."""
        with self._names:
            self._known_names, self._learned = None, -1
            self._speakers, self._seen_roles = {}, set()

    def _load_new_names(self) -> None:
        """Take in the names that were learned since the last time, by this process or another."""
        with self._connections.read() as connection:
            version = entities.names_version(connection)
            if version != self._names_version:
                self._known_names, self._learned, self._names_version = None, -1, version
                for name in self._speakers.values():
                    self._loaded_names.add_alias(name, name, "person")
            new = entities.names_learned_after(connection, self._learned)
        for _, alias, type in new:
            self._loaded_names.add_alias(alias, alias, type)
        self._learned = max(self._learned, 0, *(number for number, *_ in new))

    def _embed_pending(self, limit: int | None) -> int:
        made, below = 0, _TOP
        model = self._matching_embedder()
        if model is None:
            return 0
        from memtui.engine.models import embedders

        space = VectorSpace(model.model_id, model.dims)
        word_vector_dims = embedders.word_vector_dims(model)
        while not self._stop.is_set() and (limit is None or made < limit):
            size = BATCH if limit is None else min(BATCH, limit - made)
            with self._connections.read() as connection:
                batch = vectors.pending_texts(connection, below, size, named=bool(word_vector_dims))
            if not batch:
                break
            texts = dict(batch)
            try:
                matrix, words = embedders.embed_words(model, list(texts.values()))
            except DegradedError as error:
                self.degraded = f"{error.message} {error.hint}".strip()
                break
            stored = dict(
                zip(texts, zip(usable_rows(matrix), quantise_rows(matrix), strict=True), strict=True)
            )
            of_words = (
                WordRows(word_vector_dims, dict(zip(texts, words, strict=True)))
                if words is not None
                else None
            )
            with self._connections.write_in_turn() as connection:
                found = vectors.vector_space(connection)
                if found is None:
                    vectors.set_space(connection, space, word_vector_dims)
                elif found != space:
                    break  # the file went over to another model meanwhile: they wait for that one
                # Only what still waits with the text that was embedded; the rest comes again.
                still = vectors.pending_texts(connection, below, size, named=bool(word_vector_dims))
                still_pending = [rid for rid, text in still if texts.get(rid) == text]
                rows = [(rid, stored[rid][1].tobytes()) for rid in still_pending if stored[rid][0]]
                vectors.store_vectors(connection, space, rows, of_words)
                vectors.take_off_queue(connection, [rid for rid in still_pending if not stored[rid][0]])
            made += len(batch)
            below = batch[-1][0]
            self._on_progress()
        return made

    def _matching_embedder(self) -> Embedder | None:
        """What makes vectors like those that the file holds."""
        with self._connections.read() as connection:
            space = vectors.vector_space(connection)
        try:
            model = self._embedder(space)
        except DegradedError as error:
            self.degraded = error.message
            return None
        self.degraded = ""
        return model

    def _sync_index(self) -> None:
        if self._connections.vectors_missing:
            return
        while not self._stop.is_set():
            with self._connections.write_in_turn() as connection:
                if not vectors.sync_index(connection, BATCH * 2):
                    return
            self._on_progress()

    def _tidy_indexes(self) -> None:
        """What writers leave to the background: merging the full-text segments, moving the log into the file."""
        more = True
        while more and not self._stop.is_set():
            with self._connections.write_in_turn() as connection:
                more = full_text.merge(connection)
                vectors.trim_change_log(connection)
        self._connections.checkpoint()
