"""Health findings as text, for the app and the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .format import count, plural
from .text import Line, Part

if TYPE_CHECKING:
    from memtui.engine.records import CheckReport
    from memtui.engine.review.health import Health, HealthFinding, HealthKind


class FindingLabels(NamedTuple):
    """``name``: of the row. ``one``, ``many``: the sentence without its number. ``none``: nothing was found."""

    name: str
    one: str
    many: str
    none: str

    def some(self, number: int) -> str:
        return self.one if number == 1 else self.many


FINDINGS: dict[HealthKind, FindingLabels] = {
    "secrets": FindingLabels(
        "Secrets",
        "memory has a visible secret",
        "memories have a visible secret",
        "no secret is visible",
    ),
    "instructions": FindingLabels(
        "Orders",
        "text by others gives orders",
        "texts by others give orders",
        "no text by others tries to give orders",
    ),
    "unsupported": FindingLabels(
        "Unsupported",
        "fact is not backed by its sources",
        "facts are not backed by their sources",
        "every fact is backed by its sources",
    ),
    "repeated recalls": FindingLabels(
        "Echoes",
        "text is a repeated memory",
        "texts are repeated memories",
        "no assistant repeated a memory as news",
    ),
    "duplicates": FindingLabels(
        "Duplicates",
        "note has the same text as another",
        "notes have the same text as another",
        "no note is stored twice",
    ),
    "near duplicates": FindingLabels(
        "Similar",
        "fact says nearly the same",
        "facts say nearly the same as another",
        "no two facts say nearly the same",
    ),
    "stale": FindingLabels("Stale", "fact may be over", "facts may be over", "no fact is stale"),
    "vectorless": FindingLabels(
        "Vectorless", "memory has no vector", "memories have no vector", "no memory lacks its vector"
    ),
    "orphans": FindingLabels(
        "Orphans", "entity is in no memory", "entities are in no memory", "every entity is in a memory"
    ),
}


def finding_line(finding: HealthFinding) -> str:
    """A finding in one line: "3 facts may be over"."""
    words = FINDINGS[finding.kind]
    return f"{count(finding.total)} {words.some(finding.total)}" if finding.total else words.none


def check_verdict(report: CheckReport) -> Line:
    """Whether the file is sound, and how much was checked."""
    sound: Part = ("sound", "success") if report.ok else ("not sound", "error")
    return sound, (f"  {plural(len(report.checks), 'check')} in {report.seconds:.1f} s", "dim")


def verdict(health: Health | None) -> str:
    """The number of findings, in one line."""
    if health is None:
        return "looking…"
    open = sum(1 for finding in health.findings if finding.total)
    return f"{plural(open, 'thing')} to look at" if open else "all is well"
