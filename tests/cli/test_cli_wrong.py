"""``memtui wrong`` lists what agents were told last, by agent and session."""

from __future__ import annotations

import asyncio
from pathlib import Path

from cli_kit import Cli
from memtui import Memory
from memtui.engine.records import Options


def test_what_was_told_last_by_session(cli: Cli, home: Path) -> None:
    now = [1_773_316_800.0]
    options = Options(background=False, embedder="off")
    with Memory.open(home / "memory.db", clock=lambda: now[0], options=options) as memory:
        facts = [memory.remember(f"Fact number {number}") for number in range(4)]
        for agent, session, result in (
            ("claude", "s1", facts[:2]),
            ("codex", "s2", facts[2:3]),
            ("claude", "s1", [facts[3], facts[0]]),
        ):
            now[0] += 60
            memory.actor = f"agent:{agent}"
            memory.note_recall(f"which {len(result)} of {session}", result, session)
    found = cli("wrong", "--json").json["recalls"]
    assert [(one["agent"], one["session_id"], len(one["memories"])) for one in found] == [
        ("claude", "s1", 3),
        ("codex", "s2", 1),
    ]
    assert [one["content"] for one in found[0]["memories"]] == [
        "Fact number 3",
        "Fact number 0",
        "Fact number 1",
    ]
    # each memory under the question of the latest answer that had it
    assert [(one["query"], one["memory_ids"]) for one in found[0]["answers"]] == [
        ("which 2 of s1", [facts[3].id, facts[0].id]),
        ("which 2 of s1", [facts[1].id]),
    ]
    result = cli("wrong")
    assert "“which 1 of s2”" in result.out
    assert result.code == 0 and "memtui correct ID" in result.err and facts[3].id in result.out
    cli("withhold", facts[3].id, "--agent", "claude")
    assert facts[3].id not in cli("wrong").out
    cli("forget", facts[2].id)
    assert [one["agent"] for one in cli("wrong", "--json").json["recalls"]] == ["claude"]
    assert cli("wrong", "--agent", "codex").code == 1


def test_a_memory_is_kept_from_one_agent_and_told_it_again(cli: Cli, home: Path) -> None:
    with Memory.open(home / "memory.db", options=Options(background=False, embedder="off")) as memory:
        fact = memory.remember("Works at Initech")
    assert "withheld" in cli("withhold", fact.id, "--agent", "codex").out
    assert "withheld already" in cli("withhold", fact.id, "--agent", "Codex").out
    assert "not for" in cli("show", fact.id).out and cli("show", fact.id, "--json").json["withheld_from"] == [
        "codex"
    ]
    assert fact.id in cli("list", "withheld:codex").out
    assert cli("withhold", fact.id).code == 2
    assert "allowed" in cli("withhold", fact.id, "--agent", "codex", "--off").out
    assert cli("list", "withheld:codex").code == 1
    cli("undo")
    assert fact.id in cli("list", "withheld:*").out


def test_a_told_turn_says_what_of_it_was_corrected_since(cli: Cli, home: Path) -> None:
    with Memory.open(home / "memory.db", options=Options(background=False, embedder="off")) as memory:
        turn = memory.record_turn("monday", "user", "I work at Initech.")
        asyncio.run(memory.consolidate("monday"))
        (fact,) = memory.view.page("kind:fact")
        memory.actor = "agent:claude"
        memory.note_recall("work", [turn, fact], "s1")
    assert "corrected on" not in cli("wrong").out
    assert cli("correct", fact.id, "I work at Globex").code == 0
    result = cli("wrong").out
    assert turn.id in result and "corrected on" in result and "I work at Globex" in result
