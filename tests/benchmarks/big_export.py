"""How much memory a big ChatGPT export takes: made on the spot, read by ``memtui import`` in a process of its own.

    python tests/benchmarks/big_export.py [--size 1000] [--keep FOLDER] [--import]

Prints the largest resident size of the process (KiB on Linux), the rate and the counts: of a dry run, and with ``--import``
of an import and of importing the same again. ``--size`` is in MB of JSON; the file is written a conversation at a time.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

MB = 1_000_000
_WORDS = """
    the pump for the northern beds stops at noon we moved the sensor last week and since then Clara gets an alert each
    morning could it be the timer or the new relay from Porto keep the old schedule until May but test it on Friday
""".split()  # noqa: SIM905


def write_export(path: Path, size: int, seed: int = 1) -> tuple[int, int]:
    """Write a ``conversations.json`` of about ``size`` bytes; returns how many conversations and turns it holds."""
    random_ = random.Random(seed)
    talks = turns = written = 0
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        while written < size:
            length = random_.choice((4, 12, 40, 200))
            raw = json.dumps(_conversation(random_, talks, length))
            written += file.write(("," if talks else "") + raw)
            talks += 1
            turns += length
        file.write("]")
    return talks, turns


def _conversation(random_: random.Random, number: int, length: int) -> dict[str, Any]:
    mapping: dict[str, Any] = {}
    start = 1.6e9 + number * 3600
    for turn in range(length):
        words = " ".join(random_.choices(_WORDS, k=random_.choice((12, 60, 300))))
        mapping[f"{number}-{turn}"] = {
            "id": f"{number}-{turn}",
            "parent": f"{number}-{turn - 1}" if turn else None,
            "children": [f"{number}-{turn + 1}"] if turn + 1 < length else [],
            "message": {
                "id": f"m{number}-{turn}", "author": {"role": "assistant" if turn % 2 else "user"}, "recipient": "all",
                "create_time": start + turn, "content": {"content_type": "text", "parts": [f"{words} {number}.{turn}"]},
                "metadata": {},
            },
        }  # fmt: skip
    return {
        "id": f"c{number}", "title": f"Talk {number}", "create_time": start, "update_time": start + length,
        "mapping": mapping, "current_node": f"{number}-{length - 1}",
    }  # fmt: skip


def run(database: Path, *arguments: str) -> tuple[dict[str, Any], float, float, int]:
    """The report of ``memtui import``, its seconds, those of the processor, and its largest resident size in bytes."""
    command = [
        sys.executable,
        "-m",
        "memtui",
        "--db",
        str(database),
        "import",
        "--later",
        "--json",
        *arguments,
    ]
    started = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    out = process.stdout.read()
    process.stdout.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"memtui import failed: {out.decode()}")
    unit = 1 if sys.platform == "darwin" else 1024
    seconds = time.monotonic() - started
    return json.loads(out), seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=1000, help="MB of JSON")
    parser.add_argument("--keep", type=Path, help="a folder to leave the files in")
    parser.add_argument(
        "--import", dest="full", action="store_true", help="import it twice, not only a dry run"
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = given.keep or Path(folder)
        path = place / "conversations.json"
        talks, turns = write_export(path, given.size * MB)
        print(f"{path.stat().st_size / MB:,.0f} MB, {talks:,} conversations, {turns:,} turns")
        ways = [("dry run", ["--dry-run"])]
        if given.full:
            ways += [("import", []), ("again", [])]
        for name, options in ways:
            report, seconds, busy, resident = run(place / "memory.db", *options, str(path))
            print(
                f"{name:8} {resident / MB:5.0f} MB resident, {seconds:6.1f} s ({busy:.1f} s busy), "
                f"{turns / seconds:8,.0f} turns/s, "
                f"{report['imported']:,} imported, {report['already_there']:,} there, {report['skipped']:,} skipped"
            )


if __name__ == "__main__":
    main()
