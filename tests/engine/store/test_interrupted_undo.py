"""A large undo that stops half-way is told, and the next undo or redo leads to a whole state."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import hypothesis
import pytest
from hypothesis import strategies as st
from memtui import Memory
from memtui.engine.errors import InputError
from memtui.engine.records import Options
from memtui.engine.store import history, undo

from sizes import examples
from state_hash import state_hash

OPTIONS = Options(background=False, embedder="off", allow_unsafe_fs=True)
SLICES = 9


class StopError(BaseException):
    pass


@pytest.fixture(autouse=True)
def small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(undo, "_ROWS_PER_TRANSACTION", 10)


def said(path: Path, number: int) -> Path:
    file = path.with_name("talk.jsonl")
    file.write_text(
        "".join(
            f'{{"session_id": "s{n % 3}", "role": "user", "content": "Turn {n} of Ada"}}\n'
            for n in range(number)
        )
    )
    return file


def state(memory: Memory) -> str:
    with memory._core.connections.read() as connection:
        return state_hash(connection)


@contextmanager
def stopped_after(slices: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Ctrl+C when so many slices are committed, be it before the end is; nothing happens if there are fewer."""
    plain, plain_close, left = history.continue_long, history.close, slices

    @contextmanager
    def part(*given: object) -> Iterator[apsw.Connection]:
        nonlocal left
        if left == 0:
            raise StopError
        left -= 1
        with plain(*given) as connection:  # type: ignore[arg-type]
            yield connection

    def close(*given: object) -> None:
        if left == 0:
            raise StopError
        plain_close(*given)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(history, "continue_long", part)
        patched.setattr(history, "close", close)
        try:
            yield
        except StopError:
            pass


