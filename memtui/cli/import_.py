"""``memtui import``: conversations from files, folders and exports, as one operation that can be undone.

``--discover`` lists what is on this machine. ``--watch`` imports new turns until a signal ends it.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from memtui import operating_system, paths
from memtui.engine.errors import DiskFullError, InputError, MemtuiError, ReplacedFileError, UsageError
from memtui.engine.installation import runnable_text
from memtui.engine.records import Refused
from memtui.present import import_sources
from memtui.present.format import format_count, local_time, plural

from .errors import BAD_INPUT, CANCELLED, OK
from .output import err, next_step, out, paint, print_json, print_note, row, table
from .progress import ProgressMeter, cancelled_by_signal
from .root import Command, json_option, pass_invocation

if TYPE_CHECKING:
    from memtui.engine.importers.database_urls import LocalCopies
    from memtui.engine.memory import Memory
    from memtui.engine.records import ImportProgress, ImportReport
    from memtui.engine.records.exchange import FollowResult, KnownSource, SourceProbe

    from .invocation import Invocation


_LOOK_SECONDS = 0.2


def live_places() -> list[Path]:
    """Where programs on this machine add to their sessions. Raises InputError if there is none."""
    places = [source.path for source in discovered_sources() if source.live]
    if not places:
        raise InputError(
            "No program that writes session files was found on this machine.",
            "Name a file or a folder: memtui import --watch ~/sessions",
        )
    return places


def follow_places(invocation: Invocation, places: Sequence[Path], *, later: bool, json: bool) -> int:
    """Follow the places. Raises InputError for one that is not there."""
    for place in places:
        if not place.exists():
            raise InputError(f"There is no file or folder {place}.", "Check the spelling of the path.")
    meter = ProgressMeter()
    signals: list[int] = []
    ended = operating_system.signals_handled(operating_system.stop_signals(), signals.append)
    with invocation.open_or_create(background=not later) as memory, ended:
        print_note(f"following {plural(len(places), 'place')}; Ctrl+C ends it")
        while (replaced := _follow_until_signal(memory, places, signals, meter, json=json)) is not None:
            memory.reopen()  # turns that were not written are read again: the new file stores how far it got
            print_note(f"{replaced.message} Following goes on with the file that is there now.")
    return OK


def _follow_until_signal(
    memory: Memory, places: Sequence[Path], signals: list[int], meter: ProgressMeter, *, json: bool
) -> ReplacedFileError | None:
    """Follow until a signal ends it, or until the memory's file was replaced."""
    stopped = threading.Event()
    failed: list[BaseException] = []

    def follow_in_thread() -> None:
        try:
            memory.files.follow(
                places,
                stopped,
                lambda report: _print_followed(report, meter, json=json),
                progress=_follow_progress_printer(meter),
            )
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=follow_in_thread, name="following")
    thread.start()
    try:
        while thread.is_alive() and not signals:
            thread.join(_LOOK_SECONDS)
    finally:
        stopped.set()
        thread.join()
        meter.clear()
    if failed and isinstance(failed[0], ReplacedFileError):
        return failed[0]
    if failed:
        raise failed[0]
    return None


def _print_followed(result: FollowResult, meter: ProgressMeter, *, json: bool) -> None:
    from memtui.engine.importers.ingest import format_names

    meter.clear()
    op_id = result.operation.op_id if result.operation else None
    if json:
        print_json(
            {"turns": result.turns, "others": result.others, "formats": result.formats, "operation": op_id}
        )
        return
    others = f" and {plural(result.others, 'other thing')}" if result.others else ""
    turns = f"{plural(result.turns, 'new turn')}{others} from {format_names(result.formats)}"
    out(row(paint(local_time(time.time(), time.time()), "dim"), turns, paint(f"operation {op_id}", "dim")))
    sys.stdout.flush()


def _follow_progress_printer(meter: ProgressMeter) -> Callable[[int, int, int], None]:
    def show_progress(done: int, files: int, came: int) -> None:
        if files > 1:
            meter.show(f"{format_count(done)} of {plural(files, 'file')}  {plural(came, 'new turn')}")

    return show_progress


def discovered_sources() -> list[KnownSource]:
    from memtui.engine.importers.known_places import known_sources

    return known_sources(Path.home())


def chosen_sources(names: Sequence[str]) -> list[KnownSource]:
    """The sources with these names. Raises InputError for an unknown name."""
    by_name = {source.name: source for source in discovered_sources()}
    for name in names:
        if name not in by_name:
            known = (
                f"Found: {', '.join(by_name)}."
                if by_name
                else "Nothing was found in the places that memtui knows."
            )
            raise InputError(f"No source {name!r} was found on this machine.", known)
    return [by_name[name] for name in names]


