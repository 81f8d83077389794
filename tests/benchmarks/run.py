"""Measure what memtui promises, each figure beside its baseline of the same run.

usage: python tests/benchmarks/run.py [--full] [--only WORD] [--runs 7]

Default sizes are 20,000 memories; ``--full`` takes 100,000 and 1,000,000 (some minutes and 3 GB in a temporary
folder). Machines are noisy: figures are medians of several runs, and the ratio is what counts. Needs Linux.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

import apsw
from corpus import Writer, add_vectors, build
from make_sessions import write_sessions
from memtui import Memory
from memtui.engine.models.minilm import MiniLmEmbedder
from memtui.engine.models.vectors import cap_threads
from memtui.engine.records import Options, Profile
from memtui.engine.records.erase import EraseProgress
from memtui.engine.review.scan import ScanResult, save_progress
from memtui.engine.search.retrievers.vector_cache import FROM, MOST
from memtui.engine.store import full_text
from memtui.engine.store.memories import content_hash, new_id
from memtui.engine.store.migration import load_migrations
from terminal import Terminal

Derived = Literal["vectors", "none", "waiting"]
QUIET = Options(background=False, allow_unsafe_fs=True)
ARROW, PAGE_DOWN, CLEAR = "\x1b[B", "\x1b[6~", "\x15"
PASTE = "\x1b[200~{}\x1b[201~"
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


# Another program that wants to write all the time; what it waited for the lock, and when it asked.
WAITING = """
import apsw, json, random, sys, time
from pathlib import Path
memory = apsw.Connection(sys.argv[1])
memory.set_busy_handler(lambda asked: time.sleep(random.uniform(0.0005, 0.005)) or True)
waits = []
print(flush=True)
while not Path(sys.argv[2]).exists():
    asked = time.monotonic()
    memory.execute("BEGIN IMMEDIATE")
    waits.append((time.monotonic() - asked, asked))
    memory.execute("COMMIT")
    time.sleep(0.005)
print(json.dumps(waits))
"""


# The first search of a process, after it has opened the memory: processor seconds.
FIRST_SEARCH = """
import sys, time
from memtui import Memory
from memtui.engine.records import Options
with Memory.open(sys.argv[1], readonly=True, options=Options(background=False, allow_unsafe_fs=True)) as memory:
    begun = time.process_time()
    memory.search(sys.argv[2])
    print(time.process_time() - begun)
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
        self._built: dict[tuple[int, str], Path] = {}

    def memory(self, count: int, derived: Derived = "none") -> Path:
        """``derived``: with ``vectors``, with ``none``, or with everything still ``waiting`` to be made."""
        if (count, derived) not in self._built:
            path = self.folder / f"{count}-{derived}" / "memory.db"
            path.parent.mkdir()
            print(f"  building {count:,} memories ({derived})", file=sys.stderr)
            build(path, count)
            if derived == "vectors":
                add_vectors(path)
            if derived != "waiting":
                _empty_queue(path)
            self._built[count, derived] = path
        return self._built[count, derived]

    @contextmanager
    def app(self, path: Path, *, readonly: bool = True) -> Iterator[Terminal]:
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        environment = {
            "HOME": str(home), "XDG_CONFIG_HOME": str(home), "XDG_DATA_HOME": str(home), "XDG_STATE_HOME": str(home),
        }  # fmt: skip
        door = ["--readonly"] if readonly else []
        command = [sys.executable, "-m", "memtui", "--allow-unsafe-fs", *door, "--db", str(path)]
        with Terminal(command, environment) as terminal:
            yield terminal


def _empty_queue(path: Path) -> None:
    """As if the indexer had done its work: links, vectors, the merging of full text, the search for what Review shows."""
    connection = apsw.Connection(str(path))
    connection.execute("DELETE FROM index_queue")
    while full_text.merge(connection):
        pass
    [(through,)] = connection.execute("SELECT max(rid) FROM memories")
    save_progress(connection, ScanResult(through=through))
    connection.close()


