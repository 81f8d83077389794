"""``--dry-run`` of correct, forget, merge and erase tells what depends on a memory; Review decides it afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_kit import Cli
from memtui import Memory
from memtui.engine.records import Options
from memtui.engine.store import memories

OPTIONS = Options(background=False, embedder="off")


@pytest.fixture
def facts(cli: Cli, home: Path) -> list[str]:
    """Ada's work, her hobby of the same turn; a reflection was drawn from the first, an agent was told it."""
    assert cli("remember", "Ada likes hiking").code == 0
    with Memory.open(home / "memory.db", options=OPTIONS) as memory:
        said = memory.record_turn("monday", "user", "Ada works at Initech and likes hiking.")
        with memory._core.change("test", "Drew") as op:
            at = said.event_time
            rids = [
                memories.insert(
                    op.connection, kind="fact", content=text, event_time=at, created_at=at, trust="user",
                    source_ids=[said.id],
                )
                for text in ("Ada works at Initech", "Ada goes to the mountains")
            ]  # fmt: skip
            first, second = memories.by_rid(op.connection, [one for one in rids if one], at)
            memories.insert(
                op.connection, kind="reflection", content="The week was about Ada's job.", event_time=at,
                created_at=at, trust="model", source_ids=[first.id],
            )  # fmt: skip
        memory.questions.expect("where does Ada work", first.id)
        memory.actor = "agent:claude"
        memory.note_recall("Ada", [first])
        memory.note_recall("Ada", [first])
    return [first.id, second.id]


@pytest.mark.parametrize(
    "call",
    [
        ("correct", "{0}", "-n"),
        ("correct", "{0}", "Ada works at Globex", "--dry-run"),
        ("forget", "{0}", "--dry-run"),
    ],
)
def test_what_depends_on_it_is_told_and_nothing_changes(
    cli: Cli, facts: list[str], call: tuple[str, ...]
) -> None:
    before = cli("history", "--json").json
    result = cli(*(part.format(*facts) for part in call))
    assert result.code == 0
    for part in ("drawn from", "The week was about Ada's job.", "question", "where does Ada work", "same turns",
                 "Ada goes to the mountains", "told", "claude, 2 times, last"):  # fmt: skip
        assert part in result.out
    assert "nothing was changed" in result.err
    assert cli("history", "--json").json == before


def test_with_the_new_text_facts_with_the_old_name_are_told(cli: Cli, facts: list[str]) -> None:
    assert cli("remember", "Ada cycles to Initech").code == 0
    assert "old name" not in cli("correct", facts[0], "--dry-run").out
    assert "old name" not in cli("correct", facts[0], "Ada left Initech", "--dry-run").out
    result = cli("correct", facts[0], "Ada works at Globex", "--dry-run")
    assert "old name    fact Ada cycles to Initech" in result.out
    assert "facts with the old name wait in Review" in result.err
    (named,) = cli("correct", facts[0], "Ada works at Globex", "--dry-run", "--json").json["dependents"][
        "naming"
    ]
    assert (named["memory"]["content"], named["name"]) == ("Ada cycles to Initech", "initech")


def test_as_json(cli: Cli, facts: list[str]) -> None:
    found = cli("forget", *facts, "--dry-run", "--json").json
    assert found["dry_run"] is True
    result = found["dependents"]
    assert [one["content"] for one in result["memories"]] == [
        "Ada works at Initech",
        "Ada goes to the mountains",
    ]
    assert [one["kind"] for one in result["derived"]] == ["reflection"]
    assert [(one["agent"], one["times"]) for one in result["served"]] == [("claude", 2)]
    merged = cli("merge", *facts, "--dry-run", "--json").json["dependents"]
    assert merged == {**result, "replaced": True}  # the text of the first takes their place
    erased = cli("erase", facts[0], "--dry-run", "--json").json["dependents"]
    assert [one["query"] for one in erased["questions"]] == ["where does Ada work"]


def test_a_correction_without_a_text_is_refused(cli: Cli, facts: list[str]) -> None:
    result = cli("correct", facts[0])
    assert result.code == 2 and "--dry-run" in result.err


def test_before_an_erase_it_tells_who_was_told(cli: Cli, facts: list[str]) -> None:
    result = cli("erase", facts[0], "--dry-run").out
    assert "claude, 2 times, last" in result
    assert result.count("The week was about Ada's job.") == 1  # it is in the list of what goes


def test_what_was_drawn_from_it_is_decided_in_review(cli: Cli, facts: list[str]) -> None:
    cli("correct", facts[0], "Ada works at Globex")
    listed = cli("review").out
    assert "1 thing was drawn from what you corrected: “Ada works at Initech”" in listed
    (item,) = [one for one in cli("review", "--json").json["items"] if one["kind"] == "dependents"]
    assert cli("review", "keep", item["id"], "--memory", item["memories"][0]["id"]).code == 0
    assert "drawn from what you" not in cli("review").out
    cli("undo")
    assert "drawn from what you" in cli("review").out


def test_a_summary_is_told_with_its_caution(cli: Cli, facts: list[str], home: Path) -> None:
    with Memory.open(home / "memory.db", options=OPTIONS) as memory:
        memory.models.index_pending()
        ada = memory.entities.get("Ada").entity
        memory.entities.describe(ada.id, "A friend who works at Initech")
    assert "summary" in cli("correct", facts[0], "--dry-run").out
    cli("correct", facts[0], "Ada works at Globex")
    result = cli("entities", "Ada").out
    assert "A friend who works at Initech\n" in result and ": Ada works at Globex" in result.split("type")[0]
    (item,) = [one for one in cli("review", "--json").json["items"] if one["kind"] == "dependents"]
    assert cli("review", "correct", item["id"], "--memory", ada.id, "--text", "A friend at Globex").code == 0
    assert cli("entities", "Ada", "--json").json["entity"]["summary"] == "A friend at Globex"
