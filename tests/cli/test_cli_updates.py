"""The story of a value that changed: a talk is imported and read, the card is seen, decided and undone."""

from __future__ import annotations

from pathlib import Path

from cli_kit import Cli


def test_a_changed_value_is_a_card_that_can_be_accepted_and_undone(cli: Cli, tmp_path: Path) -> None:
    lines = [
        '{"session_id": "s1", "role": "user", "content": "We bank with the Co-op.", "time": 1735689600}',
        '{"session_id": "s2", "role": "user", "content": "Metro Bank has our account now, they were cheaper.", '
        '"time": 1738368000}',
    ]
    (tmp_path / "talk.jsonl").write_text("\n".join(lines))
    assert cli("import", tmp_path / "talk.jsonl", "--later").code == 0
    assert cli("consolidate").code == 0
    shown = cli("review").out
    assert "Metro Bank" in shown
    assert "Co-op" in shown
    (card,) = [item for item in cli("review", "--json").json["items"] if item["kind"] == "conflict"]
    new, old = card["memories"]
    assert cli("review", "keep", card["id"]).code == 0
    assert cli("show", new["id"], "--json").json["memory"]["attributes"]["supersedes"] == old["id"]
    assert not [item for item in cli("review", "--json").json["items"] if item["kind"] == "conflict"]
    assert cli("undo").code == 0
    assert [item["id"] for item in cli("review", "--json").json["items"] if item["kind"] == "conflict"] == [
        card["id"]
    ]


def test_what_is_written_down_again_is_known_already(cli: Cli) -> None:
    assert "remembered" in cli("remember", "Blue pot, third shelf.").out
    assert "known already" in cli("remember", "blue pot, third shelf").out
    assert len(cli("list", "kind:fact", "--json").json["memories"]) == 1
    assert "topic" not in cli("remember", "blue pot, third shelf", "--topic", "health").err
    assert "Its topic stays health." in cli("remember", "blue pot, third shelf", "--topic", "home").err
