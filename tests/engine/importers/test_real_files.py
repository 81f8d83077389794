"""Conversations as the real programs wrote them here, against a model that always gives the same answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shutil import copyfile

import pytest
from memtui import Memory
from memtui.engine.importers.watch import FileFollower
from memtui.engine.records import Options
from other_memories import rows

from foreign_stores import real

DATA = Path(__file__).parents[2] / "data" / "stores"
ASKED = "I moved to Porto last week, keep that in mind."
ANSWERED = "Porto it is. I will remember that."
OFF = Options(embedder="off", background=False)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db", options=OFF) as memory:
        yield memory


def written(name: str, folder: Path) -> Path:
    """The file of a program in a folder of its own, with the name that it has there."""
    folder.mkdir()
    if name == "opencode":
        return real(name)(folder / "opencode.db")
    return Path(copyfile(DATA / f"{name}.jsonl", folder / f"{name}.jsonl"))


def turns(memory: Memory) -> list[tuple[str, str, str, str]]:
    return rows(
        memory,
        "SELECT source, project, trust, content FROM memories WHERE session_id NOT LIKE '%3729934%' ORDER BY rid",
    )


@pytest.mark.parametrize("name", ["claude-code", "codex", "gemini-cli", "opencode"])
def test_a_real_conversation_comes_once_with_who_said_what(name: str, memory: Memory, tmp_path: Path) -> None:
    path = written(name, tmp_path / "in")
    assert memory.files.import_paths([path]).formats == (name,)
    # opencode run puts the prompt into quotes.
    asked = f'"{ASKED}"' if name == "opencode" else ASKED
    project = None if name == "gemini-cli" else "proj"  # which keeps it in the name of a folder
    assert turns(memory) == [
        (f"import:{name}", project, "user", asked),
        (f"import:{name}", project, "agent", ANSWERED),
    ]
    assert memory.files.import_paths([path]).kinds == {}


@pytest.mark.parametrize("name", ["claude-code", "codex", "gemini-cli", "opencode"])
def test_a_real_conversation_is_followed_before_it_ends(name: str, memory: Memory, tmp_path: Path) -> None:
    """Nothing in it has to wait for the end of the file, which a program that runs does not write."""
    path = written(name, tmp_path / "in")
    with FileFollower(
        memory._core.connections,
        [path if name == "opencode" else path.parent],
        clock=lambda: 1_800_000_000.0,
        options=OFF,
    ) as follower:
        follower.import_new()
    assert [text for *_, text in turns(memory)][1] == ANSWERED
