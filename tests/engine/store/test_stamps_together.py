"""Memories that are changed at once are stamped by a few statements, exactly as the triggers would stamp each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest
from memtui import Memory
from memtui.engine.records import Options
from memtui.engine.store import stamps

from clock import Clock

OPTIONS = Options(background=False, embedder="off", allow_unsafe_fs=True)
MANY = 12


def _verbs(memory: Memory, rids: list[int]) -> None:
    """Every verb that may change many memories, and what takes it back."""
    memory.change_all("tag", rids, add=["plants", "Küche"], remove=["home"])
    memory.undo()
    memory.redo()
    memory.change_all("tag", rids[:5], remove=["plants"])
    for rid, tag in zip(rids, ("north", "south") * len(rids), strict=False):
        memory.change_all("tag", [rid], add=[tag])
    memory.change_all("tag", rids, remove=["north", "south"])
    memory.undo()  # what is alike becomes different again
    memory.change_all("confirm", rids)
    memory.change_all("classify", rids, topic="work", happens="2026-05-01")
    memory.change_all("pin", rids[:3])
    memory.change_all("withhold", rids, agent="Codex")
    memory.change_all("allow", rids[3:6], agent="codex")
    memory.undo()
    memory.change_all("forget", rids)
    memory.change_all("restore", rids[2:9])
    memory.undo()
    memory.undo()


def _stamped(path: Path, clock: Clock) -> list[Any]:
    with Memory.open(path, clock=clock, options=OPTIONS) as memory:
        rids = [
            memory.remember(f"Plant {number} is in room {number}", tags=["home"]).rid
            for number in range(MANY)
        ]
        _verbs(memory, rids)
        names = {memory.view.rows([rid])[0].id: place for place, rid in enumerate(rids)}
        with memory._core.connections.read() as connection:
            own = stamps.device(connection)
            rows = connection.execute("SELECT thing, aspect, seen, device, at, actor FROM decided").fetchall()
    return sorted(
        (names[str(row[0])], *(str(value).replace(own, "here") for value in row[1:])) for row in rows
    )


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few are many."""
    from memtui.engine import memory

    monkeypatch.setattr(memory, "_ROWS_AT_ONCE", 2)
    monkeypatch.setattr(memory, "_ROWS_PER_TRANSACTION", 5)


@contextmanager
def _by_triggers(connection: apsw.Connection) -> Iterator[None]:
    yield


def test_the_stamps_are_those_that_the_triggers_make(
    tmp_path: Path, many: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = _stamped(tmp_path / "together.db", Clock(1_773_316_800))
    monkeypatch.setattr(stamps, "stamp_together", _by_triggers)
    assert together == _stamped(tmp_path / "each.db", Clock(1_773_316_800))
    aspects = {row[1] for row in together}
    assert aspects == {
        "state", "topic", "date", "pin", "tag:plants", "tag:Küche", "tag:home", "tag:north", "tag:south", "not-for:codex",
        "reviewed",
    }  # fmt: skip


@pytest.mark.parametrize("lost", ["tags", "attributes", "ended_by"])
def test_it_would_be_seen_where_an_aspect_is_not_stamped(
    tmp_path: Path, many: None, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    left = tuple(one for one in stamps._CHANGED_ASPECTS if lost not in one[0])
    whole = _stamped(tmp_path / "whole.db", Clock(1_773_316_800))
    monkeypatch.setattr(stamps, "_CHANGED_ASPECTS", left)
    assert whole != _stamped(tmp_path / "less.db", Clock(1_773_316_800))
