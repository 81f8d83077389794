"""remember, correct, confirm, forget, restore, tag, undo, redo: from the line to the file and back."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import apsw
import pytest
from cli_kit import Cli, Program
from memtui import Memory
from memtui.engine.records import Options

TREES = "Prefers trains over flights"


def remembered(cli: Cli, text: str = TREES) -> str:
    id = cli("remember", text, "--json").json["memory"]["id"]
    assert isinstance(id, str)
    return id


def test_remember_writes_a_protected_fact_and_tells_its_id(cli: Cli) -> None:
    result = cli("remember", "Prefers", "trains", "-t", "travel", "--tag", "home")
    assert result.code == 0
    word, id = result.out.split()[:2]
    assert word == "remembered"
    shown = cli("show", id, "--json").json["memory"]
    assert (shown["content"], shown["tags"], shown["kind"]) == ("Prefers trains", ["travel", "home"], "fact")
    assert shown["confirmed_at"] is not None


@pytest.mark.parametrize(
    "line",
    [
        "pin x", "unpin x", "confirm x", "forget x", "tag x +a", "correct x y", "restore fact_1a2b", "merge x y",
        "topic x health", "undo", "undo 3", "redo", "erase x", "review keep x", "entities Ada --rename Eve",
        "scratchpad delete x", "consolidate", "maintain --once", "embed", "backup", "check", "health", "questions ask x",
        "context x", "search x", "list", "show x",
    ],
)  # fmt: skip
def test_what_needs_a_memory_makes_none(line: str, cli: Cli, home: Path) -> None:
    missing = home / "typo.db"
    result = cli("--db", missing, *line.split())
    assert result.code in (2, 4), result.err
    if result.code == 4:
        assert f"There is no memory at {missing}." in result.err and "Create one" in result.err
    assert not missing.exists()


def test_what_is_so_already_is_said_and_is_no_change(cli: Cli) -> None:
    id = remembered(cli)

    def done(*line: str) -> str:
        before = len(cli("history", "--json").json["operations"])
        result = cli(*line)
        assert result.code == 0, result.err
        assert len(cli("history", "--json").json["operations"]) == before
        return result.out

    assert done("unpin", id).startswith("was not pinned")
    cli("pin", id)
    assert done("pin", id).startswith("was pinned already")
    assert done("confirm", id).startswith("was confirmed already")
    cli("tag", id, "+home")
    assert done("tag", id, "+home").startswith("was tagged so already")
    assert done("restore", id).startswith("was not in the Trash")
    cli("forget", id)
    assert done("forget", id).startswith("was in the Trash already")


def test_remember_reads_standard_input(cli: Cli) -> None:
    result = cli("remember", "-", "--json", input="\ufeffTwo\nlines, ünïcode\n".encode())
    assert result.json["memory"]["content"] == "Two\nlines, ünïcode"


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "no text"),
        (b" \n\t\n", "no text"),
        (b"a\0b", "looks like binary"),
        (b"caf\xe9", "not valid UTF-8 (byte 3)"),
        (b"x" * (1 << 20) + b"x", "more than 1 MiB"),
        (b"x" * (1 << 20), "1,048,576 characters"),
    ],
)
def test_standard_input_that_is_no_memory_is_bad_input(raw: bytes, words: str, cli: Cli, home: Path) -> None:
    result = cli("remember", "-", "--json", input=raw)
    assert result.code == 3
    assert words in result.err
    assert result.json["error"]["exit_code"] == 3
    assert cli("stats").code == 4 or cli("stats", "--json").json["active"] == 0


def test_a_text_in_another_encoding_is_bad_input(program: Program) -> None:
    running = program("remember", b"caf\xe9")
    assert b"not valid UTF-8" in running.communicate()[1]
    assert running.returncode == 3


def test_a_secret_is_blacked_out_and_told(cli: Cli) -> None:
    key = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    result = cli("remember", f"the token is {key}")
    assert key not in result.out
    assert "blacked out" in result.err


def test_what_a_setting_says_about_secrets_is_followed(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTUI_SECRETS_FACTS", "keep")
    key = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    assert cli("remember", f"the token is {key}", "--json").json["memory"]["content"].endswith(key)


def test_correct_keeps_both_and_undo_redo_go_back_and_forth(cli: Cli) -> None:
    old = remembered(cli)
    result = cli("correct", old, "Prefers", "night", "trains", "--json").json
    new = result["memory"]["id"]
    assert result["replaced"]["ended_by"] == "superseded"
    assert result["memory"]["attributes"]["supersedes"] == old
    assert cli("undo").code == 0
    assert cli("show", old, "--json").json["memory"]["ended_by"] is None
    assert cli("redo").code == 0
    versions = cli("show", new, "--json").json["versions"]
    assert [version["content"] for version in versions] == [TREES, "Prefers night trains"]
    people = cli("undo")
    assert "Corrected" in people.out


def test_undo_and_redo_with_nothing_left_are_a_negative_answer(cli: Cli) -> None:
    remembered(cli)
    assert cli("redo").code == 1
    assert cli("undo").code == 0
    result = cli("undo")
    assert (result.code, result.out, result.err) == (1, "", "nothing to undo\n")
    assert cli("undo", "--json").json == {"undone": None}


def test_any_operation_can_be_undone_by_its_number(cli: Cli) -> None:
    first = remembered(cli)
    remembered(cli, "Cooks on Fridays")
    assert cli("undo", "1").code == 0
    assert cli("show", first).code == 3
    assert cli("undo", "1").code == 3
    assert cli("undo", "99").code == 3
    assert cli("undo", "0").code == 2


def test_several_memories_are_changed_in_one_operation(cli: Cli) -> None:
    ids = [remembered(cli, text) for text in ("one thing", "another thing", "a third thing")]
    result = cli("forget", *ids)
    assert result.out.count("forgot") == 3
    assert cli("stats", "--json").json["active"] == 0
    assert cli("undo").code == 0
    assert cli("stats", "--json").json["active"] == 3
    restored = cli("restore", *ids, "--json").json["memories"]
    assert [one["id"] for one in restored] == ids


def test_one_wrong_id_among_several_changes_nothing(cli: Cli) -> None:
    good = remembered(cli)
    assert cli("forget", good, "fact_nonesuch").code == 3
    assert cli("stats", "--json").json["active"] == 1


def test_what_changes_nothing_says_so(cli: Cli) -> None:
    id = remembered(cli)
    assert cli("forget", id).out.startswith("forgot ")
    assert cli("forget", id).out.startswith("was in the Trash already ")
    assert cli("confirm", id).code == 3


def test_what_cannot_be_confirmed_stops_the_others_from_being_confirmed(cli: Cli) -> None:
    ids = [remembered(cli, text) for text in ("one thing", "another thing")]
    cli("forget", ids[1])
    result = cli("confirm", *ids)
    assert result.code == 3
    assert "Trash" in result.err
    assert len(cli("history", "--json").json["operations"]) == 3


def test_tags_are_added_and_removed(cli: Cli) -> None:
    id = remembered(cli)
    assert cli("tag", id, "+work", "home", "-draft").code == 0
    result = cli("tag", id, "-work", "+travel", "--json")
    assert result.json["memories"][0]["tags"] == ["home", "travel"]
    for wrong in ("+", "-", "--draft"):
        assert cli("tag", id, wrong).code == 2
    assert cli("tag", id, "+two words").code == 3
    assert cli("tag", id).code == 2


def test_the_beginning_of_an_id_is_enough_while_it_is_unique(cli: Cli) -> None:
    id = remembered(cli)
    assert cli("confirm", id[:10]).code == 0
    other = remembered(cli, "Cooks on Fridays")
    result = cli("show", "fact_")
    assert result.code == 3
    assert id in result.err
    assert other in result.err


def test_readonly_refuses_every_change_and_leaves_the_file_alone(cli: Cli, home: Path) -> None:
    id = remembered(cli)
    for line in (
        ["remember", "x"],
        ["correct", id, "x"],
        ["confirm", id],
        ["forget", id],
        ["restore", id],
        ["tag", id, "+x"],
        ["undo"],
        ["redo"],
        ["import", str(home)],
        ["check", "--repair"],
    ):
        result = cli("--readonly", *line)
        assert result.code == 4, line
        assert "--readonly" in result.err
    assert cli("stats", "--json").json["active"] == 1


def test_readonly_creates_no_file(cli: Cli, home: Path) -> None:
    for line in (["stats"], ["history"], ["search", "x"], ["show", "fact_1"], ["check"]):
        result = cli(*line)
        assert result.code == 4
        assert "memtui import" in result.err
    assert not (home / "memory.db").exists()


@pytest.mark.parametrize("kind", ["foreign", "text", "empty", "folder"])
def test_a_file_that_is_no_memory_is_refused_and_left_as_it_was(kind: str, cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "thing.db"
    match kind:
        case "foreign":
            connection = apsw.Connection(str(path))
            connection.execute("CREATE TABLE notes (a)")
            connection.close()
        case "text":
            path.write_text("dear diary\n" * 1000)
        case "empty":
            path.write_text("")
        case "folder":
            path.mkdir()
    before = path.read_bytes() if path.is_file() else b""
    for line in (["remember", "x"], ["stats", "--json"], ["search", "x"]):
        result = cli("--db", path, *line)
        assert result.code == 4
        assert "thing.db" in result.err
        assert "\nhint: " in result.err
    assert (path.read_bytes() if path.is_file() else b"") == before


def test_a_cloud_folder_is_refused_unless_insisted(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "Dropbox" / "memory.db"
    assert cli("--db", path, "remember", "x").code == 4
    assert not path.exists()
    assert cli("--db", path, "--allow-unsafe-fs", "remember", "x").code == 0


def test_remembering_loads_no_model_and_no_screen(program: Program) -> None:
    code = (
        "import sys; from memtui.cli import run; assert run(['remember', 'trains', '--json']) == 0;"
        "print(*(set(sys.modules) & {'numpy', 'tokenizers', 'textual', 'rich', 'openai', 'spacy', 'ijson'}))"
    )
    out = program(code=code).communicate()[0].decode().splitlines()
    assert json.loads(out[0])["memory"]["content"] == "trains"
    assert out[1] == ""


def test_a_reader_that_leaves_does_not_take_back_what_was_written(program: Program, cli: Cli) -> None:
    running = program("remember", TREES)
    assert running.stdout is not None
    running.stdout.close()
    running.wait()
    assert running.returncode == 141
    assert cli("stats", "--json").json["active"] == 1


def test_ctrl_c_while_waiting_for_text_changes_nothing(program: Program, home: Path) -> None:
    code = """
