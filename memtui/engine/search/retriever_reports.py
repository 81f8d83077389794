"""How each retriever took part in a search, in words: an retriever that found nothing says why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from memtui.engine.records import RetrieverName, RetrieverReport

from .fusion import RETRIEVERS, RetrieverCandidate, retriever_weight
from .request import COMING, SearchRequest

State = Literal["answered", "empty", "off", "unavailable", "coming"]


def make_reports(
    request: SearchRequest,
    lists: Mapping[RetrieverName, Sequence[RetrieverCandidate]],
    times: Mapping[RetrieverName, float],
    *,
    names: Sequence[str],
    no_vectors: str,
    no_words: str,
    below: int,
) -> tuple[RetrieverReport, ...]:
    """One for each retriever; for the word vector retriever only where the profile asks for it.

    ``names``: the entities that the question names. ``no_vectors``: why there is no vector retriever, ``no_words`` why there
    is no word vector retriever; ``below``: how many the vector retriever found under the floor.
    """
    made = []
    for retriever in RETRIEVERS:
        if retriever == "word_vector" and not retriever_weight(request.profile, retriever):
            continue
        found = len(lists.get(retriever, ()))
        state, why = _describe_outcome(
            request, retriever, found, no_words if retriever == "word_vector" else no_vectors, below
        )
        if state == "empty":
            why = _describe_nothing(request, retriever, names, below)
        made.append(
            RetrieverReport(
                retriever=retriever, state=state, found=found, why=why, milliseconds=times.get(retriever, 0.0)
            )
        )
    return tuple(made)


def _describe_outcome(
    request: SearchRequest, retriever: RetrieverName, number: int, missing: str, below: int
) -> tuple[State, str]:
    if retriever_weight(request.profile, retriever) == 0.0:
        return "off", f"the profile {request.profile.name} does without it"
    if retriever == "context" and "episode" not in request.scope.kinds:
        return "off", "only turns of conversations have surroundings"
    if retriever in ("vector", "word_vector") and missing:
        return ("coming", "") if missing == COMING else ("unavailable", missing)
    if number:
        return "answered", _describe_found(request, retriever, below)
    return "empty", ""


def _describe_found(request: SearchRequest, retriever: RetrieverName, below: int) -> str:
    if retriever == "vector" and below:
        return f"{below} more lie below the floor of {request.profile.floor:.2f}"
    if retriever == "word_vector":
        return "it finds nothing by itself: it judges what the others found, and what stands beside"
    if retriever == "keyword" and not request.scope.broad and request.question.terms:
        if request.question.inside:
            return (
                f"words are as rare as among the {len(request.question.inside.rids):,} that pass the filter"
            )
        return "words are as rare as in the whole memory: what passes the filter is too much to be counted"
    return ""


def _describe_nothing(
    request: SearchRequest, retriever: RetrieverName, names: Sequence[str], below: int
) -> str:
    words = ", ".join(term.word for term in request.question.terms)
    match retriever:
        case "keyword":
            return f"no memory here has any of these words: {words}" if words else "there are no words in it"
        case "vector":
            if below:
                return f"{below} found, all below the floor of {request.profile.floor:.2f}"
            return _reason_no_vector(request) or "no memory here has a vector"
        case "word_vector":
            return (
                _reason_no_vector(request) or "nothing that the other retrievers found has vectors of words"
            )
        case "entity":
            return (
                f"no memory here is linked to {', '.join(names)}"
                if names
                else "it names no one and nothing known"
            )
        case "context":
            return "the other retrievers found no turn of a conversation"


def _reason_no_vector(request: SearchRequest) -> str:
    """Why the question has no vector; empty where it has one."""
    if request.meaning is not None:
        return ""
    says = request.question.terms or request.question.characters
    return "the model knows none of its words" if says else "there are no words in it"
