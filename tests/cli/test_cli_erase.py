"""``memtui erase``: the list first, the count, the proof after; nothing without the count."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from cli_kit import Cli

KEY = "The zxqvelvet key is under the third flowerpot"


def test_erase_lists_asks_and_proves(cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fact = cli("remember", KEY, "--json").json["memory"]["id"]
    other = cli("remember", f"Once more: {KEY}", "--json").json["memory"]["id"]
    cli("backup")
    listed = cli("erase", fact, "--dry-run")
    assert listed.code == 0
    assert f"erase     {fact}  chosen" in listed.out
    assert f"keep      {other}" in listed.out
    assert "erased" not in listed.out
    assert "1 memory would be erased; nothing was changed" in listed.err
    assert "holds 1 memory of it" in listed.out
    assert "Exports" in listed.err
    asked = cli("erase", fact)  # nobody to ask
    assert (asked.code, "--yes-erase 1" in asked.err) == (2, True)
    assert cli("erase", fact, "--yes-erase", "2").code == 3
    assert cli("erase", fact, "--json").code == 2

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    from memtui.cli import erase as erasing

    plan = erasing.__dict__["_ask_to_erase"]
    for typed, agreed in (("2\n", False), ("\n", False), ("1\n", True)):
        monkeypatch.setattr(sys, "stdin", Terminal(typed))
        shown = type("Plan", (), {"memories": 1})()
        assert plan(shown, None, False) is agreed
    done = cli("erase", fact, "--also", other, "--yes-erase", "2", "--json")
    assert done.code == 0, done.err
    proof = done.json["proof"]
    assert (proof["complete"], proof["found"], proof["memories"], proof["backups_written"]) == (True, 0, 2, 1)
    assert cli("show", fact).code == 3
    assert cli("undo").code == 1
    assert "Erased 2 memories for good" in cli("history").out
    assert not [one for one in home.rglob("*") if one.is_file() and b"zxqvelvet" in one.read_bytes()]
    assert cli("erase", "--resume").code == 1


def test_a_plain_undo_after_an_erase_names_what_it_would_take_back_instead(cli: Cli) -> None:
    cli("remember", "I like tea with milk")
    cli("remember", "My bicycle is green")
    (fact,) = [one["id"] for one in cli("list", "bicycle", "--json").json["memories"]]
    (tea,) = [one["id"] for one in cli("list", "milk", "--json").json["memories"]]
    cli("forget", tea)
    assert cli("erase", fact, "--yes-erase", "1").code == 0
    undone = cli("undo")
    assert undone.code == 3 and "nothing brings back: Erased 1 memory for good" in undone.err
    number = undone.err.split("memtui undo ")[1].split()[0]
    assert not cli("list", "milk", "--json").json["memories"]
    assert cli("undo", number).code == 0
    assert [one["id"] for one in cli("list", "milk", "--json").json["memories"]] == [tea]


def test_erase_says_what_it_needs(cli: Cli) -> None:
    cli("remember", KEY)
    assert cli("erase").code == 2
    assert cli("erase", "fact_000000000000", "--yes-erase", "1").code == 3
    assert cli("--readonly", "erase", "fact_000000000000", "--yes-erase", "1").code == 4


def test_the_list_of_what_goes_tells_no_secret(cli: Cli, tmp_path: Path) -> None:
    long = f"{'I had a long day. ' * 15}My wifi password is blaukraut!77 as ever."
    talk = tmp_path / "talk.jsonl"
    lines = [
        json.dumps({"session_id": "monday", "role": "user", "content": said})
        for said in ("My wifi password is blaukraut!77", long)
    ]
    talk.write_text("\n".join(lines))
    assert cli("import", str(talk)).code == 0
    listed = cli("erase", "--session", "monday", "--dry-run")
    assert "My wifi password is [redacted: password]" in listed.out
    plan = cli("erase", "--session", "monday", "--dry-run", "--json")
    assert len(plan.json["plan"]["carriers"]) >= 2
    assert "blaukraut" not in listed.out + plan.out


def test_what_may_say_it_in_other_words_is_listed_and_goes_only_when_it_is_asked_for(cli: Cli) -> None:
    fact = cli("remember", "My salary is 84,000 euros", "--json").json["memory"]["id"]
    like = cli("remember", "The person's pay is €84,000 per annum", "--json").json["memory"]["id"]
    cli("remember", "The greenhouse is watered on Tuesdays")
    listed = cli("erase", fact, "--dry-run")
    assert "1 memory may say it in other words and stays\n" in listed.out
    assert f"keep      {like}  fact  The person's pay is €84,000 per annum" in listed.out
    assert "--also KEY erases" in listed.err
    plan = cli("erase", fact, "--dry-run", "--json").json["plan"]
    assert [(one["key"], one["outcome"]) for one in plan["similar"]] == [(like, "kept")]
    assert cli("erase", fact, "--yes-erase", "1").code == 0
    assert "per annum" in cli("show", like).out
    assert cli("erase", like, "--dry-run", "--json").json["plan"]["similar"] == []
