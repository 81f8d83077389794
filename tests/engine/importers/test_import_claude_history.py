"""Prompts that Claude Code keeps when their transcripts are swept; the same words come in once, whoever tells them."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from import_samples import SESSION, claude, jsonl, read, reasons, words
from memtui import Memory
from memtui.engine.records import Options, Turn

OFF = Options(embedder="off", background=False)
AT = 1_772_619_330_250


def prompt(display: Any, **fields: Any) -> dict[str, Any]:
    return {
        "display": display, "pastedContents": {}, "timestamp": AT, "project": "/home/ada/greenhouse", "sessionId": SESSION,
    } | fields  # fmt: skip


def test_prompts_are_turns_of_their_session(tmp_path: Path) -> None:
    pasted = {"1": {"id": 1, "type": "text", "content": "line one\nline two"}}
    turns, skips = read(
        jsonl(
            tmp_path / "history.jsonl",
            [
                prompt("Which pump fits?"),
                prompt("/clear "),
                prompt("See [Pasted text #1 +2 lines] and [Pasted text #2]", pastedContents=pasted),
                prompt("From before sessions were noted", sessionId=None),
                prompt("  "),
                prompt(7),
            ],
        )
    )
    assert words(turns) == [
        "Which pump fits?",
        "See line one\nline two and [Pasted text #2]",
        "From before sessions were noted",
    ]
    assert turns[0] == Turn(
        session_id=f"claude-code:{SESSION}", role="user", content="Which pump fits?", source="import:claude-history",
        source_key=turns[0].source_key, event_time=AT / 1000, project="greenhouse", trust="user",
        folder="/home/ada/greenhouse",
    )  # fmt: skip
    assert turns[2].session_id == "claude-code:prompts/greenhouse"
    assert reasons(skips) == ["added by the program", "no text in it", "not a message"]


@pytest.mark.parametrize("order", list(permutations(("history", "transcript", "hook"))))
def test_the_same_words_come_in_once_whoever_tells_them_first(
    order: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memtui.hook import quick

    said = {"timestamp": "2026-03-04T10:15:30.250Z"}
    paths = {
        "history": jsonl(tmp_path / "history.jsonl", [prompt("Which pump fits?")]),
        "transcript": jsonl(
            tmp_path / "t.jsonl", [claude("user", "Which pump fits?", **said), claude("assistant", "40 W\n", **said)]
        ),
    }  # fmt: skip
    monkeypatch.setattr(quick.time, "time", lambda: AT / 1000 + 2)
    place = tmp_path / "memory.db"
    Memory.open(place, options=OFF).close()
    for who in order:
        if who == "hook":
            hook = quick.HookMemory(place, agent="claude-code", options=OFF)
            for role, text in (("user", "Which pump fits?"), ("assistant", "40 W")):
                hook.record_turn(
                    f"claude-code:{SESSION}", role, text, source="hook:claude-code", project=None,
                    once=role == "assistant",
                )  # fmt: skip
            hook.close()
        else:
            with Memory.open(place, options=OFF) as memory:
                memory.files.import_paths([paths[who]])
    with Memory.open(place, options=OFF) as memory:
        assert sorted(turn.content.strip() for turn in memory.view.transcript(f"claude-code:{SESSION}")) == [
            "40 W",
            "Which pump fits?",
        ]


@pytest.mark.parametrize("dry", [True, False])
def test_both_in_one_import_are_one(tmp_path: Path, dry: bool) -> None:
    said = {"timestamp": "2026-03-04T10:15:30.250Z"}
    jsonl(tmp_path / "in" / "history.jsonl", [prompt("Which pump fits?"), prompt("And now?")])
    jsonl(tmp_path / "in" / "t.jsonl", [claude("user", "Which pump fits?", **said)])
    with Memory.open(":memory:", options=OFF) as memory:
        report = memory.files.import_paths([tmp_path / "in"], dry_run=dry)
    assert (report.imported, report.already_there) == (2, 1)


@pytest.mark.parametrize(("recorded", "between"), [(1, 0), (2, 0), (1, 600)])
def test_who_says_the_same_twice_in_one_second_said_it_twice(
    recorded: int, between: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where another source recorded it once: the hook was added between the two, for instance.

    ``between``: other turns, so many that the import stores the two in different batches.
    """
    from memtui.hook import quick

    said = {"timestamp": "2026-03-04T10:15:30.250Z"}
    talk = jsonl(
        tmp_path / "t.jsonl",
        [
            claude("user", "continue", **said),
            *(claude("user", f"step {number}", **said) for number in range(between)),
            claude("user", "continue", **said),
        ],
    )
    monkeypatch.setattr(quick.time, "time", lambda: AT / 1000)
    place = tmp_path / "memory.db"
    Memory.open(place, options=OFF).close()
    hook = quick.HookMemory(place, agent="claude-code", options=OFF)
    for _ in range(recorded):
        hook.record_turn(
            f"claude-code:{SESSION}", "user", "continue", source="hook:claude-code", project=None, once=False
        )
    hook.close()
    with Memory.open(place, options=OFF) as memory:
        for new in (2 - recorded + between, 0):
            assert memory.files.import_paths([talk]).imported == new
        assert memory.view.count("continue") == 2
