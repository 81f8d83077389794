"""Whatever a file holds: looking raises InputError or nothing, reading raises nothing, good lines survive."""

from __future__ import annotations

import json
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from import_samples import claude, conversation, message, read
from memtui.engine.errors import InputError
from memtui.engine.importers import json_items
from memtui.engine.importers.formats import claude_code_wrappers
from memtui.engine.importers.limits import LIMITS
from memtui.engine.importers.registry import BUILT_IN
from memtui.engine.records import Skip, Turn

from sizes import examples

KEYS = st.sampled_from(
    [
        "type",
        "uuid",
        "sessionId",
        "message",
        "content",
        "role",
        "text",
        "mapping",
        "parent",
        "id",
        "author",
        "parts",
        "timestamp",
        "time",
        "session_id",
        "cwd",
        "isSidechain",
        "agentId",
        "current_node",
        "create_time",
        "title",
        "attachment",
        "prompt",
        "origin",
        "metadata",
        "recipient",
        "summary",
        "leafUuid",
        "content_type",
        "payload",
        "chat_messages",
        "messages",
        "sender",
        "data",
        "name",
    ]
)
WORDS = ["user", "assistant", "text", "all", "queued_command", "\ud800", "\0", "2026-01-01T00:00Z"]
LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.sampled_from(WORDS)
)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=20,
)
GOOD: dict[str, Any] = {
    "claude-code": claude("user", "the good line"),
    "codex": {
        "timestamp": "2026-03-04T10:15:30Z",
        "type": "event_msg",
        "payload": {"type": "user_message", "message": "the good line"},
    },
    "jsonl": {"role": "user", "content": "the good line"},
    "claude-ai": {"uuid": "c", "chat_messages": [{"sender": "human", "text": "the good line"}]},
    "langchain": {"type": "human", "data": {"content": "the good line"}},
}
RECORDS = st.dictionaries(KEYS, JSON, max_size=8)


def read_bytes(raw: bytes, format: str | None) -> tuple[list[Turn], list[Skip]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x")
        path.write_bytes(raw)
        return read(path, format)


def sound(turns: list[Turn]) -> None:
    for turn in turns:
        turn.content.encode()
        turn.session_id.encode()
        turn.source_key.encode()
        (turn.session_title or "").encode()
        assert turn.content.strip()
        assert len(turn.session_id) < 500
        assert len(turn.source_key) < 500


@settings(max_examples=examples(60), deadline=None)
@given(raw=st.binary(max_size=300), format=st.sampled_from([None, *(feed.name for feed in BUILT_IN)]))
def test_random_bytes_raise_nothing_but_input_errors(raw: bytes, format: str | None) -> None:
    for prefix in (b"", b"{", b"[", b"PK\x03\x04"):
        with suppress(InputError):
            sound(read_bytes(prefix + raw, format)[0])


@settings(max_examples=examples(60), deadline=None)
@given(records=st.lists(RECORDS, max_size=5), format=st.sampled_from(["claude-code", "codex", "jsonl"]))
def test_random_records_never_stop_a_file_of_lines(records: list[Any], format: str) -> None:
    good = GOOD[format]
    lines = [json.dumps(record) for record in [good, *records, good]]
    turns, _ = read_bytes("\n".join(lines).encode(), format)
    sound(turns)
    assert [turn.content for turn in (turns[0], turns[-1])] == ["the good line"] * 2


@settings(max_examples=examples(60), deadline=None)
@given(odd=st.lists(RECORDS, max_size=3), nodes=st.dictionaries(st.sampled_from("abc"), JSON, max_size=3))
def test_random_records_never_stop_an_export(odd: list[Any], nodes: dict[str, Any]) -> None:
    good = conversation("good", [message("user", "the good line")])
    bent = conversation("bent", [message("user", "x"), message("assistant", "y")])
    bent["mapping"].update(nodes)
    bent["current_node"] = "a"
    turns, _ = read_bytes(json.dumps([good, *odd, bent, good]).encode(), None)
    sound(turns)
    assert [turn.content for turn in (turns[0], turns[-1])] == ["the good line"] * 2


@settings(max_examples=examples(60), deadline=None)
@given(records=st.lists(RECORDS, max_size=5), format=st.sampled_from(["claude-ai", "langchain"]))
def test_random_records_never_stop_an_array(records: list[Any], format: str) -> None:
    good = GOOD[format]
    turns, _ = read_bytes(json.dumps([good, *records, good]).encode(), format)
    sound(turns)
    assert [turn.content for turn in (turns[0], turns[-1])] == ["the good line"] * 2


@settings(max_examples=examples(60), deadline=None)
@given(
    values=st.lists(
        st.lists(JSON, max_size=3) | st.dictionaries(st.text(max_size=3), JSON, max_size=3), max_size=5
    ),
    size=st.integers(1, 40),
)
def test_an_array_is_cut_into_its_elements_wherever_the_chunks_end(values: list[Any], size: int) -> None:
    raw = json.dumps(values).encode()
    chunks = [raw[start : start + size] for start in range(0, len(raw), size)]
    cut = [json.loads(item) for item in json_items.split(chunks, LIMITS) if isinstance(item, bytes)]
    assert json.dumps(cut) == json.dumps(values)


@settings(max_examples=examples(60), deadline=None)
@given(raw=st.binary(max_size=60), size=st.integers(1, 9))
def test_cutting_any_bytes_gives_the_same_in_any_chunks(raw: bytes, size: int) -> None:
    mixed = bytes(b'[{"\\}],x'[byte % 8] for byte in raw)
    chunks = [mixed[start : start + size] for start in range(0, len(mixed), size)]
    assert list(json_items.split(chunks, LIMITS)) == list(json_items.split([mixed], LIMITS))


@given(st.text(alphabet="<>/-systemrindcoahk x", max_size=200))
def test_any_text_can_be_stripped(said: str) -> None:
    assert len(claude_code_wrappers.own_words(said)) <= len(said)


@pytest.mark.parametrize("piece", ["<system-reminder>", "<a-hook>", "<command-args>x", "<" + "a-" * 50])
def test_stripping_is_linear_in_the_length_of_the_text(piece: str) -> None:
    said = piece * (4_000_000 // len(piece))
    started = time.thread_time()
    assert claude_code_wrappers.own_words(said) == said
    assert time.thread_time() - started < 15  # a second; if every opening tag were searched for, minutes
