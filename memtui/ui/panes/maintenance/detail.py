"""The preview of a job or a run, and the details of Maintenance that are read outside the event loop.

The preview has the purpose, the next run, the last result and the dry run. Functions that block say so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from memtui.present.format import format_count, local_date, local_time, plural, relative_time
from memtui.present.job import next_run_text, run_outcome_line, run_result_role, run_trigger_text
from memtui.present.operation import actor_name
from memtui.present.past import time_ago
from memtui.ui.presenters.operation import HistoryText
from memtui.ui.presenters.text_layout import labelled_block, stack_lines
from memtui.ui.safe import assemble, content, content_of_line, line

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import MemoryRecord
    from memtui.engine.records.jobs import FadingForecast, JobRun, JobStatus
    from memtui.engine.review.health import HealthFinding
    from memtui.present.glyphs import Glyphs
    from memtui.ui.presenters.operation import OperationDetail


_SOON = 20
_LISTED = 12


def operation_of_run(memory: Memory, run: JobRun | None) -> OperationDetail | None:
    """What a run changed. None if nothing, or if history no longer has it. Blocks."""
    from memtui.engine.errors import NotFoundError
    from memtui.ui.presenters.operation import gather_operation

    if run is None or run.op_id is None:
        return None
    try:
        return gather_operation(memory, run.op_id)
    except NotFoundError:
        return None  # history no longer has it


def existing_memories(memory: Memory, ids: Sequence[str]) -> list[MemoryRecord]:
    """The first of them that still exist. Blocks."""
    from memtui.engine.errors import NotFoundError

    memories = []
    for memory_id in ids[:_LISTED]:
        try:
            memories.append(memory.get(memory_id))
        except NotFoundError:
            continue
    return memories


def finding_texts(memory: Memory, health_finding: HealthFinding) -> list[str]:
    """The first rows of a finding as text. Blocks."""
    if health_finding.about == "entities":
        return [
            one.canonical_name for one in memory.view.entity_list.page(health_finding.filter, limit=_LISTED)
        ]
    return [one.content for one in existing_memories(memory, health_finding.ids)]


def soon_to_fade(memory: Memory, forecast: FadingForecast, now: float) -> list[tuple[str, MemoryRecord]]:
    """The first facts to fade, each with its day. Blocks."""
    named = [("faded", rid) for rid in forecast.overdue]
    named += [
        ("today" if number == 0 else local_date(day.start, now), rid)
        for number, day in enumerate(forecast.days)
        for rid in day.rids
    ]
    rows = {row.rid: row for row in memory.view.rows([rid for _, rid in named[:_SOON]])}
    return [(day, rows[rid]) for day, rid in named[:_SOON] if rid in rows]


LABEL = 11


class Labelled:
    """Lays out a preview of ``width`` cells and ``height`` lines, as of ``now``. ``keys``: action id -> key."""

    def __init__(self, width: int, height: int, now: float, glyphs: Glyphs, keys: Mapping[str, str]) -> None:
        self.width = max(width, 20)
        self.height = height
        self.now = now
        self.glyphs = glyphs
        self.keys = keys

    def key_hint(self, action: str, what: str) -> Iterable[Content]:
        """A key, and what it does here."""
        return assemble((self.keys[action], "bold $accent"), (f"  {what}", "$text-muted")).wrap(self.width)

    def labelled(self, label: str, text: Content) -> Iterable[Content]:
        return labelled_block(label, text, self.width, LABEL)


_RUNS_LISTED = 15


class JobText(Labelled):
    """Jobs and runs."""

    def job_text(
        self, job: JobStatus, runs: Sequence[JobRun], *, dry: JobRun | None, dry_memories: Sequence[MemoryRecord],
        detail: OperationDetail | None,
    ) -> Content:  # fmt: skip
        """A job: its purpose, its next run, its dry run, its last result."""
        lines = [*content(job.about, "bold").wrap(self.width), assemble("")]
        lines += self.labelled(
            "schedule", assemble(f"{job.schedule}, local time" if job.next_due else job.schedule)
        )
        lines += self.labelled("next", self._next_run_line(job))
        if job.obstacle:
            lines += self.labelled("waits", assemble((job.obstacle, "$warning")))
        if dry is not None:
            lines += [assemble(""), assemble(("a run now", "bold $accent")), *self._report_lines(dry)]
            lines += self._memory_lines(dry_memories, len(dry.report.ids) if dry.report is not None else 0)
        lines += [assemble(""), assemble(("last run", "bold $accent"))]
        if job.last is None:
            lines.append(assemble(("it has not run yet", "$text-muted")))
        else:
            lines += self._run_lines(job.last, detail)
        older = [run for run in runs if job.last is None or run.run_id != job.last.run_id][:_RUNS_LISTED]
        if older:
            lines += [assemble(""), assemble(("before", "bold $accent"))]
            lines += [self._run_line(run) for run in older]
        return stack_lines(lines)

    def run_text(self, run: JobRun, label: str, detail: OperationDetail | None) -> Content:
        """One run and what it changed."""
        return stack_lines([content(label, "bold"), assemble(""), *self._run_lines(run, detail)])

    def _next_run_line(self, job: JobStatus) -> Content:
        due = content_of_line((next_run_text(job, self.now),))
        if job.off:
            return due
        if not job.enabled:
            return assemble(due, f"; {self.keys['switch']} switches it on")
        if job.next_due is None or job.next_due <= self.now:
            return due
        return assemble(due, (f" {self.glyphs.dot} {relative_time(job.next_due, self.now)}", "$text-muted"))

    def _run_lines(self, run: JobRun, detail: OperationDetail | None) -> Iterable[Content]:
        took = (
            ""
            if run.finished_at is None
            else f" {self.glyphs.dot} took {_duration_text(run.finished_at - run.started_at)}"
        )
        ago = time_ago(run.started_at, self.now)
        yield from self.labelled(
            "began",
            assemble(
                local_time(run.started_at, self.now),
                (f" {self.glyphs.dot} {ago}{took} {self.glyphs.dot} {run_trigger_text(run)}", "$text-muted"),
            ),
        )
        yield from self._report_lines(run)
        if detail is None:
            if run.state == "done" and run.report is not None and not run.report.skipped:
                yield from self.labelled("changed", assemble(("nothing that could be undone", "$text-muted")))
            return
        operation = detail.operation
        if operation.state == "undone":
            by = actor_name(detail.undone_by.actor) if detail.undone_by is not None else ""
            yield from self.labelled("undone", assemble((f"all of it was taken back by {by}", "$warning")))
        else:
            text = f"{plural(operation.rows, 'row')}; {self.keys['undo_this']} takes all of it back"
            yield from self.labelled("changed", assemble(text))
        yield assemble("")
        yield HistoryText(self.width, self.now, self.glyphs).operation_text(detail)

    def _report_lines(self, run: JobRun) -> Iterable[Content]:
        style = "$warning" if run.state == "cancelled" else f"${run_result_role(run)}"
        word = {"done": "", "running": "running: "}.get(run.state, f"{run.state}: ")
        yield from self.labelled("outcome", assemble((f"{word}{run_outcome_line(run)}", style)))
        report = run.report
        if report is None:
            return
        counts = [
            f"{name.replace('_', ' ')} {format_count(number)}"
            for name, number in report.counts.items()
            if number and name != "cap"
        ]
        if counts:
            yield from self.labelled("", assemble((f" {self.glyphs.dot} ".join(counts), "$text-muted")))
        for note in report.notes[:_LISTED]:
            yield from self.labelled("note", assemble((note, "$warning")))

    def _run_line(self, run: JobRun) -> Content:
        glyph = {"done": self.glyphs.done, "failed": self.glyphs.conflict}.get(run.state, self.glyphs.ended)
        when = local_time(run.started_at, self.now)
        text_width = max(self.width - len(when) - 4, 8)
        style = f"${run_result_role(run)}"
        return assemble(
            (f"{glyph} ", "$text-muted"),
            (f"{when}  ", "$text-muted"),
            line(run_outcome_line(run), text_width, style),
        )

    def _memory_lines(self, memories: Sequence[MemoryRecord], all_of_them: int) -> Iterable[Content]:
        for memory in memories[:_LISTED]:
            glyph = self.glyphs.kinds[memory.kind]
            yield assemble((f"{glyph} ", "$accent"), line(memory.content, self.width - 2))
        if all_of_them > _LISTED:
            yield assemble((f"and {format_count(all_of_them - _LISTED)} more", "$text-muted"))


def _duration_text(seconds: int) -> str:
    return f"{seconds} s" if seconds < 120 else f"{seconds // 60} min"
