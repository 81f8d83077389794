"""Valid files of every import format, and what a hostile hand may do to the records in their middle."""

from __future__ import annotations

import copy
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import strategies as st
from payloads import HOSTILE

FIRST, LAST = "the first good words", "the last good words"
_DEEP: Any = []
for _ in range(400):
    _DEEP = [_DEEP]
ODD: list[Any] = [
    None, True, False, 0, -1, 2**63, -(2**200), 1e308, float("nan"), float("inf"), "", " ", [], {}, [None], {"": None},
    [[[]]], {"a": {"a": {"a": 1}}}, _DEEP, "9" * 400, "2026-99-99T99:99:99Z", "-99999-01-01", "x" * 5_000,
    ["text", {"type": "text", "text": 7}], {"type": "text", "text": None}, "../../../etc/passwd", *HOSTILE,
]  # fmt: skip
# What may be done to the bytes of a record.
SCARS: list[Callable[[bytes], bytes]] = [
    lambda raw: raw[: len(raw) // 2],
    lambda raw: raw[::-1],
    lambda raw: raw + raw,
    lambda raw: raw.replace(b'"', b"'"),
    lambda raw: raw[:9] + b"\xff\xfe\x80" + raw[9:],
    lambda raw: raw[:9] + b"\x1b[2J\x9b" + raw[9:],
    lambda raw: raw.replace(b":", b"\0:", 1),
    lambda raw: b"\xef\xbb\xbf" + raw,
    lambda raw: raw.replace(b"{", b"{" * 300, 1),
    lambda raw: json.dumps(raw.decode(errors="replace")).encode(),
    lambda raw: b"0",
]


class Kind(NamedTuple):
    """One format: what a record that says a text looks like, and how records become a file.

    ``each``: every record is exactly one outcome. ``table``: they are rows of an SQLite file.
    """

    record: Callable[[str, int], dict[str, Any]]
    array: bool = False
    each: bool = True
    table: str = ""


def _claude_code(text: str, number: int) -> dict[str, Any]:
    return {
        "type": "user", "uuid": f"u{number}", "parentUuid": None, "sessionId": "s", "cwd": "/home/ada/pond",
        "timestamp": "2026-03-04T10:15:30Z", "isSidechain": False,
        "message": {"role": "user", "content": [{"type": "text", "text": text}]},
    }  # fmt: skip


def _chatgpt(text: str, number: int) -> dict[str, Any]:
    def node(name: str, parent: str | None) -> dict[str, Any]:
        said = {
            "id": name, "author": {"role": "user"}, "create_time": 1.7e9, "recipient": "all", "metadata": {},
            "content": {"content_type": "text", "parts": [f"{text} {name}" if parent is None else text]},
        }  # fmt: skip
        return {"id": name, "parent": parent, "children": [], "message": said}

    one, two = f"n{number}", f"m{number}"
    return {
        "id": f"c{number}", "title": "Ponds", "create_time": 1.7e9, "current_node": two,
        "mapping": {one: node(one, None), two: node(two, one)},
    }  # fmt: skip


def _codex(text: str, number: int) -> dict[str, Any]:
    payload = {"type": "user_message", "message": text}
    return {"timestamp": f"2026-03-04T10:15:{number % 60:02d}Z", "type": "event_msg", "payload": payload}


def _claude_ai(text: str, number: int) -> dict[str, Any]:
    said = {"uuid": f"m{number}", "sender": "human", "text": text, "created_at": "2026-03-04T10:15:30Z"}
    return {
        "uuid": f"c{number}",
        "name": "Ponds",
        "created_at": "2026-03-04T10:15:30Z",
        "chat_messages": [said],
    }


def _mem0(text: str, number: int) -> dict[str, Any]:
    return {
        "id": f"m{number}", "memory": text, "hash": "h", "created_at": "2026-03-04T10:15:30Z", "user_id": "ada",
        "categories": ["travel"],
    }  # fmt: skip


def _entity(text: str, number: int) -> dict[str, Any]:
    return {"type": "entity", "name": f"Ada{number}", "entityType": "person", "observations": [text]}


def _observation(text: str, number: int) -> dict[str, Any]:
    return {
        "id": f"o{number}", "content": text, "category": "insight", "source": "explicit",
        "created_at": "2026-03-04T10:15:30Z",
    }  # fmt: skip


def _prompt(text: str, number: int) -> dict[str, Any]:
    return {
        "display": text,
        "timestamp": 1.77e12 + number,
        "project": "/x/pond",
        "sessionId": "s",
        "pastedContents": {},
    }


def _generic(text: str, number: int) -> dict[str, Any]:
    return {
        "session_id": "s",
        "role": "user",
        "content": text,
        "time": 1.7e9 + number,
        "id": f"g{number}",
        "title": "T",
    }


def _langchain(text: str, number: int) -> dict[str, Any]:
    return {"type": "human", "data": {"content": text, "id": f"l{number}", "additional_kwargs": {}}}


def _sdk_row(text: str, number: int) -> dict[str, Any]:
    return {
        "id": number, "session_id": "s", "message_data": json.dumps({"role": "user", "content": text}),
        "created_at": "2026-03-04 10:15:30",
    }  # fmt: skip


def _langchain_row(text: str, number: int) -> dict[str, Any]:
    return {"id": number, "session_id": "s", "message": json.dumps(_langchain(text, number))}


def _history_row(text: str, number: int) -> dict[str, Any]:
    return {
        "id": f"h{number}", "memory_id": f"m{number}", "old_memory": None, "new_memory": text, "event": "ADD",
        "created_at": "2026-03-04 10:15:30", "updated_at": None, "is_deleted": 0,
    }  # fmt: skip


def _memory_row(text: str, number: int) -> dict[str, Any]:
    return {
        "id": f"fact_{number:012x}", "kind": "fact", "content": text, "event_time": 1.7e9, "session_id": "s",
        "source_role": "user", "source_ids": "[]", "tags": '["a"]', "attributes": "{}", "confidence": 0.9,
        "decay_rate": 0.1, "valid_until": None,
    }  # fmt: skip


KINDS: dict[str, Kind] = {
    "claude-code": Kind(_claude_code),
    "claude-history": Kind(_prompt),
    "codex": Kind(_codex),
    "jsonl": Kind(_generic),
    "observations": Kind(_observation),
    "mcp-memory": Kind(_entity, each=False),
    "chatgpt": Kind(_chatgpt, array=True, each=False),
    "claude-ai": Kind(_claude_ai, array=True, each=False),
    "langchain": Kind(_langchain, array=True),
    "mem0": Kind(_mem0, array=True, each=False),
    "openai-agents": Kind(_sdk_row, table="agent_messages"),
    "langchain rows": Kind(_langchain_row, table="message_store"),
    "mem0-history": Kind(_history_row, table="history"),
    "memory-db": Kind(_memory_row, table="memories"),
}


class Change(NamedTuple):
    """What is done to one record: a value put somewhere into it (``steps``), or a scar on its bytes."""

    steps: list[int]
    value: Any
    scar: int | None
    gone: bool


CHANGES = st.builds(
    Change,
    steps=st.lists(st.integers(0, 20), min_size=1, max_size=5),
    value=st.sampled_from(ODD) | st.text(max_size=20) | st.integers() | st.floats(),
    scar=st.none() | st.integers(0, len(SCARS) - 1),
    gone=st.booleans(),
)


def changed(record: dict[str, Any], change: Change) -> dict[str, Any]:
    """The record with a value somewhere in it replaced, or taken out."""
    record = copy.deepcopy(record)
    here: Any = record
    for depth, step in enumerate(change.steps):
        keys = list(here) if isinstance(here, dict) else list(range(len(here)))
        key = keys[step % len(keys)]
        if depth == len(change.steps) - 1 or not isinstance(here[key], dict | list) or not here[key]:
            if change.gone and isinstance(here, dict):
                del here[key]
            else:
                here[key] = change.value
            break
        here = here[key]
    return record


def write(folder: Path, kind: Kind, changes: list[Change]) -> tuple[Path, int]:
    """A file with good records around the changed ones; and how many there are."""
    good = [kind.record(FIRST, 1), kind.record(LAST, len(changes) + 2)]
    odd = [
        changed(kind.record(f"words {number}", number), change) for number, change in enumerate(changes, 2)
    ]
    if kind.table:
        path = folder / "x.db"
        path.unlink(missing_ok=True)
        _write_table(path, kind, [good[0], *odd, good[1]])
        return path, len(odd) + 2
    raws = [_json(good[0])]
    for record, change in zip(odd, changes, strict=True):
        raw = _json(record)
        if change.scar is not None and not kind.array:
            raw = SCARS[change.scar](raw)
        raws.append(raw.replace(b"\n", b" ").replace(b"\r", b" "))
    raws.append(_json(good[1]))
    path = folder / "x.json"
    path.write_bytes(b"[" + b",".join(raws) + b"]" if kind.array else b"\n".join(raws) + b"\n")
    return path, sum(bool(raw.strip()) for raw in raws)


def _json(record: Any) -> bytes:
    return json.dumps(record).encode()


def _write_table(path: Path, kind: Kind, records: list[dict[str, Any]]) -> None:
    columns = list(kind.record("", 0))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"CREATE TABLE {kind.table} ({', '.join(columns)})")
        for record in records:
            cells = [_cell(record.get(column)) for column in columns]
            marks = ", ".join("CAST(? AS TEXT)" if isinstance(cell, bytes) else "?" for cell in cells)
            connection.execute(f"INSERT INTO {kind.table} VALUES ({marks})", cells)


def _cell(value: Any) -> Any:
    """Bytes become text that may be no UTF-8."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if isinstance(value, bool | int):
        return value if abs(value) < 2**63 else float(value)
    return value if isinstance(value, float) or value is None else json.dumps(value).encode()
