"""Choose the embedder: the one of the settings, or the one whose vectors the file holds.

They may differ, after the settings changed or an older backup was restored. Then the file's own goes on serving
where it can, and nothing is mixed, until the person has the memory embedded anew. Texts go to a network only where
the settings say so: with another kind the vectors of an endpoint rest.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from msgspec.structs import replace

from memtui.engine.errors import DegradedError, InputError
from memtui.engine.records import EmbeddingFunction, EmbeddingOptions, Options
from memtui.engine.records.embedding import VectorSpace

from . import packages
from .embedders import Embedder, OfflineEmbedder

if TYPE_CHECKING:
    from .endpoint_embedder import EndpointEmbedder

REMEDY = "Embed the memory anew: memtui embed"


class EmbedderFactory:
    """Makes them when they are needed, each once; safe to share between threads."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._lock = threading.Lock()
        self._made: dict[VectorSpace, Embedder] = {}
        self._in_network: list[EndpointEmbedder] = []
        self._of_packages: dict[str, Embedder] = {}

    def configured_embedder(self) -> Embedder:
        """What the settings ask for. Raises InputError where they make no sense or ask for none."""
        match self._options.embedder:
            case "endpoint" if not self._options.network:
                raise InputError(
                    "A memory that is open for reading only asks no endpoint.",
                    "Open the memory without --readonly.",
                )
            case "endpoint":
                return self._endpoint_embedder(self._options.endpoint)
            case "off":
                raise InputError(
                    "Vectors are switched off.", "Set embedder.kind to offline, minilm, endpoint or package."
                )
            case "offline":
                return self._keep_first(OfflineEmbedder())
            case "minilm":
                return self._keep_first(_make_minilm())
            case EmbeddingFunction() as function:
                from .function_embedder import FunctionEmbedder  # few have one

                return self._keep_first(FunctionEmbedder(function))
            case "package":
                return self._from_package(self._options.embedder_package)

    def embedder_of_space(self, space: VectorSpace | None) -> Embedder | None:
        """What makes vectors of the file's space; None when they are switched off.

        Raises DegradedError when it cannot be had. A file without vectors (``space`` None) begins by itself
        with a model of this machine; with an endpoint only after the person was asked (``Memory.reembedding``).
        """
        options = self._options
        if options.embedder == "off":
            return None
        try:
            wanted = self.configured_embedder()
            if space == (wanted.model_id, wanted.dims):
                return wanted
        except InputError as error:
            if (here := _local_embedder_of(space)) is None:
                raise DegradedError(error.message, error.hint) from error
            return self._keep_first(here)
        if space is None:
            if wanted.sends_to:
                raise DegradedError(f"no text has been sent to {wanted.sends_to} yet", REMEDY)
            return wanted
        if (here := _local_embedder_of(space)) is not None:
            return self._keep_first(here)
        model, _, host = space.model_id.rpartition("@")
        if options.embedder == "endpoint" and model and wanted.model_id.endswith(f"@{host}"):
            return self._endpoint_embedder(replace(options.endpoint, model=model, dimensions=space.dims))
        raise DegradedError(f"the vectors in this file are from another model ({space.model_id})", REMEDY)

    def close(self) -> None:
        """End what waits for a network, or takes long."""
        for made in tuple(self._made.values()):
            made.interrupt()
        for one in tuple(self._in_network):
            one.close()

    def _from_package(self, name: str) -> Embedder:
        """The one of another package, made once."""
        with self._lock:
            if name not in self._of_packages:
                self._of_packages[name] = packages.load_from_package(packages.EMBEDDERS, name)
            made = self._of_packages[name]
        if made.sends_to and not self._options.network:
            raise InputError(
                f"A memory that is open for reading only sends no text to {made.sends_to}.",
                "Open the memory without --readonly.",
            )
        return self._keep_first(made)

    def _endpoint_embedder(self, options: EmbeddingOptions) -> Embedder:
        from .endpoint_embedder import EndpointEmbedder  # others need neither it nor an event loop

        made = EndpointEmbedder(options)
        kept = self._keep_first(made)
        if kept is made:
            self._in_network.append(made)
        return kept

    def _keep_first(self, embedder: Embedder) -> Embedder:
        """The one that was made first: it has loaded its model, or remembers questions."""
        with self._lock:
            return self._made.setdefault(VectorSpace(embedder.model_id, embedder.dims), embedder)


def _local_embedder_of(space: VectorSpace | None) -> Embedder | None:
    """The model of these vectors, if it needs no network."""
    if space == (OfflineEmbedder.model_id, OfflineEmbedder.dims):
        return OfflineEmbedder()
    minilm = _make_minilm()
    return minilm if space == (minilm.model_id, minilm.dims) else None


def _make_minilm() -> Embedder:
    from .minilm import MiniLmEmbedder  # few have it

    return MiniLmEmbedder()
