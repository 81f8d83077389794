"""What is asked of every retriever: the question, in words and as a vector, where to look, how to rank."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.records import Profile
from memtui.engine.records.embedding import VectorSpace

from .query import ParsedQuery
from .scope import Scope

if TYPE_CHECKING:
    from memtui.engine.models.embedders import QuestionWords, StaticEmbedder

    from .retrievers.vector_cache import VectorCache


COMING = "it is coming"
"""In place of an embedder: the question's vector is not at hand, and this search does not wait for it."""


class QueryVector(NamedTuple):
    """A question as an int8 vector, the space it lies in, and a copy of that, if there is one.

    ``words``: vectors of its words, where the profile goes by them, and the file has them or ``static`` looks them up.
    """

    query: bytes
    space: VectorSpace
    vector_cache: VectorCache | None
    words: QuestionWords | None = None
    static: StaticEmbedder | None = None


class SearchRequest(NamedTuple):
    """``meaning`` is None where vectors take no part."""

    question: ParsedQuery
    scope: Scope
    profile: Profile
    meaning: QueryVector | None
