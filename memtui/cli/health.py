"""``memtui health``: memories that are duplicates, unsafe, stale or unused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memtui.present.format import format_count
from memtui.present.health import finding_line, health_line
from memtui.present.text import one_line

from .errors import OK
from .invocation import Invocation
from .output import next_step, out, paint, print_json, row
from .root import Command, json_option, pass_invocation

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.review.health import HealthReport

_WORST = 3


@click.command("health", cls=Command)
@json_option
@pass_invocation
def health_command(invocation: Invocation, json: bool) -> int:
    """Find duplicate, repeated, unsafe, stale and unused memories. Nothing is written.

    --json names at most 200 memories of each kind, and the filter that lists them all. Memories in the app
    and memtui search --filter take that filter.
    """
    with invocation.open_existing() as memory:
        report = memory.review.health()
        named = {} if json else _memory_texts(memory, report)
    if json:
        print_json(report)
        return OK
    for finding in report.findings:
        note = f" ({finding.limit})" if finding.limit else ""
        if not finding.total:
            out(row(paint("well", "green"), finding_line(finding) + note))
            continue
        out(row(paint("look", "yellow"), finding_line(finding) + note))
        for id in finding.ids[:_WORST]:
            out(row("   ", id, one_line(named.get(id, ""), 80)))
        if finding.ids and finding.total > _WORST:
            out(
                row(
                    "   ",
                    f"and {format_count(finding.total - _WORST)} more (--json names {len(finding.ids)})",
                )
            )
        out(row("   ", next_step(finding.remedy)))
    out(
        row(
            paint(health_line(report), "green" if report.is_healthy else "yellow"),
            f"looked in {report.seconds:.2f} s",
        )
    )
    return OK


def _memory_texts(memory: Memory, report: HealthReport) -> dict[str, str]:
    """The worst memories in words."""
    from memtui.engine.guards import secrets

    return {
        id: secrets.redact_secrets(memory.get(id).content)[0]
        for finding in report.findings
        if finding.about == "memories"
        for id in finding.ids[:_WORST]
    }
