"""The preview of Maintenance as text: a job, a run and what it changed, the plots, models and health.

Pure functions from records to ``Content``; they know no widget and ask nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content

from memtui.ui.format import count, local_date, local_time, plural, relative_time
from memtui.ui.history_rows import who
from memtui.ui.maintenance_rows import DAY, SPEND_DAYS, State, outcome_of, spent
from memtui.ui.safe import assemble, content, line

from .operation_view import HistoryText
from .plots import Bar, bars, columns

if TYPE_CHECKING:
    from memtui.engine.maintain.decay import Forecast
    from memtui.engine.maintain.scheduler import JobStatus
    from memtui.engine.records import CheckReport, Finding, MemoryRecord
    from memtui.engine.store.growth import Growth
    from memtui.engine.store.jobs import JobRun
    from memtui.ui.glyphs import Glyphs
    from memtui.ui.operation_detail import OperationDetail

LABEL = 11
_LISTED = 12
_RUNS_LISTED = 15
_PLOT = 8


class Health(NamedTuple):
    """One line of "models and health": what it is about, how it stands, and what could be done."""

    area: str
    told: str
    well: bool = True
    remedy: str = ""


class MaintenanceText:
    """Lays out for a preview ``width`` cells wide, as of ``now``. ``keys``: action id -> key to press."""

    def __init__(self, width: int, now: float, glyphs: Glyphs, keys: dict[str, str]) -> None:
        self.width = max(width, 20)
        self.now = now
        self.glyphs = glyphs
        self._keys = keys

    # -- jobs and runs

    def job(
        self, job: JobStatus, runs: Sequence[JobRun], *, dry: JobRun | None, dry_memories: Sequence[MemoryRecord],
        detail: OperationDetail | None,
    ) -> Content:  # fmt: skip
        """What it is for, when it comes, what it would do, what it did the last time."""
        lines = [*content(job.about, "bold").wrap(self.width), assemble("")]
        lines += self._labelled(
            "schedule", assemble(f"{job.schedule}, local time" if job.next_due else job.schedule)
        )
        lines += self._labelled("next", self._next(job))
        if job.obstacle:
            lines += self._labelled("waits", assemble((job.obstacle, "$warning")))
        if dry is not None:
            lines += [assemble(""), assemble(("a run now", "bold $accent")), *self._report(dry)]
            lines += self._memories(dry_memories, len(dry.report.ids) if dry.report is not None else 0)
        lines += [assemble(""), assemble(("last run", "bold $accent"))]
        if job.last is None:
            lines.append(assemble(("it has not run yet", "$text-muted")))
        else:
            lines += self._run(job.last, detail)
        older = [run for run in runs if job.last is None or run.run_id != job.last.run_id][:_RUNS_LISTED]
        if older:
            lines += [assemble(""), assemble(("before", "bold $accent"))]
            lines += [self._run_line(run) for run in older]
        return _stack(lines)

    def run(self, run: JobRun, label: str, detail: OperationDetail | None) -> Content:
        """One run and what it changed."""
        return _stack([content(label, "bold"), assemble(""), *self._run(run, detail)])

    def _next(self, job: JobStatus) -> Content:
        if not job.enabled:
            return assemble(("switched off", "$warning"), f"; {self._keys['switch']} switches it on")
        if job.next_due is None:
            return assemble("whenever there is something to do")
        if job.next_due <= self.now:
            return assemble(("due now", "$accent"))
        return assemble(
            local_time(job.next_due, self.now),
            (f" {self.glyphs.dot} {relative_time(job.next_due, self.now)}", "$text-muted"),
        )

    def _run(self, run: JobRun, detail: OperationDetail | None) -> Iterable[Content]:
        asked = "asked for" if run.manual else f"for {run.period}"
        took = (
            "" if run.finished_at is None else f" {self.glyphs.dot} {_span(run.finished_at - run.started_at)}"
        )
        ago = relative_time(run.started_at, self.now)
        yield from self._labelled(
            "began",
            assemble(
                local_time(run.started_at, self.now),
                (f" {self.glyphs.dot} {ago}{took} {self.glyphs.dot} {asked}", "$text-muted"),
            ),
        )
        yield from self._report(run)
        if detail is None:
            if run.state == "done" and run.report is not None and not run.report.skipped:
                yield from self._labelled(
                    "changed", assemble(("nothing that could be undone", "$text-muted"))
                )
            return
        operation = detail.operation
        if operation.state == "undone":
            by = who(detail.undone_by.actor) if detail.undone_by is not None else ""
            yield from self._labelled("undone", assemble((f"all of it was taken back by {by}", "$warning")))
        else:
            told = f"{plural(operation.rows, 'row')}; {self._keys['undo_this']} takes all of it back"
            yield from self._labelled("changed", assemble(told))
        yield assemble("")
        yield HistoryText(self.width, self.now, self.glyphs).operation(detail)

    def _report(self, run: JobRun) -> Iterable[Content]:
        style = {"failed": "$error", "cancelled": "$warning"}.get(run.state, "$text")
        word = {"done": "", "running": "running: "}.get(run.state, f"{run.state}: ")
        yield from self._labelled("outcome", assemble((f"{word}{outcome_of(run)}", style)))
        report = run.report
        if report is None:
            return
        told = [
            f"{name.replace('_', ' ')} {count(number)}" for name, number in report.counts.items() if number
        ]
        if told:
            yield from self._labelled("", assemble((f" {self.glyphs.dot} ".join(told), "$text-muted")))
        for note in report.notes[:_LISTED]:
            yield from self._labelled("note", assemble((note, "$warning")))

    def _run_line(self, run: JobRun) -> Content:
        sign = {"done": self.glyphs.protected, "failed": self.glyphs.conflict}.get(
            run.state, self.glyphs.ended
        )
        when = local_time(run.started_at, self.now)
        room = max(self.width - len(when) - 4, 8)
        style = "$error" if run.state == "failed" else "$text"
        return assemble(
            (f"{sign} ", "$text-muted"), (f"{when}  ", "$text-muted"), line(outcome_of(run), room, style)
        )

    def _memories(self, memories: Sequence[MemoryRecord], all_of_them: int) -> Iterable[Content]:
        for memory in memories[:_LISTED]:
            sign = self.glyphs.kinds[memory.kind]
            yield assemble((f"{sign} ", "$accent"), line(memory.content, self.width - 2))
        if all_of_them > _LISTED:
            yield assemble((f"and {count(all_of_them - _LISTED)} more", "$text-muted"))

    # -- topics

    def fading(self, forecast: Forecast, soon: Sequence[tuple[str, MemoryRecord]]) -> Content:
        """How many facts fade on each of the next days, and which come first (day, memory)."""
        days = [len(day.rids) for day in forecast.days]
        lines = [
            *content("Facts that fade when nobody recalls or confirms them", "bold").wrap(self.width),
            assemble(""),
        ]
        if forecast.overdue:
            told = f"{plural(len(forecast.overdue), 'fact')} faded already: decay takes a few a day, the rest wait in Review"
            lines += [*assemble((told, "$warning")).wrap(self.width), assemble("")]
        last = local_date(forecast.days[-1].start, self.now) if forecast.days else ""
        lines += columns(days, self.width, _PLOT, self.glyphs, "$accent", ends=("today", last))
        lines.append(assemble(""))
        shown = ""
        for day, memory in soon:
            lines.append(
                assemble(
                    (f"{day if day != shown else '':<11}", "$text-muted"),
                    line(memory.content, self.width - 11),
                )
            )
            shown = day
        if not soon:
            lines.append(assemble(("Nothing fades in the next 30 days.", "$text-muted")))
        lines += [assemble(""), *self._way("open", "lists what is fading, in Memories")]
        return _stack(lines)

    def growth(self, growth: Growth) -> Content:
        """Notes and turns over time."""
        lines = []
        ends = (local_date(growth.start, self.now), "today")
        for name, values, style in (
            ("notes", growth.facts, "$entity"),
            ("turns of conversations", growth.turns, "$context"),
        ):
            now = values[-1] if values else 0
            lines += [assemble((f"{count(now)} {name}", "bold")), assemble("")]
            lines += [*columns(values, self.width, _PLOT, self.glyphs, style, ends=ends), assemble("")]
        return _stack(lines)

    def confidence(self, forecast: Forecast) -> Content:
        """How sure the facts are, confirmed ones apart."""
        steps = len(forecast.histogram)
        rows = [
            Bar(
                f"{place / steps:.1f} to {(place + 1) / steps:.1f}",
                forecast.protected[place],
                forecast.histogram[place],
            )
            for place in reversed(range(steps))
        ]
        full, other = self.glyphs.arms["keyword"], self.glyphs.arms["vector"]
        return _stack(
            [
                *content("How sure the facts are now", "bold").wrap(self.width), assemble(""),
                *bars(rows, self.width, self.glyphs, ("$success", "$accent")), assemble(""),
                assemble((full, "$success"), (" confirmed: they do not fade", "$text-muted")),
                assemble((other, "$accent"), (" may fade, unless recalled or confirmed", "$text-muted")),
            ]
        )  # fmt: skip

    def models(self, health: Sequence[Health]) -> Content:
        """What works, what does not, and what to do about it."""
        lines: list[Content] = []
        for one in health:
            sign, style = (
                (self.glyphs.protected, "$success") if one.well else (self.glyphs.conflict, "$warning")
            )
            lines += self._labelled(one.area, assemble((f"{sign} ", style), one.told))
            if one.remedy:
                lines += self._labelled("", assemble((one.remedy, "$text-muted")))
        return _stack(lines)

    def check(self, check: CheckReport | None) -> Content:
        if check is None:
            return _stack(
                [
                    *content("Verifies that the file is sound: pages, indexes, links, provenance.", "bold").wrap(self.width),
                    assemble(""), *self._way("run", "checks it now; nothing is changed"),
                ]
            )  # fmt: skip
        verdict = ("sound", "bold $success") if check.ok else ("not sound", "bold $error")
        lines = [
            assemble(
                verdict, (f"  {plural(len(check.checks), 'check')} in {check.seconds:.1f} s", "$text-muted")
            )
        ]
        for finding in check.findings:
            lines += [assemble(""), *self._finding_lines(finding)]
        if any(finding.repairable for finding in check.findings):
            lines += [
                assemble(""),
                *content("memtui check --repair mends what can be rebuilt.", "$text-muted").wrap(self.width),
            ]
        return _stack([*lines, assemble(""), *self._way("run", "checks again")])

    def finding(self, finding: Finding) -> Content:
        lines = [*self._finding_lines(finding), assemble("")]
        if finding.ids:
            lines += self._way(
                "open", f"lists {plural(len(finding.ids), 'memory', 'memories')} that it is about"
            )
        if finding.repairable:
            lines += content("memtui check --repair mends it.", "$text-muted").wrap(self.width)
        return _stack(lines)

    def _finding_lines(self, finding: Finding) -> Iterable[Content]:
        style = "$error" if finding.severity == "error" else "$warning"
        yield assemble((f"{self.glyphs.conflict} {finding.severity}  ", f"bold {style}"), finding.check)
        yield from content(finding.message).wrap(self.width)
        for identity in finding.ids[:_LISTED]:
            yield assemble((f"  {identity}", "$text-muted"))

    def spend(self, state: State, budget: int, model: str) -> Content:
        """Tokens a day, and which runs they went into."""
        since = self.now - SPEND_DAYS * DAY
        days = [0] * SPEND_DAYS
        for run in state.runs:
            tokens = run.report.counts.get("tokens", 0) if run.report is not None else 0
            place = int((run.started_at - since) // DAY)
            if tokens and 0 <= place < SPEND_DAYS:
                days[place] += tokens
        lines = [
            assemble((f"{count(spent(state.runs, since))} tokens in {SPEND_DAYS} days", "bold")), assemble(""),
            *columns(days, self.width, _PLOT, self.glyphs, "$accent", ends=(local_date(since, self.now), "today")),
            assemble(""),
            *self._labelled("model", assemble(model or "none: everything works by rules, and costs nothing")),
            *self._labelled("budget", assemble(f"{count(budget)} tokens in one run")), assemble(""),
        ]  # fmt: skip
        paid = [run for run in state.runs if run.report is not None and run.report.counts.get("tokens")]
        for run in paid[:_RUNS_LISTED]:
            tokens = run.report.counts["tokens"] if run.report is not None else 0
            when = local_time(run.started_at, self.now)
            lines.append(
                assemble(
                    (f"{when}  ", "$text-muted"),
                    f"{count(tokens):>9}  ",
                    line(outcome_of(run), max(self.width - len(when) - 13, 8)),
                )
            )
        return _stack(lines)

    # -- laying out

    def _way(self, action: str, what: str) -> Iterable[Content]:
        return assemble((self._keys[action], "bold $accent"), (f"  {what}", "$text-muted")).wrap(self.width)

    def _labelled(self, label: str, text: Content) -> Iterable[Content]:
        lead = assemble((label.ljust(LABEL), "$text-muted"))
        for index, part in enumerate(text.wrap(max(self.width - LABEL, 8))):
            yield assemble(lead if index == 0 else " " * LABEL, part)


def _span(seconds: int) -> str:
    return f"{seconds} s" if seconds < 120 else f"{seconds // 60} min"


def _stack(lines: Iterable[Content]) -> Content:
    return Content("\n").join(lines)
