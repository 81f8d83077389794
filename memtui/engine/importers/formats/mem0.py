"""mem0: the ``results`` of its API or of ``get_all``.

A model drew these facts. A version of a memory is known by its id and text, so that an export and the history
(``mem0_history``) agree on the latest one.
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

SOURCE = "import:mem0"
NO_ID = "no id"
_START = re.compile(rb"\A\s*[\[{]")
_OWNERS = ("user_id", "agent_id", "run_id")


class Memory(msgspec.Struct):
    id: Any = None
    memory: Any = None
    hash: Any = None
    categories: Any = None
    created_at: Any = None
    updated_at: Any = None
    user_id: Any = None
    agent_id: Any = None
    run_id: Any = None


_MEMORY = msgspec.json.Decoder(Memory)
_RAWS = msgspec.json.Decoder(list[msgspec.Raw])
_RESULTS = msgspec.json.Decoder(dict[str, msgspec.Raw])


def _sniff(head: StreamHead) -> bool:
    if _START.match(head.raw) is None or b'"memory"' not in head.raw or b'"id"' not in head.raw:
        return False
    return any(
        b'"%s"' % word in head.raw for word in (b"hash", b"user_id", b"agent_id", b"run_id", b"categories")
    )


def read(stream: Stream) -> Iterator[Note | Skip]:
    """Pages of results, an array of memories, or a memory a line."""
    for item in stream.items():
        if isinstance(item, Skip):
            yield item
            continue
        try:
            page = foreign_values.decode(_RESULTS, item, stream)
        except foreign_values.NotReadableError as error:
            yield stream.skip(str(error))
            continue
        listed = page.get("results") or page.get("memories")
        if listed is None:
            yield _parse_note(item, stream)
            continue
        try:
            elements = foreign_values.decode(_RAWS, bytes(listed), stream)
        except foreign_values.NotReadableError as error:
            yield stream.skip(str(error))
            continue
        for raw in elements:
            yield _parse_note(bytes(raw), stream)


FORMAT = Format("mem0", "mem0", _sniff, read)


def _parse_note(raw: bytes, stream: Stream) -> Note | Skip:
    try:
        memory = foreign_values.decode(_MEMORY, raw, stream)
    except foreign_values.NotReadableError as error:
        return stream.skip(str(error))
    return note_of(memory, stream)


def note_of(memory: Memory, stream: Stream) -> Note | Skip:
    foreign_id = foreign_values.read_identifier(memory.id)
    if foreign_id is None:
        return stream.skip(NO_ID)
    if not isinstance(memory.memory, str) or not memory.memory.strip():
        return stream.skip(base.NO_TEXT)
    owners = {
        name: owner for name in _OWNERS if (owner := foreign_values.read_identifier(getattr(memory, name)))
    }
    categories = memory.categories if isinstance(memory.categories, list) else []
    return Note(
        kind="fact",
        content=memory.memory,
        source_key=version_key(foreign_id, memory.memory),
        source=SOURCE,
        trust="model",
        event_time=foreign_values.event_time(memory.updated_at or memory.created_at, stream),
        tags=tuple(word for word in categories if isinstance(word, str) and word),
        attributes=owners,
    )


def version_key(id: str, text: str, again: object = None) -> str:
    """The source key of a version of a memory; ``again`` tells versions of the same text apart."""
    return f"mem0:{foreign_values.hash_parts(id, text.strip(), again)}"
