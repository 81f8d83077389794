"""show, history, stats, check, doctor, serve: what is told, to people and to scripts."""

from __future__ import annotations

import os
import re
import sys
import time
from pathlib import Path

import apsw
import pytest
from cli_kit import Cli
from memtui import operating_system
from memtui.engine.errors import UsageError
from memtui.engine.jobs import clock_guard
from memtui.engine.memory import Memory
from memtui.engine.models.ner import spacy_names

HOSTILE = (
    "clip\x1b]52;c;ZXZpbA==\x07board [/] [@click=app.quit]x[/] \u202eevil\x9b2J zero\u200bwidth\r\nline two"
)
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")


def remembered(cli: Cli, text: str) -> str:
    id = cli("remember", text, "--json").json["memory"]["id"]
    assert isinstance(id, str)
    return id


def test_show_tells_where_a_memory_comes_from_and_what_became_of_it(cli: Cli) -> None:
    old = remembered(cli, "Ada lives in Ghent")
    new = cli("correct", old, "Ada lives in Porto", "--json").json["memory"]["id"]
    result = cli("show", new).out
    for words in ("Ada lives in Porto", "versions", old, "history", "Corrected", "never fades", "explicit"):
        assert words in result
    assert "replaced" in cli("show", old).out


def test_show_of_a_turn_shows_the_turns_around_it(cli: Cli) -> None:
    with Memory.open(os.environ["MEMTUI_DB"], actor="agent:test") as memory:
        turns = [memory.record_turn("s", "user", f"turn {number}") for number in range(3)]
    result = cli("show", turns[1].id)
    assert "around it" in result.out
    assert all(turn.id in result.out for turn in turns)
    assert len(cli("show", turns[1].id, "--json").json["neighbours"]) == 3


def test_history_lists_operations_and_what_one_of_them_did(cli: Cli) -> None:
    id = remembered(cli, "Ada lives in Ghent")
    cli("tag", id, "+home")
    cli("undo")
    lines = cli("history").out.splitlines()
    assert [line.split()[0] for line in lines] == ["3", "2", "1"]
    assert "undone by 3" in lines[1]
    assert len(cli("history", "--limit", "2", "--json").json["operations"]) == 2
    result = cli("history", "2")
    assert f"{id}  tags: none -> " in result.out
    assert "added" in cli("history", "1").out
    assert cli("history", "77").code == 3
    assert cli("history", "--actor", "scheduler").code == 1


def test_times_in_a_change_are_shown_as_times(cli: Cli) -> None:
    cli("forget", remembered(cli, "Ada lives in Ghent"))
    assert re.search(r"in Trash since: none -> \d+ \w\w\w.* \d\d:\d\d", cli("history", "2").out)


def test_check_says_sound_or_exits_1_with_what_is_wrong(cli: Cli) -> None:
    remembered(cli, "Ada lives in Ghent")
    assert cli("check").out.startswith("sound")
    assert cli("check", "--deep", "--json").json["ok"] is True
    connection = apsw.Connection(os.environ["MEMTUI_DB"])
    connection.execute("INSERT INTO memories_fts(memories_fts) VALUES ('delete-all')")
    connection.close()
    result = cli("check")
    assert result.code == 1
    assert "not sound" in result.out
    assert "--repair" in result.out
    assert cli("check", "--json").json["ok"] is False
    assert cli("check", "--repair").code == 0
    assert cli("check").code == 0


# What scripts rely on: a name may be added here, none may go.
SCHEMA = {
    "remember": {"memory"},
    "correct": {"memory", "replaced"},
    "confirm": {"memories"},
    "tag": {"memories"},
    "forget": {"memories"},
    "restore": {"memories"},
    "undo": {"undone"},
    "redo": {"redone"},
    "show": {"memory", "sources", "derived", "versions", "neighbours", "entities", "history", "recalls"},
    "history": {"operations"},
    "stats": {
        "by_kind", "active", "ended", "protected", "sessions", "pending_sessions", "entities", "operations",
        "unlinked", "unembedded", "embedded", "quarantined", "latest", "file_bytes", "vectors",
    },
    "check": {"ok", "checks", "findings", "repaired", "seconds"},
    "doctor": {"ok", "exit_code", "findings", "settings"},
    "search": {
        "query", "filter", "profile", "hits", "retrievers", "notes", "terms", "candidates", "milliseconds",
    },
}  # fmt: skip
MEMORY = {
    "rid", "id", "kind", "content", "event_time", "created_at", "confidence", "effective", "decay_rate",
    "trust", "category", "session_id", "source_role", "source", "source_key", "project", "valid_until",
    "ended_by", "access_count", "last_accessed", "recall_days", "confirmed_at", "reviewed_at", "source_ids",
    "tags", "attributes",
}  # fmt: skip


