"""What depends on memories, as text: facts drawn from them, facts of the same turns, agents that got them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from memtui.engine.wording import cut_text

from .format import format_count, local_time, plural
from .memory import kind_label, without_secrets
from .text import LabelledLine, Line

if TYPE_CHECKING:
    from memtui.engine.records import Dependents, MemoryRecord
    from memtui.engine.records.erase import CarrierOutcome, ErasePlan


# What an erase will do to each row that has the text. "clear": the row stays, its words go.
OUTCOMES: Mapping[CarrierOutcome, str] = {"erased": "erase", "cleared": "clear", "kept": "keep"}
NOTHING = "nothing depends on it"
# How many memories a question quotes, and how many characters of each.
_QUOTES, _QUOTED = 3, 120


def similar_note(plan: ErasePlan) -> str:
    """``3 memories may say it in other words and stay``."""
    one = len(plan.similar) == 1
    return f"{plural(len(plan.similar), 'memory')} may say it in other words and {'stays' if one else 'stay'}"


def review_note(dependents: Dependents) -> str:
    """What waits when they are changed."""
    named = (
        ", summaries, and facts with the old name wait"
        if dependents.naming and dependents.replaced
        else ", and summaries, wait"
    )
    return f"What was drawn from it{named} in Review afterwards."


def forget_note(dependents: Dependents, *, undo: str, trash: str) -> str:
    """What would be forgotten, in its words, and how it comes back. ``undo``, ``trash``: their keys."""
    texts = [" ".join(without_secrets(one).split()) for one in dependents.memories]
    quotes = [f"“{cut_text(text, _QUOTED)}”" for text in texts[:_QUOTES]]
    if len(texts) > _QUOTES:
        quotes.append(f"and {format_count(len(texts) - _QUOTES)} more")
    goes = "It goes" if len(texts) == 1 else "They go"
    way_back = f"{goes} to the Trash: {undo} takes that back at once, {trash} in Memories lists it."
    again = [f"{standing_note(one)}." for one in dependents.standing]
    return "\n".join((*quotes, way_back, *again, review_note(dependents)))


def standing_note(one: MemoryRecord) -> str:
    """``“Ada is allergic to walnuts” stands again``."""
    return f"“{cut_text(' '.join(without_secrets(one).split()), _QUOTED)}” stands again"


def dependents_headline(dependents: Dependents) -> str:
    """``2 drawn from it, 1 summary, 3 facts of the same turns, told to 2 agents``."""
    them = "it" if len(dependents.memories) == 1 else "them"
    parts = [f"{format_count(len(dependents.derived))} drawn from {them}"] if dependents.derived else []
    parts += [plural(len(dependents.summaries), "summary", "summaries")] if dependents.summaries else []
    parts += [plural(len(dependents.questions), "pinned question")] if dependents.questions else []
    parts += (
        [f"{plural(len(dependents.same_turns), 'fact')} of the same turns"] if dependents.same_turns else []
    )
    parts += (
        [f"{plural(len(dependents.naming), 'fact')} with the {_describe_shared(dependents)}"]
        if dependents.naming
        else []
    )
    parts += [f"told to {plural(len(dependents.served), 'agent')}"] if dependents.served else []
    return ", ".join(parts) or NOTHING


def _describe_shared(dependents: Dependents) -> str:
    """What facts have in common with them, once a text takes their place or while none does."""
    return "old name" if dependents.replaced else "same name"


def dependents_lines(
    dependents: Dependents, now: float, *, without: Collection[str] = ()
) -> Iterator[LabelledLine]:
    """A line for each dependent. The first of a kind has the label. ``without``: ids of memories to leave out."""
    groups: list[tuple[str, list[Line]]] = [
        ("drawn from", [_memory_line(one) for one in dependents.derived if one.id not in without]),
        ("summary", [
            ((f"{one.canonical_name}: ", "entity"), (one.summary or "", "text")) for one in dependents.summaries
        ]),
        ("question", [((one.query, "text"),) for one in dependents.questions]),
        ("same turns", [_memory_line(one) for one in dependents.same_turns if one.id not in without]),
        (_describe_shared(dependents), [_memory_line(one.memory) for one in dependents.naming if one.memory.id not in without]),
        ("told", [
            ((served.agent, "strong"), (f", {_times_text(served.times)}{local_time(served.last, now)}", "dim"))
            for served in dependents.served
        ]),
    ]  # fmt: skip
    for label, entries in groups:
        for index, line in enumerate(entries):
            yield LabelledLine("" if index else label, line)


def _memory_line(one: MemoryRecord) -> Line:
    return ((f"{kind_label(one)} ", "dim"), (" ".join(without_secrets(one).split()), "text"))


def _times_text(times: int) -> str:
    return "" if times == 1 else f"{format_count(times)} times, last "