@pytest.mark.parametrize("slices", range(SLICES + 1))
def test_the_next_undo_finishes_it_and_one_redo_brings_all_back(
    slices: int, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory.open(place, options=OPTIONS) as memory:
        memory.remember("Said before")
        start = state(memory)
        memory.files.import_paths([said(place, 60)])
        (op_id,) = [one.op_id for one in memory.view.operations(limit=1)]
        full = state(memory)
        with stopped_after(slices, monkeypatch):
            memory.undo(op_id)
        half = memory.view.operations(limit=1)[0]
        interrupted = half.interrupted
        assert interrupted or state(memory) in (start, full)
        findings = [
            one for one in memory.files.check(deep=True).findings if "interrupted half-way" in one.message
        ]
        assert [one.ids for one in findings] == ([(str(half.op_id),)] if interrupted else [])
        if interrupted or slices == 0:
            done = memory.undo(op_id)
            assert done is not None and done.conflicts == ()
            assert done.restored == 63, "the rows of both tries"
        assert state(memory) == start
        assert memory.files.check(deep=True).ok
        with pytest.raises(InputError, match="already undone"):
            memory.undo(op_id)
        assert memory.redo() is not None
        assert state(memory) == full
        assert memory.undo(op_id) is not None
        assert state(memory) == start


@pytest.mark.parametrize("slices", range(SLICES + 1))
@pytest.mark.parametrize("verb", ["undo", "redo"])
@pytest.mark.parametrize("kind", ["import", "tag"])
def test_whatever_slice_it_stops_after_both_ways_lead_to_a_whole_state(
    kind: str, verb: str, slices: int, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory.open(place, options=OPTIONS) as memory:
        facts = [memory.remember(f"Fact {number} of Ada") for number in range(20)]
        start = state(memory)
        if kind == "import":
            memory.files.import_paths([said(place, 60)])
        else:
            memory.change_all("tag", [fact.rid for fact in facts], add=("work",))
        full = state(memory)
        way: dict[str, tuple[Callable[[], object], str]] = {
            "undo": (memory.undo, start), "redo": (memory.redo, full),
        }  # fmt: skip
        there, after = way.pop(verb)
        ((back, before),) = way.values()
        if verb == "redo":
            memory.undo()
        with stopped_after(slices, monkeypatch):
            there()
        if memory.view.operations(limit=1)[0].interrupted or state(memory) == after:
            back()
        for turn, wanted in ((there, after), (back, before), (there, after)):
            assert state(memory) == (before if wanted == after else after)
            turn()
            assert state(memory) == wanted
        assert memory.files.check(deep=True).ok


def test_redo_takes_back_what_an_interrupted_undo_did_and_the_reverse(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory.open(place, options=OPTIONS) as memory:
        start = state(memory)
        memory.files.import_paths([said(place, 60)])
        op_id = memory.view.operations(limit=1)[0].op_id
        full = state(memory)
        with stopped_after(3, monkeypatch):
            memory.undo(op_id)
        waiting = memory.history.next_redo()
        assert waiting is not None and waiting.interrupted
        assert memory.redo() is not None
        assert state(memory) == full
        memory.undo(op_id)
        assert state(memory) == start
        with stopped_after(3, monkeypatch):
            memory.redo()
        assert state(memory) not in (start, full)
        assert memory.files.check().findings
        done = memory.undo(op_id)  # of a redo that stopped half-way
        assert done is not None
        assert state(memory) == start
        assert memory.files.check(deep=True).ok


def test_an_undo_that_was_finished_after_other_work_is_redone(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory.open(place, options=OPTIONS) as memory:
        memory.files.import_paths([said(place, 60)])
        with stopped_after(3, monkeypatch):
            memory.undo()
        memory.remember("Said after the interruption")
        assert memory.undo() is not None
        assert memory.view.count("kind:episode") == 0
        waiting = memory.history.next_redo()
        assert waiting is not None and not waiting.interrupted
        assert memory.redo() is not None
        assert memory.view.count("kind:episode") == 60
        assert memory.view.count("kind:fact") == 1
        memory.undo(waiting.undoes)
        memory.remember("Said after it was finished")
        assert memory.history.next_redo() is None
        assert memory.files.check(deep=True).ok


@hypothesis.settings(max_examples=examples(12))
@hypothesis.given(
    steps=st.lists(st.tuples(st.sampled_from(("undo", "redo")), st.integers(0, SLICES + 1)), max_size=8)
)
def test_any_interruptions_end_in_a_whole_state(steps: list[tuple[str, int]]) -> None:
    with pytest.MonkeyPatch.context() as patched, Memory.open(":memory:", options=OPTIONS) as memory:
        patched.setattr(undo, "_ROWS_PER_TRANSACTION", 10)
        facts = [memory.remember(f"Fact {number} of Ada") for number in range(40)]
        start = state(memory)
        memory.change_all("tag", [fact.rid for fact in facts], add=("work",))
        full = state(memory)
        for verb, slices in steps:
            with stopped_after(slices, patched):
                memory.undo() if verb == "undo" else memory.redo()
        for _ in steps:  # each undo ends one of those that were interrupted
            if any(one.interrupted for one in memory.view.operations(limit=100)):
                memory.undo()
        told = memory.view.operations(limit=100)
        assert not any(one.interrupted for one in told)
        assert memory.files.check().ok
        assert memory.view.count("tag:work") in (0, 40)
        if memory.view.count() == 40:
            assert state(memory) in (start, full)


def test_what_somebody_changed_since_is_left_alone(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory.open(place, options=OPTIONS) as memory:
        facts = [memory.remember(f"Fact {number} of Ada") for number in range(40)]
        memory.change_all("tag", [fact.rid for fact in facts], add=("work",))
        op_id = memory.view.operations(limit=1)[0].op_id
        with stopped_after(2, monkeypatch):
            memory.undo(op_id)
        put_back = [fact.id for fact in facts if "work" not in memory.get(fact.id).tags]
        assert len(put_back) == 20
        memory.tag(put_back[0], add=("home",))
        done = memory.undo(op_id)
        assert done is not None
        assert [one.memory_id for one in done.conflicts] == [put_back[0]]
        assert memory.get(put_back[0]).tags == ("home",)
        assert memory.view.count("tag:work") == 0


KILLED = """
import os, signal, sys
from memtui import Memory
from memtui.engine.records import Options
from memtui.engine.store import history, undo
left = int(sys.argv[2])
plain = history.continue_long
def part(*given):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return plain(*given)
def close(*given):
    if left <= 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return plain_close(*given)
plain_close, history.close = history.close, close
history.continue_long = part
undo._ROWS_PER_TRANSACTION = int(sys.argv[3])
with Memory.open(sys.argv[1], options=Options(background=False, embedder="off", allow_unsafe_fs=True)) as memory:
    getattr(memory, sys.argv[4])()
"""


def killed_after(slices: int, rows: int, verb: str, place: Path) -> None:
    command = [sys.executable, "-c", KILLED, str(place), str(slices), str(rows), verb]
    done = subprocess.run(command, check=False, timeout=300, env=dict(os.environ))
    assert done.returncode == -signal.SIGKILL


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="nobody is killed like that there")
@pytest.mark.parametrize(("verb", "slices"), [("undo", 1), ("undo", 7), ("redo", 1), ("redo", 7)])
def test_one_that_was_killed_is_taken_back_and_done_whole(verb: str, slices: int, place: Path) -> None:
    """Seven slices are all of them: it is killed before its end is committed."""
    with Memory.open(place, options=OPTIONS) as memory:
        start = state(memory)
        memory.files.import_paths([said(place, 60)])
        full = state(memory)
        if verb == "redo":
            memory.undo()
    killed_after(slices, 10, verb, place)
    with Memory.open(place, options=OPTIONS) as memory:
        assert memory.view.operations(limit=1)[0].interrupted
        (memory.redo if verb == "undo" else memory.undo)()
        assert state(memory) == (full if verb == "undo" else start)
        (memory.undo if verb == "undo" else memory.redo)()
        assert state(memory) == (start if verb == "undo" else full)
        assert memory.files.check(deep=True).ok


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="nobody is killed like that there")
def test_twelve_thousand_turns_whose_undo_was_killed(
    place: Path, full: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = 12_000 if full else 5_000
    monkeypatch.setattr(undo, "_ROWS_PER_TRANSACTION", 2_000)
    with Memory.open(place, options=OPTIONS) as memory:
        start = state(memory)
        memory.files.import_paths([said(place, turns)])
        whole = state(memory)
    killed_after(2, 2_000, "undo", place)
    with Memory.open(place, options=OPTIONS) as memory:
        assert 0 < memory.view.count("kind:episode") < turns
        assert not memory.files.check().ok
        assert memory.view.operations(limit=1)[0].interrupted
        memory.undo()
        assert state(memory) == start
        memory.redo()
        assert state(memory) == whole
        assert memory.files.check().ok