def every_command(id: str) -> dict[str, list[str]]:
    return {
        "confirm": [id],
        "tag": [id, "+x"],
        "forget": [id],
        "restore": [id],
        "undo": [],
        "redo": [],
        "show": [id],
        "history": [],
        "stats": [],
        "check": [],
        "doctor": [],
        "search": ["clipboard"],
        "correct": [id, f"{HOSTILE} again"],
        "remember": [HOSTILE],
    }


def test_the_json_of_every_command_keeps_its_names(cli: Cli) -> None:
    id = remembered(cli, HOSTILE)
    for name, arguments in every_command(id).items():
        result = cli(name, *arguments, "--json")
        assert result.code == 0, (name, result)
        assert SCHEMA[name] <= set(result.json), name
        for memory in (result.json.get("memory"), *(result.json.get("memories") or ())):
            assert memory is None or set(memory) >= MEMORY


@pytest.mark.hostile
def test_no_command_prints_a_character_that_a_terminal_obeys(cli: Cli) -> None:
    id = remembered(cli, HOSTILE)
    with Memory.open(os.environ["MEMTUI_DB"], actor=f"agent:{HOSTILE[:9]}") as memory:
        memory.record_turn("s\x1b[2J", "user\x1b", HOSTILE, source=HOSTILE, project=HOSTILE)
    for arguments in ((), ("--json",)):
        for name, rest in every_command(id).items():
            result = cli(name, *rest, *arguments)
            assert not OBEYED.search(result.out), name
            assert not OBEYED.search(result.err), name
        for line in (
            ["show", HOSTILE],
            ["search", HOSTILE],
            ["search", "x", "-f", HOSTILE],
            ["import", HOSTILE],
        ):
            result = cli(*line, *arguments)
            assert not OBEYED.search(result.out + result.err), line
    assert "clip␛]52" in cli("show", id).out


def test_the_doctor_tells_what_is_set_and_by_whom(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "c.toml").write_text("[search]\nlimit = 3\n[keymap]\nforget = 'x'\nfrobnicate = 'z'\n")
    monkeypatch.setenv("MEMTUI_CONFIG", str(home / "c.toml"))
    monkeypatch.setenv("MEMTUI_DECAY_RATE", "0.2")
    monkeypatch.setenv("MEMTUI_TEHME", "x")
    monkeypatch.setenv("MEMTUI_THEME", "pink")
    result = cli("doctor", "--json")
    assert result.code == 0
    rows = {row["name"]: (row["value"], row["origin"]) for row in result.json["settings"]}
    assert rows["search.limit"] == ("3", "line 2")
    assert rows["decay.rate"] == ("0.2", "MEMTUI_DECAY_RATE")
    assert rows["general.ascii"] == ("false", "default")
    assert rows["keymap.forget"] == ('"x"', "line 4")
    texts = [finding["text"] for finding in result.json["findings"]]
    assert any("MEMTUI_TEHME" in text for text in texts)
    assert any("frobnicate" in text for text in texts)
    assert any("'pink'" in text for text in texts)
    assert any("there is none yet" in text for text in texts)
    assert not (home / "memory.db").exists()


def test_the_doctor_exits_by_what_is_wrong(cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "bad.toml").write_text("[general]\nascii = 1\n")
    assert cli("--config", home / "bad.toml", "doctor", "--json").code == 3
    (home / "memory.db").write_text("no memory " * 200)
    result = cli("doctor")
    assert result.code == 4
    assert "error" in result.out
    (home / "memory.db").unlink()
    monkeypatch.setattr("memtui.engine.store.connection.load_vec0", lambda connection: "no such library")
    result = cli("doctor")
    assert result.code == 5
    assert "degraded" in result.out
    assert "sqlite-vec==0.1.9" in result.out


