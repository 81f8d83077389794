"""The caps: files built to exhaust memory or time are cut short, and what is good in them is kept."""

from __future__ import annotations

import json
import tracemalloc
import zipfile
from pathlib import Path

import pytest
from import_samples import claude, conversation, ignored, jsonl, message, read, reasons, words
from memtui.engine.errors import InputError
from memtui.engine.importers import counters
from memtui.engine.importers.counters import OccurrenceCounter
from memtui.engine.importers.detect import find_sources
from memtui.engine.importers.limits import MIB, ImportLimits
from memtui.engine.importers.registry import get_format
from memtui.engine.importers.stream import SourceOpener
from memtui.engine.records import Turn


def test_a_one_megabyte_line_is_fine_and_a_64_megabyte_line_is_skipped(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path / "s.jsonl",
        [
            {"role": "user", "content": "a" * MIB},
            b'{"role": "user", "content": "' + b"b" * (64 * MIB) + b'"}',
            {"role": "user", "content": "after"},
        ],
    )
    turns, skips = read(path)
    assert [len(turn.content) for turn in turns] == [MIB, 5]
    assert reasons(skips) == ["line longer than 32 MB"]
    assert skips[0].place == f"{path}:2"


def test_a_huge_conversation_is_skipped_and_the_next_is_read(tmp_path: Path) -> None:
    limits = ImportLimits(item=MIB)
    talks = [
        conversation("big", [message("user", "x" * (3 * MIB))]),
        conversation("many", [message("user", "y" * 1000) for _ in range(1500)]),
        conversation("small", [message("user", "kept")]),
    ]
    path = tmp_path / "x.json"
    path.write_text(json.dumps(talks))
    turns, skips = read(path, "chatgpt", limits)
    assert words(turns) == ["kept"]
    assert [skip.reason for skip in skips] == ["larger than 1 MB"] * 2


@pytest.mark.parametrize("opening", [b"[", b'{"mapping":', b'[{"mapping":{"a":', b'{"parent":['])
def test_deep_nesting_is_skipped(tmp_path: Path, opening: bytes) -> None:
    good = json.dumps(conversation("c", [message("user", "kept")])).encode()
    path = tmp_path / "x.json"
    path.write_bytes(b"[" + good + b"," + opening * 300_000 + b"\n")
    turns, skips = read(path)
    assert words(turns) == ["kept"]
    assert reasons(skips) == ["nested too deeply"]


