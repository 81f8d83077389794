"""memtui's own complete export: a header line, a line for every row (store/portable.py), an end line.

Lines of history are passed over: what another file did cannot be undone in this one. Lines of a kind that this
version does not know are too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from memtui.engine.records import Record, Skip
from memtui.engine.store.portable import AnyLine

from . import values
from .base import Head
from .source import Stream

FORMAT = "memtui-export"
VERSION = 1
HISTORY = "history of the other file"
CUT_OFF = "the file has no end line: something is missing"
NEWER = "written by a newer memtui"
UNKNOWN = "of an unknown kind"
_HISTORY_LINES = ("operation", "change")


class _Any(Record):
    line: Any = None
    format: Any = None
    version: Any = None


_LOOK = msgspec.json.Decoder(_Any)
_LINES = msgspec.json.Decoder(AnyLine)
_KINDS = frozenset(
    ("session", "entity", "memory", "read", "decision", "scratchpad", "proposal", "question", "profile")
)


class Complete:
    name = "memtui"
    label = "memtui"

    def sniff(self, head: Head) -> bool:
        return bool(head.objects) and head.objects[0].get("format") == FORMAT

    def read(self, stream: Stream) -> Iterator[AnyLine | Skip]:
        ended = False
        for raw in stream.lines():
            if isinstance(raw, Skip):
                yield raw
                continue
            try:
                kind = values.decode(_LOOK, raw, stream)
                ended = kind.line == "end"
                if kind.line == "header":
                    if not isinstance(kind.version, int) or kind.version > VERSION:
                        yield stream.skip(NEWER)
                        return
                elif kind.line in _HISTORY_LINES:
                    yield Skip(reason=HISTORY)
                elif isinstance(kind.line, str) and kind.line in _KINDS:
                    yield values.decode(_LINES, raw, stream)
                elif not ended:
                    yield stream.skip(UNKNOWN)
            except values.NotReadableError as error:
                yield stream.skip(str(error))
        if not ended:
            stream.warn(CUT_OFF)