def list_discovered(invocation: Invocation, *, json: bool) -> int:
    """List the sources on this machine. Turns are counted for a fraction of a second; after that the number is an
    estimate.
    """
    probes = _probe_sources(invocation, discovered_sources())
    if json:
        print_json([_probe_json(each) for each in probes])
        return OK
    if not probes:
        out("Nothing that memtui knows was found on this machine.")
        out('It looks for the programs that "memtui guide import" lists, and for exports in "Downloads".')
        return OK
    now = time.time()
    for each in probes:
        source = each.source
        out(row(paint(source.name, "bold"), source.label, str(source.path)))
        out(f"  {import_sources.found_summary(each)}; {import_sources.age_range(source, now)}")
        out(f"  {import_sources.not_yet_imported(each)}")
        if expiry_note := import_sources.expiry_note(each):
            out(row(" ", paint(f"! {expiry_note}", "yellow"), gap=" "))
    out()
    first = next((each for each in probes if not each.nothing_new), probes[0]).source.name
    out(
        row(
            paint(
                f'"memtui import --discover {first}" brings in one, "memtui import --discover --all" all',
                "dim",
            )
        )
    )
    return OK


def _probe_sources(invocation: Invocation, sources: list[KnownSource]) -> list[SourceProbe]:
    """Look what of each source is new. Without a memory everything is."""
    from memtui.engine.importers.probe import probe_sources

    if not invocation.demo and paths.is_surely_missing(invocation.memory_path()):
        return list(probe_sources(None, sources, time.time))
    with invocation.open_readonly() as memory:
        return list(memory.files.probe(sources))


def _probe_json(probe: SourceProbe) -> dict[str, Any]:
    import msgspec

    fields = {**msgspec.structs.asdict(probe.source), **msgspec.structs.asdict(probe)}
    del fields["source"]
    return {**fields, "path": str(probe.source.path)}


_COUNT_SECONDS = 2.0
_NAME_ONE = "Name a file, a folder or a zip archive: memtui import ~/Downloads/export.zip"


@click.command("import", cls=Command)
@click.argument("places", nargs=-1, metavar="PATH...")
@click.option("--discover", is_flag=True, help="List what is on this machine, or import the sources named.")
@click.option("--all", "everything", is_flag=True, help="Import everything that --discover finds.")
@click.option("--watch", is_flag=True, help="Keep importing new messages, until Ctrl+C.")
@click.option("--format", metavar="F", help="Read files of no known format as this one.")
@click.option("--dry-run", is_flag=True, help="Only count what would be imported.")
@click.option(
    "--later", is_flag=True, help="Make links and vectors later: in the app, or at the next search."
)
@json_option
@pass_invocation
def import_command(
    invocation: Invocation, places: tuple[str, ...], discover: bool, everything: bool, watch: bool, format: str | None,
    dry_run: bool, later: bool, json: bool,
) -> int:  # fmt: skip
    """Bring in conversations from files, folders and zip archives.

    The format is recognised by content: sessions of Claude Code, Codex and the OpenAI Agents SDK, exports of
    ChatGPT and Claude.ai, LangChain histories, other memories, Markdown notes, and messages ({"session_id", "role",
    "content", "time"}, one a line or in a JSON array). "memtui guide import" lists all formats.

    Importing again adds nothing. Ctrl+C stops and keeps what came in. "memtui undo" removes it.

    Exit code 3 when a file could not be read, or only in part. The others are imported. In folders and archives,
    other kinds of files are left out and named (--json names all).

    Sessions of the Agents SDK in a database server are imported by URL. Put the URL into a variable: env:NAME.

    --discover lists what programs keep on this machine, how much is imported, and what will soon be deleted.
    "memtui import --discover NAME..." imports some of it, each as one operation.

    --watch imports and then follows the named files and folders, or the sessions on this machine. New messages
    arrive within seconds. Nothing is imported twice, also where hooks record.
    """
    if watch and (dry_run or format):
        raise UsageError("--watch cannot be combined with --dry-run or --format.", "Leave one out.")
    if everything and not discover:
        raise UsageError("--all needs --discover.", "memtui import --discover --all")
    if everything and places:
        raise UsageError("--all imports everything: name no sources.", "Leave one out.")
    if discover and format:
        raise UsageError(
            "--discover knows the formats: --format cannot be combined with it.", "Leave one out."
        )
    if watch:
        named = chosen_sources(places) if discover else []
        followed = [source.path for source in named] or [Path(place).expanduser() for place in places]
        return follow_places(invocation, followed or live_places(), later=later, json=json)
    if discover and not (places or everything):
        return list_discovered(invocation, json=json)
    if discover:
        sources = chosen_sources(places) if places else discovered_sources()
        if not sources:
            raise InputError("No conversations were found on this machine.", "Name a file or folder.")
        return _import_each(
            invocation, [source.path for source in sources], dry_run=dry_run, later=later, json=json
        )
    if not places:
        raise UsageError("Nothing to import was named.", _suggested_commands())
    from memtui.engine.importers import database_urls

    with database_urls.local_copies(
        [place if database_urls.is_url(place) else Path(place).expanduser() for place in places]
    ) as local_copies:
        from memtui.engine.importers.refusals import UnknownFormatError

        try:
            return _import_one_run(invocation, local_copies, format, dry_run=dry_run, later=later, json=json)
        except UnknownFormatError as error:
            hint = "To read it as another format: --format NAME. The names: memtui guide import"
            raise InputError(error.message, hint) from None


