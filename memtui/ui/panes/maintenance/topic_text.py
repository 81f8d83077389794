"""The topics of Maintenance as text: plots, models, health, findings of a check, tokens spent.

Pure functions from records to ``Content``. They use no widget and read nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content

from memtui.engine.installation import runnable_text
from memtui.present.format import format_count, local_date, local_time, plural
from memtui.present.health import check_verdict, finding_line, health_line
from memtui.present.job import run_outcome_line
from memtui.present.past import time_ago
from memtui.present.sync import batch_problem_line, device_label, device_state, sync_setup_line, sync_state
from memtui.ui.presenters.pinned_questions import question_outcome
from memtui.ui.presenters.plots import PlotBar, bar_chart, column_chart
from memtui.ui.presenters.text_layout import labelled_block, stack_lines
from memtui.ui.safe import assemble, content, content_of_line, line

from .detail import Labelled
from .rows import DAY, NOUNS, SPEND_DAYS, State, tokens_spent

if TYPE_CHECKING:
    from memtui.engine.records import CheckReport, Finding, MemoryRecord
    from memtui.engine.records.jobs import FadingForecast
    from memtui.engine.records.saved import QuestionResult
    from memtui.engine.records.status import Growth
    from memtui.engine.records.sync import SyncStatus
    from memtui.engine.review.health import HealthFinding
    from memtui.engine.review.health import HealthReport as MemoryHealth
    from memtui.ui.state import LastCheck

_LISTED = 12
_NAMED = 2
_RUNS_LISTED = 15
_HIGHEST = 8


# The names of jobs and topics.
_NAMES = 15


class HealthLine(NamedTuple):
    """One line of "models and health": its area, its state, and what to do."""

    area: str
    text: str
    well: bool = True
    remedy: str = ""


class TopicText(Labelled):
    """The texts of all topics of Maintenance."""

    @property
    def _plot_lines(self) -> int:
        return max(3, min(self.height - 5, _HIGHEST))

    def group_text(self, title: str, lines: Sequence[tuple[str, str]]) -> Content:
        """The state of a group, and of each of its jobs or topics (name, state)."""
        parts = [*content(title, "bold").wrap(self.width), assemble("")]
        for name, state in lines:
            parts += labelled_block(name, content(state), self.width, _NAMES)
        return stack_lines([*parts, assemble(""), *self.key_hint("open", "goes to the first of them")])

    def fading_text(self, forecast: FadingForecast, soon: Sequence[tuple[str, MemoryRecord]]) -> Content:
        """How many facts fade on each of the next days, and which come first (day, memory)."""
        days = [len(day.rids) for day in forecast.days]
        lines = [
            *content("Facts that fade if they are not recalled or confirmed", "bold").wrap(self.width),
            assemble(""),
        ]
        if forecast.overdue:
            text = f"{plural(len(forecast.overdue), 'fact')} faded already: a few a day go to the Trash, the rest wait in Review"
            lines += [*assemble((text, "$warning")).wrap(self.width), assemble("")]
        last = local_date(forecast.days[-1].start, self.now) if forecast.days else ""
        lines += column_chart(
            days, self.width, self._plot_lines, self.glyphs, "$accent", ends=("today", last)
        )
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
        lines += [assemble(""), *self.key_hint("open", "lists what is fading, in Memories")]
        return stack_lines(lines)

    def growth_text(self, growth: Growth) -> Content:
        """Memories and turns over time."""
        lines = []
        ends = (local_date(growth.start, self.now), "today")
        for name, values, style in (
            ("memories", growth.facts, "$entity"),
            ("turns of conversations", growth.turns, "$context"),
        ):
            now = values[-1] if values else 0
            lines += [assemble((f"{format_count(now)} {name}", "bold")), assemble("")]
            lines += [
                *column_chart(values, self.width, self._plot_lines, self.glyphs, style, ends=ends),
                assemble(""),
            ]
        return stack_lines(lines)

    def confidence_text(self, forecast: FadingForecast) -> Content:
        """The confidence of the facts, confirmed ones separately."""
        steps = len(forecast.histogram)
        rows = [
            PlotBar(
                f"{index / steps:.1f} to {(index + 1) / steps:.1f}",
                forecast.protected[index],
                forecast.histogram[index],
            )
            for index in reversed(range(steps))
        ]
        full, other = self.glyphs.retrievers["keyword"], self.glyphs.retrievers["vector"]
        return stack_lines(
            [
                *content("The confidence of the facts now", "bold").wrap(self.width), assemble(""),
                *bar_chart(rows, self.width, self.glyphs, ("$success", "$accent")), assemble(""),
                assemble((full, "$success"), (" confirmed: they do not fade", "$text-muted")),
                assemble((other, "$accent"), (" may fade, unless recalled or confirmed", "$text-muted")),
            ]
        )  # fmt: skip

    def models_text(
        self, health: Sequence[HealthLine], *, reembed: bool = False, better_ranking: bool = False
    ) -> Content:
        """What works, what does not, and what to do.

        ``reembed``: the vectors are from another model. ``better_ranking``: there is a better ranking for this model.
        """
        lines: list[Content] = []
        for one in health:
            glyph, style = (self.glyphs.done, "$success") if one.well else (self.glyphs.conflict, "$warning")
            lines += self.labelled(one.area, assemble((f"{glyph} ", style), one.text))
            if one.remedy:
                lines += self.labelled("", assemble((runnable_text(one.remedy), "$text-muted")))
            if one.area == "model" and reembed:
                lines += self.key_hint("run", "embeds them anew, after a preview")
            if one.area == "ranking" and better_ranking and not reembed:
                lines += self.key_hint("run", "chooses it")
        return stack_lines(lines)

    def questions_text(self, results: Sequence[QuestionResult]) -> Content:
        """What each pinned question should find, and at which rank it is."""
        if not results:
            text = "A pinned question can say which memory it should find: in Search, on a hit,"
            return stack_lines(
                [
                    *content("Does search still find what it should?", "bold").wrap(self.width), assemble(""),
                    *content(text, "").wrap(self.width), *self.key_hint("expect", "expects it among the first"), assemble(""),
                    *content("Asked after every import and maintenance run, and now:", "").wrap(self.width),
                    *self.key_hint("run", "asks them"),
                ]
            )  # fmt: skip
        lines: list[Content] = []
        for result in results:
            lines += [
                *content(result.question.query, "bold").wrap(self.width),
                *question_outcome(result.question, result, self.glyphs, self.width),
                assemble((f"asked {local_time(result.at, self.now)}", "$text-muted")), assemble(""),
            ]  # fmt: skip
        return stack_lines([*lines, *self.key_hint("run", "asks them again")])

    def devices_text(self, status: SyncStatus | None) -> Content:
        """Each device of the memory: what came from it, what waits, and what is wrong."""
        if status is None:
            text = "Keep this memory on several machines: each has its own file, and what was decided travels, encrypted."
            return stack_lines(
                [
                    *content("This memory is on this machine only", "bold").wrap(self.width), assemble(""),
                    *content(text, "").wrap(self.width), assemble(""),
                    *content(runnable_text("memtui sync FOLDER"), "$text-muted").wrap(self.width),
                    *content(runnable_text("memtui guide sync"), "$text-muted").wrap(self.width),
                ]
            )  # fmt: skip
        words, role = sync_state(status, self.now)
        lines = [
            *content_of_line(((words, role),)).stylize("bold").wrap(self.width),
            *content(sync_setup_line(status), "$text-muted").wrap(self.width),
            assemble(""),
        ]
        for device in status.devices:
            label, state = f"{device_label(device, status)}  ", device_state(device, status, self.now)
            lines += labelled_block(label, content_of_line((state,)), self.width, max(_NAMES, len(label)))
        if status.error:
            lines += [
                assemble(""),
                *content(f"The last sync failed: {status.error}", "$error").wrap(self.width),
            ]
        for problem in status.problems:
            lines += [assemble(""), *content(batch_problem_line(problem), "$error").wrap(self.width)]
        way = [*content(runnable_text("memtui sync invite"), "$text-muted").wrap(self.width)]
        return stack_lines([*lines, assemble(""), *self.key_hint("run", "syncs now"), *way])

    def health_text(self, health: MemoryHealth | None) -> Content:
        """The health findings, the worst first, and what is well."""
        if health is None:
            return stack_lines(
                [
                    *content("Looking for duplicates, repeats, secrets, stale facts…", "bold").wrap(self.width), assemble(""),
                    *content("In a large memory this takes some seconds. Nothing is written.", "$text-muted").wrap(self.width),
                ]
            )  # fmt: skip
        lines = [
            assemble(
                ("all is well", "bold $success")
                if health.is_healthy
                else (health_line(health), "bold $warning")
            ),
            assemble(""),
        ]
        for health_finding in health.findings:
            glyph, style = (
                (self.glyphs.conflict, "$warning") if health_finding.total else (self.glyphs.done, "$success")
            )
            lines += assemble((f"{glyph} ", style), finding_line(health_finding)).wrap(self.width)
            if health_finding.limit:
                lines += content(f"  {health_finding.limit}", "$text-muted").wrap(self.width)
        lines.append(assemble(""))
        if not health.is_healthy:
            lines += self.key_hint("open", "goes to the first of them in the list; there it lists the rows")
        return stack_lines([*lines, *self.key_hint("run", "looks again; nothing is written")])

    def health_finding_text(self, health_finding: HealthFinding, texts: Sequence[str]) -> Content:
        """A finding: what is wrong, what to do, and the worst rows."""
        lines = [
            *assemble((f"{self.glyphs.conflict} ", "$warning"), (finding_line(health_finding), "bold")).wrap(
                self.width
            ),
            assemble(""),
            *content(runnable_text(health_finding.remedy)).wrap(self.width),
        ]  # fmt: skip
        if health_finding.limit:
            lines += content(health_finding.limit, "$text-muted").wrap(self.width)
        named = (
            health_finding.total if not health_finding.filter.startswith("id:") else len(health_finding.ids)
        )
        more = "" if named == health_finding.total else f" of {format_count(health_finding.total)}"
        lines += [
            assemble(""),
            *self.key_hint("open", f"lists {plural(named, NOUNS[health_finding.about])}{more}"),
            assemble(""),
        ]
        lines += [
            assemble((f"{self.glyphs.dot} ", "$text-muted"), line(text, self.width - 2)) for text in texts
        ]
        return stack_lines(lines)

    def check_text(self, check: CheckReport | None, checked: LastCheck | None = None) -> Content:
        """The findings of the last check. ``checked``: its time, which is all that is known after a restart."""
        if check is None:
            lines = content(
                "Verifies that the file is sound: pages, indexes, links, provenance.", "bold"
            ).wrap(self.width)
            if checked is not None:
                when = f"{local_time(checked.at, self.now)}, {time_ago(checked.at, self.now)}"
                outcome = plural(checked.findings, "finding") if checked.findings else "it was sound"
                lines += [
                    assemble(""),
                    *assemble((f"last checked {when}: {outcome}", "$text-muted")).wrap(self.width),
                ]
            return stack_lines(
                [*lines, assemble(""), *self.key_hint("run", "checks it now; nothing is changed")]
            )
        lines = [content_of_line(check_verdict(check))]
        for finding in check.findings:
            lines += [assemble(""), *self._finding_lines(finding), *self._rows_named(finding, _NAMED)]
        if any(finding.repairable for finding in check.findings):
            lines += [assemble(""), *self.key_hint("run", "on one of them repairs it")]
        return stack_lines([*lines, assemble(""), *self.key_hint("run", "checks again")])

    def finding_text(self, finding: Finding) -> Content:
        lines = [*self._finding_lines(finding), assemble("")]
        if finding.repairable:
            lines += self.key_hint("run", "repairs it, after a backup")
        if finding.ids:
            shown = plural(len(finding.ids), NOUNS[finding.about])
            more = "" if finding.total <= len(finding.ids) else f" of {format_count(finding.total)}"
            lines += [*self.key_hint("open", f"lists {shown}{more} that it is about"), assemble("")]
        return stack_lines([*lines, *self._rows_named(finding, _LISTED)])

    def _finding_lines(self, finding: Finding) -> Iterable[Content]:
        style = "$error" if finding.severity == "error" else "$warning"
        yield assemble((f"{self.glyphs.conflict} {finding.severity}  ", f"bold {style}"), finding.check)
        yield from content(finding.message).wrap(self.width)
        if finding.remedy and not finding.repairable:
            yield from content(runnable_text(finding.remedy), "$text-muted").wrap(self.width)

    @staticmethod
    def _rows_named(finding: Finding, most: int) -> Iterable[Content]:
        for memory_id in finding.ids[:most]:
            yield assemble((f"  {memory_id}", "$text-muted"))
        if finding.total > most:
            yield assemble((f"  and {format_count(finding.total - most)} more", "$text-muted"))

    def spending_text(self, state: State, budget: int, model: str) -> Content:
        """Tokens per day, and the runs that used them."""
        since = self.now - SPEND_DAYS * DAY
        days = [0] * SPEND_DAYS
        for run in state.runs:
            tokens = run.report.counts.get("tokens", 0) if run.report is not None else 0
            day = int((run.started_at - since) // DAY)
            if tokens and 0 <= day < SPEND_DAYS:
                days[day] += tokens
        lines = [
            assemble(
                (f"{format_count(tokens_spent(state.runs, since))} tokens in {SPEND_DAYS} days", "bold")
            ),
            assemble(""),
        ]
        if any(days):
            ends = (local_date(since, self.now), "today")
            lines += [
                *column_chart(days, self.width, self._plot_lines, self.glyphs, "$accent", ends=ends),
                assemble(""),
            ]
        lines += [
            *self.labelled("model", assemble(model or "none: everything works by rules, and costs nothing")),
            *self.labelled("budget", assemble(f"{format_count(budget)} tokens in one run")), assemble(""),
        ]  # fmt: skip
        paid = [run for run in state.runs if run.report is not None and run.report.counts.get("tokens")]
        for run in paid[:_RUNS_LISTED]:
            tokens = run.report.counts["tokens"] if run.report is not None else 0
            when = local_time(run.started_at, self.now)
            lines.append(
                assemble(
                    (f"{when}  ", "$text-muted"),
                    f"{format_count(tokens):>9}  ",
                    line(run_outcome_line(run), max(self.width - len(when) - 13, 8)),
                )
            )
        return stack_lines(lines)
