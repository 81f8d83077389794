"""A memory of memtui's own that cannot be used as it is: never called another program's."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import apsw
import pytest
from memtui import Memory
from memtui.engine.errors import ForeignFileError, InputError
from memtui.engine.records import Options

OPTIONS = Options(background=False, embedder="off", allow_unsafe_fs=True)


def made(place: Path) -> Path:
    with Memory.open(place, options=OPTIONS) as memory:
        memory.remember("Ada likes tea")
    return place


def test_one_that_lost_its_mark_is_told_as_such_and_the_next_step_works(tmp_path: Path) -> None:
    place = made(tmp_path / "memory.db")
    with closing(apsw.Connection(str(place))) as connection:
        mark = connection.pragma("application_id")
        connection.pragma("application_id", 0)
    with pytest.raises(ForeignFileError, match="lost its mark") as caught:
        Memory.open(place, options=OPTIONS)
    assert "memtui restore" in caught.value.hint and f"application_id={mark}" in caught.value.hint
    with closing(apsw.Connection(str(place))) as connection:
        connection.pragma("application_id", mark)
    with Memory.open(place, options=OPTIONS) as memory:
        assert memory.files.check(deep=True).ok


def test_another_memory_is_imported_when_it_is_named_itself(tmp_path: Path) -> None:
    folder = tmp_path / "others"
    folder.mkdir()
    other = made(folder / "other.db")
    with Memory.open(tmp_path / "memory.db", options=OPTIONS) as memory:
        with pytest.raises(InputError, match="a memory of memtui"):
            memory.files.import_paths([folder])
        assert memory.files.import_paths([other]).imported
        assert memory.stats().active == 1