def _import_one_run(
    invocation: Invocation,
    local_copies: LocalCopies,
    format: str | None,
    *,
    dry_run: bool,
    later: bool,
    json: bool,
) -> int:
    """Import everything as one operation."""
    if not dry_run and not invocation.demo and paths.is_surely_missing(invocation.memory_path()):
        from memtui.engine.importers.detect import find_sources

        find_sources(local_copies.paths, format)  # no memory is created when there is nothing to import
    meter = ProgressMeter()
    with _memory_or_dry_run(invocation, dry_run) as memory:
        report = _import_files(memory, local_copies.paths, format, dry_run, meter)
        report = replace(report, refused=(*local_copies.refused, *report.refused))
        if json:
            print_json(report)
        else:
            _print_report(report, undo=not invocation.demo)
        _print_refused(report.refused)
        _after_import(memory, [report], meter, later=later, json=json)
    return (
        CANCELLED
        if report.cancelled
        else BAD_INPUT
        if report.refused or _missed_conversations(report)
        else OK
    )


def _import_each(invocation: Invocation, paths: list[Path], *, dry_run: bool, later: bool, json: bool) -> int:
    """Import each source as an operation of its own. One that cannot be read does not stop the others."""
    meter = ProgressMeter()
    reports: list[ImportReport] = []
    failed: MemtuiError | None = None
    with _memory_or_dry_run(invocation, dry_run) as memory:
        for path in paths:
            try:
                report = _import_files(memory, [path], None, dry_run, meter)
            except InputError as error:
                failed = error
                _print_refused([Refused(message=error.message, hint=error.hint)])
                continue
            reports.append(report)
            if not json:
                _print_report(report, undo=not invocation.demo)
            _print_refused(report.refused)
            if report.cancelled:
                break
        if json:
            print_json(reports)
        _after_import(memory, reports, meter, later=later, json=json)
    if any(report.cancelled for report in reports):
        return CANCELLED
    if failed is not None:
        return failed.exit_code
    return BAD_INPUT if any(report.refused or _missed_conversations(report) for report in reports) else OK


def _missed_conversations(report: ImportReport) -> bool:
    """Whether a file that may hold conversations was left out, or a part of one."""
    from memtui.engine.importers.refusals import MISSED

    return _has_lost_part(report) or any(one.reason in MISSED for one in report.left_out)


def _has_lost_part(report: ImportReport) -> bool:
    from memtui.engine.importers.refusals import LOST_PART

    return not LOST_PART.isdisjoint(report.reasons)


def _print_refused(refused: Sequence[Refused]) -> None:
    """Print each cause. A next step that several share is printed once."""
    for one in refused:
        err(f"error: {one.message}")
    for hint in dict.fromkeys(one.hint for one in refused if one.hint):
        err(f"hint: {hint}")


def _import_files(
    memory: Memory, paths: Sequence[Path], format: str | None, dry_run: bool, meter: ProgressMeter
) -> ImportReport:
    with cancelled_by_signal() as cancelled:
        report = memory.files.import_paths(
            paths, format=format, dry_run=dry_run, progress=_progress_printer(meter), cancelled=cancelled
        )
    meter.clear()
    return report


def _after_import(
    memory: Memory, reports: list[ImportReport], meter: ProgressMeter, *, later: bool, json: bool
) -> None:
    sys.stdout.flush()
    stopped = any(report.cancelled for report in reports)
    if not any(report.operation is not None for report in reports):
        return
    if not later and not stopped:
        _index_with_progress(memory, meter)
    waiting = 0 if json else len(memory.sessions.pending(due=True))
    if waiting:
        text = f"{plural(waiting, 'conversation waits', 'conversations wait')} to become facts"
        out(row(text + ":", next_step("memtui consolidate (--preview shows them first)"), gap=" "))
    if not json and not stopped and (stronger := memory.models.stronger()):
        from memtui.present.reembedding import stronger_model_text

        out(stronger_model_text(stronger))
        installed = f"{stronger.install}, then " if stronger.install else ""
        steps = f'{installed}embedder.kind = "minilm" in the settings, then memtui embed --late'
        out(row(" ", next_step(f"For that: {steps}")))


