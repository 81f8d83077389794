"""Earlier states of the memory as text: how much there was, what changed, and what is not known exactly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from .format import format_count, local_date, local_time, plural, relative_time
from .text import Role

if TYPE_CHECKING:
    from memtui.engine.records.history import HistoryCoverage

_VERBS = {
    "removed": "taken back", "unconfirmed": "unprotected", "confidence": "re-rated", "passing": "came and went",
    "superseded": "replaced",
}  # fmt: skip
_ROLES: dict[str, Role] = {
    "added": "success", "restored": "success", "confirmed": "success", "forgotten": "error", "faded": "error",
    "removed": "error", "superseded": "error", "merged": "error",
}  # fmt: skip
_KINDS = ("fact", "reflection", "observation")


def verb_label(verb: str) -> str:
    """What happened to a memory, in one to three words."""
    return _VERBS.get(verb, verb)


def verb_role(verb: str) -> Role:
    """The colour of what happened: added, removed or changed."""
    return _ROLES.get(verb, "warning")


def kind_counts(counts: Mapping[str, int]) -> str:
    """``214 facts, 3 reflections, 1,204 turns, 12 in Trash``. Kinds without a memory are left out."""
    parts: list[str] = [plural(counts[kind], kind) for kind in _KINDS if counts.get(kind)]
    if counts.get("episode"):
        parts.append(plural(counts["episode"], "turn"))
    if counts.get("trash"):
        parts.append(f"{format_count(counts['trash'])} in Trash")
    return ", ".join(parts) or "nothing"


def time_ago(then: float, now: float) -> str:
    """``3d ago``, ``just now``; of the future ``in 2h``."""
    distance = relative_time(then, now)
    return "just now" if distance == "now" else distance if then > now else f"{distance} ago"


def coverage_notes(coverage: HistoryCoverage, now: float) -> Iterator[str]:
    """What is not known exactly about a time in the past, a sentence each."""
    if not coverage.complete and coverage.since is not None:
        yield (
            f"History is complete from {local_time(coverage.since, now)} on. For the time before, it knows only when each"
            " memory was recorded and when it went to the Trash. Its text is the first one that is known."
        )
    if coverage.gap is not None:
        yield (
            f"On {local_date(coverage.gap.end, now)} the backup of {local_time(coverage.gap.start, now)} was restored. This is"
            f" what that held; what there was in between is in {coverage.gap.backup}."
        )
