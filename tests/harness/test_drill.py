"""Backup and restore while two processes write.

Passes when every backup holds all that was acknowledged before it began and checks clean, nobody is refused, and
what is restored equals the backup. Must fail on: copying the .db file alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = [
    pytest.mark.drill,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="the writers are forked"),
]


def run(place: Path, rounds: int, mutant: str = "") -> dict[str, Any]:
    here = Path(__file__).parent
    folder = place.parent / "kept"
    folder.mkdir()
    given = {"path": str(place), "rounds": rounds, "folder": str(folder), "mutant": mutant}
    ways = [
        str(here.parents[1]),
        str(here.parent),
        str(here),
        *os.environ.get("PYTHONPATH", "").split(os.pathsep),
    ]
    done = subprocess.run(
        [sys.executable, str(here / "drill.py"), json.dumps(given)],
        capture_output=True, text=True, timeout=900, check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, ways))},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def _restores(told: dict[str, Any]) -> list[tuple[float, float]]:
    """When the backup of each restore began, and when the restore had ended."""
    return [(entry["before"], entry["restored_at"]) for entry in told["rounds"] if entry["restored_at"]]


def refused(told: dict[str, Any]) -> list[dict[str, Any]]:
    """What a writer was denied; a fact that a restore took back under its hands was not there to be forgotten."""
    return [
        line
        for line in told["written"]
        if "failed" in line
        or (
            "gone" in line
            and not any(line["since"] <= ended and begun <= line["at"] for begun, ended in _restores(told))
        )
    ]


def lost(told: dict[str, Any]) -> list[str]:
    """What was acknowledged before a backup began and is not in it; a restore takes back what came after its backup."""
    missing = []
    restores = _restores(told)
    for entry in told["rounds"]:
        there = set(entry["ids"])
        for line in told["written"]:
            if "id" not in line or line["at"] >= entry["before"] or line["id"] in there:
                continue
            taken_back = any(
                begun <= line["at"] and line["since"] <= ended
                for begun, ended in restores
                if ended < entry["before"]
            )
            if not taken_back:
                missing.append(line["id"])
    return missing


def test_every_backup_is_whole_and_a_restore_is_equal_to_it(place: Path, sized: Callable[[int], int]) -> None:
    told = run(place, max(6, sized(60)))
    assert refused(told) == []
    assert len(told["written"]) > 20, "the writers really wrote"
    for entry in told["rounds"]:
        assert entry["ok"], entry["findings"]
    assert lost(told) == []
    assert told["live_ok"], told["findings"]
    assert told["last"]["ok"]
    assert told["live"] == told["last"]["hash"]
    assert all(entry["told_lost"] >= 0 for entry in told["rounds"] if entry["restored_at"])
    assert told["last_lost"] == 1
    assert told["same"], "afterwards nothing differs"


def test_the_harness_catches_copying_the_file_alone(place: Path) -> None:
    try:
        told = run(place, 6, mutant="copy the file")
    except AssertionError:
        return  # the copy could not even be used
    assert lost(told) or not all(entry["ok"] for entry in told["rounds"])
