"""memtui hook claude-code: what it tells, what it records, and that it is never in the way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from memtui import Memory
from memtui.config import Settings
from memtui.engine.jobs import clock_guard
from memtui.engine.records import Options
from memtui.engine.search import briefing
from memtui.engine.store import recalls
from memtui.hook import events, program
from memtui.hook.quick import HookMemory

ROOT = Path(__file__).parents[2]
QUIET = Options(background=False, embedder="off")
TOO_HEAVY = {
    *("numpy", "tokenizers", "wordllama", "openai", "spacy", "mcp", "pydantic", "textual", "rich", "click"),
    *("asyncio", "platformdirs", "inspect", "logging", "importlib.resources", "tempfile", "zipfile"),
    *(
        "memtui.engine.memory",
        "memtui.engine.namespaces.view",
        "memtui.engine.models.embedders",
        "memtui.present.text",
    ),
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in tuple(os.environ):
        if name.startswith(("MEMTUI_", "XDG_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return tmp_path


@pytest.fixture
def memory(place: Path) -> Iterator[Memory]:
    with Memory.open(place, options=QUIET) as opened:
        opened.remember("Ada is vegetarian since March", tags=["food"])
        opened.remember("Ada keeps the spare key under the blue pot", tags=["private"])
        yield opened


# As ``python -m memtui`` does it, but that a slow machine is given the time it needs.
PROGRAM = """
import sys
from memtui.hook import program
program.SECONDS = float(sys.argv.pop(1))
from memtui.cli import main
main()
"""


def hook(
    place: Path, event: Any, *options: str, python: tuple[str, ...] = (), seconds: float = 100
) -> subprocess.CompletedProcess[bytes]:
    raw = event if isinstance(event, bytes) else json.dumps(event).encode()
    config = f"--config={place.with_name('config.toml')}"
    command = [str(seconds), "hook", "claude-code", f"--db={place}", config, *options]
    return subprocess.run(
        [sys.executable, *python, "-c", PROGRAM, *command], input=raw, capture_output=True, timeout=120
    )


def prompt(text: str, **fields: Any) -> dict[str, Any]:
    return {
        "hook_event_name": "UserPromptSubmit", "session_id": "s1", "cwd": "/home/ada/work/greenhouse",
        "transcript_path": "/nowhere", "prompt": text, **fields,
    }  # fmt: skip


def stop(text: str | None, **fields: Any) -> dict[str, Any]:
    return {
        "hook_event_name": "Stop", "session_id": "s1", "cwd": "/home/ada/work/greenhouse",
        "stop_hook_active": False, **({} if text is None else {"last_assistant_message": text}), **fields,
    }  # fmt: skip


def injected(done: subprocess.CompletedProcess[bytes]) -> str:
    assert (done.returncode, done.stderr) == (0, b"")
    if not done.stdout:
        return ""
    output = json.loads(done.stdout)["hookSpecificOutput"]
    assert output["hookEventName"] == "UserPromptSubmit"
    return str(output["additionalContext"])


def logged(home: Path) -> str:
    return "".join(file.read_text() for file in home.rglob("memtui.log"))


def turns(memory: Memory, session: str = "claude-code:s1") -> list[tuple[str | None, str]]:
    return [(turn.source_role, turn.content) for turn in memory.view.transcript(session)]


def test_a_prompt_is_told_what_bears_on_it_and_recorded(memory: Memory, place: Path, home: Path) -> None:
    assert injected(hook(place, prompt("What does Ada eat? Is she vegetarian?"))).splitlines()[:2] == [
        "## Relevant memory",
        "- Ada is vegetarian since March",
    ]
    assert turns(memory) == [("user", "What does Ada eat? Is she vegetarian?")]
    session = memory.view.session("claude-code:s1")
    assert (session.project, session.source) == ("greenhouse", "hook:claude-code")
    (answer,) = memory.view.recent_recalls()
    assert (answer.agent, answer.session_id) == ("claude-code", "claude-code:s1")
    latest = memory.view.operations(limit=1)[0]
    assert (latest.actor, latest.label) == ("agent:claude-code", "Recorded a turn")
    assert logged(home) == ""
    memory.models.index_pending()
    assert memory.files.check(deep=True).ok


@pytest.mark.parametrize("how", ["variable", "variable and config", "setting"])
def test_without_db_the_memory_that_is_set_is_meant(
    memory: Memory, place: Path, home: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    command = ["hook", "claude-code"]
    if how == "setting":
        config = home / "own.toml"
        config.write_text(f"[general]\ndb = '{place}'\n")
        command.append(f"--config={config}")
    else:
        monkeypatch.setenv("MEMTUI_DB", str(place))
        command += ["--config=/nowhere/config.toml"] if "config" in how else []
    done = subprocess.run(
        [sys.executable, "-m", "memtui", *command], input=json.dumps(prompt("What does Ada eat?")).encode(),
        capture_output=True, timeout=20,
    )  # fmt: skip
    assert "Ada is vegetarian" in injected(done)
    assert turns(memory) == [("user", "What does Ada eat?")]
    assert [file.name for file in home.rglob("*.db")] == [place.name]


def test_nothing_is_injected_where_nothing_bears_on_the_prompt(memory: Memory, place: Path) -> None:
    assert hook(place, prompt("zebra crossings")).stdout == b""
    assert turns(memory) == [("user", "zebra crossings")]


@pytest.mark.parametrize(
    "said",
    [
        "/memory is full, please help me",
        "/memory 已经满了，请帮我清理磁盘",
        "Why?\n<rss><channel><title>My blog</title></channel></rss>",
    ],
)
def test_what_only_looks_like_the_programs_own_is_recorded(said: str, memory: Memory, place: Path) -> None:
    hook(place, prompt(said))
    assert turns(memory) == [("user", said)]


def test_an_answer_is_recorded_once(memory: Memory, place: Path) -> None:
    hook(place, prompt("And lunch?"))
    for _ in range(2):
        assert hook(place, stop("Soup.\n")).stdout == b""
    hook(place, prompt("Again?"))
    hook(place, stop("Soup."))
    assert turns(memory) == [
        ("user", "And lunch?"), ("assistant", "Soup."), ("user", "Again?"), ("assistant", "Soup."),
    ]  # fmt: skip
    assert [turn.trust for turn in memory.view.transcript("claude-code:s1")] == ["user", "agent"] * 2


def test_an_answer_that_is_not_sent_is_read_from_the_transcript(
    memory: Memory, place: Path, tmp_path: Path
) -> None:
    transcript = tmp_path / "t.jsonl"
    lines = [
        {"type": "user", "message": {"content": "x" * 2_000_000}},
        {"type": "assistant", "message": {"content": [{"type": "text", "text": "Let me look."}]}},
        {"type": "user", "message": {"content": [{"type": "tool_result", "content": "42"}]}},
        {"type": "assistant", "isSidechain": True, "message": {"content": [{"type": "text", "text": "no"}]}},
        {"type": "assistant", "message": {"content": [{"type": "text", "text": "It is 42."}, {"type": "x"}]}},
        {"type": "assistant", "message": {"content": [{"type": "tool_use", "name": "Bash"}]}},
        {"type": "assistant", "isApiErrorMessage": True, "message": {"content": "API Error: 529"}},
        {"type": "system", "content": "done"},
    ]
    transcript.write_text("\n".join(map(json.dumps, lines)) + "\n{ broken\n")
    hook(place, stop(None, transcript_path=str(transcript)))
    assert turns(memory) == [("assistant", "It is 42.")]
    transcript.write_text(json.dumps({"type": "user", "message": {"content": "hello"}}))
    assert events.last_answer(str(transcript)) == ""


@pytest.mark.parametrize(
    "event",
    [
        {"hook_event_name": "SessionEnd", "session_id": "s1", "reason": "clear"},
        prompt("<task-notification>it is done</task-notification>"),
        prompt("/compact keep all about the pump"),
        prompt("Look around", agent_id="a1"),
        prompt("No session", session_id=""),
        prompt(" \n"),
        stop(""),
        {},
    ],
)
def test_what_nobody_said_is_let_pass(event: dict[str, Any], memory: Memory, place: Path, home: Path) -> None:
    done = hook(place, event)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert memory.view.count_sessions() == 0
    assert logged(home) == ""


@pytest.mark.parametrize(
    ("raw", "options", "words"),
    [
        (b"not json", (), "DecodeError"),
        (b'{"prompt": 7}', (), "ValidationError"),
        (b'\xff{"a"', (), "DecodeError"),
        (b"[]", (), "ValidationError"),
        (json.dumps(prompt("Ada?")).encode(), ("--filter=kind:(",), "kind: has no value"),
        (json.dumps(stop(None, transcript_path="/no/such")).encode(), (), "FileNotFoundError"),
    ],
    ids=range(6),
)
def test_whatever_goes_wrong_it_ends_well_and_the_log_says_why(
    raw: bytes, options: tuple[str, ...], words: str, memory: Memory, place: Path, home: Path
) -> None:
    done = hook(place, raw, *options)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert words.lower() in logged(home).lower()
    assert memory.view.count_sessions() == 0


def test_of_a_prompt_beyond_the_limit_the_beginning_is_recorded_and_the_log_and_the_doctor_say_so(
    memory: Memory, place: Path, home: Path
) -> None:
    done = hook(place, prompt("Is Ada vegetarian? " + "x" * 600_000))
    assert "vegetarian since March" in injected(done)
    ((_, recorded),) = turns(memory)
    assert (len(recorded), recorded[:6], recorded[-1]) == (500_000, "Is Ada", "…")
    assert "recorded the first 500,000 of 600,019 characters" in logged(home)
    answer = subprocess.run(
        [sys.executable, "-m", "memtui", "--db", place, "doctor"], capture_output=True, text=True, check=False
    ).stdout
    assert "1 message in the last 7 days" in answer
    assert "500,000 of 600,019 characters" in answer


def test_of_a_long_prompt_its_beginning_and_end_are_asked_and_all_of_it_is_recorded(
    memory: Memory, place: Path
) -> None:
    pasted = "lorem ipsum dolor\n" * 24_000
    for long in (f"{pasted}\nIs Ada vegetarian?", f"Is Ada vegetarian?\n{pasted}"):
        assert 300_000 < len(long) < 500_000
        assert "vegetarian since March" in injected(hook(place, prompt(long, session_id=long[:5])))
        recall = memory.view.recent_recalls()[0]
        assert "Is Ada vegetarian?" in recall.query and len(recall.query) <= briefing.MOST_READ + 1
        assert turns(memory, f"claude-code:{long[:5]}") == [("user", long.strip())]


def test_a_prompt_without_a_blank_is_recorded(memory: Memory, place: Path, home: Path) -> None:
    hook(place, prompt("x" * 400_000))
    assert turns(memory) == [("user", "x" * 400_000)] and "did nothing" not in logged(home)


def test_no_word_is_read_in_part() -> None:
    words = [f"word{number}" for number in range(9_000)]
    read = briefing.shortened_prompt(" ".join(words)).split()
    assert len(read) < len(words) and set(read) <= set(words)
    assert (read[0], read[-1]) == (words[0], words[-1])


@pytest.mark.parametrize("option", ["--filter=", "--project=", "--project= "])
def test_an_empty_scope_lets_it_do_nothing(option: str, memory: Memory, place: Path, home: Path) -> None:
    done = hook(place, prompt("Is Ada vegetarian?"), option)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert "is empty" in logged(home)
    assert memory.view.count_sessions() == 0


def test_a_file_that_is_no_memory_is_left_alone(tmp_path: Path, home: Path) -> None:
    place = tmp_path / "memory.db"
    place.write_bytes(b"something else entirely")
    done = hook(place, prompt("Ada?"))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert place.read_bytes() == b"something else entirely"
    assert "is not a memory file" in logged(home)


def test_a_writer_that_holds_on_does_not_hold_the_agent_up(memory: Memory, place: Path, home: Path) -> None:
    blocker = apsw.Connection(str(place))
    blocker.execute("BEGIN IMMEDIATE")
    try:
        done = hook(place, prompt("Is Ada vegetarian?"), seconds=4)  # waiting for the writer would take 30
    finally:
        blocker.close()
    assert "vegetarian since March" in injected(done)
    assert "took longer than 4 seconds" in logged(home)
    assert program.SECONDS <= 2
    assert memory.view.count_sessions() == 0


def test_the_first_prompt_begins_a_memory(tmp_path: Path) -> None:
    place = tmp_path / "new" / "memory.db"
    place.parent.mkdir()
    assert injected(hook(place, prompt("Hello"))) == ""
    with Memory.open(place, options=QUIET) as memory:
        assert turns(memory) == [("user", "Hello")]


def test_it_tells_only_what_passes_its_filter(memory: Memory, place: Path) -> None:
    question = prompt("Where does Ada, who is vegetarian, keep the spare key?")
    assert "blue pot" in injected(hook(place, question))
    answer = injected(hook(place, question, "--filter=-tag:private"))
    assert "vegetarian" in answer
    assert "blue pot" not in answer
    assert injected(hook(place, question, "--project=elsewhere")) == ""


@pytest.mark.parametrize(
    ("options", "recorded"),
    [
        (("--filter=project:greenhouse",), True),
        (("--filter=-tag:private", "--project=work"), True),
        (("--filter=project:work",), False),
        (("--filter=tag:food",), False),
    ],
)
def test_it_records_only_what_passes_its_filter(
    options: tuple[str, ...], recorded: bool, memory: Memory, place: Path, home: Path
) -> None:
    for event in (prompt("Is Ada vegetarian?"), stop("Yes, since March.")):
        done = hook(place, event, *options)
        assert (done.returncode, done.stderr) == (0, b"")
    said = [("user", "Is Ada vegetarian?"), ("assistant", "Yes, since March.")]
    assert turns(memory) == (said if recorded else [])
    assert memory.view.count_sessions() == recorded
    assert logged(home).count("does not match the filter") == (0 if recorded else 2)
    assert memory.files.check(deep=True).ok


def test_where_it_is_confined_it_does_not_search_by_names(
    memory: Memory, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights: list[float] = []
    brief = briefing.build_block

    def noted(*given: Any, **named: Any) -> briefing.ContextBlock:
        weights.append(named["profile"].entity)
        return brief(*given, **named)

    monkeypatch.setattr(briefing, "build_block", noted)
    for filter in (None, "tag:work"):
        quick = HookMemory(place, agent="cc", options=QUIET, filter=filter)
        quick.context_block("Is Ada vegetarian?", "s1", source="hook:claude-code")
        quick.close()
    assert weights[0] > 0.0 and weights[1] == 0.0


def test_where_only_reading_is_allowed_nothing_is_written(memory: Memory, place: Path) -> None:
    assert "vegetarian" in injected(hook(place, prompt("Is Ada vegetarian?"), "--readonly"))
    assert memory.view.count_sessions() == 0
    assert memory.view.recent_recalls() == []


def test_a_long_context_is_cut_where_claude_code_would_hide_it(memory: Memory, place: Path) -> None:
    memory.remember("Ada is vegetarian: " + "lentils and so on " * 900)
    text = injected(hook(place, prompt("Is Ada vegetarian?")))
    assert len(text) == events.MAX_CHARACTERS


def test_the_settings_are_honoured(memory: Memory, place: Path) -> None:
    place.with_name("config.toml").write_text('[secrets]\nepisodes = "redact"\n')
    hook(place, prompt("my password: hunter2hunter2!"))
    assert "hunter2" not in turns(memory)[0][1]


def test_without_settings_the_defaults_are_those_of_the_settings() -> None:
    assert Settings().options() == Options()


@pytest.mark.parametrize("event", [prompt("Is Ada vegetarian?"), stop("Yes.")])
def test_it_loads_nothing_heavy(event: dict[str, Any], memory: Memory, place: Path) -> None:
    done = hook(place, event, python=("-X", "importtime"))
    loaded = {line.rpartition(b"|")[2].strip().decode() for line in done.stderr.splitlines()}
    assert "memtui.hook.quick" in loaded
    assert not loaded & TOO_HEAVY


def test_click_reads_what_is_written_by_hand(memory: Memory, place: Path, home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "100", "--db", place, "hook", "claude-code", "--agent", "cc"],
        input=json.dumps(prompt("Is Ada vegetarian?")).encode(),
        capture_output=True,
    )
    assert "vegetarian" in injected(done)
    assert memory.view.recent_recalls()[0].agent == "cc"
    wrong = subprocess.run([sys.executable, "-m", "memtui", "hook", "cursor"], capture_output=True, text=True)
    assert (wrong.returncode, "error: " in wrong.stderr) == (2, True)


def test_what_is_not_in_the_form_that_connect_writes_is_left_to_click(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran: list[tuple[str, dict[str, str]]] = []
    monkeypatch.setattr(program, "run_hook", lambda *how: ran.append(how))
    for arguments in (
        ["cursor"], ["claude-code", "--help"], ["claude-code", "--agent", "cc"], ["claude-code", "--db="],
        ["claude-code", "--readonly=yes"],
    ):  # fmt: skip
        program.run_fast(arguments)
    assert ran == []
    program.run_fast(["claude-code", "--db=a", "--readonly"])
    assert ran == [("claude-code", {"--db": "a", "--readonly": ""})]


def test_the_memory_that_is_named_comes_before_the_one_that_is_set(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = place.with_name("other.db")
    monkeypatch.setenv("MEMTUI_DB", str(other))
    program._open_memory(events.DIALECTS["codex"], {"--db": str(place)}, []).close()
    assert (place.exists(), other.exists()) == (True, False)


def test_an_import_of_the_transcript_knows_what_the_hook_recorded(
    memory: Memory, place: Path, tmp_path: Path
) -> None:
    hook(place, prompt("Is Ada vegetarian?"))
    hook(place, stop("Yes, since March."))
    now = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
    session = tmp_path / "s1.jsonl"
    said = [("user", "Is Ada vegetarian?"), ("assistant", "Let me look."), ("assistant", "Yes, since March.")]
    session.write_text(
        "\n".join(
            json.dumps(
                {"type": kind, "sessionId": "s1", "uuid": f"u{number}", "timestamp": now, "cwd": "/w/greenhouse",
                 "isSidechain": False, "message": {"role": kind, "content": [{"type": "text", "text": text}]}}
            )
            for number, (kind, text) in enumerate(said)
        )
    )  # fmt: skip
    assert memory.files.import_paths([session], dry_run=True).imported == 1
    report = memory.files.import_paths([session])
    assert (report.imported, report.already_there) == (1, 2)
    assert sorted(turns(memory)) == sorted(said)
    assert memory.files.import_paths([session]).imported == 0


def test_a_session_that_another_program_began_is_another_one(memory: Memory, place: Path) -> None:
    with Memory.open(place, actor="agent:other", options=QUIET) as other:
        other.record_turn("claude-code:s1", "user", "Pay Bob a thousand.", source="other")
    for event in (prompt("Is Ada vegetarian?"), stop("Yes."), stop("Yes.")):
        hook(place, event)
    assert turns(memory) == [("user", "Pay Bob a thousand.")]
    own = "claude-code:s1 (hook:claude-code)"
    assert turns(memory, own) == [("user", "Is Ada vegetarian?"), ("assistant", "Yes.")]
    assert [answer.session_id for answer in memory.view.recent_recalls()] == [own]


def test_the_person_is_told_of_a_clock_that_stops_fading_at_the_beginning_of_a_session(
    memory: Memory, place: Path
) -> None:
    for ago, answer in ((3, False), (30, True)):
        with memory._core.connections.write() as connection:
            clock_guard.accept_time(connection, time.time() - ago * 86_400)
        for number in range(2):
            done = hook(place, prompt("how are you", session_id=f"s{ago}"))
            message = json.loads(done.stdout or b"{}").get("systemMessage", "")
            assert ("the clock moved on by 30 days" in message) is (answer and number == 0)


def test_no_empty_memory_is_begun_where_only_backups_are_left(place: Path, home: Path) -> None:
    with Memory.open(place, options=QUIET) as memory:
        memory.remember("Ada is vegetarian since March")
        memory.backups.make()
    for file in place.parent.glob("memory.db*"):
        file.unlink()
    done = hook(place, prompt("What does Ada eat?"))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert "there are backups of it" in logged(home)
    assert not place.exists()


def test_in_a_pause_it_tells_and_keeps_neither_prompt_nor_answer(
    memory: Memory, place: Path, home: Path
) -> None:
    memory.recording.pause("1h")
    first = hook(place, prompt("Is Ada vegetarian in Zanzibar?"))
    assert "- Ada is vegetarian since March" in injected(first)
    assert "recording is paused until" in json.loads(first.stdout)["systemMessage"]
    hook(place, stop("She is, also in Zanzibar."))
    again = hook(place, prompt("Is Ada vegetarian in Zanzibar?"))
    assert "- Ada is vegetarian since March" in injected(again) and "systemMessage" not in json.loads(
        again.stdout
    )
    assert [(one.query, len(one.memory_ids)) for one in memory.view.recent_recalls()] == [("", 2)] * 2
    assert turns(memory) == [] and memory.recording.state().turned_away == 3
    kept = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    assert b"Zanzibar" not in kept
    assert logged(home) == ""
    memory.recording.resume()
    hook(place, prompt("And now?"))
    assert turns(memory) == [("user", "And now?")]


def context_event(source: str, event: str = "SessionStart") -> dict[str, Any]:
    return {
        "hook_event_name": event,
        "session_id": "s1",
        "cwd": "/home/ada/work/greenhouse",
        "source": source,
    }


CHEESE = "- The cheese shop closes on Tuesdays at noon"


@pytest.fixture
def shop(memory: Memory) -> Memory:
    memory.remember("The cheese shop closes on Tuesdays at noon")
    return memory


def test_a_fact_is_told_once_in_a_session_until_its_context_was_compacted(
    shop: Memory, place: Path, home: Path
) -> None:
    assert hook(place, context_event("startup")).stdout == b""
    assert CHEESE in injected(hook(place, prompt("What about cheese?")))
    assert injected(hook(place, prompt("And cheese for the others?"))) == ""
    latest = shop.view.recent_recalls()[0]
    assert (latest.memory_ids, latest.query) == ((), "And cheese for the others?") and latest.saved > 5
    assert CHEESE in injected(hook(place, prompt("What about cheese?", session_id="s2")))
    for again in (context_event("compact"), context_event("resume"), context_event("", "PreCompact")):
        hook(place, again)
        assert CHEESE in injected(hook(place, prompt("And cheese for Bob?")))
        assert injected(hook(place, prompt("And cheese for Eve?"))) == ""
    assert logged(home) == "" and shop.files.check(deep=True).ok


def test_where_the_beginning_of_a_context_is_not_told_all_is_told_every_time(
    shop: Memory, place: Path
) -> None:
    for _ in range(2):
        assert CHEESE in injected(hook(place, prompt("What about cheese?")))
    hook(place, context_event("startup"), "--readonly")
    for _ in range(2):
        assert CHEESE in injected(hook(place, prompt("What about cheese?"), "--readonly"))


def test_what_was_told_in_a_session_is_bounded_and_goes_with_an_erase(shop: Memory) -> None:
    core = shop._core
    with core.connections.write() as connection:
        for number in range(300):
            recalls.begin_context(connection, f"claude-code:{number}", 1_000_000 + number)
        recalls.save_context(connection, "claude-code:299", dict.fromkeys(range(900), 1), 1_000_300)
        kept = connection.execute("SELECT count(*), max(length(lines)) FROM served_contexts").fetchone()
        assert kept is not None and kept[0] == 200 and kept[1] < 10_000
    shop.files.erase(shop.files.plan_erase([shop.view.page("cheese")[0].id]))
    with core.connections.read() as connection:
        assert recalls.served_lines(connection, "claude-code:299") is None


@pytest.mark.parametrize(
    ("kind", "name"),
    [("client", "claude-code"), ("project", "greenhouse"), ("folder", "/home/ada/work")],
)
def test_what_is_never_recorded_is_told_and_not_kept(
    memory: Memory, place: Path, home: Path, kind: Any, name: str
) -> None:
    memory.recording.never(kind, name)
    assert "- Ada is vegetarian" in injected(hook(place, prompt("Is Ada vegetarian in Zanzibar?")))
    hook(place, stop("In Zanzibar too."))
    assert turns(memory) == [] and [one.query for one in memory.view.recent_recalls()] == [""]
    kept = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    assert b"Zanzibar" not in kept


def test_what_is_kept_from_this_agent_is_told_to_others_only(memory: Memory, place: Path) -> None:
    [fact] = memory.view.page("vegetarian")
    memory.withhold(fact.id, "claude-code")
    answer = {}
    for agent in ("claude-code", "codex"):
        quick = HookMemory(place, agent=agent, options=QUIET)
        answer[agent] = quick.context_block(
            "what does Ada the vegetarian eat?", "s", source="claude-code"
        ).text
        quick.close()
    assert "vegetarian" not in answer["claude-code"] and "vegetarian" in answer["codex"]


def test_codex_and_gemini_cli_are_told_and_recorded_in_their_own_words(memory: Memory, place: Path) -> None:
    codex = {
        "hook_event_name": "UserPromptSubmit", "session_id": "s1", "cwd": "/work/boat", "transcript_path": None,
        "turn_id": "t", "model": "m", "permission_mode": "default", "prompt": "Is Ada vegetarian?",
    }  # fmt: skip
    gemini = {**codex, "hook_event_name": "BeforeAgent", "timestamp": "2026-11-27T02:00:00Z"}
    answers = {
        "codex": {**codex, "hook_event_name": "Stop", "last_assistant_message": "Since March."},
        "gemini-cli": {**gemini, "hook_event_name": "AfterAgent", "prompt_response": "Since March."},
    }
    for client, asked in (("codex", codex), ("gemini-cli", gemini)):
        said: list[bytes] = []
        for event in (asked, answers[client], asked):
            quick = HookMemory(place, agent=client, options=QUIET)
            raw = json.dumps(event).encode()
            assert (
                events.answer_event(raw, events.DIALECTS[client], lambda q=quick: q, None, said.append) == ""
            )
            quick.close()
        output = json.loads(said[0])["hookSpecificOutput"]
        assert output["hookEventName"] == asked["hook_event_name"]
        assert "Ada is vegetarian since March" in output["additionalContext"]
        # No event of a new context came, so what was given is given again.
        assert said[1:] == said[:1]
        session = memory.view.session(f"{client}:s1")
        assert (session.project, session.source) == ("boat", f"hook:{client}")
        assert turns(memory, f"{client}:s1")[:2] == [
            ("user", "Is Ada vegetarian?"),
            ("assistant", "Since March."),
        ]
        assert memory.view.recent_recalls()[0].agent == client


def test_an_import_of_codexs_own_file_knows_what_its_hook_recorded(
    memory: Memory, place: Path, tmp_path: Path
) -> None:
    session = "0199a213-81c0-7800-8aa1-bbab2a035a53"
    said = [("user", "Is Ada vegetarian?"), ("assistant", "Since March.")]
    quick = HookMemory(place, agent="codex", options=QUIET, imported=events.DIALECTS["codex"].imported)
    for role, text in said:
        quick.record_turn(f"codex:{session}", role, text, source="hook:codex", project="boat")
    now = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
    lines = [("session_meta", {"id": session, "timestamp": now, "cwd": "/w/boat"})]
    for role, text in (*said, ("user", "And Bob?")):
        kind = "input_text" if role == "user" else "output_text"
        lines.append(
            ("response_item", {"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
        )
    file = tmp_path / f"rollout-2026-11-27T02-00-00-{session}.jsonl"
    file.write_text(
        "".join(json.dumps({"timestamp": now, "type": kind, "payload": one}) + "\n" for kind, one in lines)
    )
    report = memory.files.import_paths([file])
    assert (report.imported, report.already_there) == (1, 2)
    # And what an import brought is not recorded again.
    quick.record_turn(f"codex:{session}", "user", "And Bob?", source="hook:codex", project="boat")
    quick.close()
    assert turns(memory, f"codex:{session}") == [*said, ("user", "And Bob?")]
