"""One shape is not taken for another: arrays with an object a line, objects around messages, values that are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from import_samples import claude, read, words
from memtui import Memory
from memtui.engine.errors import InputError
from memtui.engine.records import Options

SAID = [{"role": "user", "content": f"words {number}"} for number in range(3)]
TOLD = [f"words {number}" for number in range(3)]


def line_each(records: list[Any]) -> str:
    return "[\n" + ",\n".join(map(json.dumps, records)) + "\n]\n"


@pytest.mark.parametrize("format", [None, "jsonl", "json"])
def test_an_array_with_an_object_a_line_is_read_whole(tmp_path: Path, format: str | None) -> None:
    path = tmp_path / "x.json"
    path.write_text(line_each(SAID))
    if format == "jsonl":
        with pytest.raises(InputError):
            read(path, format)
        return
    turns, skips = read(path, format)
    assert (words(turns), skips) == (TOLD, [])


@pytest.mark.parametrize("layout", [line_each, json.dumps, lambda some: json.dumps(some, indent=2)])
@pytest.mark.parametrize(
    "records",
    [
        [claude("user", text) for text in TOLD],
        [{"display": text, "timestamp": 1, "project": "/p"} for text in TOLD],
        [
            {"timestamp": "2026-01-01T00:00:00Z", "type": "event_msg",
             "payload": {"type": "user_message", "message": text}} for text in TOLD
        ],
        [{"category": "insight", "content": text} for text in TOLD],
        [{"type": "entity", "name": "pond", "observations": [f"pond {text}"]} for text in TOLD],
    ],
)  # fmt: skip
def test_records_of_every_format_may_stand_in_an_array(tmp_path: Path, records: Any, layout: Any) -> None:
    path = tmp_path / "x.json"
    path.write_text(layout(records))
    with Memory.open(":memory:", options=Options(background=False)) as memory:
        report = memory.files.import_paths([path])
        found = [one.content.removeprefix("pond ") for one in memory.view.page(limit=10)]
    assert (sorted(found), report.skipped) == (TOLD, 0)


def test_an_object_around_messages_is_no_file_of_lines(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"messages": ' + line_each(SAID) + "}")
    with pytest.raises(InputError, match="no format"):
        read(path)


def test_values_that_are_no_records_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps([SAID[0], "a, b", 7, None, SAID[1], True]))
    turns, skips = read(path)
    assert words(turns) == TOLD[:2]
    assert [skip.reason for skip in skips] == ["neither an object nor an array"] * 4
    assert skips[0].place.startswith(str(path))
