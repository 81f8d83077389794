"""Many processes write one file while others read, back up and checkpoint it.

Passes when nobody is refused, nothing is lost and nothing is there twice. Must fail on: BEGIN DEFERRED.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest
from memtui import Memory
from test_kill9 import OPTIONS, run_crew

from state_hash import all_rids

pytestmark = [
    pytest.mark.contention,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="the crew is forked"),
]


def failures(outcome: dict[str, Any]) -> list[str]:
    lines = outcome["written"] + outcome["watched"]
    return [line.get("failed") or line["error"] for line in lines if "failed" in line or "error" in line]


@pytest.mark.parametrize(("writers", "each"), [(8, 250), pytest.param(16, 125, marks=pytest.mark.long)])
def test_writers_are_never_refused_and_lose_nothing(
    writers: int, each: int, place: Path, tmp_path: Path, sized: Callable[[int], int]
) -> None:
    each = max(25, sized(each))
    backups = tmp_path / "copies"
    outcome = run_crew("contention", path=str(place), writers=writers, each=each, folder=str(backups))

    assert failures(outcome) == []
    told = [line for line in outcome["written"] if "id" in line]
    assert len(told) == writers * each
    with Memory.open(place, options=OPTIONS) as memory:
        assert memory.view.count("kind:episode") == writers * each
        contents = Counter(row.content for row in memory.view.rows(all_rids(memory, "kind:episode")))
        assert contents == Counter(line["content"] for line in told)
        assert all(
            memory.get(line["id"]).content == line["content"] for line in told[:: max(1, len(told) // 50)]
        )
        assert memory.view.count("tag:tenth kind:episode") == writers * (each // 10)
        report = memory.files.check(deep=True)
        assert report.ok, report.findings

    # The others really ran beside them, and what they made is good.
    rounds = {line["act"]: line["rounds"] for line in outcome["watched"]}
    assert all(rounds[act] > 0 for act in ("read", "backup", "checkpoint")), rounds
    for copy in backups.glob("*.db"):
        connection = apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READONLY)
        assert connection.pragma("quick_check") == "ok"
        connection.close()


def test_the_harness_catches_a_deferred_begin(place: Path, tmp_path: Path) -> None:
    outcome = run_crew(
        "contention",
        path=str(place),
        writers=8,
        each=40,
        folder=str(tmp_path / "copies"),
        mutant="deferred begin",
    )
    assert failures(outcome)


def test_processes_that_create_a_file_together_share_it(place: Path) -> None:
    lines = run_crew("create", path=str(place), processes=8)["lines"]
    assert [line for line in lines if "error" in line] == []
    with Memory.open(place, options=OPTIONS) as memory:
        assert memory.view.count("kind:episode") == 8
        assert {memory.get(line["id"]).session_id for line in lines} == {"creation"}
        assert memory.files.check(deep=True).ok
    assert [path.name for path in place.parent.iterdir()] == ["memory.db"], "a half-made file was left behind"
