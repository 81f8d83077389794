"""Writers killed at random lose nothing that was acknowledged, and leave a file that passes its check.

Must fail on: acknowledging before COMMIT.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import rare_verbs
from memtui import Memory
from memtui.engine.errors import NotFoundError
from memtui.engine.records import Options

CREW = Path(__file__).with_name("crew.py")
OPTIONS = Options(background=False, embedder="off", allow_unsafe_fs=True)

pytestmark = [
    pytest.mark.kill9,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="the crew is forked"),
]


def run_crew(act: str, **given: Any) -> dict[str, Any]:
    ways = [str(CREW.parents[2]), str(CREW.parents[1]), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    done = subprocess.run(
        [sys.executable, str(CREW), act, json.dumps(given)],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, ways))},
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def broken_promises(memory: Memory, acknowledged: list[dict[str, Any]]) -> list[str]:
    """What was acknowledged and is not there (or not as it was acknowledged)."""
    broken = []
    for line in acknowledged:
        if "error" in line:
            broken.append(line["error"])
            continue
        try:
            if line["verb"] == "note":
                if memory.scratchpad.get(line["key"]).value != line["content"]:
                    broken.append(f"lost: {line}")
                continue
            if line["verb"] in rare_verbs.VERBS:
                if not rare_verbs.is_kept(memory, line):
                    broken.append(f"lost: {line}")
                continue
            row = memory.get(line["id"])
            kept = line["verb"] == "forget" or line.get("content", row.content) == row.content
            if line["verb"] == "restore":
                kept = row.valid_until is None
            elif line["verb"] == "tag":
                kept = line["tag"] in row.tags
            elif line["verb"] in ("forget", "redo"):
                kept = row.ended_by == "forgotten"
            elif line["verb"] == "undo":
                kept = any(operation.kind == "undo" for operation, _ in memory.view.history_of(row.id))
            elif line["verb"] == "correct":
                old = memory.get(line["old"])
                # Where an agent's text is forgotten since, what it replaced stands again.
                again = row.ended_by == "forgotten" and old.active
                kept = kept and row.supersedes == line["old"] and (old.ended_by == "superseded" or again)
        except NotFoundError:
            kept = False
        if not kept:
            broken.append(f"lost: {line}")
    return broken


def doubles(memory: Memory) -> int:
    """Rows with the same words: the writers never say the same twice."""
    with memory._core.connections.read() as connection:
        (count,) = connection.execute("SELECT count(*) - count(DISTINCT content) FROM memories").fetchone()
    return int(count)


def test_killed_writers_lose_nothing_they_acknowledged(
    place: Path, sized: Callable[[int], int], full: bool
) -> None:
    kills = sized(1_000)
    acknowledged: list[dict[str, Any]] = []
    for start in range(0, kills, 100):
        acknowledged += run_crew("kill9", path=str(place), kills=min(100, kills - start), seed=start)[
            "acknowledged"
        ]
        with Memory.open(place, options=OPTIONS) as memory:
            proof = memory.files.resume_erase()  # one of them was killed at it
            assert proof is None or proof.complete, proof
            assert broken_promises(memory, acknowledged) == []
            assert doubles(memory) == 0
            report = memory.files.check(deep=True)
            assert report.ok, report.findings
    print(Counter(line["verb"] for line in acknowledged))  # the figures of a full run
    # A run in which hardly anything was written would prove nothing.
    assert len(acknowledged) > kills // 3
    rare = rare_verbs.VERBS if full else ("merge", "import")
    assert {line["verb"] for line in acknowledged} >= {"record", "remember", "correct", *rare}


def test_the_harness_catches_an_acknowledgement_before_the_commit(place: Path) -> None:
    acknowledged = run_crew("kill9", path=str(place), kills=30, seed=7, mutant="ack before commit")[
        "acknowledged"
    ]
    with Memory.open(place, options=OPTIONS) as memory:
        assert broken_promises(memory, acknowledged)


@pytest.mark.parametrize("mutant", ["", "ack before commit"])
@pytest.mark.parametrize("verb", rare_verbs.VERBS)
def test_what_each_verb_that_takes_longer_acknowledged_is_looked_for(
    verb: str, mutant: str, place: Path
) -> None:
    Memory.open(place, options=OPTIONS).close()
    given = {"mutant": mutant} if mutant else {}
    acknowledged = run_crew("killed_after", path=str(place), verb=verb, **given)["acknowledged"]
    assert len(acknowledged) == 1
    with Memory.open(place, options=OPTIONS) as memory:
        assert bool(broken_promises(memory, acknowledged)) == bool(mutant)
