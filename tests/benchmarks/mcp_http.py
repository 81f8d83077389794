"""``search_memory`` over HTTP beside standard input and output: the same questions, in turn, on two servers of one file.

python tests/benchmarks/mcp_http.py [--full] [--questions 300] [--legacy]

Both servers only read, so that nothing is made in the background meanwhile. The same question is put to both, one right after
the other, in changing order. On a busy machine the times of either say more about the others that run there: whoever works
longer than a slice of the scheduler waits for all of them. The processor's time (Linux) is what remains on a quiet one.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import NamedTuple

import httpx2
from corpus import Writer, add_vectors, build
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from memtui.access.tokens import TokenFile

from mcp import Client, StdioServerParameters

ROOT = Path(__file__).parents[2]
BUDGET = 0.005
WARM = 20


class Asked(NamedTuple):
    """Of one question: seconds on the clock, and of the processor in the client."""

    took: float
    client: float


class Taken(NamedTuple):
    """Of all questions on one of the two ways, with the seconds of the processor in the server for each (0: not known)."""

    asked: list[Asked]
    server: float

    @property
    def took(self) -> list[float]:
        return [one.took for one in self.asked]

    @property
    def processor(self) -> float:
        return statistics.fmean(one.client for one in self.asked) + self.server


async def ask(client: Client, question: str) -> Asked:
    begin, busy = time.perf_counter(), time.process_time()
    result = await client.call_tool("search_memory", {"query": question})
    assert not result.is_error, result
    return Asked(time.perf_counter() - begin, time.process_time() - busy)


def processor(process: int) -> float:
    """Seconds of the processor that a process has used; 0 where that cannot be known."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def children(parent: int) -> Iterator[int]:
    """The processes that one started; none where that cannot be known."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(path.read_text().rpartition(")")[2].split()[1]) == parent:
                yield int(path.parent.name)
        except OSError:
            continue


async def measure(
    memory: Path, environment: dict[str, str], questions: int, mode: str
) -> tuple[Taken, Taken]:
    """What the same questions took over standard input and output, and over HTTP."""
    command = ["-m", "memtui", "mcp", "--db", str(memory), "--readonly", "--no-jobs"]
    token = (
        TokenFile(Path(environment["HOME"]) / ".config/memtui/tokens.json")
        .add_token("benchmark", memory)
        .text
    )
    writer = Writer(7)
    taken: tuple[list[Asked], list[Asked]] = ([], [])
    async with AsyncExitStack() as stack:
        server = subprocess.Popen(
            [sys.executable, *command, "--http", "--port", "0"],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        stack.callback(server.wait)
        stack.callback(server.terminate)
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        pipe = stdio_client(StdioServerParameters(command=sys.executable, args=command, env=environment))
        started = set(children(os.getpid()))
        near = await stack.enter_async_context(Client(pipe, mode=mode))
        [near_server] = set(children(os.getpid())) - started or {0}
        headers = {"Authorization": f"Bearer {token}"}
        http = await stack.enter_async_context(
            httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False)
        )
        far = await stack.enter_async_context(
            Client(streamable_http_client(url, http_client=http), mode=mode)
        )
        servers = near_server, server.pid
        used = [0.0, 0.0]
        for number in range(WARM + questions):
            if number == WARM:
                used = [processor(one) for one in servers]
            question = writer.question()
            for way in (0, 1) if number % 2 else (1, 0):
                asked = await ask((near, far)[way], question)
                if number >= WARM:
                    taken[way].append(asked)
        used = [(processor(one) - before) / questions for one, before in zip(servers, used, strict=True)]
    return Taken(taken[0], used[0]), Taken(taken[1], used[1])


def p95(seconds: list[float]) -> float:
    return statistics.quantiles(seconds, n=20)[-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="100,000 memories, not 20,000")
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--legacy", action="store_true", help="the protocol before 2026")
    given = parser.parse_args()
    count = 100_000 if given.full else 20_000
    with tempfile.TemporaryDirectory() as folder:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("MEMTUI_", "XDG_"))}
        environment = {**kept, "PYTHONPATH": str(ROOT), "HOME": folder}
        memory = build(Path(folder) / "memory.db", count)
        add_vectors(memory)
        near, far = asyncio.run(
            measure(memory, environment, given.questions, "legacy" if given.legacy else "auto")
        )
    print(f"search_memory at {count:,} memories, {given.questions} questions, in ms")
    for what, way in (("standard input and output", near), ("HTTP", far)):
        print(
            f"{what:26} median {statistics.median(way.took) * 1e3:7.1f}   p95 {p95(way.took) * 1e3:7.1f}"
            f"   processor {way.processor * 1e3:6.1f}, of it in the server {way.server * 1e3:6.1f}"
        )
    more = statistics.median(two - one for one, two in zip(near.took, far.took, strict=True))
    apart, busy = p95(far.took) - p95(near.took), far.processor - near.processor
    verdict = "ok" if apart <= BUDGET else f"MISSED {BUDGET * 1e3:.0f}"
    print(
        f"{'HTTP takes longer by':26} median {more * 1e3:7.1f}   p95 {apart * 1e3:7.1f}   processor {busy * 1e3:6.1f}  {verdict}"
    )


if __name__ == "__main__":
    main()
