"""Session files packed with zstandard: read like plain ones, capped while unpacking, told what is missing."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from import_samples import ignored, read, reasons, words
from memtui import Memory
from memtui.engine.errors import InputError
from memtui.engine.importers import compression
from memtui.engine.importers.detect import find_sources
from memtui.engine.importers.limits import MIB, ImportLimits
from memtui.engine.records import Options

NAME = "rollout-2026-03-04T10-15-30-019a2d7a-41c4-78b1-b7cc-a45d62a89cd5.jsonl"


@pytest.fixture
def zstd() -> Any:
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return import_module(name)
        except ImportError:
            continue
    pytest.skip("needs Python 3.14 or backports.zstd")


def rollout(*texts: str) -> bytes:
    records = [
        {
            "timestamp": "2026-03-04T10:15:30Z",
            "type": "event_msg",
            "payload": {"type": "user_message", "message": said},
        }
        for said in texts
    ]
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def test_a_packed_rollout_is_read_and_its_plain_copy_adds_nothing(zstd: Any, tmp_path: Path) -> None:
    path = tmp_path / "in" / f"{NAME}.zst"
    path.parent.mkdir()
    path.write_bytes(zstd.compress(rollout("one", "two")))
    options = Options(background=False, embedder="off")
    with Memory.open(tmp_path / "m" / "memory.db", options=options) as memory:
        report = memory.files.import_paths([path])
        assert (report.imported, report.formats) == (2, ("codex",))
        assert memory.files.import_paths([path]).imported == 0
        path.with_suffix("").write_bytes(rollout("one", "two", "three"))
        report = memory.files.import_paths([path.parent])
        assert (report.imported, report.already_there, report.files) == (1, 2, 1)
        assert report.warnings == (f"1 file left out: packed copy of a file beside it ({path.name})",)


def test_several_frames_are_one_file_and_the_session_is_the_names(zstd: Any, tmp_path: Path) -> None:
    path = tmp_path / f"{NAME}.zst"
    path.write_bytes(zstd.compress(rollout("one")) + zstd.compress(rollout("two")))
    turns, _ = read(path)
    assert words(turns) == ["one", "two"]
    assert turns[0].session_id == "codex:019a2d7a-41c4-78b1-b7cc-a45d62a89cd5"


def test_a_file_that_is_cut_off_or_damaged_gives_what_came_before(zstd: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl.zst"
    texts = [f"{number} {hash(str(number))}" for number in range(60_000)]
    whole = zstd.compress(rollout(*texts))
    path.write_bytes(whole[: len(whole) // 2])
    turns, skips = read(path)
    assert 0 < len(turns) < 60_000
    assert reasons(skips)[-1] == "the rest of the file cannot be read"
    path.write_bytes(whole[:-2000] + b"\0" * 2000)
    turns, skips = read(path)
    assert 0 < len(turns) < 60_000
    assert reasons(skips)[-1] == "the rest of the file cannot be read"
    path.write_bytes(compression.MAGIC + b"\xff" * 100)
    with pytest.raises(InputError, match="cannot be read"):
        find_sources([path])


def test_what_unpacks_to_far_more_than_its_size_is_cut_short(zstd: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl.zst"
    path.write_bytes(zstd.compress(rollout("first") + rollout("x" * 1000) * (20 * MIB // 1000)))
    assert path.stat().st_size < 100_000
    turns, skips = read(path, limits=ImportLimits(ratio=20, ratio_from=2 * MIB))
    assert turns[0].content == "first"
    assert len(turns) < 4000
    assert reasons(skips) == ["the rest of the file cannot be read"]
    assert "more than 20 times" in skips[0].place


def test_a_window_of_gigabytes_is_refused(zstd: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl.zst"
    # A frame header without a size that asks for a window of 2 GiB (exponent 21), and one raw block.
    path.write_bytes(compression.MAGIC + bytes([0x00, 21 << 3]) + bytes([0x09, 0x00, 0x00]) + b"x")
    with pytest.raises(InputError, match="cannot be read"):
        find_sources([path])


def test_without_an_unpacker_the_way_to_get_one_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    monkeypatch.setitem(sys.modules, "backports.zstd", None)
    path = tmp_path / f"{NAME}.zst"
    path.write_bytes(compression.MAGIC + b"\0" * 20)
    with pytest.raises(InputError) as caught:
        find_sources([path])
    assert "backports.zstd, then import" in caught.value.hint
    (tmp_path / NAME).with_name("other.jsonl").write_bytes(rollout("plain"))
    assert ignored(find_sources([tmp_path])) == {compression.NEEDS: 1}
