"""memtui entities: the list, everything about one of them, and what is corrected about it."""

from __future__ import annotations

import os

import pytest
from cli_kit import Cli, Program
from memtui import Memory
from memtui.engine.records import Options


@pytest.fixture(autouse=True)
def people() -> None:
    options = Options(background=False, embedder="off", allow_unsafe_fs=True)
    with Memory.open(os.environ["MEMTUI_DB"], options=options) as memory:
        for text in (
            "Then Ada Lovelace met Bob near the old harbour in Lisbon",
            "Then Ada slept",
            "Then @ada rang",
        ):
            memory.record_turn("talk", "user", text)


def test_the_list_has_who_is_mentioned_most_first(cli: Cli) -> None:
    result = cli("entities")
    assert result.code == 0
    assert result.out.splitlines()[0].split()[:3] == ["Ada", "person", "2"]
    assert [
        one["canonical_name"] for one in cli("entities", "--type", "location", "--json").json["entities"]
    ] == ["Lisbon"]
    assert cli("entities", "-f", "love", "--json").json["total"] == 1
    assert cli("entities", "-f", "nobody").code == 1
    assert "1 of 4" in cli("entities", "-n", "1").err


def test_a_name_shows_everything_about_it(cli: Cli) -> None:
    result = cli("entities", "ada lovelace")
    assert "may be     Ada (2): --merge makes one of both, --keep-apart says no" in result.out
    assert "mentioned  in 1 memory, " in result.out
    assert "seen with" in result.out and "Bob (person) in 1 memory, the latest of " in result.out
    assert "Then Ada Lovelace met Bob" in result.out
    profile = cli("entities", "Ada", "--json").json
    assert profile["total"] == 2 and profile["entity"]["aliases"] == ["@ada"]


def test_two_names_show_what_mentions_both(cli: Cli) -> None:
    result = cli("entities", "ada lovelace", "--with", "lisbon")
    assert result.out.startswith("Ada Lovelace and Lisbon\n") and "the old harbour" in result.out
    found = cli("entities", "lisbon", "--with", "Bob", "--json").json
    assert (found["total"], [one["canonical_name"] for one in found["entities"]]) == (1, ["Lisbon", "Bob"])
    nothing = cli("entities", "Ada", "--with", "Bob")
    assert nothing.code == 1 and "no memory mentions both Ada and Bob" in nothing.err
    assert cli("entities", "--with", "Bob").code == 2
    assert cli("entities", "Ada", "--with", "Bob", "--pin").code == 2


def test_a_merge_is_shown_made_and_taken_back(cli: Cli) -> None:
    assert "3 memories" in cli("entities", "Ada Lovelace", "--merge", "Ada", "--dry-run").out
    result = cli("entities", "Ada Lovelace", "--merge", "Ada")
    assert "Merged “Ada” into “Ada Lovelace”" in result.out and "also Ada, @ada" in result.out
    assert cli("entities", "ada", "--json").json["total"] == 3
    assert cli("undo").code == 0
    assert cli("entities", "ada", "--json").json["total"] == 2


@pytest.mark.parametrize(
    ("change", "result"),
    [
        (("--rename", "Countess"), "Countess"),
        (("--retype", "project"), "project"),
        (("--alias", "Augusta"), "also @ada, Augusta"),
        (("--remove-alias", "@ada"), "Ada"),
        (("--split", "@ada"), "@ada"),
        (("--keep-apart", "Ada Lovelace"), "are two"),
        (("--pin",), "Pinned"),
        (("--describe", "a friend"), "Described"),
        (("--not-an-entity",), "not an entity"),
    ],
)
def test_each_correction_is_one_operation(cli: Cli, change: tuple[str, ...], result: str) -> None:
    before = cli("history", "--json").json["operations"]
    assert result in cli("entities", "Ada", *change).out
    assert len(cli("history", "--json").json["operations"]) == len(before) + 1


def test_a_memory_is_taken_off_and_put_back(cli: Cli) -> None:
    id = cli("entities", "Bob", "--json").json["memories"][0]["id"]
    assert cli("entities", "Bob", "--unlink", id).code == 0
    assert cli("entities", "Bob", "--json").json["total"] == 0
    assert cli("entities", "Bob", "--link", id, "--json").json["entity"]["mention_count"] == 1


def test_what_cannot_be_is_refused_with_the_next_step(cli: Cli) -> None:
    for arguments, code, hint in (
        (("entities", "Ada Lovelase"), 3, "Ada Lovelace"),
        (("entities", "--rename", "X"), 2, "Give a name"),
        (("entities", "Ada", "--pin", "--rename", "X"), 2, "only one correction"),
        (("entities", "Ada", "--rename", "Bob"), 3, "Merge"),
        (("entities", "Ada", "--merge", "ada"), 3, "already the same entity"),
        (("entities", "Ada", "--dry-run"), 2, "--merge"),
    ):
        refused = cli(*arguments)
        assert refused.code == code and hint in refused.err, arguments


def test_names_are_completed(program: Program) -> None:
    asked = program(
        env={"_MEMTUI_COMPLETE": "bash_complete", "COMP_WORDS": "memtui entities Ada", "COMP_CWORD": "2"}
    )
    result, _ = asked.communicate(timeout=60)
    assert result.decode().split("\n")[:2] == ["plain,Ada", "plain,Ada Lovelace"]


def test_review_lists_names_that_may_be_one(cli: Cli) -> None:
    kinds = {item["kind"]: item for item in cli("review", "--json").json["items"]}
    assert {one["canonical_name"] for one in kinds["entities"]["entities"]} == {"Ada", "Ada Lovelace"}
    assert "Ada Lovelace / Ada" in cli("review").out


def test_a_time_narrows_whom_it_is_seen_with_and_its_memories(cli: Cli) -> None:
    today = cli("entities", "Ada Lovelace", "--since", "today", "--json").json
    assert [one["entity"]["canonical_name"] for one in today["neighbourhood"]["companions"]] == [
        "Bob",
        "Lisbon",
    ]
    assert "Bob (person) in 1 memory" in cli("entities", "Ada Lovelace", "--since", "today").out
    assert cli("entities", "Ada Lovelace", "--with", "Bob", "--since", "today").code == 0
    for arguments in (("--until", "2020"), ("--with", "Bob", "--until", "2020")):
        nothing = cli("entities", "Ada Lovelace", *arguments)
        assert nothing.code == 1 and "of that time" in nothing.err
    assert cli("entities", "--since", "today").code == 2