@contextmanager
def _memory_or_dry_run(invocation: Invocation, dry_run: bool) -> Iterator[Memory]:
    """A dry run needs no memory: without one, everything is new."""
    if not dry_run:
        with invocation.open_or_create() as memory:
            yield memory
    elif not invocation.demo and paths.is_surely_missing(invocation.memory_path()):
        from memtui.engine.memory import Memory

        with Memory.open(":memory:") as memory:
            yield memory
    else:
        with invocation.open_readonly() as memory:
            yield memory


def _progress_printer(meter: ProgressMeter) -> Callable[[ImportProgress], None]:
    def show_progress(progress: ImportProgress) -> None:
        share = progress.bytes_done / progress.bytes_total if progress.bytes_total else 0.0
        verb = "would import" if progress.dry_run else "imported"
        parts = [
            f"{share:4.0%}",
            f"{verb} {format_count(progress.imported)}",
            f"{format_count(int(progress.rate))} turns/s",
        ]
        if progress.already_there:
            parts.append(f"{format_count(progress.already_there)} already there")
        meter.show("  ".join([*parts, progress.place]))

    return show_progress


def _index_with_progress(memory: Memory, meter: ProgressMeter) -> None:
    """Make links and vectors now, with a progress line. After Ctrl+C the rest is made later."""
    next_count = 0.0

    def show_progress(_: object) -> None:
        nonlocal next_count
        if meter.shown and time.monotonic() >= next_count:
            next_count = time.monotonic() + _COUNT_SECONDS
            stats = memory.stats()
            left = f"{format_count(stats.unlinked)} links, {format_count(stats.unembedded)} vectors left"
            meter.show(f"indexing: {left} (Ctrl+C leaves them to later)", now=True)

    end = memory.subscribe("progress", show_progress)
    try:
        memory.models.index_pending()
    except KeyboardInterrupt:
        meter.clear()
        print_note("The other links and vectors are made later.")
    except DiskFullError as error:
        meter.clear()
        print_note(
            f"The import is saved. Its links and vectors are made when there is room again: {error.message}"
        )
    finally:
        end()
        meter.clear()


def _print_report(report: ImportReport, *, undo: bool) -> None:
    verb = "would import" if report.dry_run else "cancelled: imported" if report.cancelled else "imported"
    from memtui.engine.importers.lock import QUESTION, count_text, decisions_text
    from memtui.engine.importers.refusals import LETTERS_LOST

    what = count_text(report.kinds, report.sessions)
    where = f"from {plural(report.files, 'file')} ({', '.join(report.formats)}) in {report.seconds:.1f} s"
    out(row(paint(verb, "yellow" if report.cancelled else "green"), what, where, gap=" "))
    if decisions := decisions_text(report.decisions):
        merges = "would merge" if report.dry_run else "merged"
        out(row(paint(merges, "green"), f"{decisions} from another device", gap=" "))
    if undecided := report.decisions.get(QUESTION, 0):
        shows = "would show" if report.dry_run else "shows"
        differ = plural(undecided, "decision differs", "decisions differ")
        out(
            row(
                paint("to decide", "yellow"),
                runnable_text(f"{differ} from yours: memtui review {shows} both"),
                gap=" ",
            )
        )
    rows: list[tuple[str, str, str]] = []
    if before := report.already_there - report.repeated:
        rows.append(("", format_count(before), "already there"))
    if report.repeated:
        rows.append(("", format_count(report.repeated), "twice in these files"))
    if report.skipped:
        rows.append(("", format_count(report.skipped), "left out:"))
        rows += [("", format_count(number), f"  {reason}") for reason, number in report.reasons.items()]
    if report.redacted:
        rows.append(("", format_count(report.redacted), "seem to hold a secret"))
    for line in table(rows, right=(1,)):
        out(line)
    for warning in report.warnings:
        err(f"warning: {warning}")
    if _has_lost_part(report):
        err("hint: Part of a file is missing. Download the export again; importing it adds the rest.")
    if any(warning.endswith(LETTERS_LOST) for warning in report.warnings):
        first = "undo this import, " if report.operation is not None else ""
        err(
            f"hint: Some letters are lost. If the file has another encoding, {first}save it as UTF-8 and import it again."
        )
    if report.operation is not None and undo:
        out(row(" ", next_step(f"To undo it: memtui undo {report.operation.op_id}")))


def _suggested_commands() -> str:
    """Suggest commands for the sources that are on this machine."""
    lines = [
        f"memtui import {source.path}   ({source.label}, {plural(source.files, 'file')})"
        for source in discovered_sources()
    ]
    hint = "To see what they hold: memtui import --discover"
    return "\n".join([*lines, hint] if lines else [_NAME_ONE])
