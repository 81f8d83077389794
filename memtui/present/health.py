"""Health findings as text, for the app and the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .format import format_count, plural
from .text import Line, Part

if TYPE_CHECKING:
    from memtui.engine.records import CheckReport
    from memtui.engine.review.health import HealthFinding, HealthKind, HealthReport


class FindingLabels(NamedTuple):
    """``name``: of the row. ``one``, ``many``: the sentence without its number. ``none``: nothing was found."""

    name: str
    one: str
    many: str
    none: str

    def number_text(self, number: int) -> str:
        return self.one if number == 1 else self.many


FINDINGS: dict[HealthKind, FindingLabels] = {
    "secrets": FindingLabels(
        "Secrets",
        "memory shows a password or key",
        "memories show a password or key",
        "no password or key is visible",
    ),
    "instructions": FindingLabels(
        "Orders",
        "text by somebody else gives orders to assistants",
        "texts by others give orders to assistants",
        "no text by others gives orders to assistants",
    ),
    "unsupported": FindingLabels(
        "Unsupported",
        "fact is not in the words that it was drawn from",
        "facts are not in the words that they were drawn from",
        "every fact is in the words that it was drawn from",
    ),
    "repeated recalls": FindingLabels(
        "Echoes",
        "text only repeats what an assistant was told",
        "texts only repeat what an assistant was told",
        "no text only repeats what an assistant was told",
    ),
    "duplicates": FindingLabels(
        "Duplicates",
        "note has the same text as another",
        "notes have the same text as another",
        "no note is stored twice",
    ),
    "near duplicates": FindingLabels(
        "Similar",
        "fact says nearly the same as another",
        "facts say nearly the same as another",
        "no two facts say nearly the same",
    ),
    "stale": FindingLabels("Stale", "fact may be over", "facts may be over", "no fact is over"),
    "vectorless": FindingLabels(
        "Vectorless",
        "memory is found by its words only",
        "memories are found by their words only",
        "all are found by meaning too",
    ),
    "orphans": FindingLabels(
        "Orphans",
        "name is in no memory any more",
        "names are in no memory any more",
        "every name is in a memory",
    ),
}


def finding_line(finding: HealthFinding) -> str:
    """A finding in one line: "3 facts may be over"."""
    words = FINDINGS[finding.kind]
    return (
        f"{format_count(finding.total)} {words.number_text(finding.total)}" if finding.total else words.none
    )


def check_verdict(report: CheckReport) -> Line:
    """Whether the file is sound, and how much was checked."""
    sound: Part = ("sound", "success") if report.ok else ("not sound", "error")
    return sound, (f"  {plural(len(report.checks), 'check')} in {report.seconds:.1f} s", "dim")


def health_line(health: HealthReport | None) -> str:
    """The number of findings, in one line."""
    if health is None:
        return "looking…"
    open = sum(1 for finding in health.findings if finding.total)
    return f"{plural(open, 'thing')} to look at" if open else "all is well"
