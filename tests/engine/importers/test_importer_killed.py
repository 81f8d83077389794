"""An import whose process is killed: what it brought in can be undone, and running it again completes it.

And how much memory a long one takes. Both need a process of their own.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import memtui
from memtui import Memory
from memtui.engine.records import Options

QUIET = Options(background=False, embedder="off")
ROOT = Path(memtui.__file__).parent.parent
IMPORT = """
import resource, sys, time
from memtui import Memory
from memtui.engine.records import Options

def progress(done):
    print(done.imported, flush=True)
    if len(sys.argv) > 3 and done.imported >= int(sys.argv[3]):
        time.sleep(0.05)

with Memory.open(sys.argv[1], options=Options(background=False, embedder="off")) as memory:
    memory.files.import_paths([sys.argv[2]], progress=progress)
print("peak", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def start(memory: Path, source: Path, *slow_from: str) -> subprocess.Popen[str]:
    """``slow_from``: from so many turns on it takes its time, so that it can be killed before its end."""
    command = [sys.executable, "-c", IMPORT, str(memory), str(source), *slow_from]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def turns(path: Path, count: int) -> Path:
    with path.open("w") as file:
        for number in range(count):
            line = {
                "role": "user",
                "content": f"turn {number} " + "words " * 20,
                "session": f"s{number // 50}",
            }
            file.write(json.dumps(line) + "\n")
    return path


def test_a_killed_import_is_resumed_and_both_parts_can_be_undone(tmp_path: Path) -> None:
    source = turns(tmp_path / "source", 8_000)
    path = tmp_path / "home" / "memory.db"
    process = start(path, source, "2000")
    assert process.stdout
    done = 0
    while done < 2_000:
        done = int(process.stdout.readline())
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    with Memory.open(path, options=QUIET) as memory:
        there = memory.stats().active
        assert done <= there < 8_000
        report = memory.files.import_paths([source])
        assert (report.imported, report.already_there) == (8_000 - there, there)
        assert memory.stats().active == 8_000
        assert memory.files.check().ok
        labels = [operation.label for operation in memory.view.operations()]
        assert labels == [
            f"Imported {8_000 - there:,} turns from JSONL",
            "Importing from JSONL (interrupted)",
        ]
        memory.undo()
        assert memory.stats().active == there
        memory.undo()
        assert memory.stats().active == 0
        assert memory.stats().sessions == 0


def test_memory_does_not_grow_with_the_number_of_turns(tmp_path: Path) -> None:
    peaks = []
    for count in (4_000, 24_000):
        process = start(tmp_path / f"home{count}" / "memory.db", turns(tmp_path / f"{count}", count))
        out, _ = process.communicate()
        peaks.append(int(out.split()[-1]))
    short, long = peaks
    assert long - short < 8_000  # kilobytes; the turns themselves are 5 MB of text
