"""What depends on memories, as text: facts drawn from them, facts of the same turns, agents that got them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from .format import count, local_time, plural
from .memory import kind_label, without_secrets
from .text import Labelled, Line

if TYPE_CHECKING:
    from memtui.engine.records import Dependents, MemoryRecord
    from memtui.engine.records.erase import CarrierOutcome


# What an erase will do to each row that has the text. "clear": the row stays, its words go.
OUTCOMES: Mapping[CarrierOutcome, str] = {"erased": "erase", "cleared": "clear", "kept": "keep"}
NOTHING = "nothing depends on it"


def review_note(of: Dependents) -> str:
    """What waits when they are changed."""
    named = (
        ", summaries, and facts with the old name wait"
        if of.naming and of.replaced
        else ", and summaries, wait"
    )
    return f"What was drawn from it{named} in Review afterwards."


def headline(of: Dependents) -> str:
    """``2 drawn from it, 1 summary, 3 facts of the same turns, told to 2 agents``."""
    them = "it" if len(of.memories) == 1 else "them"
    parts = [f"{count(len(of.derived))} drawn from {them}"] if of.derived else []
    parts += [plural(len(of.summaries), "summary", "summaries")] if of.summaries else []
    parts += [plural(len(of.questions), "pinned question")] if of.questions else []
    parts += [f"{plural(len(of.same_turns), 'fact')} of the same turns"] if of.same_turns else []
    parts += [f"{plural(len(of.naming), 'fact')} with the {_shared(of)}"] if of.naming else []
    parts += [f"told to {plural(len(of.served), 'agent')}"] if of.served else []
    return ", ".join(parts) or NOTHING


def _shared(of: Dependents) -> str:
    """What facts have in common with them, once a text takes their place or while none does."""
    return "old name" if of.replaced else "same name"


def lines(of: Dependents, now: float, *, without: Collection[str] = ()) -> Iterator[Labelled]:
    """A line for each dependent. The first of a kind has the label. ``without``: ids of memories to leave out."""
    groups: list[tuple[str, list[Line]]] = [
        ("drawn from", [_memory(one) for one in of.derived if one.id not in without]),
        ("summary", [
            ((f"{one.canonical_name}: ", "entity"), (one.summary or "", "text")) for one in of.summaries
        ]),
        ("question", [((one.query, "text"),) for one in of.questions]),
        ("same turns", [_memory(one) for one in of.same_turns if one.id not in without]),
        (_shared(of), [_memory(one.memory) for one in of.naming if one.memory.id not in without]),
        ("told", [
            ((one.agent, "strong"), (f", {_times(one.times)}{local_time(one.last, now)}", "dim")) for one in of.served
        ]),
    ]  # fmt: skip
    for label, entries in groups:
        for index, line in enumerate(entries):
            yield Labelled("" if index else label, line)


def _memory(one: MemoryRecord) -> Line:
    return ((f"{kind_label(one)} ", "dim"), (" ".join(without_secrets(one).split()), "text"))


def _times(times: int) -> str:
    return "" if times == 1 else f"{count(times)} times, last "
