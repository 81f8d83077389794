"""``memtui health``: memories that are duplicates, unsafe, stale or unused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memtui.present.format import count
from memtui.present.health import finding_line, verdict
from memtui.present.text import one_line

from .errors import OK
from .invocation import Invocation
from .output import emit, out, paint, row
from .root import Command, json_option, pass_invocation

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.review.health import Health

_WORST = 3


@click.command("health", cls=Command)
@json_option
@pass_invocation
def health_command(invocation: Invocation, json: bool) -> int:
    """Find duplicate, repeated, unsafe, stale and unused memories. Nothing is written.

    --json names at most 200 memories of each kind, and the filter that lists them all. Memories in the app
    and memtui search --filter take that filter.
    """
    with invocation.existing() as memory:
        report = memory.review.health()
        named = {} if json else _texts(memory, report)
    if json:
        emit(report)
        return OK
    for complaint in report.complaints:
        note = f" ({complaint.limit})" if complaint.limit else ""
        if not complaint.total:
            out(row(paint("well", "green"), finding_line(complaint) + note))
            continue
        out(row(paint("look", "yellow"), finding_line(complaint) + note))
        for identity in complaint.ids[:_WORST]:
            out(row("   ", identity, one_line(named.get(identity, ""), 80)))
        if complaint.ids and complaint.total > _WORST:
            out(row("   ", f"and {count(complaint.total - _WORST)} more (--json names {len(complaint.ids)})"))
        out(row("   ", paint(complaint.remedy, "dim")))
    out(
        row(paint(verdict(report), "green" if report.well else "yellow"), f"looked in {report.seconds:.2f} s")
    )
    return OK


def _texts(memory: Memory, report: Health) -> dict[str, str]:
    """The worst memories in words."""
    from memtui.engine.guards import secrets

    return {
        identity: secrets.redact(memory.get(identity).content)[0]
        for complaint in report.complaints
        if complaint.about == "memories"
        for identity in complaint.ids[:_WORST]
    }
