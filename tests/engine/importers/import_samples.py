"""Builders of session files as programs write them, and reading them back in tests."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from itertools import count
from pathlib import Path
from typing import Any

from memtui.engine.importers.detect import DetectionResult, find_sources
from memtui.engine.importers.limits import LIMITS, ImportLimits
from memtui.engine.importers.registry import get_format
from memtui.engine.importers.stream import SourceOpener
from memtui.engine.records import Skip, Turn

SESSION = "5f0c9d52-7a41-4b0e-9f57-3c2f4f6f1e01"
_numbers = count(1)


def claude(kind: str, content: Any, **fields: Any) -> dict[str, Any]:
    """A Claude Code record; ``fields`` override or add to it, None removes."""
    number = next(_numbers)
    message: dict[str, Any] = {"role": kind, "content": content}
    if kind == "assistant":
        message |= {"model": "claude-opus", "id": f"msg_{number}", "usage": {"input_tokens": 3}}
    record = {
        "parentUuid": None,
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/ada/work/greenhouse",
        "sessionId": SESSION,
        "version": "2.1.0",
        "gitBranch": "main",
        "type": kind,
        "message": message,
        "uuid": f"00000000-0000-4000-8000-{number:012d}",
        "timestamp": f"2026-03-04T10:{number // 60 % 60:02d}:{number % 60:02d}.250Z",
    } | fields
    return {name: value for name, value in record.items() if value is not None or name == "parentUuid"}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def jsonl(path: Path, records: Iterable[Any]) -> Path:
    """Write records (or raw lines) to a file, one a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        for record in records:
            file.write(record if isinstance(record, bytes) else json.dumps(record).encode())
            file.write(b"\n")
    return path


def message(role: str, words: Any, **fields: Any) -> dict[str, Any]:
    """A ChatGPT message; ``words`` is a text or a whole ``content``."""
    content = words if isinstance(words, dict) else {"content_type": "text", "parts": [words]}
    return {
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": 1767225600.5,
        "content": content,
        "status": "finished_successfully",
        "metadata": {},
        "recipient": "all",
    } | fields


def conversation(name: str, messages: list[dict[str, Any] | None], **fields: Any) -> dict[str, Any]:
    """A ChatGPT conversation whose messages (None: a node without one) follow each other."""
    mapping: dict[str, Any] = {}
    for number, found in enumerate(messages):
        node = f"{name}-{number}"
        mapping[node] = {
            "id": node,
            "message": found and {"id": f"m-{node}"} | found,
            "parent": f"{name}-{number - 1}" if number else None,
            "children": [],
        }
    last = f"{name}-{len(messages) - 1}"
    return {
        "title": "Planting plan",
        "create_time": 1767225600.0,
        "update_time": 1767225700.0,
        "mapping": mapping,
        "current_node": last,
        "conversation_id": name,
        "id": name,
    } | fields


def ignored(found: DetectionResult) -> dict[str, int]:
    """How many files are left out, by why."""
    return dict(Counter(one.reason for one in found.left_out))


def read(
    path: Path, format: str | None = None, limits: ImportLimits = LIMITS
) -> tuple[list[Turn], list[Skip]]:
    """All turns and skips of a path, through detection."""
    turns, skips, _ = read_with_warnings(path, format, limits)
    return turns, skips


def read_with_warnings(
    path: Path, format: str | None = None, limits: ImportLimits = LIMITS
) -> tuple[list[Turn], list[Skip], dict[str, int]]:
    turns: list[Turn] = []
    skips: list[Skip] = []
    warnings: dict[str, int] = {}
    with SourceOpener(limits) as opener:
        for found in find_sources([path], format, limits).sources:
            with opener.open(found.source) as stream:
                for record in get_format(found.format).read(stream):
                    if isinstance(record, Turn):
                        turns.append(record)
                    else:
                        skips.append(record)
                for what, number in stream.warnings.items():
                    warnings[what] = warnings.get(what, 0) + number
    return turns, skips, warnings


def words(turns: Iterable[Turn]) -> list[str]:
    return [turn.content for turn in turns]


def reasons(skips: Iterable[Skip]) -> list[str]:
    return sorted({skip.reason for skip in skips})
