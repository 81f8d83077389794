"""``memtui list --saved``, ``--save``, ``--unsave``: filters under a name."""

from __future__ import annotations

from cli_kit import Cli


def test_a_filter_is_saved_used_narrowed_and_removed(cli: Cli) -> None:
    cli("remember", "Ada eats no meat.", "--tag", "food")
    cli("remember", "The oven is too hot.", "--tag", "food")
    cli("remember", "The train to Ghent is at nine.", "--tag", "travel")
    saved = cli("list", "--save", "eating", "tag:food")
    assert saved.code == 0
    assert "memtui list --saved eating" in saved.err
    assert len(saved.out.splitlines()) == 2
    assert cli("list", "--saved", "eating", "--json").json["total"] == 2
    assert cli("list", "--saved", "eating", "oven", "--json").json["total"] == 1
    assert cli("list", "--saved", "--json").json["filters"][0]["filter"] == "tag:food"
    assert "eating" in cli("list", "--saved").out
    removed = cli("list", "--unsave", "eating")
    assert (removed.code, "memtui undo" in removed.err) == (0, True)
    gone = cli("list", "--saved", "eating")
    assert (gone.code, "no saved filter" in gone.err) == (3, True)
    assert cli("list", "--saved").code == 1
    assert cli("undo").code == 0
    assert cli("list", "--saved", "eating").code == 0


def test_what_cannot_be_saved_is_said(cli: Cli) -> None:
    cli("remember", "Ada eats no meat.")
    assert cli("list", "--save", "x").code == 2
    assert cli("list", "--save", "x", "--unsave", "y").code == 2
    assert cli("list", "--save", "x", "colour:blue").code == 3
    assert cli("list", "--unsave", "never there").code == 3
    assert cli("list", "--saved").code == 1