def _p95(samples: list[float]) -> float:
    return statistics.quantiles(samples, n=20)[-1]


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.1f} ms" if seconds >= 0.001 else f"{seconds * 1e3:.2f} ms"


def first_paint(bench: Bench) -> Iterator[Row]:
    path = bench.memory(1_000)
    ours: list[float] = []
    bare: list[float] = []
    for _ in range(bench.runs + 1):
        with Terminal([sys.executable, "-c", BARE], {}) as terminal:
            bare.append(terminal.read_until("first paint") - terminal.started)
        with bench.app(path) as terminal:
            ours.append(terminal.read_until("Mem") - terminal.started)
    # Without the first start of each, which writes the bytecode.
    a, b = statistics.median(ours[1:]), statistics.median(bare[1:])
    yield Row("first paint, cold, beside a bare Textual app", _ms(a), _ms(b), a / b, "<= 1.4")


def small_commands(bench: Bench) -> Iterator[Row]:
    """Whole processes. Their processor time: what the clock says is that of a machine that others use as well."""
    path = bench.memory(bench.small, "vectors")
    bare: list[float] = []
    for command in ("stats", "list", "sessions", "history", "status", "review"):
        line = [sys.executable, "-m", "memtui", "--allow-unsafe-fs", "--db", str(path), command]
        ours: list[float] = []
        for _ in range(bench.runs + 1):
            bare.append(_processor_seconds([sys.executable, "-c", ""]))
            ours.append(_processor_seconds(line))
        # Without the first start, which writes the bytecode.
        a, b = statistics.median(ours[1:]), statistics.median(bare)
        what = f"memtui {command}, {bench.small:,} memories, processor time, beside an interpreter that does nothing"
        yield Row(what, _ms(a), _ms(b), a / b, "<= 150 ms")


def _processor_seconds(command: list[str]) -> float:
    """Of a whole process."""
    program = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(program.pid, 0)
    program.returncode = os.waitstatus_to_exitcode(status)
    assert program.returncode == 0, command
    return usage.ru_utime + usage.ru_stime


def erase(bench: Bench) -> Iterator[Row]:
    """How long another program cannot write: before the file is written anew, and while it is."""
    folder = bench.folder / "erase"
    folder.mkdir()
    path, stop, anew = folder / "memory.db", folder / "stop", 0.0

    def progress(now: EraseProgress) -> None:
        nonlocal anew
        if "anew" in now.doing and not anew:
            anew = time.monotonic()

    shutil.copy(bench.memory(bench.small, "vectors"), path)
    with Memory.open(path, options=QUIET) as memory:
        plan = memory.files.plan_erase([memory.view.page("kind:fact", limit=1)[0].id])
        other = subprocess.Popen(
            [sys.executable, "-c", WAITING, str(path), str(stop)], stdout=subprocess.PIPE, text=True
        )
        assert other.stdout is not None
        other.stdout.readline()
        proof = memory.files.erase(plan, progress=progress)
        assert proof.complete, proof.problems
        stop.touch()
        waits: list[tuple[float, float]] = json.loads(other.communicate()[0])
    what = f"longest wait to write beside an erase, {bench.small:,} memories"
    before = max(wait for wait, asked in waits if asked < anew)
    yield Row(f"{what}, until the file is written anew", _ms(before), "", None, "<= 2 s")
    after = max(wait for wait, asked in waits if asked >= anew)
    yield Row(f"{what}, in the moment when it is", _ms(after), "", None, "")


