"""What the complete export holds and leaves out, where it may be written, and what its import puts up with."""

from __future__ import annotations

import errno
import io
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from memtui import Memory
from memtui.engine.errors import DiskFullError, FilterError, InputError
from memtui.engine.records import Options

OPTIONS = Options(background=False, embedder="off", allow_unsafe_fs=True)
NOW = 1_760_000_000.0


def opened(path: Path) -> Memory:
    return Memory.open(path, clock=lambda: NOW, options=OPTIONS)


@pytest.fixture
def memory(place: Path) -> Any:
    with opened(place) as memory:
        memory.record_turn("harbour", "user", "Ada Lovelace takes the ferry to Lisbon")
        memory.record_turn("kitchen", "user", "Grace Hopper cooks rice")
        memory.remember("Prefers trains over flights", tags=["travel"])
        memory.forget(memory.remember("Owns a blue car").id)
        memory.scratchpad.set("plan", "call the harbour")
        memory.models.index_pending()
        yield memory


def lines(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.splitlines()]


def streamed(memory: Memory, **options: Any) -> list[dict[str, Any]]:
    stream = io.BytesIO()
    memory.files.export(stream, **options)
    return lines(stream.getvalue())


def of(kind: str, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [line for line in found if line["line"] == kind]


def test_everything_is_in_it_and_the_header_says_what(memory: Memory) -> None:
    found = streamed(memory)
    header, end = found[0], found[-1]
    assert header["format"] == "memtui-export" and header["version"] == 1
    assert {line["line"] for line in found} <= header["lines"].keys()
    for kind, number in header["counts"].items():
        assert len(of(kind, found)) == number, kind
    assert end["lines"] == len(found) - 1 and end["content_hash"] == memory.files.content_hash()
    assert [line["content"] for line in of("memory", found) if line.get("ended_by") == "forgotten"] == [
        "Owns a blue car"
    ]
    assert not of("operation", found)


def test_history_comes_along_when_asked_for(memory: Memory) -> None:
    found = streamed(memory, history=True)
    assert len(of("operation", found)) == len(memory.view.operations(limit=1_000))
    gone = [line for line in of("change", found) if line["act"] == "update"]
    assert gone[0]["id"].startswith("fact_") and gone[0]["after"]["ended_by"] == "forgotten"


def test_a_filter_leaves_out_everything_else(memory: Memory) -> None:
    found = streamed(memory, filter="session:harbour", history=True)
    assert [line["content"] for line in of("memory", found)] == ["Ada Lovelace takes the ferry to Lisbon"]
    assert [line["session_id"] for line in of("session", found)] == ["harbour"]
    told = json.dumps(found[1:])
    assert "Ada" in told
    assert not any(word in told for word in ("Grace", "rice", "trains", "car", "call the harbour"))
    with pytest.raises(FilterError):
        streamed(memory, filter="kind:nonsense")


def test_an_import_into_another_memory_adds_what_it_lacks_and_is_undone_at_once(
    memory: Memory, tmp_path: Path
) -> None:
    memory.files.export(tmp_path / "all.jsonl")
    with opened(tmp_path / "other.db") as other:
        own = other.remember("Ada Lovelace plays the violin")
        other.models.index_pending()
        before, ada = other.files.content_hash(), other.entities.get("Ada Lovelace").entity.id
        dry = other.files.import_paths([tmp_path / "all.jsonl"], dry_run=True)
        came = other.files.import_paths([tmp_path / "all.jsonl"])
        assert came.kinds == dry.kinds and came.kinds["turn"] == came.kinds["fact"] == 2
        assert other.get(own.id).content == own.content
        other.models.index_pending()
        assert other.entities.get("Ada Lovelace").entity.id == ada, "one name, one entity"
        assert other.entities.get("Ada Lovelace").entity.mention_count == 2
        assert other.files.check(deep=True).ok
        assert came.operation is not None
        other.undo(came.operation.op_id)
        assert other.files.content_hash() == before


def test_turns_from_the_same_source_are_not_doubled(tmp_path: Path) -> None:
    (tmp_path / "talk.jsonl").write_text('{"role": "user", "content": "Tea, please", "id": "1"}\n')
    with opened(tmp_path / "a.db") as first, opened(tmp_path / "b.db") as second:
        for memory in (first, second):
            memory.files.import_paths([tmp_path / "talk.jsonl"])
        turn = first.view.page("")[0]
        fact = first.remember("Drinks tea")
        with first._core.operation("test", "test") as op:
            op.connection.execute(
                "UPDATE memories SET source_ids = json_array(?) WHERE id = ?", (turn.id, fact.id)
            )
        first.files.export(tmp_path / "all.jsonl")
        report = second.files.import_paths([tmp_path / "all.jsonl"])
        assert report.kinds == {"fact": 1} and second.view.count("kind:episode") == 1
        assert second.get(fact.id).source_ids == (second.view.page("kind:episode")[0].id,)


def test_how_far_a_session_was_read_comes_along(memory: Memory, tmp_path: Path) -> None:
    with memory._core.operation("test", "test") as op:
        op.connection.execute(
            "UPDATE sessions_consolidations SET consolidated_at = 1, consolidated_through = 1 WHERE session_id = 'harbour'"
        )
    memory.files.export(tmp_path / "all.jsonl")
    with opened(tmp_path / "other.db") as other:
        other.remember("takes the first number")
        other.files.import_paths([tmp_path / "all.jsonl"])
        assert [session.session_id for session in other.pending_sessions()] == ["kitchen"]


def test_the_file_is_its_owners_alone_and_never_replaces_another(memory: Memory, tmp_path: Path) -> None:
    target = tmp_path / "all.jsonl"
    memory.files.export(target)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    before = target.read_bytes()
    with pytest.raises(InputError, match="already exists"):
        memory.files.export(target)
    memory.remember("Something new")
    assert target.read_bytes() == before
    memory.files.export(target, force=True)
    assert target.read_bytes() != before
    (tmp_path / "link").symlink_to(target)
    for bad in (tmp_path / "link", tmp_path, tmp_path / "no" / "such.jsonl", memory.path):
        assert bad is not None
        with pytest.raises(InputError):
            memory.files.export(bad, force=True)
    assert sorted(path.name for path in tmp_path.glob(".memtui-*")) == []
    assert memory.files.check(deep=True).ok


def test_a_cancelled_or_failed_export_leaves_nothing(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(600):
        memory.scratchpad.set(f"key {number}", "text")
    there = sorted(os.listdir(tmp_path))  # noqa: PTH208
    assert memory.files.export(tmp_path / "a.jsonl", cancelled=lambda: True).cancelled

    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.files.export(tmp_path / "a.jsonl", progress=interrupted)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskFullError, match=r"a\.jsonl .* MB free"):
        memory.files.export(tmp_path / "a.jsonl")
    assert sorted(os.listdir(tmp_path)) == there  # noqa: PTH208


def test_broken_and_hostile_lines_stop_nothing(memory: Memory, tmp_path: Path) -> None:
    stream = io.BytesIO()
    memory.files.export(stream)
    good = stream.getvalue().splitlines()
    fact = next(json.loads(line) for line in good if b'"kind":"fact"' in line)
    bad = [
        fact | {"id": "fact_aaaaaaaaaaaa", "confidence": 7},
        fact | {"id": "fact_bbbbbbbbbbbb", "event_time": 10**17},
        fact | {"id": "ep_cccccccccccc"},
        fact | {"id": "fact_dddddddddddd", "tags": {"not": "a list"}},
        fact | {"id": "fact_eeeeeeeeeeee", "ended_by": "forgotten"},
        fact | {"id": "fact_ffffffffffff", "attributes": [1]},
        {
            "line": "decision",
            "decision": "link",
            "at": 1,
            "actor": "person",
            "memory": "ep_x",
            "entity": "ent_x",
        },
        {"line": "profile", "name": "p", "settings": 3},
        {"line": "surprise"},
        {"line": 7},
    ]
    broken = [json.dumps(line).encode() for line in bad] + [b"{", b"\xff\xfe", b"[]"]
    (tmp_path / "bad.jsonl").write_bytes(b"\n".join([*good[:-1], *broken]))
    with opened(tmp_path / "other.db") as other:
        report = other.files.import_paths([tmp_path / "bad.jsonl"])
        assert report.kinds["turn"] == report.kinds["fact"] == 2
        assert report.skipped == len(broken), report.reasons
        assert any("no end line" in warning for warning in report.warnings)
        assert other.files.check(deep=True).ok


def test_a_file_of_a_newer_version_is_not_half_read(memory: Memory, tmp_path: Path) -> None:
    stream = io.BytesIO()
    memory.files.export(stream)
    (tmp_path / "new.jsonl").write_bytes(stream.getvalue().replace(b'"version":1', b'"version":2', 1))
    with opened(tmp_path / "other.db") as other:
        with pytest.raises(InputError, match="written by a newer memtui"):
            other.files.import_paths([tmp_path / "new.jsonl"])
        assert other.stats().active == 0
