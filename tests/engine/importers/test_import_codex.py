"""Codex CLI rollouts: events before items, old files, what the program puts in, broken lines."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from import_samples import jsonl, read, reasons, words
from memtui import Memory
from memtui.engine.importers.detect import find_sources
from memtui.engine.records import Options
from other_memories import rows

SESSION = "019a2d7a-41c4-78b1-b7cc-a45d62a89cd5"
NAME = f"rollout-2026-03-04T10-15-30-{SESSION}.jsonl"


def line(kind: str, /, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-03-04T10:15:30.250Z", "type": kind, "payload": payload}


def meta(**fields: Any) -> dict[str, Any]:
    given = {"id": SESSION, "cwd": "/home/ada/ponds", "cli_version": "0.65.0", "source": "cli", "git": {}}
    return line("session_meta", **(given | fields))


def event(kind: str, text: Any, /, **fields: Any) -> dict[str, Any]:
    return line("event_msg", type=kind, message=text, **fields)


def item(role: str, text: str) -> dict[str, Any]:
    kind = "input_text" if role == "user" else "output_text"
    return line("response_item", type="message", role=role, content=[{"type": kind, "text": text}])


TALK = [
    meta(),
    item("developer", "<permissions instructions>ask first</permissions instructions>"),
    item("user", "<environment_context>\n  <cwd>/home/ada/ponds</cwd>\n</environment_context>"),
    line("turn_context", model="gpt-5-codex", cwd="/home/ada/ponds"),
    item("user", "Which pump fits?"),
    event("user_message", "Which pump fits?", kind="plain"),
    line("event_msg", type="agent_reasoning", text="thinking about pumps"),
    line("response_item", type="function_call", name="shell", arguments="{}", call_id="c1"),
    line("response_item", type="function_call_output", call_id="c1", output="three pumps"),
    event("agent_message", "The small one."),
    item("assistant", "The small one."),
    line("event_msg", type="token_count", info=None),
]


def test_events_are_the_turns(tmp_path: Path) -> None:
    (question, answer), skips = read(jsonl(tmp_path / NAME, TALK))
    assert (question.role, question.content, question.trust) == ("user", "Which pump fits?", "user")
    assert (answer.role, answer.content, answer.trust) == ("assistant", "The small one.", "agent")
    assert question.session_id == f"codex:{SESSION}"
    assert question.project == "ponds"
    assert question.source == "import:codex"
    assert question.event_time == 1772619330.25
    assert reasons(skips) == ["added by the program", "hidden or system text", "not a message"]


def test_a_file_without_events_is_read_from_its_items(tmp_path: Path) -> None:
    records = [record for record in TALK if record["type"] != "event_msg"]
    records.insert(2, item("user", "# AGENTS.md instructions for /home/ada/ponds\n\nBe brief."))
    turns, skips = read(jsonl(tmp_path / NAME, records))
    assert words(turns) == ["Which pump fits?", "The small one."]
    assert reasons(skips) == [
        "added by the program",
        "hidden or system text",
        "not a message",
        "tool call or output",
    ]


def test_a_long_file_without_events_is_not_kept_in_memory(tmp_path: Path) -> None:
    records = [item("user", f"Question {number}") for number in range(200)]
    late = [event("user_message", "Question 200"), item("user", "Question 200")]
    turns, _ = read(jsonl(tmp_path / NAME, [meta(), *records, *late]))
    assert words(turns) == [f"Question {number}" for number in range(201)]


def test_the_oldest_files_have_a_bare_header_and_bare_items(tmp_path: Path) -> None:
    records: list[Any] = [
        {"id": SESSION, "timestamp": "2025-06-01T08:00:00.000Z", "instructions": None, "git": {}},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello?"}]},
        {"type": "reasoning", "summary": []},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hello."}]},
    ]
    turns, _ = read(jsonl(tmp_path / "x.jsonl", records))
    assert words(turns) == ["Hello?", "Hello."]
    assert {turn.session_id for turn in turns} == {f"codex:{SESSION}"}
    assert {turn.source for turn in turns} == {"import:codex"}


def test_without_a_header_the_files_name_is_the_session(tmp_path: Path) -> None:
    (turn,), _ = read(jsonl(tmp_path / NAME, [event("user_message", "hi")]))
    assert turn.session_id == f"codex:{SESSION}"


def test_only_the_first_header_counts_in_a_forked_session(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path / "x.jsonl", [meta(id="new"), meta(id="old", cwd="/x"), event("user_message", "hi")]
    )
    (turn,), _ = read(path)
    assert (turn.session_id, turn.project) == ("codex:new", "ponds")


def at(time: str, record: dict[str, Any]) -> dict[str, Any]:
    return record | {"timestamp": f"2026-03-04T{time}Z"}


OLD = [
    at("09:00:00.100", event("user_message", "Which pump?")),
    at("09:00:05", event("agent_message", "The small one.")),
]
FORK = at("10:00:00", meta(id="new", forked_from_id="old"))
OWN = at("10:00:00.200", event("user_message", "And for winter?"))


@pytest.mark.parametrize("with_header", [True, False])
def test_a_fork_does_not_repeat_what_was_said_before_it(tmp_path: Path, with_header: bool) -> None:
    header = at("09:00:00", meta(id="old"))
    with Memory.open(tmp_path / "m.db", options=Options(background=False, embedder="off")) as memory:
        fork = jsonl(tmp_path / "fork.jsonl", [FORK, *[header][:with_header], *OLD, OWN])
        assert memory.files.import_paths([fork]).imported == 3
        report = memory.files.import_paths([jsonl(tmp_path / "old.jsonl", [header, *OLD])])
        assert (report.imported, report.already_there) == (0, 2)
        assert {turn.content: turn.session_id for turn in memory.view.page("kind:episode")} == {
            "Which pump?": "codex:old", "The small one.": "codex:old", "And for winter?": "codex:new",
        }  # fmt: skip


def test_what_a_fork_copied_with_new_times_is_passed_over(tmp_path: Path) -> None:
    copies = [at("10:00:00.010", record) for record in OLD]
    later = at("10:00:09", event("user_message", "And for winter?"))
    (turn,), skips = read(jsonl(tmp_path / "fork.jsonl", [FORK, *copies, later]))
    assert (turn.session_id, turn.content) == ("codex:new", "And for winter?")
    assert reasons(skips).count("copied from the session it was forked from") == 1


def test_a_subagents_prompt_is_not_the_persons(tmp_path: Path) -> None:
    records = [meta(source={"subagent": "review"}), event("user_message", "Look at this.")]
    (turn,), _ = read(jsonl(tmp_path / NAME, records))
    assert turn.trust == "agent"


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (
            "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nFix it.",
            "Fix it.",
        ),
        ("# Context from my IDE setup:\n\n## My request for Codex:\n", None),
        ("# Context from my IDE setup: what is it?", "# Context from my IDE setup: what is it?"),
        ("<turn_aborted>x</turn_aborted>", None),
        ("<user_instructions>\n\nBe brief.</user_instructions>", None),
        ("What does <environment_context> mean?", "What does <environment_context> mean?"),
    ],
)
def test_what_the_program_adds_is_taken_off(tmp_path: Path, said: str, kept: str | None) -> None:
    turns, _ = read(jsonl(tmp_path / NAME, [meta(), event("user_message", said)]))
    assert words(turns) == ([kept] if kept else [])


def test_equal_lines_are_told_apart_and_a_longer_file_adds_the_rest(tmp_path: Path) -> None:
    path = jsonl(tmp_path / NAME, [meta(), *[event("user_message", "go on")] * 3])
    with Memory.open(
        tmp_path / "m" / "memory.db", options=Options(background=False, embedder="off")
    ) as memory:
        assert memory.files.import_paths([path]).imported == 3
        again = memory.files.import_paths([path])
        assert (again.imported, again.already_there) == (0, 3)
        jsonl(path, [meta(), *[event("user_message", "go on")] * 4, event("agent_message", "done")])
        report = memory.files.import_paths([path])
        assert (report.imported, report.already_there, report.formats) == (2, 3, ("codex",))
        assert report.operation is not None
        memory.undo(report.operation.op_id)
        assert memory.stats().active == 3


def test_broken_lines_are_passed_over(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path / NAME,
        [
            meta(),
            event("user_message", "first"),
            b"{broken",
            b"[1, 2]",
            b'{"type": "event_msg", "payload": 7}',
            b"null",
            event("user_message", None),
            event("user_message", {"a": 1}),
            line("compacted", message="A summary."),
            line("something_new", what="ever"),
            {"type": ["event_msg"]},
            event("agent_message", "last"),
            b'{"timestamp": "2026-03-04T10:15:30Z", "type": "event_m',
        ],
    )
    turns, skips = read(path)
    assert words(turns) == ["first", "last"]
    assert reasons(skips) == [
        "compaction summary",
        "no text in it",
        "not a message",
        "not valid JSON",
        "record of an unknown shape",
    ]


@pytest.mark.parametrize(
    "said",
    [
        "<user_shell_command>\nls\n</user_shell_command>",
        "<user_action>\n  <context>User initiated a review task.</context>\n</user_action>",
        "<permissions instructions>Ask first.</permissions instructions>",
        "<hook_prompt>Run the tests.</hook_prompt>",
        "Warning: The maximum number of unified exec processes you can keep open is 60.",
        "Another language model started to solve this problem and produced a summary of its thinking process.",
        "You were originally given instructions from a user over one or more turns. Here were the user messages:",
    ],
)
def test_what_the_program_says_in_the_persons_name_is_left_out(tmp_path: Path, said: str) -> None:
    path = jsonl(tmp_path / "r.jsonl", [item("user", said), item("user", "Mend the pump.")])
    turns, _ = read(path)
    assert words(turns) == ["Mend the pump."]


@pytest.mark.parametrize("bare", [False, True])
def test_a_file_without_times_is_dated_by_the_file_and_says_so(bare: bool, tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = (
        [{"id": SESSION, "instructions": None}, *(one["payload"] for one in (item("user", "Use pnpm"),))]
        if bare
        else [meta(), event("user_message", "Use pnpm")]
    )
    for one in lines:
        one.pop("timestamp", None)
    file = jsonl(tmp_path / NAME, lines)
    os.utime(file, (1_772_000_000, 1_772_000_000))
    options = Options(background=False, embedder="off")
    with Memory.open(tmp_path / "memory.db", clock=lambda: 1_780_000_000.0, options=options) as memory:
        report = memory.files.import_paths([file])
        [turn] = rows(memory, "SELECT session_id, event_time FROM memories")
    assert report.formats == ("codex",)
    assert turn == (f"codex:{SESSION}", 1_772_000_000)
    assert any("without a time" in warning for warning in report.warnings)


@pytest.mark.parametrize("indent", [2, None])
def test_a_session_of_the_first_versions_is_one_object(indent: int | None, tmp_path: Path) -> None:
    items = [one["payload"] for one in TALK if one["type"] == "response_item"]
    whole = {
        "session": {"timestamp": "2025-04-20T10:15:30.250Z", "id": SESSION, "instructions": "Be brief."},
        "items": [*items, {"type": "reasoning", "summary": []}, "odd"],
    }
    file = tmp_path / f"rollout-2025-04-20-{SESSION}.json"
    file.write_text(json.dumps(whole, indent=indent))
    assert [found.format for found in find_sources([tmp_path]).sources] == ["codex"]
    turns, skips = read(file)
    assert words(turns) == ["Which pump fits?", "The small one."]
    assert {turn.session_id for turn in turns} == {f"codex:{SESSION}"}
    assert {turn.event_time for turn in turns} == {1745144130.25}
    assert "record of an unknown shape" in reasons(skips)
