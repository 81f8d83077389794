"""Measure what memtui promises, each figure beside its baseline of the same run.

usage: python tests/benchmarks/run.py [--full] [--only WORD] [--runs 7]

Default sizes are 20,000 memories; ``--full`` takes 100,000 and 1,000,000 (some minutes and 3 GB in a temporary
folder). Machines are noisy: figures are medians of several runs, and the ratio is what counts. Needs Linux.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import apsw
from corpus import Writer, add_vectors, build
from make_sessions import write_sessions
from memtui import Memory
from memtui.engine.records import Options, Profile
from memtui.engine.store import vectors
from terminal import Terminal

QUIET = Options(background=False, allow_unsafe_fs=True)
PAGE_DOWN = "\x1b[6~"
BARE = """
from textual.app import App
from textual.widgets import Footer, Header, Static
class Bare(App):
    def compose(self):
        yield Header()
        yield Static("first paint")
        yield Footer()
Bare().run()
"""


class Row(NamedTuple):
    what: str
    ours: str
    baseline: str
    ratio: float | None
    budget: str


class Bench:
    """Memories of the sizes asked for, built once each."""

    def __init__(self, folder: Path, runs: int, small: int, large: int) -> None:
        self.folder = folder
        self.runs = runs
        self.small = small
        self.large = large
        self._built: dict[tuple[int, bool], Path] = {}

    def memory(self, count: int, *, embedded: bool = False) -> Path:
        if (count, embedded) not in self._built:
            path = self.folder / f"{count}{'-vectors' if embedded else ''}" / "memory.db"
            path.parent.mkdir()
            print(f"  building {count:,} memories{' with vectors' if embedded else ''}", file=sys.stderr)
            build(path, count)
            if embedded:
                add_vectors(path)
            else:
                _empty_queue(path)
            self._built[count, embedded] = path
        return self._built[count, embedded]

    @contextmanager
    def app(self, path: Path) -> Iterator[Terminal]:
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        environment = {
            "HOME": str(home), "XDG_CONFIG_HOME": str(home), "XDG_DATA_HOME": str(home), "XDG_STATE_HOME": str(home),
        }  # fmt: skip
        command = [sys.executable, "-m", "memtui", "--allow-unsafe-fs", "--readonly", "--db", str(path)]
        with Terminal(command, environment) as terminal:
            yield terminal


def _empty_queue(path: Path) -> None:
    """As if links and vectors had been made, so that nothing but the measured thing runs."""
    connection = apsw.Connection(str(path))
    connection.execute("DELETE FROM index_queue")
    connection.close()


def _p95(samples: list[float]) -> float:
    return statistics.quantiles(samples, n=20)[-1]


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.1f} ms" if seconds >= 0.001 else f"{seconds * 1e3:.2f} ms"


def first_paint(bench: Bench) -> Iterator[Row]:
    path = bench.memory(1_000)
    ours, bare = [], []
    for _ in range(bench.runs):
        with Terminal([sys.executable, "-c", BARE], {}) as terminal:
            bare.append(terminal.read_until("first paint") - terminal.started)
        with bench.app(path) as terminal:
            ours.append(terminal.read_until("Mem") - terminal.started)
    a, b = statistics.median(ours), statistics.median(bare)
    yield Row("first paint, cold, beside a bare Textual app", _ms(a), _ms(b), a / b, "<= 1.4")


def table(bench: Bench) -> Iterator[Row]:
    rows: dict[int, list[float]] = {}
    keys: dict[tuple[int, str], list[float]] = {}
    resident: dict[int, list[float]] = {}
    for _ in range(max(3, bench.runs // 2)):
        for count in (1_000, bench.large):
            with bench.app(bench.memory(count)) as terminal:
                painted = terminal.read_until("Mem")
                rows.setdefault(count, []).append(terminal.read_until("◆") - painted)
                terminal.settle()
                for name, key in (("arrow", "j"), ("PgDn", PAGE_DOWN)):
                    terminal.press(key)
                    keys.setdefault((count, name), []).extend(terminal.press(key) for _ in range(15))
                terminal.settle()
                resident.setdefault(count, []).append(terminal.resident_megabytes())
    large = f"{bench.large:,} memories beside 1,000"
    a, b = statistics.median(rows[bench.large]), statistics.median(rows[1_000])
    yield Row(f"first row after paint, {large}", _ms(a), _ms(b), a / b, "<= 1.5")
    for name in ("arrow", "PgDn"):
        a, b = statistics.median(keys[bench.large, name]), statistics.median(keys[1_000, name])
        yield Row(f"{name}, {large}", _ms(a), _ms(b), a / b, "<= 1.5")
    a, b = statistics.median(resident[bench.large]), statistics.median(resident[1_000])
    yield Row(f"memory of the app, {large}", f"{a:.0f} MB", f"{b:.0f} MB", None, f"+10 MB (+{a - b:.0f})")


def keys_while_busy(bench: Bench) -> Iterator[Row]:
    path = bench.memory(5_000)
    with bench.app(path) as terminal:
        terminal.read_until("◆")
        terminal.settle()
        idle = [terminal.press("j") for _ in range(40)]
        stop = threading.Event()

        def work() -> None:
            with Memory.open(path, options=QUIET) as memory:
                for number in range(100_000):
                    if stop.is_set():
                        return
                    memory.record_turn("busy", "user", f"turn {number} of a session that goes on and on")

        worker = threading.Thread(target=work)
        worker.start()
        time.sleep(0.5)
        busy = [terminal.press("j") for _ in range(40)]
        stop.set()
        worker.join()
    a, b = statistics.median(busy), statistics.median(idle)
    yield Row("key latency while another process writes, beside idle", _ms(a), _ms(b), a / b, "<= 4")


def record_turn(bench: Bench) -> Iterator[Row]:
    writer = Writer(7)
    bare = apsw.Connection(str(bench.folder / "bare.db"))
    bare.pragma("journal_mode", "wal")
    bare.pragma("synchronous", 2)
    bare.execute(
        "CREATE TABLE t(rid INTEGER PRIMARY KEY, id TEXT, session TEXT, role TEXT, content TEXT, at INT)"
    )
    ours, theirs = [], []
    with Memory.open(bench.folder / "turns" / "memory.db", options=Options(allow_unsafe_fs=True)) as memory:
        for number, talk in enumerate(writer.talks(3_000)):
            begun = time.perf_counter()
            memory.record_turn(f"s{number // 30}", talk.role, talk.content)
            ours.append(time.perf_counter() - begun)
            begun = time.perf_counter()
            bare.execute("BEGIN IMMEDIATE")
            row = (f"ep_{number}", f"s{number // 30}", talk.role, talk.content, number)
            bare.execute("INSERT INTO t(id, session, role, content, at) VALUES (?, ?, ?, ?, ?)", row)
            bare.execute("COMMIT")
            theirs.append(time.perf_counter() - begun)
    bare.close()
    for name, at, budget in (("median", 0.5, ""), ("p99", 0.99, "<= 3, < 5 ms")):
        a, b = (sorted(samples)[int(len(samples) * at)] for samples in (ours, theirs))
        yield Row(f"record_turn, {name}, beside INSERT and COMMIT of the row", _ms(a), _ms(b), a / b, budget)


def imports(bench: Bench) -> Iterator[Row]:
    folder = bench.folder / "sessions"
    write_sessions(folder, max(20, bench.small // 100), 100, 1)
    with Memory.open(bench.folder / "import" / "memory.db", options=QUIET) as memory:
        begun = time.perf_counter()
        report = memory.import_paths([folder])
        seconds = time.perf_counter() - begun
        again = memory.import_paths([folder])
    speed = report.imported / seconds
    yield Row("import of Claude Code sessions, turns a second", f"{speed:,.0f}", "", None, ">= 5,000")
    yield Row(
        "the same again: nothing is added", _ms(again.seconds), _ms(seconds), again.seconds / seconds, ""
    )


def _timed(questions: list[str], ask: Callable[[str], object]) -> list[float]:
    ask(questions[0])
    samples = []
    for question in questions:
        begun = time.perf_counter()
        ask(question)
        samples.append(time.perf_counter() - begun)
    return samples


def _questions(count: int) -> list[str]:
    writer = Writer(3)
    return [writer.question() for _ in range(count)]


def keyword(bench: Bench) -> Iterator[Row]:
    only_words = Profile(name="words", vector=0.0, entity=0.0, neighbours=0.0, session=0.0)
    for count in dict.fromkeys((bench.small, bench.large)):
        with Memory.open(bench.memory(count), readonly=True, options=QUIET) as memory:
            ask = lambda q, m=memory: m.search(q, filter="kind:fact", profile=only_words)  # noqa: E731
            samples = _timed(_questions(100), ask)
        budget = {100_000: "<= 10 ms", 1_000_000: "<= 35 ms"}.get(count, "")
        yield Row(
            f"keyword arm, facts among {count:,} memories, p95 (median)",
            f"{_ms(_p95(samples))} ({_ms(statistics.median(samples))})", "", None, budget,
        )  # fmt: skip


def vector_and_hybrid(bench: Bench) -> Iterator[Row]:
    import numpy as np

    path = bench.memory(bench.small, embedded=True)
    matrix = np.random.default_rng(1).integers(-127, 128, (bench.small, 256), np.int8)
    passes = []
    for _ in range(11):
        begun = time.perf_counter()
        int(matrix.sum(dtype=np.int64))
        passes.append(time.perf_counter() - begun)
    query = matrix[0].tobytes()
    with Memory.open(path, readonly=True, options=QUIET) as memory:
        with memory._connections.read() as connection:
            statement = (
                f"SELECT rid FROM {vectors.index_table(connection)} "
                "WHERE embedding MATCH vec_int8(?) AND k = 100 ORDER BY distance"
            )
            arm = _timed(["q"] * 11, lambda _: connection.execute(statement, (query,)).fetchall())
        hybrid = _timed(_questions(60), memory.search)
    a, b = statistics.median(arm), statistics.median(passes)
    yield Row(
        f"vector arm, {bench.small:,} vectors, beside one read pass",
        _ms(a),
        _ms(b),
        a / b,
        "3, not gated yet",
    )
    yield Row(
        f"hybrid search, {bench.small:,} memories, p95 (median)",
        f"{_ms(_p95(hybrid))} ({_ms(statistics.median(hybrid))})", "", None, "<= 30 ms at 100,000",
    )  # fmt: skip


def resident(bench: Bench) -> Iterator[Row]:
    with bench.app(bench.memory(bench.small)) as terminal:
        terminal.read_until("◆")
        terminal.settle()
        for _ in range(20):
            terminal.press(PAGE_DOWN)
        size = terminal.resident_megabytes()
    yield Row(f"resident memory, app open on {bench.small:,}", f"{size:.0f} MB", "", None, "<= 150 MB")


PARTS: tuple[Callable[[Bench], Iterator[Row]], ...] = (
    first_paint, table, keys_while_busy, record_turn, imports, keyword, vector_and_hybrid, resident,
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--full", action="store_true", help="100,000 and 1,000,000 memories")
    parser.add_argument("--only", help="parts whose name contains this word")
    parser.add_argument("--runs", type=int, default=7, help="cold starts of each program")
    arguments = parser.parse_args()
    small, large = (100_000, 1_000_000) if arguments.full else (20_000, 20_000)
    print("| what | memtui | baseline | ratio | budget |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="memtui-bench-") as folder:
        bench = Bench(Path(folder), arguments.runs, small, large)
        for part in PARTS:
            if arguments.only and arguments.only not in part.__name__:
                continue
            for row in part(bench):
                ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
                print(f"| {row.what} | {row.ours} | {row.baseline} | {ratio} | {row.budget} |", flush=True)


if __name__ == "__main__":
    main()
