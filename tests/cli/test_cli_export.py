"""memtui export: where it writes, what it tells, what it refuses; and back in again."""

from __future__ import annotations

import json
from pathlib import Path

from cli_kit import Cli


def test_everything_goes_out_and_comes_in_again(cli: Cli, tmp_path: Path) -> None:
    cli("remember", "Prefers trains over flights")
    done = cli("export", str(tmp_path / "all.jsonl"), "--json")
    assert done.code == 0 and done.json["counts"]["memory"] == 1
    other = ("--db", str(tmp_path / "other.db"))
    came = cli("import", str(tmp_path / "all.jsonl"), *other)
    assert came.code == 0 and "1 fact" in came.out
    again = cli("export", str(tmp_path / "again.jsonl"), "--json", *other)
    assert again.json["content_hash"] == done.json["content_hash"]


def test_a_dash_is_the_standard_output_and_a_filter_narrows(cli: Cli) -> None:
    cli("remember", "Prefers trains over flights", "--tag", "travel")
    cli("remember", "Owns a blue car")
    done = cli("export", "-", "--filter", "tag:travel")
    assert done.code == 0
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert [line["content"] for line in lines if line["line"] == "memory"] == ["Prefers trains over flights"]
    assert cli("export", "-", "--json").code == 2


def test_a_file_that_is_there_stays_without_force(cli: Cli, tmp_path: Path) -> None:
    cli("remember", "Prefers trains over flights")
    target = tmp_path / "all.jsonl"
    target.write_text("mine")
    refused = cli("export", str(target))
    assert refused.code == 3 and "there already" in refused.err and target.read_text() == "mine"
    forced = cli("export", str(target), "--force")
    assert forced.code == 0 and "exported" in forced.out


def test_without_a_memory_nothing_is_made(cli: Cli, tmp_path: Path) -> None:
    refused = cli("export", str(tmp_path / "all.jsonl"))
    assert refused.code == 4 and not (tmp_path / "all.jsonl").exists()


def test_notes_go_to_a_folder_that_can_be_renewed(cli: Cli, tmp_path: Path) -> None:
    cli("remember", "Prefers trains over flights")
    vault = tmp_path / "vault"
    assert "2 notes" in cli("export", str(vault), "--format", "markdown").out
    note = next((vault / "Facts").iterdir())
    note.write_text("mine")
    again = cli("export", str(vault), "--format", "markdown")
    assert again.code == 0 and "kept: Facts/" in again.err and note.read_text() == "mine"
