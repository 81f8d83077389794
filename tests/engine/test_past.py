"""What the memory held at a moment, and what became of it between two."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st
from memtui import Memory
from memtui.engine.errors import InputError, NotFoundError, ProtectedError
from memtui.engine.records import MemoryRecord, Options
from memtui.engine.records.history import HistoryCoverage
from memtui.engine.store import history, past

from clock import Clock

OPTIONS = Options(background=False, embedder="off", allow_unsafe_fs=True)
START = 1_700_000_000.0
DAY = 86_400
AGENT, PERSON = "agent:x", "person"


@pytest.fixture
def clock() -> Clock:
    return Clock(START)


@pytest.fixture
def memory(clock: Clock) -> Any:
    with Memory.open(":memory:", clock=clock, options=OPTIONS) as memory:
        yield memory


def seen(one: MemoryRecord) -> tuple[Any, ...]:
    """What a person sees of a memory; what agents recalled is not history."""
    return (
        one.rid, one.id, one.kind, one.content, one.event_time, one.created_at, one.confidence, one.decay_rate,
        one.confirmed_at, one.valid_until, one.ended_by, one.tags, one.attributes, one.source_ids, one.trust,
    )  # fmt: skip


def everything(read: Callable[[str], list[MemoryRecord]]) -> dict[str, list[tuple[Any, ...]]]:
    kinds = "kind:fact,reflection,observation,episode"
    return {
        words: [seen(one) for one in read(words)]
        for words in (kinds, f"{kinds} is:trash", "", "kind:fact ferry -nine", "kind:episode")
    }


def now(memory: Memory) -> dict[str, list[tuple[Any, ...]]]:
    lists = everything(
        lambda words: memory.view.page(words or "kind:fact,reflection,observation", limit=10_000)
    )
    # The list of the app looks for words in the index, which stems them; here they are looked for in the texts.
    lists["kind:fact ferry -nine"] = [
        seen(one) for one in memory.view.page("kind:fact", limit=10_000)
        if "ferry" in one.content and "nine" not in one.content
    ]  # fmt: skip
    return lists


def then(memory: Memory, at: float) -> dict[str, list[tuple[Any, ...]]]:
    there = memory.history.as_of(at)
    return everything(lambda words: there.page(words, limit=10_000))


# -- property

VERBS = (
    "remember", "agent", "correct", "forget", "restore", "confirm", "tag", "turn", "undo", "redo", "undo any",
    "import", "decay", "merge", "bulk",
)  # fmt: skip
steps = st.lists(st.tuples(st.sampled_from(VERBS), st.integers(0, 1_000)), min_size=3, max_size=14)


def carry_out(memory: Memory, verb: str, pick: int, folder: Path) -> None:
    hour = ("seven", "eight", "nine", "ten")[pick % 4]
    facts = memory.view.page("kind:fact is:active,trash", sort="created", limit=1_000)
    chosen = facts[pick % len(facts)] if facts else None
    memory.actor = AGENT if verb == "agent" else PERSON
    match verb:
        case "remember" | "agent":
            memory.remember(f"The ferry leaves at {hour}, pier {pick}", tags=["travel"], confidence=0.5)
        case "turn":
            memory.record_turn(f"s{pick % 2}", "user", f"the ferry at {hour}", START - pick)
        case "undo":
            memory.undo()
        case "redo":
            memory.redo()
        case "undo any":
            operations = memory.view.operations(limit=1_000)
            if operations:
                memory.undo(operations[pick % len(operations)].op_id)
        case "import":
            file = folder / "import.jsonl"
            lines = [
                f'{{"session": "i", "role": "user", "content": "{hour} {n}", "id": "{pick % 5}-{n}"}}'
                for n in range(3)
            ]
            file.write_text("\n".join(lines))
            memory.files.import_paths([file])
        case "decay":
            memory.jobs.run_now("decay")
        case "bulk":
            memory.change_all("forget", [one.rid for one in facts[: pick % 5]])
        case "merge" if len(facts) > 1 and chosen is not None:
            other = facts[(pick + 1) % len(facts)]
            with memory._core.operation("merge", "Merged") as op:
                from memtui.engine.store import memories

                memories.update(
                    op.connection, other.rid, valid_until=int(memory._core.clock()), ended_by="merged"
                )
                memories.update(op.connection, chosen.rid, attributes={"merged": [other.id]})
        case "correct" if chosen is not None:
            memory.correct(chosen.id, f"The ferry now leaves at {hour}, pier {pick}")
        case "tag" if chosen is not None:
            memory.tag(chosen.id, add=[hour])
        case "forget" | "restore" | "confirm" if chosen is not None:
            getattr(memory, verb)(chosen.id)


def run(script: list[tuple[str, int]]) -> None:
    clock = Clock(START)
    with (
        tempfile.TemporaryDirectory() as folder,
        Memory.open(":memory:", clock=clock, options=OPTIONS) as memory,
    ):
        states = [(clock.now, now(memory), memory.stats().by_kind)]
        early = memory.history.as_of(clock.now)  # made before all that follows
        for verb, pick in script:
            clock.now += 60 + (40 * DAY if verb == "decay" else 0)
            try:
                carry_out(memory, verb, pick, Path(folder))
            except (InputError, ProtectedError):
                pass  # it does not apply
            states.append((clock.now, now(memory), memory.stats().by_kind))
        for at, lists, counts in states:
            assert then(memory, at) == lists
            assert then(memory, at + 59) == lists
            there = memory.history.as_of(at).counts()
            assert {kind: number for kind, number in there.items() if number and kind != "trash"} == counts
            assert there["trash"] == len(lists["kind:fact,reflection,observation,episode is:trash"])
        assert early.page() == []
        assert early.counts()["fact"] == 0


def test_as_of_a_moment_is_what_the_memory_listed_at_that_moment(full: bool) -> None:
    hypothesis.settings(max_examples=400 if full else 25)(hypothesis.given(steps)(run))()


def test_the_property_catches_a_past_that_ignores_later_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(past.LaterChanges, "catch_up", lambda self, connection: None)
    with pytest.raises(AssertionError):
        run([("remember", 1), ("correct", 2)])


# -- single promises


def test_a_past_that_is_kept_open_does_not_move_while_the_memory_does(memory: Memory, clock: Clock) -> None:
    first = memory.remember("The ferry leaves at eight")
    there = memory.history.as_of("now")
    before = [seen(one) for one in there.page()]
    clock.now += DAY
    for number in range(3):
        memory.record_turn("s", "user", f"turn {number}")
    memory.correct(first.id, "The ferry leaves at nine")
    assert [seen(one) for one in there.page()] == before
    assert there.get(first.id).active
    assert there.counts()["episode"] == 0
    with pytest.raises(NotFoundError):
        there.get("fact_000000000000")


def test_a_memory_whose_recording_was_undone_is_there_while_it_was(memory: Memory, clock: Clock) -> None:
    memory.remember("Plays the oboe")
    clock.now += 60
    memory.undo()
    assert memory.history.as_of(START).page()[0].content == "Plays the oboe"
    assert memory.history.as_of("now").page() == []


def test_confidence_is_what_had_not_faded_by_then(memory: Memory, clock: Clock) -> None:
    memory.actor = AGENT
    memory.remember("Considering a move to Porto", confidence=0.8)
    clock.now += 20 * DAY
    assert memory.history.as_of(START).page()[0].effective == pytest.approx(0.8)
    assert memory.history.as_of("now").page()[0].effective < 0.2


def test_where_history_was_thinned_only_times_are_left_and_it_says_so(memory: Memory, clock: Clock) -> None:
    first = memory.remember("The ferry leaves at eight")
    gone = memory.remember("The ferry has a bar")
    clock.now += 10 * DAY
    memory.correct(first.id, "The ferry leaves at nine")
    memory.tag(gone.id, add=["travel"])
    memory.forget(gone.id)
    clock.now += 100 * DAY
    memory.remember("Uses a fountain pen")
    assert memory.history.as_of(START).coverage == HistoryCoverage(complete=True)
    history.forget_old_operations(memory._core.connections, clock.now)
    early, late = memory.history.as_of(START + DAY), memory.history.as_of(START + 11 * DAY)
    assert early.coverage == HistoryCoverage(complete=False, since=int(START) + 10 * DAY)
    assert late.coverage.complete
    assert sorted(one.content for one in early.page()) == ["The ferry has a bar", "The ferry leaves at eight"]
    assert all(one.active for one in early.page())
    assert early.counts() == {"episode": 0, "fact": 2, "reflection": 0, "observation": 0, "trash": 0}
    assert [one.content for one in late.page()] == ["The ferry leaves at nine"]
    assert late.counts()["trash"] == 2
    assert early.page()[0].tags == ("travel",)  # that it came later is no longer known
    told = memory.history.diff(START + DAY, START + 11 * DAY)
    assert told.counts == {"corrected": 1, "forgotten": 1}
    assert not told.coverage.complete
    history.forget_old_operations(memory._core.connections, START + 201 * DAY)
    clock.now = START + 5 * DAY  # a clock that went back makes older operations of what comes later
    memory.remember("The ferry is green")
    history.forget_old_operations(memory._core.connections, START + 202 * DAY)
    assert memory.history.as_of(START + 6 * DAY).coverage == HistoryCoverage(
        complete=False, since=int(START) + 110 * DAY
    )


# -- the difference of two moments


def test_the_difference_tells_what_became_of_each_memory_once(memory: Memory, clock: Clock) -> None:
    standup = memory.remember("Standup is at 10:00")
    bar = memory.remember("The ferry has a bar")
    pen = memory.remember("Uses a fountain pen")
    old = memory.remember("Lives in Porto")
    memory.forget(old.id)
    memory.actor = AGENT
    porto = memory.remember("Considering a move to Porto", confidence=0.5)
    weak = memory.remember("Might like oysters", confidence=0.5)
    memory.actor = PERSON
    start, clock.now = clock.now, clock.now + 60
    memory.correct(memory.correct(standup.id, "Standup is at 10:15").id, "Standup is at 10:30")
    memory.forget(bar.id)
    memory.tag(pen.id, add=["green"])
    memory.restore(old.id)
    memory.confirm(porto.id)
    memory.undo(next(one.op_id for one in memory.view.operations() if "oysters" in one.label))
    memory.forget(memory.remember("Owns a unicycle").id)
    memory.remember("The spare key is with Nadia")
    for number in range(3):
        memory.record_turn("s", "user", f"turn {number}")
    memory.forget(memory.view.transcript("s")[0].id)
    end, clock.now = clock.now, clock.now + 60
    memory.forget(pen.id)
    told = memory.history.diff(start, end)
    assert told.counts == {
        "corrected": 1, "forgotten": 1, "tagged": 1, "restored": 1, "confirmed": 1, "removed": 1, "passing": 1, "added": 1,
    }  # fmt: skip
    assert told.turns == {"added": 2, "passing": 1}
    (corrected,) = (one for one in told.changes if one.verb == "corrected")
    assert corrected.before is not None and corrected.after is not None
    assert (corrected.before.content, corrected.after.content) == (
        "Standup is at 10:00",
        "Standup is at 10:30",
    )
    assert corrected.at == start + 60
    assert [one.memory.content for one in told.changes if one.verb == "removed"] == [weak.content]
    assert memory.history.diff(end, start).counts == told.counts
    assert memory.history.diff(start, start).changes == ()
    few = memory.history.diff(start, end, limit=2)
    assert (len(few.changes), few.more, few.counts) == (2, 6, told.counts)


def test_what_names_no_time_is_refused(memory: Memory) -> None:
    with pytest.raises(InputError, match="is not a time"):
        memory.history.as_of("in the old days")


def test_what_was_erased_for_good_is_in_no_past_also_in_one_that_is_open(place: Path, clock: Clock) -> None:
    with Memory.open(place, clock=clock, options=OPTIONS) as memory:
        pen = memory.remember("Uses a fountain pen")
        secret = memory.remember("The accordion is in the cellar")
        clock.now += 60
        opened = memory.history.as_of("now")
        memory.correct(pen.id, "Uses a pencil")
        memory.tag(secret.id, add=["music"])
        memory.undo()
        assert len(opened.page()) == 2
        clock.now += 60
        memory.files.erase(memory.files.plan_erase([secret.id]))
        assert [one.content for one in opened.page()] == ["Uses a fountain pen"]
        assert [one.content for one in memory.history.as_of(START).page()] == ["Uses a fountain pen"]
        assert "accordion" not in str(memory.history.diff(START - 1, "now"))


def test_an_addition_has_the_time_of_the_addition(memory: Memory, clock: Clock) -> None:
    before = clock()
    clock.now += 60
    fact = memory.remember("Ada had a rash from tahini")
    added = int(clock())
    clock.now += DAY
    memory.tag(fact.id, add=["ada"])
    (change,) = memory.history.diff(before, clock()).changes
    assert (change.verb, change.at, change.after and change.after.tags) == ("added", added, ("ada",))
