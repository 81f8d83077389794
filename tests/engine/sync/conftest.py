"""Three devices over a folder, for the tests of what they agree on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from machines import Machines


@pytest.fixture
def machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machines]:
    made = Machines(tmp_path, str(tmp_path / "store"), monkeypatch)
    for name in ("laptop", "desktop", "server"):
        made.add(name)
    yield made
    for memory in made.memories.values():
        memory.close()
