"""Aider's chat history: who said what, in which chat, and what is the program's own."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from import_samples import read
from memtui import Memory
from memtui.engine.importers.foreign_values import BAD_TIME
from memtui.engine.records import Options

HISTORY = """
# aider chat started at 2025-03-01 10:22:33

> Aider v0.75.1
> Git repo: .git with 12 files

#### /add util.py

#### please rename foo to bar

I'll rename it.

util.py
```python
<<<<<<< SEARCH
def foo():
=======
def bar():
>>>>>>> REPLACE
```

> Tokens: 2.3k sent, 80 received.

#### /ask do we use tabs?

We do not.

# aider chat started at 2025-03-02 08:00:00

#### we never use tabs in this repo
#### and no new dependencies
"""


def history(tmp_path: Path, text: str = HISTORY) -> Path:
    path = tmp_path / "greenhouse" / ".aider.chat.history.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def test_a_history_becomes_its_chats(tmp_path: Path) -> None:
    turns, skips = read(history(tmp_path))
    begun = "aider:greenhouse:2025-03-01 10:22:33"
    assert [(turn.session_id, turn.role) for turn in turns[:4]] == [
        (begun, "user"), (begun, "assistant"), (begun, "user"), (begun, "assistant"),
    ]  # fmt: skip
    assert turns[0].content == "please rename foo to bar"
    assert turns[1].content.startswith("I'll rename it.")
    assert ">>>>>>> REPLACE\n```" in turns[1].content
    assert turns[2].content == "do we use tabs?"
    assert turns[4].content == "we never use tabs in this repo\nand no new dependencies"
    assert turns[4].event_time == datetime(2025, 3, 2, 8).timestamp()  # the machine's zone is meant
    assert {turn.project for turn in turns} == {"greenhouse"}
    assert [skip.reason for skip in skips] == ["added by the program"] * 3


def test_commands_to_the_program_are_no_turns(tmp_path: Path) -> None:
    turns, _ = read(
        history(tmp_path, "# aider chat started at 2025-03-01 10:22:33\n\n#### /clear\n\n#### hello there\n")
    )
    assert [turn.content for turn in turns] == ["hello there"]


def test_a_history_that_grew_brings_only_what_is_new(tmp_path: Path) -> None:
    path = history(tmp_path)
    with Memory.open(":memory:", options=Options(background=False, embedder="off")) as memory:
        grown(memory, path)


def grown(memory: Memory, path: Path) -> None:
    first = memory.files.import_paths([path])
    assert (first.formats, first.kinds) == (("aider",), {"turn": 5})
    path.write_text(
        HISTORY + "\nNoted.\n\n#### we never use tabs in this repo\n#### and no new dependencies\n"
    )
    again = memory.files.import_paths([path])
    assert (again.kinds, again.already_there) == ({"turn": 2}, 5)


def test_a_time_that_is_none_does_not_end_the_import(tmp_path: Path) -> None:
    text = "# aider chat started at 2026-99-99 25:00:00\n\n#### one\n\n# aider chat started at 0001-01-01 00:00:00\n\n#### two\n"
    with Memory.open(":memory:", options=Options(background=False, embedder="off")) as memory:
        report = memory.files.import_paths([history(tmp_path, text + HISTORY)])
    assert report.kinds == {"turn": 7}
    assert any(BAD_TIME in one for one in report.warnings)