import signal, sys
from types import SimpleNamespace
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
from memtui.cli import run
plain = sys.stdin
def read(size):
    print("reading", flush=True)
    return plain.buffer.read(size)
sys.stdin = SimpleNamespace(buffer=SimpleNamespace(read=read), isatty=plain.isatty)
sys.exit(run(["remember", "-"]))
"""
    running = program(code=code)
    assert running.stdout is not None
    assert running.stdout.readline() == b"reading\n"
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=120)
    assert running.returncode == 130
    assert (out, err.strip()) == (b"", b"cancelled")
    assert not (home / "memory.db").exists()


def test_facts_are_merged_into_one_and_come_apart_again(cli: Cli) -> None:
    one = cli("remember", TREES, "-t", "travel", "--json").json["memory"]["id"]
    other = cli("remember", "Likes trains more than planes", "-t", "rail", "--json").json["memory"]["id"]
    for line, code in (([one], 2), ([one, "fact_nope"], 3), ([one, one], 3)):
        assert cli("merge", *line).code == code, line
    result = cli("merge", one, other, "--json").json
    assert (result["memory"]["id"], result["memory"]["content"]) == (one, TREES)
    assert set(result["memory"]["tags"]) == {"travel", "rail"}
    assert [(gone["id"], gone["ended_by"]) for gone in result["merged"]] == [(other, "merged")]
    cli("undo")
    assert "Prefers trains to planes" in cli("merge", one, other, "--text", "Prefers trains to planes").out
    cli("undo")
    assert cli("show", one, "--json").json["memory"]["content"] == TREES
    assert cli("show", other, "--json").json["memory"]["valid_until"] is None


def test_topic_and_date_of_a_fact_are_set_shown_and_listed(cli: Cli) -> None:
    fact = cli("remember", "The dentist is on 12 June 2031", "--topic", "health", "--json").json["memory"]
    assert (fact["topic"], fact["happens_at"] > 0) == ("health", True)
    shown = cli("show", fact["id"]).out
    assert "topic" in shown and "12 Jun 2031, in" in shown
    assert "12 Jun 2031" in cli("list").out
    done = cli("topic", fact["id"], "plan", "--on", "3 march 2020")
    assert "plan, 3 Mar 2020, past" in done.out
    assert "3 Mar 2020, past" in cli("search", "--filter", "is:past").out
    assert "3 Mar 2020, past" in cli("list").out
    assert cli("undo").code == 0
    assert cli("show", fact["id"], "--json").json["memory"]["topic"] == "health"


def test_a_topic_that_is_none_is_refused_and_the_topics_are_named(cli: Cli) -> None:
    fact = cli("remember", "Ada lives in Porto", "--json").json["memory"]
    refused = cli("topic", fact["id"], "hobby")
    assert refused.code == 2 and "preference" in refused.err
    assert cli("topic", fact["id"]).code == 2


def test_all_that_an_agent_did_is_taken_back_at_once(cli: Cli, home: Path) -> None:
    cli("remember", "Ada likes tea")
    with Memory.open(home / "memory.db", actor="agent:claude", options=Options(background=False)) as memory:
        memory.remember("Ada likes milk")
        memory.remember("Ada likes beer")
        memory.record_turn("talk", "user", "I like beer.")
    shown = cli("undo", "--agent", "claude", "--since", "1d", "--dry-run")
    assert (
        shown.code == 0
        and "Ada likes milk" in shown.out
        and "1 turn that it recorded stays; --turns takes it back too" in shown.err
    )
    assert "Ada likes beer" in cli("list").out
    done = cli("undo", "--agent", "claude", "--since", "1d")
    assert "To undo it: memtui undo " in done.out
    assert "Undid 2 changes of claude" in done.out
    assert "milk" not in cli("list", "kind:fact").out
    cli("undo")
    assert "milk" in cli("list", "kind:fact").out
    assert cli("undo", "--agent", "nobody", "--since", "1d", "--json").json["changes"]["operations"] == []
    assert cli("undo", "--agent", "claude").code == 2
