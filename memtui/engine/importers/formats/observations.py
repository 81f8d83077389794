"""Observation lines: ``{"id", "content", "category", "source", "created_at"}`` a line.

What a model drew from a step counts as a model's word; what was kept by hand (``explicit``) as an agent's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from memtui.engine.importers.base import Note
from memtui.engine.memories.observations import CATEGORIES
from memtui.engine.records import EXPLICIT, Skip

from .. import base, foreign_values
from ..base import Format, StreamHead
from ..stream import Stream

SOURCE = "import:observations"
NO_CATEGORY = "no known category"


class _Line(msgspec.Struct):
    id: Any = None
    content: Any = None
    category: Any = None
    source: Any = None
    created_at: Any = None


_LINE = msgspec.json.Decoder(_Line)


def _sniff(head: StreamHead) -> bool:
    return any(
        record.get("category") in CATEGORIES
        and isinstance(record.get("content"), str)
        and "role" not in record
        and "kind" not in record
        for record in head.objects
        if isinstance(record.get("category"), str)
    )


def read(stream: Stream) -> Iterator[Note | Skip]:
    for line in foreign_values.decode_each(_LINE, stream.records(), stream):
        yield line if isinstance(line, Skip) else _parse_note(line, stream)


FORMAT = Format("observations", "Observations", _sniff, read)


def _parse_note(line: _Line, stream: Stream) -> Note | Skip:
    category = line.category.strip().casefold() if isinstance(line.category, str) else ""
    if category not in CATEGORIES:
        return stream.skip(NO_CATEGORY)
    if not isinstance(line.content, str) or not line.content.strip():
        return stream.skip(base.NO_TEXT)
    foreign_id = foreign_values.read_identifier(line.id) or foreign_values.hash_parts(
        category, line.content, line.source
    )
    source = foreign_values.title_line(line.source) or EXPLICIT
    return Note(
        kind="observation",
        category=category,
        content=line.content,
        source_key=f"observations:{foreign_id}",
        source=source,
        trust="agent" if source == EXPLICIT else "model",
        event_time=foreign_values.event_time(line.created_at, stream),
    )
