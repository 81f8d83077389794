"""``memtui check``: verify the memory file, and rebuild what can be rebuilt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memtui.ui.format import plural

from .errors import NEGATIVE, OK
from .output import emit, out, paint, row
from .root import Command, json_option, pass_door

if TYPE_CHECKING:
    from .door import Door


@click.command("check", cls=Command)
@click.option("--deep", is_flag=True, help="Read every page and every text, too.")
@click.option("--repair", is_flag=True, help="Rebuild indexes, after a backup; never a text.")
@json_option
@pass_door
def check_command(door: Door, deep: bool, repair: bool, json: bool) -> int:
    """Check that the memory file is sound. Exit code 1 when it is not."""
    with door.existing(must_write=repair) as memory:
        report = memory.check(deep=deep, repair=repair)
    if json:
        emit(report)
        return OK if report.ok else NEGATIVE
    for finding in report.findings:
        cure = " (memtui check --repair mends it)" if finding.repairable and not repair else ""
        severity = paint(finding.severity, "red" if finding.severity == "error" else "yellow")
        out(row(severity, finding.check, finding.message + cure))
        for identity in finding.ids:
            out(row("   ", identity))
    for what in report.repaired:
        out(row(paint("repaired", "green"), what))
    verdict = paint("sound", "green") if report.ok else paint("not sound", "red")
    out(row(verdict, f"{plural(len(report.checks), 'check')} in {report.seconds:.2f} s"))
    return OK if report.ok else NEGATIVE
