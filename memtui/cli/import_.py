"""``memtui import``: conversations from files, folders and exports, as one operation that can be undone."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from memtui import paths
from memtui.engine.errors import InputError, MemtuiError, UsageError
from memtui.engine.records import Refused
from memtui.present.format import count, plural

from .errors import BAD_INPUT, CANCELLED, OK
from .import_discover import chosen, discovered, list_discovered
from .import_watch import follow, live_places
from .output import emit, err, note, out, paint, row, table
from .progress import Meter, cancelled_by_signal
from .root import Command, json_option, pass_invocation

if TYPE_CHECKING:
    from memtui.engine.importers.database_urls import Local
    from memtui.engine.memory import Memory
    from memtui.engine.records import ImportProgress, ImportReport

    from .invocation import Invocation

_COUNT_SECONDS = 2.0
_NAME_ONE = "Name a file, a folder or a zip archive: memtui import ~/Downloads/export.zip"


@click.command("import", cls=Command)
@click.argument("places", nargs=-1, metavar="PATH...")
@click.option("--discover", is_flag=True, help="List what is on this machine; named sources are brought in.")
@click.option("--all", "everything", is_flag=True, help="Bring in all that --discover finds.")
@click.option("--watch", is_flag=True, help="Go on: bring in what is added to session files, until Ctrl+C.")
@click.option("--format", metavar="F", help="Read it as this format, where none is recognised.")
@click.option("--dry-run", is_flag=True, help="Only count what would come in.")
@click.option("--later", is_flag=True, help="Leave links and vectors to the app, or to the next searches.")
@json_option
@pass_invocation
def import_command(
    invocation: Invocation, places: tuple[str, ...], discover: bool, everything: bool, watch: bool, format: str | None,
    dry_run: bool, later: bool, json: bool,
) -> int:  # fmt: skip
    """Bring in conversations from files, folders and zip archives.

    Claude Code, Codex and OpenAI Agents SDK sessions, ChatGPT and Claude.ai exports, LangChain histories, other memories
    (memory.db, mem0, the MCP reference server, observations), Markdown notes, and messages ({"session_id", "role",
    "content", "time"} a line, or in one JSON array) are recognised by what is in them. What is there already is not added
    again. Ctrl+C stops; what came in until then stays, and "memtui undo" takes it back.

    What is named and cannot be read is told at the end, with exit code 3; the rest comes in. In folders and archives, what
    is something else is left out and named (--json: all of it).

    Sessions of the Agents SDK in another database come in by its URL, best from the environment: env:NAME.

    --discover tells what these programs keep on this machine, how much of it is in, and what they will delete soon;
    "memtui import --discover NAME..." brings in some of it, each as an operation of its own.

    --watch brings in what is there and then follows the named files and folders, or else the sessions that programs
    write on this machine: what is said is here a second or two later. Nothing comes in twice, also beside hooks.
    """
    if watch and (dry_run or format):
        raise UsageError("--watch goes with neither --dry-run nor --format.", "Leave one out.")
    if everything and not discover:
        raise UsageError("--all goes with --discover.", "memtui import --discover --all")
    if everything and places:
        raise UsageError("--all brings in everything: no names go with it.", "Leave one out.")
    if discover and format:
        raise UsageError("What is discovered has its format: no --format goes with it.", "Leave one out.")
    if watch:
        named = chosen(places) if discover else []
        followed = [source.path for source in named] or [Path(place).expanduser() for place in places]
        return follow(invocation, followed or live_places(), later=later, json=json)
    if discover and not (places or everything):
        return list_discovered(invocation, json=json)
    if discover:
        sources = chosen(places) if places else discovered()
        if not sources:
            raise InputError("Nothing that memtui knows was found on this machine.", "Name a path.")
        return _bring_in(
            invocation, [source.path for source in sources], dry_run=dry_run, later=later, json=json
        )
    if not places:
        raise UsageError("What shall be imported?", _suggestions())
    from memtui.engine.importers import database_urls

    with database_urls.local(
        [place if database_urls.is_url(place) else Path(place).expanduser() for place in places]
    ) as found:
        return _bring_in_one(invocation, found, format, dry_run=dry_run, later=later, json=json)


def _bring_in_one(
    invocation: Invocation, found: Local, format: str | None, *, dry_run: bool, later: bool, json: bool
) -> int:
    """All of it as one operation."""
    if not dry_run and not invocation.demo and paths.is_missing(invocation.path()):
        from memtui.engine.importers.detect import find_sources

        find_sources(found.paths, format)  # what holds nothing to import leaves no empty memory behind
    meter = Meter()
    with _target(invocation, dry_run) as memory:
        report = _import(memory, found.paths, format, dry_run, meter)
        report = replace(report, refused=(*found.refused, *report.refused))
        if json:
            emit(report)
        else:
            _print(report)
        _print_refused(report.refused)
        _afterwards(memory, [report], meter, later=later, json=json)
    return CANCELLED if report.cancelled else BAD_INPUT if report.refused or _missed(report) else OK


def _bring_in(invocation: Invocation, found: list[Path], *, dry_run: bool, later: bool, json: bool) -> int:
    """Each source by itself: an operation each, and one that cannot be read does not stop the others."""
    meter = Meter()
    reports: list[ImportReport] = []
    failed: MemtuiError | None = None
    with _target(invocation, dry_run) as memory:
        for path in found:
            try:
                report = _import(memory, [path], None, dry_run, meter)
            except InputError as error:
                failed = error
                _print_refused([Refused(message=error.message, hint=error.hint)])
                continue
            reports.append(report)
            if not json:
                _print(report)
            _print_refused(report.refused)
            if report.cancelled:
                break
        if json:
            emit(reports)
        _afterwards(memory, reports, meter, later=later, json=json)
    if any(report.cancelled for report in reports):
        return CANCELLED
    if failed is not None:
        return failed.exit_code
    return BAD_INPUT if any(report.refused or _missed(report) for report in reports) else OK


def _missed(report: ImportReport) -> bool:
    """Whether a file that may hold conversations was left out."""
    from memtui.engine.importers.refusals import MISSED

    return any(one.reason in MISSED for one in report.left_out)


def _print_refused(refused: Sequence[Refused]) -> None:
    """The causes one by one; a next step once for all that share it."""
    for one in refused:
        err(f"error: {one.message}")
    for hint in dict.fromkeys(one.hint for one in refused if one.hint):
        err(f"hint: {hint}")


def _import(
    memory: Memory, found: Sequence[Path], format: str | None, dry_run: bool, meter: Meter
) -> ImportReport:
    with cancelled_by_signal() as cancelled:
        report = memory.files.import_paths(
            found, format=format, dry_run=dry_run, progress=_shown_on(meter), cancelled=cancelled
        )
    meter.clear()
    return report


def _afterwards(
    memory: Memory, reports: list[ImportReport], meter: Meter, *, later: bool, json: bool
) -> None:
    sys.stdout.flush()
    stopped = any(report.cancelled for report in reports)
    if not any(report.operation is not None for report in reports):
        return
    if not later and not stopped:
        _index(memory, meter)
    waiting = 0 if json else len(memory.sessions.pending(due=True))
    if waiting:
        text = f"{plural(waiting, 'conversation waits', 'conversations wait')} to become facts"
        out(row(text + ":", '"memtui consolidate" draws them; with --preview it shows them first', gap=" "))


@contextmanager
def _target(invocation: Invocation, dry_run: bool) -> Iterator[Memory]:
    """A dry run needs no memory: without one, everything is new."""
    if not dry_run:
        with invocation.writing() as memory:
            yield memory
    elif not invocation.demo and paths.is_missing(invocation.path()):
        from memtui.engine.memory import Memory

        with Memory.open(":memory:") as memory:
            yield memory
    else:
        with invocation.reading() as memory:
            yield memory


def _shown_on(meter: Meter) -> Callable[[ImportProgress], None]:
    def show(progress: ImportProgress) -> None:
        share = progress.bytes_done / progress.bytes_total if progress.bytes_total else 0.0
        verb = "would import" if progress.dry_run else "imported"
        parts = [
            f"{share:4.0%}",
            f"{verb} {count(progress.imported)}",
            f"{count(int(progress.rate))} turns/s",
        ]
        if progress.already_there:
            parts.append(f"{count(progress.already_there)} already there")
        meter.show("  ".join([*parts, progress.place]))

    return show


def _index(memory: Memory, meter: Meter) -> None:
    """Make links and vectors now, while somebody watches; Ctrl+C leaves the rest to later."""
    next_count = 0.0

    def show(_: object) -> None:
        nonlocal next_count
        if meter.shown and time.monotonic() >= next_count:
            next_count = time.monotonic() + _COUNT_SECONDS
            stats = memory.stats()
            left = f"{count(stats.unlinked)} links, {count(stats.unembedded)} vectors left"
            meter.show(f"indexing: {left} (Ctrl+C leaves them to later)", now=True)

    end = memory.subscribe("progress", show)
    try:
        memory.models.index_pending()
    except KeyboardInterrupt:
        meter.clear()
        note("the rest of the links and vectors is made later")
    finally:
        end()
        meter.clear()


def _print(report: ImportReport) -> None:
    verb = "would import" if report.dry_run else "cancelled: imported" if report.cancelled else "imported"
    from memtui.engine.importers.lock import QUESTION, counted, decided

    what = counted(report.kinds, report.sessions)
    where = f"from {plural(report.files, 'file')} ({', '.join(report.formats)}) in {report.seconds:.1f} s"
    out(row(paint(verb, "yellow" if report.cancelled else "green"), what, where, gap=" "))
    if decisions := decided(report.decisions):
        merges = "would merge" if report.dry_run else "merged"
        out(row(paint(merges, "green"), f"{decisions} from another device", gap=" "))
    if asked := report.decisions.get(QUESTION, 0):
        shows = "would show" if report.dry_run else "shows"
        differ = plural(asked, "decision differs", "decisions differ")
        out(row(paint("to decide", "yellow"), f"{differ} from yours: memtui review {shows} both", gap=" "))
    rows: list[tuple[str, str, str]] = []
    if report.already_there:
        rows.append(("", count(report.already_there), "already there"))
    if report.skipped:
        rows.append(("", count(report.skipped), "skipped in what was read:"))
        rows += [("", count(number), f"  {reason}") for reason, number in report.reasons.items()]
    if report.redacted:
        rows.append(("", count(report.redacted), "look like they hold a secret"))
    for line in table(rows, right=(1,)):
        out(line)
    for warning in report.warnings:
        err(f"warning: {warning}")
    if report.operation is not None:
        out(row(" ", paint(f'"memtui undo {report.operation.op_id}" takes it back', "dim")))


def _suggestions() -> str:
    """Commands for what is in its known places on this machine."""
    lines = [
        f"memtui import {source.path}   ({source.label}, {plural(source.files, 'file')})"
        for source in discovered()
    ]
    hint = '"memtui import --discover" tells what they hold.'
    return "\n".join([*lines, hint] if lines else [_NAME_ONE])
