"""How long Claude Code waits for its hook: whole processes, from start to end, on memories of several sizes.

python tests/benchmarks/hook_time.py [--full] [rounds]

Wall time is what the agent waits; processor time says what of it is the hook's own on a busy machine. An
interpreter that does nothing is measured beside it.
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

from corpus import Writer, build
from memtui import Memory
from memtui.engine.records import Options

ROOT = Path(__file__).parents[2]
BUDGET_MS = 150


def timed(command: list[str], events: list[bytes], environment: dict[str, str]) -> tuple[float, float]:
    """Medians of the milliseconds that whole processes take: by the clock, and of the processor."""
    walls, used = [], []
    for event in events:
        begin = time.perf_counter()
        program = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=environment,
        )  # fmt: skip
        assert program.stdin is not None
        program.stdin.write(event)
        program.stdin.close()
        _, status, usage = os.wait4(program.pid, 0)
        program.returncode = os.waitstatus_to_exitcode(status)
        walls.append((time.perf_counter() - begin) * 1000)
        used.append((usage.ru_utime + usage.ru_stime) * 1000)
    return statistics.median(walls), statistics.median(used)


def events(kind: str, texts: list[str]) -> list[bytes]:
    field = "prompt" if kind == "UserPromptSubmit" else "last_assistant_message"
    common = {"session_id": "s", "cwd": "/home/ada/work", "hook_event_name": kind}
    return [json.dumps({**common, field: text}).encode() for text in texts]


def show(what: str, wall: float, used: float, *, judged: bool = True) -> None:
    verdict = f"  {'ok' if wall < BUDGET_MS else f'over {BUDGET_MS} ms'}" if judged else ""
    print(f"{what:34} {wall:6.0f} ms  processor {used:5.0f} ms{verdict}")


def main() -> None:
    arguments = [argument for argument in sys.argv[1:] if argument != "--full"]
    rounds = int(arguments[0]) if arguments else 21
    sizes = (1_000, 100_000) if "--full" in sys.argv else (1_000, 20_000)
    writer = Writer(7)
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": folder}
        # Programs start from bytecode, as they do where they are installed.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        environment["PYTHONPYCACHEPREFIX"] = str(Path(folder) / "bytecode")
        show("an interpreter that does nothing",
             *timed([sys.executable, "-c", ""], [b""] * rounds, environment), judged=False)  # fmt: skip
        for size in sizes:
            memory = build(Path(folder) / f"{size}.db", size)
            with Memory.open(memory, options=Options(background=False, embedder="off")) as opened:
                opened.models.index_pending(0)
            command = [
                sys.executable, "-c", "from memtui.cli import main; main()", "hook", "claude-code",
                f"--db={memory}", "--agent=claude-code", f"--config={folder}/config.toml",
            ]  # fmt: skip
            for kind in ("UserPromptSubmit", "Stop"):
                texts = [
                    writer.question() if kind == "UserPromptSubmit" else writer.text() for _ in range(rounds)
                ]
                timed(command, events(kind, texts[:2]), environment)
                show(f"{kind}, {size:,} memories", *timed(command, events(kind, texts), environment))
            status = [*command[:3], "status", "--line", f"--db={memory}"]
            timed(status, [b""] * 2, environment)
            show(f"status --line, {size:,} memories", *timed(status, [b""] * rounds, environment))


if __name__ == "__main__":
    main()
