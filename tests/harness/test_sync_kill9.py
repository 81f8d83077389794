"""Syncs over a folder that are killed by SIGKILL lose nothing, apply nothing twice, and the next ones bring all together.

Must fail on: noting a batch as sent before it is written; writing without an atomic rename.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import killed_syncs
import pytest
from killed_syncs import NAMES, STAGES, open_device, settle

pytest.importorskip("pyrage", reason="sync is encrypted")
pytestmark = [
    pytest.mark.sync,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="the devices are forked"),
]
PROGRAM = Path(killed_syncs.__file__)


@pytest.fixture(autouse=True)
def own_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """``open_device`` names them."""
    monkeypatch.setenv("XDG_CONFIG_HOME", "")


def run_killed(
    folder: Path, kills: int, seed: int, *, snapshots: bool, erases: bool, mutant: str = ""
) -> dict[str, Any]:
    ways = [
        str(PROGRAM.parents[2]),
        str(PROGRAM.parents[1]),
        *os.environ.get("PYTHONPATH", "").split(os.pathsep),
    ]
    given = {
        "folder": str(folder),
        "kills": kills,
        "seed": seed,
        "snapshots": snapshots,
        "erases": erases,
        "mutant": mutant,
    }
    done = subprocess.run(
        [sys.executable, str(PROGRAM), json.dumps(given)],
        capture_output=True, text=True, timeout=900, check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, ways))},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def wrongs(folder: Path, reported: list[dict[str, Any]]) -> list[str]:
    """What is wrong once both devices synced, and a third one joined."""
    found = [str(line) for line in reported if "error" in line]
    found += [str(one.problems) for one in settle(str(folder), NAMES) if one.problems]
    if found:
        return found
    with open_device(str(folder), NAMES[0]) as memory:
        code = memory.sync.invite().code
    with open_device(str(folder), "phone") as memory:
        memory.sync.join(str(folder / "store"), code)
    names = (*NAMES, "phone")
    found += [str(one.problems) for one in settle(str(folder), names) if one.problems]
    gone = {line["id"] for line in reported if line.get("verb") == "erase"}
    may_be_gone = {line["id"] for line in reported if line.get("verb") == "erasing"}
    hashes = set()
    for name in names:
        with open_device(str(folder), name) as memory:
            hashes.add(memory.files.content_hash())
            with memory._core.connections.read() as connection:
                rows: Any = connection.execute("SELECT id, content, tags FROM memories").fetchall()
            here = {id: (content, tags) for id, content, tags in rows}
            if len({content for _, content, _ in rows}) < len(rows):
                found.append(f"{name}: applied twice")
            found += [f"{name}: erased, and here: {id}" for id in gone & here.keys()]
            for line in reported:
                if line.get("verb") in ("remember", "correct", "tag") and line["id"] not in may_be_gone:
                    content, tags = here.get(line["id"], ("", ""))
                    if line.get("content", content) != content or line.get("tag", "") not in tags:
                        found.append(f"{name}: lost: {line}")
            report = memory.files.check(deep=True)
            found += [f"{name}: {one}" for one in report.findings if not report.ok]
    return found + (["they do not end alike"] if len(hashes) > 1 else [])


def test_killed_syncs_lose_nothing_and_apply_nothing_twice(
    tmp_path: Path, sized: Callable[[int], int], full: bool
) -> None:
    kills = sized(400)
    for seed in range(0, kills, 20):
        folder = tmp_path / str(seed)
        folder.mkdir()
        done = run_killed(folder, 20, seed, snapshots=seed % 40 == 0, erases=full)
        assert wrongs(folder, done["reported"]) == []
        print(done["struck"], len(done["reported"]))  # the figures of a full run
        # A run in which hardly a sync was struck would prove nothing.
        assert sum(done["struck"].get(stage, 0) for stage in STAGES.values()) >= 4


@pytest.mark.parametrize("mutant", killed_syncs.MUTANTS)
def test_a_fault_at_sending_is_noticed(tmp_path: Path, mutant: str) -> None:
    done = run_killed(tmp_path, 30, 7, snapshots=False, erases=True, mutant=mutant)
    assert wrongs(tmp_path, done["reported"])
