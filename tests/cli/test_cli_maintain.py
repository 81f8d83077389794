"""The night shift and the backups on the command line."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest
from cli_kit import Cli, Program
from memtui import Memory
from memtui.engine.records import Options

OPTIONS = Options(background=False, embedder="off")
DAY = 86_400


@pytest.fixture
def fading(home: Path) -> Path:
    """A memory in which three of an agent's facts have faded."""
    place = home / "memory.db"
    then = time.time() - 60 * DAY
    with Memory.open(place, actor="agent:a", clock=lambda: then, options=OPTIONS) as memory:
        for number in range(3):
            memory.remember(f"the ferry leaves at {number}")
    return place


@pytest.mark.usefixtures("fading")
def test_one_job_runs_now_and_says_how_to_take_it_back(cli: Cli) -> None:
    dry = cli("maintain", "--job", "decay", "--dry-run")
    assert dry.code == 0
    assert "would fade 3 facts" in dry.out
    assert all(f"the ferry leaves at {number}" in dry.out for number in range(3))
    assert "none within 30 days" in dry.err
    assert cli("stats", "--json").json["by_kind"] == {"fact": 3}
    result = cli("maintain", "--job", "decay")
    assert result.code == 0
    assert "faded 3 facts" in result.out
    assert "To undo it: memtui undo" in result.out
    assert cli("stats", "--json").json["ended"] == 3
    (run, *_) = cli("maintain", "--runs", "5", "--json").json["runs"]
    assert (run["job"], run["state"], run["report"]["counts"]["faded"]) == ("decay", "done", 3)
    assert cli("undo", str(run["op_id"])).code == 0
    assert cli("stats", "--json").json["ended"] == 0


@pytest.mark.usefixtures("fading")
def test_once_runs_what_is_due_and_tells_what_comes_when_nothing_is(cli: Cli) -> None:
    first = cli("maintain", "--once", "--json")
    assert first.code == 0
    assert {run["job"] for run in first.json["runs"]} <= {"backup", "embedding"}
    again = cli("maintain", "--once")
    assert again.code == 0
    assert "nothing is due" in again.out
    assert "next: " in again.err
    assert cli("maintain", "--once", "--dry-run", "--json").json == {"runs": []}


@pytest.mark.usefixtures("fading")
def test_status_lists_every_job_and_a_job_can_be_switched_off(cli: Cli) -> None:
    status = cli("maintain", "--status")
    assert status.code == 0
    assert [line.split()[0] for line in status.out.splitlines()[:4]] == [
        "Jobs",
        "Health",
        "Growth",
        "Storage",
    ]
    for name in ("enrichment", "consolidation", "decay", "reflection", "history", "embedding", "backup"):
        assert name in status.out
    assert "daily 04:00" in status.out
    off = cli("maintain", "--disable", "decay", "--json")
    assert {job["name"]: job["enabled"] for job in off.json["jobs"]}["decay"] is False
    assert cli("maintain", "--enable", "decay", "--json").json["jobs"][2]["enabled"] is True
    assert cli("--readonly", "maintain", "--status").code == 0
    assert cli("--readonly", "maintain", "--job", "decay").code == 4


@pytest.mark.usefixtures("fading")
@pytest.mark.parametrize(
    ("arguments", "code"),
    [(("--once", "--job", "decay"), 2), (("--dry-run",), 2), (("--job", "nap"), 3), (("--runs", "0"), 2)],
)
def test_calls_that_make_no_sense_are_refused(cli: Cli, arguments: tuple[str, ...], code: int) -> None:
    result = cli("maintain", *arguments)
    assert result.code == code
    assert "hint: " in result.err


def test_a_clock_that_jumped_is_told_and_can_be_accepted(cli: Cli, fading: Path) -> None:
    cli("maintain", "--once")
    with Memory.open(fading, options=OPTIONS) as memory, memory._core.connections.write() as connection:
        connection.execute(
            "UPDATE memory_metadata SET value = ? WHERE key = 'clock_high_water'",
            (str(int(time.time() - 5 * DAY)),),
        )
    assert "5 days" in cli("maintain", "--status").err
    once = cli("maintain", "--once", "--json")
    assert "--accept-clock" in once.err and '"decay"' not in once.out
    refused = cli("maintain", "--job", "decay")
    assert refused.code == 3
    assert "--accept-clock" in refused.err
    assert cli("maintain", "--accept-clock").code == 0
    assert cli("maintain", "--job", "decay").code == 0


@pytest.mark.usefixtures("fading")
def test_a_job_that_cannot_work_says_why(cli: Cli) -> None:
    result = cli("maintain", "--job", "reflection")
    assert result.code == 0
    assert "skipped  reflection  no language model is configured" in result.out
    assert "skipped just now" in cli("maintain", "--status").out


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.usefixtures("fading")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_stays_until_it_is_told_to_end(program: Program, number: int) -> None:
    running = program("maintain")
    assert running.stderr is not None
    assert b"Running the jobs" in running.stderr.readline()
    second = program("maintain")
    assert second.stderr is not None
    assert b"Waiting to take over" in second.stderr.readline()
    for process in (second, running):
        process.send_signal(number)
        assert process.wait(120) == 0


def test_backups_are_made_listed_and_restored(cli: Cli, fading: Path) -> None:
    assert cli("backup", "list").code == 1
    made = cli("backup")
    assert made.code == 0
    assert "backed up" in made.out
    cli("remember", "added after the backup")
    (entry,) = cli("backup", "list", "--json").json["backups"]
    assert entry["reason"] == "manual"
    assert Path(entry["path"]).parent == fading.parent / "backups"
    assert entry["path"].rsplit("/", 1)[-1] in cli("backup", "list").out
    done = cli("restore", "latest", "--yes")
    assert done.code == 0
    assert "restored" in done.out
    assert "-restore.db" in done.err
    assert cli("stats", "--json").json["active"] == 3
    before = json.loads(cli("backup", "list", "--json").out)["backups"]
    assert {backup["reason"] for backup in before} == {"manual", "restore"}
    cli("restore", next(b["path"] for b in before if b["reason"] == "restore"), "--yes")
    assert cli("stats", "--json").json["active"] == 4
    assert cli("check").code == 0


@pytest.mark.usefixtures("fading")
@pytest.mark.parametrize("arguments", [("list", "latest"), ("burn",)])
def test_backup_calls_that_make_no_sense_are_refused(cli: Cli, arguments: tuple[str, ...]) -> None:
    assert cli("backup", *arguments).code == 2


def test_without_a_memory_nothing_is_created(cli: Cli, home: Path) -> None:
    assert cli("maintain", "--once").code == 4
    assert cli("backup").code == 4
    assert list(home.iterdir()) == []


def test_a_killed_night_shift_frees_its_place(program: Program, fading: Path) -> None:
    running = program("maintain")
    assert running.stderr is not None
    assert b"Running the jobs" in running.stderr.readline()
    running.kill()
    running.wait()
    with Memory.open(fading, options=OPTIONS) as memory:
        assert memory.jobs.lead()
