"""Files of every format with hostile records in them: nothing crashes, nothing is silently lost, the good ones come in.

Passes when every record is imported, known already or skipped with a reason, when what is stored can be shown and found,
and when importing again adds nothing. Must fail on: a feed that stops at a bad record, or passes one over in silence.
"""

from __future__ import annotations

import json
import os
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memtui import Memory
from memtui.engine.errors import InputError
from memtui.engine.records import ImportReport, Options
from mutations import CHANGES, FIRST, KINDS, LAST, Change, write

pytestmark = pytest.mark.hostile

OFF = Options(embedder="off", background=False)


def said(memory: Memory) -> list[str]:
    with memory._core.connections.read() as connection:
        return [str(text) for (text,) in connection.execute("SELECT content FROM memories")]


def account(report: ImportReport) -> int:
    return report.imported + report.already_there + report.skipped


@pytest.mark.parametrize("name", KINDS)
def test_hostile_records_stop_nothing_and_none_is_lost_in_silence(
    name: str, sized: Callable[[int], int], tmp_path: Path
) -> None:
    kind = KINDS[name]

    @settings(max_examples=sized(150))
    @given(changes=st.lists(CHANGES, min_size=1, max_size=8))
    def check(changes: list[Change]) -> None:
        path, records = write(tmp_path, kind, changes)
        with Memory.open(":memory:", options=OFF) as memory:
            dry = memory.files.import_paths([path], dry_run=True)
            report = memory.files.import_paths([path])
            assert (report.kinds, report.reasons, report.already_there) == (
                dry.kinds, dry.reasons, dry.already_there,
            )  # fmt: skip
            texts = said(memory)
            for good in (FIRST, LAST):
                assert any(good in text for text in texts)
            if kind.each:
                assert account(report) == records
            else:
                assert account(report) >= records
            for text in texts:
                text.encode()
                assert text.strip()
            again = memory.files.import_paths([path])
            assert (again.imported, again.operation) == (0, None)
            assert account(again) == account(report)
            if report.operation is not None:
                memory.undo(report.operation.op_id)
            assert said(memory) == []

    check()


def test_every_kind_is_recognised_as_itself(tmp_path: Path) -> None:
    for name, kind in KINDS.items():
        path, records = write(tmp_path, kind, [])
        with Memory.open(":memory:", options=OFF) as memory:
            report = memory.files.import_paths([path])
            assert report.formats == (name.split()[0],)
            assert report.imported >= records == 2


def jsonl(path: Path, *texts: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps({"role": "user", "content": text}) + "\n" for text in texts))
    return path


def test_names_in_archives_lead_nowhere_and_nothing_is_unpacked(tmp_path: Path) -> None:
    outside = jsonl(tmp_path / "outside.jsonl", "from outside")
    line = json.dumps({"role": "user", "content": "in the archive"})
    path = tmp_path / "in" / "x.zip"
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w") as archive:
        for name in (
            "../outside.jsonl",
            "/etc/passwd",
            "a/../../b.jsonl",
            "C:\\x.jsonl",
            "\x1b]0;x\x07.jsonl",
            "n\0ul",
        ):
            archive.writestr(
                zipfile.ZipInfo(name), line.replace("archive", repr(name)[1:-1].replace("\\", "/"))
            )
        link = zipfile.ZipInfo("link.jsonl")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, str(outside))
        archive.writestr("folder/", "")
    before = sorted(tmp_path.rglob("*"))
    with Memory.open(":memory:", options=OFF) as memory:
        report = memory.files.import_paths([path])
        assert report.imported == 6
        assert "from outside" not in said(memory)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs there")
def test_pipes_loops_links_and_devices_in_a_folder_are_passed_over(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    jsonl(folder / "deep" / "a.jsonl", "the only one")
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "loop").symlink_to(folder)
    (folder / "itself.jsonl").symlink_to(folder / "itself.jsonl")
    (folder / "zero.jsonl").symlink_to("/dev/zero")
    (folder / "nowhere.jsonl").symlink_to(tmp_path / "nowhere")
    (folder / "again.jsonl").symlink_to(folder / "deep" / "a.jsonl")
    with Memory.open(":memory:", options=OFF) as memory:
        report = memory.files.import_paths([folder])
        assert said(memory) == ["the only one"]
        assert any("not a file" in warning for warning in report.warnings)


@pytest.mark.parametrize(
    "encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252", "utf-8-sig", "latin-1"]
)
def test_other_encodings_are_read_or_refused_with_a_reason(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    line = json.dumps({"role": "user", "content": "grüße aus köln"}, ensure_ascii=False) + "\n"
    path.write_bytes((line * 2).encode(encoding))
    with Memory.open(":memory:", options=OFF) as memory:
        try:
            report = memory.files.import_paths([path])
        except InputError as error:
            assert "UTF-8" in error.message
            assert said(memory) == []
        else:
            assert account(report) == 2
            assert all(text.startswith("gr") for text in said(memory))


def test_ids_that_are_there_twice_bring_one_and_the_other_is_told(tmp_path: Path) -> None:
    for name, kind in KINDS.items():
        if kind.table:
            continue
        record = kind.record("one and the same", 1)
        raw = json.dumps([record, record]) if kind.array else f"{json.dumps(record)}\n" * 2
        path = tmp_path / "x"
        path.write_text(raw)
        with Memory.open(":memory:", options=OFF) as memory:
            report = memory.files.import_paths([path])
            assert account(report) >= 2, name
            assert len(said(memory)) in ((2,) if name in ("codex", "chatgpt", "langchain") else (1,)), name
