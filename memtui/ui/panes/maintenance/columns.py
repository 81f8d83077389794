"""The columns of Maintenance: sign, name, outcome, schedule, when."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from memtui.present import job
from memtui.present.backup import why_briefly
from memtui.present.format import plural, relative_time
from memtui.present.text import Role, Visible, one_line, visible
from memtui.ui.widgets.columns import Column, Piece

from .finding_rows import NOUNS
from .rows import Row

if TYPE_CHECKING:
    from memtui.engine.records.jobs import JobStatus
    from memtui.present.glyphs import Glyphs


def maintenance_columns(
    glyphs: Glyphs, now: Callable[[], float], topic_line: Callable[[Row], str]
) -> list[Column[Row]]:
    """Sign, name, outcome, schedule, when. ``topic_line`` gives the line of a topic."""

    def sign(row: Row, width: int) -> Iterable[Piece]:
        sign, role = _sign(row, glyphs)
        yield Piece(visible(sign), role)

    def name(row: Row, width: int) -> Iterable[Piece]:
        role: Role = "dim" if row.run is not None else "strong" if row.group is not None else "text"
        yield Piece(one_line(row.name, width), role)

    def schedule(row: Row, width: int) -> Iterable[Piece]:
        if row.job is not None:
            yield Piece(one_line(_schedule(row.job) if row.job.enabled else "off", width), "dim")
        elif row.backup is not None:
            yield Piece(one_line(why_briefly(row.backup.reason), width), "dim")

    def outcome(row: Row, width: int) -> Iterable[Piece]:
        if row.finding is not None:
            yield Piece(
                one_line(row.finding.message, width),
                "error" if row.finding.severity == "error" else "warning",
            )
        elif row.complaint is not None:
            yield Piece(one_line(plural(row.complaint.total, NOUNS[row.complaint.about]), width), "warning")
        elif row.backup is not None:
            yield Piece(
                one_line(row.contents, width), "error" if row.contents.startswith("unusable") else "text"
            )
        elif row.topic is not None or row.group is not None:
            yield Piece(one_line(topic_line(row), width), "text")
        else:
            run = row.run or (row.job.last if row.job is not None else None)
            yield Piece(one_line(job.outcome(run), width), job.role(run))

    def when(row: Row, width: int) -> Iterable[Piece]:
        run = row.run or (row.job.last if row.job is not None else None)
        at = run.started_at if run is not None else row.backup.at if row.backup is not None else None
        yield Piece(relative_time(at, now()) if at is not None else Visible(""), "dim")

    def due(row: Row, width: int) -> Iterable[Piece]:
        if row.job is not None and row.job.enabled and row.job.obstacle:
            yield Piece(Visible("waits"), "warning")
        elif row.job is not None and row.job.enabled and row.job.next_due is not None:
            yield Piece(relative_time(row.job.next_due, now()), "dim")

    return [
        Column("sign", "", sign, width=1),
        Column("name", "what", name, width=13, gap=1),
        # What has no schedule has more to say.
        Column("outcome", "last run", outcome, least=10, drop=0, spills=True),
        Column("schedule", "schedule", schedule, width=9, drop=2),
        Column("when", "ago", when, width=4, right=True, drop=1),
        Column("due", "next", due, width=6, right=True, drop=3),
    ]


def _schedule(status: JobStatus) -> str:
    return status.schedule.removeprefix("daily ") if status.next_due is not None else "as needed"


def _sign(row: Row, glyphs: Glyphs) -> tuple[str, Role]:
    if row.group is not None:
        return "", "text"
    if row.backup is not None:
        return (glyphs.conflict, "error") if row.contents.startswith("unusable") else (glyphs.done, "success")
    if row.finding is not None:
        return glyphs.conflict, "error" if row.finding.severity == "error" else "warning"
    if row.complaint is not None:
        return glyphs.conflict, "warning"
    if row.run is not None:
        if row.run.state == "done" and job.role(row.run) == "warning":
            return glyphs.conflict, "warning"
        return {
            "done": (glyphs.done, "success"),
            "failed": (glyphs.conflict, "error"),
            "running": (glyphs.busy, "accent"),
        }.get(row.run.state, (glyphs.ended, "warning"))  # type: ignore[return-value]
    if row.job is not None:
        if row.job.last is not None and row.job.last.state == "failed":
            return glyphs.conflict, "error"
        if job.role(row.job.last) == "warning":
            return glyphs.conflict, "warning"
        return (glyphs.on, "success") if row.job.enabled else (glyphs.off, "dim")
    return glyphs.folder, "dim"