def table(bench: Bench) -> Iterator[Row]:
    rows: dict[int, list[float]] = {}
    keys: dict[tuple[int, str], list[float]] = {}
    resident: dict[int, list[float]] = {}
    for _ in range(max(3, bench.runs // 2)):
        for count in (1_000, bench.large):
            with bench.app(bench.memory(count)) as terminal:
                painted = terminal.read_until("Mem")
                rows.setdefault(count, []).append(terminal.first_row() - painted)
                _to_memories(terminal)
                for name, key in (("arrow", ARROW), ("PgDn", PAGE_DOWN)):
                    terminal.move(key)
                    keys.setdefault((count, name), []).extend(terminal.move(key) for _ in range(15))
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
    """The cursor moves while the app itself links and embeds, and while another program imports into the file."""
    with bench.app(bench.memory(5_000)) as terminal:
        terminal.first_row()
        idle = _arrows(terminal)
    with bench.app(bench.memory(bench.small, "waiting"), readonly=False) as terminal:
        terminal.first_row()
        terminal.read_until("linking")
        linking = _arrows(terminal)
    path = bench.memory(5_000)
    folder = bench.folder / "to-import"
    write_sessions(folder, 200, 100, 2)
    command = [sys.executable, "-m", "memtui", "--allow-unsafe-fs", "--db", str(path), "import", str(folder)]
    with bench.app(path) as terminal:
        terminal.first_row()
        terminal.settle()
        importing = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        time.sleep(1.0)
        moves = _arrows(terminal)
        assert importing.poll() is None, "the import was over before the keys were"
        importing.kill()
        importing.wait()
    b = statistics.median(idle)
    for what, samples in (("it links and embeds", linking), ("another program imports", moves)):
        a = statistics.median(samples)
        yield Row(f"arrow while {what}, beside idle", _ms(a), _ms(b), a / b, "<= 4")


def _to_memories(terminal: Terminal) -> None:
    """From You, where the app opens, to the list that is as long as the memory."""
    terminal.settle(seconds=1.0)
    terminal.fill("2")
    terminal.settle(seconds=1.0)


def _arrows(terminal: Terminal) -> list[float]:
    _to_memories(terminal)
    terminal.move(ARROW)
    return [terminal.move(ARROW) for _ in range(40)]


def record_turn(bench: Bench) -> Iterator[Row]:
    """Beside an INSERT and COMMIT of the same row into a table of the same columns, without any index but its keys."""
    bare = apsw.Connection(str(bench.folder / "bare.db"))
    bare.pragma("journal_mode", "wal")
    bare.pragma("synchronous", 2)
    [table] = [
        part
        for part in load_migrations()[0].sql.split(";")
        if part.lstrip("\n").startswith("CREATE TABLE memories (")
    ]
    bare.execute(table)
    insert = (
        "INSERT INTO memories(id, kind, content, content_hash, session_id, source_role, trust, event_time, created_at) "
        "VALUES (?, 'episode', ?, ?, ?, ?, 'user', ?, ?)"
    )
    ours: list[list[float]] = []
    theirs: list[list[float]] = []
    with Memory.open(bench.folder / "turns" / "memory.db", options=Options(allow_unsafe_fs=True)) as memory:
        for run in range(bench.runs):
            ours.append([])
            theirs.append([])
            for talk in Writer(run).talks(1_000):
                begun = time.perf_counter()
                memory.record_turn(talk.session_id, talk.role, talk.content)
                ours[-1].append(time.perf_counter() - begun)
                begun = time.perf_counter()
                bare.execute("BEGIN IMMEDIATE")
                bare.execute(insert, (
                    new_id("episode"), talk.content, content_hash(talk.content), talk.session_id, talk.role,
                    talk.event_time, talk.event_time,
                ))  # fmt: skip
                bare.execute("COMMIT")
                theirs[-1].append(time.perf_counter() - begun)
    bare.close()
    for name, at, budget in (("median", 500, ""), ("p99", 990, "<= 3, < 5 ms")):
        a, b = (statistics.median(sorted(run)[at] for run in runs) for runs in (ours, theirs))
        yield Row(f"record_turn, {name}, beside INSERT and COMMIT of the row", _ms(a), _ms(b), a / b, budget)


def imports(bench: Bench) -> Iterator[Row]:
    folder = bench.folder / "sessions"
    write_sessions(folder, max(20, bench.small // 100), 100, 1)
    with Memory.open(bench.folder / "import" / "memory.db", options=QUIET) as memory:
        begun = time.perf_counter()
        report = memory.files.import_paths([folder])
        seconds = time.perf_counter() - begun
        again = memory.files.import_paths([folder])
    speed = report.imported / seconds
    yield Row("import of Claude Code sessions, turns a second", f"{speed:,.0f}", "", None, ">= 5,000")
    yield Row(
        "the same again: nothing is added", _ms(again.seconds), _ms(seconds), again.seconds / seconds, ""
    )


def _timed(
    questions: list[str], ask: Callable[[str], object], clock: Callable[[], float] = time.perf_counter
) -> list[float]:
    """``clock``: ``time.process_time`` for what only computes, so that other programs of the machine do not count."""
    ask(questions[0])
    samples = []
    for question in questions:
        begun = clock()
        ask(question)
        samples.append(clock() - begun)
    return samples


def _questions(count: int) -> list[str]:
    writer = Writer(3)
    return [writer.question() for _ in range(count)]


def _retriever(memory: Memory, name: str, question: str, filter: str = "") -> float:
    """Seconds that one retriever takes for a question, with nothing else in the profile."""
    weights = {retriever: float(retriever == name) for retriever in ("keyword", "vector", "entity")}
    profile = Profile(name=name, neighbours=0.0, session=0.0, facts=0.0, **weights)
    result = memory.search(question, filter=filter, profile=profile)
    [report] = [report for report in result.retrievers if report.retriever == name]
    assert report.state in ("answered", "empty"), report.why
    return report.milliseconds / 1_000


def keyword(bench: Bench) -> Iterator[Row]:
    """Beside FTS5 as it comes: any of the words, ranked by its bm25, from the same index."""
    plain = (
        "SELECT f.rowid FROM facts_fts f JOIN memories m ON m.rid = f.rowid "
        "WHERE facts_fts MATCH ? AND m.valid_until IS NULL ORDER BY rank LIMIT 200"
    )
    for count in dict.fromkeys((bench.small, bench.large)):
        with Memory.open(bench.memory(count), readonly=True, options=QUIET) as memory:
            questions = _questions(100)
            ours = [_retriever(memory, "keyword", question, "kind:fact") for question in questions][1:]
            with memory._core.connections.read() as connection:
                theirs = _timed(
                    questions, lambda q, c=connection: c.execute(plain, (" OR ".join(q.split()),)).fetchall()
                )
        budget = {100_000: "p95 <= 10 ms", 1_000_000: "p95 <= 35 ms"}.get(count, "")
        yield Row(
            f"keyword retriever, facts among {count:,} memories, p95 (median), beside plain FTS5",
            f"{_ms(_p95(ours))} ({_ms(statistics.median(ours))})",
            f"{_ms(_p95(theirs))} ({_ms(statistics.median(theirs))})", _p95(ours) / _p95(theirs), budget,
        )  # fmt: skip


def vector_and_hybrid(bench: Bench) -> Iterator[Row]:
    """With the copy of the vectors that a process makes which searches more than once; the first search is shown too.

    Processor time, but for the retriever by itself.
    """
    import numpy as np

    for count in dict.fromkeys((bench.small, bench.large)):
        with Memory.open(bench.memory(count, "vectors"), readonly=True, options=QUIET) as memory:
            first = _first_searches(bench.memory(count, "vectors"), bench.runs)
            memory.search(_questions(1)[0])
            seconds = _make_copy(memory, count)
            with memory._core.connections.read() as connection:
                stored = b"".join(vector for (vector,) in connection.execute("SELECT vector FROM embeddings"))
            as_words = np.frombuffer(stored, np.int64)
            # Of three tries each the best: the clock runs on while others of the machine work.
            passes = [
                min(_timed(["a pass"] * 3, lambda _, words=as_words: int(words.sum()))) for _ in range(20)
            ]
            retriever = [
                min(_retriever(memory, "vector", question) for _ in range(3)) for question in _questions(30)
            ]
            hybrid = _timed(_questions(60), memory.search, time.process_time)
            session = _timed(
                _questions(60),
                lambda q, m=memory: m.search(q, filter="session:talk-000100"),
                time.process_time,
            )
            page = memory.view.page(limit=8)
            [question] = _questions(1)  # to make one takes as long as to answer it
            why = _timed(
                [one.id for one in page],
                lambda one, m=memory, q=question: m.explain(q, one),
                time.process_time,
            )
        a, b = statistics.median(retriever), statistics.median(passes)
        yield Row(
            f"vector retriever, {count:,} vectors, beside one read pass over them",
            _ms(a),
            _ms(b),
            a / b,
            "<= 2",
        )
        budget = {100_000: "p95 <= 30 ms", 1_000_000: "p95 <= 100 ms"}.get(count, "")
        yield Row(
            f"hybrid search, {count:,} memories, p95 (median)",
            f"{_ms(_p95(hybrid))} ({_ms(statistics.median(hybrid))})", "", None, budget,
        )  # fmt: skip
        yield Row(
            f"the same within one session, {count:,} memories, p95 (median)",
            f"{_ms(_p95(session))} ({_ms(statistics.median(session))})", "", None, "",
        )  # fmt: skip
        yield Row(
            f"why a memory is not among the hits, {count:,} memories, median",
            _ms(statistics.median(why)),
            "",
            None,
            "",
        )
        copied = "no copy at this size" if seconds is None else f"copied in {_ms(seconds)}"
        budget = {100_000: "<= 120 ms", 1_000_000: "<= 350 ms"}.get(count, "")
        yield Row(f"the first search of a process, {count:,} memories", _ms(first), copied, None, budget)


def _first_searches(path: Path, runs: int) -> float:
    command = [sys.executable, "-c", FIRST_SEARCH, str(path), _questions(1)[0]]
    found = [float(subprocess.check_output(command)) for _ in range(runs + 1)]
    return statistics.median(found[1:])  # the first one writes the bytecode


def _make_copy(memory: Memory, count: int) -> float | None:
    """Seconds that the copy of the vectors takes, which a background thread makes elsewhere; None where there is none."""
    if not FROM < count <= MOST:
        return None
    begun = time.perf_counter()
    with memory._core.connections.read() as connection:
        memory._core.vector_cache.load_or_update(connection, lambda: False)
    assert memory._core.vector_cache._held is not None
    return time.perf_counter() - begun


def search_pane(bench: Bench) -> Iterator[Row]:
    """From a question that is pasted (one key, as it were) to its first hit on the screen, the wait for more included."""
    with bench.app(bench.memory(bench.small, "vectors")) as terminal:
        terminal.first_row()
        terminal.write("3")
        terminal.settle(seconds=3.0)
        time.sleep(2.0)  # nobody types a question sooner; meanwhile the pane gets ready
        quiet = _first_hits(terminal, _questions(bench.runs * 3))
        with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as other:
            busy = _first_hits(terminal, _questions(bench.runs * 3))
            other.kill()
    what = f"first hit in the Search pane after the last key, {bench.small:,} memories"
    for name, waited in ((what, quiet), (f"{what}, another program keeps a core busy", busy)):
        yield Row(
            f"{name}, p95 (median)", f"{_ms(_p95(waited))} ({_ms(statistics.median(waited))})", "", None, "<= 100 ms",
        )  # fmt: skip


def _first_hits(terminal: Terminal, questions: list[str]) -> list[float]:
    waited = []
    for question in questions:
        terminal.write("/" + CLEAR)
        terminal.settle(seconds=3.0)
        waited.append(terminal.fill(PASTE.format(question)))
    return waited


def context(bench: Bench) -> Iterator[Row]:
    """The processor time of a context block, the note of the recall included, beside one search for facts.

    As in a server, which has searched before and holds a copy of the vectors.
    """
    with Memory.open(bench.memory(bench.small, "vectors"), actor="agent:benchmark", options=QUIET) as memory:
        memory.search(_questions(1)[0])
        _make_copy(memory, bench.small)
        told = _timed(_questions(60), memory.context, time.process_time)
        found = _timed(
            _questions(60), lambda q: memory.search(q, filter="kind:fact", preview=True), time.process_time
        )
    yield Row(
        f"context block, {bench.small:,} memories, p95 (median), beside a search for facts",
        f"{_ms(_p95(told))} ({_ms(statistics.median(told))})",
        f"{_ms(_p95(found))} ({_ms(statistics.median(found))})", _p95(told) / _p95(found),
        "p95 <= 50 ms at 100,000",
    )  # fmt: skip


def minilm(bench: Bench) -> Iterator[Row]:
    """Messages made and stored with MiniLM, beside the model alone: its tokenizer and one run for each text.

    Of processor time: one thread does it all.
    """
    model = MiniLmEmbedder()
    if model.available():
        print("  left out: MiniLM is not installed", file=sys.stderr)
        return
    model.load()
    path = bench.folder / "minilm" / "memory.db"
    path.parent.mkdir()
    build(path, 2_000)
    with Memory.open(
        path, options=Options(embedder="minilm", background=False, allow_unsafe_fs=True)
    ) as memory:
        with memory._core.connections.read() as connection:
            texts = [text for (text,) in connection.execute("SELECT content FROM memories LIMIT 600")]
        memory.models.index_pending(100)  # what is loaded at first use
        begun = time.process_time()
        memory.models.index_pending(600)
        stored = time.process_time() - begun
    begun = time.process_time()
    for text in texts:
        model.tokenise_and_embed(text)
    bare = time.process_time() - begun
    ours, alone = 600 / stored, 600 / bare
    yield Row(
        "MiniLM: messages made and stored in a second of one core, beside the model alone",
        f"{ours:.0f}", f"{alone:.0f}", alone / ours, "<= 1.3",
    )  # fmt: skip


def timeline(bench: Bench) -> Iterator[Row]:
    """From the key to the first drawing, which imports the view and counts everything; and how much it takes."""
    times: dict[int, list[float]] = {}
    sizes: dict[int, list[float]] = {}
    for _ in range(max(3, bench.runs // 2)):
        for count in (1_000, bench.small, bench.large):
            with bench.app(bench.memory(count)) as terminal:
                terminal.first_row()
                terminal.write("2")
                terminal.settle()
                before, begun = terminal.resident_megabytes(), time.perf_counter()
                terminal.write("T")
                times.setdefault(count, []).append(terminal.read_until("by topic") - begun)
                terminal.settle()
                sizes.setdefault(count, []).append(terminal.resident_megabytes() - before)
    b = statistics.median(times[1_000])
    for count, budget in ((bench.small, "<= 100 ms"), (bench.large, "<= 150 ms")):
        a = statistics.median(times[count])
        yield Row(f"timeline, first drawing, {count:,} memories beside 1,000", _ms(a), _ms(b), a / b, budget)
    a = statistics.median(sizes[bench.large])
    yield Row(f"timeline, memory, {bench.large:,} memories", f"{a:.0f} MB", "", None, "<= 60 MB")


def resident(bench: Bench) -> Iterator[Row]:
    with bench.app(bench.memory(bench.small)) as terminal:
        terminal.first_row()
        _to_memories(terminal)
        for _ in range(20):
            terminal.move(PAGE_DOWN)
        size = terminal.resident_megabytes()
    yield Row(f"resident memory, app open on {bench.small:,}", f"{size:.0f} MB", "", None, "<= 150 MB")


PARTS: tuple[Callable[[Bench], Iterator[Row]], ...] = (
    first_paint, small_commands, table, keys_while_busy, erase, record_turn, imports, keyword, vector_and_hybrid,
    search_pane, timeline, context, minilm, resident,
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
        # Programs start from bytecode, as they do where they are installed.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = str(Path(folder) / "bytecode")
        # As in memtui's own processes: the threads of a numeric library wait in a loop, which counts as processor time.
        cap_threads()
        bench = Bench(Path(folder), arguments.runs, small, large)
        for part in PARTS:
            if arguments.only and arguments.only not in part.__name__:
                continue
            for row in part(bench):
                ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
                print(f"| {row.what} | {row.ours} | {row.baseline} | {ratio} | {row.budget} |", flush=True)
    load, cores = os.getloadavg()[1], os.cpu_count() or 1
    if load > 1 + cores / 4:
        print(f"Others used this machine meanwhile (load {load:.1f} on {cores} cores).", file=sys.stderr)


if __name__ == "__main__":
    main()
