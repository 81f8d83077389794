"""memtui export: where it writes, what it tells, what it refuses; and back in again."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from cli_kit import Cli
from memtui.engine.memory import Memory
from memtui.engine.records import Options


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
    assert refused.code == 3 and "already exists" in refused.err and target.read_text() == "mine"
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


SECRET = "Schneemann2024!"


@pytest.fixture
def with_a_secret(cli: Cli) -> str:
    cli("remember", "Ada likes tea")
    with Memory.open(os.environ["MEMTUI_DB"], options=Options(background=False, embedder="off")) as memory:
        memory.record_turn("home", "user", f"the wifi password is {SECRET}")
        memory.scratchpad.set("router", f"password: {SECRET}")
    return SECRET


def test_an_export_counts_the_texts_with_a_secret(cli: Cli, with_a_secret: str, tmp_path: Path) -> None:
    done = cli("export", tmp_path / "all.jsonl")
    assert done.code == 0 and with_a_secret in (tmp_path / "all.jsonl").read_text()
    assert "1 text with a secret in this export. To leave secrets out: --without-secrets" in done.err
    assert cli("export", tmp_path / "some.jsonl", "--filter", "kind:fact").err == ""
    assert cli("export", tmp_path / "json.jsonl", "--json").json["secrets"] == 1


def test_without_secrets_they_are_blacked_out_everywhere(
    cli: Cli, with_a_secret: str, tmp_path: Path
) -> None:
    done = cli("export", tmp_path / "all.jsonl", "--history", "--without-secrets")
    assert (done.code, done.err) == (0, "")
    text = (tmp_path / "all.jsonl").read_text()
    assert with_a_secret not in text
    assert "Ada likes tea" in text and "the wifi password is [redacted: " in text
    again = cli("import", tmp_path / "all.jsonl", "--db", tmp_path / "other.db")
    assert again.code == 0, again.err
    assert cli("export", tmp_path / "notes", "--format", "markdown", "--without-secrets").code == 0
    notes = "".join(note.read_text() for note in (tmp_path / "notes").rglob("*.md"))
    assert "Ada likes tea" in notes and with_a_secret not in notes
