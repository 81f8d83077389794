"""How each arm took part in a search, in words: an arm that found nothing says why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from memtui.engine.records import ArmName, ArmReport

from .fusion import ARMS, Candidate, weight
from .request import COMING, Asked

State = Literal["answered", "empty", "off", "unavailable", "coming"]


def reports(
    asked: Asked,
    lists: Mapping[ArmName, Sequence[Candidate]],
    times: Mapping[ArmName, float],
    *,
    names: Sequence[str],
    no_vectors: str,
    no_words: str,
    below: int,
) -> tuple[ArmReport, ...]:
    """One for each arm; for the sense arm only where the profile asks for it.

    ``names``: the entities that the question names. ``no_vectors``: why there is no vector arm, ``no_words`` why there
    is no sense arm; ``below``: how many the vector arm found under the floor.
    """
    made = []
    for arm in ARMS:
        if arm == "sense" and not weight(asked.profile, arm):
            continue
        found = len(lists.get(arm, ()))
        state, why = _outcome(asked, arm, found, no_words if arm == "sense" else no_vectors, below)
        if state == "empty":
            why = _nothing(asked, arm, names, below)
        made.append(ArmReport(arm=arm, state=state, found=found, why=why, milliseconds=times.get(arm, 0.0)))
    return tuple(made)


def _outcome(asked: Asked, arm: ArmName, found: int, missing: str, below: int) -> tuple[State, str]:
    if weight(asked.profile, arm) == 0.0:
        return "off", f"the profile {asked.profile.name} does without it"
    if arm == "context" and "episode" not in asked.scope.kinds:
        return "off", "only turns of conversations have surroundings"
    if arm in ("vector", "sense") and missing:
        return ("coming", "") if missing == COMING else ("unavailable", missing)
    if found:
        return "answered", _answered(asked, arm, below)
    return "empty", ""


def _answered(asked: Asked, arm: ArmName, below: int) -> str:
    if arm == "vector" and below:
        return f"{below} more lie below the floor of {asked.profile.floor:.2f}"
    if arm == "sense":
        return "it finds nothing by itself: it judges what the others found, and what stands beside"
    if arm == "keyword" and not asked.scope.broad and asked.question.terms:
        if asked.question.inside:
            return f"words are as rare as among the {len(asked.question.inside.rids):,} that pass the filter"
        return "words are as rare as in the whole memory: what passes the filter is too much to be counted"
    return ""


def _nothing(asked: Asked, arm: ArmName, names: Sequence[str], below: int) -> str:
    words = ", ".join(term.word for term in asked.question.terms)
    match arm:
        case "keyword":
            return f"no memory here has any of these words: {words}" if words else "there are no words in it"
        case "vector":
            if below:
                return f"{below} found, all below the floor of {asked.profile.floor:.2f}"
            return _unasked(asked) or "no memory here has a vector"
        case "sense":
            return _unasked(asked) or "nothing that the other arms found has vectors of words"
        case "entity":
            return (
                f"no memory here is linked to {', '.join(names)}"
                if names
                else "it names no one and nothing known"
            )
        case "context":
            return "the other arms found no turn of a conversation"


def _unasked(asked: Asked) -> str:
    """Why the question has no vector; empty where it has one."""
    if asked.meaning is not None:
        return ""
    says = asked.question.terms or asked.question.characters
    return "the model knows none of its words" if says else "there are no words in it"
