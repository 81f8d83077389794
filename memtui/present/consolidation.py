"""A consolidation as text: its cost, and what each line of its plan does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from .format import format_count, format_price, plural
from .text import Part, Role

if TYPE_CHECKING:
    from memtui.engine.consolidation.plan import Estimate, PlanAction, PlanLine, SessionOutcome
    from memtui.engine.records import LlmOptions


class ActionWords(NamedTuple):
    """The name of an action, its colour, and what it does."""

    word: str
    role: Role
    meaning: str


_READERS = {"keyword": "rules", "llm": "a language model"}


def extractor_name(extractor: str) -> str:
    """What read the conversations: ``by rules``, ``by a language model``, or ``by`` the name of somebody else's extractor."""
    return f"by {_READERS.get(extractor, extractor)}"


ACTIONS: Mapping[PlanAction, ActionWords] = {
    "add": ActionWords("add", "success", "a new fact"),
    "reinforce": ActionWords(
        "reinforce", "dim", "known already: the fact gets one more source and fades later"
    ),
    "supersede": ActionWords(
        "supersede", "warning", "the new fact replaces the old one, which stays and fades"
    ),
    "conflict": ActionWords(
        "conflict", "error", "it contradicts a known fact: both wait for you in Review"
    ),
    "quarantine": ActionWords(
        "quarantine", "warning", "suspicious: accepted here it is remembered, otherwise it waits in Review"
    ),
    "observation": ActionWords("observation", "success", "a note for agents"),
    "summary": ActionWords("summary", "context", "what the conversation was about"),
    "reword": ActionWords("reword", "warning", "drawn in other words: the old wording goes to the Trash"),
    "retire": ActionWords("remove", "error", "no longer drawn: accepted, it goes to the Trash; rejected, it stays"),
    "unchanged": ActionWords("unchanged", "dim", "drawn before, and it stays as it is"),
}  # fmt: skip
_STATES: dict[str, Role] = {
    "done": "success", "preview": "accent", "failed": "error", "stopped": "warning"
}  # fmt: skip


def cost_estimate(cost: Estimate, llm: LlmOptions) -> str:
    """The cost of a run, in two lines."""
    return (
        f"{plural(cost.turns, 'turn')} go to {llm.base_url}: about {format_count(cost.tokens)} tokens in "
        f"{plural(cost.calls, 'call')}{format_price(cost.tokens, llm.price)}.\n"
        f"At most {format_count(llm.budget_tokens)} tokens are spent in one run. The rest waits."
    )


def plan_line_text(line: PlanLine) -> str:
    """The text of a line as lists show it. A secret is blacked out here, but stored as it is."""
    if not any(one.kind == "secret" for one in line.suspicions):
        return line.content
    from memtui.engine.guards import secrets

    return secrets.redact_secrets(line.content)[0]


def session_outcome(outcome: SessionOutcome) -> Part:
    """The outcome of a session."""
    return outcome.state, _STATES.get(outcome.state, "text")
