"""Embedding models of a memory, and a change from one to another."""

from __future__ import annotations

from typing import NamedTuple

from .base import Record


class VectorSpace(NamedTuple):
    """The model whose vectors the file holds, and how they are stored."""

    model_id: str
    dims: int


class ReembedPlan(Record):
    """The cost of a change of model. ``before`` is None if nothing was embedded yet.

    ``texts`` wait for a vector; ``done`` texts have one from an earlier run. ``characters`` and ``tokens`` (about) are to
    be read. ``seconds`` is estimated by embedding a few sentences. ``size``: bytes of the new vectors. ``sends_to``: the
    address that the texts go to, empty if they stay on this machine. ``words_before``, ``words``: whether the old and
    the new model make vectors of words, which the profile ``late`` needs.
    """

    before: VectorSpace | None
    after: VectorSpace
    texts: int
    done: int
    characters: int
    tokens: int
    seconds: float
    size: int
    sends_to: str
    words_before: bool = False
    words: bool = False

    @property
    def needed(self) -> bool:
        """Whether the file holds the vectors of another model, or none."""
        return self.before != self.after


class ReembedResult(Record):
    """Texts ``embedded`` in this run; ``refused`` of them got no vector. ``switched``: the new vectors are in use.

    ``words``: the model makes vectors of words too.
    """

    embedded: int
    switched: bool
    refused: int = 0
    words: bool = False


class StrongerModel(Record):
    """What MiniLM with the ranking ``late`` would take for this memory; about.

    ``texts`` get new vectors in ``seconds``, which take ``size`` bytes of the file. ``packages``: bytes to be installed first
    by the command ``install``, 0 and empty where it is installed.
    """

    texts: int
    seconds: float
    size: int
    packages: int
    install: str
