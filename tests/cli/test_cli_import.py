"""memtui import: what comes in, what is told, what is refused; undo, repeat, cancel."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
from cli_kit import Cli, Program
from memtui.engine.memory import Memory
from memtui.engine.records import Options


def conversation(folder: Path, turns: int = 4, name: str = "talk.jsonl") -> Path:
    lines = [
        {
            "session_id": "s1",
            "role": "user" if number % 2 == 0 else "assistant",
            "content": f"Turn number {number} about trains to Ghent",
            "time": 1_700_000_000 + number,
        }
        for number in range(turns)
    ]
    file = folder / name
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def test_an_import_tells_what_came_in_and_how_to_take_it_back(cli: Cli, tmp_path: Path) -> None:
    result = cli("import", conversation(tmp_path))
    assert result.code == 0
    assert result.out.startswith("imported 4 turns of 1 session from 1 file")
    assert "To undo it: memtui undo 1" in result.out
    assert result.err == ""
    stats = cli("stats", "--json").json
    assert (stats["active"], stats["unlinked"], stats["unembedded"], stats["embedded"]) == (4, 0, 0, 4)
    assert cli("undo").code == 0
    assert cli("stats", "--json").json["active"] == 0


def test_after_an_import_it_is_said_what_a_stronger_model_would_bring_and_take(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMTUI_EMBEDDER_KIND", "offline")
    few = cli("import", conversation(tmp_path, 150, "few.jsonl"))
    assert "MiniLM" not in few.out
    result = cli("import", conversation(tmp_path, 600, "many.jsonl"))
    said = " ".join(result.out.split())
    assert "in chats 59 of 100 messages that questions need, not 46. For the 600 memories here" in said
    assert "about 10 seconds once and" in said
    assert "memtui embed --late" in said
    monkeypatch.setenv("MEMTUI_EMBEDDER_KIND", "off")
    assert "MiniLM" not in cli("import", conversation(tmp_path, 610, "more.jsonl")).out


def test_importing_again_adds_nothing_and_is_no_failure(cli: Cli, tmp_path: Path) -> None:
    file = conversation(tmp_path)
    cli("import", file)
    result = cli("import", file, "--json")
    assert result.code == 0
    assert (result.json["imported"], result.json["already_there"], result.json["operation"]) == (0, 4, None)
    assert "already there" in cli("import", file).out


def test_a_dry_run_counts_and_creates_nothing(cli: Cli, tmp_path: Path, home: Path) -> None:
    file = conversation(tmp_path)
    result = cli("import", file, "--dry-run")
    assert result.code == 0
    assert result.out.startswith("would import 4 turns")
    assert not (home / "memory.db").exists()
    cli("import", conversation(tmp_path, 2))
    assert cli("--readonly", "import", conversation(tmp_path), "--dry-run", "--json").json["imported"] == 2
    assert cli("stats", "--json").json["active"] == 2


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("missing", None),
        ("empty.jsonl", b""),
        ("photo.jsonl", b"\x89PNG\r\n\x1a\n\0\0\0"),
        ("a.txt", b"hello"),
    ],
)
def test_what_cannot_be_imported_is_bad_input(name: str, raw: bytes | None, cli: Cli, tmp_path: Path) -> None:
    if raw is not None:
        (tmp_path / name).write_bytes(raw)
    result = cli("import", tmp_path / name)
    assert result.code == 3
    assert name in result.err
    assert "\nhint: " in result.err


def test_one_unknown_file_among_several_is_told_and_the_others_come_in(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("hello")
    named = (conversation(tmp_path), tmp_path / "b.txt", conversation(tmp_path, name="same.jsonl"))
    for result in (cli("import", *named, "--dry-run"), cli("import", *named)):
        assert result.code == 3
        assert "import 4 turns" in result.out.replace("imported", "import")
        assert result.err.startswith(f"error: {tmp_path / 'b.txt'} is in no format")
        assert "\nhint: " in result.err
    again = cli("import", *named, "--json")
    assert (again.code, again.json["already_there"], len(again.json["refused"])) == (3, 8, 1)


@pytest.mark.parametrize(
    ("name", "raw", "code"),
    [
        ("talk.json", '{"foo": 1}', 3),
        ("other.jsonl", '{"foo": 1}\n{"foo": 2}\n', 3),
        ("photo.png", "\x00\x01", 0),
        ("page.html", "<p>", 0),
        (".obsidian/app.json", '{"foo": 1}', 0),
        (".trash/note.md", "I used to live in Rome.", 0),
        ("Home.md", "# Home\n\n- [[Health]]\n- [Site](https://example.com)\n", 0),
    ],
)
def test_a_file_that_may_hold_conversations_and_is_left_out_is_no_full_success(
    name: str, raw: str, code: int, cli: Cli, tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    (folder / name).parent.mkdir(parents=True)
    conversation(folder)
    (folder / name).write_text(raw)
    result = cli("import", folder)
    assert result.code == code
    assert result.out.startswith("imported 4 turns")
    assert "1 file left out: " in result.err
    assert cli("stats", "--json").json["active"] == 4


def test_json_names_all_that_an_archive_leaves_out(cli: Cli, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.write(conversation(tmp_path), "talk.jsonl")
        for number in range(5):
            archive.writestr(f"{number}.html", "<p>")
    result = cli("import", tmp_path / "x.zip", "--json")
    assert [one["name"] for one in result.json["left_out"]] == [f"{number}.html" for number in range(5)]
    assert "(0.html, 1.html, 2.html and 2 more)" in cli("import", tmp_path / "x.zip").err


def test_a_file_of_another_encoding_comes_in_with_a_way_to_bring_it_in_whole(
    cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / "x.jsonl").write_bytes(
        '{"role": "user", "content": "Ich wohne in München"}\n'.encode("latin-1")
    )
    first = cli("import", str(tmp_path / "x.jsonl"))
    assert "invalid UTF-8 replaced" in first.err
    assert "undo this import, save it as UTF-8 and import it again" in first.err


def test_an_unknown_format_lists_the_known_ones(cli: Cli, tmp_path: Path) -> None:
    result = cli("import", conversation(tmp_path), "--format", "carrier-pigeon")
    assert result.code == 3
    assert "claude-code" in result.err


def test_without_a_path_the_sources_on_this_machine_are_named(cli: Cli, home: Path) -> None:
    assert "zip" in cli("import").err
    folder = home / ".claude" / "projects" / "-home-ada"
    folder.mkdir(parents=True)
    conversation(folder, name="0.jsonl")
    result = cli("import")
    assert result.code == 2
    assert f"memtui import {folder.parent}" in result.err


def test_a_file_name_that_is_no_utf8_can_be_imported(program: Program, tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/t\xff.jsonl"
    conversation(tmp_path).rename(Path(os.fsdecode(path)))
    running = program("import", "--json", path)
    out, err = running.communicate()
    assert running.returncode == 0, err
    assert json.loads(out)["imported"] == 4


def test_a_search_makes_only_some_of_what_was_left_to_later(cli: Cli, tmp_path: Path) -> None:
    assert cli("import", conversation(tmp_path, 400), "--later").code == 0
    stats = cli("stats", "--json").json
    assert (stats["unlinked"], stats["unembedded"]) == (400, 400)
    with Memory.open(os.environ["MEMTUI_DB"], options=Options(background=False)) as memory:
        memory.models.index_pending(256)
        left = memory.stats()
    assert (left.unlinked, left.unembedded) == (144, 144)


def test_ctrl_c_keeps_what_came_in_and_exits_130(program: Program, cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(60):
        lines = [
            json.dumps(
                {"session_id": f"s{number}", "role": "user", "content": f"turn {turn} of {number} " * 40}
            )
            for turn in range(500)
        ]
        (folder / f"{number}.jsonl").write_text("\n".join(lines))
    code = """
