"""memtui's own complete export: a header line, a line for every row (``store/export_rows.py``), an end line.

Lines of history are passed over: what another file did cannot be undone in this one. Lines of a kind that this
version does not know are too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from memtui.engine.importers import base, foreign_values
from memtui.engine.records import BY_RULES, TOPICS, Record, Skip, Topic
from memtui.engine.store.export_rows import AnyLine, Digest, MemoryLine

from ..base import Format, StreamHead
from ..stream import Stream

_OF_TAGS: dict[str, Topic] = {
    **{topic: topic for topic in TOPICS}, "self": "identity", "family": "people", "pet": "people",
}  # fmt: skip
_LASTING_TOPICS = ("health", "rule")
# A confidence of this or less is that of a fact that another one replaced.
_REPLACED_CONFIDENCE = 0.3


def with_topic(line: AnyLine) -> AnyLine:
    """The line with the topic that its tags name; the same where it is no fact that rules drew."""
    if not isinstance(line, MemoryLine) or line.kind != "fact":
        return line
    attributes: Any = msgspec.json.decode(line.attributes)
    tags: Any = msgspec.json.decode(line.tags)
    if (
        not isinstance(attributes, dict)
        or not isinstance(tags, list)
        or attributes.get("extractor") != BY_RULES
    ):
        return line
    topic = next((_OF_TAGS[tag] for tag in tags if isinstance(tag, str) and tag in _OF_TAGS), None)
    if topic is None:
        return line
    stays = topic in _LASTING_TOPICS and line.confidence > _REPLACED_CONFIDENCE
    return replace(line, topic=topic, decay_rate=0.0 if stays else line.decay_rate)


_EXPORT = "memtui-export"
VERSION = 1
CUT_OFF = "the file has no end line: something is missing"
NEWER = "written by a newer memtui"
UNKNOWN = "of an unknown kind"
NEW_TOPIC = "topic unknown to this version left out"
CHANGED = "the content does not fit the hash at its end: it was changed after it was written, or is damaged"
_HISTORY_LINES = ("operation", "change")


class _AnyLine(Record):
    line: Any = None
    format: Any = None
    version: Any = None
    content_hash: Any = None
    topic: Any = None
    lines: Any = None


_ANY_LINE = msgspec.json.Decoder(_AnyLine)
_COLUMNS = msgspec.json.Decoder(dict[str, Any])
_LINES = msgspec.json.Decoder(AnyLine)
_KINDS = frozenset(
    (
        "session",
        "entity",
        "memory",
        "read",
        "decision",
        "scratchpad",
        "deleted_key",
        "proposal",
        "question",
        "profile",
    )
)


def _sniff(head: StreamHead) -> bool:
    return bool(head.objects) and head.objects[0].get("format") == _EXPORT


def read(stream: Stream) -> Iterator[AnyLine | Skip]:
    ended = cut = False
    has_topics = True
    digest = Digest()
    for raw in stream.lines():
        if isinstance(raw, Skip):
            yield raw
            continue
        try:
            kind = foreign_values.decode(_ANY_LINE, raw, stream)
            ended = kind.line == "end"
            if kind.line == "header":
                if not isinstance(kind.version, int) or kind.version > VERSION:
                    yield stream.skip(NEWER)
                    return
                has_topics = _has_topics(kind.lines)
            elif kind.line in _HISTORY_LINES:
                yield Skip(reason=base.HISTORY)
            elif isinstance(kind.line, str) and kind.line in _KINDS:
                if kind.line == "memory" and kind.topic not in (None, *TOPICS):
                    stream.warn(NEW_TOPIC)
                    raw, cut = _without_topic(raw, stream), True
                line = foreign_values.decode(_LINES, raw, stream)
                digest.add(line)
                yield line if has_topics else with_topic(line)
            elif ended:
                if isinstance(kind.content_hash, str) and not cut and not digest.fits(kind.content_hash):
                    stream.warn(CHANGED)
            else:
                yield stream.skip(UNKNOWN)
        except foreign_values.NotReadableError as error:
            yield stream.skip(str(error))
    if not ended:
        stream.warn(CUT_OFF)


def _has_topics(explained: Any) -> bool:
    """Whether it was written when facts had topics; its header explains the columns. True where it explains none."""
    memory = explained.get("memory") if isinstance(explained, dict) else None
    return not isinstance(memory, str) or "topic" in memory


def _without_topic(raw: bytes, stream: Stream) -> bytes:
    columns = foreign_values.decode(_COLUMNS, raw, stream)
    return msgspec.json.encode({name: value for name, value in columns.items() if name != "topic"})


FORMAT = Format("memtui", "memtui", _sniff, read)
