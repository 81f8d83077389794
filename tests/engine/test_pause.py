"""A pause in recording: what is said is turned away at every door, counted, and kept nowhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from memtui import Memory, Toolbox
from memtui.engine.errors import InputError, NotRecordedError
from memtui.engine.importers.watch import FileFollower
from memtui.engine.records import Options, Pause
from memtui.engine.search.time_expressions import parse_future_time
from memtui.engine.store import recording_rules

from clock import Clock

QUIET = Options(background=False, embedder="off")
NOON = 1_764_590_400.0  # 1 December 2025, 12:00 UTC, a Monday
HOUR = 3_600
WORDS = "Zanzibar"


@pytest.fixture
def clock() -> Clock:
    return Clock(NOON)


@pytest.fixture
def person(place: Path, clock: Clock) -> Iterator[Memory]:
    with Memory.open(place, clock=clock, options=QUIET) as memory:
        yield memory


@pytest.fixture
def agent(person: Memory, place: Path, clock: Clock) -> Iterator[Memory]:
    with Memory.open(place, actor="agent:bot", clock=clock, options=QUIET) as memory:
        yield memory


def kept_bytes(place: Path) -> bytes:
    return b"".join(path.read_bytes() for path in place.parent.iterdir() if path.is_file())


def test_turns_are_turned_away_until_the_pause_is_over(person: Memory, clock: Clock, place: Path) -> None:
    held = person.recording.pause("1h")
    assert held.pause == Pause(since=int(NOON), until=int(NOON) + HOUR)
    with pytest.raises(NotRecordedError, match=r"Recording is paused until .*: nothing was stored"):
        person.record_turn("s", "user", f"We fly to {WORDS}")
    assert person.recording.state().turned_away == 1
    assert person.view.count("kind:episode") == 0 and WORDS.encode() not in kept_bytes(place)
    clock.now += HOUR
    assert person.recording.state().pause is None
    person.record_turn("s", "user", "Back again")
    assert person.view.count("kind:episode") == 1


def test_what_the_person_writes_down_is_kept_and_changed(person: Memory) -> None:
    person.recording.pause()
    fact = person.remember("I like tea")
    assert person.correct(fact.id, "I like coffee").content == "I like coffee"
    assert person.recording.state().turned_away == 0


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("remember_fact", {"content": f"The person flies to {WORDS}"}),
        ("record_turn", {"session_id": "s", "role": "user", "content": f"I fly to {WORDS}"}),
        ("remember_observations", {"findings": [f"{WORDS} is far"], "source": "s"}),
        ("scratchpad_write", {"key": "next", "value": WORDS}),
        ("forget_fact", {"memory_id": "?", "reason": WORDS}),
        ("correct_fact", {"memory_id": "?", "new_content": WORDS}),
    ],
)
def test_what_an_agent_would_write_is_turned_away_and_it_is_told_so(
    person: Memory, agent: Memory, place: Path, tool: str, arguments: dict[str, object]
) -> None:
    fact = person.remember("I like tea")
    person.recording.pause()
    if "memory_id" in arguments:
        arguments = {**arguments, "memory_id": fact.id}
    answer = Toolbox.of(agent, ("memory", "observations", "scratchpad")).call(tool, arguments)
    assert answer.error is not None and answer.error.code == "refused"
    assert "Recording is paused" in answer.error.message and WORDS not in answer.text
    assert WORDS.encode() not in kept_bytes(place)
    assert person.recording.state().turned_away == 1


def test_agents_go_on_reading_and_their_questions_are_not_kept(
    person: Memory, agent: Memory, place: Path
) -> None:
    fact = person.remember("I like tea")
    person.recording.pause()
    found = Toolbox.of(agent).call("search_memory", {"query": f"tea in {WORDS}"})
    assert fact.id in found.text
    block = agent.context(f"tea in {WORDS}")
    assert "I like tea" in block.text
    assert [(one.query, one.memory_ids) for one in person.view.recent_recalls()] == [("", (fact.id,))] * 2
    assert WORDS.encode() not in kept_bytes(place)


def test_only_the_person_pauses_and_goes_on(person: Memory, agent: Memory) -> None:
    with pytest.raises(InputError, match="Only the person"):
        agent.recording.pause()
    person.recording.pause()
    with pytest.raises(InputError, match="Only the person"):
        agent.recording.resume()
    assert agent.recording.state().pause is not None


def test_another_end_keeps_the_beginning_and_the_count(person: Memory, clock: Clock) -> None:
    person.recording.pause("1h")
    with pytest.raises(NotRecordedError):
        person.record_turn("s", "user", "x")
    clock.now += 60
    held = person.recording.pause()
    assert held.pause == Pause(since=int(NOON)) and held.turned_away == 1
    person.recording.resume()
    assert person.recording.pause().turned_away == 0


def test_a_clock_that_went_back_ends_no_pause(person: Memory, clock: Clock) -> None:
    person.recording.pause("1h")
    clock.now -= 10 * HOUR
    with pytest.raises(NotRecordedError):
        person.record_turn("s", "user", "x")


def claude_line(text: str, at: float) -> str:
    when = datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")
    return json.dumps(
        {
            "type": "user", "uuid": f"u{at}", "sessionId": "11111111-1111-4111-8111-111111111111", "timestamp": when,
            "cwd": "/home/ada/boat", "message": {"role": "user", "content": text},
        }
    )  # fmt: skip


def test_sessions_bring_what_was_said_before_and_after_but_not_in_between(
    person: Memory, clock: Clock, tmp_path: Path, place: Path
) -> None:
    file = tmp_path / "in" / "s.jsonl"
    file.parent.mkdir()
    clock.now = NOON
    person.recording.pause("1h")
    said = [("before", -60), (f"to {WORDS}", 60), ("after", HOUR)]
    file.write_text("".join(claude_line(text, NOON + at) + "\n" for text, at in said))
    with FileFollower(person._core.connections, [file.parent], clock=clock, options=QUIET) as follower:
        follower.import_new()
    clock.now += 2 * HOUR
    report = person.files.import_paths([file])
    assert [one.content for one in person.view.page("kind:episode")] == [
        "after", "before",
    ]  # fmt: skip
    assert report.reasons == {"said while recording was paused": 1}
    assert WORDS.encode() not in kept_bytes(place)


def test_with_very_many_pauses_none_is_forgotten(person: Memory) -> None:
    with person._core.connections.write() as connection:
        for number in range(recording_rules._MAX_PAUSES + 20):
            recording_rules.pause(connection, number * 100, number * 100 + 10)
        known = recording_rules.all_pauses(connection)
    assert len(known) == recording_rules._MAX_PAUSES
    assert all(
        recording_rules.is_within_pause(known, number * 100 + 5)
        for number in range(recording_rules._MAX_PAUSES + 20)
    )


@pytest.mark.parametrize(
    ("when", "hours"),
    [("1h", 1), ("90m", 1.5), ("2 days", 48), ("for 2 hours", 2), ("until 18:00", 6), ("11:00", 23), ("12:00", 24),
     ("tomorrow", 12), ("tuesday", 12), ("monday", 156), ("2025-12-03", 36), ("2025-12-01 13:30", 1.5)],
)  # fmt: skip
def test_a_time_to_come(when: str, hours: float) -> None:
    assert parse_future_time(when, NOON, UTC) == NOON + hours * HOUR


@pytest.mark.parametrize("when", ["", "yesterday", "25:00", "2025-11-30", "soon", "0h", "99999999h"])
def test_what_names_no_time_to_come(when: str) -> None:
    with pytest.raises(InputError, match="is not a time in the future"):
        parse_future_time(when, NOON, UTC)
