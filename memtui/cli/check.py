"""``memtui check``: verify the memory file, and rebuild what can be rebuilt. ``memtui health``: look at its memories."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memtui.present.format import count
from memtui.present.health import check_verdict, told, verdict
from memtui.present.text import one_line

from .errors import NEGATIVE, OK
from .output import drawn, emit, out, paint, row
from .root import Command, json_option, pass_door

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.review.health import Health

    from .invocation import Door


_LISTED = 10
_WORST = 3


@click.command("check", cls=Command)
@click.option("--deep", is_flag=True, help="Read every page and every text, too.")
@click.option("--repair", is_flag=True, help="Rebuild indexes, after a backup; never a text.")
@json_option
@pass_door
def check_command(door: Door, deep: bool, repair: bool, json: bool) -> int:
    """Check that the memory file is sound. Exit code 1 when it is not."""
    with door.existing(must_write=repair) as memory:
        report = memory.files.check(deep=deep, repair=repair)
    if json:
        emit(report)
        return OK if report.ok else NEGATIVE
    for mended in report.repaired:
        out(row(paint("repaired", "green"), mended.check, mended.did))
    if report.backup:
        out(row("   ", f"the memory as it was before: {report.backup}"))
    for finding in report.findings:
        severity = paint(finding.severity, "red" if finding.severity == "error" else "yellow")
        out(row(severity, finding.check, finding.message))
        for identity in finding.ids[:_LISTED]:
            out(row("   ", identity))
        if finding.total > _LISTED:
            out(row("   ", f"and {count(finding.total - _LISTED)} more (--json names {len(finding.ids)})"))
        remedy = "This could not be mended." if repair and finding.repairable else finding.remedy
        if remedy:
            out(row("   ", paint(remedy, "dim")))
    out(drawn(check_verdict(report)))
    return OK if report.ok else NEGATIVE


@click.command("health", cls=Command)
@json_option
@pass_door
def health_command(door: Door, json: bool) -> int:
    """Find what is there twice, came back as an echo, is a danger, stale or of no use. Nothing is written.

    --json has the rows (at most 200 of each) and the filter that lists them, which Memories in the app and
    memtui search --filter take.
    """
    with door.existing() as memory:
        report = memory.review.health()
        named = {} if json else _texts(memory, report)
    if json:
        emit(report)
        return OK
    for complaint in report.complaints:
        note = f" ({complaint.limit})" if complaint.limit else ""
        if not complaint.total:
            out(row(paint("well", "green"), told(complaint) + note))
            continue
        out(row(paint("look", "yellow"), told(complaint) + note))
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
