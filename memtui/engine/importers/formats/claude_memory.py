"""Claude Code's own memory of a project: Markdown notes in ``projects/*/memory``.

The frontmatter has a ``name``, a ``description`` and a ``type``, which newer versions put below ``metadata``. One note is one
fact, unless it is too long for one. An agent wrote it down. The list of the notes (``MEMORY.md``) has nothing of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memtui.engine.importers.base import Note
from memtui.engine.importers.counters import OccurrenceCounter
from memtui.engine.records import Skip

from .. import base, foreign_values
from ..base import Format, StreamHead
from ..stream import Stream
from .markdown_blocks import Front, read_blocks

SOURCE = "import:claude-memory"
INDEX = "list of other notes"
# Characters of one fact: what is longer is several.
_MAX_FACT_LENGTH = 1_000
_FRONT_MATTER = re.compile(rb"---\r?\n(.{1,4000}?)\r?\n---\r?\n", re.DOTALL)
_TYPE = re.compile(rb"^\s*type:\s*[\"']?(?:user|feedback|project|reference)\b", re.MULTILINE)
_NAME_OR_DESCRIPTION = re.compile(rb"^(?:name|description):", re.MULTILINE)
_INDEX_ENTRY = re.compile(rb"[-*] \[[^\]\n]+\]\([^)\n]+\.md\)")


def _sniff(head: StreamHead) -> bool:
    front = _FRONT_MATTER.match(head.raw)
    if front is not None:
        return _TYPE.search(front[1]) is not None and len(_NAME_OR_DESCRIPTION.findall(front[1])) == 2
    return _is_index(head.raw)


def _is_index(raw: bytes) -> bool:
    """Whether a text is headings and links to notes, and nothing else."""
    lines = [line.strip() for line in raw.splitlines() if line.strip()]
    entries = sum(_INDEX_ENTRY.match(line) is not None for line in lines)
    return entries > 0 and all(line.startswith(b"#") or _INDEX_ENTRY.match(line) for line in lines)


def read(stream: Stream) -> Iterator[Note | Skip]:
    front, ordinals = Front(), OccurrenceCounter()
    words: list[str] = []
    for block in read_blocks(stream, front):
        if isinstance(block, Skip):
            yield block
        elif _INDEX_ENTRY.match(b"- " + block.text.encode()):
            yield Skip(reason=INDEX)  # no place: nothing is amiss
        elif words and sum(map(len, words)) + len(block.text) > _MAX_FACT_LENGTH:
            yield _make_fact(words, stream, front, ordinals)
            words = [block.text]
        else:
            words.append(block.text)
    if words:
        yield _make_fact(words, stream, front, ordinals)


FORMAT = Format("claude-memory", "Claude Code memory", _sniff, read)


def _make_fact(words: list[str], stream: Stream, front: Front, ordinals: OccurrenceCounter) -> Note | Skip:
    text = " ".join(words).replace("**", "").strip()
    if not any(character.isalnum() for character in text):
        return stream.skip(base.NO_TEXT)
    key = foreign_values.hash_parts(text)
    if ordinal := ordinals.count_before(bytes.fromhex(key)):
        key += f"#{ordinal}"
    return Note(
        kind="fact",
        content=text,
        source_key=f"claude-memory:{key}",
        source=SOURCE,
        trust="agent",
        event_time=foreign_values.event_time(front.date, stream),
        tags=front.tags,
    )
