"""The demo memory, built: everything of the file is there, linked, in its state, and looks recent."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
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
LINES: list[Line] = [json.loads(line) for line in ASSET.read_text(encoding="utf-8").split("\n") if line]
KEYED = {line["key"]: line for line in LINES if "key" in line}


def of_type(name: str) -> list[Line]:
    return [line for line in LINES if line["type"] == name]


def filled(text: str) -> str:
    return fill_dates(text, TODAY)


def text(line: Line) -> str:
    return filled(line["content"])


def drawn(*actions: str) -> dict[str, Line]:
    """The lines of all plans by their texts, each with its session."""
    return {
        text(one): one | {"session": plan["session"]}
        for plan in of_type("drawn")
        for one in plan["lines"]
        if one["action"] in actions
    }


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    path = tmp_path_factory.mktemp("demo") / "demo.db"
    create_demo(path, now=NOW)
    options = Options(background=False, embedder="off")
    with Memory.open(path, clock=lambda: NOW, options=options) as memory:
        yield memory


@pytest.fixture(scope="module")
def records(demo: Memory) -> list[MemoryRecord]:
    """Every memory, those in the Trash included."""
    stats = demo.stats()
    return demo.view.rows(range(1, stats.active + stats.ended + 1))


@pytest.fixture(scope="module")
def by_text(records: list[MemoryRecord]) -> dict[str, MemoryRecord]:
    """Facts win over turns that say the same."""
    return {record.content: record for record in sorted(records, key=lambda record: record.kind == "fact")}


@pytest.fixture(scope="module")
def turn_by_text(records: list[MemoryRecord]) -> dict[str, MemoryRecord]:
    return {record.content: record for record in records if record.kind == "episode"}


def facts_of(records: list[MemoryRecord]) -> list[MemoryRecord]:
    return [record for record in records if record.kind == "fact"]


def test_everything_that_was_said_and_noted_is_there(records: list[MemoryRecord]) -> None:
    for name, kind in [("turn", "episode"), ("reflection", "reflection"), ("observation", "observation")]:
        expected = {text(line) for line in of_type(name)}
        assert expected <= {record.content for record in records if record.kind == kind}


def test_turns_keep_their_session_role_project_and_place_in_time(
    demo: Memory, turn_by_text: dict[str, MemoryRecord]
) -> None:
    for turn in of_type("turn"):
        record = turn_by_text[text(turn)]
        assert (record.session_id, record.source_role) == (turn["session"], turn["role"])
        assert record.project == turn.get("project")
        assert record.event_time == record.created_at == NOW + turn["time"]
    for session in demo.view.sessions():
        said = [turn for turn in of_type("turn") if turn["session"] == session.session_id]
        told = [record.content for record in demo.view.transcript(session.session_id)]
        assert told == [text(turn) for turn in said]
        assert session.title == said[0]["title"]


def test_trust_follows_who_said_it(turn_by_text: dict[str, MemoryRecord]) -> None:
    trusts = {"user": "user", "assistant": "agent", "tool": "tool"}
    for turn in of_type("turn"):
        assert turn_by_text[text(turn)].trust == trusts[turn["role"]]


def test_every_fact_was_drawn_by_consolidation_or_is_somebodys_own_word(
    demo: Memory, records: list[MemoryRecord]
) -> None:
    made = Counter[str]()
    for record in facts_of(records):
        (made_by,) = [
            operation for operation, change in demo.view.history_of(record.id) if change.before is None
        ]
        made[made_by.kind] += 1
        if made_by.kind == "consolidate":
            assert made_by.actor == "scheduler"
            assert record.source == f"session:{record.session_id}" and record.trust == "user"
            assert record.content in drawn("add", "conflict"), record.content
        else:
            assert made_by.kind in ("remember", "correct"), record.content
            assert made_by.actor in ("person", "agent:coach")
    assert made["consolidate"] > 0.85 * made.total()


def test_the_provenance_of_what_was_drawn_is_what_the_person_said(
    demo: Memory, by_text: dict[str, MemoryRecord]
) -> None:
    for content, line in drawn("add", "conflict").items():
        record = by_text[content]
        sources = demo.view.sources(record.id)
        assert [source.content for source in sources] == [text(KEYED[key]) for key in line["sources"]]
        for source in sources:
            assert (source.session_id, source.trust) == (line["session"], "user")
            assert source.created_at < record.created_at
            assert record.id in {derived.id for derived in demo.view.derived(source.id)}


def test_a_correction_keeps_the_sources_of_what_it_corrects(
    demo: Memory, records: list[MemoryRecord]
) -> None:
    corrections = {text(line) for line in of_type("decision") if line["verb"] == "correct"}
    for record in facts_of(records):
        if record.content in corrections:
            (old,) = [one for one in records if one.id == record.supersedes]
            assert record.source_ids == old.source_ids
            assert (old.ended_by, old.valid_until) == ("superseded", record.created_at)
            assert [version.id for version in demo.view.versions(record.id)][-1] == record.id


@pytest.mark.parametrize("what", ["facts", pytest.param("all", marks=pytest.mark.long)])
def test_the_demo_is_what_the_program_makes_of_its_talks(what: str) -> None:
    """Where this fails, run ``python assets/make_demo.py`` and look at what changed."""
    command = [sys.executable, str(ASSET.with_name("make_demo.py")), "--check", what]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    assert (done.returncode, done.stdout) == (0, "nothing would change\n"), done.stdout + done.stderr


def test_facts_have_the_confidence_and_topic_that_the_program_gave(by_text: dict[str, MemoryRecord]) -> None:
    decided = {filled(of) for line in of_type("decision") for of in line.get("of", ())}
    for content, line in drawn("add").items():
        record = by_text[content]
        if not any(content.startswith(of) for of in decided) and record.confidence > 0.3:
            assert (record.confidence, record.topic) == (line["confidence"], line["topic"])
            assert not record.protected


def test_what_the_person_decided_is_done(demo: Memory, records: list[MemoryRecord]) -> None:
    ended = Counter(record.ended_by for record in records)
    assert ended["forgotten"] == sum(
        len(line["of"]) for line in of_type("decision") if line["verb"] == "forget"
    )
    assert ended["superseded"] == sum(line["verb"] == "correct" for line in of_type("decision"))
    assert sum(record.protected for record in facts_of(records)) >= 15
    kinds = Counter(operation.kind for operation in demo.view.operations(limit=1_000))
    assert {"confirm", "correct", "forget", "tag", "classify", "remember", "review"} <= kinds.keys()


def test_new_facts_and_conflicts_wait_in_review(demo: Memory) -> None:
    kinds = Counter(item.kind for item in demo.review.items())
    assert kinds["conflict"] >= 1
    assert kinds["conflict"] + kinds["choice"] >= 2
    assert kinds["new"] >= 3


def test_an_agent_was_given_what_was_known_by_then(demo: Memory, records: list[MemoryRecord]) -> None:
    assert sum(record.recall_days > 0 for record in facts_of(records)) >= 40
    assert max(record.recall_days for record in facts_of(records)) >= 8
    for record in facts_of(records):
        for recall in demo.view.recalls_of(record.id):
            assert record.created_at < recall.at < (record.valid_until or NOW)
            assert recall.agent == "assistant"


def test_facts_are_strong_fading_and_all_but_gone(records: list[MemoryRecord]) -> None:
    facts = [record for record in facts_of(records) if record.active]
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
        assert undone.operation.label.startswith("Remembered “Ada's birthday dinner")
        assert memory.stats().active == before - 1


def test_two_demos_look_alike(tmp_path: Path) -> None:
    seen = []
    for name in ("one.db", "two.db"):
        create_demo(tmp_path / name, now=NOW)
        with Memory.open(tmp_path / name, readonly=True, clock=lambda: NOW) as memory:
            stats = memory.stats()
            rows = memory.view.rows(range(1, stats.active + stats.ended + 1))
            seen.append([(row.rid, row.content, row.effective) for row in rows])
    assert seen[0] == seen[1]


def test_a_file_that_is_there_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "mine.db"
    path.write_bytes(b"mine")
    with pytest.raises(StoreError, match=r"mine\.db already exists"):
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
    notes = [line for line in LINES if line["type"] == "note"]
    assert len(notes) >= 3
    for note in notes:
        entry = demo.scratchpad.get(note["pad"])
        assert (entry.value, entry.updated_at) == (note["content"], NOW + note["time"])
        assert demo.scratchpad.writer(note["pad"]) == "agent:assistant"


def test_dates_in_facts_are_those_that_the_program_reads(demo: Memory) -> None:
    coming = [one.content for one in demo.view.page("topic:plan happens:today..")]
    assert any("Maas Ten" in text for text in coming) and any("A2 exam" in text for text in coming)
    assert demo.view.count("topic:rule project:*") > 0
