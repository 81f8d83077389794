"""The rows of Maintenance and their columns: jobs, health topics, findings of a check, backups, runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from memtui.engine.errors import NotFoundError
from memtui.present import backup as backups
from memtui.present import job
from memtui.present.backup import short_backup_reason
from memtui.present.format import format_count, plural, relative_time
from memtui.present.health import FINDINGS, health_line
from memtui.present.job import GROUPS, Group, growth_line, jobs_line, run_outcome_line, storage_line
from memtui.present.past import time_ago
from memtui.present.question import results_line
from memtui.present.sync import sync_state
from memtui.present.text import Role, VisibleText, one_line, visible_text
from memtui.ui.actions import ActionContext
from memtui.ui.presenters.operation import short_time as short_time
from memtui.ui.widgets.columns import Column, StyledText

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import CheckReport, Finding, RowsOf, Stats
    from memtui.engine.records.backups import Backup, BackupContents
    from memtui.engine.records.jobs import FadingForecast, JobRun, JobStatus, SchedulerStatus
    from memtui.engine.records.saved import QuestionResult
    from memtui.engine.records.sync import SyncStatus
    from memtui.engine.review.health import HealthFinding, HealthReport
    from memtui.present.glyphs import Glyphs
    from memtui.ui.state import LastCheck


PLACES: dict[RowsOf, ActionContext] = {
    "memories": "memories", "entities": "entities", "sessions": "sessions", "operations": "history",
}  # fmt: skip
NOUNS: dict[RowsOf, str] = {
    "memories": "memory", "entities": "entity", "sessions": "session", "operations": "operation"
}  # fmt: skip


def filter_of_finding(memory: Memory, finding: Finding) -> str:
    """The filter that lists exactly the rows which a finding names. Blocks."""
    if finding.about == "memories":
        return f"id:{','.join(finding.ids)} is:active,trash"
    if finding.about == "sessions":  # their own names may have spaces and commas
        return f"id:{','.join(_keys_of_names(memory, finding.ids))}"
    return f"id:{','.join(finding.ids)}"


def _keys_of_names(memory: Memory, names: tuple[str, ...]) -> list[str]:
    keys = []
    for name in names:
        try:
            keys.append(str(memory.view.session_row(name).sid))
        except NotFoundError:
            continue
    return keys


_KEYS = 1 << 40
_SAME_SECOND = 64

Known = dict[str, "BackupContents"]
"""What was read of each backup, by file name."""


def backup_keys(backups: Sequence[Backup]) -> list[int]:
    """The key of each row."""
    keys: list[int] = []
    for backup in backups:
        key = _KEYS + backup.at * _SAME_SECOND
        while keys and key <= keys[-1] < key + _SAME_SECOND:
            key = keys[-1] + 1
        keys.append(key)
    return keys


def read_contents(memory: Memory, backups: Sequence[Backup], known: Known) -> Known:
    """The contents of each backup. Only changed ones are read again. Blocks."""
    contents_found: Known = {}
    for one in backups:
        contents = known.get(one.path.name)
        if contents is None or not one.path.exists() or contents.stamp != one.path.stat().st_mtime_ns:
            contents = memory.backups.contents(one.path)
        contents_found[one.path.name] = contents
    return contents_found


Topic = Literal[
    "health", "fading", "growth", "confidence", "models", "questions", "check", "backups", "spend", "devices"
]
# The order of the keys, which stay.
_TOPICS: tuple[tuple[Topic, str], ...] = (
    ("health", "Problems"),
    ("fading", "Fading"),
    ("growth", "Over time"),
    ("confidence", "Confidence"),
    ("models", "Models"),
    ("questions", "Questions"),
    ("check", "File check"),
    ("backups", "Backups"),
    ("spend", "Tokens"),
    ("devices", "Devices"),
)
# The groups, in the order of the list.
_GROUPED: dict[Group, tuple[Topic, ...]] = {
    "Jobs": ("spend",),
    "Health": ("health", "questions"),
    "Growth": ("growth", "fading", "confidence"),
    "Storage": ("check", "backups", "devices", "models"),
}
_RUNS = 200
SPEND_DAYS = 30
DAY = 86_400
_RUN_KEYS, _FINDING_KEYS, _HEALTH_KEYS, _TOPIC_KEYS, _GROUP_KEYS = 1 << 20, 1_000, 500, 100, 80
FIRST_JOB = 1
"""The key of the first job."""


class State(NamedTuple):
    """Everything that the list is made of. ``dry``: the latest dry run of each job."""

    status: SchedulerStatus
    runs: tuple[JobRun, ...]
    stats: Stats
    forecast: FadingForecast
    llm: bool
    questions: tuple[QuestionResult, ...]
    backups: tuple[Backup, ...] = ()
    sync: SyncStatus | None = None


class MaintenanceRow(NamedTuple):
    """One row: a group, a job, a topic, a health finding, a finding of the last check, a backup, or a run."""

    key: int
    job: JobStatus | None = None
    topic: Topic | None = None
    finding: Finding | None = None
    health_finding: HealthFinding | None = None
    run: JobRun | None = None
    name_cell: str = ""
    backup: Backup | None = None
    contents: str = ""
    group: Group | None = None


def read_state(memory: Memory) -> State:
    """Blocks."""
    return State(
        status=memory.jobs.status(),
        runs=tuple(memory.jobs.runs(_RUNS)),
        stats=memory.stats(),
        forecast=memory.view.forecast(),
        llm=memory.options.llm.configured,
        questions=tuple(memory.questions.results()),
        backups=tuple(memory.backups.all()),
        sync=memory.sync.status() if memory.path is not None else None,
    )


def maintenance_rows(
    state: State, check: CheckReport | None, health: HealthReport | None, contents: Known | None, now: float
) -> list[MaintenanceRow]:
    """The four groups, then the rows of each: jobs, and topics with their findings. The runs are last, the latest first.

    ``contents``: the contents of the backups; None while they have no rows.
    """
    labels = {job.name: job.label for job in state.status.jobs}
    rows = [
        MaintenanceRow(_GROUP_KEYS + number, group=group, name_cell=group)
        for number, group in enumerate(GROUPS)
    ]
    rows += [
        MaintenanceRow(number, job=job, name_cell=job.label)
        for number, job in enumerate(state.status.jobs, FIRST_JOB)
    ]
    names = {topic: (_TOPIC_KEYS + number, name) for number, (topic, name) in enumerate(_TOPICS)}
    for topic in (topic for grouped in _GROUPED.values() for topic in grouped):
        key, name = names[topic]
        rows.append(MaintenanceRow(key, topic=topic, name_cell=name))
        if topic == "health" and health is not None:
            rows += [
                MaintenanceRow(
                    _HEALTH_KEYS + index,
                    health_finding=health_finding,
                    name_cell=f"  {FINDINGS[health_finding.kind].name}",
                )
                for index, health_finding in enumerate(health.findings)
                if health_finding.total
            ]
        if topic == "check" and check is not None:
            rows += [
                MaintenanceRow(_FINDING_KEYS + index, finding=finding, name_cell=f"  {finding.check}")
                for index, finding in enumerate(check.findings)
            ]
        if topic == "backups" and contents is not None:
            rows += [
                MaintenanceRow(
                    key,
                    backup=one,
                    name_cell=short_time(one.at, now),
                    contents=backups.list_entry(one, contents.get(one.path.name)),
                )
                for key, one in zip(backup_keys(state.backups), state.backups, strict=True)
            ]
    rows += [
        MaintenanceRow(_RUN_KEYS + run.run_id, run=run, name_cell=labels.get(run.job, run.job))
        for run in state.runs
    ]
    return rows


def first_finding_under_topic(row: MaintenanceRow, rows: Sequence[MaintenanceRow]) -> MaintenanceRow | None:
    """The first finding of a topic: of the health or of the check."""
    if row.topic == "health":
        return next((one for one in rows if one.health_finding is not None), None)
    return next((one for one in rows if one.finding is not None), None) if row.topic == "check" else None


def first_key_of_group(group: Group) -> int:
    """The key of the first row that belongs to a group."""
    topics = [topic for topic, _ in _TOPICS]
    return FIRST_JOB if group == "Jobs" else _TOPIC_KEYS + topics.index(_GROUPED[group][0])


def rows_of_group(group: Group, rows: Sequence[MaintenanceRow]) -> list[MaintenanceRow]:
    """The jobs and topics of a group."""
    return [
        row
        for row in rows
        if row.topic in _GROUPED[group] or (row.job is not None and group == "Jobs" and row.run is None)
    ]


def group_line(group: Group, state: State, health: HealthReport | None, now: float) -> str:
    """The state of a group, in one line."""
    match group:
        case "Jobs":
            return jobs_line(state.status, now)
        case "Health":
            return health_line(health)
        case "Growth":
            return growth_line(state.stats, state.forecast)
        case "Storage":
            return storage_line(state.stats, state.backups, now)


def names_of_topics() -> Iterator[tuple[int, str]]:
    """The key of the row and the name of every group and topic."""
    for number, group in enumerate(GROUPS):
        yield _GROUP_KEYS + number, group
    for number, (_, name) in enumerate(_TOPICS):
        yield _TOPIC_KEYS + number, name


def rows_matching(rows: Sequence[MaintenanceRow], words: str) -> list[MaintenanceRow]:
    """The rows whose name or outcome has all of these words, and none of those with a minus."""
    terms = [word.casefold() for word in words.split() if word != "-"]

    def has_words(row: MaintenanceRow) -> bool:
        run = row.run or (row.job.last if row.job is not None else None)
        backup = f"backups {row.backup.reason}" if row.backup is not None else ""
        state = run.state if run is not None else ""
        text = f"{row.name_cell} {row.contents} {backup} {run_outcome_line(run)} {state}".casefold()
        return all((word[1:] not in text) if word[0] == "-" else word in text for word in terms)

    return [row for row in rows if has_words(row)]


def tokens_spent(runs: Sequence[JobRun], since: float) -> int:
    """Tokens of the runs that began since a time."""
    return sum(
        run.report.counts.get("tokens", 0)
        for run in runs
        if run.report is not None and run.started_at >= since
    )


def topic_line(
    row: MaintenanceRow, state: State, check: CheckReport | None, now: float, health: HealthReport | None = None,
    checked: LastCheck | None = None,
) -> str:  # fmt: skip
    """The line of a topic. ``checked``: the last check of the file, in this run of the app or before."""
    if row.group is not None:
        return group_line(row.group, state, health, now)
    stats, forecast = state.stats, state.forecast
    match row.topic:
        case "health":
            return health_line(health)
        case "fading":
            today = len(forecast.overdue) + (len(forecast.days[0].rids) if forecast.days else 0)
            week = len(forecast.overdue) + sum(len(day.rids) for day in forecast.days[:7])
            return f"{format_count(today)} tonight, {format_count(week)} this week"
        case "growth":
            turns = stats.by_kind.get("episode", 0)
            return f"{plural(stats.active - turns, 'memory')}, {plural(turns, 'turn')}"
        case "confidence":
            return f"{plural(sum(forecast.protected), 'fact')} confirmed, {format_count(sum(forecast.histogram))} may fade"
        case "models":
            if stats.vectors_wanted:
                return f"{format_count(stats.embedded + stats.unembedded)} to re-embed: another model is set"
            waiting = stats.unembedded + stats.unlinked
            return f"{format_count(waiting)} still to index" if waiting else stats.vectors
        case "questions":
            return results_line(state.questions)
        case "check":
            if checked is None:
                return "never checked here"
            number = len(check.findings) if check is not None else checked.findings
            result = "sound" if not number else plural(number, "finding")
            return f"{result}, checked {time_ago(checked.at, now)}"
        case "backups":
            return backups.list_total(state.backups, now)
        case "devices":
            return sync_state(state.sync, now)[0]
        case "spend":
            tokens = tokens_spent(state.runs, now - SPEND_DAYS * DAY)
            return (
                f"{format_count(tokens)} in {SPEND_DAYS} days"
                if tokens or state.llm
                else "none: no language model"
            )
        case _:
            return ""


def maintenance_columns(
    glyphs: Glyphs, now: Callable[[], float], topic_line: Callable[[MaintenanceRow], str]
) -> list[Column[MaintenanceRow]]:
    """Sign, name, outcome, schedule, when. ``topic_line`` gives the line of a topic."""

    def sign_cell(row: MaintenanceRow, width: int) -> Iterable[StyledText]:
        glyph, role = _sign_of_row(row, glyphs)
        yield StyledText(visible_text(glyph), role)

    def name_cell(row: MaintenanceRow, width: int) -> Iterable[StyledText]:
        role: Role = "dim" if row.run is not None else "strong" if row.group is not None else "text"
        yield StyledText(one_line(row.name_cell, width), role)

    def schedule_cell(row: MaintenanceRow, width: int) -> Iterable[StyledText]:
        if row.job is not None:
            yield StyledText(one_line(_schedule_text(row.job) if row.job.enabled else "off", width), "dim")
        elif row.backup is not None:
            yield StyledText(one_line(short_backup_reason(row.backup.reason), width), "dim")

    def outcome_cell(row: MaintenanceRow, width: int) -> Iterable[StyledText]:
        if row.finding is not None:
            yield StyledText(
                one_line(row.finding.message, width),
                "error" if row.finding.severity == "error" else "warning",
            )
        elif row.health_finding is not None:
            yield StyledText(
                one_line(plural(row.health_finding.total, NOUNS[row.health_finding.about]), width), "warning"
            )
        elif row.backup is not None:
            yield StyledText(
                one_line(row.contents, width), "error" if row.contents.startswith("unusable") else "text"
            )
        elif row.topic is not None or row.group is not None:
            yield StyledText(one_line(topic_line(row), width), "text")
        else:
            run = row.run or (row.job.last if row.job is not None else None)
            yield StyledText(one_line(job.run_outcome_line(run), width), job.run_result_role(run))

    def last_run_cell(row: MaintenanceRow, width: int) -> Iterable[StyledText]:
        run = row.run or (row.job.last if row.job is not None else None)
        at = run.started_at if run is not None else row.backup.at if row.backup is not None else None
        yield StyledText(relative_time(at, now()) if at is not None else VisibleText(""), "dim")

    def next_run_cell(row: MaintenanceRow, width: int) -> Iterable[StyledText]:
        if row.job is not None and row.job.enabled and row.job.obstacle:
            yield StyledText(VisibleText("waits"), "warning")
        elif row.job is not None and row.job.enabled and row.job.next_due is not None:
            yield StyledText(relative_time(row.job.next_due, now()), "dim")

    return [
        Column("sign", "", sign_cell, width=1),
        Column("name", "what", name_cell, width=13, gap=1),
        # What has no schedule has more to say.
        Column("outcome", "last run", outcome_cell, least=10, drop=0, spills=True),
        Column("schedule", "schedule", schedule_cell, width=9, drop=2),
        Column("when", "ago", last_run_cell, width=4, right=True, drop=1),
        Column("due", "next", next_run_cell, width=6, right=True, drop=3),
    ]


def _schedule_text(status: JobStatus) -> str:
    return status.schedule.removeprefix("daily ") if status.next_due is not None else "as needed"


def _sign_of_row(row: MaintenanceRow, glyphs: Glyphs) -> tuple[str, Role]:
    if row.group is not None:
        return "", "text"
    if row.backup is not None:
        return (glyphs.conflict, "error") if row.contents.startswith("unusable") else (glyphs.done, "success")
    if row.finding is not None:
        return glyphs.conflict, "error" if row.finding.severity == "error" else "warning"
    if row.health_finding is not None:
        return glyphs.conflict, "warning"
    if row.run is not None:
        if row.run.state == "done" and job.run_result_role(row.run) == "warning":
            return glyphs.conflict, "warning"
        return {
            "done": (glyphs.done, "success"),
            "failed": (glyphs.conflict, "error"),
            "running": (glyphs.busy, "accent"),
        }.get(row.run.state, (glyphs.ended, "warning"))  # type: ignore[return-value]
    if row.job is not None:
        if row.job.last is not None and row.job.last.state == "failed":
            return glyphs.conflict, "error"
        if job.run_result_role(row.job.last) == "warning":
            return glyphs.conflict, "warning"
        return (glyphs.on, "success") if row.job.enabled else (glyphs.off, "dim")
    return glyphs.folder, "dim"
