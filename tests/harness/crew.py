"""Several processes on one memory: run as a program, it forks workers and prints what they report as JSON.

    PYTHONPATH=.:tests python tests/harness/crew.py ACT '{"path": ..., ...}'

Forking from a process that has imported the engine, but opened nothing, starts a writer in milliseconds
(an interpreter of its own would take longer than it is meant to live). Each worker writes one line of JSON
for each thing done, *after* the call returned, to a pipe that outlives it.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import apsw
import msgspec
import rare_verbs
from memtui import Memory
from memtui.engine.errors import InputError, MemtuiError, StoreError
from memtui.engine.records import Options
from memtui.engine.store import backup
from memtui.engine.store.connections import Connections

from state_hash import all_rids

OPTIONS = Options(background=False, embedder="off", allow_unsafe_fs=True)
Report = Callable[..., None]


class Worker:
    """A forked process and the lines it reports."""

    def __init__(self, work: Callable[[Report], None]) -> None:
        source, sink = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(source)

            def report(**line: Any) -> None:
                os.write(sink, json.dumps(line).encode() + b"\n")  # whole, being shorter than PIPE_BUF

            try:
                work(report)
            except BaseException as error:
                report(error=f"{type(error).__name__}: {error}"[:500])
                os._exit(1)
            os._exit(0)
        os.close(sink)
        self._pipe = os.fdopen(source, "rb")
        self._first = b""

    def wait_until_ready(self) -> None:
        """Wait for its first line: from then on it is at work."""
        self._first = self._pipe.readline()

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)

    def lines(self) -> list[dict[str, Any]]:
        """All it has reported; waits for its end."""
        with self._pipe:
            read = [json.loads(line) for line in (self._first + self._pipe.read()).splitlines()]
        os.waitpid(self.pid, 0)
        return read


# Mutants: the faults that the harnesses must notice.


@contextmanager
def _acknowledge_before_commit(self: Connections) -> Iterator[apsw.Connection]:
    """Each write is committed by the next one: the caller hears of success too early."""
    with self._write_lock:
        connection = self._require_writer()
        if connection.in_transaction:
            connection.execute("COMMIT")
        connection.execute("BEGIN IMMEDIATE")
        yield connection


@contextmanager
def _begin_deferred(self: Connections) -> Iterator[apsw.Connection]:
    with self._write_lock:
        connection = self._require_writer()
        connection.execute("BEGIN DEFERRED")
        try:
            yield connection
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")


MUTANTS = {"ack before commit": _acknowledge_before_commit, "deferred begin": _begin_deferred}


# Kill

_FIRST = ("remember", "correct")


def write_until_killed(path: str, seed: int, rare: bool, report: Report) -> None:
    """Use every writing verb, on rows of its own, and acknowledge each one after it returned.

    ``rare``: of those that take longer, which the person does.
    """
    dice = random.Random(seed)
    facts: list[str] = []
    actor = "person" if rare else dice.choice(("person", "agent:crew"))
    with Memory.open(path, actor=actor, options=OPTIONS) as memory:
        report(ready=True)
        for number in range(10_000):
            words = f"writer {seed} says number {number}: Ada met Grace at the harbour"
            if rare:
                verb = dice.choice(tuple(rare_verbs.VERBS))
                # Another writer is erasing, importing or merging, or has read the session.
                with suppress(StoreError, InputError):
                    if (line := rare_verbs.VERBS[verb](memory, words)) is not None:
                        report(verb=verb, **line)
                continue
            verb = dice.choices(
                (
                    "record",
                    "remember",
                    "correct",
                    "forget",
                    "undo",
                    "index",
                    "restore",
                    "tag",
                    "redo",
                    "note",
                ),
                (46, 20, 12, 6, 4, 4, 4, 4, 3, 5),
            )[0]
            # A writer may be killed after a few of them: a person's begins with a fact and its correction.
            if actor == "person" and number < len(_FIRST):
                verb = _FIRST[number]
            if verb == "record":
                turn = memory.record_turn(f"session {seed % 7}", "user", words)
                report(verb=verb, id=turn.id, content=words)
            elif verb == "remember":
                fact = memory.remember(words, tags=("crew",))
                facts.append(fact.id)
                report(verb=verb, id=fact.id, content=words)
            elif verb == "index":
                memory.models.index_pending()
            elif facts and verb == "correct":
                old = facts.pop(dice.randrange(len(facts)))
                new = memory.correct(old, words)
                facts.append(new.id)
                report(verb=verb, id=new.id, content=words, old=old)
            elif facts and verb == "forget":
                gone = memory.forget(facts.pop(dice.randrange(len(facts))))
                report(verb=verb, id=gone.id)
            elif facts and verb == "undo":
                # Others write with the same actor, so the operation is named.
                kept = facts.pop(dice.randrange(len(facts)))
                memory.forget(kept)
                memory.undo(memory.view.history_of(kept)[-1][0].op_id)
                report(verb=verb, id=kept)
            elif facts and verb == "restore":
                back = facts.pop(dice.randrange(len(facts)))
                memory.forget(back)
                memory.restore(back)
                report(verb=verb, id=back)
            elif facts and verb == "tag":
                tagged = memory.tag(dice.choice(facts), add=(f"tag-{seed}-{number}",))
                report(verb=verb, id=tagged.id, tag=f"tag-{seed}-{number}")
            elif facts and verb == "redo":
                gone_again = facts.pop(dice.randrange(len(facts)))
                memory.forget(gone_again)
                undone = memory.undo(memory.view.history_of(gone_again)[-1][0].op_id)
                if undone is not None:
                    memory.undo(undone.by.op_id)  # as a redo does
                    report(verb=verb, id=gone_again)
            elif verb == "note":
                memory.scratchpad.set(f"crew.{seed}.{number}", words)
                report(verb=verb, key=f"crew.{seed}.{number}", content=words)


def kill9(path: str, kills: int, seed: int) -> dict[str, Any]:
    """Rounds of three writers, each killed after 0 to 60 ms: one while it may still be opening, two at work.

    Where so little time is not enough to write anything, they are given more. In every third round one of those at
    work uses the verbs that take longer, and lives up to fifty times as long.
    """
    dice = random.Random(seed)
    lines: list[dict[str, Any]] = []
    longest = 0.060
    for turn in range(0, kills, 3):
        deadlines = sorted(dice.uniform(0.0, longest) for _ in range(min(3, kills - turn)))
        rare = turn // 3 % 3 == 0
        if rare:
            deadlines[-1] = dice.uniform(0.0, 50 * longest)
        workers = [
            Worker(
                partial(write_until_killed, path, dice.getrandbits(31), rare and number == len(deadlines) - 1)
            )
            for number in range(len(deadlines))
        ]
        for worker in workers[1:]:
            worker.wait_until_ready()
        started = time.perf_counter()
        for worker, deadline in zip(workers, deadlines, strict=True):
            time.sleep(max(0.0, started + deadline - time.perf_counter()))
            worker.kill()
        for worker in workers:
            lines += [line for line in worker.lines() if "ready" not in line]
        longest = longest * 1.5 if len(lines) < 2 * (turn + 3) else max(0.060, longest / 1.5)
    return {"acknowledged": lines, "kills": kills}


def killed_after(path: str, verb: str) -> dict[str, Any]:
    """A writer that is killed as soon as it has acknowledged one of the verbs that take longer."""

    def work(report: Report) -> None:
        with Memory.open(path, options=OPTIONS) as memory:
            line = rare_verbs.VERBS[verb](memory, "Ada met Grace at the harbour")
            assert line is not None
            report(verb=verb, **line)
            os.kill(os.getpid(), signal.SIGKILL)

    return {"acknowledged": Worker(work).lines()}


# Contention


def _ponder(connection: apsw.Connection) -> None:
    """Pause between what a transaction reads and what it writes then: the moment in which others come between."""
    after_reading = False

    def trace(cursor: apsw.Cursor, sql: str, bindings: object) -> bool:
        nonlocal after_reading
        reads = sql.lstrip().startswith("SELECT")
        if after_reading and not reads and connection.in_transaction:
            time.sleep(0.002)
        after_reading = reads
        return True

    connection.exec_trace = trace


def _write_many(path: str, writer: int, count: int, report: Report) -> None:
    # Making vectors reads before it writes in one transaction: two writers do it, one of them slowly.
    options = msgspec.structs.replace(OPTIONS, embedder="offline") if writer < 2 else OPTIONS
    with Memory.open(path, actor=f"agent:{writer}", options=options) as memory:
        if writer % 2:
            _ponder(memory._core.connections._require_writer())
        for number in range(count):
            content = f"writer {writer} turn {number}: Grace wrote to Ada about the harbour"
            try:
                turn = memory.record_turn(f"session {writer % 4}", "user", content)
                report(id=turn.id, content=content)
                if number % 10 == 9:
                    memory.change_all("tag", [turn.rid], add=("tenth",))
                    memory.models.index_pending()
                if number % 25 == 24:
                    fact = memory.remember(content)
                    memory.correct(fact.id, f"{content}, corrected")
            except MemtuiError as error:
                report(failed=str(error))


def _watch(path: str, act: str, folder: str, stop: int, report: Report) -> None:
    """Read pages, back up, or checkpoint until the other end of the pipe ``stop`` is closed."""
    os.set_blocking(stop, False)
    rounds = 0
    memory = Memory.open(path, readonly=act == "read", options=OPTIONS)
    with memory:
        while True:
            try:
                if os.read(stop, 1) == b"":
                    break
            except BlockingIOError:
                pass
            try:
                if act == "read":
                    _read_pages(memory)
                elif act == "backup":
                    with memory._core.connections.exclusive() as connection:
                        backup.back_up(connection, Path(path), reason=f"test{rounds}", folder=Path(folder))
                else:
                    memory._core.connections.checkpoint()
                    connection = memory._core.connections._require_writer()
                    # Two cannot do this at a time; SQLite does not let the second one wait.
                    with suppress(apsw.BusyError):
                        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
                rounds += 1
            except (MemtuiError, apsw.Error) as error:
                report(failed=f"{act}: {error}")
            time.sleep(0.02)
    report(act=act, rounds=rounds)


def _read_pages(memory: Memory) -> None:
    """Page through everything. Episodes only become more, and one snapshot shows no row twice."""
    before = memory.view.count("kind:episode")
    offset = 0
    while page := memory.view.page("kind:episode", offset=offset, limit=100):
        offset += len(page)
    rids = all_rids(memory, "kind:episode")
    if len(set(rids)) != len(rids):
        raise MemtuiError("a row is listed twice")
    if not before <= offset <= len(rids):
        raise MemtuiError(f"{before} turns, {offset} paged, {len(rids)} listed")


def contention(path: str, writers: int, each: int, folder: str) -> dict[str, Any]:
    """``writers`` x ``each`` turns at once, beside a reader, a backup and a checkpointer."""
    Memory.open(path, options=OPTIONS).close()
    stop, keep_running = os.pipe()

    def watch(act: str) -> Callable[[Report], None]:
        def work(report: Report) -> None:
            os.close(keep_running)
            _watch(path, act, folder, stop, report)

        return work

    watchers = [Worker(watch(act)) for act in ("read", "backup", "checkpoint")]
    started = time.perf_counter()

    # A writer must not hold the pipe open that tells the watchers to stop.
    def write(writer: int, report: Report) -> None:
        os.close(keep_running)
        _write_many(path, writer, each, report)

    crew = [Worker(partial(write, writer)) for writer in range(writers)]
    written = [line for worker in crew for line in worker.lines()]
    seconds = time.perf_counter() - started
    os.close(keep_running)
    watched = [line for worker in watchers for line in worker.lines()]
    return {"written": written, "watched": watched, "seconds": seconds}


# Creation


def create(path: str, processes: int) -> dict[str, Any]:
    """All processes open a file that is not there yet, and record one turn each."""
    start, release = os.pipe()

    def work(report: Report) -> None:
        os.close(release)
        os.read(start, 1)
        with Memory.open(path, options=OPTIONS) as memory:
            turn = memory.record_turn("creation", "user", f"process {os.getpid()} was here")
            report(id=turn.id)

    workers = [Worker(work) for _ in range(processes)]
    os.close(release)
    return {"lines": [line for worker in workers for line in worker.lines()]}


ACTS: dict[str, Callable[..., dict[str, Any]]] = {
    "kill9": kill9, "killed_after": killed_after, "contention": contention, "create": create,
}  # fmt: skip


def _warm_up() -> None:
    """Import all that a writer uses, so that a forked one can begin at once."""
    with Memory.open(":memory:", options=OPTIONS) as memory:
        memory.record_turn("warm", "user", "Ada met Grace")
        memory.correct(memory.remember("one").id, "two")
        memory.undo()
        memory.models.index_pending()
        for verb in ("merge", "decide", "consolidate"):  # the others need a file
            rare_verbs.VERBS[verb](memory, "warm up")


def main() -> None:
    _warm_up()
    act, given = sys.argv[1], json.loads(sys.argv[2])
    mutant = given.pop("mutant", None)
    if mutant:
        Connections.write = MUTANTS[mutant]  # type: ignore[method-assign]
    json.dump(ACTS[act](**given), sys.stdout)


if __name__ == "__main__":
    main()
