"""``memtui export``: the memory, or a part of it, in files that other programs can read."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from memtui.engine.errors import UsageError
from memtui.present.format import file_size, format_count, plural

from .errors import CANCELLED, OK
from .output import err, out, paint, print_json, print_note, row
from .progress import ProgressMeter, cancelled_by_signal
from .root import Command, json_option, pass_invocation

if TYPE_CHECKING:
    from memtui.engine.records import ExportProgress, ExportReport
    from memtui.engine.records.exchange import ExportFormat

    from .invocation import Invocation


@click.command("export", cls=Command)
@click.argument("path", metavar="PATH")
@click.option("--format", type=click.Choice(["jsonl", "markdown"]), default="jsonl", help="What to write.")
@click.option("--filter", default="", metavar="F", help="Only memories that pass it, for example kind:fact.")
@click.option("--history", is_flag=True, help="Also the changes: who, what and when.")
@click.option(
    "--without-secrets", is_flag=True, help="Black out secrets. Notes leave the texts with secrets out."
)
@click.option("--force", is_flag=True, help="Replace an existing file.")
@json_option
@pass_invocation
def export_command(
    invocation: Invocation,
    path: str,
    format: ExportFormat,
    filter: str,
    history: bool,
    without_secrets: bool,
    force: bool,
    json: bool,
) -> int:
    """Write the memory to PATH, readable by its owner only. "-" is the standard output.

    jsonl has everything, also the Trash, one line each. Its first line describes the others. "memtui import" of
    it into an empty memory gives the same memory.

    markdown is a folder of notes for Obsidian: people, projects, places, facts, days. Exporting to the same folder
    again updates the notes. Other files there are not touched.

    Ctrl+C leaves no half-written file. --readonly and --demo also write PATH, and nothing else.
    """
    target: Path | BinaryIO = Path(path).expanduser()
    if path == "-":
        if json:
            raise UsageError("The export and --json cannot both go to the standard output.", "Leave one out.")
        target = sys.stdout.buffer
    meter = ProgressMeter()
    with invocation.open_readonly() as memory:
        with cancelled_by_signal() as cancelled:
            report = memory.files.export(
                target, format=format, filter=filter, history=history, without_secrets=without_secrets, force=force,
                progress=_progress_printer(meter), cancelled=cancelled,
            )  # fmt: skip
        meter.clear()
    if json:
        print_json(report)
    elif report.cancelled:
        print_note("cancelled: nothing was written")
    elif report.path is not None:
        _print_report(report)
    if report.secrets and not report.cancelled:
        texts = plural(report.secrets, "text")
        err(f"warning: {texts} with a secret in this export. To leave secrets out: --without-secrets")
    return CANCELLED if report.cancelled else OK


def _progress_printer(meter: ProgressMeter) -> Callable[[ExportProgress], None]:
    def show_progress(progress: ExportProgress) -> None:
        share = progress.done / progress.total if progress.total else 1.0
        meter.show(f"{share:4.0%}  {format_count(progress.done)} of {format_count(progress.total)}")

    return show_progress


def _print_report(report: ExportReport) -> None:
    if report.format == "markdown":
        notes = plural(sum(report.counts.values()), "note")
        out(row(paint("exported", "green"), notes, "to", str(report.path), gap=" "))
        for name in report.kept:
            err(f"kept: {name} was changed by somebody, or is not a note of memtui")
        return
    memories = plural(report.counts.get("memory", 0), "memory")
    out(row(paint("exported", "green"), memories, "to", str(report.path), gap=" "))
    others = [
        plural(number, f"{kind} line") for kind, number in report.counts.items() if kind not in ("header", "memory", "end")
    ]  # fmt: skip
    if others:
        out(row(" ", paint("and " + ", ".join(others), "dim")))
    size = f"{file_size(report.size)} in {report.seconds:.1f} s, content hash {report.content_hash}"
    out(row(" ", paint(size, "dim")))
