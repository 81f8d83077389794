"""Generic JSONL: names of fields, times, identities, trust."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from import_samples import jsonl, read, read_with_warnings, reasons, words


def line(**fields: Any) -> dict[str, Any]:
    return {"role": "user", "content": "I moved to Porto."} | fields


def test_a_full_line_becomes_a_turn(tmp_path: Path) -> None:
    given = line(session_id="s1", time=1700000000.5, id="m1", title="A talk", project="move")
    (turn,), _ = read(jsonl(tmp_path / "x.jsonl", [given]))
    assert turn.session_id == "s1"
    assert turn.source_key == "jsonl:s1:m1"
    assert turn.source == "import:jsonl"
    assert turn.event_time == 1700000000.5
    assert turn.session_title == "A talk"
    assert turn.project == "move"
    assert turn.trust == "user"


def test_a_session_and_a_time_within_an_object_are_read(tmp_path: Path) -> None:
    given = line(sessionID="s1", time={"created": 1740000000000, "completed": 1740000001000})
    (turn,), _, warnings = read_with_warnings(jsonl(tmp_path / "x.jsonl", [given]))
    assert (turn.session_id, turn.event_time, warnings) == ("s1", 1740000000.0, {})


def test_without_a_session_the_file_is_the_session(tmp_path: Path) -> None:
    (turn,), _ = read(jsonl(tmp_path / "diary of may.txt", [line()]))
    assert turn.session_id == "jsonl:diary of may"


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        ("2026-03-04T10:15:30.250Z", 1772619330.25),
        ("2026-03-04T10:15:30.250123456Z", 1772619330.250123),
        ("2026-03-04T12:15:30+02:00", 1772619330.0),
        ("2026-03-04T10:15:30", 1772619330.0),
        ("2026-03-04", 1772582400.0),
        (1772619330, 1772619330.0),
        (1772619330.25, 1772619330.25),
        (1772619330250, 1772619330.25),
        (1772619330250000, 1772619330.25),
        ("1772619330250", 1772619330.25),
        ("1772619330.25", 1772619330.25),
        (-86400, -86400.0),
        (None, None),
        ("", None),
    ],
)
@pytest.mark.parametrize("name", ["time", "timestamp", "created_at"])
def test_times_are_recognised(tmp_path: Path, name: str, given: Any, seconds: float | None) -> None:
    (turn,), skips, warnings = read_with_warnings(jsonl(tmp_path / "x.jsonl", [line(**{name: given})]))
    assert turn.event_time == (pytest.approx(seconds, abs=1e-5) if seconds is not None else None)
    assert skips == []
    assert warnings == {}


@pytest.mark.parametrize(
    "given",
    [
        "yesterday",
        True,
        [],
        {},
        "9999-99-99",
        1e300,
        99_999_999_999_999,
        "5138-11-16T09:46:39Z",
        "0001-01-01T00:00:00+23:00",
    ],
)
def test_an_unusable_time_keeps_the_words_and_warns(tmp_path: Path, given: Any) -> None:
    (turn,), _, warnings = read_with_warnings(jsonl(tmp_path / "x.jsonl", [line(time=given)]))
    assert turn.event_time is None
    assert warnings == {"unusable time ignored": 1}


def test_identical_lines_are_told_apart_and_found_again(tmp_path: Path) -> None:
    lines = [line(content="ok"), line(content="fine"), line(content="ok"), line(content="ok")]
    path = jsonl(tmp_path / "x.jsonl", lines)
    keys = [turn.source_key for turn in read(path)[0]]
    assert len(set(keys)) == 4
    jsonl(path, [*lines, line(content="new")])
    assert [turn.source_key for turn in read(path)[0]][:4] == keys


@pytest.mark.parametrize("other", [{"session_id": "b"}, {"role": "assistant"}, {"content": "x"}, {"time": 7}])
def test_session_role_content_and_time_are_the_identity(tmp_path: Path, other: dict[str, Any]) -> None:
    turns, _ = read(jsonl(tmp_path / "x.jsonl", [line(session_id="a"), line(session_id="a") | other]))
    assert "#" not in turns[1].source_key
    assert turns[0].source_key != turns[1].source_key


def test_the_same_id_in_two_sessions_is_two_turns(tmp_path: Path) -> None:
    turns, _ = read(jsonl(tmp_path / "x.jsonl", [line(session="a", id=1), line(session="b", id=1)]))
    assert len({turn.source_key for turn in turns}) == 2


@pytest.mark.parametrize(
    ("role", "trust"),
    [
        ("user", "user"),
        ("Human", "user"),
        ("assistant", "agent"),
        ("asistant", "agent"),
        ("tool", "tool"),
        ("Aunt Vera", "tool"),
    ],
)
def test_trust_follows_from_the_role_and_the_role_is_kept(tmp_path: Path, role: str, trust: str) -> None:
    (turn,), _ = read(jsonl(tmp_path / "x.jsonl", [line(role=role)]))
    assert turn.role == role
    assert turn.trust == trust


def test_blocks_are_joined_and_lines_without_words_are_passed_over(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path / "x.jsonl",
        [
            line(content=[{"type": "input_text", "text": "one"}, {"type": "image"}, "two"]),
            line(content="   \n"),
            line(content=7),
            line(role=None),
            line(role="system", content="Be nice."),
            b"",
            b"   ",
            {"content": "who said this?"},
        ],
    )
    turns, skips = read(path)
    assert words(turns) == ["one\n\ntwo"]
    assert reasons(skips) == ["hidden or system text", "no role", "no text in it"]
    assert len(skips) == 5


def test_a_byte_order_mark_and_bad_bytes_are_survived(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path / "x.jsonl",
        [b'\xef\xbb\xbf{"role": "user", "content": "caf\xe9"}', b'{"role": "user", "content": "\\ud83d!"}'],
    )
    turns, skips, warnings = read_with_warnings(path)
    assert words(turns) == ["caf\ufffd", "\ufffd!"]
    assert skips == []
    assert warnings == {"invalid UTF-8 replaced": 1, "half a character replaced": 1}
