"""Jobs, backups, health and pinned questions in words: the same for the app and the command line."""

from __future__ import annotations

from pathlib import Path

from memtui.engine.records import CheckReport
from memtui.engine.records.backups import Backup, BackupContents
from memtui.engine.records.jobs import JobReport, JobRun, JobStatus
from memtui.engine.records.saved import ExpectedMemory, QuestionResult, SavedQuery
from memtui.engine.review.health import HealthFinding, HealthReport
from memtui.present import backup, health, job, question

NOW = 1_700_000_000


def run(**fields: object) -> JobRun:
    known: dict[str, object] = {
        "run_id": 1, "job": "decay", "period": "2023-11-14", "state": "done", "started_at": NOW,
    }  # fmt: skip
    return JobRun(**(known | fields))  # type: ignore[arg-type]


def status(**fields: object) -> JobStatus:
    known: dict[str, object] = {
        "name": "decay", "label": "Decay", "about": "", "schedule": "daily 04:00", "enabled": True,
        "next_due": NOW + 60, "last": None,
    }  # fmt: skip
    return JobStatus(**(known | fields))  # type: ignore[arg-type]


def test_a_run_says_what_came_of_it() -> None:
    assert job.run_outcome_line(None) == ""
    assert job.run_outcome_line(run(state="running")) == "running"
    assert job.run_outcome_line(run(report=JobReport(summary="faded 3 facts"))) == "faded 3 facts"
    skipped = run(report=JobReport(summary="", skipped="no language model is configured"))
    assert job.run_outcome_line(skipped) == "skipped: no language model is configured"
    assert (job.run_state(skipped)[0], job.run_result_text(skipped)) == (
        "skipped",
        "no language model is configured",
    )
    broken = run(state="failed", error="the disk is full")
    assert (job.run_outcome_line(broken), job.run_state(broken), job.run_result_role(broken)) == (
        "the disk is full", ("failed", "error"), "error",
    )  # fmt: skip


def test_sessions_that_failed_are_told_beside_those_that_did_not() -> None:
    some = run(report=JobReport(summary="2 sessions: 5 facts", counts={"sessions": 2, "failed": 1}))
    assert job.run_outcome_line(some) == "2 sessions: 5 facts; 1 session failed"
    assert (
        job.run_outcome_line(run(report=JobReport(summary="nothing", counts={"failed": 2})))
        == "2 sessions failed"
    )
    assert job.run_result_role(some) == "warning"


def test_a_job_says_when_it_runs_next() -> None:
    assert job.next_run_text(status(enabled=False), NOW)[0] == "switched off"
    assert job.next_run_text(status(next_due=None), NOW)[0] == "whenever there is something to do"
    assert job.next_run_text(status(next_due=NOW - 1), NOW)[0] == "due now"
    assert job.next_run_text(status(), NOW)[0].startswith("14 Nov ")
    assert [job.run_trigger_text(run(period=one)) for one in ("manual:x", "slot:7", "2023-11-14")] == [
        "asked for", "by itself", "for 2023-11-14",
    ]  # fmt: skip


def test_a_backup_says_what_it_was_made_for() -> None:
    assert (backup.backup_reason("manual"), backup.backup_reason("restore")) == (
        "asked for",
        "before a restore",
    )
    assert backup.short_backup_reason("maintenance") == "nightly"
    assert backup.backups_summary((), NOW) == "no backups yet"


def test_a_row_of_a_backup_says_what_it_holds_and_how_large_it_is() -> None:
    one = Backup(path=Path("a.db"), at=NOW - 7_200, reason="manual", size=2_000_000)
    other = Backup(path=Path("b.db"), at=NOW - 90_000, reason="manual", size=1_000_000)
    assert backup.list_entry(one, None) == "2.0 MB"
    assert (
        backup.list_entry(one, BackupContents(counts={"fact": 3, "trash": 1}))
        == "3 facts, 1 in Trash, 2.0 MB"
    )
    assert backup.list_entry(one, BackupContents(problem="it is cut off")) == "unusable: it is cut off"
    assert backup.list_total((one, other), NOW) == "3.0 MB in 2, 2h ago"
    assert backup.list_total((), NOW) == "none yet"


def test_health_is_told_in_sentences_and_a_verdict() -> None:
    stale = HealthFinding(kind="stale", total=2, ids=("fact_1", "fact_2"))
    report = HealthReport(findings=(stale,), at=NOW, seconds=0.1)
    assert health.finding_line(stale) == "2 facts may be over"
    assert health.health_line(report) == "1 thing to look at"
    line = health.check_verdict(CheckReport(ok=True, checks=("a", "b"), findings=(), seconds=0.12))
    assert "".join(text for text, _ in line) == "sound  2 checks in 0.1 s"


def test_a_question_says_what_it_expects_and_how_it_fared() -> None:
    saved = SavedQuery(
        query_id=1, name="", query="what does Ada eat?", filter="", profile=None, created_at=NOW,
        expected=("fact_1",), top=1,
    )  # fmt: skip
    place = ExpectedMemory(memory_id="fact_1", content="Ada eats no meat", rank=4, passed=False)
    failed = QuestionResult(question=saved, at=NOW, passed=False, places=(place,))
    assert question.expectation_text(saved) == "1 memory as the first hit"
    assert question.question_verdict(saved, None)[0] == "not asked yet"
    assert question.question_verdict(saved, failed) == ("fails", "error")
    assert question.rank_of_expected(place) == ("#4", "warning")
    assert question.results_line([failed]) == "1 of 1 fail"
    assert question.results_line([]) == "none expects an answer yet"
