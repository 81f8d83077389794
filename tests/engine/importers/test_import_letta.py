"""Letta agent files of both shapes: blocks, what was said, and nothing of keys and prompts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from memtui import Memory
from memtui.engine.errors import InputError
from memtui.engine.records import Options
from other_memories import assert_comes_once_and_goes, rows

from foreign_stores import letta

NOW = 1_800_000_000.0
QUIET = Options(background=False, embedder="off")


@pytest.mark.parametrize("several", [False, True])
def test_blocks_are_facts_and_messages_turns(tmp_path: Path, several: bool) -> None:
    with Memory.open(tmp_path / "memory.db", clock=lambda: NOW, options=QUIET) as memory:
        report = memory.files.import_paths([letta(tmp_path / "helper.af", several=several)])
        assert (report.formats, report.kinds) == (("letta",), {"fact": 1, "turn": 4})
        assert report.reasons == {
            "empty block": 1, "hidden or system text": 1, "added by the program": 2,
            "tool call or output": 2, **({"file of the agent": 1} if several else {}),
        }  # fmt: skip
        found = rows(
            memory,
            "SELECT kind, source_role, content, trust, session_id, event_time FROM memories ORDER BY event_time, rid",
        )
        assert found == [
            ("episode", "user", "I moved to Porto.", "user", "letta:helper", 1772618404),
            ("episode", "assistant", "How do you like Porto?", "agent", "letta:helper", 1772618405),
            ("fact", None, "Name: Ada\nLives in Porto", "agent", None, 1772618405),
            ("episode", "user", "It is fine", "user", "letta:helper", 1772618407),
            ("episode", "assistant", "Good to hear.", "agent", "letta:helper", 1772618408),
        ]
        assert b"s3cret" not in (tmp_path / "memory.db").read_bytes()


def test_an_agent_comes_once_and_the_other_shape_adds_nothing(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "home" / "memory.db", clock=lambda: NOW, options=QUIET) as memory:
        assert_comes_once_and_goes(memory, letta(tmp_path / "helper.af"))
        assert memory.files.import_paths([letta(tmp_path / "new.af", several=True)]).imported == 0


def test_a_long_block_is_not_lost(tmp_path: Path) -> None:
    text = "\n".join(f"line {number} of the report" for number in range(3_000))
    path = tmp_path / "a.af"
    path.write_text(
        json.dumps({"agent_type": "x", "core_memory": [{"label": "report", "value": text}], "messages": []})
    )
    with Memory.open(tmp_path / "memory.db", clock=lambda: NOW, options=QUIET) as memory:
        memory.files.import_paths([path])
        parts = rows(memory, "SELECT content FROM memories ORDER BY rid")
    assert len(parts) > 2
    assert "\n".join(part for (part,) in parts) == text


def test_a_file_that_was_cut_off_is_refused_by_its_name(tmp_path: Path) -> None:
    path = letta(tmp_path / "helper.af")
    path.write_text(path.read_text()[:-40])
    with (
        Memory.open(tmp_path / "memory.db", clock=lambda: NOW, options=QUIET) as memory,
        pytest.raises(InputError, match="in Letta format: 1 × the file ends in the middle"),
    ):
        memory.files.import_paths([path])
