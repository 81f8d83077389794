"""How long it takes to decide about many facts at once: tag, forget, take back, export. Each decision is stamped.

    python tests/benchmarks/decisions.py [--size 20000] [--rounds 5] [--against CHECKOUT]

``--against``: another checkout of the program, in which the same runs in turn, in the same minute; the ratio of the
medians is printed. The memory is built anew for each round, so that no round finds what another one left.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]


def measure(folder: Path, size: int) -> dict[str, float]:
    """Milliseconds of processor time by what is done."""
    from memtui import Memory
    from memtui.engine.records import Options

    facts = [
        {
            "id": f"{number}",
            "memory": f"The user keeps the plant number {number} in room {number % 97}",
            "user_id": "ada",
        }
        for number in range(size)
    ]
    (folder / "facts.json").write_text(json.dumps({"results": facts}))
    options = Options(background=False, embedder="off", allow_unsafe_fs=True)
    found: dict[str, float] = {}

    def timed(what: str, work: Callable[[], object]) -> None:
        begin = time.process_time()
        work()
        found[what] = (time.process_time() - begin) * 1000

    with Memory.open(folder / "memory.db", options=options) as memory:
        memory.files.import_paths([folder / "facts.json"])
        rids = [rid for part in memory.view.rids("kind:fact") for rid in part]
        assert len(rids) == size
        timed("export", lambda: memory.files.export(folder / "before.jsonl"))
        timed("tag", lambda: memory.change_all("tag", rids, add=["plants"]))
        timed("undo of tag", memory.undo)
        timed("redo of tag", memory.redo)
        timed("forget", lambda: memory.change_all("forget", rids))
        timed("undo of forget", memory.undo)
        timed("confirm", lambda: memory.change_all("confirm", rids))
        timed("export of decided", lambda: memory.files.export(folder / "after.jsonl"))
    return found


def run(checkout: Path, size: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        program = subprocess.run(
            [sys.executable, __file__, "--size", str(size), "--once", folder],
            env=os.environ | {"PYTHONPATH": str(checkout)}, stdout=subprocess.PIPE, check=True,
        )  # fmt: skip
    result: dict[str, float] = json.loads(program.stdout)
    return result


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--once", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.once:
        print(json.dumps(measure(given.once, given.size)))
        return
    checkouts = [ROOT, *([given.against] if given.against else [])]
    rounds: dict[Path, list[dict[str, float]]] = {checkout: [] for checkout in checkouts}
    for number in range(given.rounds):
        for checkout in checkouts if number % 2 else reversed(checkouts):
            rounds[checkout].append(run(checkout, given.size))
    for what in rounds[ROOT][0]:
        medians = [statistics.median(one[what] for one in rounds[checkout]) for checkout in checkouts]
        beside = f"  {medians[1]:8.0f} ms  {medians[0] / medians[1]:5.2f}" if given.against else ""
        print(f"{what:20} {medians[0]:8.0f} ms{beside}")


if __name__ == "__main__":
    main()
