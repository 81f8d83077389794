"""How long an MCP client waits for its first answer, beside importing the SDK's server alone.

python tests/benchmarks/mcp_start.py [rounds]
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUDGET = 1.3
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "benchmark", "version": "1"},
    },
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
TOOLS = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}


def imported(environment: dict[str, str]) -> float:
    """Seconds from the start of an interpreter until it has the SDK's server and its transport."""
    begin = time.perf_counter()
    command = [sys.executable, "-c", "import mcp.server.stdio; print(flush=True)"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        program.stdout.readline()
        return time.perf_counter() - begin


def answered(memory: Path, environment: dict[str, str]) -> tuple[float, float]:
    """Seconds from the start of a server to its answer to the greeting, and to the list of its tools."""
    begin = time.perf_counter()
    command = [sys.executable, "-m", "memtui", "mcp", "--db", str(memory)]
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps(HELLO).encode() + b"\n")
        server.stdin.flush()
        assert json.loads(server.stdout.readline())["id"] == 1
        greeted = time.perf_counter() - begin
        server.stdin.write("".join(json.dumps(message) + "\n" for message in (READY, TOOLS)).encode())
        server.stdin.flush()
        assert json.loads(server.stdout.readline())["id"] == 2
        listed = time.perf_counter() - begin
        server.stdin.close()
    return greeted, listed


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 11
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": folder}
        # Programs start from bytecode, as they do where they are installed.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        environment["PYTHONPYCACHEPREFIX"] = str(Path(folder) / "bytecode")
        memory = Path(folder) / "memory.db"
        imported(environment)
        answered(memory, environment)
        alone, greeted, listed = [], [], []
        for _ in range(rounds):
            alone.append(imported(environment))
            first, second = answered(memory, environment)
            greeted.append(first)
            listed.append(second)
    base = statistics.median(alone)
    print(f"importing the SDK's server   {base * 1000:6.0f} ms")
    for what, times in (("first answer (initialize)", greeted), ("list of tools", listed)):
        middle = statistics.median(times)
        verdict = "" if times is listed else "  ok" if middle <= BUDGET * base else f"  MISSED {BUDGET}"
        print(f"{what:28} {middle * 1000:6.0f} ms  {middle / base:.2f}x{verdict}")


if __name__ == "__main__":
    main()
