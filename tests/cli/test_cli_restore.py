"""restore from a backup, history --as-of and --diff: looked at first, asked about, and told the same to scripts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cli_kit import Cli


@pytest.fixture
def changed(cli: Cli) -> dict[str, str]:
    """Two facts in a backup; one of them corrected since, the other forgotten, a third added."""
    ids = {
        text: cli("remember", text, "--json").json["memory"]["id"]
        for text in ("Standup is at 10:00", "Ada is allergic to walnuts")
    }
    cli("backup")
    cli("correct", ids["Standup is at 10:00"], "Standup is at 10:30")
    cli("forget", ids["Ada is allergic to walnuts"])
    cli("remember", "Plays the oboe")
    return ids


def facts(cli: Cli) -> int:
    return int(cli("stats", "--json").json["by_kind"].get("fact", 0))


def test_without_a_name_the_backups_are_listed_with_what_they_hold(cli: Cli) -> None:
    cli("remember", "one")
    assert cli("restore").code == 1
    cli("backup")
    assert "2 facts" not in cli("restore").out
    (line,) = cli("restore").out.splitlines()
    assert line.startswith("1  ") and "asked for" in line and "1 fact" in line
    (entry,) = cli("restore", "--json").json["backups"]
    assert entry["counts"]["fact"] == 1
    Path(entry["path"]).write_bytes(b"no database at all, but long enough to look like one")
    assert "unusable" in cli("restore").out


def test_what_a_restore_does_is_shown_first_and_nothing_is_done_unasked(
    cli: Cli, changed: dict[str, str]
) -> None:
    result = cli("restore", "now", "--dry-run")
    assert result.code == 0
    words = " ".join(result.out.split())
    assert "facts 2 2 1 1 1" in words
    for part in ("1 would come back", "+ " + changed["Ada is allergic to walnuts"], "1 would be as it was",
                 "Standup is at 10:30", "+ Standup is at 10:00", "1 would be lost", "Plays the oboe"):  # fmt: skip
        assert part in words, part
    refused = cli("restore", "1")
    assert refused.code == 2 and "--yes" in refused.err
    assert cli("restore", "1", "--json").code == 2
    assert facts(cli) == 2
    plan = cli("restore", "1", "--dry-run", "--json").json["preview"]
    assert [one["now"] for one in plan["lost"]] == ["Plays the oboe"]


def test_a_backup_is_restored_and_what_was_there_can_be_restored_again(
    cli: Cli, changed: dict[str, str]
) -> None:
    done = cli("restore", "1", "--yes", "--json").json
    assert Path(done["before"]["path"]).exists()
    line = cli("history", "-n", "1").out
    assert (
        "you" in line
        and "the file" in line
        and line.rstrip().endswith("lost 1 fact; 1 fact came back; 1 as before")
    )
    way = cli("history", str(done["operation"]["op_id"]))
    assert f"memtui restore {Path(done['before']['path']).name}" in way.err
    refused = cli("undo")
    assert refused.code == 3 and Path(done["before"]["path"]).name in refused.err
    assert "Standup is at 10:00" in cli("search", "standup").out
    again = cli("restore", done["before"]["path"], "--yes")
    assert again.code == 0 and "restored" in again.out
    words = " ".join(again.out.split())
    assert "1 would be as it was" in words and "- Standup" not in words
    assert "Plays the oboe" in cli("search", "oboe").out
    assert cli("check").code == 0


def test_one_memory_is_taken_from_a_backup_and_undone(cli: Cli, changed: dict[str, str]) -> None:
    walnuts = changed["Ada is allergic to walnuts"]
    taken = cli("restore", "last", "--yes", "--take", walnuts)
    assert taken.code == 3, "'last' alone names no time"
    taken = cli("restore", "latest", "--yes", "--take", walnuts)
    assert "Took from the backup of" in taken.out and ": 1 memory" in taken.out
    assert "1 would come back" in taken.out
    assert "lost" not in taken.out + taken.err, "taking is no restore: nothing goes"
    assert facts(cli) == 3
    assert "all of it is there" in cli("restore", "1", "--missing", "--yes").out
    cli("undo")
    assert facts(cli) == 2
    assert cli("restore", "1", "--missing", "--yes", "--json").json["operation"]["rows"] == 1
    assert cli("restore", "1", "--missing", "--take", walnuts).code == 2
    assert cli("restore", "--yes").code == 2


def test_ids_still_mean_the_trash(cli: Cli, changed: dict[str, str]) -> None:
    back = cli("restore", changed["Ada is allergic to walnuts"])
    assert back.code == 0 and back.out.startswith("restored")


def test_the_memory_as_it_was_and_what_became_of_it(cli: Cli, changed: dict[str, str]) -> None:
    assert cli("history", "--as-of", "yesterday").code == 1
    result = cli("history", "--as-of", "now")
    assert "2 facts, 2 in Trash" in result.out and "Standup is at 10:30" in result.out
    assert "walnuts" in cli("history", "--as-of", "now", "--filter", "is:trash walnuts").out
    report: dict[str, Any] = cli("history", "--as-of", "now", "--json").json
    assert report["counts"]["fact"] == 2 and report["coverage"]["complete"]
    assert {one["content"] for one in report["memories"]} == {"Standup is at 10:30", "Plays the oboe"}
    diff = cli("history", "--diff", "an hour ago", "now")
    assert "2 added" in diff.out and "came and went" in diff.out
    assert cli("history", "--diff", "1h", "now", "--json").json["counts"] == {"added": 2, "passing": 2}
    for wrong in (
        ("--as-of", "soon"),
        ("--diff", "1h", "soon"),
        ("--as-of", "now", "--filter", "kind:nothing"),
    ):
        assert cli("history", *wrong).code == 3
    for wrong in (("3", "--as-of", "now"), ("--filter", "x"), ("--as-of", "now", "--diff", "1h", "now")):
        assert cli("history", *wrong).code == 2


@pytest.mark.parametrize("command", [("remember", "two"), ("search", "one"), ("stats",), ("mcp",)])
def test_no_empty_memory_is_begun_where_only_backups_are_left(
    cli: Cli, home: Path, command: tuple[str, ...]
) -> None:
    cli("remember", "one")
    cli("backup")
    for file in home.glob("memory.db*"):
        file.unlink()
    result = cli(*command)
    assert result.code == 4
    assert (
        "there are backups of it" in result.err
        and "memtui restore" in result.err
        and "for an empty memory" in result.err
    )
    assert not (home / "memory.db").exists()
    assert cli("restore", "latest", "--yes").code == 0
    assert facts(cli) == 1
    for file in home.glob("memory.db*"):
        file.unlink()
    (home / "backups").rename(home / "old backups")
    assert cli("remember", "two").code == 0