def test_a_zip_bomb_is_refused_before_it_unpacks(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    block = b'{"role": "user", "content": "' + b"0" * (MIB - 32) + b'"}\n'
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("bomb.jsonl", "w") as member:
            for _ in range(100):
                member.write(block)
        archive.writestr("good.jsonl", '{"role": "user", "content": "kept"}')
    found = find_sources([path])
    assert [source.source.member for source in found.sources] == ["good.jsonl"]
    assert ignored(found) == {"unpacks to more than 200 times its size": 1}


def test_members_that_lie_about_their_size_do_not_unpack_further(tmp_path: Path) -> None:
    path = tmp_path / "liar.zip"
    line = b'{"role": "user", "content": "words"}\n'
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.jsonl", line * 100_000)
    raw = path.read_bytes()
    size = (len(line) * 100_000).to_bytes(4, "little")
    assert raw.count(size) == 2
    path.write_bytes(raw.replace(size, (len(line) * 10_000).to_bytes(4, "little")))
    turns, skips = read(path)
    assert len(turns) <= 10_000
    assert reasons(skips) == ["the rest of the file cannot be read"]


def test_shared_bytes_count_as_often_as_they_are_used(tmp_path: Path) -> None:
    """Members that overlap in the archive: each within the ratio, all together far beyond it."""
    limits = ImportLimits(ratio=3, ratio_from=1000)
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x.jsonl", '{"role": "user", "content": "hi"}\n' * 300)
        archive.filelist.extend(archive.filelist * 999)
    found = find_sources([path], limits=limits)
    assert ignored(found) == {"unpacks to more than 3 times its size": 982}


def test_a_huge_table_of_contents_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(200):
            archive.writestr(f"{number}.jsonl", "{}")
    with pytest.raises(InputError, match="table of contents is too large"):
        find_sources([path], limits=ImportLimits(directory=1000))


def test_counts_of_files_and_members_are_capped(tmp_path: Path) -> None:
    for number in range(4):
        jsonl(tmp_path / "many" / f"{number}.jsonl", [claude("user", "hi")])
    with pytest.raises(InputError, match="more than 3 files"):
        find_sources([tmp_path / "many"], limits=ImportLimits(files=3))
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        for number in range(4):
            archive.writestr(f"{number}.jsonl", '{"role": "user", "content": "hi"}')
    found = find_sources([tmp_path / "x.zip"], limits=ImportLimits(files=3))
    assert len(found.sources) == 3
    assert ignored(found) == {"more than 3 members in one archive": 1}


def test_a_source_larger_than_the_cap_is_read_up_to_it(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "s.jsonl", [{"role": "user", "content": "x" * 1000}] * 3000)
    turns, skips = read(path, limits=ImportLimits(source=2 * MIB))
    assert 1500 < len(turns) < 3000
    assert reasons(skips) == ["the rest of the file cannot be read"]


def test_a_damaged_member_gives_what_comes_before_the_damage(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("x.jsonl", '{"role": "user", "content": "words"}\n' * 200_000)
    raw = bytearray(path.read_bytes())
    raw[6_000_000] ^= 0xFF
    path.write_bytes(raw)
    turns, skips = read(path)
    assert len(turns) > 100_000
    assert "the rest of the file cannot be read" in reasons(skips)


def long_file(path: Path, kind: str, count: int) -> Path:
    with path.open("wb") as file:
        if kind == "chatgpt":
            file.write(b"[")
            for number in range(count // 20):
                talk = conversation(f"c{number}", [message("user", f"words {number} {n}") for n in range(20)])
                file.write(json.dumps(talk).encode() + b",\n")
        else:
            plain = {"role": "user", "content": "WORDS"}
            sample = claude("user", "WORDS") if kind == "claude-code" else plain
            line = json.dumps(sample | {"uuid": "ID"}).encode() + b"\n"
            for number in range(count):
                file.write(line.replace(b"WORDS", b"words %d" % number).replace(b'"ID"', b'"u%d"' % number))
    return path


def peak_of_reading(path: Path, kind: str, count: int) -> int:
    """Bytes of Python memory at the worst moment."""
    (found,) = find_sources([path]).sources
    assert found.format == kind
    turns = 0
    tracemalloc.start()
    try:
        with SourceOpener() as opener, opener.open(found.source) as stream:
            for record in get_format(kind).read(stream):
                turns += isinstance(record, Turn)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert turns == count
    return peak


@pytest.mark.parametrize("kind", ["claude-code", "jsonl", "chatgpt"])
def test_memory_does_not_grow_with_the_file(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        counters, "_MAX_EXACT_COUNTS", 3_000
    )  # as if what is counted exactly had been many more
    short, long = (
        peak_of_reading(long_file(tmp_path / f"{count}", kind, count), kind, count)
        for count in (4_000, 12_000)
    )
    assert long < 32 * MIB
    assert long - short < MIB // 2


def test_ordinals_count_the_first_keys_and_the_later_ones_alike() -> None:
    ordinals = OccurrenceCounter()
    assert [ordinals.count_before(b"early") for _ in range(3)] == [0, 1, 2]
    assert sum(ordinals.count_before(b"%d" % number) for number in range(50_000)) == 0
    assert [ordinals.count_before(b"late") for _ in range(500)] == list(range(500))
    assert ordinals.count_before(b"early") == 3
    assert ordinals.count_before(b"40000") == 1
