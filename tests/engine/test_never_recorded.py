"""Clients, projects and folders that are never recorded: turned away at every door, in imports as well."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from memtui import Memory, Toolbox
from memtui.engine.errors import InputError, NotFoundError, NotRecordedError
from memtui.engine.records import Never, Options

QUIET = Options(background=False, embedder="off")
WORDS = "Zanzibar"


@pytest.fixture
def person(place: Path) -> Iterator[Memory]:
    with Memory.open(place, options=QUIET) as memory:
        yield memory


def agent(place: Path, name: str = "bot") -> Memory:
    return Memory.open(place, actor=f"agent:{name}", options=QUIET)


def kept_bytes(place: Path) -> bytes:
    return b"".join(path.read_bytes() for path in place.parent.iterdir() if path.is_file())


def test_a_client_is_never_recorded_and_reads_on(person: Memory, place: Path) -> None:
    fact = person.remember("I like tea")
    person.recording.never("client", "Bot")
    with agent(place) as memory, agent(place, "other") as other:
        with pytest.raises(NotRecordedError, match="This client is never recorded"):
            memory.record_turn("s", "user", WORDS)
        box = Toolbox.of(memory)
        assert box.call("remember_fact", {"content": f"Flies to {WORDS}"}).error is not None
        assert fact.id in box.call("search_memory", {"query": f"tea {WORDS}"}).text
        other.record_turn("s", "user", "of another client")
    assert [one.query for one in person.view.recent_recalls()] == [""]
    assert person.recording.state().turned_away == 2
    assert WORDS.encode() not in kept_bytes(place)


def test_a_project_is_never_recorded_whoever_brings_it(person: Memory, place: Path) -> None:
    person.recording.never("project", "Boat")
    with pytest.raises(NotRecordedError, match="This project is never recorded"):
        person.record_turn("s", "user", WORDS, project="boat")
    with agent(place) as memory:
        box = Toolbox.of(memory, project="boat")
        assert box.call("remember_fact", {"content": WORDS}).error is not None
        assert box.call("remember_observations", {"findings": [WORDS]}).error is not None
        assert (
            box.call("record_turn", {"session_id": "s", "role": "user", "content": WORDS}).error is not None
        )
        memory.record_turn("s", "user", "elsewhere", project="garden")
    person.remember("My own note", project="boat")
    assert WORDS.encode() not in kept_bytes(place)


def test_of_a_project_no_note_correction_wish_or_question_is_kept(person: Memory, place: Path) -> None:
    fact = person.remember("The boat is red", project="boat")
    with agent(place) as memory:
        loose = memory.remember("The boat leaks", project="boat")
    person.recording.never("project", "Boat")
    with agent(place) as memory:
        box = Toolbox.of(memory, ("memory", "scratchpad"), project="boat")
        for tool, given in (
            ("scratchpad_write", {"key": "course", "value": WORDS}),
            ("correct_fact", {"memory_id": loose.id, "new_content": f"Sails to {WORDS}"}),
            ("correct_fact", {"memory_id": fact.id, "new_content": f"Sails to {WORDS}"}),
            ("forget_fact", {"memory_id": loose.id, "reason": WORDS}),
        ):
            assert "never recorded" in box.call(tool, given).text, tool
        assert fact.id in box.call("search_memory", {"query": f"red boat {WORDS}"}).text
        box.call("get_context", {"prompt": f"which colour has the red boat in {WORDS}?"})
        with pytest.raises(NotRecordedError):
            memory.correct(loose.id, WORDS)
        with pytest.raises(NotRecordedError):
            memory.review.request_change("forget", loose.id, why=WORDS)
    assert {one.query for one in person.view.recent_recalls()} == {""}
    assert person.correct(fact.id, "The boat is blue").content == "The boat is blue"
    assert WORDS.encode() not in kept_bytes(place)


def test_agents_in_a_folder_are_never_recorded(
    person: Memory, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret" / "deep").mkdir(parents=True)
    (tmp_path / "secrets").mkdir()
    person.recording.never("folder", str(tmp_path / "secret"))
    with agent(place) as memory:
        monkeypatch.chdir(tmp_path / "secret" / "deep")
        with pytest.raises(NotRecordedError, match="This folder is never recorded"):
            memory.record_turn("s", "user", WORDS)
        monkeypatch.chdir(tmp_path / "secrets")
        memory.record_turn("s", "user", "not in it")
    assert person.view.count("kind:episode") == 1


def test_a_folder_is_the_same_by_a_link(
    person: Memory, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "real" / "nda").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    person.recording.never("folder", str(tmp_path / "link" / "nda"))
    monkeypatch.chdir(tmp_path / "real" / "nda")
    with agent(place) as memory, pytest.raises(NotRecordedError):
        memory.record_turn("s", "user", WORDS)


def session(tmp_path: Path, folder: str) -> Path:
    file = tmp_path / "in" / "s.jsonl"
    file.parent.mkdir()
    line = {
        "type": "user", "uuid": "u1", "sessionId": "11111111-1111-4111-8111-111111111111", "cwd": folder,
        "timestamp": "2025-12-01T12:00:00Z", "message": {"role": "user", "content": f"to {WORDS}"},
    }  # fmt: skip
    file.write_text(json.dumps(line) + "\n")
    return file


@pytest.mark.parametrize(
    "never",
    [("client", "claude-code"), ("project", "boat"), ("folder", "/home/ada"), ("folder", "/home/ada/boat/")],
)
def test_sessions_leave_it_out_until_it_may_be_recorded(
    person: Memory, tmp_path: Path, place: Path, never: tuple[str, str]
) -> None:
    file = session(tmp_path, "/home/ada/boat")
    kind, name = never
    person.recording.never(kind, name)  # type: ignore[arg-type]
    report = person.files.import_paths([file])
    assert (report.imported, report.reasons) == (0, {"never recorded (memtui pause --show)": 1})
    assert WORDS.encode() not in kept_bytes(place)
    person.recording.no_longer_never(kind, name)  # type: ignore[arg-type]
    assert person.files.import_paths([file]).imported == 1


def test_the_list_is_the_persons(person: Memory, place: Path) -> None:
    person.recording.never("project", "boat")
    assert person.recording.never("project", "boat").never == (Never(kind="project", name="boat"),)
    with agent(place) as memory, pytest.raises(InputError, match="Only the person"):
        memory.recording.no_longer_never("project", "boat")
    with pytest.raises(InputError, match="not an absolute path"):
        person.recording.never("folder", "here")
    with pytest.raises(NotFoundError):
        person.recording.no_longer_never("project", "garden")


def test_a_subject_is_never_recorded_by_its_words(person: Memory, place: Path, tmp_path: Path) -> None:
    person.record_turn(
        "old", "user", "My bank account at Triodos is a joint one with Ada. I am allergic to walnuts."
    )
    found = person.recording.never("subject", "bank account")
    assert found.never == (Never(kind="subject", name="bank account"),)
    said = "ok. Both our Bank Accounts are at Triodos"
    with pytest.raises(NotRecordedError, match="“bank account” is never recorded"):
        person.record_turn("s", "user", said)
    with agent(place) as memory:
        box = Toolbox.of(memory, ("memory", "scratchpad", "observations"))
        for tool, given in (
            ("remember_fact", {"content": said}),
            ("remember_observations", {"findings": [said]}),
            ("scratchpad_write", {"key": "money", "value": said}),
            ("record_turn", {"session_id": "s", "role": "user", "content": said}),
        ):
            assert "never recorded" in box.call(tool, given).text, tool
        box.call("search_memory", {"query": "walnuts for the bank account"})
        memory.record_turn("s", "user", "The bank is closed. What does an account manager do?")
    assert person.recording.state().turned_away == 5
    assert b"Accounts" not in kept_bytes(place)
    assert {one.query for one in person.view.recent_recalls()} <= {""}
    lines = [
        {"session_id": "i", "role": "user", "content": said, "timestamp": 1_760_000_000},
        {"session_id": "i", "role": "user", "content": "I live in Ghent", "timestamp": 1_760_000_001},
    ]
    file = tmp_path / "talk.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    report = person.files.import_paths([file])
    assert (report.imported, report.skipped) == (1, 1)
    asyncio.run(person.consolidate())
    facts = [fact.content for fact in person.view.page("kind:fact")]
    assert any("walnuts" in fact for fact in facts)
    assert not [fact for fact in facts if "Triodos" in fact]
    assert person.remember("My bank account is at Triodos").content  # what the person writes is theirs
    assert person.recording.no_longer_never("subject", "bank account").never == ()
    assert person.record_turn("s", "user", said).content == said
    with pytest.raises(InputError, match="words"):
        person.recording.never("subject", "…")
