"""What people type first: options that other commands have, words in the wrong place, plain signs."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest
from cli_kit import Cli
from memtui.cli.invocation import Invocation
from memtui.cli.open_app import make_app


def test_ascii_is_an_option(cli: Cli) -> None:
    cli("remember", "Ada likes tea")
    assert not cli("list").out.isascii()
    assert cli("list", "--ascii").out.isascii()
    assert cli("--ascii", "list").out.isascii()
    assert "--ascii" in cli("--help").out


def test_a_terminal_without_the_signs_gets_plain_ones(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("remember", "Ada likes tea")
    monkeypatch.setenv("TERM", "vt100")  # in the C locale Python calls its output UTF-8
    assert cli("list").out.isascii()
    with ExitStack() as kept:
        assert make_app(Invocation(), kept, []).look.ascii


def test_the_app_opens_in_ascii() -> None:
    invocation = Invocation.without_command(["--ascii"])
    assert invocation is not None and invocation.configuration.settings.general.ascii


def test_a_word_in_the_place_of_an_option_is_said_to_be_one(cli: Cli) -> None:
    cli("remember", "Ada likes tea")
    failed = cli("maintain", "decay", "--dry-run")
    assert failed.code == 2
    assert "“decay” is not expected here. Did you mean --job decay?" in failed.err
    assert "See memtui maintain --help." in failed.err
    assert "Did you mean --job decy?" in cli("maintain", "decy").err
    assert "Did you mean --session monday?" in cli("consolidate", "monday").err
    other = cli("stats", "now")
    assert "“now” is not expected here." in other.err and "Did you mean" not in other.err


def test_an_option_in_the_place_of_a_word_is_said_to_be_one(cli: Cli) -> None:
    cli("remember", "Ada likes tea")
    failed = cli("backup", "--list")
    assert failed.code == 2
    assert "There is no option --list. Did you mean “memtui backup list”?" in failed.err


def test_list_takes_its_filter_as_search_does(cli: Cli) -> None:
    cli("remember", "Ada likes tea", "--tag", "food")
    cli("remember", "Ada lives in Lisbon")
    assert "tea" in cli("list", "-f", "tag:food").out
    assert "Lisbon" not in cli("list", "--filter", "tag:food").out
    assert cli("list", "-f", "tag:food", "lisbon").code == 1
    assert "tea" not in cli("list", "--", "-tag:food").out


def test_redo_says_what_was_redone(cli: Cli) -> None:
    cli("remember", "Ada likes tea")
    assert cli("undo", "--json").json["undone"]["by"]["op_id"] == 2
    assert cli("redo", "--json").json["redone"]["by"]["op_id"] == 3
    assert cli("redo", "--json").json == {"redone": None}


def test_a_demo_promises_no_undo(cli: Cli, tmp_path: Path) -> None:
    notes = tmp_path / "notes.md"
    notes.write_text("# Tea\n\nAda drinks green tea without sugar.\n")
    done = cli("--demo", "import", notes)
    assert done.code == 0
    assert "memtui undo" not in done.out
    assert "memtui undo" in cli("import", notes).out


def test_an_agent_that_was_given_nothing_is_said_so(cli: Cli) -> None:
    cli("remember", "Ada likes tea")
    assert "No agent was told anything that you still keep." in cli("wrong").err
