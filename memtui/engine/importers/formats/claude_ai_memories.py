"""Claude.ai's ``memories.json``: its summaries of the person, from all conversations and from each project.

Paragraphs that a model wrote, under headings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from memtui.engine.importers.base import Note
from memtui.engine.records import Skip

from .. import base, foreign_values
from ..base import Format, StreamHead
from ..stream import Stream


class _MemoryExport(msgspec.Struct):
    conversations_memory: Any = None
    project_memories: Any = None


_DECODER = msgspec.json.Decoder(_MemoryExport)
_HEADING = re.compile(r"(?:#{1,6} +|\*\*)(.{1,80}?)(?:\*\*:?)?\Z")
_BULLET = re.compile(r"[-*+] +")


def _sniff(head: StreamHead) -> bool:
    if head.objects:
        return any("conversations_memory" in item for item in head.objects)
    return head.begins_with_object(b"conversations_memory")


def read(stream: Stream) -> Iterator[Note | Skip]:
    for kept in foreign_values.decode_each(_DECODER, stream.items(), stream):
        if isinstance(kept, Skip):
            yield kept
            continue
        texts: dict[str | None, Any] = {None: kept.conversations_memory}
        if isinstance(kept.project_memories, dict):
            texts |= {
                foreign_values.read_identifier(project): text
                for project, text in kept.project_memories.items()
            }
        for project, text in texts.items():
            if isinstance(text, str) and text.strip():
                yield from _split_facts(text, project)
            elif text:
                yield stream.skip(base.NO_TEXT)


FORMAT = Format("claude-ai-memories", "Claude.ai memories", _sniff, read)


def _split_facts(text: str, project: str | None) -> Iterator[Note]:
    """A fact of each paragraph or list item, after the heading that it stands under."""
    heading = ""
    for line in text.splitlines():
        line = _BULLET.sub("", line.strip(), count=1)
        if match := _HEADING.match(line):
            heading = match[1].strip(" :*")
        elif any(character.isalnum() for character in line):
            yield Note(
                kind="fact",
                content=f"{heading}: {line}" if heading else line,
                source_key="claude-ai:memory:" + foreign_values.hash_parts(project, heading, line),
                source="import:claude-ai",
                trust="model",
                attributes={"claude_project": project} if project else {},
            )
