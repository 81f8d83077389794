"""The demo memory, built: everything of the file is there, linked, in its state, and looks recent."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from memtui import Memory
from memtui.demo import create_demo
from memtui.demo.lines import fill_dates
from memtui.engine.errors import StoreError
from memtui.engine.records import MemoryRecord, Options

Line = dict[str, Any]

NOW = 1_760_000_000
TODAY = datetime.fromtimestamp(NOW)
ASSET = Path(__file__).parents[1] / "assets" / "demo.jsonl"
EVERY_LINE: list[Line] = [json.loads(line) for line in ASSET.read_text(encoding="utf-8").split("\n") if line]
# Notes go to the scratchpad; every other line becomes a memory.
LINES = [line for line in EVERY_LINE if line["type"] != "note"]
KEYED = {line["key"]: line for line in LINES if "key" in line}


def of_type(name: str) -> list[Line]:
    return [line for line in LINES if line["type"] == name]


def text(line: Line) -> str:
    return fill_dates(line["content"], TODAY)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    path = tmp_path_factory.mktemp("demo") / "demo.db"
    create_demo(path, now=NOW)
    options = Options(background=False, embedder="off")
    with Memory.open(path, clock=lambda: NOW, options=options) as memory:
        yield memory


@pytest.fixture(scope="module")
def by_text(demo: Memory) -> dict[str, MemoryRecord]:
    """Every note of the memory by its text, those in the Trash included."""
    rids = range(1, len(LINES) + 1)
    return {record.content: record for record in demo.view.rows(rids)}


def test_every_line_becomes_one_memory(demo: Memory, by_text: dict[str, MemoryRecord]) -> None:
    kinds = {"turn": "episode", "fact": "fact", "reflection": "reflection", "observation": "observation"}
    expected = Counter(kinds[line["type"]] for line in LINES)
    assert Counter(record.kind for record in by_text.values()) == expected
    assert {text(line) for line in LINES} == by_text.keys()
    stats = demo.stats()
    assert stats.active + stats.ended == len(LINES)
    assert stats.sessions == len({turn["session"] for turn in of_type("turn")})


def test_turns_keep_their_session_role_project_and_place_in_time(
    demo: Memory, by_text: dict[str, MemoryRecord]
) -> None:
    for turn in of_type("turn"):
        record = by_text[text(turn)]
        assert (record.session_id, record.source_role) == (turn["session"], turn["role"])
        assert record.project == turn.get("project")
        assert record.event_time == record.created_at == NOW + turn["time"]
    for session in demo.view.sessions():
        said = [turn for turn in of_type("turn") if turn["session"] == session.session_id]
        told = [record.content for record in demo.view.transcript(session.session_id)]
        assert told == [text(turn) for turn in said]
        assert session.title == said[0]["title"]


def test_trust_follows_who_said_it(by_text: dict[str, MemoryRecord]) -> None:
    trusts = {"user": "user", "assistant": "agent", "tool": "tool"}
    for turn in of_type("turn"):
        assert by_text[text(turn)].trust == trusts[turn["role"]]
    for fact in of_type("fact"):
        record = by_text[text(fact)]
        roles = {KEYED[key]["role"] for key in fact["sources"]}
        if fact["by"] == "person" or (roles == {"user"} and fact["by"] == "consolidation"):
            assert record.trust == "user"
        else:
            assert record.trust == "agent"


def test_the_provenance_of_every_fact_and_reflection_resolves(
    demo: Memory, by_text: dict[str, MemoryRecord]
) -> None:
    for line in of_type("fact") + of_type("reflection"):
        record = by_text[text(line)]
        sources = {source.content for source in demo.view.sources(record.id)}
        assert sources == {text(KEYED[key]) for key in line["sources"]}
        for source in demo.view.sources(record.id):
            assert source.created_at <= record.created_at
            assert record.id in {derived.id for derived in demo.view.derived(source.id)}


def test_facts_keep_their_tags_confidence_and_protection(by_text: dict[str, MemoryRecord]) -> None:
    for fact in of_type("fact"):
        record = by_text[text(fact)]
        assert record.tags == tuple(fact["tags"])
        assert record.protected == (fact["confirmed"] or fact["by"] == "person")
        assert record.topic == fact["topic"]
        assert record.decay_rate == (0.0 if record.protected or record.topic in ("health", "rule") else 0.1)
        if not record.protected:
            assert record.confidence == fact["confidence"]


def test_corrections_end_the_old_fact_and_link_both_ways(
    demo: Memory, by_text: dict[str, MemoryRecord]
) -> None:
    corrections = [fact for fact in of_type("fact") if fact["supersedes"]]
    for fact in corrections:
        new, old = by_text[text(fact)], by_text[text(KEYED[fact["supersedes"]])]
        assert new.supersedes == old.id
        assert (old.ended_by, old.valid_until) == ("superseded", new.created_at)
        assert old.created_at < new.created_at
        assert [version.id for version in demo.view.versions(new.id)] == [old.id, new.id]
    ended = Counter(record.ended_by for record in by_text.values())
    assert ended["superseded"] == len(corrections)
    assert ended["forgotten"] == sum(fact["forgotten"] for fact in of_type("fact"))


def test_recalls_fall_on_as_many_days_as_the_file_says(
    demo: Memory, by_text: dict[str, MemoryRecord]
) -> None:
    for fact in of_type("fact"):
        record = by_text[text(fact)]
        told = demo.view.recalls_of(record.id)
        assert record.recall_days == record.access_count == len(told) == fact["recalled_days"], fact
        times = sorted(recall.at for recall in told)
        # Two dates in every time zone, also in the night of 25 hours.
        assert all(after - before > 25 * 3_600 for before, after in pairwise(times)), fact
        for recall in told:
            assert record.created_at < recall.at < (record.valid_until or NOW)


def test_facts_are_strong_fading_and_all_but_gone(by_text: dict[str, MemoryRecord]) -> None:
    facts = [record for record in by_text.values() if record.kind == "fact" and record.active]
    assert sum(record.effective < 0.1 for record in facts) >= 3
    assert sum(0.1 <= record.effective < 0.6 for record in facts) >= 5
    assert sum(record.effective == 1.0 for record in facts) >= 10


def test_observations_keep_category_and_source(by_text: dict[str, MemoryRecord]) -> None:
    for line in of_type("observation"):
        record = by_text[text(line)]
        assert (record.category, record.source) == (line["category"], line["source"])
        assert record.event_time == NOW + line["time"]


def test_all_sessions_but_the_last_two_are_consolidated(demo: Memory) -> None:
    sessions = demo.view.sessions()
    assert sessions[0].session_id == "this-week"
    pending = {session.session_id for session in sessions if session.consolidated_at is None}
    assert pending == {"this-week", "coach"}
    assert demo.stats().pending_sessions == len(pending)


def test_everything_happened_in_order_and_before_now(demo: Memory) -> None:
    operations = demo.view.operations(limit=1_000)
    times = [operation.at for operation in operations]
    assert times == sorted(times, reverse=True)
    assert max(times) < NOW
    assert {operation.actor for operation in operations} == {
        "person",
        "scheduler",
        "agent:assistant",
        "agent:coach",
    }
    assert all(operation.state == "done" and operation.rows for operation in operations)


def test_the_text_with_a_secret_look_is_quarantined(by_text: dict[str, MemoryRecord]) -> None:
    marked = [record.content for record in by_text.values() if "secrets" in record.attributes]
    assert [content for content in marked if "AKIAIOSFODNN7EXAMPLE" in content] == marked != []


def test_entities_are_linked_already(demo: Memory) -> None:
    stats = demo.stats()
    assert stats.unlinked == 0
    assert stats.entities > 5


def test_the_check_finds_nothing(demo: Memory) -> None:
    report = demo.files.check(deep=True)
    assert (report.ok, report.findings) == (True, ())


def test_plain_undo_takes_back_the_last_thing_the_person_did(tmp_path: Path) -> None:
    create_demo(tmp_path / "demo.db", now=NOW)
    options = Options(background=False, embedder="off")
    with Memory.open(tmp_path / "demo.db", clock=lambda: NOW, options=options) as memory:
        before = memory.stats().active
        undone = memory.undo()
        assert undone is not None
        assert undone.operation.label.startswith("Remembered “Ada's birthday")
        assert memory.stats().active == before - 1


def test_two_demos_look_alike(tmp_path: Path) -> None:
    seen = []
    for name in ("one.db", "two.db"):
        create_demo(tmp_path / name, now=NOW)
        with Memory.open(tmp_path / name, readonly=True, clock=lambda: NOW) as memory:
            rows = memory.view.rows(range(1, len(LINES) + 1))
            notes = [row for row in rows if row.kind != "episode"]
            seen.append([(note.rid, note.id, note.content, note.effective) for note in notes])
    assert seen[0] == seen[1]


def test_a_file_that_is_there_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "mine.db"
    path.write_bytes(b"mine")
    with pytest.raises(StoreError, match=r"mine\.db is there already"):
        create_demo(path, now=NOW)
    assert path.read_bytes() == b"mine"


def test_it_is_built_while_one_waits(tmp_path: Path) -> None:
    start = time.process_time()
    create_demo(tmp_path / "demo.db", now=NOW)
    assert time.process_time() - start < 10  # a fraction of a second on a free machine


@pytest.mark.parametrize("name", ["assets", "memtui/assets"])
def test_the_file_is_found_beside_the_package_and_inside_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memtui.demo import lines

    place = tmp_path / name
    place.mkdir(parents=True)
    only = {
        "type": "observation",
        "category": "lesson",
        "content": "{{+2:day}}",
        "source": "A:b",
        "time": -9,
    }
    (place / "demo.jsonl").write_text(json.dumps(only) + "\n")
    monkeypatch.setattr("importlib.resources.files", lambda package: tmp_path / package)
    monkeypatch.setattr(lines, "__file__", str(tmp_path / "memtui" / "demo" / "lines.py"))
    (line,) = lines.read_lines(NOW)
    assert (line.time, line.content) == (NOW - 9, fill_dates("{{+2:day}}", TODAY))


def test_dates_in_texts_are_written_around_today() -> None:
    day = datetime(2025, 10, 8, 23, 59)
    assert fill_dates("on {{+6}} at 15:20", day) == "on Tuesday 14 October at 15:20"
    assert fill_dates("{{-8:day}}, {{+61:month}}", day) == "Tuesday, December"
    assert fill_dates("{{x}} {{6}}", day) == "{{x}} {{6}}"


def test_no_placeholder_is_left_in_the_memory(by_text: dict[str, MemoryRecord]) -> None:
    assert [content for content in by_text if "{{" in content] == []


def test_notes_stand_on_the_scratchpad_signed_by_the_agent(demo: Memory) -> None:
    notes = [line for line in EVERY_LINE if line["type"] == "note"]
    assert len(notes) >= 3
    for note in notes:
        entry = demo.scratchpad.get(note["pad"])
        assert (entry.value, entry.updated_at) == (note["content"], NOW + note["time"])
        assert demo.scratchpad.writer(note["pad"]) == "agent:assistant"


def test_dates_in_facts_are_those_that_the_program_reads(demo: Memory) -> None:
    coming = [one.content for one in demo.view.page("topic:plan happens:today..")]
    assert any("Maas Ten" in text for text in coming) and any("go-live" in text for text in coming)
    assert demo.view.count("topic:rule project:*") > 0
