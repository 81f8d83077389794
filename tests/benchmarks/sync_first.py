"""How long the first sync takes, and how much memory: a memory of turns and facts to a folder, then into an empty file.

    python tests/benchmarks/sync_first.py [--memories 100000] [--age]

Prints seconds, the peak of resident memory that each side added (MB), and the size of the folder. Each side is a process of
its own. ``--age``: sealed for the devices of a group, as ``memtui sync FOLDER`` does; else plain.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from memtui import Memory
from memtui.engine.records import Options

OPTIONS = Options(background=False, embedder="off", allow_unsafe_fs=True)


def make(path: Path, memories: int) -> None:
    """Nine turns for each fact, as an import stores them."""
    from memtui.engine.store import history
    from memtui.engine.store import memories as rows

    with Memory.open(path, options=OPTIONS) as memory:
        core = memory._core
        op_id = history.begin_long(core.connections, core.clock, "import", "import", "Made a memory")
        for start in range(0, memories, 500):
            with history.continue_long(core.connections, op_id) as connection:
                for number in range(start, min(start + 500, memories), 50):
                    rows.insert_all(connection, [_row(one) for one in range(number, number + 50)])
        history.finish_long(core.connections, op_id, "Made a memory")


def _row(number: int) -> dict[str, object]:
    text = f"On day {number} we spoke about the harbour, the price of oranges and the {number % 977}th letter from Carl."
    kind = "fact" if number % 10 == 0 else "episode"
    return {
        "kind": kind, "content": text, "trust": "user", "event_time": 1_700_000_000 + number, "created_at": 1_700_000_000,
        "session_id": f"s{number // 200}" if kind == "episode" else None, "source_role": "user",
    }  # fmt: skip


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def sync(path: Path, folder: Path, age: bool, code: str) -> None:
    with Memory.open(path, options=OPTIONS) as memory:
        memory.stats()
        before, began = _peak(), time.perf_counter()
        report = memory.sync.join(str(folder), code) if code else memory.sync.run(str(folder), plain=not age)
        seconds = time.perf_counter() - began
        assert not report.problems, report.problems
        print(
            f"{path.stem}: sent {report.sent:,} received {report.received:,} lines in {seconds:.1f} s, "
            f"peak {_peak():.0f} MB (+{_peak() - before:.0f})",
            flush=True,
        )


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    given.add_argument("--memories", type=int, default=100_000)
    given.add_argument("--age", action="store_true")
    given.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    asked = given.parse_args()
    if asked.one:
        sync(Path(asked.one[0]), Path(asked.one[1]), asked.age, asked.one[2])
        return
    with tempfile.TemporaryDirectory() as place:
        here = Path(place)
        folder = here / "store"
        folder.mkdir()
        make(here / "first.db", asked.memories)
        environment = os.environ | {"XDG_CONFIG_HOME": str(here / "config")}
        age = ["--age"] if asked.age else []

        def one(name: str, code: str = "") -> None:
            command = [sys.executable, __file__, "--one", str(here / name), str(folder), code, *age]
            subprocess.run(command, check=True, env=environment)

        one("first.db")
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        print(
            f"the folder has {size / 1e6:.1f} MB in {sum(1 for _ in folder.rglob('*'))} entries", flush=True
        )
        os.environ |= environment
        code = ""
        if asked.age:  # a plain folder needs no invitation
            with Memory.open(here / "first.db", options=OPTIONS) as memory:
                code = memory.sync.invite().code
        one("second.db", code)
        with (
            Memory.open(here / "first.db", options=OPTIONS) as a,
            Memory.open(here / "second.db", options=OPTIONS) as b,
        ):
            print("equal content hashes:", a.files.content_hash() == b.files.content_hash())


if __name__ == "__main__":
    main()
