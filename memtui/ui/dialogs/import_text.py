"""An import as text: preview, progress and report."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content

from memtui.engine.installation import runnable_text
from memtui.present import import_sources
from memtui.present.format import format_count, plural
from memtui.present.text import one_line
from memtui.ui.safe import assemble, line
from memtui.ui.widgets.columns import Column, StyledText

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from memtui.engine.records import ImportProgress, ImportReport
    from memtui.engine.records.exchange import KnownSource, SourceProbe
    from memtui.present.glyphs import Glyphs
    from memtui.ui.progress import Work

_REASONS = 6
_WARNINGS = 4
_NUMBER = 8

Parts = list[Content | str | tuple[str, str]]


class FoundSource(NamedTuple):
    """A source on this machine as a row. ``probed`` None: it was not read yet."""

    number: int
    source: KnownSource
    probed: SourceProbe | None = None

    @property
    def is_urgent(self) -> bool:
        """Whether something that is not imported yet will soon be deleted."""
        return self.source.expiring > 0 and (self.probed is None or self.probed.expiring_new > 0)


def found_sources(sources: Sequence[KnownSource], probed: Sequence[SourceProbe] = ()) -> list[FoundSource]:
    looked = {probe.source.name: probe for probe in probed}
    return [FoundSource(number, source, looked.get(source.name)) for number, source in enumerate(sources)]


def source_columns(clock: Callable[[], float]) -> list[Column[FoundSource]]:
    """A detected source: its name and its contents."""

    def name_cell(row: FoundSource, width: int) -> Iterable[StyledText]:
        yield StyledText(one_line(row.source.label, width), "strong")

    def about_cell(row: FoundSource, width: int) -> Iterable[StyledText]:
        summary = import_sources.source_summary(row.source, row.probed, clock())
        yield StyledText(one_line(summary, width), "warning" if row.is_urgent else "dim")

    return [Column("name", "", name_cell, width=20), Column("about", "", about_cell)]


def progress_detail(progress: ImportProgress) -> str:
    """Two lines: the counts, and the file that is read now."""
    parts = [plural(progress.imported, "new turn"), f"{format_count(int(progress.rate))} turns a second"]
    if progress.already_there:
        parts.insert(1, f"{format_count(progress.already_there)} already there")
    return f"{', '.join(parts)}\n{progress.place}"


def progress_text(work: Work, width: int, glyphs: Glyphs, *, counting: bool) -> Content:
    """A bar, the counts, the time left."""
    share = min(work.done / work.total, 1.0) if work.total else 0.0
    width_left = max(width - 7, 8)
    filled = round(share * width_left)
    counts, _, current_file = work.detail.partition("\n")
    seconds_left = work.seconds_left
    parts: Parts = [
        ("Counting what would come in\n\n" if counting else "Importing\n\n", "bold"),
        (glyphs.bar * filled, "$accent"), (glyphs.empty * (width_left - filled), "$frame"), f" {share:4.0%}\n",
        counts, "\n", line(current_file, width, "$text-muted"), "\n",
    ]  # fmt: skip
    if seconds_left is not None and seconds_left >= 1:
        parts.append((f"about {_duration_text(seconds_left)} left", "$text-muted"))
    return assemble(*parts)


def report_text(report: ImportReport, *, follows: bool = False) -> Content:
    """The counts of a dry run or an import. ``follows``: new conversations could be imported automatically."""
    parts: Parts = []
    from memtui.engine.importers.lock import QUESTION, count_text, decisions_text

    what = count_text(report.kinds, report.sessions)
    if report.dry_run:
        headline = f"{what} would be imported." if report.imported else "There is nothing new in it."
    elif report.cancelled:
        headline = f"Stopped. {what} were imported before that, and can be undone."
    else:
        headline = f"{what} imported." if report.imported else "There was nothing new in it."
    if report.brings and not report.imported:
        headline = ""
    if decisions := decisions_text(report.decisions):
        headline += f" {'Would be merged' if report.dry_run else 'Merged'} from another device: {decisions}."
    if undecided := report.decisions.get(QUESTION, 0):
        differ = plural(undecided, "decision differs", "decisions differ")
        headline += f" {differ} from yours: Review {'would show' if report.dry_run else 'shows'} both."
    headline = headline.strip()
    if report.refused:
        headline += f" {plural(len(report.refused), 'source')} cannot be read."
    parts += [(f"{headline}\n\n", "bold"), *_report_row(report.imported, "new")]
    parts += _report_row(report.already_there - report.repeated, "already there")
    parts += _report_row(report.repeated, "twice in these files")
    parts += _report_row(report.skipped, "skipped")
    for reason, number in _reason_lines(report):
        parts += [" " * (_NUMBER + 2), (f"{format_count(number)} {reason}\n", "$text-muted")]
    if report.redacted:
        parts += [*_report_row(report.redacted, "with a secret: no model sees it", "$warning")]
    formats = ", ".join(report.formats)
    parts += [
        "\n",
        (f"{plural(report.files, 'file')}, {formats}, in {report.seconds:.1f} s\n", "$text-muted"),
    ]
    for refused in report.refused[:_WARNINGS]:
        parts += [(f"! {refused.message}\n", "$error"), (f"  {refused.hint}\n", "$text-muted")]
    if len(report.refused) > _WARNINGS:
        parts.append((f"and {len(report.refused) - _WARNINGS} more cannot be read\n", "$error"))
    for warning in report.warnings[:_WARNINGS]:
        parts.append((f"! {warning}\n", "$warning"))
    if len(report.warnings) > _WARNINGS:
        more = f"and {format_count(len(report.warnings) - _WARNINGS)} more warnings"
        names = runnable_text("memtui import --dry-run --json")
        parts.append((f"{more}: {names} names each\n", "$text-muted"))
    if report.imported and not report.dry_run:
        parts.append(
            ("The words can be found now. Names and vectors follow in the background.", "$text-muted")
        )
    if follows:
        parts.append(("\nThe setting feeds.watch imports new conversations automatically.", "$text-muted"))
    return assemble(*parts)


def _reason_lines(report: ImportReport) -> list[tuple[str, int]]:
    """The reasons for leaving turns out, and their numbers. The rarer ones share the last line."""
    reasons = list(report.reasons.items())
    rest = reasons[_REASONS:]
    if not rest:
        return reasons
    names = ", ".join(reason for reason, _ in rest)
    return [*reasons[:_REASONS], (f"for other reasons: {names}", sum(number for _, number in rest))]


def _report_row(number: int, what: str, style: str = "$text") -> Parts:
    return [(format_count(number).rjust(_NUMBER), "bold"), "  ", (f"{what}\n", style)] if number else []


def _duration_text(seconds: float) -> str:
    return f"{int(seconds)} s" if seconds < 90 else f"{int(seconds / 60)} min"
