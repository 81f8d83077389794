"""What was corrected or forgotten since is told beside the turns that say it, in every list of the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_kit import Cli
from memtui import Memory
from memtui.engine.records import Options


@pytest.fixture
def fact(cli: Cli, tmp_path: Path) -> str:
    """A fact that was drawn from a turn."""
    lines = tmp_path / "talk.jsonl"
    lines.write_text('{"session_id": "monday", "role": "user", "content": "I work at Initech."}\n')
    assert cli("import", str(lines)).code == 0
    assert cli("consolidate", "--all").code == 0
    (found,) = cli("search", "-f", "kind:fact", "--json").json["memories"]
    id = found["id"]
    assert isinstance(id, str)
    return id


def test_lists_tell_the_correction_below_the_turn(cli: Cli, fact: str) -> None:
    cli("correct", fact, "The user works at Globex")
    for call in (("search", "who", "works", "at", "Initech"), ("search", "-f", "kind:episode")):
        lines = cli(*call).out.splitlines()
        (place,) = [number for number, line in enumerate(lines) if "Initech" in line]
        assert lines[place + 1].split(None, 2)[:2] == ["!", "corrected"]
        assert lines[place + 1].endswith(": The user works at Globex")
    (turn,) = cli("search", "-f", "kind:episode", "--json").json["memories"]
    hits = cli("search", "who", "works", "at", "Initech", "--json").json["hits"]
    assert [hit["memory"]["kind"] for hit in hits] == ["fact", "episode"]
    assert hits[1]["cautions"][0]["successor"]["content"] == "The user works at Globex"
    shown = cli("show", turn["id"])
    assert "caution" in shown.out
    assert cli("show", turn["id"], "--json").json["cautions"][0]["how"] == "corrected"
    assert "above #2: it corrects what that says" in cli("search", "who works at Initech", "--explain").out
    cli("undo")
    assert "corrected" not in cli("search", "who", "works", "at", "Initech").out


def test_forget_can_withhold_the_turns(cli: Cli, fact: str) -> None:
    assert cli("forget", fact, "--withhold").code == 0
    result = cli("search", "who", "works", "at", "Initech").out
    assert "withheld from agents: I work at Initech" in result
    assert "Initech" not in cli("context", "what do I do at Initech?").out
    cli("restore", fact)
    assert "withheld" not in cli("search", "who", "works", "at", "Initech").out


def test_a_transcript_marks_the_turn(cli: Cli, fact: str) -> None:
    cli("correct", fact, "The user works at Globex")
    result = cli("sessions", "monday").out.splitlines()
    place = result.index("I work at Initech.")
    assert result[place - 1].split(None, 2)[:2] == ["!", "corrected"]
    assert result[place - 1].endswith(": The user works at Globex")
    shown = cli("sessions", "monday", "--json").json
    assert [of[0]["how"] for of in shown["cautions"].values()] == ["corrected"]
    cli("undo")
    assert "corrected" not in cli("sessions", "monday").out


def test_everything_about_a_name_marks_what_no_longer_holds(cli: Cli, fact: str) -> None:
    cli("correct", fact, "The user works at Globex")
    lines = cli("entities", "Initech").out.splitlines()
    (place,) = [number for number, line in enumerate(lines) if "I work at Initech." in line]
    assert lines[place + 1].split(None, 2)[:2] == ["!", "corrected"]
    assert cli("entities", "Initech", "--json").json["cautions"]


def test_withholding_what_was_replaced_is_refused_in_words_and_changes_nothing(cli: Cli, fact: str) -> None:
    cli("correct", fact, "The user works at Globex")
    other = cli("remember", "The user likes tea", "--json").json["memory"]["id"]
    for ids in ((fact,), (other, fact)):
        refused = cli("forget", *ids, "--withhold")
        assert refused.code == 3
        assert "superseded" in refused.err
    assert cli("show", other, "--json").json["memory"]["ended_by"] is None


def test_what_may_have_changed_is_told_by_every_list(cli: Cli, tmp_path: Path) -> None:
    talk = tmp_path / "talk.jsonl"
    lines = (
        {
            "session_id": "monday",
            "role": "user",
            "content": "My boss is Anna Holm.",
            "time": "2026-01-05T10:00:00",
        },
        {
            "session_id": "friday",
            "role": "user",
            "content": "My boss is now Peter Lund.",
            "time": "2026-01-09T10:00:00",
        },
    )
    talk.write_text("\n".join(map(json.dumps, lines)))
    cli("import", str(talk))
    cli("consolidate", "--all")
    facts = {one["content"]: one["id"] for one in cli("list", "kind:fact", "--json").json["memories"]}
    (old,) = [id for text, id in facts.items() if "Anna" in text]
    cli("context", "who is my boss?")
    calls = (
        ("search", "who is my boss"), ("search", "who is my boss", "--why", old), ("list", "kind:fact"), ("about",),
        ("sessions", "monday"), ("entities", "Anna Holm"), ("show", old),
    )  # fmt: skip
    for call in calls:
        told = " ".join(cli(*call).out.split())
        assert "changed? now? My boss is now Peter Lund (said on 9 Jan; Review asks" in told, call
    for call in (calls[0], calls[1], calls[2], calls[4], calls[5]):
        ((one, *_), *_) = [
            those for id, those in cli(*call, "--json").json["replacements"].items() if id == old
        ]
        assert (one["how"], one["old"]["id"]) == ("asked", old), call
    (card,) = cli("review", "--json").json["items"]
    assert cli("review", "both", card["id"]).code == 0
    for call in calls:
        assert "changed?" not in cli(*call).out, call


def test_what_an_agent_was_told_says_what_no_longer_holds_as_json_too(
    cli: Cli, fact: str, home: Path
) -> None:
    with Memory.open(home / "memory.db", options=Options(background=False, embedder="off")) as memory:
        memory.actor = "agent:claude"
        memory.note_recall("where do I work", memory.view.page("kind:episode"), "s1")
    cli("correct", fact, "The user works at Globex")
    ((caution,),) = cli("wrong", "--json").json["cautions"].values()
    assert caution["successor"]["content"] == "The user works at Globex"
