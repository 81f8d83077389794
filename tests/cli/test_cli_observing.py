"""observations and scratchpad: what agents note, on the command line."""

from __future__ import annotations

import os

import pytest
from cli_kit import Cli
from memtui.engine.memory import Memory


@pytest.fixture
def noted(cli: Cli) -> Cli:
    with Memory.open(os.environ["MEMTUI_DB"], actor="agent:scout") as memory:
        memory.observations.remember(
            ["The API rate limit is 100 a minute"], ["REST is simpler here"], ["Check the rate limit first"],
            source="GOAL:probe",
        )  # fmt: skip
        memory.scratchpad.set("api.limit", "100 a minute")
        memory.scratchpad.set("Größe", "zwei\nZeilen")
    return cli


def test_without_a_query_they_are_listed_and_with_one_ranked(noted: Cli) -> None:
    assert len(noted("observations").out.splitlines()) == 3
    hits = noted("observations", "rate limit", "--json").json["hits"]
    assert [hit["memory"]["category"] for hit in hits] == ["lesson", "finding"]
    first = noted("observations", "rate limit").out.splitlines()[0]
    assert first.startswith(f"{hits[0]['score']:.3f}  lesson ") and hits[0]["memory"]["id"] in first
    assert noted("observations", "rate", "--min-score", "0.99").code == 1
    assert noted("observations", "finding").code == 1


def test_category_source_and_limit_narrow_them(noted: Cli) -> None:
    noted("observations", "add", "-c", "insight", "-s", "session:x", "-t", "work", "Caching", "helps")
    listed = noted("observations", "-c", "insight", "--json").json["observations"]
    assert [(one["content"], one["source"], one["tags"]) for one in listed] == [
        ("Caching helps", "session:x", ["work"]), ("REST is simpler here", "GOAL:probe", []),
    ]  # fmt: skip
    assert len(noted("observations", "-s", "goal:*", "--json").json["observations"]) == 3
    assert len(noted("observations", "rate", "-s", "GOAL:probe", "-c", "finding", "--json").json["hits"]) == 1
    result = noted("observations", "-n", "1")
    assert len(result.out.splitlines()) == 1 and "3 more" in result.err


def test_one_is_written_down_and_taken_back(cli: Cli) -> None:
    added = cli("observations", "add", "-", "-c", "lesson", "--json", input=b"Read the manual").json["memory"]
    assert (added["category"], added["content"], added["source"]) == ("lesson", "Read the manual", "explicit")
    assert "noted the finding" in cli("observations", "add", "Port 80 is open").out
    cli("undo")
    assert len(cli("observations").out.splitlines()) == 1


def test_an_empty_memory_has_none(cli: Cli) -> None:
    cli("remember", "a fact")
    assert (cli("observations").code, cli("observations").err) == (1, "no observations\n")
    assert cli("scratchpad").code == 1


def test_the_scratchpad_is_listed_read_written_searched_and_cleared(noted: Cli) -> None:
    assert [entry["key"] for entry in noted("scratchpad", "--json").json["entries"]] == ["Größe", "api.limit"]
    assert [line.split()[1] for line in noted("scratchpad", "list", "api.").out.splitlines()] == ["api.limit"]
    assert noted("scratchpad", "read", "Größe").out == "zwei\nZeilen\n"
    assert noted("scratchpad", "search", "GRÖSSE").code == 0
    assert noted("scratchpad", "search", "nowhere").code == 1
    assert noted("scratchpad", "write", "task", "-", input=b"from a pipe\n").code == 0
    assert noted("scratchpad", "read", "task", "--json").json["entry"]["value"] == "from a pipe\n"
    assert noted("scratchpad", "delete", "task").code == 0
    assert noted("scratchpad", "read", "task").code == 3
    assert noted("undo").code == 0
    assert noted("scratchpad", "read", "task").code == 0


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (["observations", " "], 2),
        (["observations", "add"], 2),
        (["observations", "add", " "], 3),
        (["observations", "-c", "idea"], 2),
        (["observations", "x", "--tag", "y"], 2),
        (["observations", "--limit", "0"], 2),
        (["scratchpad", "read"], 2),
        (["scratchpad", "write", "key"], 2),
        (["scratchpad", "write", "two\nlines", "x"], 3),
        (["scratchpad", "write", "key", "x" * 100_001], 3),
        (["scratchpad", "search", " "], 2),
        (["scratchpad", "list", "a", "b"], 2),
        (["scratchpad", "erase"], 2),
        (["--readonly", "scratchpad", "delete", "api.limit"], 4),
        (["--readonly", "observations", "add", "x"], 4),
    ],
)
def test_a_mistake_exits_with_its_code_and_changes_nothing(noted: Cli, line: list[str], code: int) -> None:
    result = noted(*line)
    assert result.code == code and "hint: " in result.err
    assert len(noted("history", "--json").json["operations"]) == 3
