"""``memtui check``: verify the memory file, and rebuild what can be rebuilt."""

from __future__ import annotations

import click

from memtui.present.format import format_count
from memtui.present.health import check_verdict

from .errors import NEGATIVE, OK
from .invocation import Invocation
from .output import next_step, out, paint, paint_line, print_json, row
from .root import Command, json_option, pass_invocation

_LISTED = 10


@click.command("check", cls=Command)
@click.option("--deep", is_flag=True, help="Also read every page and every text. This takes longer.")
@click.option(
    "--repair", is_flag=True, help="Make a backup, then rebuild the indexes. Texts are not touched."
)
@json_option
@pass_invocation
def check_command(invocation: Invocation, deep: bool, repair: bool, json: bool) -> int:
    """Check that the memory file is sound. Exit code 1 when it is not."""
    with invocation.open_existing(must_write=repair) as memory:
        report = memory.files.check(deep=deep, repair=repair)
    if json:
        print_json(report)
        return OK if report.ok else NEGATIVE
    for repair_ in report.repaired:
        out(row(paint("repaired", "green"), repair_.check, repair_.did))
    if report.backup:
        out(row("   ", f"the memory as it was before: {report.backup}"))
    for finding in report.findings:
        severity = paint(finding.severity, "red" if finding.severity == "error" else "yellow")
        out(row(severity, finding.check, finding.message))
        for id in finding.ids[:_LISTED]:
            out(row("   ", id))
        if finding.total > _LISTED:
            out(
                row(
                    "   ",
                    f"and {format_count(finding.total - _LISTED)} more (--json names {len(finding.ids)})",
                )
            )
        remedy = "This could not be repaired." if repair and finding.repairable else finding.remedy
        if remedy:
            out(row("   ", next_step(remedy)))
    out(paint_line(check_verdict(report)))
    return OK if report.ok else NEGATIVE
