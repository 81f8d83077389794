"""``kv.json``: one flat object of keys and texts.

Any settings file looks like that, so it is read only where it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from memtui.engine.importers.base import PadEntry
from memtui.engine.records import Skip

from .. import foreign_values
from ..base import Format, StreamHead
from ..limits import MIB
from ..stream import Stream

NOT_TEXT = "value that is not text"
_OBJECT = msgspec.json.Decoder(dict[str, Any] | None)


def _sniff(head: StreamHead) -> bool:
    return False


def read(stream: Stream) -> Iterator[PadEntry | Skip]:
    raw = bytearray()
    for line in stream.lines():
        if isinstance(line, Skip):
            yield line
            return
        raw += line + b"\n"
        if len(raw) > stream.limits.item:
            yield stream.skip(f"larger than {stream.limits.item // MIB} MB")
            return
    try:
        decoded = foreign_values.decode(_OBJECT, bytes(raw), stream)
    except foreign_values.NotReadableError as error:
        yield stream.skip(str(error))
        return
    for key, value in (decoded or {}).items():
        if isinstance(value, str):
            yield PadEntry(key=key, value=value, source="import:scratchpad")
        else:
            yield stream.skip(NOT_TEXT)


FORMAT = Format("scratchpad", "Key-value", _sniff, read)
