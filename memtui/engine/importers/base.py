"""The protocol of an import format, and the items that a format yields.

A new format of memtui is a file in ``formats`` and a line in ``registry.BUILT_IN``. A package of somebody else names its
own in the entry point group ``memtui.importers``::

    [project.entry-points."memtui.importers"]
    diary = "diary_import"

where ``diary_import`` is a module (or an object, such as a ``Format``) with ``name``, ``label``, ``sniff`` and ``read``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

import msgspec

from memtui.engine.records import Category, EndedBy, EntityType, Kind, Record, Skip, Topic, Trust, Turn
from memtui.engine.store.export_rows import AnyLine

from . import json_items
from .limits import LIMITS
from .stream import BOM, Stream


class NamedEntity(Record):
    """Somebody or something by name. Names that are known already stay what they are."""

    name: str
    type: EntityType = "other"
    aliases: tuple[str, ...] = ()
    summary: str | None = None


class Note(Record):
    """A memory of any kind with all that its source knew of it.

    ``lasting``: it was protected from decay there. ``own``: the person keeps it by hand. ``happens_at``: see
    ``MemoryRecord``. ``ended_at``, ``ended_by``: it comes into the Trash. Times are Unix
    seconds. ``drawn_from`` and ``supersedes`` are source keys, or such ids. ``about``: what it is linked to. An episode has a
    ``session_id``, namespaced by the feed, and a ``role``. ``id``: the memory's own, of something that came from memtui.
    ``earlier_id``: one of the same shape that another program gave it; it is kept if no memory has it.
    """

    kind: Kind
    content: str
    source_key: str
    source: str
    trust: Trust
    category: Category | None = None
    event_time: float | None = None
    confidence: float = 1.0
    decay_rate: float | None = None
    lasting: bool = False
    own: bool = False
    topic: Topic | None = None
    happens_at: int | None = None
    ended_at: float | None = None
    ended_by: EndedBy = "forgotten"
    drawn_from: tuple[str, ...] = ()
    supersedes: str | None = None
    session_id: str | None = None
    role: str | None = None
    tags: tuple[str, ...] = ()
    attributes: Mapping[str, str | int | float] = {}
    about: tuple[NamedEntity, ...] = ()
    project: str | None = None
    id: str | None = None
    earlier_id: str | None = None


class PadEntry(Record):
    """A key and its text. A key that is in use keeps its value."""

    key: str
    value: str
    source: str


class ConsolidatedSession(Record):
    """A session that was consolidated at its source, ``at`` Unix seconds; it comes after its turns."""

    session_id: str
    at: float


class SessionTitle(Record):
    """The title of the session that holds the turn with this source key, which may be in another file."""

    source_key: str
    title: str


Stored = Note | PadEntry | NamedEntity | ConsolidatedSession
Item = Stored | SessionTitle


# Why something was passed over. Counted and shown, so: few, short, and the same words in every feed.
NOT_A_MESSAGE = "not a message"
TOOL = "tool call or output"
PROGRAM = "added by the program"
COMPACTION = "compaction summary"
HIDDEN = "hidden or system text"
NO_TEXT = "no text in it"
UNKNOWN = "unknown kind of message"
NOT_TEXT = "image, sound or other part that is not text"
HISTORY = "history of the other file"
NO_ROLE = "no role"
NOTHING_SAID = frozenset({NOT_A_MESSAGE, TOOL, PROGRAM, COMPACTION, HIDDEN})
"""Reasons of records that are sound and left out all the same."""
# So many records are looked at to tell a format.
_RECORDS = 200
_LIKE_JSON = re.compile(rb'\s*(?:\{\s*["}]|\[\s*[{"])')
_OBJECT = re.compile(rb"\A\s*\[?\s*\{")


class StreamHead(Record):
    """The beginning of a stream, for detection: ``raw`` bytes, and the JSON objects that are its records.

    Records are the elements of an ``array``, or the lines of a file where most of them look like objects: else an object on a
    line of its own is part of something larger. Of an SQLite file the ``tables`` with their columns instead, and no bytes;
    ``collections``: the names in its table ``collections``, which stores of vectors share.
    """

    raw: bytes
    objects: tuple[dict[str, Any], ...] = ()
    tables: dict[str, tuple[str, ...]] = {}
    collections: tuple[str, ...] = ()
    array: bool = False

    @classmethod
    def from_bytes(cls, raw: bytes, *, whole: bool) -> StreamHead:
        """``whole``: the stream ends here, so that its last line is complete."""
        raw = raw.removeprefix(BOM)
        array = raw.lstrip().startswith(b"[")
        if array:
            elements = (one for one in json_items.split([raw], LIMITS) if isinstance(one, bytes))
            records = list(islice(elements, _RECORDS))
        else:
            lines = raw.splitlines()
            if not whole and not raw.endswith((b"\n", b"\r")):
                lines = lines[:-1]
            records = [line.strip() for line in lines[:_RECORDS] if line.strip()]
            if 2 * sum(line[:1] == b"{" and line[-1:] == b"}" for line in records) < len(records):
                records = []
        objects = []
        for record in records:
            try:
                value = msgspec.json.decode(record.decode(errors="replace"))
            except (msgspec.MsgspecError, RecursionError):
                continue
            if isinstance(value, dict):
                objects.append(value)
        return cls(raw=raw, objects=tuple(objects), array=array)

    @property
    def is_broken_json(self) -> bool:
        """Whether it looks like JSON, and neither it nor any line of it can be read. For a head that is the whole stream."""
        if self.objects or _LIKE_JSON.match(self.raw) is None:
            return False
        try:
            msgspec.json.decode(self.raw)
        except (msgspec.MsgspecError, RecursionError):
            return True
        return False

    def begins_with_object(self, *keys: bytes) -> bool:
        """Whether it is an object, or an array of them, of which the beginning has all ``keys``; it may be cut off anywhere."""
        return _OBJECT.match(self.raw) is not None and all(b'"%s"' % key in self.raw for key in keys)


class SchemaVersion(NamedTuple):
    """Where an SQLite file notes the version of its schema, and the newest one that memtui has ``known``.

    It is the largest number in the ``column`` of a ``table``; without a table, the ``user_version`` of the file.
    """

    known: int
    table: str = ""
    column: str = ""


class Format(NamedTuple):
    """One import format: how a stream of it is recognised, and a function that reads it.

    ``name`` is what ``--format`` takes and what ``import:<name>`` in a memory's source says; ``label`` is its
    name for people. ``sniff`` must recognise the format from the content alone and never raise. ``read``
    gives the turns and items in their order and a Skip for whatever it passes over, raises nothing, and keeps in memory
    only what does not grow with the stream. memtui's own export gives rows of the file. A file with a newer ``schema`` is
    refused unless the format is named: what it decided in new tables would be lost without a word.
    """

    name: str
    label: str
    sniff: Callable[[StreamHead], bool]
    read: Callable[[Stream], Iterator[Turn | Item | AnyLine | Skip]]
    schema: SchemaVersion | None = None


def block_texts(content: Any) -> list[str]:
    """The texts in a message content of either shape: one text, or a list of blocks with a ``text``."""
    if isinstance(content, str):
        return [content]
    if not isinstance(content, list):
        return []
    texts = []
    for block in content:
        text = block.get("text") if isinstance(block, dict) else block
        if isinstance(text, str):
            texts.append(text)
    return texts


def join_blocks(texts: list[str]) -> str:
    """Blocks as one text, apart by an empty line; "" if there is nothing but white space."""
    return "\n\n".join(text for text in texts if text and not text.isspace())
