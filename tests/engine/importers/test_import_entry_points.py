"""Formats of other packages: found through their entry points; a broken one is named and stops nothing."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from memtui import Memory
from memtui.engine.errors import InputError
from memtui.engine.importers import registry
from memtui.engine.records import Options

DIARY = """
from memtui.engine.records import Turn

name = "diary"
label = "Diary"


def sniff(head):
    return head.raw.startswith(b"Dear diary")


def read(stream):
    for number, line in enumerate(stream.lines()):
        if line == b"boom":
            raise KeyError("boom")
        if line == b"odd":
            yield 7
            continue
        yield Turn(session_id="diary:1", role="user", content=line.decode(), source_key=f"diary:{number}",
                   source="import:diary")
"""


RECORD = (
    DIARY.replace('name = "diary"\nlabel = "Diary"\n', "")
    + """

from memtui.engine.importers.base import Format

FORMAT = Format("diary", "Diary", sniff, read)
"""
)


def package(folder: Path, name: str, code: str, object: str = "") -> None:
    (folder / f"{name}.py").write_text(code)
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[memtui.importers]\n{name} = {name}{object}\n")


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "packages"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    registry._package_formats.cache_clear()
    yield folder
    for file in folder.glob("*.py"):
        sys.modules.pop(file.stem, None)
    registry._package_formats.cache_clear()


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory.open(":memory:", options=Options(background=False, embedder="off")) as memory:
        yield memory


@pytest.mark.parametrize(("code", "object"), [(DIARY, ""), (RECORD, ":FORMAT")], ids=["module", "record"])
def test_a_package_brings_a_format(
    packages: Path, memory: Memory, tmp_path: Path, code: str, object: str
) -> None:
    package(packages, "diary_of_others", code, object)
    path = tmp_path / "d.txt"
    path.write_text("Dear diary\nodd\nToday it rained\n")
    report = memory.files.import_paths([path])
    assert (report.imported, report.formats, report.reasons) == (2, ("diary",), {"not a message": 1})
    assert report.operation is not None
    assert report.operation.label == "Imported 2 turns from Diary"
    assert memory.files.import_paths([path], format="diary").already_there == 2


def test_one_that_fails_while_it_reads_loses_nothing_before(
    packages: Path, memory: Memory, tmp_path: Path
) -> None:
    package(packages, "diary_that_fails", DIARY)
    path = tmp_path / "d.txt"
    path.write_text("Dear diary\nboom\nlost\n")
    report = memory.files.import_paths([path])
    assert (report.imported, report.reasons) == (1, {"the format diary failed (KeyError)": 1})


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("import nothing_like_it", "ModuleNotFoundError"),
        ("raise RuntimeError('no')", "RuntimeError"),
        ("name = 'odd'", "AttributeError"),
        (DIARY.replace('"diary"', '"chatgpt"'), "there is a format chatgpt already"),
        (DIARY.replace("return head", "return 1 / 0 or head"), "ZeroDivisionError"),
    ],
    ids=["needs what is missing", "raises", "offers too little", "has a name in use", "cannot look"],
)
def test_a_broken_one_is_named_and_skipped(
    packages: Path, memory: Memory, tmp_path: Path, code: str, told: str
) -> None:
    package(packages, "broken", code)
    path = tmp_path / "x.jsonl"
    path.write_text("Dear diary\n")
    with pytest.raises(InputError):
        memory.files.import_paths([path])
    path.write_text(json.dumps([{"role": "user", "content": "words"}]))
    report = memory.files.import_paths([path])
    assert report.imported == 1
    assert sum(told in warning for warning in report.warnings) == 1
