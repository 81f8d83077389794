"""Play random histories of three syncing devices, as ``pytest -m sync`` does, and print how many kept their promises.

    python tests/benchmarks/sync_histories.py 200                 200 histories, from a seed that is drawn and printed
    python tests/benchmarks/sync_histories.py 200 --from 700000   these 200, again
    python tests/benchmarks/sync_histories.py 5000 --at-once 2    in two processes

One takes about a second. Of each that fails the fewest steps that still fail are printed, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from shutil import rmtree
from time import perf_counter

import pytest

TESTS = Path(__file__).parent.parent
sys.path[:0] = [str(TESTS), str(TESTS / "harness")]

from sync_story import begin  # noqa: E402
from test_sync import events, happen, shortest  # noqa: E402


def play(beginning: Path, seed: int) -> list[str]:
    """What is wrong after the history of a seed, and its steps; nothing if all is well."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        place = Path(folder)
        if not happen(beginning, place / "whole", seed, patch):
            return []
        rmtree(place / "whole", ignore_errors=True)
        return shortest(beginning, place / "shorter", seed, patch)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("histories", type=int)
    parser.add_argument("--from", dest="first", type=int, help="the first seed")
    parser.add_argument("--at-once", type=int, default=1, help="processes")
    options = parser.parse_args()
    first = random.randrange(1_000_000, 2_000_000_000) if options.first is None else options.first
    seeds = range(first, first + options.histories)
    removing = sum(any(event.endswith("remove") for event in events(seed)) for seed in seeds)
    began, failed = perf_counter(), 0
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(options.at_once) as pool:
        for wrong in pool.map(partial(play, begin(Path(folder))), seeds):
            if wrong:
                failed += 1
                print("\n".join(wrong), end="\n\n", flush=True)
    print(f"{len(seeds):,} histories (seeds {first} to {seeds[-1]}, {removing:,} with a removed device): "
          f"{len(seeds) - failed:,} passed, {failed:,} failed, in {perf_counter() - began:,.0f} s")  # fmt: skip
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
