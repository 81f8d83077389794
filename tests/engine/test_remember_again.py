"""What is written down again is one fact: case, spaces and the stop at the end do not count."""

from __future__ import annotations

from pathlib import Path

import pytest
from memtui import Memory
from memtui.engine.records import Options


@pytest.mark.parametrize("again", ["I like tea", "i like tea.", " I  like\ttea!", "I LIKE TEA …"])
def test_the_same_text_is_the_same_fact(tmp_path: Path, again: str) -> None:
    with Memory.open(tmp_path / "memory.db", options=Options(background=False)) as memory:
        first = memory.remember("I like tea.")
        assert memory.remember(again).id == first.id
        assert memory.get(first.id).content == "I like tea."


@pytest.mark.parametrize("other", ["I like tea?", "I like teas", "I like green tea."])
def test_another_text_is_another_fact(tmp_path: Path, other: str) -> None:
    with Memory.open(tmp_path / "memory.db", options=Options(background=False)) as memory:
        assert memory.remember("I like tea.").id != memory.remember(other).id