@pytest.mark.parametrize("reason", ["not a folder", "cannot be written", "leads nowhere"])
def test_the_doctor_says_why_no_memory_can_be_made_there(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    place = tmp_path / "impossible" / "path" / "m.db"
    if reason == "not a folder":
        (tmp_path / "impossible").write_text("a file")
    elif reason == "leads nowhere":
        place.parent.mkdir(parents=True)
        place.symlink_to(tmp_path / "gone" / "m.db")
    else:  # root may write anywhere, so the answer is given
        monkeypatch.setattr("memtui.cli.doctor.os.access", lambda *_: False)
    result = cli("--db", place, "doctor")
    assert result.code == 4
    assert reason in result.out


def test_the_doctor_tells_of_a_clock_that_stops_fading(cli: Cli, home: Path) -> None:
    remembered(cli, "Ada lives in Ghent")
    assert "the clock" not in cli("doctor").out
    with Memory.open(home / "memory.db") as memory, memory._core.connections.write() as connection:
        clock_guard.accept_time(connection, time.time() - 5 * 86_400)
    assert "the clock moved on by 5 days" in cli("doctor").out


@pytest.mark.skipif(os.name == "nt", reason="needs modes")
def test_the_doctor_sees_a_file_that_others_may_read(cli: Cli, home: Path) -> None:
    remembered(cli, "Ada lives in Ghent")
    (home / "memory.db").chmod(0o644)
    assert "chmod 600" in cli("doctor").out


def test_the_doctor_sees_an_unsafe_place(cli: Cli, tmp_path: Path) -> None:
    result = cli("--db", tmp_path / "Dropbox" / "m.db", "doctor")
    assert result.code == 4
    assert "cloud client" in result.out


def test_the_demo_is_a_copy_that_is_gone_afterwards(cli: Cli, home: Path) -> None:
    first = cli("--demo", "stats", "--json").json
    assert first["by_kind"]["episode"] > 100
    assert cli("--demo", "remember", "x").code == 0
    assert cli("--demo", "stats", "--json").json["active"] == first["active"]
    assert not (home / "memory.db").exists()


def test_serving_needs_its_package_and_offers_reading_only(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memtui.cli.invocation import Invocation
    from memtui.cli.serve import browser_tab_command

    assert cli("serve").code == 4
    remembered(cli, "Ada lives in Ghent")
    monkeypatch.setitem(sys.modules, "textual_serve", None)
    monkeypatch.setitem(sys.modules, "textual_serve.server", None)
    result = cli("serve")
    assert result.code == 5
    assert "'textual-serve<2" in result.err
    with pytest.raises(UsageError):
        browser_tab_command(Invocation(demo=True, db="elsewhere.db"))
    odd = home / "it's; rm -rf .db"
    (home / "memory.db").rename(odd)
    line = browser_tab_command(Invocation(db=str(odd)))
    assert " --readonly " in line
    assert "'\"'\"'s; rm -rf" in line


def test_a_memory_that_may_not_be_written_is_still_shown(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = remembered(cli, "Ada lives in Ghent")
    assert cli("--readonly", "show", id).code == 0
    assert cli("--readonly", "check").code == 0
    assert operating_system.loose_mode(home / "memory.db") is None


def test_the_doctor_tells_what_each_strategy_finds(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spacy_names, "reason_unavailable", lambda: "spaCy is not installed")
    (home / "mine.toml").write_text('[strategies]\nmarks = "regex"\n')
    remembered(cli, "Ada writes to ada@example.org")
    result = cli("--config", home / "mine.toml", "doctor").out
    assert re.search(r"fast: regex, names; 2 names in the newest 1 memory, [\d.]+ ms each", result)
    assert re.search(
        r"accurate: regex, names, without spacy \(spaCy is not installed\), llm .*; 2 names", result
    )
    assert re.search(r"marks: regex; 1 name in", result)
    assert "the nightly job finds no more names" in result


def test_a_memory_of_an_older_format_is_brought_up_by_any_command_but_not_with_readonly(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memtui.engine.store import migration
    from memtui.engine.store.migration import Migration

    cli("remember", "Ada likes tea")
    known = migration.load_migrations()
    newer = Migration(known[-1].version + 1, "moods", "CREATE TABLE moods (rid INTEGER PRIMARY KEY) STRICT")
    monkeypatch.setattr(migration, "load_migrations", lambda: (*known, newer))
    result = cli("--readonly", "list")
    assert (result.code, "older memtui" in result.err, "without --readonly" in result.err) == (4, True, True)
    assert "Ada likes tea" in cli("list").out
    assert len(list((home / "backups").glob("*-migration.db"))) == 1
    assert "Ada likes tea" in cli("--readonly", "list").out


def test_a_filter_that_looks_like_an_option_is_told_where_to_stand(cli: Cli) -> None:
    cli("remember", "Ada likes trains")
    result = cli("list", "-tag:work")
    assert result.code == 2 and "memtui list -- -tag:work" in result.err
    assert cli("list", "--", "-tag:work").code == 0


def test_a_session_that_is_not_there_is_named(cli: Cli) -> None:
    cli("remember", "Ada likes trains")
    result = cli("sessions", "nope")
    assert (
        result.code == 1
        and result.err.startswith("error: There is no session 'nope'")
        and "hint:" in result.err
    )
    assert cli("sessions", "nope", "--json").json == {"sessions": []}
