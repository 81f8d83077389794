"""Exports of mem0's agent plugins: one Markdown file, each memory below its properties."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memtui.engine.importers.base import Note
from memtui.engine.records import Skip

from ..base import Format, StreamHead
from ..stream import Stream
from . import mem0

_PROPERTIES = re.compile(rb"\A\s*---\r?\nid:[^\n]*\r?\n(?:[a-z_]+:[^\n]*\r?\n){0,12}?categories:[^\n]*\r?\n")
_PROPERTY = re.compile(r"([a-z_]+):\s*(.*)")
# Lines of one memory: no text that may be kept has more.
_MOST_LINES = 20_000


def _sniff(head: StreamHead) -> bool:
    return _PROPERTIES.match(head.raw) is not None and b"\ncreated_at:" in head.raw


def read(stream: Stream) -> Iterator[Note | Skip]:
    """Properties between two ``---``, then the text of one memory."""
    block = _Block()
    for raw in stream.lines(blank=True):
        if isinstance(raw, Skip):
            yield raw
            continue
        line = raw.decode(errors="replace")
        if line.strip() != "---":
            block.read_line(line)
        elif block.open:
            block.open = False
        else:
            if block.properties:
                yield block.make_note(stream)
            block = _Block()
            block.open = True
    if block.properties:
        yield block.make_note(stream)


FORMAT = Format("mem0-markdown", "mem0 Markdown", _sniff, read)


class _Block:
    """One memory; ``open``: its properties are not over yet."""

    def __init__(self) -> None:
        self.open = False
        self.properties: dict[str, str] = {}
        self.lines: list[str] = []

    def read_line(self, line: str) -> None:
        if not self.open:
            if len(self.lines) < _MOST_LINES:
                self.lines.append(line)
        elif property_match := _PROPERTY.match(line):
            self.properties[property_match[1]] = property_match[2].strip()

    def make_note(self, stream: Stream) -> Note | Skip:
        memory = mem0.Memory(
            id=self.properties.get("id"),
            memory="\n".join(self.lines).strip(),
            categories=[word.strip() for word in self.properties.get("categories", "").split(",")],
            created_at=self.properties.get("created_at"),
        )
        return mem0.note_of(memory, stream)
