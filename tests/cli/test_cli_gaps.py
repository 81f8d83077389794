"""What the command line says where people used to be left guessing."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

import apsw
import memtui
import pytest
from cli_kit import Cli
from memtui.cli.doctor import check_language_model
from memtui.config import Configuration, Settings
from memtui.engine.memory import Memory
from memtui.engine.models import local_servers


def remembered(cli: Cli, text: str) -> str:
    return str(cli("remember", text, "--json").json["memory"]["id"])


@pytest.fixture
def talk(cli: Cli) -> list[str]:
    with Memory.open(os.environ["MEMTUI_DB"], actor="agent:test") as memory:
        return [memory.record_turn("trip-1", "user", f"turn {number}").id for number in range(3)]


def test_history_tells_ids_and_texts_also_of_what_is_gone(cli: Cli) -> None:
    id = remembered(cli, "Ada lives in Ghent")
    assert f"{id}  added “Ada lives in Ghent”" in cli("history", "1").out
    cli("undo")
    assert f"{id}  added “Ada lives in Ghent”" in cli("history", "1").out
    assert f"{id}  removed “Ada lives in Ghent”" in cli("history", "2").out
    assert cli("history", "1", "--json").json["changes"][0]["memory_id"] == id


def test_history_tells_the_ids_of_sessions(cli: Cli, talk: list[str]) -> None:
    assert "session trip-1" in cli("history", "1").out


def test_a_memory_that_was_taken_back_is_told_with_the_way_back(cli: Cli) -> None:
    id = remembered(cli, "Ada lives in Ghent")
    cli("undo")
    for command in ("show", "restore", "confirm"):
        result = cli(command, id)
        assert result.code == 3
        assert "taken back by operation 2" in result.err
        assert "memtui redo brings it back" in result.err
    assert cli("redo").code == 0
    assert cli("show", id).code == 0
    assert "There is no memory" in cli("show", "fact_00000000").err


def test_changes_are_narrowed_by_the_name_of_who_made_them_and_by_time(cli: Cli) -> None:
    place = os.environ["MEMTUI_DB"]
    with Memory.open(place, actor="agent:bob", clock=lambda: time.time() - 3 * 86_400) as memory:
        memory.remember("Ada lives in Ghent")
    remembered(cli, "Ada lives in Porto")
    both = cli("history").out
    assert "Ghent" in both and "Porto" in both
    for who in ("bob", "agent:bob"):
        result = cli("history", "--actor", who).out
        assert "Ghent" in result and "Porto" not in result
    for narrowed in (("--actor", "you"), ("--since", "2d")):
        result = cli("history", *narrowed).out
        assert "Porto" in result and "Ghent" not in result
    nobody = cli("history", "--actor", "carol")
    assert nobody.code == 1 and nobody.err == "no operations of carol\n"
    wrong = cli("history", "--since", "2d", "--as-of", "yesterday")
    assert wrong.code == 2 and "--diff '2d' now" in wrong.err


def test_an_id_of_another_copy_of_the_demo_is_explained(cli: Cli) -> None:
    result = cli("--demo", "show", "fact_00000000")
    assert result.code == 3 and "Each command with --demo makes a new copy" in result.err
    # A misspelt name is no id: near names help.
    for command in (["entities", "Adda"], ["picture", "entity", "Adda", "out.svg"]):
        result = cli("--demo", *command)
        assert result.code == 3 and "Did you mean Ada" in result.err and "new copy" not in result.err


def test_an_operation_is_named_by_its_number(cli: Cli) -> None:
    for command in ("undo", "history"):
        result = cli(command, "abc")
        assert result.code == 2
        assert "'abc' is not the number of an operation" in result.err


def test_a_search_for_nothing_lists_everything_and_an_empty_question_is_refused(cli: Cli) -> None:
    id = remembered(cli, "Ada lives in Ghent")
    assert id in cli("search").out
    assert cli("search", "").code == 2
    assert cli("search", "--why", id).code == 2


def test_sessions_are_listed_and_read(cli: Cli, talk: list[str]) -> None:
    assert "trip-1" in cli("sessions").out
    assert cli("sessions", "trip", "--json").json["sessions"][0]["turns"] == 3
    assert cli("sessions", "nowhere").code == 1
    result = cli("sessions", "trip-1")
    assert [line for line in result.out.splitlines() if line.startswith("turn")] == [
        "turn 0",
        "turn 1",
        "turn 2",
    ]
    assert [turn["id"] for turn in cli("sessions", "trip-1", "-n", "2", "--json").json["turns"]] == talk[:2]


def test_a_change_of_the_demo_is_said_to_be_thrown_away(cli: Cli) -> None:
    assert "now deleted" in cli("--demo", "remember", "hi").err


def test_the_doctor_counts_one_table_and_ends_a_sentence_once(cli: Cli, home: Path) -> None:
    connection = apsw.Connection(os.environ["MEMTUI_DB"])
    connection.execute("CREATE TABLE t(x)")
    connection.close()
    result = cli("doctor").out
    assert "(1 table). " in result
    assert ".. " not in result


@pytest.mark.skipif(os.name == "nt", reason="needs modes")
def test_the_log_beside_a_memory_is_as_private_as_the_memory(home: Path) -> None:
    before = os.umask(0)
    try:
        with Memory.open(home / "m.db") as memory:
            memory.remember("Ada lives in Ghent")
            modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in home.glob("m.db*")}
    finally:
        os.umask(before)
    assert modes == {"m.db": 0o600, "m.db-wal": 0o600, "m.db-shm": 0o600}


def test_the_package_names_what_it_offers() -> None:
    assert {"Memory", "MemtuiError", "__version__"} <= set(dir(memtui))
    with pytest.raises(memtui.MemtuiError, match="A clock is a function"):
        memtui.Memory.open(":memory:", clock=12.0)  # type: ignore[arg-type]


def test_a_line_in_another_encoding_is_told_as_that(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_bytes(b'{"role": "user", "content": "hello"}\ncaf\xe9 {\n')
    result = cli("import", file)
    assert result.code == 0
    assert "not text in UTF-8" in result.out


def test_what_an_agent_was_told_at_a_time_is_told(cli: Cli) -> None:
    place = os.environ["MEMTUI_DB"]
    seconds = 1_760_000_000.0
    with Memory.open(place, actor="agent:coach", clock=lambda: seconds) as memory:
        kept, gone = memory.remember("Ada is vegetarian"), memory.remember("Ada cycles")
        memory.note_recall("what does Ada do?", [kept, gone], "talk-7")
    with Memory.open(place, actor="agent:cook", clock=lambda: seconds + 86_400) as memory:
        memory.note_recall("what does Ada eat?", [kept])
        memory.undo(2)
    assert cli("show", gone.id).code == 3
    result = cli("history", "--recalls").out.splitlines()
    assert [line.split("  ", 1)[1].strip() for line in result if "“" in line] == [
        "cook    “what does Ada eat?”", "coach  talk-7  “what does Ada do?”"
    ]  # fmt: skip
    assert sum("Ada is vegetarian" in line for line in result) == 2
    assert result[-1].strip() == "and 1 no longer there"
    then = cli("history", "--recalls", "--as-of", "2025-10-09", "--json").json["recalls"]
    assert [(one["recall"]["agent"], [memory["id"] for memory in one["memories"]]) for one in then] == [
        ("coach", [kept.id])
    ]
    assert "cook" not in cli("history", "--recalls", "--actor", "agent:coach").out
    assert "coach" not in cli("history", "--recalls", "--filter", "eat").out
    nothing = cli("history", "--recalls", "--filter", "7d")
    assert nothing.code == 1 and "--filter takes words, --since a time" in nothing.err
    late = cli("history", "--recalls", "--since", "2025-10-09").out
    assert "cook" in late and "coach" not in late
    assert cli("history", "1", "--recalls").code == 2
    shown = cli("show", kept.id).out
    assert "10 Oct" in shown and "9 Oct" in shown


def test_the_doctor_names_an_agent_at_its_limit(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    for at in (now, now + 3_600):  # the doctor may look when the hour has turned
        with Memory.open(os.environ["MEMTUI_DB"], actor="agent:bot", clock=lambda at=at: at) as memory:
            assert memtui.Toolbox.of(memory).call("remember_fact", {"content": "Ada keeps bees"}).ok
    assert "in this hour" not in cli("doctor").out
    monkeypatch.setenv("MEMTUI_QUOTAS_WRITES", "1")
    assert "bot used 1 of its 1 writes in this hour" in cli("doctor").out


def test_the_doctor_names_the_first_models_of_a_server_and_counts_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    models = tuple(f"model-{number}" for number in range(1, 8))
    server = local_servers.LocalServer(program="Ollama", base_url="http://127.0.0.1:11434/v1", models=models)
    monkeypatch.setattr(local_servers, "find_servers", lambda: [server])
    result = list(
        check_language_model(Configuration(settings=Settings(), file=Path("none"), exists=False), look=True)
    )
    assert result[-1].text == ("Ollama answers with model-1, model-2, model-3, model-4, model-5 and 2 more")