import sys, time
from memtui.cli import run
from memtui.engine.importers import ingest
plain = ingest.ImportRun.import_batch
def slow(self, batch):
    plain(self, batch)
    time.sleep(0.3)
ingest.ImportRun.import_batch = slow
sys.exit(run(sys.argv[1:]))
"""  # it must not be over before the signal comes
    running = program("import", folder, "--later", "--json", code=code)
    database = Path(os.environ["MEMTUI_DB"])
    deadline = time.monotonic() + 120
    while not (database.exists() and cli("stats", "--json").json["active"]) and time.monotonic() < deadline:
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    out = running.communicate(timeout=120)[0]
    assert running.returncode == 130
    report = json.loads(out)
    assert report["cancelled"]
    assert 0 < report["imported"] < 30_000
    assert cli("stats", "--json").json["active"] == report["imported"]
    assert cli("undo").code == 0
    assert cli("stats", "--json").json["active"] == 0


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_progress_is_shown_on_a_terminal_and_taken_away(tmp_path: Path) -> None:
    master, slave = pty.openpty()
    running = subprocess.Popen(
        [sys.executable, "-m", "memtui", "import", str(conversation(tmp_path, 1200)), "--later"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=slave,
        cwd=Path(__file__).parents[2],
    )
    os.close(slave)
    out, _ = running.communicate()
    shown = os.read(master, 100_000).decode()
    os.close(master)
    assert b"imported 1,200 turns" in out
    assert "turns/s" in shown
    assert shown.endswith("\r\x1b[K")


def test_an_import_of_nothing_leaves_no_memory_behind(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    result = cli("--db", tmp_path / "new.db", "import", tmp_path / "empty")
    assert result.code == 3
    assert not (tmp_path / "new.db").exists()


def claude_session(home: Path, name: str, said: str) -> Path:
    file = home / ".claude" / "projects" / "-home-ada" / f"{name}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    record = {
        "type": "user", "uuid": f"u-{name}", "sessionId": name, "timestamp": "2025-11-20T10:00:00Z",
        "message": {"role": "user", "content": said},
    }  # fmt: skip
    file.write_text(json.dumps(record) + "\n")
    return file


def test_discovering_lists_what_is_there_and_brings_in_what_is_named(cli: Cli, home: Path) -> None:
    assert "Nothing that memtui knows" in cli("import", "--discover").out
    assert cli("import", "--discover", "--json").json == []
    for number in range(3):
        file = claude_session(home, f"s{number}", f"hello {number}")
        age = time.time() - (29 if number == 0 else 1) * 86_400
        os.utime(file, (age, age))
    (home / ".mem0").mkdir()
    (home / ".mem0" / "history.db").write_bytes(b"no database")
    result = cli("import", "--discover").out
    assert "claude-code" in result and "3 sessions, 3 turns" in result and "nothing of it is in yet" in result
    assert "1 file will be deleted by Claude Code within a week" in result
    assert not (home / "memory.db").exists()
    assert cli("import", "--discover", "carrier").code == 3
    done = cli("import", "--discover", "--all", "--later")
    assert done.code == 3 and "imported 3 turns of 3 sessions" in done.out and "history.db" in done.err
    assert cli("stats", "--json").json["active"] == 3
    (claude, mem0) = cli("import", "--discover", "--json").json
    assert (claude["name"], claude["sessions"], claude["new_sessions"], claude["new_turns"], claude["expiring_new"]) == (
        "claude-code", 3, 0, 0, 0,
    )  # fmt: skip
    assert (mem0["name"], mem0["turns"]) == ("mem0", 0)
    assert "all of it is in already" in cli("import", "--discover").out


@pytest.mark.parametrize(
    "arguments", [("--all",), ("--discover", "--all", "x"), ("--discover", "--format", "codex")]
)
def test_options_that_contradict_each_other_are_told(arguments: tuple[str, ...], cli: Cli) -> None:
    assert cli("import", *arguments).code == 2


def test_a_database_that_cannot_be_reached_leaves_no_memory_and_tells_no_password(
    cli: Cli, home: Path
) -> None:
    result = cli("import", "postgresql://ada:hunter2@127.0.0.1:1/agents", "--json")
    assert result.code in (2, 3)
    assert "hunter2" not in result.out + result.err
    assert not (home / "memory.db").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="signals end it there in another way")
def test_watching_follows_what_programs_write_until_a_signal_ends_it(
    program: Program, cli: Cli, home: Path
) -> None:
    assert cli("import", "--watch").code == 3
    assert cli("import", "--watch", "--dry-run", home).code == 2
    assert cli("import", "--watch", home / "nowhere").code == 3
    file = claude_session(home, "s1", "hello")
    running = program("import", "--watch", "--json", "--later")
    assert running.stdout is not None
    assert json.loads(running.stdout.readline())["turns"] == 1
    with file.open("a") as more:
        record = json.loads(file.read_text()) | {"uuid": "u2"}
        more.write(json.dumps(record) + "\n")
    assert json.loads(running.stdout.readline()) == {
        "turns": 1, "others": 0, "formats": ["claude-code"], "operation": 1,
    }  # fmt: skip
    running.send_signal(signal.SIGTERM)
    out, err = running.communicate(timeout=120)
    assert (running.returncode, out, err) == (0, b"", b"note: following 1 place; Ctrl+C ends it\n")
    assert cli("stats", "--json").json["active"] == 2


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be replaced there")
def test_watching_goes_on_with_a_memory_that_was_put_in_the_place_of_the_old_one(
    program: Program, cli: Cli, home: Path
) -> None:
    db = home / "memory.db"
    file = claude_session(home, "s1", "hello")
    running = program("import", "--watch", "--json", "--later")
    assert running.stdout is not None
    assert json.loads(running.stdout.readline())["turns"] == 1
    other = db.with_name("other.db")
    with Memory.open(other, options=Options(background=False, embedder="off")) as memory:
        memory.remember("From the other file")
    for suffix in ("-wal", "-shm"):
        db.with_name(db.name + suffix).unlink()
    other.replace(db)
    with file.open("a") as more:
        more.write(json.dumps(json.loads(file.read_text()) | {"uuid": "u2"}) + "\n")
    assert json.loads(running.stdout.readline())["turns"] == 2
    running.send_signal(signal.SIGTERM)
    _, err = running.communicate(timeout=120)
    assert running.returncode == 0
    assert b"was replaced by another file while it was open. Following goes on" in err
    assert cli("stats", "--json").json["active"] == 3


def test_what_has_content_and_gives_nothing_fails(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "odd.json"
    path.write_text(json.dumps([{"uuid": "c", "chat_messages": [{"who": "me", "what": "hello"}]}] * 2))
    for result in (cli("import", path), cli("import", path, "--dry-run"), cli("import", path, "--json")):
        assert result.code == 3
        assert f"Nothing could be imported from {path}, in Claude.ai format: 2 × no role." in result.err


def test_every_record_that_is_left_out_is_named(cli: Cli, tmp_path: Path) -> None:
    path = conversation(tmp_path)
    with path.open("a") as file:
        file.write("broken\n" * 30)
    path.write_text(path.read_text() + '{"session_id": "s1", "role": "user", "content": "at last"}\n' * 30)
    result = cli("import", path)
    assert (result.code, "30 more" in result.err, "10 more like these" in result.err) == (0, False, True)
    skips = cli("import", path, "--dry-run", "--json").json["skips"]
    assert [skip["place"] for skip in skips] == [f"{path}:{number}" for number in range(5, 35)]
    assert {skip["reason"] for skip in skips} == {"not valid JSON"}


def _chatgpt(*, conversations: int) -> str:
    def message(number: int) -> dict[str, Any]:
        return {
            "id": f"m{number}", "author": {"role": "user"}, "create_time": 1_760_000_000 + number,
            "content": {"content_type": "text", "parts": [f"Note number {number} about the greenhouse"]},
        }  # fmt: skip

    return json.dumps([
        {
            "id": f"c{number}", "title": f"Talk {number}", "create_time": 1_760_000_000, "update_time": 1_760_000_000,
            "current_node": "n", "mapping": {"n": {"id": "n", "parent": None, "children": [], "message": message(number)}},
        }
        for number in range(conversations)
    ])  # fmt: skip


@pytest.mark.parametrize("dry", [(), ("--dry-run",)])
def test_a_file_that_ends_in_the_middle_is_no_full_success(
    cli: Cli, tmp_path: Path, dry: tuple[str, ...]
) -> None:
    text = _chatgpt(conversations=4)
    (tmp_path / "conversations.json").write_text(text[: len(text) * 2 // 3])
    failed = cli("import", tmp_path / "conversations.json", *dry)
    assert failed.code == 3
    assert "2 turns of 2 sessions" in failed.out and "the file ends in the middle" in failed.out
    assert "Download the export again; importing it adds the rest." in failed.err
    (tmp_path / "conversations.json").write_text(text)
    done = cli("import", tmp_path / "conversations.json")
    assert done.code == 0 and ("4" if dry else "2") + " turns" in done.out


@pytest.mark.parametrize("dry", [(), ("--dry-run",)])
def test_what_is_twice_in_the_files_is_not_already_there(
    cli: Cli, tmp_path: Path, dry: tuple[str, ...]
) -> None:
    for name, many in (("a.json", 3), ("b.json", 2)):
        (tmp_path / name).write_text(_chatgpt(conversations=many))
    done = cli("import", tmp_path, *dry)
    assert "2  twice in these files" in done.out and "already there" not in done.out
    if not dry:
        again = cli("import", tmp_path, "--json").json
        assert (again["already_there"], again["repeated"]) == (5, 0)


def test_a_file_of_no_known_format_names_the_option_for_it(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text("12:00 started\n12:01 ended\n")
    failed = cli("import", tmp_path / "x.log")
    assert failed.code == 3
    assert "hint: To read it as another format: --format NAME. The names: memtui guide import" in failed.err


def test_an_import_that_brings_nothing_leaves_no_new_memory_behind(cli: Cli, tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text('{"session_id": "s1", "role": "user", "content": ""}\n')
    new = tmp_path / "new"
    failed = cli("import", empty, "--db", new / "deep" / "m.db")
    assert failed.code == 3 and "no text in it" in failed.err
    assert not new.exists()


def test_a_memory_that_was_there_stays_after_an_import_that_brings_nothing(cli: Cli, tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text('{"session_id": "s1", "role": "user", "content": ""}\n')
    memory = tmp_path / "m.db"
    Memory.open(memory).close()
    assert cli("import", empty, "--db", memory).code == 3
    assert memory.is_file()
